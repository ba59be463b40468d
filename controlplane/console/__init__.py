"""The console: pages for people, rendered here, for browsers with JavaScript or without.

A page asks operations by their rows, as every door does, for the principal of the member who is signed in; it holds no
rule. What others wrote reaches a page through Jinja alone, which escapes it: no module here makes markup.
"""
