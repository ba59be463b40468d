"""Which reports about mail of ours count, and what follows when one does.

Anyone can forge a bounce or a complaint. One counts only if it carries a token of a message of ours, in the
address that it came to or in the original that it quotes, and only for a recipient of that message, once; also where
that was deleted lately (`storage/sending/deleted_mail.py`). What does not count is mail like any other, and what does
is shown as mail too, but for receipts (RFC 3461): that what a smarthost took has arrived, it was asked to tell us, and
nobody else.

    bounces      from the null sender (RFC 5321 §4.5.5), so that no reply or forward is one; to the token's address, or
                 to the very inbox that sent
                 to the token's address also from a mail system's own name, for some systems have no null sender; and
                 there alone, where they have no form but words
    complaints   to the token's address, or to fbl@ of a shared domain from an author whose domain is proven; for one
                 recipient each

A host may report before we have written that it took the mail, or have heard its reply. Then the report would be about
nothing that there is: it is refused for the moment (451), as the only one of its kind that can come again.

What a token speaks for:

    envelope sender   the message's recipients at the domain that it was made for (maild/message/envelope_sender.py)
    Message-ID        all recipients read it: the message's, if all of them are at one domain
    both, of messages from before there were tags: all of the message's recipients
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from maild.errors import SmtpError
from maild.inbound.recipients import is_feedback_address
from maild.message import envelope_sender
from maild.message.envelope_sender import EnvelopeSenders, Token
from maild.message.fields.address import normalize, split
from maild.message.reports.bounces import NAMES_THE_SENDER, said_of_another
from maild.message.reports.fates import DeliveryReport, Fate
from maild.message.reports.report import Complaint, Report
from maild.outcomes import deleted, reported
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.reported import Late
from maild.outcomes.verdict import Verdict
from storage.engine.tx import Tx
from storage.mail.inboxes import RecipientInbox
from storage.sending import recipient_reports
from storage.sending.recipient_reports import Reported, ReportedRecipient

# RFC 3464 §2.3.3: an alias that was expanded has the message, whatever comes of it behind.
ARRIVED = ("delivered", "relayed", "expanded")
MAX_AGE_MS = 90 * 86_400_000  # of the message: a report that comes later counts for nothing
TOKENS_MAX = 20
# RFC 2142 §5, and what hosts call themselves in reports.
MAIL_SYSTEMS = frozenset({"mailer-daemon", "postmaster"})

# RFC 5965 §7.3, RFC 6650: the mail was not wanted. Not these: not-spam, auth-failure, dmarc.
COMPLAINTS = frozenset({"abuse", "fraud", "virus", "other", "opt-out", "opt-out-list"})


class ReportClaim(NamedTuple):
    """A report that may count. `inboxes`: the ids of those whose mail it may be about; None for all."""

    report: Report
    tokens: Sequence[Token]
    inboxes: Set[str] | None


class CountedReport(NamedTuple):
    """A report that counted. `message_id`: of ours, that it is about; `is_receipt`: that is all that it says."""

    message_id: str
    is_receipt: bool


def may_report(
    mail_from: str, recipients: Sequence[tuple[str, RecipientInbox]], shared_domains: Set[str]
) -> bool:
    """Is this mail worth looking at?"""
    return not mail_from or any(
        envelope_sender.read(address) or is_feedback_address(address, shared_domains)
        for address, _ in recipients
    )


def claim(
    report: Report,
    mail_from: str,
    recipients: Sequence[tuple[str, RecipientInbox]],
    shared_domains: Set[str],
    *,
    is_verified: bool,
) -> ReportClaim | None:
    """What the report claims, by way of the envelope that it came in; None when it can't count. `is_verified`: its
    author's domain is proven."""
    addressed = [found for address, _ in recipients if (found := envelope_sender.read(address))]
    inboxes: Set[str] | None = {mailbox.inbox_id for _, mailbox in recipients}
    if isinstance(report, Complaint):
        if is_verified and any(is_feedback_address(address, shared_domains) for address, _ in recipients):
            inboxes = None
        elif not addressed:
            return None
        if report.feedback_type not in COMPLAINTS:
            return None
        quoted = _quoted(report)
    elif mail_from and split(mail_from.lower())[0] not in MAIL_SYSTEMS:
        return None
    else:
        # Who has read a Message-ID may write words, or from such an address; the envelope sender is seen by hosts.
        quoted = iter(()) if mail_from or report.is_worded else _quoted(report)
    tokens = tuple(dict.fromkeys([*addressed, *quoted]))[:TOKENS_MAX]
    return ReportClaim(report, tokens, inboxes) if tokens else None


def is_proven(tx: Tx, claim: ReportClaim, now_ms: int) -> bool:
    """Is the report about mail of ours, as its token proves?"""
    return any(
        message is not None and _is_about(claim, message, token.domain, now_ms)
        for token in claim.tokens
        for message in [recipient_reports.reported(tx, token.value)]
    )


def count(
    tx: Tx, claim: ReportClaim, senders: EnvelopeSenders, context: OutcomeContext
) -> CountedReport | None:
    """Let the report have its effect, durable with the transaction; None when it counts for nothing. SmtpError where
    it has come too early to have one."""
    for token in claim.tokens:
        message = recipient_reports.reported(tx, token.value)
        if message is None or not _is_about(claim, message, token.domain, context.now_ms):
            continue
        everybody = recipient_reports.recipients(tx, message)
        recipients = _recipients_covered(token, message, everybody, senders)
        if recipients:
            if isinstance(claim.report, Complaint):
                _complain(tx, message, claim.report, recipients, context)
                return CountedReport(message.id, False)
            author = normalize(message.from_address)
            fates = _fates_by_position(claim.report, token, recipients, everybody, author)
            has_arrived = _settle(tx, message, token, fates, recipients, context)
            is_all = all(fate.action in ARRIVED for fate in claim.report.fates)
            return CountedReport(message.id, has_arrived and is_all)
    return None


def _is_about(claim: ReportClaim, message: Reported, domain: str, now_ms: int) -> bool:
    return (
        message.mode == "live"
        and split(normalize(message.from_address))[1] == domain
        and now_ms - message.sent_at <= MAX_AGE_MS
        and (claim.inboxes is None or message.inbox_id in claim.inboxes)
    )


def _recipients_covered(
    token: Token, message: Reported, recipients: Sequence[ReportedRecipient], senders: EnvelopeSenders
) -> Sequence[ReportedRecipient]:
    """The recipients that a report with this token may be about."""
    if message.envelope_from:  # one for all destinations, as they were before
        return recipients
    domains = {one.domain for one in recipients}
    if not token.tag:
        return recipients if len(domains) == 1 else []
    theirs = {domain for domain in domains if senders.speaks_for(token, domain)}
    return [one for one in recipients if one.domain in theirs]


def _settle(
    tx: Tx,
    message: Reported,
    token: Token,
    fates: Mapping[int, Fate],
    recipients: Sequence[ReportedRecipient],
    context: OutcomeContext,
) -> bool:
    """Has anybody's mail arrived by it?"""
    arrived = [at for at, fate in fates.items() if fate.action in ARRIVED]
    failing = [at for at, fate in fates.items() if fate.action == "failed"]
    if recipient_reports.is_any_underway(tx, message.id, {*arrived, *failing}):
        raise SmtpError(
            451, "4.3.0", "the delivery that this reports about is not settled yet, try again later"
        )
    keys = {one.position: normalize(one.address) for one in recipients}
    failed = [_late(at, keys[at], fates[at], token) for at in failing]
    if message.deleted is not None:
        deleted.bounced(tx, message.deleted, {one.position: one.bounce for one in failed}, context)
        return False
    return reported.settled_later(tx, message.id, arrived, failed, context)


def _fates_by_position(
    report: DeliveryReport,
    token: Token,
    recipients: Sequence[ReportedRecipient],
    everybody: Sequence[ReportedRecipient],
    author: str,
) -> Mapping[int, Fate]:
    """`recipients`: those of `everybody` whom the report may be about. Words that name the message's author beside
    somebody else say who sent it, whoever else had it."""
    places = _places(recipients)
    found: dict[int, Fate] = {}
    for fate in report.fates:
        for position in _positions(fate.addresses, places):
            found.setdefault(position, fate)
    if report.is_worded and any(address != author for fate in report.fates for address in fate.addresses):
        found.pop(places.get(author, -1), None)
    if not found and token.tag and len(places) == 1 and _is_about_strangers(report, _places(everybody)):
        return dict.fromkeys(places.values(), report.fates[0])
    return found


def _is_about_strangers(report: DeliveryReport, places: Mapping[str, int]) -> bool:
    """Does it tell of the failure of addresses alone that we did not write to? Who forwards may name the last one, and
    mail to the only recipient of whom the report may speak led there."""
    named = [address for fate in report.fates for address in fate.addresses]
    has_failed = bool(named) and all(fate.action == "failed" for fate in report.fates)
    return has_failed and not report.is_worded and places.keys().isdisjoint(named)


def _complain(
    tx: Tx,
    message: Reported,
    complaint: Complaint,
    recipients: Sequence[ReportedRecipient],
    context: OutcomeContext,
) -> None:
    # One report is of one recipient: the first of those named, whether or not it counts any more.
    for position in _positions(complaint.addresses, _places(recipients))[:1]:
        if message.deleted is not None:
            deleted.complained(tx, message.deleted, position, context)
        else:
            reported.complained(tx, message.id, position, complaint.feedback_type, context)


def _places(recipients: Sequence[ReportedRecipient]) -> Mapping[str, int]:
    """Comparison key → position: made once, for a report may name hundreds."""
    return {normalize(one.address): one.position for one in recipients}


def _positions(addresses: Sequence[str], places: Mapping[str, int]) -> list[int]:
    """The positions of the recipients meant. A report without a name means the only recipient there was."""
    if not addresses:
        return list(places.values()) if len(places) == 1 else []
    return [places[address] for address in addresses if address in places]


def _late(position: int, address: str, fate: Fate, token: Token) -> Late:
    words = fate.diagnostic
    if envelope_sender.is_named_alone(token, words):
        words = f"{words} {NAMES_THE_SENDER}"
    mailbox = fate.mailbox or next(iter(fate.addresses), "")
    if mailbox and _person(mailbox) != _person(address):
        words = said_of_another(words, mailbox)
    verdict = Verdict("bounced", fate.code, fate.enhanced, words, fate.host)
    return Late(position, verdict)


def _person(address: str) -> str:
    """Whose mailbox it is, at whatever host of theirs."""
    return split(address)[0].partition("+")[0]


def _quoted(report: Report) -> Iterator[Token]:
    for message_id in report.message_ids:
        value, domain = split(message_id.strip("<>").lower())
        yield Token(value, "", domain)
    if isinstance(report, Complaint):
        yield from (found for sender in report.senders if (found := envelope_sender.read(sender)))
