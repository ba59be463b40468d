"""What is known of a sender: the API's `auth`, and the Authentication-Results field that says so (RFC 8601)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from authres import AuthenticationResultsHeader, SPFAuthenticationResult
from authres.arc import ARCAuthenticationResult
from authres.core import DKIMAuthenticationResult
from authres.dmarc import DMARCAuthenticationResult

from maild.authentication.arc_check import ArcResult
from maild.authentication.dkim_check import DkimResult
from maild.authentication.dmarc import DmarcResult
from maild.authentication.spf import SpfResult

Auth = Mapping[str, str | None]  # `auth` of a message in the API: spf, dkim, dmarc, arc, verifiedDomain

_VALUE_CHARS = 255
_QUOTED = re.compile(r'"(?>(?:[^"\\]++|\\.)*)("?)', re.DOTALL)  # to the end of all where it is left open
_COMMENT = re.compile(r"\([^()\\\"]*+\)")
_COMMENT_DEPTH = 3


class Findings(NamedTuple):
    """What the checks found. `author_domain`: of the one mailbox in From, an A-label, "" where there is none."""

    author_domain: str
    spf: SpfResult
    dkim: Sequence[DkimResult]
    arc: ArcResult
    dmarc: DmarcResult


class SenderVerdict(NamedTuple):
    """`results`: the header field without its line end. `refusal`: why the message is not taken, for its sender;
    `told`: what the log says of it. `org_domains`: the author's domain and foreign ones of Reply-To → the domains of
    their organizations (RFC 9989 §4.10.2), as far as DNS told; empty where nothing depends on it.
    `is_one_click_signed`: a signature that passed covers the fields by which one unsubscribes (RFC 8058 §4)."""

    auth: Auth
    results: str
    is_spam: bool = False
    refusal: str | None = None
    told: Mapping[str, Any] = {}
    org_domains: Mapping[str, str] = {}
    is_one_click_signed: bool = False


def known_sender(domain: str | None) -> Auth:
    """`auth` where the sender is an inbox of ours, or the simulator: its domain is known, not claimed."""
    return {"spf": "pass", "dkim": "pass", "dmarc": "pass", "arc": "none", "verifiedDomain": domain}


def auth_of(found: Findings) -> Auth:
    """`auth` of a message that strangers brought."""
    return {
        "spf": found.spf.result,
        "dkim": _foremost(found).result if found.dkim else "none",
        "dmarc": found.dmarc.result,
        "arc": found.arc.result,
        "verifiedDomain": found.author_domain if _is_verified(found) else None,
    }


def _is_verified(found: Findings) -> bool:
    if found.dmarc.result == "pass":
        return True
    # Without a policy nothing tells which other domains belong to the author's: a signature must be its own.
    return found.dmarc.result == "none" and any(
        one.result == "pass" and one.domain == found.author_domain for one in found.dkim
    )


def is_one_click_signed(found: Findings) -> bool:
    return any(one.result == "pass" and one.covers_one_click for one in found.dkim)


def _foremost(found: Findings) -> DkimResult:
    """The signature that says most: one that passed, the author's before others."""
    return min(found.dkim, key=lambda one: (one.result != "pass", one.domain != found.author_domain))


def refusal_text(found: Findings) -> str:
    """For the peer and its postmaster: what to mend, without a stranger's words."""
    return (
        f"{_clean(found.author_domain)} asks to refuse mail in its name that neither SPF nor DKIM proves (DMARC):"
        f" spf={found.spf.result} dkim={auth_of(found)['dkim']}"
    )


def told_of(found: Findings) -> dict[str, Any]:
    """For the log: what each check said, and why."""
    return {
        "author_domain": found.author_domain,
        "spf": f"{found.spf.result} {_clean(found.spf.domain)}".strip(),
        "dkim": [f"{one.result} {_clean(one.domain)} {one.reason}".strip() for one in found.dkim],
        "arc": f"{found.arc.result} {found.arc.reason}".strip(),
        "dmarc": f"{found.dmarc.result} policy={found.dmarc.policy} of {_clean(found.dmarc.record_domain)}",
    }


def dmarc_passed(results: str, domain: str) -> bool:
    """Does an Authentication-Results value (behind its instance) say that DMARC passed for the domain?

    Its values may be a stranger's words, quoted or in comments: what stands in those says nothing."""
    plain = _QUOTED.sub(lambda quoted: "?" if quoted[1] else '"', results)
    for _ in range(_COMMENT_DEPTH):
        plain = _COMMENT.sub(" ", plain)
    if any(mark in plain for mark in '"()\\'):
        return False
    methods = [method.lower().split() for method in plain.split(";")]
    said = [words for words in methods if words and words[0].startswith("dmarc=")]
    return len(said) == 1 and said[0][0] == "dmarc=pass" and f"header.from={domain}" in said[0]


def results_field(hostname: str, found: Findings) -> str:
    """Authentication-Results, folded: each method on a line of its own."""
    results = [
        _spf(found.spf),
        *([_dkim(one) for one in found.dkim] or [DKIMAuthenticationResult(result="none")]),
        _dmarc(found),
        ARCAuthenticationResult(result=found.arc.result, reason=_reason(found.arc.reason)),
    ]
    host = str(AuthenticationResultsHeader(authserv_id=hostname)).partition(";")[0]
    return ";\r\n\t".join([host, *(str(one) for one in results)])


def _spf(spf: SpfResult) -> SPFAuthenticationResult:
    domain = _clean(spf.domain) or None
    if spf.identity == "helo":
        return SPFAuthenticationResult(result=spf.result, smtp_helo=domain)
    return SPFAuthenticationResult(result=spf.result, smtp_mailfrom=domain)


def _dkim(one: DkimResult) -> DKIMAuthenticationResult:
    return DKIMAuthenticationResult(
        result=one.result,
        reason=_reason(one.reason),
        header_d=_clean(one.domain) or None,
        header_s=_clean(one.selector) or None,
        header_a=f"{one.key_type}-sha256" if one.key_type else None,
    )


def _dmarc(found: Findings) -> DMARCAuthenticationResult:
    return DMARCAuthenticationResult(
        result=found.dmarc.result,
        reason=_reason(found.dmarc.reason),
        header_from=_clean(found.author_domain) or None,
        policy=found.dmarc.policy if found.dmarc.result == "fail" else None,
    )


def _reason(words: str) -> str | None:
    return _clean(words) or None


def _clean(value: str) -> str:
    """authres writes a line end through into the header: only printable ASCII gets to it."""
    value = value[:_VALUE_CHARS]
    if value.isascii() and value.isprintable():
        return value
    return "".join(one if " " <= one <= "~" else "?" for one in value)
