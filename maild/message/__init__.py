"""Internet messages as values: RFC 5322 and MIME to an index and back.

Pure by law: bytes and values in and out; no I/O, no clock, no settings, no randomness, and
nothing of ours imported from outside this package. What reads the bytes of a message from outside never raises
and is linear in them; what writes (`compose`, `address.validate`, `address.parse_path`) raises
a `ValueError` of its own instead of letting something unsafe through.
"""
