"""Members: the people of an organization, as the operator entered them."""

from collections.abc import Sequence
from typing import NamedTuple

from storage.engine.dialect import each_of, unindexed
from storage.engine.tx import Tx
from storage.ids import made_at
from storage.records import columns, dump
from storage.tenants import console_sessions


class MemberRow(NamedTuple):
    """A person of an organization. `email`: in comparison form; `joined_at`: Unix milliseconds."""

    id: str
    organization_id: str
    email: str
    name: str | None
    role: str
    joined_at: int


_SELECT = f"SELECT {columns(MemberRow)} FROM members"


def of(tx: Tx, organization_id: str) -> list[MemberRow]:
    """All members of the organization, in the order in which they joined. For the operator's commands alone: they may
    be many."""
    rows = tx.all(f"{_SELECT} WHERE organization_id = ? ORDER BY joined_at, id", (organization_id,))
    return [MemberRow(*row) for row in rows]


def list_members(tx: Tx, organization_id: str, *, limit: int, after: str | None = None) -> list[MemberRow]:
    """In the order in which they joined, those behind the member `after`, who may be removed since."""
    joined_at = tx.value(
        "SELECT joined_at FROM members WHERE id = ? AND organization_id = ?", (after, organization_id)
    )
    if after is not None and joined_at is None:
        joined_at = made_at(after)
    rows = tx.all(
        f"""{_SELECT} WHERE organization_id = ? AND (joined_at, id) > (?, ?) ORDER BY joined_at, id LIMIT ?""",
        (organization_id, joined_at or 0, after or "", limit),
    )
    return [MemberRow(*row) for row in rows]


def by_id(tx: Tx, organization_id: str, member_id: str) -> MemberRow | None:
    """The organization's member of that id, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (member_id, organization_id))
    return MemberRow(*row) if row else None


def names(tx: Tx, organization_id: str, member_ids: Sequence[str]) -> dict[str, str]:
    """Id → name, or address where there is none, of those of these that the organization has."""
    rows = tx.all(
        f"""SELECT id, coalesce(nullif(name, ''), email) FROM members
            WHERE id IN {each_of("?")} AND {unindexed("organization_id")} = ?""",
        (dump(list(member_ids)), organization_id),
    )
    return dict(rows)


def by_email(tx: Tx, organization_id: str, email: str) -> MemberRow | None:
    """The organization's member of that address, or None."""
    row = tx.one(
        f"{_SELECT} WHERE organization_id = ? AND email = ?",
        (organization_id, email),
    )
    return MemberRow(*row) if row else None


def everywhere(tx: Tx, email: str, limit: int) -> list[MemberRow]:
    """Who has that address, in all organizations: for signing in, where none is named. In the order of ids."""
    rows = tx.all(f"{_SELECT} WHERE email = ? ORDER BY id LIMIT ?", (email, limit))
    return [MemberRow(*row) for row in rows]


def add(tx: Tx, row: MemberRow) -> None:
    """Write a member whose address the organization does not have yet."""
    tx.run(f"INSERT INTO members ({columns(MemberRow)}) VALUES ({', '.join('?' for _ in row)})", tuple(row))


def change(tx: Tx, row: MemberRow, role: str, name: str | None) -> None:
    """Give the member another role or name. A role that changes ends what the member has open: nothing that was
    begun under the old one goes on."""
    tx.run(
        "UPDATE members SET role = ?, name = ? WHERE id = ? AND organization_id = ?",
        (role, name, row.id, row.organization_id),
    )
    if role != row.role:
        console_sessions.end_all(tx, row.id)


def remove(tx: Tx, row: MemberRow) -> None:
    """Delete the member with all links and sessions: from this commit on nothing is done in its name."""
    console_sessions.end_all(tx, row.id)
    tx.run("DELETE FROM members WHERE id = ? AND organization_id = ?", (row.id, row.organization_id))
