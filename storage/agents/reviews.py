"""Reviews: mail that is held until somebody has decided about it, and what was decided.

A review is decided once: every change names `pending` as the status that it replaces, so of those who approve, reject,
withdraw or expire it at the same moment the first to commit wins, and the others hear so (`resolve` answers None). What
follows for the message happens in the same transaction, and is the caller's.

What a crash leaves: rows. What was pending is pending, until its time is over.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

from storage.agents.policies import ReviewPolicy
from storage.clock import iso
from storage.engine.dialect import each_of, unindexed
from storage.engine.tx import Tx
from storage.publishing import events
from storage.records import MessageRow, ReviewRow, columns, dump, load
from storage.states import REVIEW

REVIEWS = "reviews"  # commits that hold something
OPERATOR = "operator"  # who decided by a command on the host
DIRECTIONS = ("inbound", "outbound")
COUNTED_MAX = 1000  # whoever has more needs no exact number

_SELECT = f"SELECT {columns(ReviewRow)} FROM reviews"
_INSERT = f"INSERT INTO reviews ({columns(ReviewRow)}) VALUES ({', '.join('?' for _ in ReviewRow._fields)})"
_RESOLVE = f"""UPDATE reviews SET status = :status, resolved_by = :by, resolved_at = :now_ms, note = :note, is_told = 1
    WHERE id = :id AND status = 'pending' RETURNING {columns(ReviewRow)}"""
_FORGET = "UPDATE reviews SET warnings = '[]' WHERE message_id = ? AND warnings <> '[]'"

_FROM_AHEAD = """SELECT id FROM reviews WHERE status = 'pending' AND expires_at > :latest
    AND created_at - :now >= expires_at - created_at LIMIT :limit"""


class ReviewFilter(NamedTuple):
    """Which reviews of an organization; None: all."""

    organization_id: str
    inbox_id: str | None = None
    direction: str | None = None
    status: str | None = None


def pending_of(
    message: MessageRow,
    policy: ReviewPolicy,
    reasons: Sequence[str],
    warnings: str,
    review_id: str,
    now_ms: int,
) -> ReviewRow:
    """What the message, which is held, waits for from now on. `warnings`: JSON."""
    return ReviewRow(
        id=review_id,
        organization_id=message.organization_id,
        inbox_id=message.inbox_id,
        message_id=message.id,
        direction=message.direction,
        mode=message.mode,
        status="pending",
        reasons=dump(list(reasons)),
        warnings=warnings,
        submitted_by=message.submitted_by,
        is_told=int(not policy.notify or message.mode != "live"),
        expires_at=now_ms + policy.expires_after_s * 1000,
        resolved_by=None,
        resolved_at=None,
        note=None,
        created_at=now_ms,
    )


def open_(tx: Tx, review: ReviewRow, event_id: str) -> None:
    """Write a review that is pending, and tell of it. Its message is held in the same transaction."""
    tx.run(_INSERT, review)
    tx.notify(REVIEWS)
    _publish(tx, event_id, "review.requested", review, review.created_at, {})


def resolve(
    tx: Tx, review: ReviewRow, status: str, by: str | None, note: str | None, event_id: str, now_ms: int
) -> ReviewRow | None:
    """Decide it, and tell of that; None where it is not pending (any more). `by`: a key, a member, OPERATOR; None: its
    time was over."""
    assert status in REVIEW["pending"]
    given = {"id": review.id, "status": status, "by": by, "now_ms": now_ms, "note": note}
    row = tx.one(_RESOLVE, given)
    if row is None:
        return None
    resolved = ReviewRow(*row)
    _publish(tx, event_id, "review.resolved", resolved, now_ms, {"resolvedBy": by})
    return resolved


def get(tx: Tx, organization_id: str, review_id: str) -> ReviewRow | None:
    """The organization's review in any status, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (review_id, organization_id))
    return ReviewRow(*row) if row else None


def by_id(tx: Tx, review_id: str) -> ReviewRow | None:
    """The review of any organization, or None. For the daemon and the operator's commands alone."""
    row = tx.one(f"{_SELECT} WHERE id = ?", (review_id,))
    return ReviewRow(*row) if row else None


def of_message(tx: Tx, organization_id: str, message_id: str) -> ReviewRow | None:
    """The review of a message, in any status; None: it was never held."""
    row = tx.one(f"{_SELECT} WHERE message_id = ? AND organization_id = ?", (message_id, organization_id))
    return ReviewRow(*row) if row else None


def pending_of_message(tx: Tx, message_id: str) -> ReviewRow | None:
    """What a message of any organization waits for; None where it is not held. For the daemon and the operator's
    commands alone."""
    row = tx.one(f"{_SELECT} WHERE message_id = ? AND status = 'pending'", (message_id,))
    return ReviewRow(*row) if row else None


def list_reviews(tx: Tx, wanted: ReviewFilter, *, limit: int, before: str | None = None) -> list[ReviewRow]:
    """Newest first, older than `before`."""
    given = {**wanted._asdict(), "before": before or "~", "limit": limit}
    statement = _page(wanted.inbox_id is not None, wanted.direction, wanted.status)
    return [ReviewRow(*row) for row in tx.all(statement, given)]


@cache  # one for each combination of filters
def _page(is_of_inbox: bool, direction: str | None, status: str | None) -> str:
    """Each kind stands in an order of its own in the index: so many of each, and of all those the newest."""
    owner = "inbox_id = :inbox_id AND organization_id" if is_of_inbox else "organization_id"
    kinds = [
        (one, each)
        for one in ((direction,) if direction else DIRECTIONS)
        for each in ((status,) if status else REVIEW)
    ]
    found = " UNION ALL ".join(
        f"""SELECT * FROM ({_SELECT} WHERE {owner} = :organization_id AND direction = '{one}' AND status = '{each}'
              AND id < :before ORDER BY id DESC LIMIT :limit)"""
        for one, each in kinds
    )
    return f"SELECT * FROM ({found}) ORDER BY id DESC LIMIT :limit"


def pending_of_inbox(tx: Tx, inbox_id: str, limit: int) -> list[ReviewRow]:
    """What of an inbox's own mail is held; the first `limit`."""
    rows = tx.all(
        f"{_SELECT} WHERE inbox_id = ? AND direction = 'outbound' AND status = 'pending' ORDER BY id LIMIT ?",
        (inbox_id, limit),
    )
    return [ReviewRow(*row) for row in rows]


def pending_of_keys(tx: Tx, organization_id: str, key_ids: Sequence[str]) -> list[ReviewRow]:
    """What is held of what these keys sent."""
    rows = tx.all(
        f"""{_SELECT} WHERE organization_id = ? AND direction = 'outbound' AND status = 'pending'
              AND {unindexed("submitted_by")} IN {each_of("?")} ORDER BY id""",
        (organization_id, dump(list(key_ids))),
    )
    return [ReviewRow(*row) for row in rows]


def count_pending(tx: Tx, inbox_id: str) -> int:
    """How much of an inbox's own mail is held, COUNTED_MAX at most."""
    found: int = tx.value(
        """SELECT count(*) FROM (SELECT 1 FROM reviews
             WHERE inbox_id = ? AND direction = 'outbound' AND status = 'pending' LIMIT ?)""",
        (inbox_id, COUNTED_MAX),
    )
    return found


def forget_words(tx: Tx, message_id: str) -> None:
    """The message is deleted: nothing of what it said is kept."""
    tx.run(_FORGET, (message_id,))


# Time ----------------------------------------------------------------------------------------------


def over(tx: Tx, now_ms: int, limit: int, but: Collection[str] = ()) -> list[tuple[str, str]]:
    """(organization, review) of those pending whose time is over, the longest first. `but`: not these reviews."""
    return tx.all(
        f"""SELECT organization_id, id FROM reviews
            WHERE status = 'pending' AND expires_at <= :now AND id NOT IN {each_of(":but")}
            ORDER BY expires_at LIMIT :limit""",
        {"now": now_ms, "limit": limit, "but": dump(list(but))},
    )


def next_end(tx: Tx, but: Collection[str] = ()) -> int | None:
    """When the time of the next one is over (Unix ms, perhaps past already); None: nothing is held. `but`: not of
    these."""
    found: int | None = tx.value(
        f"""SELECT expires_at FROM reviews WHERE status = 'pending' AND expires_at > 0 AND id NOT IN {each_of(":but")}
            ORDER BY expires_at LIMIT 1""",
        {"but": dump(list(but))},
    )
    return found


def is_from_ahead(tx: Tx, now_ms: int, longest_ms: int) -> bool:
    """Is one pending that a clock opened that has been set back since (see clock.is_recent)? `longest_ms`: for how long
    any waits; what ends before that is over soon enough."""
    return tx.one(f"SELECT 1 FROM ({_FROM_AHEAD})", _ahead(now_ms, longest_ms, 1)) is not None


def begin_anew(tx: Tx, now_ms: int, longest_ms: int, limit: int) -> None:
    """Let the time of those begin now, as long as it was, of `limit` at most."""
    tx.run(
        f"UPDATE reviews SET expires_at = :now + expires_at - created_at WHERE id IN ({_FROM_AHEAD})",
        _ahead(now_ms, longest_ms, limit),
    )


def _ahead(now_ms: int, longest_ms: int, limit: int) -> dict[str, int]:
    return {"now": now_ms, "latest": now_ms + longest_ms, "limit": limit}


def _publish(tx: Tx, event_id: str, type: str, review: ReviewRow, now_ms: int, more: dict[str, Any]) -> None:
    """Ids and reasons, never words."""
    data = {
        "reviewId": review.id,
        "messageId": review.message_id,
        "inboxId": review.inbox_id,
        "direction": review.direction,
        "status": review.status,
        "reasons": load(review.reasons),
        "expiresAt": iso(review.expires_at),
        **more,
    }
    events.publish(
        tx,
        event_id,
        now_ms,
        organization_id=review.organization_id,
        type=type,
        data=data,
        mode=review.mode,
        inbox_id=review.inbox_id,
        message_id=review.message_id,
    )
