"""The transaction of `accept.py`: what each inbox does with a message, its rows in each that takes it, and what a
report brings.

All of it commits together, or SmtpError refuses the message and nothing is left. It asks again what RCPT has asked:
other mail, or a change of the inboxes, may have come since.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from maild.errors import SmtpError
from maild.inbound.delivery import domain_reports
from maild.inbound.delivery.admittance import Admittance
from maild.inbound.delivery.mailboxes import FULL, REFUSED, Mailboxes
from maild.inbound.delivery.trace import TraceWriter
from maild.inbound.reading import reports
from maild.inbound.reading.receiving import Received
from maild.inbound.recipients import NO_MAILBOX
from maild.message.envelope_sender import EnvelopeSenders
from maild.outcomes.outcome_context import OutcomeContext
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs
from storage.mail.inboxes import RecipientInbox


class Committed(NamedTuple):
    """`first_id`: of a report that is no mail that of the message it is about; `inboxes`: the inbox → the id of its
    message, none then; `held`: which of them hold it, and why; `report_of`: whose report it was, that of a message of
    ours; `is_spam`: as its messages show it."""

    first_id: str
    inboxes: Mapping[str, str]
    held: Mapping[str, Sequence[str]]
    report_of: str | None = None
    is_spam: bool = False


class Depositor:
    """Puts a message that was received into the inboxes that it reaches."""

    def __init__(
        self,
        clock: Clock,
        ids: Ids,
        mailboxes: Mailboxes,
        trace: TraceWriter,
        senders: EnvelopeSenders,
        audit: Records,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._mailboxes = mailboxes
        self._trace = trace
        self._senders = senders
        self._audit = audit

    def deposit(self, tx: Tx, received: Received, transaction_digest: bytes | None) -> Committed:
        """What a report brings, and rows for every inbox, unless it is a receipt, or none of them can take mail.
        `transaction_digest`: by which the message is known when it comes again."""
        now_ms = self._clock.now_ms()
        report = None
        if received.claim is not None:
            report = reports.count(
                tx, received.claim, self._senders, OutcomeContext(self._ids.new, self._audit, now_ms)
            )
        # Other mail may have come since RCPT. One organization with room is enough: there is one reply for all.
        organizations = {box.organization_id for _, box in received.recipients}
        is_full = all(self._mailboxes.is_full(tx, organization_id) for organization_id in organizations)
        if report is not None and (report.is_receipt or is_full or not self._is_read(tx, received)):
            return Committed(report.message_id, {}, {}, report.message_id)
        if is_full:
            raise SmtpError(*FULL)
        if report is not None and not received.incoming.digest.parsed.authors:
            # Courier's name no author: nobody is passed off as one, and the token proves whom they come from.
            received = received._replace(incoming=received.incoming._replace(is_spam=False))
        # Ids are made here, in the order of the commits, so that what is newest has the newest id.
        admitted = self._admit(tx, received, now_ms)
        refs = len(received.recipients)
        blobs.insert(tx, received.stored, now_ms, refs, transaction_digest)
        first_id = self._ids.new("msg")
        delivered = self._deliver(tx, received, admitted, first_id, now_ms)
        if not delivered:
            raise SmtpError(*NO_MAILBOX)  # all were deactivated, since RCPT or before it
        if len(delivered) < len(received.recipients):
            blobs.retain(tx, received.stored.id, len(delivered) - len(received.recipients))
        shown = {inbox_id: one for inbox_id, one in delivered.items() if admitted[inbox_id].fate == "accept"}
        self._keep_domain_report(tx, received, shown, now_ms)
        held = {inbox_id: one.reasons for inbox_id, one in admitted.items() if one.fate == "hold"}
        report_of = report.message_id if report is not None else None
        return Committed(first_id, delivered, held, report_of, received.incoming.is_spam)

    def _is_read(self, tx: Tx, received: Received) -> bool:
        """Is one of the inboxes active still?"""
        return any(self._mailboxes.find(tx, address) for address, _ in received.recipients)

    def _keep_domain_report(self, tx: Tx, received: Received, shown: Mapping[str, str], now_ms: int) -> None:
        """`shown`: the inbox → its message, of those that accept it."""
        if received.about_domain is not None:
            domain_reports.keep(
                tx,
                self._ids,
                received.about_domain,
                received.recipients,
                shown,
                received.verdict.auth["verifiedDomain"],
                now_ms,
                self._mailboxes.shared_domains,
            )

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
        for address, box in received.recipients:
            message_id = self._ids.new("msg") if delivered else first_id
            admittance = admitted[box.inbox_id]
            looked_at = received.looked_at.get(box.inbox_id)
            if self._mailboxes.deliver(
                tx, received.incoming, box, address, trace, now_ms, message_id, admittance.reasons, looked_at
            ):
                delivered[box.inbox_id] = message_id
        return delivered
