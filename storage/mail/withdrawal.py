"""An inbox that is deactivated while mail of it waits: none of it is sent. Nor is what a key has sent that is revoked
with its mail.

From the commit that closes an inbox or a key on nothing of it leaves: the queue looks for that before it delivers
(`leases.look_again`), the guards look for inactive inboxes when a scheduled time or an approval has come. So no new
mail begins to wait, and what waits can be failed afterwards, however much it is: the commit leaves a mark, and
`Withdrawer` (storage/upkeep/withdrawing.py) takes it off once nothing waits any more, whoever is killed on the way.
Where it is little, it fails with that commit (`withdraw_few`, for keys by whoever revokes them).

What waits is found by a look at the queue (`Senders.find_waiting`), which may be long: a reader does that, and slices
of what it found go (`withdraw_slice`), for some ms each, between which others write. What a host is being told at that
moment may still arrive.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from storage.agents import reviews
from storage.engine.dialect import THEN_JOIN, by_index, each_of, hops, unindexed
from storage.engine.tx import Tx
from storage.mail import messages
from storage.records import dump
from storage.sending import message_outcomes, outbound, outbound_events
from storage.sending.leases import NOT_TRIED
from storage.sending.outbound import PENDING
from storage.states import MESSAGE, message_status
from storage.visibility import VISIBLE

BEHIND = "mail to withdraw"  # the topic of commits that leave mail to be withdrawn behind them
FEW = 50  # messages; some 4 ms
FEW_RECIPIENTS = 500  # of them together; another 4
SLICE_S = 0.008
CLOSED_AT_ONCE = 500
EVERY = 2**31  # of messages that wait
LIVE_LOOK = 1000  # of messages that a test key's mail may be; some milliseconds

_UNSETTLED = f"""SELECT id FROM messages {by_index("messages_unsettled_by_inbox")}
    WHERE inbox_id {{whose}} AND status = '{{status}}' AND {VISIBLE}"""
_OF_STATUS, _FIRST = f"IN {each_of(':inboxes')}", "LIMIT :limit"
_SCHEDULED = f"{_UNSETTLED.format(whose=_OF_STATUS, status='scheduled')} {_FIRST}"
_QUEUED = f"{_UNSETTLED.format(whose=_OF_STATUS, status='queued')} {_FIRST}"
_WITHDRAW_SCHEDULED = """UPDATE messages SET status = 'failed', failure_reason = ?
    WHERE status = 'scheduled' AND id = ?"""
# Of a queue that may be long: what others wait for is passed over in the index, without a look at their messages.
_WAITING = f"""SELECT m.id FROM (
      SELECT message_id FROM recipients {by_index("recipients_due")} WHERE {PENDING} AND {{of_organization}}
      UNION SELECT message_id FROM recipients WHERE lease IS NOT NULL AND {{of_organization}}) w
    {THEN_JOIN} messages m ON m.id = w.message_id WHERE {{whose}}"""
_OF_INBOXES = _WAITING.format(
    of_organization="organization_id = :organization",
    whose=f"{unindexed('m.inbox_id')} IN {each_of(':inboxes')} {_FIRST}",
)
_SENT_BY = f"{unindexed('submitted_by')} IN {each_of(':keys')}"
_OF_KEYS = _WAITING.format(of_organization="organization_id = :organization", whose=f"{_SENT_BY} {_FIRST}")
_SCHEDULED_BY_KEYS = f"""SELECT id FROM messages {by_index("messages_scheduled_by_organization")}
    WHERE organization_id = :organization AND status = 'scheduled' AND {_SENT_BY} {_FIRST}"""
_CLOSE_KEYS = f"UPDATE api_keys SET withdraws_mail = 1 WHERE organization_id = ? AND id IN {each_of('?')}"
_CLOSED_OF = f"""SELECT id FROM {{0}} {by_index("{0}_to_withdraw")}
    WHERE withdraws_mail = 1 AND organization_id = ? ORDER BY id LIMIT {CLOSED_AT_ONCE}"""
_END = f"UPDATE {{}} SET withdraws_mail = 0 WHERE id IN {each_of('?')}"
_CLOSED_ONES = f"FROM {{0}} {by_index('{0}_to_withdraw')} WHERE withdraws_mail = 1"
_OWNERS = f"""WITH RECURSIVE {hops("of_inboxes", "organization_id", _CLOSED_ONES.format("inboxes"))},
      {hops("of_keys", "organization_id", _CLOSED_ONES.format("api_keys"))}
    SELECT id FROM (SELECT id FROM of_inboxes UNION SELECT id FROM of_keys) closed WHERE id > '' AND NOT EXISTS
      (SELECT 1 FROM organizations o WHERE o.id = closed.id AND o.deleted_at IS NOT NULL)"""
_COUNT_RECIPIENTS = f"SELECT count(*) FROM recipients WHERE message_id IN {each_of('?')}"
# One status at a time, as the index has them. What is held before it leaves is among its messages, and what came in and
# is held waits for nobody to send it.
_WAITS_FOR_INBOX = f"""SELECT mode FROM messages {by_index("messages_unsettled_by_inbox")}
    WHERE inbox_id = :inbox AND status = '{{status}}' AND {VISIBLE} AND organization_id = :organization
    LIMIT {LIVE_LOOK}"""
_MAY_HAVE_LIVE = " OR ".join(
    f"(SELECT count(*) = {LIVE_LOOK} OR max(mode = 'live') FROM ({_WAITS_FOR_INBOX.format(status=status)}))"
    for status in ("queued", "scheduled", "held")
)


def may_have_live_mail(tx: Tx, organization_id: str, inbox_id: str) -> bool:
    """Does live mail of the organization's inbox wait: in the queue, for its time, or for a decision? Where LIVE_LOOK
    messages do so, some of them may be live."""
    return bool(tx.value(f"SELECT {_MAY_HAVE_LIVE}", {"inbox": inbox_id, "organization": organization_id}))


class Cause(NamedTuple):
    """Why mail is withdrawn. `reason`: the failureReason, which a send would be answered now; `told`: of a recipient,
    where hosts' replies stand."""

    reason: str
    told: str


INBOX_GONE = Cause("inbox_not_found", "the sending inbox was deactivated")
KEY_REVOKED = Cause("invalid_api_key", "the key that sent it was revoked")


class WithdrawnMail(NamedTuple):
    """Messages that wait and are withdrawn: those in the queue, those for later, and what is held."""

    message_ids: Sequence[str]
    cause: Cause = INBOX_GONE

    @property
    def messages(self) -> int:
        return len(self.message_ids)

    def behind(self, count: int) -> "WithdrawnMail":
        """All but the first of them."""
        return self._replace(message_ids=self.message_ids[count:])


def _find_in_inboxes(tx: Tx, organization_id: str, inbox_ids: Sequence[str], limit: int) -> WithdrawnMail:
    return _found(tx, _OF_INBOXES, organization_id, inbox_ids, limit)


def find_sent_by(tx: Tx, organization_id: str, key_ids: Sequence[str], limit: int = EVERY) -> WithdrawnMail:
    """What these keys of the organization sent and what still waits, all of it where that is less than `limit`
    messages; as `Senders.find_waiting`."""
    of_keys = {"organization": organization_id, "keys": dump(list(key_ids)), "limit": limit}
    waiting = [message_id for sql in (_OF_KEYS, _SCHEDULED_BY_KEYS) for (message_id,) in tx.all(sql, of_keys)]
    held = reviews.pending_of_keys(tx, organization_id, key_ids)
    return WithdrawnMail([*waiting, *(one.message_id for one in held)], KEY_REVOKED)


def _found(tx: Tx, queued: str, organization_id: str, inbox_ids: Sequence[str], limit: int) -> WithdrawnMail:
    given = {"organization": organization_id, "inboxes": dump(list(inbox_ids)), "limit": limit}
    waiting = [message_id for sql in (queued, _SCHEDULED) for (message_id,) in tx.all(sql, given)]
    held = [one for inbox_id in inbox_ids for one in reviews.pending_of_inbox(tx, inbox_id, limit)]
    return WithdrawnMail([*waiting, *(one.message_id for one in held)])


def are_few(tx: Tx, waiting: WithdrawnMail) -> bool:
    """May they be withdrawn in the transaction of a request?"""
    if waiting.messages > FEW:
        return False
    recipients: int = tx.value(_COUNT_RECIPIENTS, (dump(list(waiting.message_ids)),))
    return recipients <= FEW_RECIPIENTS


def withdraw_few(
    tx: Tx, organization_id: str, inbox_id: str, new_id: Callable[[str], str], now_ms: int
) -> None:
    """Withdraw what waits in the inbox, where that is little; less what some recipients have already, for which one
    would have to look through the queue. `new_id`: makes an id."""
    waiting = _found(tx, _QUEUED, organization_id, [inbox_id], FEW + 1)
    if are_few(tx, waiting):
        withdraw(tx, waiting, new_id, now_ms)


def note_closed(tx: Tx) -> None:
    """This transaction closes some, and what waits of them is withdrawn behind it."""
    tx.notify(BEHIND)


def close_keys(tx: Tx, organization_id: str, key_ids: Sequence[str]) -> None:
    """From this commit on nothing leaves that these keys have sent, which are revoked. What waits is withdrawn by
    whoever closes them, or behind a commit that says so (`note_closed`)."""
    tx.run(_CLOSE_KEYS, (organization_id, dump(list(key_ids))))


def owners(tx: Tx) -> list[str]:
    """The organizations of whose closed inboxes or keys mail is still to be withdrawn; not those that go with all that
    they have."""
    return [organization_id for (organization_id,) in tx.all(_OWNERS)]


class Senders(NamedTuple):
    """Inboxes, or keys, of which some are closed and have mail that is still to be withdrawn. `find_waiting`: what
    waits of those of an organization, so many messages, or all where that is less. It may read all that waits, once for
    all of them: not for a transaction that keeps others from writing."""

    find_waiting: Callable[[Tx, str, Sequence[str], int], WithdrawnMail]
    closed_sql: str
    end_sql: str

    def closed(self, tx: Tx, organization_id: str) -> list[str]:
        """The first CLOSED_AT_ONCE of an owner's."""
        return [one for (one,) in tx.all(self.closed_sql, (organization_id,))]

    def end(self, tx: Tx, closed: Sequence[str]) -> None:
        """Nothing of these waits any more."""
        tx.run(self.end_sql, (dump(list(closed)),))


INBOXES = Senders(_find_in_inboxes, _CLOSED_OF.format("inboxes"), _END.format("inboxes"))
KEYS = Senders(find_sent_by, _CLOSED_OF.format("api_keys"), _END.format("api_keys"))
SENDERS = (INBOXES, KEYS)


def withdraw(tx: Tx, waiting: WithdrawnMail, new_id: Callable[[str], str], now_ms: int) -> None:
    """Withdraw all of these, which are few."""
    withdraw_slice(tx, waiting, new_id, now_ms, lambda: False)


def withdraw_slice(
    tx: Tx, waiting: WithdrawnMail, new_id: Callable[[str], str], now_ms: int, is_over: Callable[[], bool]
) -> WithdrawnMail:
    """Withdraw some that were found before, whatever they wait for by now: those that do not wait any more stay as they
    are. At least one, and on until the slice `is_over`: one may have a hundred times as many recipients as another.
    What is left of them. `new_id`: makes an id."""
    for count, message_id in enumerate(waiting.message_ids, 1):
        if _withdraw_one(tx, message_id, waiting.cause, new_id, now_ms):
            outbound_events.publish_failed(tx, new_id("evt"), message_id, now_ms)
        if is_over():
            return waiting.behind(count)
    return waiting.behind(waiting.messages)


def _withdraw_one(tx: Tx, message_id: str, cause: Cause, new_id: Callable[[str], str], now_ms: int) -> bool:
    """Did the message fail?"""
    return (
        tx.run(_WITHDRAW_SCHEDULED, (cause.reason, message_id)) == 1
        or _withdraw_queued(tx, message_id, cause)
        or _withdraw_held(tx, message_id, cause, new_id, now_ms)
    )


def _withdraw_held(tx: Tx, message_id: str, cause: Cause, new_id: Callable[[str], str], now_ms: int) -> bool:
    review = reviews.pending_of_message(tx, message_id)
    if review is None:
        return False
    reviews.resolve(tx, review, "withdrawn", None, None, new_id("evt"), now_ms)
    return messages.end_held(tx, message_id, "failed", cause.reason)


def _withdraw_queued(tx: Tx, message_id: str, cause: Cause) -> bool:
    """Withdraw what waits of one message; did the message fail? It did not when a recipient has it already, or where
    nothing of it waited."""
    tx.run(f"UPDATE recipients SET {NOT_TRIED} WHERE message_id = ? AND lease IS NOT NULL", (message_id,))
    withdrawn = tx.run(
        """UPDATE recipients SET status = 'failed', lease = NULL, next_attempt_at = NULL,
             remote_host = NULL, smtp_code = NULL, enhanced_code = NULL, response = ?
           WHERE message_id = ? AND status IN ('queued', 'deferred')""",
        (cause.told, message_id),
    )
    if not withdrawn:
        return False
    message = message_outcomes.summary(tx, message_id)
    status = message_status({one.status for one in outbound.recipients(tx, message_id)})
    if message is None or status not in MESSAGE[message.status]:
        return False
    has_failed = status == "failed"
    reason = cause.reason if has_failed else None
    message_outcomes.move_message(tx, message_id, message.status, status, message.sent_at, reason)
    if has_failed:
        message_outcomes.give_back_unless_left(tx, {message_id: message})
    return has_failed
