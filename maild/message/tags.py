"""Tag lists (RFC 6376 §3.2): `v=DKIM1; k=rsa; p=…`, in signatures, in key records, in DMARC policies. Pure, linear."""

import re

MAX_TAGS = 100

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*+")
_BLANKS = " \t\r\n"


def read_tags(text: str) -> dict[str, str] | None:
    """Name → value without outer blanks, in order; None where a tag is no tag or stands twice. Names have a case."""
    found: dict[str, str] = {}
    pieces = text.split(";", MAX_TAGS + 1)
    if len(pieces) > MAX_TAGS:
        return None
    if not pieces[-1].strip(_BLANKS):
        pieces.pop()
    for piece in pieces:
        name, equals, value = piece.partition("=")
        name = name.strip(_BLANKS)
        if not equals or not _NAME.fullmatch(name) or name in found:
            return None
        found[name] = value.strip(_BLANKS)
    return found
