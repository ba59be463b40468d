"""Every message that SMTP brings takes these steps between the end of DATA and our 250.

    recall     is it one that is in the store, and whose 250 the client did not hear (unheard_replies.py)? 250 then
    read       parse its bytes; is it a report about mail of ours? (receiving.py, down to `look`)
    judge      who really wrote it (maild/authentication), and what follows: it may be refused, or marked as spam
               then the operator's spam filter, if there is one (spam_filter.py)
    claim      what a report claims, by way of the envelope that it came in; is it one about a domain?
    look       where an inbox holds what is of high risk: is it? (first_look.py)
    count      the rows that it would make, before they hold up others
    commit     room again; what each inbox does with it (admittance.py), which may be to refuse it; blob, thread,
               message, usage, event for each inbox, what a report brings: one transaction (depositing.py)
    tell       the log

RCPT has asked before whether an address reaches an inbox with room (`find_mailbox`). Mail that no SMTP brings goes to
the same inboxes by `local_delivery.py`.

What is durable when: `Acceptor.accept` returns after COMMIT; the bytes were durable before it (`storage.mail.blobs`). A
crash leaves the whole message or nothing but an orphaned file. The caller must let it finish even when the client hangs
up.
"""

from collections.abc import Iterator
from typing import NamedTuple

import structlog

from conf.log_events import LogEvent, tell
from maild.errors import SmtpError
from maild.inbound.delivery.depositing import Committed, Depositor
from maild.inbound.delivery.mailboxes import Mailboxes
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.reading.receiving import Received, Reception
from maild.inbound.unheard_replies import UnheardReplies
from storage.clock import Clock
from storage.engine.database import Database
from storage.mail.blobs import Blobs, Stored
from storage.mail.inboxes import RecipientInbox

log = structlog.get_logger("maild.smtp")

ROWS_OF_A_MESSAGE = 10  # besides its attachments, which cost a tenth of it each
APART_ROWS = 500  # some 10 ms; more are written while the event loop goes on
RECIPIENTS_A_LINE = 100  # of the log: some 42 KiB at most, and the journal breaks lines of 48 KiB
MAX_ROWS = 10_000  # some 200 ms, in which nothing else is written


class Receipt(NamedTuple):
    """A message that is in the store. `took_s`: without the time that foreign DNS took; None of a large message, which
    is slow by itself. `transaction_digest`: None where nobody could tell a copy of it from another message."""

    first_id: str
    took_s: float | None
    transaction_digest: bytes | None


class Acceptor:
    """The last station of SMTP: a received message becomes rows, or is refused with SmtpError."""

    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        clock: Clock,
        mailboxes: Mailboxes,
        reception: Reception,
        depositor: Depositor,
        unheard: UnheardReplies,
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._clock = clock
        self._mailboxes = mailboxes
        self._reception = reception
        self._depositor = depositor
        self._unheard = unheard

    async def find_mailbox(self, address: str) -> RecipientInbox:
        """The inbox that receives mail for `address` (the answer to RCPT). UnknownRecipient; SmtpError when it has no
        room."""
        return await self._db.lookup(self._mailboxes.receiving, address)

    async def accept(self, envelope: InboundEnvelope, stored: Stored) -> Receipt:
        """Commit the message for every inbox it reaches.

        SmtpError when it is refused; the client keeps responsibility then."""
        transaction_digest = envelope.transaction_digest(stored.sha256)
        async with self._unheard.behind_equal_ones(transaction_digest):
            return await self._blobs.keep(stored, lambda: self._accept(envelope, stored, transaction_digest))

    async def _accept(self, envelope: InboundEnvelope, stored: Stored, transaction_digest: bytes) -> Receipt:
        first_id = self._unheard.find(transaction_digest)
        if first_id is not None:
            _tell_received_again(envelope, first_id)
            return Receipt(first_id, None, transaction_digest)
        began_s = self._clock.monotonic()
        received = await self._reception.receive(envelope, stored)
        known_by = transaction_digest if received.incoming.digest.parsed.message_id else None
        db = self._db.impatient()
        write = db.write_apart if _count_rows(received) > APART_ROWS else db.write
        done = await write(self._depositor.deposit, received, known_by)
        self._unheard.committed()
        _tell_accepted(received, done)
        took_s = self._clock.monotonic() - began_s - received.waited_s
        return Receipt(done.first_id, took_s if received.is_light else None, known_by)


def _count_rows(received: Received) -> int:
    """SmtpError when they are too many for one transaction."""
    attachments = len(received.incoming.digest.parsed.attachments)
    rows = len(received.recipients) * (ROWS_OF_A_MESSAGE + attachments)
    if rows > MAX_ROWS:  # RFC 3463 §3.6, X.5.3: to be sent in several parts
        raise SmtpError(554, "5.5.3", "too many recipients for a message of so many parts")
    return rows


def _tell_received_again(envelope: InboundEnvelope, first_id: str) -> None:
    for recipients in _lines(envelope):
        tell(
            log,
            LogEvent.RECEIVED_AGAIN,
            peer=envelope.peer,
            helo=envelope.helo,
            mail_from=envelope.mail_from,
            recipients=recipients,
            message_id=first_id,
        )


def _tell_accepted(received: Received, done: Committed) -> None:
    envelope, claim = received.envelope, received.claim
    delivered = [*done.inboxes.items()]
    for number, recipients in enumerate(_lines(envelope)):
        inboxes = delivered[number * RECIPIENTS_A_LINE :][:RECIPIENTS_A_LINE]
        held = {inbox: done.held[inbox] for inbox, _ in inboxes if inbox in done.held}
        tell(
            log,
            LogEvent.ACCEPTED,
            peer=envelope.peer,
            helo=envelope.helo,
            tls=envelope.tls,
            mail_from=envelope.mail_from,
            recipients=recipients,
            message_id=done.first_id,
            inboxes=[{"inbox_id": inbox, "message_id": message} for inbox, message in inboxes],
            size_bytes=received.stored.size_bytes,
            dmarc=received.verdict.auth["dmarc"],
            verified_domain=received.verdict.auth["verifiedDomain"],
            is_spam=done.is_spam,
            **({"held": held} if held else {}),
            **received.verdict.told,
        )
    if claim is not None:
        kind = type(claim.report).__name__
        tell(log, LogEvent.REPORTED, message_id=done.report_of, report=kind, report_id=done.first_id)


def _lines(envelope: InboundEnvelope) -> Iterator[list[str]]:
    """The recipients, for a line each: one for all of them, as a rule."""
    for start in range(0, len(envelope.recipients), RECIPIENTS_A_LINE):
        yield [address for address, _ in envelope.recipients[start : start + RECIPIENTS_A_LINE]]
