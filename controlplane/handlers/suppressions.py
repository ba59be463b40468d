"""Suppressions: addresses that the organization does not write to."""

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError
from maild.message.address import normalize
from storage import suppressions
from storage.database import Tx
from storage.suppressions import Suppression


async def create(call: Call) -> Answer:
    row = await call.rooms.db.write(_add, call)
    return Answer(render.suppression(row), status=201)


def _add(tx: Tx, call: Call) -> Suppression:
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


async def page(call: Call) -> Answer:
    query = call.query
    rows = await call.read(
        suppressions.page,
        call.organization_id,
        limit=query.limit,
        reason=query.reason,
        email=normalize(query.email) if query.email is not None else None,
        before=query.cursor,
    )
    return Answer([render.suppression(row) for row in rows])


async def delete(call: Call) -> Answer:
    if not await call.rooms.db.write(suppressions.remove, call.organization_id, call.id):
        raise ApiError("suppression_not_found")
    return Answer({"id": call.id, "status": "deleted"})
