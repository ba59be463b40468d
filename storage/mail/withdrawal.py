"""An inbox that is deactivated while mail of it waits: none of it is sent.

`withdraw` is called in the transaction that deactivates the inbox, so that no crash leaves mail that waits for ever.
Where thousands of messages wait, slices of them go before it (`find_waiting`, `withdraw_slice`), between which others
write. Inboxes that another organization's verification deactivates are known in that transaction alone: there the
slices go behind it, and what a crash leaves is refused when its time comes. What is being delivered at that moment
may still arrive; what stands in a line of the queue does not (`leases.look_again`).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from storage.agents import reviews
from storage.engine.dialect import THEN_JOIN, by_index
from storage.engine.tx import Tx
from storage.mail import messages
from storage.records import ReviewRow
from storage.sending import message_outcomes, outbound, outbound_events
from storage.sending.outbound import PENDING
from storage.states import MESSAGE, message_status
from storage.visibility import VISIBLE

WITHDRAWN = "inbox_not_found"  # the failureReason: what a send from the inbox would answer now

SLICE = 50  # messages; some 10 ms, more where they have many recipients

_SCHEDULED = f"""SELECT id FROM messages {by_index("messages_scheduled")}
    WHERE status = 'scheduled' AND inbox_id = ?"""
_WITHDRAW_SCHEDULED = """UPDATE messages SET status = 'failed', failure_reason = ?
    WHERE status = 'scheduled' AND id = ?"""
_OF_INBOX = f"""SELECT DISTINCT m.id FROM recipients r {THEN_JOIN} messages m ON m.id = r.message_id
    WHERE m.inbox_id = :inbox"""
_WAITING = f"""{_OF_INBOX} AND {"r." + PENDING.replace("lease", "r.lease")}
    UNION {_OF_INBOX} AND r.lease IS NOT NULL"""
# What is held before it leaves is among its messages, and what came in and is held waits for nobody to send it.
_HAS_LIVE = f"""SELECT EXISTS (SELECT 1 FROM messages m WHERE m.inbox_id = ? AND m.organization_id = ? AND m.{VISIBLE}
    AND m.mode = 'live' AND m.status IN ('queued', 'scheduled', 'held'))"""


def has_live_mail(tx: Tx, organization_id: str, inbox_id: str) -> bool:
    """Does live mail of the organization's inbox wait: in the queue, for its time, or for a decision?"""
    return bool(tx.value(_HAS_LIVE, (inbox_id, organization_id)))


class WithdrawnMail(NamedTuple):
    """What waits and is withdrawn: ids of messages in the queue and of those for later, reviews of what is held."""

    queued: list[str]
    scheduled: list[str]
    held: list[ReviewRow]

    def slices(self) -> Iterator["WithdrawnMail"]:
        for start in range(0, max(len(self.queued), len(self.scheduled), len(self.held)), SLICE):
            part = slice(start, start + SLICE)
            yield WithdrawnMail(self.queued[part], self.scheduled[part], self.held[part])


def find_waiting(tx: Tx, inbox_id: str) -> WithdrawnMail:
    """Every message of the inbox that still waits."""
    return WithdrawnMail(
        [message_id for (message_id,) in tx.all(_WAITING, {"inbox": inbox_id})],
        [message_id for (message_id,) in tx.all(_SCHEDULED, (inbox_id,))],
        list(reviews.pending_of_inbox(tx, inbox_id)),
    )


def withdraw(tx: Tx, inbox_id: str, new_id: Callable[[str], str], now_ms: int) -> None:
    """Fail every message of the inbox that still waits, and uncount those of which nothing has left the host.

    `new_id`: makes an id.
    """
    withdraw_slice(tx, find_waiting(tx, inbox_id), new_id, now_ms)


def withdraw_slice(tx: Tx, waiting: WithdrawnMail, new_id: Callable[[str], str], now_ms: int) -> None:
    """`withdraw` for some that were found before: those that do not wait any more stay as they are."""
    failed = [message_id for message_id in waiting.queued if _withdraw_message(tx, message_id)]
    failed += [one for one in waiting.scheduled if tx.run(_WITHDRAW_SCHEDULED, (WITHDRAWN, one))]
    failed += [one.message_id for one in waiting.held if _withdraw_held(tx, one, new_id, now_ms)]
    for message_id in failed:
        outbound_events.publish_failed(tx, new_id("evt"), message_id, now_ms)


def _withdraw_held(tx: Tx, review: ReviewRow, new_id: Callable[[str], str], now_ms: int) -> bool:
    resolved = reviews.resolve(tx, review, "withdrawn", None, None, new_id("evt"), now_ms)
    return resolved is not None and messages.end_held(tx, review.message_id, "failed", WITHDRAWN)


def _withdraw_message(tx: Tx, message_id: str) -> bool:
    """Withdraw what waits of one message; did the message fail? It did not when a recipient has it already."""
    tx.run(
        """UPDATE recipients SET status = 'failed', lease = NULL, next_attempt_at = NULL,
             remote_host = NULL, smtp_code = NULL, enhanced_code = NULL,
             response = 'the sending inbox was deactivated'
           WHERE message_id = ? AND status IN ('queued', 'deferred')""",
        (message_id,),
    )
    message = message_outcomes.summary(tx, message_id)
    status = message_status({one.status for one in outbound.recipients(tx, message_id)})
    if message is None or status not in MESSAGE[message.status]:
        return False
    has_failed = status == "failed"
    reason = WITHDRAWN if has_failed else None
    message_outcomes.move_message(tx, message_id, message.status, status, message.sent_at, reason)
    if has_failed:
        message_outcomes.give_back_unless_left(tx, {message_id: message})
    return has_failed
