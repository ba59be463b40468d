"""Agents: names for the programs behind inboxes."""

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError
from storage import agents


async def create(call: Call) -> Answer:
    rooms = call.rooms
    row = await rooms.db.write(
        agents.create, rooms.ids.new("agt"), call.organization_id, call.body.name, rooms.clock.now_ms()
    )
    return Answer(render.agent(row), status=201)


async def page(call: Call) -> Answer:
    rows = await call.read(
        agents.page,
        call.organization_id,
        limit=call.query.limit,
        before=call.query.cursor,
        inbox_id=call.principal.listed_inbox(),
    )
    return Answer([render.agent(row) for row in rows])


async def show(call: Call) -> Answer:
    row = await call.read(agents.get, call.organization_id, call.id, inbox_id=call.principal.inbox_id)
    if row is None:
        raise ApiError("agent_not_found")
    return Answer(render.agent(row))


async def delete(call: Call) -> Answer:
    now_ms = call.rooms.clock.now_ms()
    if not await call.rooms.db.write(agents.remove, call.organization_id, call.id, now_ms):
        raise ApiError("agent_not_found")
    return Answer({"id": call.id, "status": "deleted"})
