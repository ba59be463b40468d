"""Events about what clients change: labels, deletions, the archive, drafts. They are in no list that did not ask for
them.

They are written whether somebody listens or not: who begins to listen later goes on from a position in the log, and
would miss what was not written. None says a word of a message, so none is bound to one (`events.message_id`): deleting
a message need not look for them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from storage.engine.tx import Tx
from storage.publishing import events
from storage.records import DraftRow, MessageRow, load

DRAFT_EVENTS = {"created": "draft.created", "updated": "draft.updated", "discarded": "draft.discarded"}


class ChangeEvents(NamedTuple):
    """Writes them in the transaction of the change. `new_id`: makes an id; `now_ms`: Unix milliseconds."""

    new_id: Callable[[str], str]
    now_ms: int

    def message_updated(self, tx: Tx, message: MessageRow, labels: Sequence[str]) -> None:
        """The message, whose labels were those of the row, has these."""
        data = {**_of_message(message), "labelsBefore": load(message.labels), "labels": list(labels)}
        self._publish(tx, "message.updated", message.organization_id, message.inbox_id, message.mode, data)

    def message_deleted(self, tx: Tx, message: MessageRow) -> None:
        """The message is gone."""
        data = {**_of_message(message), "labelsBefore": load(message.labels)}
        self._publish(tx, "message.deleted", message.organization_id, message.inbox_id, message.mode, data)

    def thread_updated(
        self, tx: Tx, organization_id: str, inbox_id: str, thread_id: str, is_archived: bool, mode: str
    ) -> None:
        """The thread is archived now, or is not any more."""
        data = {"threadId": thread_id, "inboxId": inbox_id, "isArchived": is_archived}
        self._publish(tx, "thread.updated", organization_id, inbox_id, mode, data)

    def draft_changed(self, tx: Tx, what: str, draft: DraftRow, mode: str) -> None:
        """The draft was `created`, `updated` (sent, too) or `discarded`; it is now as in the row."""
        data = {
            "draftId": draft.id,
            "inboxId": draft.inbox_id,
            "threadId": draft.thread_id,
            "status": draft.status,
            "messageId": draft.message_id,
        }
        self._publish(tx, DRAFT_EVENTS[what], draft.organization_id, draft.inbox_id, mode, data)

    def _publish(
        self, tx: Tx, type: str, organization_id: str, inbox_id: str, mode: str, data: dict[str, Any]
    ) -> None:
        events.publish(
            tx,
            self.new_id("evt"),
            self.now_ms,
            organization_id=organization_id,
            type=type,
            data=data,
            mode=mode,
            inbox_id=inbox_id,
        )


def _of_message(message: MessageRow) -> dict[str, Any]:
    return {"messageId": message.id, "inboxId": message.inbox_id, "threadId": message.thread_id}
