"""TLS towards hosts that someone else chose, so that such a host can't hold up the event loop.

- Finite-field Diffie-Hellman of TLS 1.2 is not offered: the server names the group, and a group of 10,000 bits takes a
  second. (openssl.cnf keeps out that of TLS 1.3: Python does not have a call for it.)
- A second handshake on an open connection is refused.
- A handshake has a bound: OpenSSL reads each certificate that the server shows, a third of a millisecond for the
  smallest ones, and takes 100 KB of them in one go, which is a tenth of a second.
- What comes is read in small pieces. A record may hold one octet, costs a microsecond, and asyncio decrypts all that
  has come in one go: half a megabyte of them takes 20 ms, and many hosts may send that in one moment.

Whom a certificate convinces does not depend on the Python that is installed, either.
"""

import os
import re
import socket
import ssl
from typing import Any

RECEIVED_OCTETS = 8 * 1024  # Linux gives twice that; an answer of 64 KiB takes some round trips more
# A few certificates, and the names of all authorities of a system, which a server tells who asks clients for theirs.
HANDSHAKE_OCTETS = 24 * 1024
_HASHED = re.compile(r"[0-9a-f]{8}\.\d+")  # openssl-rehash(1)
_FINITE_FIELD = frozenset({"kx-dhe", "kx-dhe-psk"})
# Python 3.13 adds VERIFY_X509_STRICT, which refuses authorities for a formality: `openssl req -x509` makes them without
# the key usage of RFC 5280 §4.2.1.3, and other mail servers and browsers believe them. A certificate in a CA file is
# believed as it stands there, whoever issued it; Python before 3.13 asks for the root.
_VERIFY_FLAGS = ssl.VERIFY_X509_TRUSTED_FIRST | ssl.VERIFY_X509_PARTIAL_CHAIN


class LongHandshake(ssl.SSLError):
    """The server says more in its handshake than `HANDSHAKE_OCTETS`."""

    reason = "HANDSHAKE_TOO_LONG"


class _ClientTls(ssl.SSLObject):
    _incoming: ssl.MemoryBIO
    _octets = 0  # of the handshake, that OpenSSL has taken

    @classmethod
    def _create(cls, incoming: ssl.MemoryBIO, *arguments: Any, **options: Any) -> "_ClientTls":
        made: _ClientTls = super()._create(incoming, *arguments, **options)  # type: ignore[misc]
        made._incoming = incoming
        return made

    def do_handshake(self) -> None:
        came = self._incoming.pending
        if self._octets + came > HANDSHAKE_OCTETS:
            raise LongHandshake(ssl.SSL_ERROR_SSL, "the handshake is too long")
        try:
            super().do_handshake()
        finally:
            self._octets += came - self._incoming.pending


def client_context() -> ssl.SSLContext:
    """A context that verifies, for TLS 1.2 or later (RFC 8996), with all ciphers that Python offers but those. Reading
    the system's CAs takes 20 to 50 ms."""
    context = ssl.create_default_context()
    context.verify_flags = _VERIFY_FLAGS
    return _bounded(context)


def unverified_context() -> ssl.SSLContext:
    """The same that believes any certificate, so it reads no CAs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return _bounded(context)


def knows_authorities() -> bool:
    """Has the system any to believe? Those in a folder OpenSSL reads when it needs one, by their names."""
    paths = ssl.get_default_verify_paths()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_default_verify_paths()
    in_folder = os.listdir(paths.capath) if paths.capath else []
    return bool(context.cert_store_stats()["x509_ca"]) or any(map(_HASHED.fullmatch, in_folder))


def receive_little(connection: socket.socket) -> None:
    """Have the host wait until what it said is read."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_OCTETS)


def _bounded(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.sslobject_class = _ClientTls
    fast = [
        cipher["name"]
        for cipher in context.get_ciphers()
        if cipher["protocol"] != "TLSv1.3" and cipher["kea"] not in _FINITE_FIELD
    ]
    context.set_ciphers(":".join(fast))
    return context
