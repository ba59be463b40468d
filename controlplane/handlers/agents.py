"""Agents: names for the programs behind inboxes."""

from controlplane import render
from controlplane.api import Call, Result
from controlplane.contract.refusals import Refusal
from storage import agents


async def create(call: Call) -> Result:
    rooms = call.rooms
    row = await rooms.db.write(
        agents.create, rooms.ids.new("agt"), call.organization_id, call.body.name, rooms.clock.now_ms()
    )
    return Result(render.agent(row), status=201)


async def page(call: Call) -> Result:
    rows = await call.read(
        agents.list_agents,
        call.organization_id,
        limit=call.query.limit,
        before=call.query.cursor,
        inbox_id=call.principal.listed_inbox(),
    )
    return Result([render.agent(row) for row in rows])


async def show(call: Call) -> Result:
    row = await call.read(agents.get, call.organization_id, call.id, inbox_id=call.principal.inbox_id)
    if row is None:
        raise Refusal("agent_not_found")
    return Result(render.agent(row))


async def delete(call: Call) -> Result:
    now_ms = call.rooms.clock.now_ms()
    if not await call.rooms.db.write(agents.remove, call.organization_id, call.id, now_ms):
        raise Refusal("agent_not_found")
    return Result({"id": call.id, "status": "deleted"})
