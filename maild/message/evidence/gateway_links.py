"""Links that a gateway wrote anew, to look at them when they are followed: where they lead behind it.

Who answers from behind a gateway quotes such links below the text that they had. Mimecast's and others that keep the
target to themselves stay as they are.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

# ASCII: other letters fold to these, and are other hosts.
_FLAGS: Final = re.ASCII | re.IGNORECASE
_SAFE_LINKS = re.compile(
    r"https://[a-z0-9]{1,20}\.safelinks\.protection\.outlook\.com/\?(url)=([^&#]++)", _FLAGS
)
_BARRACUDA = re.compile(r"https://linkprotect\.cudasvc\.com/url\?(a)=([^&#]++)", _FLAGS)
# Proofpoint writes no `%`: what it means would depend on which is decoded first.
_PROOFPOINT_2 = re.compile(r"https://urldefense\.proofpoint\.com/v2/url\?(u)=([^&#%]++)(?=[&#]|\Z)", _FLAGS)
_PROOFPOINT_3 = re.compile(r"https://urldefense\.(?:com|us|proofpoint\.com)/v3/__(.+?)__;(?!.*__;)", _FLAGS)
_DOT_SEGMENT = re.compile(r"[/\\](?:\.|%2e){1,2}(?:[/\\?#]|\Z)", _FLAGS)  # browsers ask for another path
_ESCAPES_OF_PROOFPOINT: Final = str.maketrans("-_", "%/")
# Proofpoint has `*` for octets that it tells elsewhere: not in a host.
_TARGET = re.compile(r"https?://[a-z0-9.-]+(?=[/?#]|\Z)", _FLAGS)


def behind_gateway(href: str) -> str:
    """The link that stood there before; `href` itself where no gateway wrote it, or where that is not plain."""
    target = _named(href)
    return href if target is None or _TARGET.match(target) is None else target


def _named(href: str) -> str | None:
    if (found := _SAFE_LINKS.match(href) or _BARRACUDA.match(href)) is not None:
        return unquote(found[2]) if _names_once(href, found) else None
    if (found := _PROOFPOINT_2.match(href)) is not None:
        return unquote(found[2].translate(_ESCAPES_OF_PROOFPOINT)) if _names_once(href, found) else None
    if (found := _PROOFPOINT_3.match(href)) is not None and _DOT_SEGMENT.search(href) is None:
        return found[1]
    return None


def _names_once(href: str, found: re.Match[str]) -> bool:
    """Which of two a gateway takes is its own affair."""
    return re.search(rf"[&;]{found[1]}=", unquote(href[found.start(2) :]), _FLAGS) is None
