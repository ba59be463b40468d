"""Deciding about mail that is held: what may be decided by whom, and what follows.

Each decision is one unit of work, which takes the review out of `pending`, moves the message, counts and tells. Of
those who decide at the same moment the first to commit wins; a guard that refuses an approval is the answer, and the
review stays pending, with nothing else changed.

Who may not approve: the key that submitted the message, and every key that was minted with it, directly or by others
that were (its ancestors may, and so may strangers to it). Keys bound to an inbox, and test keys, decide nothing. Keys
that the operator or a member made have no ancestor.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from conf.log_events import LogEvent, tell
from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.sending.admitting import guards
from controlplane.sending.admitting.admission import Admission, Refused
from storage.agents import reviews
from storage.audit.acts import Act, Actor, system
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs, conversation, held_mail, messages
from storage.records import MessageRow, ReviewRow, load, recipients_of
from storage.sending import outbound_events
from storage.shown import message_json
from storage.shown.message_json import ShownMessage
from storage.states import REVIEW_EXPIRED, REVIEW_REJECTED
from storage.tenants import keys

KEEPER = system("reviews")
ACTS = {
    "approved": Act.REVIEW_APPROVED,
    "rejected": Act.REVIEW_REJECTED,
    "withdrawn": Act.REVIEW_WITHDRAWN,
    "expired": Act.REVIEW_EXPIRED,
}


class Decider(NamedTuple):
    """Who decides. `name`: the id of a key or of a member, or `reviews.OPERATOR`. `key`: None for a person.
    `request_id`: of the request that a member decided by. `is_descendant`: of the key that submitted; None:
    nobody has asked (`with_lineage`)."""

    name: str
    key: Principal | None = None
    request_id: str | None = None
    is_descendant: bool | None = None

    @property
    def actor(self) -> Actor:
        """Who the audit log says it was."""
        return Actor(self.name, self.request_id) if self.key is None else self.key.actor

    @property
    def reads_mail(self) -> bool:
        """May it be shown the words of mail? What is held is shown with its conversation."""
        return self.key is None or self.key.reads_mail or self.key.sees_held

    @classmethod
    def of(cls, principal: Principal) -> "Decider":
        """A key or a member, by its id."""
        return cls(
            principal.key_id, None if principal.is_member else principal, request_id=principal.request_id
        )


class Approval(NamedTuple):
    """`content_hash`: of what was shown to who approves. `is_forced`: although the conversation went on."""

    content_hash: str
    note: str | None = None
    is_forced: bool = False


class Decided(NamedTuple):
    """What was decided, and what became of the message: None where it is gone."""

    review: ReviewRow
    message: MessageRow | None = None

    def tell(self, log: object) -> None:
        """After the commit, which it is about."""
        review, message = self.review, self.message
        tell(
            log,
            LogEvent.REVIEW_RESOLVED,
            review_id=review.id,
            message_id=review.message_id,
            inbox_id=review.inbox_id,
            status=review.status,
            resolved_by=review.resolved_by,
            organization_id=review.organization_id,
        )
        if message is None or message.status not in ("queued", "scheduled"):
            return
        tell(
            log,
            LogEvent.QUEUED if message.status == "queued" else LogEvent.SCHEDULED,
            message_id=message.id,
            inbox_id=message.inbox_id,
            recipients=[address for _, address in recipients_of(message)],
            mode=message.mode,
            organization_id=message.organization_id,
        )


class Reviewing:
    """Units of work, each inside its caller's transaction."""

    def __init__(self, clock: Clock, ids: Ids, admission: Admission, audit: Records) -> None:
        self._audit = audit
        self._clock = clock
        self._ids = ids
        self._admission = admission

    def approve(self, tx: Tx, review: ReviewRow, decider: Decider, approval: Approval) -> Decided | Refused:
        """Let the message go, or be seen. Refusal; one that leaves something behind is given back, to be committed."""
        for check in APPROVER_CHECKS:
            check(tx, review, decider)
        if review.expires_at <= self._clock.now_ms():
            raise _resolved(review._replace(status="expired"))  # it is, though its message was not told yet
        message = reviewed_message(tx, review)
        if message is None:
            raise Refusal("message_not_found")
        shown = content_hash(tx, message)
        if approval.content_hash != shown:
            raise Refusal("content_changed", details={"contentHash": shown})
        refused = None
        if message.held_at is None:
            refused = self._let_go(tx, message, decider, approval.is_forced)
        else:
            is_released = held_mail.release(
                tx, review.organization_id, message.id, self._ids.new, self._clock.now_ms()
            )
            assert is_released  # its review is pending
        return refused or self._decided(tx, review, "approved", decider.actor, approval.note, shown)

    def reject(self, tx: Tx, review: ReviewRow, decider: Decider, note: str | None) -> Decided:
        """The message goes nowhere, and is not seen."""
        for check in DECIDER_CHECKS:
            check(tx, review, decider)
        return self._turn_down(tx, review, "rejected", REVIEW_REJECTED, decider.actor, note)

    def withdraw(self, tx: Tx, review: ReviewRow, by: Actor) -> Decided:
        """Whoever wrote the message takes it back; it is pending."""
        self._end(tx, review, "cancelled", None)
        return self._decided(tx, review, "withdrawn", by, None)

    def expire(self, tx: Tx, organization_id: str, review_id: str) -> Decided | None:
        """Turn down what nobody has decided in time; None where somebody has, or it is gone."""
        review = reviews.get(tx, organization_id, review_id)
        if review is None or review.status != "pending":
            return None
        return self._turn_down(tx, review, "expired", REVIEW_EXPIRED, None, None)

    # What follows ------------------------------------------------------------------------------

    def _let_go(self, tx: Tx, message: MessageRow, decider: Decider, is_forced: bool) -> Refused | None:
        """The guards once more, then the queue, or the schedule where the time that was asked for is still to come."""
        now_ms = self._clock.now_ms()
        goes_at_ms = max(now_ms, message.scheduled_at or 0)
        if_last = message.if_last
        if is_forced and if_last is not None:  # what came was shown; what comes from now on counts again
            newest = conversation.newest(tx, message.organization_id, _thread(message), message.mode)
            if_last = newest or if_last
        attempt = self._admission.attempt_of_stored(
            tx,
            message,
            now_ms=now_ms,
            goes_at_ms=goes_at_ms,
            if_last=if_last,
            reads_mail=decider.reads_mail,
        )
        try:
            inbox = guards.check(tx, attempt)
        except guards.BulkPattern as error:
            self._admission.trip(tx, attempt)
            return Refused(error.to_keep())
        status = "scheduled" if goes_at_ms > now_ms else "queued"
        is_let_go = messages.let_go(tx, message.id, status, now_ms, if_last)
        assert is_let_go  # its review is pending, and was until this transaction
        if status == "queued":
            self._admission.enqueue(tx, attempt, inbox, message.id)
        return None

    def _turn_down(
        self, tx: Tx, review: ReviewRow, status: str, reason: str, by: Actor | None, note: str | None
    ) -> Decided:
        self._end(tx, review, "failed", reason)
        return self._decided(tx, review, status, by, note)

    def _end(self, tx: Tx, review: ReviewRow, status: str, reason: str | None) -> None:
        """A message that is gone keeps nobody from deciding."""
        if review.direction == "inbound":
            held_mail.reject(tx, review.organization_id, review.message_id, self._clock.now_ms())
        elif messages.end_held(tx, review.message_id, status, reason) and status == "failed":
            outbound_events.publish_failed(tx, self._ids.new("evt"), review.message_id, self._clock.now_ms())

    def _decided(
        self,
        tx: Tx,
        review: ReviewRow,
        status: str,
        by: Actor | None,
        note: str | None,
        shown: str | None = None,
    ) -> Decided:
        """`by` None: nobody, in time. `shown`: the hash of what was approved."""
        now_ms, name = self._clock.now_ms(), None if by is None else by.name
        resolved = reviews.resolve(tx, review, status, name, note, self._ids.new("evt"), now_ms)
        if resolved is None:
            raise _resolved(review)
        told: dict[str, Any] = {
            "messageId": review.message_id,
            "inboxId": review.inbox_id,
            "direction": review.direction,
            "mode": review.mode,
            "submittedBy": review.submitted_by,
        }
        if shown is not None:
            told["contentHash"] = shown
        self._audit.record(tx, review.organization_id, ACTS[status], by or KEEPER, review.id, told)
        return Decided(resolved, messages.get(tx, review.organization_id, review.message_id))


# Who may decide ------------------------------------------------------------------------------------


def with_lineage(tx: Tx, organization_id: str, review_id: str, decider: Decider) -> Decider:
    """Who wants to approve, and whether by a key that the submitter's brought about. That never changes, and chains of
    keys may be long: it is not for a transaction that keeps others from writing."""
    review = reviews.get(tx, organization_id, review_id)
    if decider.key is None or review is None or review.submitted_by is None:
        return decider
    is_descendant = keys.descends_from(tx, organization_id, decider.name, review.submitted_by)
    return decider._replace(is_descendant=is_descendant)


def is_not_bound(tx: Tx, review: ReviewRow, decider: Decider) -> None:
    if decider.key is None:
        return
    decider.key.require_live()
    if decider.key.inbox_id is not None:
        raise Refusal("self_approval", details={"submittedBy": review.submitted_by})


def is_not_of_the_submitter(tx: Tx, review: ReviewRow, decider: Decider) -> None:
    submitter = review.submitted_by
    if decider.key is None or review.direction != "outbound":
        return
    if submitter is None:  # scheduled before that was kept: any key may be the one
        raise Refusal("self_approval", details={"submittedBy": None})
    if decider.name == submitter or decider.is_descendant is not False:
        raise Refusal("self_approval", details={"submittedBy": submitter})


def is_pending(tx: Tx, review: ReviewRow, decider: Decider) -> None:
    if review.status != "pending":
        raise _resolved(review)


DeciderCheck = Callable[[Tx, ReviewRow, Decider], None]
DECIDER_CHECKS: Sequence[DeciderCheck] = (is_not_bound, is_pending)
APPROVER_CHECKS: Sequence[DeciderCheck] = (is_not_bound, is_not_of_the_submitter, is_pending)


def _resolved(review: ReviewRow) -> Refusal:
    return Refusal("review_resolved", details={"status": review.status})


# What is decided about -----------------------------------------------------------------------------


def reviewed_message(tx: Tx, review: ReviewRow) -> MessageRow | None:
    """The message that a review is about, held or not (any more); None where it was deleted."""
    message = messages.get(tx, review.organization_id, review.message_id)
    return message or held_mail.get(tx, review.organization_id, review.message_id)


def reviewed_json(tx: Tx, review: ReviewRow) -> ShownMessage | None:
    """The same as the API shows it."""
    owner, message_id = review.organization_id, review.message_id
    return message_json.get(tx, owner, message_id) or message_json.get_held(tx, owner, message_id)


def content_hash(tx: Tx, message: MessageRow) -> str:
    """`sha256:` and hexadecimal digits, of all that is decided about: who gets the message, when, and its bytes, in
    which subject, bodies and attachments are."""
    blob = blobs.get(tx, message.blob_id) if message.blob_id is not None else None
    said = [
        message.direction,
        *(load(one) for one in (message.to_addresses, message.cc_addresses, message.bcc_addresses)),
        message.subject,
        message.scheduled_at,
        message.unsubscribe,
        blob.sha256.hex() if blob is not None else None,
    ]
    return f"sha256:{hashlib.sha256(json.dumps(said).encode()).hexdigest()}"


def _thread(message: MessageRow) -> str:
    assert message.thread_id is not None  # what is sent stands in one from the beginning
    return message.thread_id
