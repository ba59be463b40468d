"""Whom a mail tells of what is held, and what they were told of: each address of each review once.

A review that somebody is to be told of is marked (`is_told` 0) when it is opened; it loses the mark when all were told,
or when it is decided. Ids of reviews go up, so the last one that an address was told of says all.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from storage.engine.dialect import each_of, hops
from storage.engine.tx import Tx
from storage.records import ReviewRow, columns, dump

NEVER = 0


class LastDigest(NamedTuple):
    """When an address was last told, and up to which review."""

    sent_at: int
    review_id: str


NO_DIGEST = LastDigest(NEVER, "")

_WITH_NEWS = f"""WITH RECURSIVE {hops("news", "organization_id", "FROM reviews WHERE is_told = 0")}
    SELECT id FROM news WHERE id > ''"""


def organizations_with_news(tx: Tx) -> list[str]:
    """Those that hold something of which somebody is to be told."""
    return [organization_id for (organization_id,) in tx.all(_WITH_NEWS)]


def untold(tx: Tx, organization_id: str, limit: int) -> list[ReviewRow]:
    """What the organization holds of which somebody is to be told, oldest first."""
    rows = tx.all(
        f"""SELECT {columns(ReviewRow)} FROM reviews WHERE organization_id = ? AND is_told = 0
            ORDER BY id LIMIT ?""",
        (organization_id, limit),
    )
    return [ReviewRow(*row) for row in rows]


def last_of(
    tx: Tx, organization_id: str, addresses: Collection[str], before_ms: int
) -> Mapping[str, LastDigest]:
    """Of these addresses, what each was last told before that time: what lies behind it a clock noted that was set back
    since."""
    rows = tx.all(
        f"""SELECT address, sent_at, review_id FROM review_digests
            WHERE organization_id = ? AND address IN {each_of("?")} AND sent_at < ?""",
        (organization_id, dump(list(addresses)), before_ms),
    )
    return {address: LastDigest(*rest) for address, *rest in rows}


def mark_sent(
    tx: Tx, organization_id: str, address: str, review_id: str, now_ms: int, before_ms: int
) -> bool:
    """The address is told of all up to this review; False where `last_of` says that it was before."""
    changed = tx.run(
        """INSERT INTO review_digests (organization_id, address, sent_at, review_id)
           VALUES (:organization, :address, :now_ms, :review)
           ON CONFLICT (organization_id, address) DO UPDATE SET sent_at = :now_ms, review_id = :review
             WHERE review_digests.review_id < :review OR review_digests.sent_at >= :before""",
        {
            "organization": organization_id,
            "address": address,
            "now_ms": now_ms,
            "review": review_id,
            "before": before_ms,
        },
    )
    return changed == 1


def mark_told(tx: Tx, review_ids: Sequence[str]) -> None:
    """Nobody is to be told of these any more."""
    tx.run(f"UPDATE reviews SET is_told = 1 WHERE id IN {each_of('?')}", (dump(list(review_ids)),))
