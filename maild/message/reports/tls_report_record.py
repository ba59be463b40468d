"""Where a domain wants reports about TLS: the TXT records of `_smtp._tls.DOMAIN` (RFC 8460 §3). Pure, total, linear.

Whoever owns the domain writes them, so they are bounded, and a URI that we can't use is passed over.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote

from maild.message.writing.header_writer import ComposeError, safe_address

DESTINATIONS_MAX = 2
RECORD_OCTETS_MAX = 4096
_URI_CHARS_MAX = 1000

_RECORD_BEGINS = re.compile(rb"v=TLSRPTv1[ \t]*(?:;|\Z)")
_VISIBLE = re.compile(r"[!-~]+")
_PERCENT_FAULT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class ReportDestination(NamedTuple):
    """`target`: an address (mailto), or the URL itself (https)."""

    scheme: Literal["mailto", "https"]
    target: str

    @property
    def uri(self) -> str:
        """What names it."""
        return self.target if self.scheme == "https" else f"mailto:{self.target}"


def read_destinations(records: Sequence[bytes]) -> tuple[ReportDestination, ...]:
    """The first DESTINATIONS_MAX that the domain names and that reports can be sent to; () where it wants none."""
    ours = [record for record in records if _RECORD_BEGINS.match(record)]
    if len(ours) != 1 or len(ours[0]) > RECORD_OCTETS_MAX:  # §3: as if there were none
        return ()
    found: dict[ReportDestination, None] = {}
    for uri in _uris(ours[0].decode("ascii", "replace")):
        one = _destination(uri)
        if one is not None and len(found) < DESTINATIONS_MAX:
            found[one] = None
    return tuple(found)


def _uris(record: str) -> Iterator[str]:
    for field in record.split(";")[1:]:
        name, equals, value = field.partition("=")
        if equals and name.strip(" \t") == "rua":
            yield from (uri.strip(" \t") for uri in value.split(","))


def _destination(uri: str) -> ReportDestination | None:
    if len(uri) > _URI_CHARS_MAX or not _VISIBLE.fullmatch(uri) or _PERCENT_FAULT.search(uri):
        return None
    scheme, _, rest = uri.partition(":")
    if scheme.lower() == "https" and rest.startswith("//"):
        return ReportDestination("https", f"https:{rest}")
    if scheme.lower() != "mailto":
        return None
    address = unquote(rest.partition("?")[0])  # RFC 6068 §2; its header fields are not for us
    if not address.isascii():
        return None
    try:
        return ReportDestination("mailto", safe_address(address))
    except ComposeError:
        return None
