"""Policies: one document for an inbox, replaced as a whole, with a version that counts its changes.

What it says stands in `controlplane/contract/policies.py`. What the store itself acts on is read of it here.
"""

from typing import Any, NamedTuple

from storage.database import Tx
from storage.records import load

# What an UPDATE of `inboxes` answers besides: is its mail work? Without a policy that is one step in an index.
HAS_WORK = "coalesce((SELECT has_work FROM policies WHERE owner_id = inboxes.id), 0)"
NO_VERSION = 0


class WorkPolicy(NamedTuple):
    """`max_attempts`: claims of a message that may end undone. `requires_claim`: answers need a live claim."""

    is_enabled: bool = False
    max_attempts: int = 5
    requires_claim: bool = False


class PolicyRow(NamedTuple):
    """`document`: JSON, as it was given, with every member."""

    version: int
    document: str


def of_inbox(tx: Tx, organization_id: str, inbox_id: str) -> PolicyRow | None:
    """The inbox's own policy; None: it never had one."""
    row = tx.one(
        "SELECT version, document FROM policies WHERE owner_id = ? AND organization_id = ?",
        (inbox_id, organization_id),
    )
    return PolicyRow(*row) if row else None


def work_of(tx: Tx, organization_id: str, inbox_id: str) -> WorkPolicy:
    """What holds for work in the inbox."""
    row = of_inbox(tx, organization_id, inbox_id)
    if row is None:
        return WorkPolicy()
    work: dict[str, Any] = load(row.document)["work"]
    return WorkPolicy(work["enabled"], work["maxAttempts"], work["requireClaim"])


def replace(
    tx: Tx, organization_id: str, inbox_id: str, version: int, document: str, has_work: bool, now_ms: int
) -> bool:
    """Write the document in place of that version (NO_VERSION: there was none); False where it is another by now."""
    given = {
        "owner": inbox_id, "organization": organization_id, "version": version, "document": document,
        "has_work": int(has_work), "now_ms": now_ms,
    }  # fmt: skip
    if version == NO_VERSION:
        statement = """INSERT INTO policies (owner_id, organization_id, version, document, has_work, updated_at)
            VALUES (:owner, :organization, :version + 1, :document, :has_work, :now_ms)
            ON CONFLICT (owner_id) DO NOTHING"""
    else:
        statement = """UPDATE policies SET version = version + 1, document = :document, has_work = :has_work,
              updated_at = :now_ms
            WHERE owner_id = :owner AND organization_id = :organization AND version = :version"""
    return tx.run(statement, given) == 1
