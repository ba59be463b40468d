"""What the enhanced status codes (RFC 3463) and the basic codes mean for a recipient: those of the IANA registry, and
those that large receivers have added. A table; `bounces.py` reads it. Pure.

A row `decides` where its code says so much that words can't say better. Words always decide where it does not, and
take the blame off an address where they speak of something else (`bounce_words.py`).
"""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

BounceClass = Literal[
    "address", "mailbox_full", "policy", "content", "reputation", "throttled", "infrastructure", "unknown"
]
Advice = Literal["retry_later", "fix_address", "fix_content", "fix_dns", "slow_down", "stop"]

IANA: Final = "IANA SMTP Enhanced Status Codes"
GOOGLE: Final = "support.google.com/a/answer/3726730"
MICROSOFT: Final = (
    "learn.microsoft.com/exchange/troubleshoot/email-delivery/ndr/non-delivery-reports-in-exchange-online"
)

# What helps where a row says nothing else.
ADVICE: Final[Mapping[BounceClass, Advice]] = {
    "address": "fix_address",
    "mailbox_full": "retry_later",
    "policy": "stop",
    "content": "fix_content",
    "reputation": "stop",
    "throttled": "slow_down",
    "infrastructure": "retry_later",
    "unknown": "stop",
}


class StatusRow(NamedTuple):
    """`blames_address`: where it is permanent, the address can't receive mail, whatever the message."""

    code: str
    bounce_class: BounceClass
    source: str
    advice: Advice | None = None
    decides: bool = True
    blames_address: bool = False


def _gone(code: str, source: str) -> StatusRow:
    return StatusRow(code, "address", source, blames_address=True)


def _weak(code: str, bounce_class: BounceClass, source: str, advice: Advice | None = None) -> StatusRow:
    return StatusRow(code, bounce_class, source, advice, decides=False)


# By `subject.detail`, else by subject; the class (4, 5) says whether it lasts.
_ROWS: Final = (
    _weak("0", "unknown", "RFC 3463 §3.1"),
    # The address.
    _weak("1", "address", "RFC 3463 §3.2"),
    _gone("1.1", "RFC 3463 §3.2"),
    _gone("1.2", "RFC 3463 §3.2"),
    _weak("1.3", "address", "RFC 3463 §3.2"),  # the syntax; what hosts mean by it, their words say
    StatusRow("1.4", "address", "RFC 3463 §3.2"),
    _gone("1.6", "RFC 3463 §3.2"),
    StatusRow("1.7", "policy", "RFC 3463 §3.2"),
    StatusRow("1.8", "policy", "RFC 3463 §3.2", "fix_dns"),
    _gone("1.10", "RFC 7505 §4.2"),
    StatusRow("1.90", "throttled", MICROSOFT),
    _gone("1.351", "Exchange Online: Remote server returned unknown recipient or mailbox unavailable"),
    # The mailbox.
    _weak("2", "unknown", "RFC 3463 §3.3"),
    _gone("2.1", "RFC 3463 §3.3"),
    StatusRow("2.2", "mailbox_full", "RFC 3463 §3.3"),
    StatusRow("2.3", "content", "RFC 3463 §3.3"),
    _weak("2.4", "infrastructure", "RFC 3463 §3.3"),
    StatusRow("2.121", "throttled", MICROSOFT),
    StatusRow("2.122", "throttled", MICROSOFT),
    # The mail system.
    _weak("3", "infrastructure", "RFC 3463 §3.4"),
    StatusRow("3.4", "content", "RFC 3463 §3.4"),
    # The way to it.
    _weak("4", "infrastructure", "RFC 3463 §3.5"),
    _weak("4.5", "throttled", f"RFC 3463 §3.5; {GOOGLE}"),
    StatusRow("4.6", "infrastructure", "RFC 3463 §3.5"),
    StatusRow("4.7", "infrastructure", "RFC 3463 §3.5"),
    StatusRow("4.8", "infrastructure", MICROSOFT),
    StatusRow("4.14", "infrastructure", MICROSOFT),
    StatusRow("4.300", "infrastructure", MICROSOFT),
    # The protocol.
    _weak("5", "infrastructure", "RFC 3463 §3.6"),
    _weak("5.0", "unknown", "RFC 3463 §3.6"),
    StatusRow("5.3", "throttled", "RFC 3463 §3.6"),
    # The message.
    StatusRow("6", "content", "RFC 3463 §3.7"),
    # Security and policy.
    _weak("7", "policy", "RFC 3463 §3.8"),
    StatusRow("7.12", "policy", MICROSOFT),
    _gone("7.17", "RFC 7293 §5.3"),
    _gone("7.18", "RFC 7293 §5.3"),
    *(StatusRow(f"7.{detail}", "policy", "RFC 7372 §3", "fix_dns") for detail in range(20, 27)),
    # Of a sender; sendmail says it of a recipient, in words that are known (`bounce_words.py`).
    _weak("7.27", "policy", f"RFC 7505 §4.2; {GOOGLE}", "fix_dns"),
    StatusRow("7.28", "throttled", f"{IANA}; {GOOGLE}"),
    StatusRow("7.29", "policy", f"RFC 8617 §5.1.1; {GOOGLE}", "fix_dns"),
    StatusRow("7.30", "policy", f"RFC 8689 §5; {GOOGLE}", "fix_dns"),
    StatusRow("7.32", "policy", GOOGLE, "fix_dns"),
    StatusRow("7.57", "policy", MICROSOFT),
    StatusRow("7.64", "policy", MICROSOFT),
    StatusRow("7.124", "policy", MICROSOFT),
    *(StatusRow(f"7.{detail}", "policy", MICROSOFT) for detail in range(133, 137)),
    *(StatusRow(f"7.{detail}", "infrastructure", MICROSOFT) for detail in range(321, 326)),
    *(StatusRow(f"7.{detail}", "reputation", MICROSOFT) for detail in (501, 502, 503, 507, 511, 513)),
    *(StatusRow(f"7.{detail}", "throttled", MICROSOFT) for detail in (500, *range(850, 900))),
    _gone("7.504", MICROSOFT),
    StatusRow("7.505", "address", MICROSOFT),
    StatusRow("7.506", "policy", MICROSOFT, "fix_dns"),
    StatusRow("7.508", "throttled", MICROSOFT),
    StatusRow("7.509", "policy", MICROSOFT, "fix_dns"),
    StatusRow("7.510", "infrastructure", MICROSOFT),
    StatusRow("7.512", "content", MICROSOFT),
    StatusRow("7.515", "policy", MICROSOFT, "fix_dns"),
    *(StatusRow(f"7.{detail}", "reputation", MICROSOFT) for detail in range(606, 650)),
    StatusRow("7.703", "policy", MICROSOFT),
    *(StatusRow(f"7.{detail}", "reputation", MICROSOFT) for detail in (705, 708, 800)),
    StatusRow("7.750", "policy", MICROSOFT, "fix_dns"),
)

STATUSES: Final[Mapping[str, StatusRow]] = {row.code: row for row in _ROWS}

# Where no enhanced code is given.
BASIC_CODES: Final[Mapping[int, StatusRow]] = {
    int(row.code): row
    for row in (
        _weak("421", "infrastructure", "RFC 5321 §4.2.3"),
        _weak("451", "infrastructure", "RFC 5321 §4.2.3"),
        _weak("452", "infrastructure", "RFC 5321 §4.2.3"),
        _weak("521", "address", "RFC 7504 §2"),
        _weak("530", "policy", "RFC 4954 §6"),
        _weak("551", "address", "RFC 5321 §4.2.3"),
        _weak("552", "mailbox_full", "RFC 5321 §4.2.3"),
        _weak("553", "address", "RFC 5321 §4.2.3"),
        _gone("556", "RFC 7504 §4"),
    )
}

UNKNOWN: Final = STATUSES["0"]
_SAYS_NOTHING: Final = (UNKNOWN.code, "5.0")


def of_status(enhanced: str | None, code: int | None) -> StatusRow:
    """The row of an enhanced code, `class.subject.detail`, else that of a basic code."""
    if enhanced is None:
        return BASIC_CODES.get(code or 0, UNKNOWN)
    rest = enhanced.partition(".")[2]
    row = STATUSES.get(rest) or STATUSES.get(rest.partition(".")[0]) or UNKNOWN
    return BASIC_CODES.get(code or 0, row) if row.code in _SAYS_NOTHING else row
