"""A message's attempts, as `GET /v1/messages/{id}/attempts` shows them."""

from typing import Any

from controlplane.mail import attempts
from controlplane.mail.attempts import Attempts
from storage.engine.tx import Tx
from tests.support.worlds.store import Store


async def shown_attempts(store: Store, message_id: str) -> list[dict[str, Any]]:
    """Oldest first."""

    def unit(tx: Tx) -> list[dict[str, Any]]:
        organization_id = tx.value("SELECT organization_id FROM messages WHERE id = ?", (message_id,))
        found = Attempts.of(tx, organization_id, message_id, is_live=True)
        return attempts.shown(tx, found, found.rows)

    return await store.db.read(unit)
