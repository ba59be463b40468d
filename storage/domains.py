"""Customers' domains. Shared domains are the configuration's and have no row here."""

from storage.database import Tx


def status_for(tx: Tx, organization_id: str, domain_name: str) -> str | None:
    """The status of the organization's live domain of that name, or None when it has none."""
    status: str | None = tx.value(
        "SELECT status FROM domains WHERE organization_id = ? AND domain_name = ? AND status <> 'deleted'",
        (organization_id, domain_name),
    )
    return status


def is_verified(tx: Tx, domain_name: str) -> bool:
    """Does some organization receive mail on this domain?"""
    return (
        tx.one("SELECT 1 FROM domains WHERE domain_name = ? AND status = 'verified'", (domain_name,))
        is not None
    )
