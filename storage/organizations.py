"""Organizations: the tenants. Everything else belongs to one."""

from typing import NamedTuple

from storage import usage
from storage.clock import day_of, month_of
from storage.database import Tx
from storage.records import Organization, columns
from storage.states import SENDING

_SELECT = f"SELECT {columns(Organization)} FROM organizations"


def create(tx: Tx, organization_id: str, name: str, plan: str, now_ms: int) -> None:
    tx.run(
        "INSERT INTO organizations (id, name, plan, sending_status, created_at) VALUES (?, ?, ?, 'approved', ?)",
        (organization_id, name, plan, now_ms),
    )


def get(tx: Tx, organization_id: str) -> Organization | None:
    row = tx.one(f"{_SELECT} WHERE id = ?", (organization_id,))
    return Organization(*row) if row else None


class Used(NamedTuple):
    """What an organization has used of its plan; the fields are those of the plan's limits."""

    messages_monthly: int
    messages_daily: int
    inboxes: int
    open_drafts: int
    webhooks: int
    storage_bytes: int


_USED = """SELECT
    (SELECT count(*) FROM inboxes WHERE organization_id = :id AND is_active = 1),
    (SELECT count(*) FROM drafts WHERE organization_id = :id AND status = 'draft'),
    (SELECT count(*) FROM webhooks WHERE organization_id = :id AND deleted_at IS NULL)"""


def used(tx: Tx, organization_id: str, now_ms: int) -> Used:
    """Bytes are those of the messages that an organization can read: one message in two inboxes counts twice."""
    row = tx.one(_USED, {"id": organization_id})
    assert row is not None
    monthly = usage.get(tx, organization_id, month_of(now_ms), "messages")
    daily = usage.get(tx, organization_id, day_of(now_ms), "messages")
    inboxes, open_drafts, webhooks = row
    return Used(monthly, daily, inboxes, open_drafts, webhooks, usage.kept_bytes(tx, organization_id))


def first(tx: Tx) -> Organization | None:
    """The oldest one: the operator's own."""
    row = tx.one(f"{_SELECT} ORDER BY id LIMIT 1")
    return Organization(*row) if row else None


def set_sending(
    tx: Tx, organization_id: str, status: str, reason: str | None, action: str | None, now_ms: int
) -> bool:
    """Approve or pause; False when there is no such organization, or it can't go there from where it is."""
    origins = [origin for origin, after in SENDING.items() if status in after or origin == status]
    changed = tx.run(
        f"""UPDATE organizations SET sending_status = :status, sending_reason = :reason,
            sending_action = :action, sending_tripped_at = :tripped_at
            WHERE id = :id AND sending_status IN ({", ".join(f"'{origin}'" for origin in origins)})""",
        {
            "id": organization_id,
            "status": status,
            "reason": reason,
            "action": action,
            "tripped_at": now_ms if status == "paused" else None,
        },
    )
    return changed == 1
