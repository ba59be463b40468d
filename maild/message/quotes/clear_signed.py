"""OpenPGP's cleartext signatures (RFC 9580 §7): the words that were signed, without what a program put around them.

Nothing is verified. What is no whole block stays as it is, and so do the words before and behind one: in a signature's
place stands nothing but what a signature is written in, so that no words go with it.
"""

from __future__ import annotations

import re
from typing import Final

_BEGIN: Final = "-----BEGIN PGP SIGNED MESSAGE-----\n"
_SIGNATURE: Final = "\n-----BEGIN PGP SIGNATURE-----\n"
_MAX_BLOCKS: Final = 20
_HEADERS: Final = re.compile(r"(?:Hash: [A-Z0-9, -]{1,40}\n){0,4}[ \t]{0,8}\n")
_ARMOR: Final = re.compile(
    r"(?:(?:Version|Comment|Charset|MessageID|Hash): [^\n]{0,80}\n){0,4}[ \t]{0,8}\n"
    r"(?:[A-Za-z0-9+/]{1,76}={0,2}\n){1,100}(?:=[A-Za-z0-9+/]{4}\n)?-----END PGP SIGNATURE-----[ \t]{0,8}(?:\n|\Z)"
)
_ESCAPE: Final = re.compile(r"^- ", re.MULTILINE)


def signed_words(text: str) -> str:
    """The text without the marks and signatures of the blocks in it, and their lines as they were before."""
    if _BEGIN not in text:
        return text
    pieces: list[str] = []
    at = 0
    for _ in range(_MAX_BLOCKS):
        start = text.find(_BEGIN, at)
        is_at_line = start == 0 or text[start - 1 : start] == "\n"
        headers = _HEADERS.match(text, start + len(_BEGIN)) if start >= 0 and is_at_line else None
        signature = text.find(_SIGNATURE, headers.end() - 1) if headers else -1
        armor = _ARMOR.match(text, signature + len(_SIGNATURE)) if signature >= 0 else None
        if headers is None or armor is None:
            break
        words = text[headers.end() : max(headers.end(), signature)]
        pieces += (text[at:start], _ESCAPE.sub("", words), "\n")
        at = armor.end()
    return "".join([*pieces, text[at:]])
