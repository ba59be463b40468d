"""Agents: names that an organization gives to the programs behind its inboxes."""

from storage.database import Tx


def exists(tx: Tx, organization_id: str, agent_id: str) -> bool:
    found = tx.one("SELECT 1 FROM agents WHERE id = ? AND organization_id = ?", (agent_id, organization_id))
    return found is not None
