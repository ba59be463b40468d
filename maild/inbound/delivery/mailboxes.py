"""The inboxes that mail is delivered to: which one an address reaches, has it room, and a message's rows in it.

All of it runs inside the caller's transaction: what `deliver` writes is durable when that is committed.
"""

from collections.abc import Mapping, Sequence, Set

from maild.errors import SmtpError
from maild.inbound import recipients
from maild.inbound.delivery.admittance import (
    ACCEPTED,
    HIGH_RISK,
    UNVERIFIED,
    Admittance,
    admit,
    concerns_of,
    sender_of,
)
from maild.inbound.reading.first_look import ArrivalFindings
from maild.inbound.reading.incoming_message import IncomingMessage, clues_of, is_post_of, message_row
from maild.message import envelope_sender
from maild.message.fields.address import split
from storage.agents import policies, reviews, rules
from storage.agents.rules import Ruling
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import arrivals, evidence, held_mail, inboxes, messages
from storage.mail.arrivals import ThreadEntry
from storage.mail.inboxes import RecipientInbox
from storage.records import AttachmentRow, MessageRow
from storage.tenants import allowances
from storage.tenants.allowances import LimitOf

# (code, enhanced status code, text). RFC 3463 §3.3, X.2.2: temporary, for retention or deleting makes room.
FULL = (452, "4.2.2", "the mailbox is full, try again later")
# RFC 3463 §3.8, X.7.1. One text, whatever the reason: who is refused learns nothing of rules.
REFUSED = (550, "5.7.1", "delivery not authorized, message refused")


class Mailboxes:
    """`storage_limit`: a plan → how many octets an organization on it may store."""

    def __init__(self, ids: Ids, shared_domains: Set[str], storage_limit: LimitOf) -> None:
        self._ids = ids
        self._storage_limit = storage_limit
        self.shared_domains = shared_domains

    def find(self, tx: Tx, address: str) -> RecipientInbox | None:
        """The active inbox that `address` reaches, or None when the domain is not ours or has no such inbox."""
        box = recipients.find_mailbox(tx, address, self.shared_domains)
        return box if box is not None and box.is_active else None

    def receiving(self, tx: Tx, address: str) -> RecipientInbox:
        """The inbox that receives mail for `address`, or, not active any more, reports about what it sent.
        UnknownRecipient; SmtpError where it has no room, which reports about what it sent don't need."""
        box = recipients.find_mailbox(tx, address, self.shared_domains)
        if box is None:
            raise recipients.unknown(tx, address, self.shared_domains)
        if envelope_sender.read(address) is None and self.is_full(tx, box.organization_id):
            raise SmtpError(*FULL)
        return box

    def is_full(self, tx: Tx, organization_id: str) -> bool:
        """Has the organization no storage left for mail?"""
        return allowances.is_full(tx, organization_id, self._storage_limit)

    def admit(
        self,
        tx: Tx,
        incoming: IncomingMessage,
        box: RecipientInbox,
        address: str,
        looked_at: ArrivalFindings | None = None,
        *,
        is_report: bool = False,
    ) -> Admittance:
        """What the inbox does with the message, by policies and rules as they stand now. `address`: what it came to.
        `is_report`: it tells of mail of ours, by an address or a Message-ID that proves it. `looked_at`: None where the
        inbox's policy did not ask for it."""
        levels = policies.levels(tx, box.organization_id, box.inbox_id)
        if levels is policies.UNGOVERNED:
            return ACCEPTED
        sender = sender_of(incoming)
        rulings: Mapping[str, Ruling] = {}
        if "inbound" in levels.ruled:
            rulings = rules.decide(tx, box.organization_id, box.inbox_id, "inbound", sender.keys)
        is_owed = is_report or recipients.is_owed(address, self.shared_domains)
        # A mail system that tells of mail of ours is hardly ever proven.
        concerns = concerns_of(sender) - {UNVERIFIED} if is_report else concerns_of(sender)
        # A policy that asks since a moment ago holds what nobody has looked at.
        if looked_at is None or looked_at.is_of_high_risk:
            concerns |= {HIGH_RISK}
        return admit(sender, rulings, levels.effective.inbound, concerns, is_owed=is_owed)

    def deliver(
        self,
        tx: Tx,
        incoming: IncomingMessage,
        box: RecipientInbox,
        address: str,
        trace: bytes,
        now_ms: int,
        message_id: str,
        held_for: Sequence[str] = (),
        looked_at: ArrivalFindings | None = None,
    ) -> bool:
        """The message's rows, thread, usage and event in one inbox; False when the inbox is gone. Its blob's row is
        there already, where the caller counts what was delivered. `address`: that it came to. `held_for`: why it
        is held; then there is a review of it, and nothing else that shows it (`storage.mail.held_mail`)."""
        domain = split(box.address)[1]  # it may have been deleted since RCPT, as the inbox may have been
        if not (box.is_active and recipients.is_served(tx, domain, self.shared_domains)):
            return False
        attachments = self._attachments(incoming, message_id, looked_at)
        message = message_row(incoming, box, address, message_id, trace, now_ms)
        # RFC 3834 §4: programs answer to the return path, which no person is shown.
        if envelope_sender.read(address) or _came_back(tx, incoming, box):
            message = message._replace(is_auto_reply=1)
        if held_for:
            return self._hold(tx, incoming, box, message, attachments, held_for, looked_at)
        is_work = inboxes.received(tx, box.inbox_id, now_ms)
        if is_work is None:
            return False
        message = message._replace(thread_id=self._thread(tx, incoming, box, address, now_ms))
        messages.insert(tx, message, attachments, incoming.digest.search_words)
        _keep(tx, message, looked_at)
        arrivals.announce(tx, message, attachments, is_work, self._ids.new, now_ms)
        return True

    def _thread(
        self, tx: Tx, incoming: IncomingMessage, box: RecipientInbox, address: str, now_ms: int
    ) -> str:
        digest, clues = incoming.digest, clues_of(incoming, box.address, address)
        known = arrivals.find_thread(tx, box.inbox_id, clues, now_ms)
        entry = ThreadEntry(
            box.organization_id, box.inbox_id, incoming.mode, digest.parsed.subject, digest.snippet
        )
        return arrivals.join_thread(tx, entry, clues, known, self._ids.new, now_ms)

    def _attachments(
        self, incoming: IncomingMessage, message_id: str, looked_at: ArrivalFindings | None
    ) -> list[AttachmentRow]:
        if looked_at is not None:  # what was found names them
            return [one._replace(message_id=message_id) for one in looked_at.attachments]
        return messages.attachment_rows(self._ids, message_id, incoming.digest.parts())

    def _hold(
        self,
        tx: Tx,
        incoming: IncomingMessage,
        box: RecipientInbox,
        message: MessageRow,
        attachments: Sequence[AttachmentRow],
        held_for: Sequence[str],
        looked_at: ArrivalFindings | None,
    ) -> bool:
        now_ms = message.created_at
        if inboxes.get_active(tx, message.organization_id, message.inbox_id) is None:
            return False
        words = incoming.digest.search_words
        clues = clues_of(incoming, box.address, message.delivered_to or "")
        held_mail.hold(tx, message, attachments, words, clues, self._ids.new)
        _keep(tx, message, looked_at)
        policy = policies.effective(tx, message.organization_id, message.inbox_id).review
        review = reviews.pending_of(message, policy, held_for, "[]", self._ids.new("rev"), now_ms)
        reviews.open_(tx, review, self._ids.new("evt"))
        return True


def _came_back(tx: Tx, incoming: IncomingMessage, box: RecipientInbox) -> bool:
    """Is it what the inbox sent, to a list or an alias that it is a member of? Who answers that answers himself."""
    if incoming.is_local:
        return False  # written to oneself
    own_id = incoming.digest.parsed.message_id
    is_ours = own_id is not None and messages.was_sent(tx, box.inbox_id, own_id)
    return is_ours or is_post_of(incoming, box.address)


def _keep(tx: Tx, message: MessageRow, looked_at: ArrivalFindings | None) -> None:
    if looked_at is not None:
        evidence.put(tx, message.organization_id, message.id, looked_at.found)
