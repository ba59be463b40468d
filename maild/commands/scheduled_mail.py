"""What waits for the time for which it was scheduled, of all organizations, in the operator's hands.

It is not in the outbound queue yet. After a restore it is there again though it may have left since the backup, and who
wrote it need not know of that.
"""

from typing import Any

from maild.commands.store_commands import StoreCommands
from storage.audit.acts import OPERATOR, Act
from storage.clock import iso_or_none
from storage.engine.tx import Tx
from storage.mail import messages
from storage.records import MessageRow, load
from storage.tenants import organizations

_EVER_MS = (1 << 63) - 1


class ScheduledMailCommands(StoreCommands):
    """KeyError names what does not exist."""

    def list(self, organization_id: str | None, limit: int) -> list[dict[str, Any]]:
        """The next one first."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            if organization_id is not None and organizations.get(tx, organization_id) is None:
                raise KeyError(f"organization {organization_id}")
            ids = messages.scheduled_until(tx, _EVER_MS, limit, organization_id=organization_id)
            found = (messages.by_id(tx, message_id) for message_id in ids)
            return [_shown(message) for message in found if message is not None]

        return self._look(unit)

    def cancel(self, message_id: str) -> dict[str, Any]:
        """As the API does it: `{"messageId", "changed", "status"}`; not `changed` where it was not scheduled (any
        more), and `status` says what it is."""

        def unit(tx: Tx) -> dict[str, Any]:
            message = messages.by_id(tx, message_id)
            if message is None:
                raise KeyError(f"message {message_id}")
            changed = messages.cancel(tx, message.organization_id, message_id)
            if changed:
                told = {"inboxId": message.inbox_id}
                self._audit.record(
                    tx, message.organization_id, Act.MESSAGE_CANCELLED, OPERATOR, message_id, told
                )
            return {
                "messageId": message_id,
                "changed": changed,
                "status": "cancelled" if changed else message.status,
            }

        return self._run(unit)


def _shown(message: MessageRow) -> dict[str, Any]:
    lists = (message.to_addresses, message.cc_addresses, message.bcc_addresses)
    return {
        "messageId": message.id,
        "organizationId": message.organization_id,
        "inboxId": message.inbox_id,
        "scheduledAt": iso_or_none(message.scheduled_at),
        "recipients": [address for one in lists for address in load(one)],
    }
