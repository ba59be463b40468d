"""Links that a gateway wrote anew, to look at them when they are followed: where they lead behind it.

Who answers from behind a gateway quotes such links below the text that they had. Mimecast's and others that keep the
target to themselves stay as they are.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

# Named once: which of two a gateway takes is its own affair.
_SAFE_LINKS = re.compile(
    r"https://[a-z0-9]{1,20}\.safelinks\.protection\.outlook\.com/\?url=([^&#]++)(?!.*&url=)", re.IGNORECASE
)
_BARRACUDA = re.compile(r"https://linkprotect\.cudasvc\.com/url\?a=([^&#]++)(?!.*&a=)", re.IGNORECASE)
_PROOFPOINT_2 = re.compile(r"https://urldefense\.proofpoint\.com/v2/url\?u=([^&#]++)(?!.*&u=)", re.IGNORECASE)
_PROOFPOINT_3 = re.compile(r"https://urldefense\.(?:com|us|proofpoint\.com)/v3/__(.+?)__;", re.IGNORECASE)
_TARGET_CHARS: Final = 2000  # beyond, it is cut: its host is what is looked at
_ESCAPES_OF_PROOFPOINT: Final = str.maketrans("-_", "%/")
# Proofpoint has `*` for octets that it tells elsewhere: not in a host.
_TARGET = re.compile(r"https?://[a-z0-9.-]+(?=[/?#]|\Z)", re.IGNORECASE)


def behind_gateway(href: str) -> str:
    """The link that stood there before; `href` itself where no gateway wrote it, or where that is not plain."""
    target = _named(href)
    return href if target is None or _TARGET.match(target) is None else target


def _named(href: str) -> str | None:
    if (found := _SAFE_LINKS.match(href) or _BARRACUDA.match(href)) is not None:
        return unquote(found[1][:_TARGET_CHARS])
    if (found := _PROOFPOINT_2.match(href)) is not None:
        return unquote(found[1][:_TARGET_CHARS].translate(_ESCAPES_OF_PROOFPOINT))
    if (found := _PROOFPOINT_3.match(href)) is not None:
        return found[1][:_TARGET_CHARS]
    return None
