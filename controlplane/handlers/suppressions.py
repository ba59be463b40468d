"""Suppressions: addresses that the organization does not write to."""

from controlplane import render
from controlplane.api import Call, Result
from controlplane.contract.refusals import Refusal
from maild.message.address import normalize
from storage import suppressions
from storage.database import Tx
from storage.suppressions import SuppressionRow


async def create(call: Call) -> Result:
    row = await call.rooms.db.write(_add, call)
    return Result(render.suppression(row), status=201)


def _add(tx: Tx, call: Call) -> SuppressionRow:
    suppression_id = suppressions.add(
        tx,
        call.rooms.ids.new("sup"),
        call.rooms.clock.now_ms(),
        organization_id=call.organization_id,
        email=normalize(call.body.email),
        reason=call.body.reason,
        source="api",
    )
    row = suppressions.get(tx, call.organization_id, suppression_id)
    assert row is not None
    return row


async def page(call: Call) -> Result:
    query = call.query
    rows = await call.read(
        suppressions.list_suppressions,
        call.organization_id,
        limit=query.limit,
        reason=query.reason,
        email=normalize(query.email) if query.email is not None else None,
        before=query.cursor,
    )
    return Result([render.suppression(row) for row in rows])


async def delete(call: Call) -> Result:
    if not await call.rooms.db.write(suppressions.remove, call.organization_id, call.id):
        raise Refusal("suppression_not_found")
    return Result({"id": call.id, "status": "deleted"})
