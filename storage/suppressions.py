"""Addresses that an organization must not write to. `email` is the comparison key of an address."""

from collections.abc import Iterable
from typing import NamedTuple

from storage.database import Tx
from storage.records import columns, dump


class Suppression(NamedTuple):
    id: str
    organization_id: str
    email: str
    reason: str
    source: str
    created_at: int


_SELECT = f"SELECT {columns(Suppression)} FROM suppressions"


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
        f"""INSERT INTO suppressions ({columns(Suppression)}) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (organization_id, email) DO NOTHING""",
        (suppression_id, organization_id, email, reason, source, now_ms),
    )
    found: str = tx.value(
        "SELECT id FROM suppressions WHERE organization_id = ? AND email = ?", (organization_id, email)
    )
    return found


def find(tx: Tx, organization_id: str, emails: Iterable[str]) -> list[Suppression]:
    """Those of `emails` that are suppressed."""
    rows = tx.all(
        f"{_SELECT} WHERE organization_id = ? AND email IN (SELECT value FROM json_each(?)) ORDER BY id",
        (organization_id, dump(list(emails))),
    )
    return [Suppression(*row) for row in rows]
