"""Claims: one worker, one message, until a time. A claim's id is the fence: what names it happens only while it lives.

A claim lives while its row says so and its lease is not over; whoever asks looks at both (`ClaimRow.is_live`), so a
lease that is over ends nothing late, though its row is settled a moment after (`expire`). A revoked key and a
deactivated inbox end the leases of their claims. The unique index `claims_live` is the lock of a conversation.

What a crash leaves: rows. A claim that lived goes on living.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from storage.agents import policies, work
from storage.agents.work import WORK
from storage.engine.dialect import each_of, lesser, unindexed
from storage.engine.tx import Tx
from storage.publishing import events
from storage.records import ClaimRow, MessageRow, columns, dump

LIVE_MAX = 1000  # of an organization at a time
EXPIRED_AT_ONCE = 20  # in a unit: each publishes an event, with a delivery to each webhook that hears of it
STATUSES = ("live", "released", "expired", "done", "dead")

_SELECT = f"SELECT {columns(ClaimRow)} FROM claims"
_INSERT = f"INSERT INTO claims ({columns(ClaimRow)}) VALUES ({', '.join('?' for _ in ClaimRow._fields)})"
_NOT_SETTLED = """SELECT count(*) FROM (SELECT 1 FROM claims
    WHERE organization_id = ? AND status = 'live' LIMIT ?)"""
_LIVE_OF = """SELECT count(*) FROM claims
    WHERE organization_id = ? AND status = 'live' AND lease_expires_at > ?"""
_OVER = f"{_SELECT} WHERE status = 'live' AND lease_expires_at <= ? ORDER BY lease_expires_at LIMIT ?"
_END_LEASES = f"""UPDATE claims SET lease_expires_at = {lesser("lease_expires_at", ":now_ms")}
    WHERE status = 'live'"""
_END_BEHIND = f"""{_END_LEASES} AND id IN
    (SELECT id FROM claims WHERE status = 'live' AND lease_expires_at > :at LIMIT :limit)"""
_PAGE = f"""{_SELECT} WHERE {{owner}} = :owner AND organization_id = :organization AND status = :status
      AND id < :before {{condition}} ORDER BY id DESC LIMIT :limit"""


class Claimant(NamedTuple):
    """Who claims, for how long. `mode`: of the key, and so of the mail that it is offered."""

    organization_id: str
    inbox_id: str
    key_id: str
    mode: str
    holder: str | None
    lease_expires_at: int


class EndedClaim(NamedTuple):
    """A claim that ended undone. `is_dead`: it was the last attempt, and its message is not offered any more."""

    claim: ClaimRow
    is_dead: bool


def take(tx: Tx, claimant: Claimant, limit: int, new_id: Callable[[str], str], now_ms: int) -> list[ClaimRow]:
    """Claim the oldest messages that are offered, `limit` of them at most. `new_id`: makes an id."""
    made = [
        ClaimRow(
            id=new_id("clm"),
            organization_id=claimant.organization_id,
            inbox_id=claimant.inbox_id,
            thread_id=one.thread_id,
            message_id=one.message_id,
            key_id=claimant.key_id,
            mode=claimant.mode,
            holder=claimant.holder,
            status="live",
            attempt=one.attempts,
            lease_expires_at=claimant.lease_expires_at,
            created_at=now_ms,
        )
        for one in work.take(tx, claimant.inbox_id, claimant.mode, limit)
    ]
    tx.run_many(_INSERT, made)
    if made:
        tx.notify(WORK)
    return made


def room(tx: Tx, organization_id: str, now_ms: int) -> int:
    """How many more may live at a time. That there are few tells an index; of many each lease is looked at."""
    found: int = tx.value(_NOT_SETTLED, (organization_id, LIVE_MAX))
    if found == LIVE_MAX:
        found = tx.value(_LIVE_OF, (organization_id, now_ms))
    return LIVE_MAX - found


def get(tx: Tx, organization_id: str, claim_id: str) -> ClaimRow | None:
    """The organization's claim in any status, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (claim_id, organization_id))
    return ClaimRow(*row) if row else None


def some(tx: Tx, organization_id: str, claim_ids: Sequence[str]) -> list[ClaimRow]:
    """Those of these that there are, oldest first."""
    # By the ids: an index of the organization's claims would be read from one end to the other.
    rows = tx.all(
        f"{_SELECT} WHERE id IN {each_of('?')} AND {unindexed('organization_id')} = ? ORDER BY id",
        (dump(list(claim_ids)), organization_id),
    )
    return [ClaimRow(*row) for row in rows]


def list_claims(
    tx: Tx,
    organization_id: str,
    now_ms: int,
    *,
    limit: int,
    inbox_id: str | None = None,
    status: str | None = None,
    before: str | None = None,
) -> list[ClaimRow]:
    """Newest first, older than `before`. One whose lease is over is `expired`, whatever its row says. Of dead ones, if
    those are asked for, those whose messages are dead still: neither requeued since, nor deleted."""
    given = {
        "organization": organization_id, "owner": inbox_id or organization_id, "before": before or "~",
        "limit": limit, "now_ms": now_ms,
    }  # fmt: skip
    owner = "organization_id" if inbox_id is None else "inbox_id"
    found: list[ClaimRow] = []
    for one in STATUSES:
        if status not in (None, one) and not (status == "expired" and one == "live"):
            continue
        condition = _ASKED_FOR.get((status, one), "")
        rows = tx.all(_PAGE.format(owner=owner, condition=condition), {**given, "status": one})
        found += [ClaimRow(*row) for row in rows]
    return sorted(found, key=lambda claim: claim.id, reverse=True)[:limit]


_ASKED_FOR: Mapping[tuple[str | None, str], str] = {  # the status, and that of the rows
    ("live", "live"): "AND lease_expires_at > :now_ms",
    ("expired", "live"): "AND lease_expires_at <= :now_ms",
    ("dead", "dead"): "AND EXISTS (SELECT 1 FROM work_items w WHERE w.message_id = claims.message_id"
    " AND w.status = 'dead')",
}


def extend(tx: Tx, claim: ClaimRow, lease_expires_at: int) -> ClaimRow:
    """Let a claim that lives do so until then."""
    tx.run("UPDATE claims SET lease_expires_at = ? WHERE id = ?", (lease_expires_at, claim.id))
    return claim._replace(lease_expires_at=lease_expires_at)


def done(tx: Tx, claim: ClaimRow) -> ClaimRow:
    """End a claim that lives: its message is done, and the next of the conversation is offered."""
    work.finish(tx, claim.message_id)
    return _end(tx, claim, "done")


def give_up(
    tx: Tx,
    claim: ClaimRow,
    status: str,
    new_id: Callable[[str], str],
    now_ms: int,
    ready_at_ms: int | None = None,
) -> EndedClaim:
    """End a claim undone: `released` or `expired`, or `dead` where it was the last attempt, which an event tells. Its
    message is offered again at that time (None: now). `new_id`: makes an id."""
    work_policy = policies.effective(tx, claim.organization_id, claim.inbox_id).work
    is_dead = claim.attempt >= work_policy.max_attempts
    ended = _end(tx, claim, "dead" if is_dead else status)
    if is_dead:
        work.bury(tx, claim.message_id)
        _publish(tx, new_id("evt"), "claim.dead", ended, now_ms)
    else:
        work.give_back(tx, claim.message_id, ready_at_ms)
    return EndedClaim(ended, is_dead)


def expire(tx: Tx, new_id: Callable[[str], str], now_ms: int, limit: int) -> list[EndedClaim]:
    """Settle claims whose leases are over, the longest one first, up to `limit` of them; events tell. `new_id`: makes
    an id."""
    ended = []
    for row in tx.all(_OVER, (now_ms, limit)):
        claim = ClaimRow(*row)
        _publish(tx, new_id("evt"), "claim.expired", claim, now_ms)
        ended.append(give_up(tx, claim, "expired", new_id, now_ms))
    return ended


def next_lease_ends_at(tx: Tx) -> int | None:
    """When the next lease is over (Unix ms, perhaps past already); None: no claim lives."""
    found: int | None = tx.value("SELECT min(lease_expires_at) FROM claims WHERE status = 'live'")
    return found


def is_lease_behind(tx: Tx, at_ms: int) -> bool:
    """Does a lease end after that time?"""
    return (
        tx.one("SELECT 1 FROM claims WHERE status = 'live' AND lease_expires_at > ? LIMIT 1", (at_ms,))
        is not None
    )


def end_leases_behind(tx: Tx, at_ms: int, now_ms: int, limit: int) -> None:
    """Claims whose leases end after that time live no more, up to `limit` of them."""
    tx.run(_END_BEHIND, {"now_ms": now_ms, "at": at_ms, "limit": limit})


def end_leases_of_key(tx: Tx, key_id: str, now_ms: int) -> None:
    """The claims that were made with the key live no more."""
    if tx.run(f"{_END_LEASES} AND key_id = :id", {"now_ms": now_ms, "id": key_id}):
        tx.notify(WORK)


def end_leases_of_inbox(tx: Tx, inbox_id: str, now_ms: int) -> None:
    """The claims in the inbox live no more."""
    if tx.run(f"{_END_LEASES} AND inbox_id = :id", {"now_ms": now_ms, "id": inbox_id}):
        tx.notify(WORK)


def is_held(tx: Tx, message: MessageRow) -> bool:
    """Does a claim of the message live?"""
    found = tx.one(
        "SELECT 1 FROM claims WHERE thread_id = ? AND mode = ? AND status = 'live' AND message_id = ?",
        (message.thread_id, message.mode, message.id),
    )
    return found is not None


def forget_message(tx: Tx, message_id: str, thread_id: str, mode: str) -> None:
    """The message is deleted: nothing is left to be done about it."""
    if work.finish(tx, message_id):
        tx.run(
            """UPDATE claims SET status = 'done'
               WHERE thread_id = ? AND mode = ? AND status = 'live' AND message_id = ?""",
            (thread_id, mode, message_id),
        )


def _end(tx: Tx, claim: ClaimRow, status: str) -> ClaimRow:
    tx.notify(WORK)
    tx.run("UPDATE claims SET status = ? WHERE id = ? AND status = 'live'", (status, claim.id))
    return claim._replace(status=status)


def _publish(tx: Tx, event_id: str, type: str, claim: ClaimRow, now_ms: int) -> None:
    data = {
        "claimId": claim.id,
        "messageId": claim.message_id,
        "inboxId": claim.inbox_id,
        "threadId": claim.thread_id,
        "attempt": claim.attempt,
        "holder": claim.holder,
    }
    events.publish(
        tx,
        event_id,
        now_ms,
        organization_id=claim.organization_id,
        type=type,
        data=data,
        mode=claim.mode,
        inbox_id=claim.inbox_id,
    )
