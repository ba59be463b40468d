"""Members: the people of an organization, as the operator entered them."""

from typing import NamedTuple

from storage.engine.tx import Tx
from storage.records import columns
from storage.tenants import console_sessions


class MemberRow(NamedTuple):
    """A person of an organization. `email`: in comparison form; `joined_at`: Unix milliseconds."""

    id: str
    organization_id: str
    email: str
    name: str | None
    role: str
    joined_at: int


def of(tx: Tx, organization_id: str) -> list[MemberRow]:
    """All members of the organization, in the order in which they joined."""
    rows = tx.all(
        f"SELECT {columns(MemberRow)} FROM members WHERE organization_id = ? ORDER BY joined_at, id",
        (organization_id,),
    )
    return [MemberRow(*row) for row in rows]


def by_email(tx: Tx, organization_id: str, email: str) -> MemberRow | None:
    """The organization's member of that address, or None."""
    row = tx.one(
        f"SELECT {columns(MemberRow)} FROM members WHERE organization_id = ? AND email = ?",
        (organization_id, email),
    )
    return MemberRow(*row) if row else None


def everywhere(tx: Tx, email: str, limit: int) -> list[MemberRow]:
    """Who has that address, in all organizations: for signing in, where none is named. In the order of ids."""
    rows = tx.all(
        f"SELECT {columns(MemberRow)} FROM members WHERE email = ? ORDER BY id LIMIT ?", (email, limit)
    )
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
