"""Agents: names for the programs behind inboxes."""

from typing import Any

from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.agents import agents
from storage.agents.agents import AgentRow
from storage.audit.acts import Act
from storage.clock import iso
from storage.engine.tx import Tx


async def create_agent(call: Call) -> Result:
    return Result(_shown_agent(await call.db.write(_create, call)))


def _create(tx: Tx, call: Call) -> AgentRow:
    services = call.services
    row = agents.create(
        tx, services.ids.new("agt"), call.organization_id, call.input.name, services.clock.now_ms()
    )
    call.record(tx, Act.AGENT_CREATED, row.id)
    return row


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
    # It may have any number of inboxes: they part from it in slices, between which others write.
    parted = agents.PARTED_AT_ONCE
    while parted == agents.PARTED_AT_ONCE:
        async with call.services.batch_turns.turn(call.organization_id):
            parted = await call.db.write_apart(_part, call)
    await call.db.write_apart(_delete, call)
    return Result({"id": call.id, "status": "deleted"})


def _part(tx: Tx, call: Call) -> int:
    if not agents.exists(tx, call.organization_id, call.id):
        raise Refusal("agent_not_found")
    return agents.part(tx, call.organization_id, call.id, call.services.clock.now_ms())


def _delete(tx: Tx, call: Call) -> None:
    if not agents.remove(tx, call.organization_id, call.id, call.services.clock.now_ms()):
        raise Refusal("agent_not_found")
    call.record(tx, Act.AGENT_DELETED, call.id)


def _shown_agent(row: AgentRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "name": row.name,
        "createdAt": iso(row.created_at),
    }
