"""The organization of the key: its profile and its people."""

from dataclasses import asdict

from controlplane import render
from controlplane.api import Call, Result
from controlplane.contract.refusals import Refusal
from storage import members, organizations, usage
from storage.database import Tx
from storage.organizations import Used
from storage.records import OrganizationRow
from storage.usage import ReputationRates


async def show(call: Call) -> Result:
    now_ms = call.rooms.clock.now_ms()
    found = await call.read(_profile, call.organization_id, now_ms)
    if found is None:
        raise Refusal("not_found", "There is no such organization (any more).")
    row, used, standing = found
    limits = asdict(call.rooms.settings.plan(row.plan))
    return Result(render.organization(row, limits, used, standing, now_ms))


async def show_members(call: Call) -> Result:
    rows = await call.read(members.of, call.organization_id)
    return Result([render.member(row) for row in rows])


def _profile(
    tx: Tx, organization_id: str, now_ms: int
) -> tuple[OrganizationRow, Used, ReputationRates] | None:
    row = organizations.get(tx, organization_id)
    if row is None:
        return None
    used = organizations.used(tx, organization_id, now_ms)
    return row, used, usage.reputation(tx, organization_id, now_ms)
