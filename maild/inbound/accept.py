"""From received bytes to committed rows: the named steps between the end of DATA and our 250.

What is durable when: `Acceptor.accept` returns after COMMIT; the bytes were durable before it
(`storage.blobs`). Everything a message causes (rows, thread, counters, usage, event, webhook
deliveries) is in that one transaction, so a crash leaves the whole message or nothing but an
orphaned file. Whoever calls must let it finish even when the peer hangs up.

Mail from one inbox of this host to another takes the same steps without SMTP (`prepare_local`):
the message's bytes are in the store already, so both messages show the one blob, and the receiving
rows commit in the transaction that marks the recipient delivered.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import NamedTuple

import structlog
from authres import AuthenticationResultsHeader

from conf.log_events import LogEvent, tell
from maild.errors import SmtpError
from maild.inbound import reports
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.incoming_message import (
    IncomingMessage,
    incoming_message,
    message_row,
    participants,
    received_event,
    references,
)
from maild.inbound.recipients import find_mailbox, is_served
from maild.inbound.reports import ReportClaim
from maild.message.address import normalize, split
from maild.message.digest import Digest, digest, digest_at_once
from maild.message.envelope_sender import EnvelopeSenders
from maild.message.model import RawMessage
from maild.message.report import Report, read_report
from maild.message.thread_headers import base_subject
from maild.ports import DeliverAnswer, DeliverLocal, LocalMail, Reply, SimulatedAnswer
from storage import allowances, blobs, events, inboxes, messages, threads, usage
from storage.allowances import LimitOf
from storage.blobs import Blobs, Stored
from storage.clock import Clock, day_of
from storage.cpu_threads import CpuThreads
from storage.database import Database, Tx
from storage.ids import Ids
from storage.inboxes import RecipientInbox

log = structlog.get_logger("maild.smtp")

ROWS_OF_A_MESSAGE = 10  # besides its attachments, which cost a tenth of it each
APART_ROWS = 500  # some 10 ms; more are written while the event loop goes on
MAX_ROWS = 10_000  # some 200 ms, in which nobody else writes

NOT_EVALUATED: Mapping[str, str | None] = {
    "spf": None, "dkim": None, "dmarc": None, "arc": None, "verifiedDomain": None
}  # fmt: skip


class Committed(NamedTuple):
    """`inboxes`: the inbox → the id of its message; `report_of`: whose report it was, that of a message of ours."""

    first_id: str
    inboxes: Mapping[str, str]
    report_of: str | None = None


# RFC 3463 §3.3, X.2.2: temporary, for retention or deleting makes room.
_FULL = (452, "4.2.2", "the mailbox is full, try again later")


class Acceptor:
    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        cpu: CpuThreads,
        clock: Clock,
        ids: Ids,
        *,
        hostname: str,
        shared_domains: Set[str],
        storage_limit: LimitOf,
        senders: EnvelopeSenders,
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._cpu = cpu
        self._clock = clock
        self._ids = ids
        self._hostname = hostname
        self._shared_domains = shared_domains
        self._storage_limit = storage_limit
        self._senders = senders
        self._dated = (0, "")
        # RFC 8601 §2.2: "none" says that nothing was evaluated, and that this host says so.
        self._results = str(AuthenticationResultsHeader(authserv_id=hostname))

    async def find_mailbox(self, address: str) -> RecipientInbox | None:
        """Who receives mail for `address` (the answer to RCPT). SmtpError when they have no room."""
        box = await self._db.lookup(find_mailbox, address, self._shared_domains)
        if box is not None and await self._db.lookup(self._is_full, box.organization_id):
            raise SmtpError(*_FULL)
        return box

    def _is_full(self, tx: Tx, organization_id: str) -> bool:
        return allowances.is_full(tx, organization_id, self._storage_limit)

    async def accept(self, envelope: InboundEnvelope, stored: Stored) -> str:
        """Commit the message for every inbox it reaches; returns the id of the first message, for our 250.

        SmtpError when it is refused; the caller keeps responsibility then."""
        return await self._blobs.keep(stored, lambda: self._accept(envelope, stored))

    async def _accept(self, envelope: InboundEnvelope, stored: Stored) -> str:
        found, report = await self._read(envelope, stored)
        incoming = incoming_message(found, stored.id, stored.size_bytes, envelope.mail_from, NOT_EVALUATED)
        incoming = incoming._replace(is_report=report is not None)
        claim = self._claim(envelope, report)
        one_each = dict((mailbox.inbox_id, (address, mailbox)) for address, mailbox in envelope.recipients)
        rows = len(one_each) * (ROWS_OF_A_MESSAGE + len(found.parsed.attachments))
        if rows > MAX_ROWS:  # RFC 3463 §3.6, X.5.3: to be sent in several parts
            raise SmtpError(554, "5.5.3", "too many recipients for a message of so many parts")
        write = self._db.write_apart if rows > APART_ROWS else self._db.write
        done = await write(self._commit, incoming, stored, envelope, list(one_each.values()), claim)
        _tell_accepted(envelope, stored, done)
        if claim is not None:
            kind = type(claim.report).__name__
            tell(log, LogEvent.REPORTED, message_id=done.report_of, report=kind, report_id=done.first_id)
        return done.first_id

    def _commit(
        self,
        tx: Tx,
        incoming: IncomingMessage,
        stored: Stored,
        envelope: InboundEnvelope,
        recipients: Sequence[tuple[str, RecipientInbox]],
        claim: ReportClaim | None,
    ) -> Committed:
        """Rows for every inbox, and what a report brings."""
        boxes = [box for _, box in recipients]
        # Others may have brought mail since RCPT. One with room is enough: there is one answer for all of them.
        if all(
            self._is_full(tx, organization_id) for organization_id in {box.organization_id for box in boxes}
        ):
            raise SmtpError(*_FULL)
        # Ids are made here, in the order of the commits, so that what is newest has the newest id.
        now_ms = self._clock.now_ms()
        blobs.insert(tx, stored, now_ms, refs=0)
        first_id = self._ids.new("msg")
        trace = self._trace(envelope, first_id, [address for address, _ in recipients])
        delivered: dict[str, str] = {}
        for box in boxes:  # the first one delivered has the id that Received and our 250 name
            message_id = self._ids.new("msg") if delivered else first_id
            if self._deliver(tx, incoming, box, trace, now_ms, message_id):
                delivered[box.inbox_id] = message_id
        if not delivered:
            raise SmtpError(550, "5.1.1", "mailbox unavailable")  # all were deactivated since RCPT
        report_of = (
            reports.count(tx, claim, self._senders, self._ids.new, now_ms) if claim is not None else None
        )
        return Committed(first_id, delivered, report_of)

    async def prepare_local(self, mail: LocalMail) -> DeliverLocal:
        """Read the message; the unit returned delivers it to the inboxes of its recipients."""
        blob = await self._db.read(blobs.get, mail.blob_id)
        if blob is None:
            raise blobs.BlobMissing(mail.blob_id)
        raw = await self._blobs.load(blob)
        found = await self._digest(mail.organization_id, raw)
        sender = found.parsed.from_
        domain = split(normalize(sender.address))[1] if sender else None
        incoming = incoming_message(found, blob.id, blob.size_bytes, mail.envelope_from, known_sender(domain))
        return lambda tx: self._commit_local(tx, incoming, mail)

    def _commit_local(self, tx: Tx, incoming: IncomingMessage, mail: LocalMail) -> Mapping[str, Reply]:
        replies: dict[str, Reply] = {}
        delivered: dict[str, str] = {}  # inbox → its message
        for address in mail.recipients:
            box = find_mailbox(tx, address, self._shared_domains)
            if box is None:
                replies[address] = Reply(550, "5.1.1", "mailbox unavailable")
                continue
            if self._is_full(tx, box.organization_id):
                replies[address] = Reply(*_FULL)
                continue
            trace = self._local_trace(mail.envelope_from, address, mail.message_id) + mail.recipient_headers
            if box.inbox_id not in delivered:
                delivered[box.inbox_id] = self._ids.new("msg")
                self._deliver(tx, incoming, box, trace, self._clock.now_ms(), delivered[box.inbox_id])
            replies[address] = Reply(250, "2.1.5", "delivered to the inbox", delivered[box.inbox_id])
        return replies

    async def prepare_answer(self, answer: SimulatedAnswer) -> DeliverAnswer:
        """The unit returned delivers the answer to the inbox, if it is still there, bytes and all."""
        stored = blobs.in_row(self._ids, answer.raw)
        auth = known_sender(split(answer.author)[1])
        found = await self._digest(answer.inbox_address, answer.raw)
        incoming = incoming_message(found, stored.id, stored.size_bytes, answer.author, auth)._replace(
            mode="test"
        )

        def deliver(tx: Tx) -> None:
            box = find_mailbox(tx, answer.inbox_address, self._shared_domains)
            if box is None:
                return
            now_ms = self._clock.now_ms()
            blobs.insert(tx, stored, now_ms, refs=0)
            message_id = self._ids.new("msg")
            trace = self._local_trace(answer.author, box.address, message_id)
            self._deliver(tx, incoming, box, trace, now_ms, message_id)

        return deliver

    def _deliver(
        self,
        tx: Tx,
        incoming: IncomingMessage,
        box: RecipientInbox,
        trace: bytes,
        now_ms: int,
        message_id: str,
    ) -> bool:
        """Rows for one inbox; False when the inbox is gone."""
        domain = split(box.address)[1]  # it may have been deleted since RCPT, as the inbox may have been
        if not is_served(tx, domain, self._shared_domains) or not inboxes.received(tx, box.inbox_id, now_ms):
            return False
        thread_id = self._thread(tx, incoming, box, now_ms)
        attachments = messages.attachment_rows(self._ids, message_id, incoming.digest.parts())
        message = message_row(incoming, box, message_id, thread_id, trace, now_ms)
        blobs.retain(tx, incoming.blob_id)
        messages.insert(tx, message, attachments, incoming.digest.search_words)
        if incoming.mode == "live":
            usage.add(tx, box.organization_id, day_of(now_ms), "received")
        events.publish(
            tx,
            self._ids.new("evt"),
            now_ms,
            organization_id=box.organization_id,
            type="email.received",
            data=received_event(message, incoming, attachments),
            mode=incoming.mode,
            inbox_id=box.inbox_id,
            message_id=message_id,
        )
        return True

    def _thread(self, tx: Tx, incoming: IncomingMessage, box: RecipientInbox, now_ms: int) -> str:
        """Join the conversation that the headers name, else one by subject, else begin one."""
        parsed = incoming.digest.parsed
        base, is_reply = base_subject(parsed.subject)
        correspondent = normalize(incoming.from_address) if incoming.from_address else ""
        known = threads.by_message_ids(tx, box.inbox_id, references(incoming))
        if known is None and is_reply:
            known = threads.by_subject(tx, box.inbox_id, base, correspondent, now_ms)
        people = participants(incoming)
        if known is not None:
            threads.join(
                tx, known, now_ms, snippet=incoming.digest.snippet, participants=people, is_unread=True
            )
            return known
        thread_id = self._ids.new("thd")
        threads.begin(
            tx,
            thread_id,
            now_ms,
            organization_id=box.organization_id,
            inbox_id=box.inbox_id,
            subject=parsed.subject,
            base_subject=base,
            snippet=incoming.digest.snippet,
            participants=people,
            is_unread=True,
        )
        return thread_id

    async def _read(self, envelope: InboundEnvelope, stored: Stored) -> tuple[Digest, Report | None]:
        may_report = reports.may_report(envelope.mail_from, envelope.recipients, self._shared_domains)
        found = None if stored.data is None else digest_at_once(stored.data)
        if found is not None and stored.data is not None:
            return found, read_report(stored.data, found.parsed) if may_report else None
        return await self._cpu.run(envelope.peer, lambda: read(stored.view(), may_report))

    async def _digest(self, owner: str, raw: bytes) -> Digest:
        found = digest_at_once(raw)
        return found if found is not None else await self._cpu.run(owner, lambda: digest(raw))

    def _claim(self, envelope: InboundEnvelope, report: Report | None) -> ReportClaim | None:
        if report is None:
            return None
        return reports.claim(report, envelope.mail_from, envelope.recipients, self._shared_domains)

    def _trace(self, envelope: InboundEnvelope, message_id: str, recipients: list[str]) -> bytes:
        """Return-Path, Authentication-Results and Received (RFC 5321 §4.4), newest first."""
        # §4.4: "for" only when it discloses no other recipient.
        literal = f"IPv6:{envelope.peer}" if ":" in envelope.peer else envelope.peer  # RFC 5321 §4.1.3
        whose = f"\r\n\tfor <{recipients[0]}>" if len(recipients) == 1 else ""
        return (
            f"Return-Path: <{envelope.mail_from}>\r\n{self._results}\r\n"
            f"Received: from {envelope.helo} ([{literal}])\r\n\tby {self._hostname} with"
            f" {envelope.protocol} id {message_id}{whose};\r\n\t{self._date()}\r\n"
        ).encode()

    def _local_trace(self, mail_from: str, recipient: str, message_id: str) -> bytes:
        return (
            f"Return-Path: <{mail_from}>\r\n"
            f"Received: by {self._hostname} id {message_id}\r\n\tfor <{recipient}>;\r\n\t{self._date()}\r\n"
        ).encode()

    def _date(self) -> str:
        """Now in RFC 5322 §3.3 form, made once a second."""
        second = self._clock.now_ms() // 1000
        if second != self._dated[0]:
            self._dated = second, format_datetime(datetime.fromtimestamp(second, UTC))
        return self._dated[1]


def _tell_accepted(envelope: InboundEnvelope, stored: Stored, done: Committed) -> None:
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
        size_bytes=stored.size_bytes,
    )


def known_sender(domain: str | None) -> Mapping[str, str | None]:
    """`auth` where the sender is an inbox of ours, or the simulator: its domain is known, not claimed."""
    return {"spf": "pass", "dkim": "pass", "dmarc": "pass", "arc": "none", "verifiedDomain": domain}


def read(raw: RawMessage, may_report: bool) -> tuple[Digest, Report | None]:
    found = digest(raw)
    return found, read_report(raw, found.parsed) if may_report else None
