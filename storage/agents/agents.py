"""Agents: names that an organization gives to the programs behind its inboxes."""

from typing import NamedTuple

from storage.engine.dialect import by_index
from storage.engine.tx import Tx
from storage.records import columns


class AgentRow(NamedTuple):
    """A row of `agents`. `created_at`: Unix milliseconds."""

    id: str
    organization_id: str
    name: str
    created_at: int


PARTED_AT_ONCE = 500  # inboxes

# A key bound to an inbox sees the agent behind that inbox, and no other.
_SELECT = f"""SELECT {columns(AgentRow)} FROM agents WHERE organization_id = :organization
    AND (:inbox IS NULL
         OR id = (SELECT agent_id FROM inboxes WHERE id = :inbox AND organization_id = :organization))"""


def create(tx: Tx, agent_id: str, organization_id: str, name: str, now_ms: int) -> AgentRow:
    """Add an agent to an organization that exists, and answer its row."""
    agent = AgentRow(agent_id, organization_id, name, now_ms)
    tx.run(f"INSERT INTO agents ({columns(AgentRow)}) VALUES (?, ?, ?, ?)", agent)
    return agent


def exists(tx: Tx, organization_id: str, agent_id: str) -> bool:
    """Does the organization have this agent? Whether a bound key may see it is not asked (`get` asks)."""
    found = tx.one("SELECT 1 FROM agents WHERE id = ? AND organization_id = ?", (agent_id, organization_id))
    return found is not None


def get(tx: Tx, organization_id: str, agent_id: str, *, inbox_id: str | None = None) -> AgentRow | None:
    """The organization's agent, or None. `inbox_id`: what a key bound to that inbox sees, which is its agent alone."""
    row = tx.one(
        f"{_SELECT} AND id = :id", {"organization": organization_id, "inbox": inbox_id, "id": agent_id}
    )
    return AgentRow(*row) if row else None


def list_agents(
    tx: Tx, organization_id: str, *, limit: int, before: str | None = None, inbox_id: str | None = None
) -> list[AgentRow]:
    """Newest first, older than `before`."""
    rows = tx.all(
        f"{_SELECT} AND id < coalesce(:before, '~') ORDER BY id DESC LIMIT :limit",
        {"organization": organization_id, "inbox": inbox_id, "before": before, "limit": limit},
    )
    return [AgentRow(*row) for row in rows]


def part(tx: Tx, organization_id: str, agent_id: str, now_ms: int) -> int:
    """Leave some of the agent's inboxes without one; how many, PARTED_AT_ONCE at most."""
    return tx.run(
        f"""UPDATE inboxes SET agent_id = NULL, updated_at = :now WHERE id IN
              (SELECT id FROM inboxes {by_index("inboxes_by_agent")}
               WHERE agent_id = :agent AND organization_id = :organization LIMIT :limit)""",
        {"agent": agent_id, "organization": organization_id, "now": now_ms, "limit": PARTED_AT_ONCE},
    )


def remove(tx: Tx, organization_id: str, agent_id: str, now_ms: int) -> bool:
    """Delete the agent; its inboxes, of which most have parted from it (`part`), go on without one. False when the
    organization does not have it."""
    while part(tx, organization_id, agent_id, now_ms) == PARTED_AT_ONCE:
        pass
    return tx.run("DELETE FROM agents WHERE id = ? AND organization_id = ?", (agent_id, organization_id)) == 1
