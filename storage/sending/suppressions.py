"""Addresses that an organization must not write to. `email` is the comparison key of an address."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from storage.engine.dialect import each_of, unindexed
from storage.engine.tx import Tx
from storage.records import columns, dump


class SuppressionRow(NamedTuple):
    """`email`: the comparison key of the address. `reason`, `source`: docs/contract.md, section 2."""

    id: str
    organization_id: str
    email: str
    reason: str
    source: str
    created_at: int


# For a statement of another module: organization, a key, and another or the same again.
ANY_OF_TWO = "SELECT 1 FROM suppressions WHERE organization_id = ? AND email IN (?, ?)"
_SELECT = f"SELECT {columns(SuppressionRow)} FROM suppressions"
# By the addresses: to spare itself the sorting, SQLite would read all of the organization's.
_FIND = f"{_SELECT} WHERE organization_id = ? AND email IN {each_of('?')} ORDER BY {unindexed('id')}"


def add(
    tx: Tx,
    suppression_id: str,
    now_ms: int,
    *,
    organization_id: str,
    email: str,
    reason: str,
    source: str,
) -> str:
    """Suppress the address; the id of the row, which is the older one where there was one."""
    tx.run(
        f"""INSERT INTO suppressions ({columns(SuppressionRow)}) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (organization_id, email) DO NOTHING""",
        (suppression_id, organization_id, email, reason, source, now_ms),
    )
    found: str = tx.value(
        "SELECT id FROM suppressions WHERE organization_id = ? AND email = ?", (organization_id, email)
    )
    return found


def find(tx: Tx, organization_id: str, emails: Iterable[str]) -> list[SuppressionRow]:
    """The rows of those `emails` (comparison keys) that are suppressed, oldest first."""
    rows = tx.all(
        _FIND,
        (organization_id, dump(list(emails))),
    )
    return [SuppressionRow(*row) for row in rows]


def get(tx: Tx, organization_id: str, suppression_id: str) -> SuppressionRow | None:
    """The organization's suppression, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (suppression_id, organization_id))
    return SuppressionRow(*row) if row else None


def list_suppressions(
    tx: Tx,
    organization_id: str,
    *,
    limit: int,
    reason: str | None = None,
    email: str | None = None,
    before: str | None = None,
) -> list[SuppressionRow]:
    """Newest first, older than `before`; every filter that is given must hold."""
    conditions = ["organization_id = :organization"]
    parameters: dict[str, Any] = {"organization": organization_id, "limit": limit}
    by_reason = "reason" if email is None else unindexed("reason")  # an address has one row at most
    for condition, name, value in (
        (f"{by_reason} = :reason", "reason", reason),
        ("email = :email", "email", email),
        ("id < :before", "before", before),
    ):
        if value is not None:
            conditions.append(condition)
            parameters[name] = value
    rows = tx.all(f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT :limit", parameters)
    return [SuppressionRow(*row) for row in rows]


def remove(tx: Tx, organization_id: str, suppression_id: str) -> bool:
    """Delete the row: mail may go to the address again. False when the organization does not have it."""
    return (
        tx.run(
            "DELETE FROM suppressions WHERE id = ? AND organization_id = ?", (suppression_id, organization_id)
        )
        == 1
    )


def withdraw_consent(
    tx: Tx, suppression_id: str, now_ms: int, *, organization_id: str, email: str
) -> str | None:
    """Suppress the address because its owner unsubscribed; the id of the row, None when it was so already.

    Where the address was suppressed for another reason, `unsubscribe` takes its place.
    """
    found: str | None = tx.value(
        """INSERT INTO suppressions (id, organization_id, email, reason, source, created_at)
           VALUES (?, ?, ?, 'unsubscribe', 'list_unsubscribe', ?)
           ON CONFLICT (organization_id, email) DO UPDATE SET reason = excluded.reason, source = excluded.source
             WHERE reason <> 'unsubscribe'
           RETURNING id""",
        (suppression_id, organization_id, email, now_ms),
    )
    return found
