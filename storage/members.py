"""Members: the people of an organization, as the operator entered them."""

from typing import NamedTuple

from storage.database import Tx
from storage.records import columns


class MemberRow(NamedTuple):
    """A person of an organization. `joined_at`: Unix milliseconds."""

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
