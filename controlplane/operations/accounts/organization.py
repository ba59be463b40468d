"""The organization of the key: its profile and its people."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from controlplane.contract.accounts.organization import ListMembers, NameIds
from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage import usage
from storage.clock import iso, iso_or_none, next_day_ms, next_month_ms
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.records import OrganizationRow
from storage.tenants import keys, members, organizations
from storage.tenants.members import MemberRow
from storage.tenants.organizations import Used
from storage.usage import REPUTATION_DAYS, ReputationRates

LISTED_MAX = 1000  # without a limit; the contract's list has none


async def get_organization(call: Call) -> Result:
    now_ms = call.services.clock.now_ms()
    found = await call.read(_profile, call, now_ms)
    if found is None:
        raise Refusal("not_found", "There is no such organization (any more).")
    row, used, standing = found
    limits = asdict(call.services.settings.plan(row.plan))
    return Result(shown_organization(row, limits, used, standing, now_ms))


async def list_members(call: Call) -> Result:
    query: ListMembers = call.input
    limit = query.limit or LISTED_MAX
    rows = await call.read(members.list_members, call.organization_id, limit=limit, after=query.cursor)
    return Result([shown_member(row) for row in rows])


async def name_ids(call: Call) -> Result:
    """Id → name of those of these keys, members and inboxes that the organization has."""
    return Result(await call.read(_names, call))


def _names(tx: Tx, call: Call) -> dict[str, str]:
    query: NameIds = call.input
    found = (one.names(tx, call.organization_id, query.ids) for one in (keys, members, inboxes))
    return {id: name for names in found for id, name in names.items()}


def _profile(tx: Tx, call: Call, now_ms: int) -> tuple[OrganizationRow, Used, ReputationRates] | None:
    row = organizations.get(tx, call.organization_id)
    if row is None:
        return None
    used = organizations.used(tx, row.id, now_ms, sees_held=call.principal.sees_held)
    return row, used, usage.reputation(tx, row.id, now_ms)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def shown_organization(
    row: OrganizationRow, limits: Mapping[str, int | None], used: Used, standing: ReputationRates, now_ms: int
) -> dict[str, Any]:
    """`limits` and `usage` are twins: the same keys, in camel case here."""
    usage = used._asdict()
    return {
        "id": row.id,
        "name": row.name,
        "plan": row.plan,
        "limits": {_camel(name): limits[name] for name in usage},
        "usage": {_camel(name): value for name, value in usage.items()},
        "resetsAt": {"daily": iso(next_day_ms(now_ms)), "monthly": iso(next_month_ms(now_ms))},
        "sendingApproval": {
            "status": row.sending_status,
            "reason": row.sending_reason,
            "action": row.sending_action,
            "trippedAt": iso_or_none(row.sending_tripped_at),
        },
        "reputation": {
            "windowDays": REPUTATION_DAYS,
            "sent": standing.sent,
            "hardBounceRate": standing.hard_bounce_rate,
            "complaintRate": standing.complaint_rate,
        },
        "reviewers": row.reviewers,
        "createdAt": iso(row.created_at),
    }


def shown_member(row: MemberRow) -> dict[str, Any]:
    """As the API shows it."""
    return {
        "id": row.id,
        "email": row.email,
        "name": row.name,
        "role": row.role,
        "joinedAt": iso(row.joined_at),
    }
