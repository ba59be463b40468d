"""How long tests wait for what must come.

Only a test that fails waits so long. It is longer than any machine is busy with others, and shorter than
`faulthandler_timeout`, whose end is that of the whole process.
"""

GIVES_UP_S = 300
