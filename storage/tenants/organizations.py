"""Organizations: the tenants. Everything else belongs to one."""

from typing import NamedTuple

from storage import counts, usage
from storage.clock import day_of, iso, month_of
from storage.engine.dialect import committed
from storage.engine.tx import Tx
from storage.publishing import events, webhooks
from storage.records import OrganizationRow, columns, dump, load
from storage.states import SENDING
from storage.usage import Baseline, ReputationRates

_SELECT = f"SELECT {columns(OrganizationRow)} FROM organizations"
_PLACE = committed("organizations")
_FIRST = f"SELECT id FROM organizations WHERE {_PLACE} = (SELECT min({_PLACE}) FROM organizations)"
_GET = f"{_SELECT} WHERE id = ? AND deleted_at IS NULL"


def create(tx: Tx, organization_id: str, name: str, plan: str, now_ms: int) -> None:
    """Write a new organization, approved for sending. `plan`: a name of the configuration, not checked here."""
    tx.run(
        "INSERT INTO organizations (id, name, plan, sending_status, created_at) VALUES (?, ?, ?, 'approved', ?)",
        (organization_id, name, plan, now_ms),
    )


def get(tx: Tx, organization_id: str) -> OrganizationRow | None:
    """The organization, or None; one that is being deleted is not found."""
    row = tx.one(_GET, (organization_id,))
    return OrganizationRow(*row) if row else None


def set_reviewers(tx: Tx, organization_id: str, reviewers: str) -> bool:
    """Who decides what is held: 'keys' or 'members'; False when there is no such organization."""
    return tx.run("UPDATE organizations SET reviewers = ? WHERE id = ?", (reviewers, organization_id)) == 1


class Used(NamedTuple):
    """What an organization has used of its plan; the fields are those of the plan's limits."""

    messages_monthly: int
    messages_daily: int
    inboxes: int
    open_drafts: int
    webhooks: int
    storage_bytes: int


def used(tx: Tx, organization_id: str, now_ms: int, *, sees_held: bool = False) -> Used:
    """Bytes are those of the messages that the caller can read: one message in two inboxes counts twice."""
    counted = counts.of(tx, organization_id)
    monthly = usage.get(tx, organization_id, month_of(now_ms), "messages")
    daily = usage.get(tx, organization_id, day_of(now_ms), "messages")
    stored = (usage.kept_bytes if sees_held else usage.visible_bytes)(tx, organization_id)
    return Used(
        monthly, daily, counted.inboxes, counted.open_drafts, webhooks.count(tx, organization_id), stored
    )


def own(tx: Tx) -> str | None:
    """The operator's: the oldest one, in whose log stands what is done to the whole host; None before `maild init`."""
    # By the order of commits: `maild init` may have had a clock that was ahead.
    first: str | None = tx.value(_FIRST)
    return first


# May it send? -------------------------------------------------------------------------------------


def approve(tx: Tx, organization_id: str, now_ms: int) -> bool:
    """Let the organization send, and forgive its reputation: the circuit breaker counts anew from here.

    False when the organization does not exist.
    """
    forgiven = usage.baseline(tx, organization_id, now_ms)
    return _set_sending(tx, organization_id, "approved", None, None, None, dump(forgiven))


def pause(tx: Tx, event_id: str, organization_id: str, reason: str, action: str, now_ms: int) -> bool:
    """Keep the organization from sending, and publish `sending.paused` if it was not paused already.

    False when the organization does not exist.
    """
    before = get(tx, organization_id)
    if before is None or not _set_sending(tx, organization_id, "paused", reason, action, now_ms, None):
        return False
    if before.sending_status == "paused":
        return True
    data = {"status": "paused", "reason": reason, "action": action, "trippedAt": iso(now_ms)}
    events.publish(tx, event_id, now_ms, organization_id=organization_id, type="sending.paused", data=data)
    return True


def watch(tx: Tx, organization_id: str, is_watched: bool) -> None:
    """Is the circuit breaker to look at it with each message that it sends?"""
    tx.run("UPDATE organizations SET is_watched = ? WHERE id = ?", (int(is_watched), organization_id))


def standing(tx: Tx, organization_id: str, now_ms: int) -> ReputationRates:
    """The reputation that the circuit breaker judges: of the last 30 days, but not from before the last approval."""
    text: str | None = tx.value(
        "SELECT reputation_baseline FROM organizations WHERE id = ?", (organization_id,)
    )
    return usage.reputation(tx, organization_id, now_ms, Baseline(*load(text)) if text else None)


def _set_sending(
    tx: Tx,
    organization_id: str,
    status: str,
    reason: str | None,
    action: str | None,
    tripped_at: int | None,
    forgiven: str | None,
) -> bool:
    """False when the organization does not exist, or states.SENDING does not let it go there from where it is."""
    origins = [origin for origin, after in SENDING.items() if status in after or origin == status]
    changed = tx.run(
        f"""UPDATE organizations SET sending_status = :status, sending_reason = :reason,
            sending_action = :action, sending_tripped_at = :tripped_at,
            reputation_baseline = coalesce(:forgiven, reputation_baseline)
            WHERE id = :id AND sending_status IN ({", ".join(f"'{origin}'" for origin in origins)})""",
        {
            "id": organization_id,
            "status": status,
            "reason": reason,
            "action": action,
            "tripped_at": tripped_at,
            "forgiven": forgiven,
        },
    )
    return changed == 1


# The operator's view ------------------------------------------------------------------------------


class Tripwire(NamedTuple):
    """When the bulk tripwire tripped (Unix milliseconds; None: it has not), and how many recipients it remembers."""

    tripped_at: int | None
    recipients: int


def tripwire(tx: Tx, organization_id: str) -> Tripwire:
    """The state of the organization's tripwire; `Tripwire(None, 0)` when the organization does not exist."""
    row = tx.one(
        """SELECT tripwire_tripped_at, coalesce(addresses, 0)
           FROM organizations LEFT JOIN recent_recipient_counts ON organization_id = id WHERE id = :id""",
        {"id": organization_id},
    )
    return Tripwire(*row) if row else Tripwire(None, 0)


def reset_tripwire(tx: Tx, organization_id: str) -> bool:
    """Forget that the wire tripped, and the recipients counted; False when the organization does not exist."""
    tx.run("DELETE FROM recent_recipients WHERE organization_id = ?", (organization_id,))
    changed = tx.run("UPDATE organizations SET tripwire_tripped_at = NULL WHERE id = ?", (organization_id,))
    return changed == 1


def every(tx: Tx) -> list[OrganizationRow]:
    """All of them, oldest first, those that are being deleted too."""
    return [OrganizationRow(*row) for row in tx.all(f"{_SELECT} ORDER BY id")]


def ids_after(tx: Tx, after: str, limit: int) -> list[str]:
    """Their ids in order, from behind that one on, but for those that are being deleted."""
    rows = tx.all(
        "SELECT id FROM organizations WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?", (after, limit)
    )
    return [row[0] for row in rows]


def set_plan(tx: Tx, organization_id: str, plan: str) -> bool:
    """Put the organization on another plan (a name, not checked here); False when the organization does not exist."""
    return tx.run("UPDATE organizations SET plan = ? WHERE id = ?", (plan, organization_id)) == 1
