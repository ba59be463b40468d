"""Which reports about mail of ours count, and what follows when one does.

Anybody can write a bounce or a complaint. One counts only if it carries the token of a message of ours,
which is unguessable and one for each message: in the address that it came to (the envelope sender of the
message) or in the original that it quotes (its Message-ID). And only for somebody whom we sent that
message to, once. What does not count is mail like any other: the report is always shown as mail too.

    bounces      from the null sender alone (RFC 5321 §4.5.5), so that nobody's reply or forward is one;
                 to the token's address, or to the very inbox that sent
    complaints   to the token's address, or to fbl@ of a shared domain
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from maild import outcomes
from maild.inbound.recipients import is_feedback_address
from maild.message.address import BOUNCE_PREFIX, normalize, split
from maild.message.report import Complaint, DeliveryReport, Fate, Report
from maild.outcomes import BounceType, Late, Mint, Verdict
from storage import outbound
from storage.database import Tx
from storage.inboxes import Mailbox
from storage.outbound import Reported
from storage.records import Recipient

MAX_AGE_MS = 90 * 86_400_000  # of the message: a report that comes later counts for nothing
TOKENS_MAX = 20

# RFC 5965 §7.3, RFC 6650: somebody did not want it. Not these: not-spam, auth-failure, dmarc.
COMPLAINTS = frozenset({"abuse", "fraud", "virus", "other", "opt-out", "opt-out-list"})

Token = tuple[str, str]  # the token and the domain of the sender


class Claim(NamedTuple):
    """A report that may count. `inboxes`: whose mail it may be about; None for anybody's."""

    report: Report
    tokens: Sequence[Token]
    inboxes: Set[str] | None


def may_report(mail_from: str, recipients: Sequence[tuple[str, Mailbox]], shared_domains: Set[str]) -> bool:
    """Is this mail worth looking at?"""
    return not mail_from or any(
        _token(address) or is_feedback_address(address, shared_domains) for address, _ in recipients
    )


def claim(
    report: Report,
    mail_from: str,
    recipients: Sequence[tuple[str, Mailbox]],
    shared_domains: Set[str],
) -> Claim | None:
    """What the report claims, by way of the envelope that it came in; None when it can't count."""
    addressed = [found for address, _ in recipients if (found := _token(address))]
    inboxes: Set[str] | None = {mailbox.inbox_id for _, mailbox in recipients}
    if isinstance(report, Complaint):
        if any(is_feedback_address(address, shared_domains) for address, _ in recipients):
            inboxes = None
        elif not addressed:
            return None
        if report.feedback_type not in COMPLAINTS:
            return None
    elif mail_from:
        return None
    tokens = tuple(dict.fromkeys([*addressed, *_quoted(report)]))[:TOKENS_MAX]
    return Claim(report, tokens, inboxes) if tokens else None


def count(tx: Tx, claim: Claim, mint: Mint, now_ms: int) -> int:
    """Let the report have its effect, if it has any; how many webhooks hear of it."""
    for token, domain in claim.tokens:
        message = outbound.reported(tx, token)
        if message is not None and _is_about(claim, message, domain, now_ms):
            recipients = outbound.recipients(tx, message.id)
            if isinstance(claim.report, Complaint):
                return _complain(tx, message.id, claim.report, recipients, mint, now_ms)
            return _settle(tx, message.id, claim.report, recipients, mint, now_ms)
    return 0


def _is_about(claim: Claim, message: Reported, domain: str, now_ms: int) -> bool:
    return (
        message.mode == "live"
        and split(normalize(message.from_address))[1] == domain
        and now_ms - message.sent_at <= MAX_AGE_MS
        and (claim.inboxes is None or message.inbox_id in claim.inboxes)
    )


def _settle(
    tx: Tx,
    message_id: str,
    report: DeliveryReport,
    recipients: Sequence[Recipient],
    mint: Mint,
    now_ms: int,
) -> int:
    fates: dict[int, Fate] = {}
    places = _places(recipients)
    for fate in report.fates:
        for position in _positions(fate.addresses, places):
            fates.setdefault(position, fate)
    arrived = [at for at, fate in fates.items() if fate.action in ("delivered", "relayed")]
    failed = [_late(at, fate) for at, fate in fates.items() if fate.action == "failed"]
    return outcomes.settled_later(tx, message_id, arrived, failed, mint, now_ms)


def _complain(
    tx: Tx, message_id: str, complaint: Complaint, recipients: Sequence[Recipient], mint: Mint, now_ms: int
) -> int:
    told = [
        outcomes.complained(tx, message_id, position, complaint.feedback_type, mint, now_ms)
        for position in _positions(complaint.addresses, _places(recipients))
    ]
    return sum(filter(None, told))


def _places(recipients: Sequence[Recipient]) -> Mapping[str, int]:
    """Comparison key → position: made once, for a report may name hundreds."""
    return {normalize(one.address): one.position for one in recipients}


def _positions(addresses: Sequence[str], places: Mapping[str, int]) -> list[int]:
    """Who is meant. A report that names nobody means the only one there was."""
    if not addresses:
        return list(places.values()) if len(places) == 1 else []
    return [places[address] for address in addresses if address in places]


def _late(position: int, fate: Fate) -> Late:
    verdict = Verdict("bounced", fate.code, fate.enhanced, fate.diagnostic, fate.host)
    return Late(position, verdict, _bounce_type(fate))


def _bounce_type(fate: Fate) -> BounceType:
    """RFC 3463 §2: class 4 is a temporary trouble that lasted too long, and so is X.4.7 in any class."""
    kind = fate.enhanced[0] if fate.enhanced else str(fate.code or "")[:1]
    if kind == "4" or fate.enhanced == "5.4.7":
        return "transient"
    return "permanent" if kind == "5" else "undetermined"


def _quoted(report: Report) -> Iterator[Token]:
    for message_id in report.message_ids:
        token, domain = split(message_id.strip("<>").lower())
        yield token, domain
    if isinstance(report, Complaint):
        yield from (found for sender in report.senders if (found := _token(sender)))


def _token(address: str) -> Token | None:
    local, domain = split(normalize(address))
    token = local.removeprefix(BOUNCE_PREFIX)
    return (token, domain) if token != local and token else None
