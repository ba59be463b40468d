"""Every message that SMTP brings takes these steps between the end of DATA and our 250.

    read       parse its bytes; is it a report about mail of ours?
    judge      who really wrote it (maild/authentication), and what follows: it may be refused, or marked as spam
               then the operator's spam filter, if there is one (spam_filter.py)
    claim      what a report claims, by way of the envelope that it came in; is it one about a domain?
    look       where an inbox holds what is of high risk: is it? (first_look.py)
    count      the rows that it would make, before they hold up others
    commit     room again; what each inbox does with it (admittance.py), which may be to refuse it; blob, thread,
               message, usage, event for each inbox, what a report brings: one transaction
    tell       the log

RCPT has asked before whether an address reaches an inbox with room (`find_mailbox`). Mail that no SMTP brings goes to
the same inboxes by `local_delivery.py`.

What is durable when: `Acceptor.accept` returns after COMMIT; the bytes were durable before it (`storage.mail.blobs`). A
crash leaves the whole message or nothing but an orphaned file. The caller must let it finish even when the client hangs
up.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import structlog

from conf.log_events import LogEvent, tell
from maild.authentication.judge import Introduction, PolicyNotAsked, SenderJudge
from maild.authentication.patience import PatienceOver
from maild.authentication.verdict import SenderVerdict
from maild.errors import SmtpError
from maild.inbound import domain_reports, reports
from maild.inbound.admittance import Admittance
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.first_look import ArrivalFindings, FirstLook
from maild.inbound.incoming_message import IncomingMessage, incoming_message
from maild.inbound.mailboxes import FULL, REFUSED, UNAVAILABLE, Mailboxes
from maild.inbound.reports import ReportClaim
from maild.inbound.spam_filter import SpamFilter
from maild.inbound.trace import TraceWriter
from maild.message.digest import Digest, digest_at_once
from maild.message.envelope_sender import EnvelopeSenders
from maild.message.model import ParsedMessage
from maild.message.reading import read_message
from maild.message.reports.domain_report import DomainReport
from maild.message.reports.domain_report_reader import find_domain_report, read_domain_report
from maild.message.reports.report import Report, read_report
from maild.outcomes import OutcomeContext
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs
from storage.mail.blobs import Blobs, Stored
from storage.mail.inboxes import RecipientInbox
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads

log = structlog.get_logger("maild.smtp")

T = TypeVar("T")

ROWS_OF_A_MESSAGE = 10  # besides its attachments, which cost a tenth of it each
APART_ROWS = 500  # some 10 ms; more are written while the event loop goes on
MAX_ROWS = 10_000  # some 200 ms, in which nothing else is written


class Received(NamedTuple):
    """A message that was read and judged. `recipients`: one (address as given, inbox) pair for each inbox; `looked_at`:
    by the id of those whose policy asks for it."""

    envelope: InboundEnvelope
    stored: Stored
    incoming: IncomingMessage
    verdict: SenderVerdict
    claim: ReportClaim | None
    recipients: Sequence[tuple[str, RecipientInbox]]
    about_domain: DomainReport | None
    looked_at: Mapping[str, ArrivalFindings]


class Receipt(NamedTuple):
    """A message that is in the store. `took_s`: without the time that foreign DNS took; None of a large message, which
    is slow by itself."""

    first_id: str
    took_s: float | None


class Committed(NamedTuple):
    """`first_id`: of a receipt the message's that it is about; `inboxes`: the inbox → the id of its message, none of a
    receipt; `held`: which of them hold it, and why; `report_of`: whose report it was, that of a message of ours."""

    first_id: str
    inboxes: Mapping[str, str]
    held: Mapping[str, Sequence[str]]
    report_of: str | None = None


class Acceptor:
    """The last station of SMTP: a received message becomes rows, or is refused with SmtpError."""

    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        cpu: CpuThreads,
        cpu_process: CpuProcess,
        clock: Clock,
        ids: Ids,
        mailboxes: Mailboxes,
        trace: TraceWriter,
        judge: SenderJudge,
        spam_filter: SpamFilter | None,
        senders: EnvelopeSenders,
        first_look: FirstLook,
        audit: Records,
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._cpu = cpu
        self._cpu_process = cpu_process
        self._clock = clock
        self._ids = ids
        self._mailboxes = mailboxes
        self._trace = trace
        self._sender_judge = judge
        self._spam_filter = spam_filter
        self._senders = senders
        self._first_look = first_look
        self._audit = audit

    async def find_mailbox(self, address: str) -> RecipientInbox | None:
        """The inbox that receives mail for `address` (the answer to RCPT). SmtpError when it has no room."""
        box, is_full = await self._db.lookup(self._mailboxes.find_with_room, address)
        if is_full:
            raise SmtpError(*FULL)
        return box

    async def accept(self, envelope: InboundEnvelope, stored: Stored) -> Receipt:
        """Commit the message for every inbox it reaches.

        SmtpError when it is refused; the client keeps responsibility then."""
        return await self._blobs.keep(stored, lambda: self._accept(envelope, stored))

    async def _accept(self, envelope: InboundEnvelope, stored: Stored) -> Receipt:
        began_s = self._clock.monotonic()
        found, report, is_light = await self._read(envelope, stored)
        read_s = self._clock.monotonic()
        verdict = await self._judge(envelope, stored, found.parsed, is_light)
        began_s += self._clock.monotonic() - read_s
        incoming = incoming_message(found, stored.id, stored.size_bytes, envelope.mail_from, verdict.auth)
        incoming = incoming._replace(
            is_report=report is not None, is_spam=verdict.is_spam, org_domains=verdict.org_domains
        )
        claim = self._claim(envelope, report, verdict)
        about_domain, is_packed = await self._read_domain_report(envelope, stored, found.parsed)
        one_each = {box.inbox_id: (address, box) for address, box in envelope.recipients}
        boxes = [box for _, box in one_each.values()]
        looked_at = await self._first_look.at(incoming, boxes, stored.as_blob)
        received = Received(
            envelope, stored, incoming, verdict, claim, list(one_each.values()), about_domain, looked_at
        )
        write = self._db.write_apart if _count_rows(received) > APART_ROWS else self._db.write
        done = await write(self._commit, received)
        _tell_accepted(received, done)
        return Receipt(
            done.first_id, self._clock.monotonic() - began_s if is_light and not is_packed else None
        )

    # Before the transaction --------------------------------------------------------------------

    async def _read(self, envelope: InboundEnvelope, stored: Stored) -> tuple[Digest, Report | None, bool]:
        """The digest, the report that it may be, and whether that was done in a moment."""
        may_report = reports.may_report(
            envelope.mail_from, envelope.recipients, self._mailboxes.shared_domains
        )
        found = None if stored.data is None else digest_at_once(stored.data)
        if found is not None and stored.data is not None:
            return found, read_report(stored.data, found.parsed) if may_report else None, True
        work = partial(read_message, stored.to_hand_over(), may_report)
        return *await self._cpu_process.run(envelope.peer, work), False

    async def _read_domain_report(
        self, envelope: InboundEnvelope, stored: Stored, parsed: ParsedMessage
    ) -> tuple[DomainReport | None, bool]:
        """What it reports about a domain, and whether that was looked for, which takes its time."""
        part = find_domain_report(parsed)
        if part is None:
            return None, False
        work = partial(read_domain_report, stored.to_hand_over(), part)
        return await self._cpu_process.run(envelope.peer, work), True

    async def _judge(
        self, envelope: InboundEnvelope, stored: Stored, parsed: ParsedMessage, is_light: bool
    ) -> SenderVerdict:
        """SmtpError when the author's domain asks to refuse it, or the spam filter does."""
        brought = Introduction(envelope.peer, envelope.helo, envelope.mail_from)
        apart = partial(self._cpu.run, envelope.peer)
        run = _at_once if is_light else apart
        try:
            verdict = await self._sender_judge.judge(brought, stored.view(), parsed, run, apart)
            if verdict.refusal is not None:
                raise SmtpError(550, "5.7.1", verdict.refusal, told=verdict.told)
            if self._spam_filter is not None:
                verdict = await self._spam_filter.weigh(envelope, stored, verdict)
        except PatienceOver as error:
            raise SmtpError(421, "4.3.2", "service is shutting down, try again later") from error
        except PolicyNotAsked as error:
            raise SmtpError(
                451, "4.3.2", "too many questions to DNS at the moment, try again later"
            ) from error
        return verdict

    def _claim(
        self, envelope: InboundEnvelope, report: Report | None, verdict: SenderVerdict
    ) -> ReportClaim | None:
        if report is None:
            return None
        return reports.claim(
            report,
            envelope.mail_from,
            envelope.recipients,
            self._mailboxes.shared_domains,
            is_verified=verdict.auth["verifiedDomain"] is not None,
        )

    # The transaction ---------------------------------------------------------------------------

    def _commit(self, tx: Tx, received: Received) -> Committed:
        """What a report brings, and rows for every inbox, unless it is a receipt."""
        now_ms = self._clock.now_ms()
        report = None
        if received.claim is not None:
            report = reports.count(
                tx, received.claim, self._senders, OutcomeContext(self._ids.new, self._audit, now_ms)
            )
        if report is not None and report.is_receipt:
            return Committed(report.message_id, {}, {}, report.message_id)
        organizations = {box.organization_id for _, box in received.recipients}
        # Other mail may have come since RCPT. One organization with room is enough: there is one reply for all.
        if all(self._mailboxes.is_full(tx, organization_id) for organization_id in organizations):
            raise SmtpError(*FULL)
        # Ids are made here, in the order of the commits, so that what is newest has the newest id.
        admitted = self._admit(tx, received, now_ms)
        blobs.insert(tx, received.stored, now_ms, refs=len(received.recipients))
        first_id = self._ids.new("msg")
        delivered = self._deliver(tx, received, admitted, first_id, now_ms)
        if not delivered:
            raise SmtpError(*UNAVAILABLE)  # all were deactivated since RCPT
        if len(delivered) < len(received.recipients):
            blobs.retain(tx, received.stored.id, len(delivered) - len(received.recipients))
        if received.about_domain is not None:
            sender = received.verdict.auth["verifiedDomain"]
            shown = {
                inbox_id: one for inbox_id, one in delivered.items() if admitted[inbox_id].fate == "accept"
            }
            domain_reports.keep(
                tx,
                self._ids,
                received.about_domain,
                received.recipients,
                shown,
                sender,
                now_ms,
                self._mailboxes.shared_domains,
            )
        held = {inbox_id: one.reasons for inbox_id, one in admitted.items() if one.fate == "hold"}
        return Committed(first_id, delivered, held, report.message_id if report is not None else None)

    def _admit(self, tx: Tx, received: Received, now_ms: int) -> Mapping[str, Admittance]:
        """What each inbox does with it: accept it or hold it. SmtpError where all refuse it."""
        found = {
            box.inbox_id: self._admittance(tx, received, address, box, now_ms)
            for address, box in received.recipients
        }
        if all(one.fate == "refuse" for one in found.values()):
            reasons = {inbox_id: one.reasons for inbox_id, one in found.items()}
            raise SmtpError(*REFUSED, told={"refused_for": reasons})
        # There is one reply for all of them, and a bounce of ours would go to whoever From names.
        return {
            inbox_id: one._replace(fate="hold") if one.fate == "refuse" else one
            for inbox_id, one in found.items()
        }

    def _admittance(
        self, tx: Tx, received: Received, address: str, box: RecipientInbox, now_ms: int
    ) -> Admittance:
        looked_at = received.looked_at.get(box.inbox_id)
        found = self._mailboxes.admit(tx, received.incoming, box, address, looked_at)
        if found.fate == "accept" or received.claim is None:
            return found
        if not reports.is_proven(tx, received.claim, now_ms):
            return found
        return self._mailboxes.admit(tx, received.incoming, box, address, looked_at, is_report=True)

    def _deliver(
        self,
        tx: Tx,
        received: Received,
        admitted: Mapping[str, Admittance],
        first_id: str,
        now_ms: int,
    ) -> Mapping[str, str]:
        """The inbox → its message; the first one delivered has the id that Received and our 250 name."""
        addresses = [address for address, _ in received.recipients]
        trace = self._trace.of_smtp(received.envelope, received.verdict.results, first_id, addresses)
        delivered: dict[str, str] = {}
        for _, box in received.recipients:
            message_id = self._ids.new("msg") if delivered else first_id
            admittance = admitted[box.inbox_id]
            looked_at = received.looked_at.get(box.inbox_id)
            if self._mailboxes.deliver(
                tx, received.incoming, box, trace, now_ms, message_id, admittance.reasons, looked_at
            ):
                delivered[box.inbox_id] = message_id
        return delivered


async def _at_once(work: Callable[[], T]) -> T:
    return work()


def _count_rows(received: Received) -> int:
    """SmtpError when they are too many for one transaction."""
    attachments = len(received.incoming.digest.parsed.attachments)
    rows = len(received.recipients) * (ROWS_OF_A_MESSAGE + attachments)
    if rows > MAX_ROWS:  # RFC 3463 §3.6, X.5.3: to be sent in several parts
        raise SmtpError(554, "5.5.3", "too many recipients for a message of so many parts")
    return rows


def _tell_accepted(received: Received, done: Committed) -> None:
    envelope, claim = received.envelope, received.claim
    tell(
        log,
        LogEvent.ACCEPTED,
        peer=envelope.peer,
        helo=envelope.helo,
        tls=envelope.tls,
        mail_from=envelope.mail_from,
        recipients=[address for address, _ in envelope.recipients],
        message_id=done.first_id,
        inboxes=done.inboxes,
        size_bytes=received.stored.size_bytes,
        dmarc=received.verdict.auth["dmarc"],
        verified_domain=received.verdict.auth["verifiedDomain"],
        is_spam=received.verdict.is_spam,
        **({"held": done.held} if done.held else {}),
        **received.verdict.told,
    )
    if claim is not None:
        kind = type(claim.report).__name__
        tell(log, LogEvent.REPORTED, message_id=done.report_of, report=kind, report_id=done.first_id)
