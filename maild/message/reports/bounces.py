"""What the failure of a recipient means: one reading for the replies of hosts and for delivery reports.

Replies have a code, whose first digit is their class (RFC 5321 §4.2.1), and often an enhanced status code (RFC 3463),
`class.subject.detail`; reports have the status, and often the host's own code in their diagnostic text. Both have
words.

    the host's own code counts before the status of a reporter that relays it
    a code that decides counts before words, one that says little does not (`bounce_classes.py`)
    words of a full mailbox, a rate, a size, a list or spam take the blame off the address, whatever the code
    so do words that no refusal of an address has, which leave it its class
    where a reporter quotes a host, it is the host that must speak of an address
    what does not last blames nobody

Pure, total, and linear in the text's first characters.
"""

import re
from typing import Final, Literal, NamedTuple

from maild.message.reports.bounce_classes import ADVICE, Advice, BounceClass, StatusRow, of_status
from maild.message.reports.bounce_words import (
    Wording,
    read_words,
    says_it_expired,
    says_nothing_else,
)

BounceType = Literal["permanent", "transient", "undetermined"]

# RFC 3463 §2: class, subject and detail, without leading zeros there; mail systems are less strict.
ENHANCED_STATUS: Final = r"[245]\.\d{1,3}\.\d{1,3}"
_STATUS: Final = re.compile(rf"(?<![\d.])({ENHANCED_STATUS})(?![\d.]\d)")
_OWN_STATUS: Final = re.compile(r"(?<![\d.])([45]\.\d{1,3}\.\d{1,3})(?!\.?\d)")
_REPLY: Final = re.compile(r"(?<![\w.#/])[45]\d\d[ \-](?=['\"]?[#\w<\[])")
_OWN_STATUSES_MAX: Final = 10
# The same where Exchange writes it: "#550 5.1.1 …"; and Cisco's gateways: "550-'5.1.1 …'".
_QUOTED_REPLY: Final = re.compile(
    r"(?<![\w./])[45]\d\d[ \-](?=['\"]?[#\w<\[])(?:['\"]?[45]\.\d{1,3}\.\d{1,3}(?:[ \-]|$))?"
)
# What a reporter says behind the reply: Postfix and sendmail, qmail, Cisco, Google.
_REPORTERS_OWN: Final = re.compile(r"\(expanded from| Giving up on |\(delivery attempts: | \(state \d")
_TEXT_CHARS: Final = 4096
_OTHER_WORDS_BESIDE_ITS_CODE: Final = 1


class Bounce(NamedTuple):
    """`type`, `bounce_class`, `advice`: as the API has them. `is_hard`: counts in the sender's rate of hard bounces.
    `blames_address`: the address can't receive mail, whatever the message, so it is not to be written to again."""

    type: BounceType
    bounce_class: BounceClass
    advice: Advice
    is_hard: bool = False
    blames_address: bool = False


UNVERIFIED_SENDER: Final = Bounce(
    "undetermined", "policy", "fix_dns"
)  # not tried: the sender's domain is not verified
NOT_SENT_TO: Final = Bounce("permanent", "policy", "stop")  # a recipient on the suppression list
# Stands behind a refusal that is about the envelope sender, and blames nobody by it (`bounce_words.py`).
NAMES_THE_SENDER: Final = "(about MAIL FROM)"
TAKEN_OUT: Final = "the operator took it out of the queue"
TAKEN_OUT_BOUNCE: Final = Bounce("permanent", "policy", "stop")
# Stands behind a refusal of another address, which mail to this one goes on to: others that it goes to may have it.
_OF_ANOTHER: Final = re.compile(r"\(said of [^\s()]{1,400}, which it goes on to\)")
_SAYS_NOTHING: Final = ("0.0", "5.0")
_OF_THE_WAY: Final = ("5.4.", "5.1.2")


def is_positive(code: int) -> bool:
    """Positive completion: what was asked is done (RFC 5321 §4.2.1)."""
    return 200 <= code < 300


def is_transient(code: int) -> bool:
    """Transient negative completion: the client may try again (RFC 5321 §4.2.1)."""
    return 400 <= code < 500


def is_permanent(code: int) -> bool:
    """Permanent negative completion: the client gives up (RFC 5321 §4.2.1)."""
    return 500 <= code < 600


def is_unspecific(enhanced: str) -> bool:
    """x.0.z, "other or undefined status" (RFC 3463 §3.1), and x.5.0: they say no more than their class."""
    rest = enhanced.partition(".")[2]
    return rest.startswith("0.") or rest in _SAYS_NOTHING


def own_status(text: str) -> str | None:
    """The enhanced code in a host's own words: the first that says something, else the first; of those behind its basic
    code, before which stand those of who quotes it."""
    told = text[:_TEXT_CHARS]
    reply = _REPLY.search(told)
    return (_first_status(told[reply.start() :]) if reply else None) or _first_status(told)


def _first_status(told: str) -> str | None:
    found = _OWN_STATUS.finditer(told)
    codes = [match[1] for match, _ in zip(found, range(_OWN_STATUSES_MAX), strict=False)]
    return next((code for code in codes if not is_unspecific(code)), codes[0] if codes else None)


def telling_status(status: str, text: str) -> str | None:
    """The more telling of a reporter's status and the code that the host itself gave: the host's, unless only the
    reporter's says something. Where one of them says that it does not last, that one. None where neither has one."""
    said = _STATUS.search(status[:_TEXT_CHARS])
    told = own_status(text)
    if said is None or told is None:
        return told or (said[1] if said else None)
    if said[1][0] != told[0]:
        return said[1] if said[1][0] == "4" else told
    return said[1] if is_unspecific(told) else told


def of_reply(code: int | None, enhanced: str | None, text: str, *, is_ours: bool) -> Bounce:
    """What it means that a recipient was refused at delivery. `is_ours`: no other host said so."""
    found = _read(code, enhanced, text, said=text)
    # RFC 3463 §3.4: what failed in this system (a stored message that is gone) is not the sender's fault.
    if is_ours and (enhanced or "").startswith("5.3."):
        return found._replace(is_hard=False)
    return found


def of_report(code: int | None, enhanced: str | None, text: str) -> Bounce:
    """What it means that a delivery report says `failed`. `text`: the diagnostic."""
    found = _read(code, enhanced, text, said=_reported(text))
    if _OF_ANOTHER.search(text):
        found = found._replace(blames_address=False)
    # RFC 3463 §3.5: in a report, deferrals that lasted too long; a host that replies so at once has refused.
    is_of_the_way = (enhanced or "").startswith(_OF_THE_WAY)
    if (enhanced or "").startswith("5.4.7") or (is_of_the_way and says_it_expired(text)):
        return found._replace(type="transient", is_hard=False, blames_address=False)
    return found


def of_expiry(code: int | None, enhanced: str | None, text: str) -> Bounce:
    """What it means that a recipient was deferred, now or, at last, for too long."""
    return _lasting("transient", _read(code, enhanced, text))


def of_outcome(
    outcome: str, code: int | None, enhanced: str | None, text: str, *, is_ours: bool
) -> Bounce | None:
    """What it means that an attempt ended so for a recipient: `deferred`, or `expired` where it was so for too long,
    `bounced`, `failed`, `suppressed`. None where nothing failed."""
    match outcome:
        case "deferred" | "expired":
            return of_expiry(code, enhanced, text)
        case "bounced":
            return of_reply(code, enhanced, text, is_ours=is_ours)
        case "failed":
            return TAKEN_OUT_BOUNCE if text == TAKEN_OUT else UNVERIFIED_SENDER
        case "suppressed":
            return NOT_SENT_TO
        case _:
            return None


def said_of_another(text: str, address: str) -> str:
    """The words of a refusal that names `address`, which mail to the recipient goes on to: it blames nobody."""
    return f"{text} (said of {address}, which it goes on to)".strip()


def says_something(text: str) -> bool:
    """Is there a code in these words, or a reason?"""
    if own_status(text) is not None or _REPLY.search(text[:_TEXT_CHARS]):
        return True
    words = read_words(text)
    return words is not None and (words.vetoes or words.is_expiry or words.bounce_class == "address")


def is_lasting_reason(text: str) -> bool:
    """Do these words give a reason, of the mailbox, the message or who sent it, but not of hosts, which recover? One
    that waited too long has one."""
    words = read_words(text)
    if words is None:
        return False
    return words.is_expiry or (words.vetoes and words.bounce_class != "infrastructure")


def is_refusal(text: str) -> bool:
    """Is there a host's reply in these words, by which it refused for good?"""
    found = _REPLY.search(text[:_TEXT_CHARS])
    return found is not None and found[0][0] == "5" and (own_status(text) or "5")[0] == "5"


def is_address_fault(text: str) -> bool:
    """Do these words, in a text that has no form, say that an address can't receive mail? A code alone does not."""
    words = _words_beside(None, text, _reported(text))
    if words is None or words.bounce_class != "address":
        return False
    return of_report(None, own_status(text), text).blames_address


def _reported(text: str) -> str:
    """The host's reply, less its codes, in a reporter's words, which say more and mean no less; nothing where there is
    none."""
    reply = _QUOTED_REPLY.search(text[:_TEXT_CHARS])
    return _REPORTERS_OWN.split(text[reply.end() : _TEXT_CHARS], 1)[0] if reply else ""


def _read(code: int | None, enhanced: str | None, text: str, *, said: str = "") -> Bounce:
    """`said`: what of the text a host said, which is to say nothing else of an address that it blames."""
    status = enhanced or own_status(text)
    if status is not None and code is not None and enhanced is None and status[0] != str(code)[0]:
        status = None  # a host that contradicts itself: its basic code counts (RFC 2034 §4)
    row = of_status(status, code)
    words = _words_beside(enhanced, text, said)
    is_told = words is not None and _counts(words, row)
    bounce_class = words.bounce_class if words and is_told else row.bounce_class
    advice = (words.advice if words and is_told else row.advice) or ADVICE[bounce_class]
    blames = bounce_class == "address" if is_told else row.blames_address
    blames = blames and _is_clear(said, row, enhanced)
    found = Bounce("permanent", bounce_class, advice, is_hard=True, blames_address=blames)
    return _lasting(_type(status, code, found, words), found)


def _words_beside(enhanced: str | None, text: str, said: str = "") -> Wording | None:
    """Beside some codes the same words mean another thing. Where the whole text tells little, what the host `said` in
    it may tell more alone; and of an address it is the host that must speak."""
    beside = "" if enhanced is None else f"{enhanced} "
    told = read_words(f"{beside}{text}")
    if not said or said == text:
        return told
    if told is None or told.bounce_class == "address":
        return read_words(f"{beside}{said}")
    return told if told.vetoes or told.is_expiry else read_words(f"{beside}{said}") or told


def _speaks_of_address(said: str, enhanced: str | None) -> bool:
    words = _words_beside(enhanced, said)
    return words is not None and words.bounce_class == "address"


def _is_clear(said: str, row: StatusRow, enhanced: str | None) -> bool:
    """Does the host itself say that the address is to blame, and nothing else? A code that says so is believed beside a
    word of another thing, too; one that speaks of another thing not even beside a name."""
    if row.blames_address:
        return says_nothing_else(said, _OTHER_WORDS_BESIDE_ITS_CODE, names=True)
    if said and not _speaks_of_address(said, enhanced):
        return False
    return says_nothing_else(said, 0, names=row.bounce_class in ("address", "unknown"))


def _counts(words: Wording, row: StatusRow) -> bool:
    """Do the words say more than the code?"""
    if row.blames_address:
        return words.vetoes
    return not row.decides


def _type(status: str | None, code: int | None, found: Bounce, words: Wording | None) -> BounceType:
    says_nothing = status is None or is_unspecific(status)
    is_deferral = says_nothing and code is not None and is_transient(code)
    digit = "4" if is_deferral else (status or str(code or ""))[:1]
    if words is not None and words.is_expiry and says_nothing and (digit != "5" or code is None):
        return "transient"
    if digit == "5" or (not digit and found.blames_address):
        return "permanent"
    return "transient" if digit == "4" else "undetermined"


def _lasting(type: BounceType, found: Bounce) -> Bounce:
    """What does not last, or may not, blames nobody; and an address that is refused for now may be tried again."""
    if type == "permanent":
        return found
    is_address = type == "transient" and found.bounce_class == "address"
    advice: Advice = "retry_later" if is_address or found.advice == "stop" else found.advice
    return Bounce(type, found.bounce_class, advice)
