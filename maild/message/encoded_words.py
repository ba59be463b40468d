"""RFC 2047 encoded words, read tolerantly: also inside quoted strings and parameters, and with
blanks in their text, because senders write them so.

Octets that are no UTF-8 come as lone surrogates (`Headers.escaped`): so what stands raw in a word is read in the word's
charset, and what stands beside it is guessed.
"""

from __future__ import annotations

import binascii
import re
from itertools import islice

from maild.message.decode import decode_charset, decode_slice
from maild.message.guessing import Guesser

MAX_ENCODED_WORDS = 1000  # per field; what follows is cut
CUT = "…"

# No alternative can be entered twice from one place, and no word holds a "?": linear.
_WORD = re.compile(r"=\?([^?\s]{1,64})\?([bBqQ])\?([^?\r\n]*+)\?=")
# Controls that no reader should be shown. Tab becomes a blank before.
_ENDS = frozenset(b"\0\r\n")
_ESCAPED = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def decode_words(value: str, guesser: Guesser | None = None) -> str:
    """`value` with its encoded words decoded and its octets read; everything else unchanged."""
    if "=?" not in value:
        return read_octets(value, guesser)
    pieces: list[str] = []
    pending = b""  # octets of adjacent words of one charset: senders split characters between them
    charset = ""
    position = 0
    for count, word in enumerate(_WORD.finditer(value)):
        if count == MAX_ENCODED_WORDS:
            return "".join(pieces) + decode_charset(pending, charset, guesser) + CUT
        gap = value[position : word.start()]
        adjacent = position > 0 and not gap.strip(" \t\r\n")
        if adjacent and word[1].lower() == charset:
            pending += _word_octets(word[2], word[3])
        else:
            pieces.append(decode_charset(pending, charset, guesser))
            # RFC 2047 §6.2: blanks between two encoded words are not displayed.
            if not adjacent:
                pieces.append(read_octets(gap, guesser))
            charset, pending = word[1].lower(), _word_octets(word[2], word[3])
        position = word.end()
    pieces.append(decode_charset(pending, charset, guesser))
    pieces.append(read_octets(value[position:], guesser))
    return "".join(pieces)


def read_octets(value: str, guesser: Guesser | None = None) -> str:
    """`value` with the octets that stand in it as lone surrogates decoded, in the likeliest charset."""
    if value.isascii() or not _ESCAPED.search(value):
        return value
    return decode_charset(_octets(value), None, guesser)


def hides_controls(value: str) -> bool:
    """Whether an encoded word says a NUL or a line's end, at which some readers stop."""
    words = islice(_WORD.finditer(value), MAX_ENCODED_WORDS)
    return any(not _ENDS.isdisjoint(_word_octets(word[2], word[3])) for word in words)


def readable(value: str, guesser: Guesser | None = None) -> str:
    """Decoded, without control characters, trimmed: a subject."""
    value = decode_words(value, guesser)
    if not value.isprintable():
        value = _CONTROLS.sub("", value.replace("\t", " "))
    return value.strip(" ")


def _word_octets(kind: str, text: str) -> bytes:
    octets = _octets(text)
    if kind in "bB":
        return decode_slice(octets, "base64")
    return binascii.a2b_qp(octets, header=True)


def _octets(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no octet
        return text.encode("utf-8", "replace")
