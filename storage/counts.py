"""How many an organization has of what its plan limits, however many that is: rows that triggers of the schema keep as
inboxes and drafts come and go (`storage/schema.sql`)."""

from typing import NamedTuple

from storage.engine.tx import Tx


class OrganizationCounts(NamedTuple):
    """`inboxes`: active ones. `open_drafts`: neither sent nor discarded."""

    inboxes: int = 0
    open_drafts: int = 0


def of(tx: Tx, organization_id: str) -> OrganizationCounts:
    """Of an organization that has nothing, too."""
    rows = tx.all(
        "SELECT counted, amount FROM organization_counts WHERE organization_id = ?", (organization_id,)
    )
    return OrganizationCounts(**dict(rows))
