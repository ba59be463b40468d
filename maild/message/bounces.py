"""What the failure of a recipient means: one table for the replies of hosts and for delivery reports.

Replies have a code, whose first digit is their class (RFC 5321 §4.2.1), and often an enhanced status code (RFC 3463),
`class.subject.detail`; reports have the status, and often the code in their diagnostic text. Pure.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

BounceType = Literal["permanent", "transient", "undetermined"]

# RFC 3463 §2: class, subject and detail, without leading zeros there; mail systems are less strict.
ENHANCED_STATUS: Final = r"[245]\.\d{1,3}\.\d{1,3}"


class Bounce(NamedTuple):
    """`type`: as the API's `bounceType` has it. `is_hard`: counts in the sender's rate of hard bounces.
    `blames_address`: the address can't receive mail, whatever the message, so it is not to be written to again."""

    type: BounceType
    is_hard: bool = False
    blames_address: bool = False


PERMANENT: Final = Bounce("permanent", is_hard=True)
BAD_ADDRESS: Final = Bounce("permanent", is_hard=True, blames_address=True)
TRANSIENT: Final = Bounce("transient")
UNDETERMINED: Final = Bounce("undetermined")
OWN_FAULT: Final = Bounce("permanent")
NOT_SENT_TO: Final = Bounce("permanent")  # a recipient on the suppression list


class StatusMeaning(NamedTuple):
    """What a status means by who tells it: another host's reply at delivery, a part of this system that refused in
    its place, or a report that came later."""

    by_host: Bounce
    by_us: Bounce
    by_report: Bounce


def _alike(bounce: Bounce) -> StatusMeaning:
    return StatusMeaning(bounce, bounce, bounce)


# The whole status counts before its class and subject, and these before its class.
TABLE: Final[Mapping[str, StatusMeaning]] = {
    "2": _alike(UNDETERMINED),
    "4": _alike(TRANSIENT),
    "5": _alike(PERMANENT),
    # RFC 3463 §3.2, RFC 7505 §4: the address; not policy (5.7.x), not content.
    "5.1.1": _alike(BAD_ADDRESS),
    "5.1.2": _alike(BAD_ADDRESS),
    "5.1.6": _alike(BAD_ADDRESS),
    "5.1.10": _alike(BAD_ADDRESS),
    "5.2.1": _alike(BAD_ADDRESS),
    # RFC 3463 §3.4: what failed in this system (a stored message that is gone) is not the sender's fault.
    "5.3": StatusMeaning(PERMANENT, OWN_FAULT, PERMANENT),
    # RFC 3463 §3.5: in a report, deferrals that lasted too long; a host that replies so at once has refused.
    "5.4.7": StatusMeaning(PERMANENT, PERMANENT, TRANSIENT),
}

_ADDRESS_CODES = frozenset({550, 551, 553})  # RFC 5321 §4.2.3, where no enhanced code says more
_NO_SUCH_USER = re.compile(
    r"user (is )?unknown|unknown (user|recipient|mailbox)|no such (user|recipient|mailbox|address)"
    r"|(user|recipient|mailbox|address|account) (does not exist|doesn't exist|not found|is disabled)"
    r"|invalid (recipient|mailbox)",
    re.IGNORECASE,
)


def is_transient(code: int) -> bool:
    """Transient negative completion: the client may try again (RFC 5321 §4.2.1)."""
    return 400 <= code < 500


def is_permanent(code: int) -> bool:
    """Permanent negative completion: the client gives up (RFC 5321 §4.2.1)."""
    return 500 <= code < 600


def is_unspecific(enhanced: str) -> bool:
    """x.0.0, "other or undefined status" (RFC 3463 §3.1): it says no more than its class."""
    return enhanced.endswith(".0.0")


def of_reply(code: int | None, enhanced: str | None, text: str, *, is_ours: bool) -> Bounce:
    """What it means that a recipient was refused at delivery. `is_ours`: no other host said so."""
    meaning = _meaning(code, enhanced, text)
    return meaning.by_us if is_ours else meaning.by_host


def of_report(code: int | None, enhanced: str | None, text: str) -> Bounce:
    """What it means that a delivery report says `failed`. `text`: the diagnostic."""
    return _meaning(code, enhanced, text).by_report


def _meaning(code: int | None, enhanced: str | None, text: str) -> StatusMeaning:
    status = enhanced or str(code or "")[:1]
    meaning = TABLE.get(status) or TABLE.get(status.rpartition(".")[0]) or TABLE.get(status[:1])
    if meaning is None:
        return _alike(UNDETERMINED)
    says_nothing = enhanced is None or is_unspecific(enhanced)
    if meaning is TABLE["5"] and says_nothing and code in _ADDRESS_CODES and _NO_SUCH_USER.search(text):
        return _alike(BAD_ADDRESS)
    return meaning
