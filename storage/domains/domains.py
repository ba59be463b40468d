"""Customers' domains. Shared domains stand in the configuration alone (`server.shared_domains`), without a row here.

A name may be registered by several organizations; at most one of them has it `verified`, and only
that one receives and sends with it. A deleted registration keeps its row, and takes part in nothing.
"""

from collections.abc import Collection, Set
from typing import NamedTuple

from storage.engine.dialect import each_of
from storage.engine.tx import Tx
from storage.records import columns, dump
from storage.states import DOMAIN


class DomainRow(NamedTuple):
    """One registration of a name. `status`: of states.DOMAIN; `…_status`: 1 when the last check passed; times in ms."""

    id: str
    organization_id: str
    domain_name: str  # lower-case A-label
    status: str
    challenge: str
    ownership_status: int
    mx_status: int
    spf_status: int
    dkim_status: int
    dmarc_status: int
    observed: str  # JSON: what the last check found, by record
    daily_cap: int | None
    verified_at: int | None
    last_checked_at: int | None
    failing_since: int | None  # pending: since when it may be verified; verified: since when checks fail
    created_at: int


_SELECT = f"SELECT {columns(DomainRow)} FROM domains"
_CHANGING = (
    *("status", "ownership_status", "mx_status", "spf_status", "dkim_status", "dmarc_status", "observed"),
    *("verified_at", "last_checked_at", "failing_since"),
)
_UPDATE = f"""UPDATE domains SET {", ".join(f"{name} = :{name}" for name in _CHANGING)}
    WHERE id = :id AND status = :before"""


class DomainTaken(Exception):
    """Another organization has verified the name, or this one has registered it."""


def register(
    tx: Tx,
    domain_id: str,
    now_ms: int,
    *,
    organization_id: str,
    domain_name: str,
    challenge: str,
    daily_cap: int | None,
) -> DomainRow:
    """Write a pending registration and answer its row; DomainTaken. `domain_name`: lower-case A-label."""
    refuse_taken(tx, organization_id, domain_name)
    row = tx.one(
        f"""INSERT INTO domains (id, organization_id, domain_name, status, challenge, daily_cap, failing_since,
              created_at) VALUES (?, ?, ?, 'pending', ?, ?, ?, ?) RETURNING {columns(DomainRow)}""",
        (domain_id, organization_id, domain_name, challenge, daily_cap, now_ms, now_ms),
    )
    assert row is not None
    return DomainRow(*row)


def refuse_taken(tx: Tx, organization_id: str, domain_name: str) -> None:
    """DomainTaken when the organization can't register the name."""
    if tx.one(
        """SELECT 1 FROM domains WHERE domain_name = :name
           AND (status = 'verified' OR (status <> 'deleted' AND organization_id = :organization))""",
        {"name": domain_name, "organization": organization_id},
    ):
        raise DomainTaken(domain_name)


def get(tx: Tx, organization_id: str, domain_id: str) -> DomainRow | None:
    """The organization's registration, or None; a deleted one is not found."""
    row = tx.one(
        f"{_SELECT} WHERE id = ? AND organization_id = ? AND status <> 'deleted'",
        (domain_id, organization_id),
    )
    return DomainRow(*row) if row else None


def of_organization(tx: Tx, organization_id: str) -> list[DomainRow]:
    """All of them, newest first."""
    rows = tx.all(
        f"{_SELECT} WHERE organization_id = ? AND status <> 'deleted' ORDER BY id DESC", (organization_id,)
    )
    return [DomainRow(*row) for row in rows]


def of_everybody(tx: Tx) -> list[DomainRow]:
    """The registrations of all organizations, for the operator's commands."""
    return [DomainRow(*row) for row in tx.all(f"{_SELECT} WHERE status <> 'deleted' ORDER BY id")]


def count(tx: Tx, organization_id: str) -> int:
    """The organization's registrations, but for deleted ones, whatever their status."""
    number: int = tx.value(
        "SELECT count(*) FROM domains WHERE organization_id = ? AND status <> 'deleted'", (organization_id,)
    )
    return number


def update(tx: Tx, before: DomainRow, after: DomainRow) -> bool:
    """Write what a check changed; False when the status is no longer that of `before`.

    DomainTaken when it would become verified while another organization has the name verified.
    """
    if after.status != before.status and after.status not in DOMAIN[before.status]:
        raise ValueError(f"a domain can't go from {before.status} to {after.status}")
    if after.status == "verified" and verified_by(tx, after.domain_name) not in (None, after.organization_id):
        raise DomainTaken(after.domain_name)
    return tx.run(_UPDATE, {**after._asdict(), "before": before.status}) == 1


def set_daily_cap(tx: Tx, organization_id: str, domain_id: str, daily_cap: int | None) -> DomainRow | None:
    """The row with its new cap (messages a UTC day; None: no cap); None when the organization does not have it."""
    row = tx.one(
        f"""UPDATE domains SET daily_cap = ? WHERE id = ? AND organization_id = ? AND status <> 'deleted'
            RETURNING {columns(DomainRow)}""",
        (daily_cap, domain_id, organization_id),
    )
    return DomainRow(*row) if row else None


def delete(tx: Tx, organization_id: str, domain_id: str, now_ms: int) -> DomainRow | None:
    """From this commit on nothing is received or sent with the domain; None when the organization does not have it."""
    row = tx.one(
        f"""UPDATE domains SET status = 'deleted', deleted_at = ?
            WHERE id = ? AND organization_id = ? AND status IN ('pending', 'verified', 'failed')
            RETURNING {columns(DomainRow)}""",
        (now_ms, domain_id, organization_id),
    )
    return DomainRow(*row) if row else None


def due_for_check(
    tx: Tx, now_ms: int, every_ms: int, limit: int, but: Collection[str] = ()
) -> list[DomainRow]:
    """Verified domains that were not checked in the last `every_ms` (see clock.is_recent), the longest unchecked
    first. `but`: not these."""
    due: list[DomainRow] = []
    for when in ("<= :now - :every", ">= :now + :every"):  # the later ones: the clock was set back
        rows = tx.all(
            f"""{_SELECT} WHERE status = 'verified' AND coalesce(last_checked_at, 0) {when}
                  AND id NOT IN {each_of(":but")}
                ORDER BY coalesce(last_checked_at, 0) LIMIT :limit""",
            {"now": now_ms, "every": every_ms, "limit": limit - len(due), "but": dump(list(but))},
        )
        due += [DomainRow(*row) for row in rows]
    return due


def pending_since(tx: Tx, at_ms: int, limit: int, but: Collection[str] = ()) -> list[DomainRow]:
    """Domains that have been pending since then, or longer, the longest first. `but`: not these."""
    rows = tx.all(
        f"""{_SELECT} WHERE status = 'pending' AND coalesce(failing_since, created_at) <= :at
              AND id NOT IN {each_of(":but")}
            ORDER BY coalesce(failing_since, created_at) LIMIT :limit""",
        {"at": at_ms, "limit": limit, "but": dump(list(but))},
    )
    return [DomainRow(*row) for row in rows]


def status_for(tx: Tx, organization_id: str, domain_name: str) -> str | None:
    """The status of the organization's live domain of that name, or None when it has none."""
    status: str | None = tx.value(
        "SELECT status FROM domains WHERE organization_id = ? AND domain_name = ? AND status <> 'deleted'",
        (organization_id, domain_name),
    )
    return status


def ceiling(tx: Tx, organization_id: str, inbox_id: str) -> tuple[str, int] | None:
    """(domain name, daily cap) of the domain that the inbox sends from; None where it does not have a cap."""
    row = tx.one(
        """SELECT d.domain_name, d.daily_cap FROM inboxes i
             JOIN domains d ON d.organization_id = i.organization_id AND d.domain_name = i.domain
           WHERE i.id = ? AND i.organization_id = ? AND d.status = 'verified' AND d.daily_cap IS NOT NULL""",
        (inbox_id, organization_id),
    )
    return (row[0], row[1]) if row else None


def verified_by(tx: Tx, domain_name: str) -> str | None:
    """The organization that receives and sends mail with this domain; None when it is verified by none."""
    organization_id: str | None = tx.value(
        "SELECT organization_id FROM domains WHERE domain_name = ? AND status = 'verified'", (domain_name,)
    )
    return organization_id


def may_send(tx: Tx, organization_id: str, domain_name: str, shared_domains: Set[str]) -> bool:
    """May the organization's inboxes on this domain send now? Those on a shared domain may until it is deleted."""
    if domain_name not in shared_domains:
        return status_for(tx, organization_id, domain_name) == "verified"
    stands = "SELECT 1 FROM organizations WHERE id = ? AND deleted_at IS NULL"
    return tx.one(stands, (organization_id,)) is not None


def is_verified(tx: Tx, domain_name: str) -> bool:
    """Does any organization receive mail on this domain? Shared domains are not asked about here."""
    return verified_by(tx, domain_name) is not None


def is_pending(tx: Tx, domain_name: str) -> bool:
    """Has any organization registered it, and may still verify it?"""
    return (
        tx.one("SELECT 1 FROM domains WHERE domain_name = ? AND status = 'pending'", (domain_name,))
        is not None
    )
