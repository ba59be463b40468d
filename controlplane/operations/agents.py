"""Agents: names for the programs behind inboxes."""

from typing import Any

from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage import agents
from storage.agents import AgentRow
from storage.clock import iso


async def create_agent(call: Call) -> Result:
    services = call.services
    row = await call.db.write(
        agents.create, services.ids.new("agt"), call.organization_id, call.input.name, services.clock.now_ms()
    )
    return Result(_shown_agent(row))


async def list_agents(call: Call) -> Result:
    rows = await call.read(
        agents.list_agents,
        call.organization_id,
        limit=call.input.limit,
        before=call.input.cursor,
        inbox_id=call.principal.listed_inbox(),
    )
    return Result([_shown_agent(row) for row in rows])


async def get_agent(call: Call) -> Result:
    row = await call.read(agents.get, call.organization_id, call.id, inbox_id=call.principal.inbox_id)
    if row is None:
        raise Refusal("agent_not_found")
    return Result(_shown_agent(row))


async def delete_agent(call: Call) -> Result:
    now_ms = call.services.clock.now_ms()
    if not await call.db.write(agents.remove, call.organization_id, call.id, now_ms):
        raise Refusal("agent_not_found")
    return Result({"id": call.id, "status": "deleted"})


def _shown_agent(row: AgentRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "name": row.name,
        "createdAt": iso(row.created_at),
    }
