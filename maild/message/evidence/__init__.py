"""Signs that a mail wants to steer the program that reads it: facts with their places, and what follows from them.

No model, no network, no clock: the same message gives the same findings, and all work is bounded by counts.
"""
