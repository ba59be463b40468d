"""Transfer and character decoding, as the message declares it.

Both are total: any octets under any declaration give a result, in linear time. Whole
(`decode_slice`), piecewise (`decode_stream`) and counted (`decoded_size`) decoding agree to the
octet, because each attachment's size is promised before it is downloaded.
"""

from __future__ import annotations

import binascii
import codecs
import re
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import pybase64

from maild.message.characters.charsets import (
    CESU_8,
    ORDER_OCTETS,
    HiddenUtf8,
    beyond_ascii,
    codec_for,
    errors_of,
    escaped_codec,
    has_more,
    in_order,
    is_as_declared,
    of_windows,
)
from maild.message.characters.guessing import SAMPLE_OCTETS, Guesser
from maild.message.characters.surrogates import replace_surrogates

BASE64: Final = "base64"
QUOTED_PRINTABLE: Final = "quoted-printable"
IDENTITY: Final = "identity"
UUENCODE: Final = "uuencode"  # the lines between `begin` and `end`

_BASE64_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64_ALPHABET))
# Each of 64 values is a character from the blank on, and the back-quote says 0 as well (POSIX uuencode).
_UU_TO_BASE64 = bytes(_BASE64_ALPHABET[(octet - 32) & 63] for octet in range(256))
MAX_PADDINGS: Final = 10_000  # signs of padding that are read in one body; what follows is left out
_BLANKS = b" \t\r\n"
_QUANTUM = rb"(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)"
# So many at once: a match remembers each.
_LINE_OF_QUANTA = rb"(?>%b{0,16384})[ \t]*+(?:[\r\n][ \t\r\n]*+|\Z)" % _QUANTUM
_LINES_OF_QUANTA = re.compile(rb"(?>(?:%b){1,1000})" % _LINE_OF_QUANTA)
_SOFT_BREAK = re.compile(rb"=[ \t]+(?=\r?\n)")
_CHUNK_BYTES = 64 * 1024


class Decoder(Protocol):
    """Transfer decoding piece by piece; `flush` ends it and gives the rest."""

    def feed(self, data: bytes, /) -> bytes:
        """The octets that are certain after this piece."""

    def flush(self) -> bytes:
        """What was held back."""


def decode_slice(data: bytes, encoding: str) -> bytes:
    """The octets behind a transfer encoding; damaged input gives what can be read of it."""
    if encoding == BASE64:
        return _decode_base64(data)
    if encoding == QUOTED_PRINTABLE:
        return _decode_quoted_printable(data)
    if encoding == UUENCODE:
        return b"".join([_decode_uu(line) for line in data.split(b"\n")])
    return data


def decode_stream(encoding: str) -> Decoder:
    """A fresh decoder for that encoding, holding back at most one quantum or one line."""
    if encoding == BASE64:
        return _Base64Decoder()
    if encoding == QUOTED_PRINTABLE:
        return _LineDecoder(_decode_quoted_printable)
    if encoding == UUENCODE:
        return _LineDecoder(partial(decode_slice, encoding=UUENCODE))
    return _IdentityDecoder()


def decoded_size(view: memoryview, encoding: str) -> int:
    """len(decode_slice(view, encoding)) without holding the result."""
    if encoding == IDENTITY:
        return len(view)
    decoder = decode_stream(encoding)
    size = 0
    for at in range(0, len(view), _CHUNK_BYTES):
        size += len(decoder.feed(bytes(view[at : at + _CHUNK_BYTES])))
    return size + len(decoder.flush())


def decode_charset(data: bytes, charset: str | None, guesser: Guesser | None = None) -> str:
    """Text of `data`: declared charset (unless it is surely UTF-8) or escape sequences, then UTF-8, then the likeliest
    (by the message's `guesser`), then latin-1.

    Never raises and never yields NUL or a lone surrogate. A charset that Python would "decode" by
    running something else (unicode_escape, base64, zlib, rot13, idna, …) counts as undeclared.
    """
    codec = codec_for(charset) or escaped_codec(data[:SAMPLE_OCTETS])
    return tidy(_decode_known(data, codec, guesser) if codec else (guesser or Guesser()).decode(data))


def decode_prefix(data: bytes, charset: str | None, guesser: Guesser | None = None) -> str:
    """Like `decode_charset` for data that was cut anywhere: a split last character is dropped."""
    codec = of_windows(codec_for(charset) or escaped_codec(data[:SAMPLE_OCTETS]) or "utf-8", data)
    codec = "utf-8" if _is_hidden_utf8(data, codec, is_whole=False) else in_order(codec, data[:ORDER_OCTETS])
    guesser = guesser or Guesser()
    errors = errors_of(codec, has_time=has_more(codec) and guesser.may_repair(len(data)))
    for one in (codec, CESU_8) if codec == "utf-8" else (codec,):
        if one == CESU_8:
            guesser.allow_surrogates(data)
        try:
            return tidy(codecs.getincrementaldecoder(one)(errors).decode(data, False))
        except (UnicodeError, ValueError):
            pass
    return decode_charset(data, charset, guesser)


def _is_hidden_utf8(data: bytes, codec: str, *, is_whole: bool) -> bool:
    if data.isascii():
        return False
    hidden = HiddenUtf8(codec)
    if hidden.may_be:
        hidden.feed(data, is_last=is_whole)
    return hidden.is_sure


def _decode_known(data: bytes, codec: str, guesser: Guesser | None) -> str:
    codec = of_windows(in_order(codec, data[:ORDER_OCTETS]), data)
    if _is_hidden_utf8(data, codec, is_whole=True):
        return data.decode("utf-8")
    try:
        return data.decode(codec)
    except UnicodeError:
        pass
    guesser = guesser or Guesser()
    has_time = has_more(codec) and guesser.may_repair(len(data))
    more = [(codec, errors_of(codec))] if has_time else []
    for one, errors in (*more, ("utf-8", "strict"), (CESU_8, "strict")):
        if one == CESU_8:
            guesser.allow_surrogates(data)
        try:
            return data.decode(one, errors)
        except UnicodeError:
            pass
    text = data.decode(codec, errors_of(codec, is_lenient=True, has_time=has_time))
    is_declared = is_as_declared(codec, text.count("\ufffd"), beyond_ascii(text), len(text))
    return text if is_declared else guesser.decode(data)


def tidy(text: str, *, is_begun: bool = False) -> str:
    """Without NUL, lone surrogates and, unless it goes on with a text that is begun, a byte order mark."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.startswith("\ufeff") and not is_begun:
        text = text[1:]
    return replace_surrogates(text)


def _decode_base64(data: bytes) -> bytes:
    decoder = _Base64Decoder()
    return decoder.feed(data) + decoder.flush()


def _decode_digits(digits: bytes) -> bytes:
    rest = len(digits) % 4
    if rest == 1:  # six bits are not an octet
        digits = digits[:-1]
    elif rest:
        digits += b"=="[rest - 2 :]
    return pybase64.b64decode(digits, validate=True)


def _decode_quoted_printable(data: bytes) -> bytes:
    # RFC 2045 §6.7 (3): blanks at the end of a line were added on the way, also behind a soft line break.
    if b"= " in data or b"=\t" in data:
        data = _SOFT_BREAK.sub(b"=", data)
    return binascii.a2b_qp(data)


def _decode_uu(line: bytes) -> bytes:
    """As many octets as the line's first character says; blanks at its end may have been taken off."""
    if not line or line == b"\r":
        return b""
    length = (line[0] - 32) & 63
    wanted = (length + 2) // 3 * 4
    digits = line[1 : 1 + wanted].rstrip(b"\r").ljust(wanted)
    return binascii.a2b_base64(digits.translate(_UU_TO_BASE64))[:length]


class _IdentityDecoder:
    def feed(self, data: bytes, /) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


class _Base64Decoder:
    """RFC 2045 §6.8: other characters are ignored, and "=" is evidence of the end, which `_BeyondPadding` examines."""

    def __init__(self) -> None:
        self._held = b""
        self._beyond: _LineDecoder | None = None

    def feed(self, data: bytes, /) -> bytes:
        if self._beyond is not None:
            return self._beyond.feed(data)
        end = data.find(b"=")
        if end >= 0:
            self._beyond = _LineDecoder(_BeyondPadding())
            held, self._held = self._held, b""
            return _decode_digits(held + data[:end].translate(None, _NOT_BASE64)) + self._beyond.feed(
                data[end:]
            )
        digits = self._held + data.translate(None, _NOT_BASE64)
        whole = len(digits) - len(digits) % 4
        self._held = digits[whole:]
        return pybase64.b64decode(digits[:whole], validate=True)

    def flush(self) -> bytes:
        if self._beyond is not None:
            return self._beyond.flush()
        held, self._held = self._held, b""
        return _decode_digits(held)


class _BeyondPadding:
    """Lines of base64 behind the first padding: of files that were encoded piece by piece, and footers that a list has
    encoded. Only lines of whole quanta are that; the first of another kind, as words are, ends it."""

    def __init__(self) -> None:
        self._is_begun = False
        self._paddings_left = MAX_PADDINGS

    def __call__(self, lines: bytes) -> bytes:
        at = 0
        if not self._is_begun:
            self._is_begun = True
            at = len(lines) - len(lines.lstrip(b"="))
        octets = []
        while at < len(lines) and self._paddings_left:
            found = _LINES_OF_QUANTA.match(lines, at)
            if found is None:
                self._paddings_left = 0
                break
            at = found.end()
            octets.append(self._decode(found[0].translate(None, _BLANKS)))
        return b"".join(octets)

    def _decode(self, quanta: bytes) -> bytes:
        pieces = quanta.split(b"=", self._paddings_left)
        self._paddings_left -= len(pieces) - 1
        if not self._paddings_left:
            pieces.pop()
        return b"".join([_decode_digits(piece) for piece in pieces if piece])


class _LineDecoder:
    """Decodes whole lines: after a LF, and only there, `a2b_qp` is surely back at its start."""

    def __init__(self, decode: Callable[[bytes], bytes]) -> None:
        self._decode = decode
        self._held: list[bytes] = []

    def feed(self, data: bytes, /) -> bytes:
        cut = data.rfind(b"\n") + 1
        if not cut:
            self._held.append(data)
            return b""
        lines = b"".join((*self._held, data[:cut]))
        self._held = [data[cut:]]
        return self._decode(lines)

    def flush(self) -> bytes:
        rest = b"".join(self._held)
        self._held = []
        return self._decode(rest)
