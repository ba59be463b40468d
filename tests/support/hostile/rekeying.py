"""A TLS client that can say "new keys from here on" (KeyUpdate, RFC 8446 §4.6.3), which Python's own can't: OpenSSL by
its C interface, the very library that Python's `ssl` has loaded."""

import _ssl
import ctypes
from functools import cache

Pointer = ctypes.c_void_p
_PIECE_OCTETS = 64 * 1024
_BY_POINTER = ("TLS_client_method", "SSL_CTX_new", "SSL_new", "BIO_s_mem", "BIO_new")
_ARGUMENTS: dict[str, tuple[type, ...]] = {
    "SSL_CTX_new": (Pointer,), "SSL_CTX_free": (Pointer,), "SSL_new": (Pointer,), "SSL_free": (Pointer,),
    "BIO_new": (Pointer,), "SSL_set_bio": (Pointer, Pointer, Pointer), "SSL_set_connect_state": (Pointer,),
    "SSL_do_handshake": (Pointer,), "SSL_key_update": (Pointer, ctypes.c_int),
    "SSL_read": (Pointer, ctypes.c_char_p, ctypes.c_int), "SSL_write": (Pointer, ctypes.c_char_p, ctypes.c_int),
    "BIO_read": (Pointer, ctypes.c_char_p, ctypes.c_int), "BIO_write": (Pointer, ctypes.c_char_p, ctypes.c_int),
}  # fmt: skip


@cache
def _openssl() -> ctypes.CDLL:
    library = ctypes.CDLL(_ssl.__file__)
    for name in _BY_POINTER:
        getattr(library, name).restype = Pointer
    for name, arguments in _ARGUMENTS.items():
        getattr(library, name).argtypes = arguments
    return library


class RekeyingClient:
    """The client's side of TLS 1.3, which believes any certificate; its octets leave when it is told to."""

    def __init__(self) -> None:
        self._lib = lib = _openssl()
        self._context = lib.SSL_CTX_new(lib.TLS_client_method())
        self._tls = lib.SSL_new(self._context)
        self._heard, self._said = lib.BIO_new(lib.BIO_s_mem()), lib.BIO_new(lib.BIO_s_mem())
        lib.SSL_set_bio(self._tls, self._heard, self._said)
        lib.SSL_set_connect_state(self._tls)
        self.is_ready = lib.SSL_do_handshake(self._tls) == 1

    def close(self) -> None:
        """Give the memory back."""
        self._lib.SSL_free(self._tls)
        self._lib.SSL_CTX_free(self._context)

    def hear(self, octets: bytes) -> None:
        """Take what the server sent."""
        self._lib.BIO_write(self._heard, octets, len(octets))
        if not self.is_ready:
            self.is_ready = self._lib.SSL_do_handshake(self._tls) == 1

    def heard(self) -> bytes:
        """What was said to it in the records that came."""
        return self._read(self._lib.SSL_read, self._tls)

    def said(self, *words: bytes, new_keys: int = 0) -> bytes:
        """What leaves: the handshake's part, that many changes of keys, a record for each of the words."""
        for _ in range(new_keys):
            assert self._lib.SSL_key_update(self._tls, 0) == 1
            assert self._lib.SSL_do_handshake(self._tls) == 1
        for word in words:
            assert self._lib.SSL_write(self._tls, word, len(word)) == len(word)
        pieces = iter(lambda: self._read(self._lib.BIO_read, self._said), b"")
        return b"".join(pieces)

    def _read(self, read: "ctypes._NamedFuncPointer", source: int) -> bytes:
        room = ctypes.create_string_buffer(_PIECE_OCTETS)
        octets = read(source, room, _PIECE_OCTETS)
        return room.raw[: max(0, octets)]
