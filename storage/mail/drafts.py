"""Drafts: messages that are written and not sent yet. A draft counts as open while its status is `draft`."""

from collections.abc import Mapping
from typing import Any

from storage import counts
from storage.engine.dialect import greatest, unindexed
from storage.engine.tx import Tx
from storage.records import DraftRow, columns

_SELECT = f"SELECT {columns(DraftRow)} FROM drafts"
_INSERT = f"INSERT INTO drafts ({columns(DraftRow)}) VALUES ({', '.join('?' for _ in DraftRow._fields)})"
_EDITABLE = frozenset(
    ("to_addresses", "cc_addresses", "bcc_addresses", "subject", "text_body", "html_body", "in_reply_to", "thread_id",
     "if_last", "claim_id", "complete_claim")
)  # fmt: skip


def create(tx: Tx, draft: DraftRow) -> None:
    """Write a new draft, every column as it is given."""
    tx.run(_INSERT, draft)


def get(tx: Tx, organization_id: str, draft_id: str) -> DraftRow | None:
    """The organization's draft in any status, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (draft_id, organization_id))
    return DraftRow(*row) if row else None


def list_draft_ids(
    tx: Tx,
    organization_id: str,
    *,
    limit: int,
    status: str | None = None,
    inbox_id: str | None = None,
    before: str | None = None,
) -> list[str]:
    """Their ids, newest first; every filter that is given must hold."""
    owner = "organization_id" if inbox_id is None else unindexed("organization_id")
    conditions = [f"{owner} = :organization_id"]
    parameters: dict[str, Any] = {"organization_id": organization_id, "limit": limit}
    for condition, name, value in (
        ("status = :status", "status", status),
        ("inbox_id = :inbox_id", "inbox_id", inbox_id),
        ("id < :before", "before", before),
    ):
        if value is not None:
            conditions.append(condition)
            parameters[name] = value
    rows = tx.all(
        f"SELECT id FROM drafts WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT :limit", parameters
    )
    return [draft_id for (draft_id,) in rows]


def count_open(tx: Tx, organization_id: str) -> int:
    """The organization's drafts that are neither sent nor discarded."""
    return counts.of(tx, organization_id).open_drafts


def edit(tx: Tx, draft_id: str, changes: Mapping[str, Any], now_ms: int) -> DraftRow | None:
    """Change these columns and answer the row; None when it is not a draft (any more). ValueError for other columns.

    `updated_at` is another each time, for who asks whether somebody else changed it since."""
    unknown = changes.keys() - _EDITABLE
    if unknown:
        raise ValueError(f"not for editing: {sorted(unknown)}")
    assignments = "".join(f"{name} = :{name}, " for name in changes)
    row = tx.one(
        f"""UPDATE drafts SET {assignments}updated_at = {greatest(":now_ms", "updated_at + 1")}
            WHERE id = :id AND status = 'draft' RETURNING {columns(DraftRow)}""",
        {**changes, "now_ms": now_ms, "id": draft_id},
    )
    return DraftRow(*row) if row else None


def discard(tx: Tx, draft_id: str, now_ms: int) -> DraftRow | None:
    """draft → discarded; None when it was sent or discarded before."""
    row = tx.one(
        f"""UPDATE drafts SET status = 'discarded', discarded_at = :now_ms, updated_at = :now_ms
            WHERE id = :id AND status = 'draft' RETURNING {columns(DraftRow)}""",
        {"now_ms": now_ms, "id": draft_id},
    )
    return DraftRow(*row) if row else None


def mark_sent(tx: Tx, draft_id: str, message_id: str, now_ms: int) -> DraftRow | None:
    """draft → sent; None when it was sent or discarded before."""
    row = tx.one(
        f"""UPDATE drafts SET status = 'sent', message_id = :message_id, sent_at = :now_ms, updated_at = :now_ms
            WHERE id = :id AND status = 'draft' RETURNING {columns(DraftRow)}""",
        {"message_id": message_id, "now_ms": now_ms, "id": draft_id},
    )
    return DraftRow(*row) if row else None
