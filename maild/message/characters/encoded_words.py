"""RFC 2047 encoded words, read tolerantly: also inside quoted strings and parameters, and with
blanks in their text, because senders write them so.

Octets that are no UTF-8 come as lone surrogates (`Headers.escaped`): so what stands raw in a word is read in the word's
charset, and what stands beside it is guessed.
"""

from __future__ import annotations

import binascii
import re
from typing import Final, NamedTuple

from maild.message.characters.decode import decode_charset, decode_slice
from maild.message.characters.guessing import Guesser

MAX_ENCODED_WORDS = 1000  # per field; what follows is cut
CUT = "…"

# Scripts leave "?" in a word as it is (PHP's quoted_printable_encode). No word holds the beginning of another: linear.
# A group that is repeated would cost 200 octets of memory for each "?".
_WORD = re.compile(r"=\?([^?\s]{1,64})\?([bBqQ])\?(?>([^\r\n]*?)(?=\?=|=\?(?!=)|[\r\n]|\Z))\?=")
_HIGH_OCTET = re.compile(r"[89A-F][0-9A-F]")
_ANY_OCTET = re.compile(r"[0-9A-Fa-f]{2}")
_BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_MAX_CUT_CHARS: Final = 1000
_LEFT_BITS: Final = {2: 0b1111, 3: 0b11}
_BLANKS: Final = " \t\r\n"
# Controls that no reader should be shown. Tab becomes a blank before.
_ENDS = frozenset(b"\0\r\n")
_ESCAPED = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class _Word(NamedTuple):
    """value[start:end]: an encoded word, or several of which each but the last is cut."""

    start: int
    end: int
    charset: str
    kind: str
    text: str

    @property
    def octets(self) -> bytes:
        octets = _octets(self.text)
        return decode_slice(octets, "base64") if self.kind == "b" else binascii.a2b_qp(octets, header=True)


def decode_words(value: str, guesser: Guesser | None = None) -> str:
    """`value` with its encoded words decoded and its octets read; everything else unchanged."""
    if "=?" not in value:
        return read_octets(value, guesser)
    pieces: list[str] = []
    pending = b""  # octets of adjacent words of one charset: senders split characters between them
    charset = ""
    position = 0
    words, is_whole = _words(value)
    for word in words:
        gap = value[position : word.start]
        adjacent = position > 0 and not gap.strip(_BLANKS)
        if adjacent and word.charset == charset:
            pending += word.octets
        else:
            if pending:
                pieces.append(decode_charset(pending, charset, guesser))
            # RFC 2047 §6.2: blanks between two encoded words are not displayed.
            if not adjacent:
                pieces.append(read_octets(gap, guesser))
            charset, pending = word.charset, word.octets
        position = word.end
    pieces.append(decode_charset(pending, charset, guesser))
    pieces.append(read_octets(value[position:], guesser) if is_whole else CUT)
    return "".join(pieces)


def _words(value: str) -> tuple[list[_Word], bool]:
    """(the encoded words, whether these are all). RFC 2047 §5 wants whole characters in each; where senders cut the
    digits of an octet in two, the words are one."""
    words: list[_Word] = []
    for match in _WORD.finditer(value):
        if len(words) == MAX_ENCODED_WORDS:
            return words, False
        charset, kind, text = match.groups()
        start, end = match.span()
        kind, charset = kind.lower(), charset.lower()
        if (
            words
            and _is_cut(words[-1], kind, charset, text)
            and not value[words[-1].end : start].strip(_BLANKS)
        ):
            start, text = words[-1].start, words.pop().text + text
        words.append(_Word(start, end, charset, kind, text))
    return words, True


def _is_cut(last: _Word, kind: str, charset: str, text: str) -> bool:
    """Whether the last word ends within an octet, and a next one of that kind goes on with it."""
    if (last.kind, last.charset) != (kind, charset) or len(last.text) > _MAX_CUT_CHARS:
        return False
    if kind == "b" and last.text.endswith("="):
        return False
    if kind == "b":
        # RFC 4648 §3.5: the bits that are left of the last digit are zero, where nothing follows.
        rest = len(last.text) % 4
        return rest == 1 or (rest > 1 and max(0, _BASE64.find(last.text[-1])) & _LEFT_BITS[rest] != 0)
    ending = last.text[-2:]
    if ending[-1:] == "=":  # else it is a soft line break, which some senders leave there
        return _HIGH_OCTET.match(text) is not None
    return ending[:1] == "=" and _ANY_OCTET.match(ending[1:] + text) is not None


def read_octets(value: str, guesser: Guesser | None = None) -> str:
    """`value` with the octets that stand in it as lone surrogates decoded, in the likeliest charset."""
    if value.isascii() or not _ESCAPED.search(value):
        return value
    return decode_charset(_octets(value), None, guesser)


def hides_controls(value: str) -> bool:
    """Whether an encoded word says a NUL or a line's end, at which some readers stop."""
    return any(not _ENDS.isdisjoint(word.octets) for word in _words(value)[0])


def readable(value: str, guesser: Guesser | None = None) -> str:
    """Decoded, without control characters, trimmed: a subject."""
    value = decode_words(value, guesser)
    if not value.isprintable():
        value = _CONTROLS.sub("", value.replace("\t", " "))
    return value.strip(" ")


def _octets(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no octet
        return text.encode("utf-8", "replace")
