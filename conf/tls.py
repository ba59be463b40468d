"""TLS towards hosts that a stranger may have chosen: what they can't hold the event loop with.

- Finite-field Diffie-Hellman of TLS 1.2 is not offered: the server names the group, and one of 10,000 bits takes a
  second. (That of TLS 1.3 is kept out by openssl.cnf: Python has no call for it.)
- There is no second handshake on an open connection.
"""

import ssl

_FINITE_FIELD = frozenset({"kx-dhe", "kx-dhe-psk"})


def client_context() -> ssl.SSLContext:
    """A context that verifies, TLS 1.2 or later (RFC 8996), with what this Python offers besides those ciphers."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    fast = [
        cipher["name"]
        for cipher in context.get_ciphers()
        if cipher["protocol"] != "TLSv1.3" and cipher["kea"] not in _FINITE_FIELD
    ]
    context.set_ciphers(":".join(fast))
    return context
