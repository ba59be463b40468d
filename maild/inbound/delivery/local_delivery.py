"""Mail that reaches an inbox without SMTP: from another inbox of this host, or the simulator's answer.

    prepare    outside a transaction: read the message, digest it
    deliver    inside the transaction that records the outcome for the sender: is the domain still the sender's? find
               the inbox, its room, the rows

What is durable when: a unit that was prepared has done nothing until its transaction is committed. The bytes of a
message between two inboxes are in the store already, so both copies show the one blob.
"""

from collections.abc import Mapping
from functools import partial

import structlog

from conf.log_events import LogEvent, tell
from maild.authentication.verdict import known_sender
from maild.inbound import recipients
from maild.inbound.delivery.mailboxes import FULL, REFUSED, Mailboxes
from maild.inbound.delivery.trace import TraceWriter
from maild.inbound.reading.first_look import ArrivalFindings, FirstLook
from maild.inbound.reading.incoming_message import IncomingMessage, incoming_message
from maild.message.digest import Digest, digest, digest_at_once
from maild.message.fields.address import normalize, split
from maild.ports import DeliverAnswer, DeliverLocal, LocalMail, Reply, SimulatedAnswer
from storage.clock import Clock
from storage.domains import domains
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs
from storage.mail.blobs import Blob, Blobs
from storage.mail.inboxes import RecipientInbox
from storage.turns.cpu_process import CpuProcess

log = structlog.get_logger("maild.smtp")


class LocalDelivery:
    """Gives the outbound queue its `PrepareLocal` and `PrepareAnswer` (maild/ports.py)."""

    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        cpu_process: CpuProcess,
        clock: Clock,
        ids: Ids,
        mailboxes: Mailboxes,
        trace: TraceWriter,
        first_look: FirstLook,
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._cpu_process = cpu_process
        self._clock = clock
        self._ids = ids
        self._mailboxes = mailboxes
        self._trace = trace
        self._first_look = first_look

    async def prepare_local(self, mail: LocalMail) -> DeliverLocal:
        """Read the message; the unit returned delivers it to the inboxes of its recipients. BlobMissing when its
        bytes are gone."""
        blob, boxes = await self._db.read(self._addressed, mail)
        if blob is None:
            raise blobs.BlobMissing(mail.blob_id)
        raw = await self._blobs.load(blob)
        found = await self._digest(mail.organization_id, raw)
        sender = found.parsed.from_
        domain = split(normalize(sender.address))[1] if sender else None
        incoming = incoming_message(found, blob.id, blob.size_bytes, mail.envelope_from, known_sender(domain))
        incoming = incoming._replace(is_local=True)
        looked_at = await self._first_look.at(incoming, boxes, blob)
        return lambda tx: self._deliver_local(tx, incoming, mail, looked_at)

    def _addressed(self, tx: Tx, mail: LocalMail) -> tuple[Blob | None, list[RecipientInbox]]:
        """The message's bytes, and the inboxes that its recipients reach at the moment, each once."""
        found = (self._mailboxes.find(tx, address) for address in mail.recipients)
        boxes = {box.inbox_id: box for box in found if box is not None}
        return blobs.get(tx, mail.blob_id), list(boxes.values())

    def _deliver_local(
        self, tx: Tx, incoming: IncomingMessage, mail: LocalMail, looked_at: Mapping[str, ArrivalFindings]
    ) -> Mapping[str, Reply] | None:
        if not domains.may_send(tx, mail.organization_id, mail.sender_domain, self._mailboxes.shared_domains):
            return None  # it was deleted since the message was prepared
        replies: dict[str, Reply] = {}
        delivered: dict[str, str] = {}  # inbox → its message
        for address in mail.recipients:
            box = self._mailboxes.find(tx, address)
            if box is None:
                refusal = recipients.unknown(tx, address, self._mailboxes.shared_domains)
                replies[address] = Reply(refusal.code, refusal.enhanced, refusal.text)
                continue
            if self._mailboxes.is_full(tx, box.organization_id):
                replies[address] = Reply(*FULL)
                continue
            seen = looked_at.get(box.inbox_id)
            admittance = self._mailboxes.admit(tx, incoming, box, address, seen)
            if admittance.fate == "refuse":
                replies[address] = Reply(*REFUSED, refused_for=admittance.reasons)
                continue
            if box.inbox_id not in delivered:
                now_ms = self._clock.now_ms()
                message_id = delivered[box.inbox_id] = self._ids.new("msg")
                trace = self._trace.of_local(mail.envelope_from, address, mail.message_id)
                trace += mail.recipient_headers
                if self._mailboxes.deliver(
                    tx, incoming, box, address, trace, now_ms, message_id, admittance.reasons, seen
                ):
                    blobs.retain(tx, incoming.blob_id)
            replies[address] = Reply(250, "2.1.5", "delivered to the inbox", delivered[box.inbox_id])
        return replies

    async def prepare_answer(self, answer: SimulatedAnswer) -> DeliverAnswer:
        """The unit returned delivers the answer to the inbox, if it is still there, bytes and all."""
        stored = blobs.in_row(self._ids, answer.raw)
        auth = known_sender(split(answer.author)[1])
        found = await self._digest(answer.inbox_address, answer.raw)
        incoming = incoming_message(found, stored.id, stored.size_bytes, answer.author, auth)
        incoming = incoming._replace(mode="test")

        def deliver(tx: Tx) -> None:
            box = self._mailboxes.find(tx, answer.inbox_address)
            if box is None:
                return
            admittance = self._mailboxes.admit(tx, incoming, box, answer.inbox_address)
            if admittance.fate == "refuse":
                tell(
                    log,
                    LogEvent.ANSWER_REFUSED,
                    recipient=answer.inbox_address,
                    inbox_id=box.inbox_id,
                    refused_for=admittance.reasons,
                )
                return
            now_ms = self._clock.now_ms()
            blobs.insert(tx, stored, now_ms)
            message_id = self._ids.new("msg")
            trace = self._trace.of_local(answer.author, box.address, message_id)
            # What the simulator answers is held by nobody: a test waits for it.
            self._mailboxes.deliver(tx, incoming, box, answer.inbox_address, trace, now_ms, message_id)

        return deliver

    async def _digest(self, owner: str, raw: bytes) -> Digest:
        found = digest_at_once(raw)
        return found if found is not None else await self._cpu_process.run(owner, partial(digest, raw))
