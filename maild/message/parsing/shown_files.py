"""Which files html shows, wherever they stand: programs put them beside it without a multipart/related (RFC 2387).

Html is read only where a file has an id (RFC 2392) and does not say of itself that it is shown; MAX_OCTETS of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from typing import Final
from urllib.parse import unquote

from maild.message.characters.decode import decode_slice
from maild.message.model import AttachmentPart, Slice
from maild.message.octets import Buffer

MAX_OCTETS: Final = 1024 * 1024  # as they stand in the message
_SCHEME: Final = b"cid:"
_SHOWN: Final = re.compile(
    rb"""(?:\b(?:src|background)\s*+=\s*+["']?|\burl\(\s*+["']?)\s*+cid:([^"'<>\s)]{1,2000}+)""",
    re.IGNORECASE,
)


def with_shown(
    raw: Buffer, html: Sequence[Slice], files: Sequence[AttachmentPart]
) -> tuple[AttachmentPart, ...]:
    """The files, those inline that the html shows."""
    if not html or not any(one.content_id and not one.is_inline for one in files):
        return tuple(files)
    shown = _shown_ids(raw, html)
    return tuple(replace(one, is_inline=True) if one.content_id in shown else one for one in files)


def _shown_ids(raw: Buffer, html: Sequence[Slice]) -> set[str]:
    found: set[str] = set()
    remaining = MAX_OCTETS
    for part in html:
        length = min(part.length, remaining)
        octets = decode_slice(bytes(raw[part.offset : part.offset + length]), part.encoding)
        for named in _SHOWN.findall(octets) if _SCHEME in octets.lower() else ():
            shown = unescape(named.decode("utf-8", "replace"))
            found |= {shown, unquote(shown)}
        remaining -= length
    return found
