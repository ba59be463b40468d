"""What is known of a sender: the API's `auth`, and the Authentication-Results field that says so (RFC 8601)."""

from collections.abc import Mapping
from typing import NamedTuple

from authres import AuthenticationResultsHeader

Auth = Mapping[str, str | None]  # `auth` of a message in the API: spf, dkim, dmarc, arc, verifiedDomain

_NOT_EVALUATED: Auth = {"spf": None, "dkim": None, "dmarc": None, "arc": None, "verifiedDomain": None}


class SenderVerdict(NamedTuple):
    """`results`: the header field without its line end."""

    auth: Auth
    results: str


def not_evaluated(hostname: str) -> SenderVerdict:
    """RFC 8601 §2.2: "none" says that nothing was evaluated, and that this host says so."""
    return SenderVerdict(_NOT_EVALUATED, str(AuthenticationResultsHeader(authserv_id=hostname)))


def known_sender(domain: str | None) -> Auth:
    """`auth` where the sender is an inbox of ours, or the simulator: its domain is known, not claimed."""
    return {"spf": "pass", "dkim": "pass", "dmarc": "pass", "arc": "none", "verifiedDomain": domain}
