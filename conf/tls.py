"""TLS towards hosts that someone else chose, so that such a host can't hold up the event loop.

- Finite-field Diffie-Hellman of TLS 1.2 is not offered: the server names the group, and a group of 10,000 bits takes a
  second. (openssl.cnf keeps out that of TLS 1.3: Python does not have a call for it.)
- A second handshake on an open connection is refused.
"""

import ssl

_FINITE_FIELD = frozenset({"kx-dhe", "kx-dhe-psk"})


def client_context() -> ssl.SSLContext:
    """A context that verifies, for TLS 1.2 or later (RFC 8996), with all ciphers that Python offers but those. Reading
    the system's CAs takes 20 to 50 ms."""
    return _bounded(ssl.create_default_context())


def unverified_context() -> ssl.SSLContext:
    """The same that believes any certificate, so it reads no CAs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return _bounded(context)


def _bounded(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    fast = [
        cipher["name"]
        for cipher in context.get_ciphers()
        if cipher["protocol"] != "TLSv1.3" and cipher["kea"] not in _FINITE_FIELD
    ]
    context.set_ciphers(":".join(fast))
    return context
