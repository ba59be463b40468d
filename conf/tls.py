"""TLS towards hosts that a stranger may have chosen: what they can't hold the event loop with.

- Finite-field Diffie-Hellman of TLS 1.2 is not offered: the server names the group, and one of 10,000 bits takes a
  second. (That of TLS 1.3 is kept out by openssl.cnf: Python has no call for it.)
- Nobody shakes hands again on an open connection.
"""

import ssl

# Python's own list, without its DHE.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!SHA1:!AESCCM"


def client_context() -> ssl.SSLContext:
    """A context that verifies, TLS 1.2 or later (RFC 8996)."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(_CIPHERS)
    return context
