"""Many messages in one transaction: their labels, or their end.

One batch at a time stands in the line of what is to be written, so that other writers wait for one at most. The others
are called fairly: an organization that sends many keeps nobody else's waiting. What would take very long is done
before, in slices.
"""

import asyncio
from collections.abc import Sequence

from controlplane.contract.mail.messages import ChangeMessages
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.mail import labelling
from controlplane.operations.mail.messages import forget_words, remove, spare_live
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.engine.tx import Tx
from storage.mail import inboxes, messages

# Of a batch with those of its threads: other writers wait as long as it takes, and to delete takes longer.
MESSAGES_MAX = 500
DELETED_MAX = 200
CHANGED, UNCHANGED, NOT_FOUND, DENIED = "changed", "unchanged", "not_found", "inbox_access_denied"


async def change_messages(call: Call) -> Result:
    batch = _Batch(call)
    if call.input.delete:
        call.principal.require("messages:send")
        for message_id in await call.read(batch.find_much):
            batch.forgotten[message_id] = await forget_words(call, message_id)
    async with call.services.batch_turns.turn(call.organization_id):
        results = await call.db.write_apart(batch.run)
    for file in batch.files:
        await asyncio.to_thread(call.services.blobs.remove, file)
    return Result([{"id": one, "result": result} for one, result in results.items()])


class _Batch:
    """One run of it. `forgotten`: as of `remove`, by message. `files`: blobs whose files are to be removed once it is
    committed."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._body: ChangeMessages = call.input
        self._told = call.services.changes()
        self.forgotten: dict[str, int] = {}
        self.files: list[str] = []
        self._threads: dict[str, Sequence[str]] | None = None

    def find_much(self, tx: Tx) -> list[str]:
        """What is to be deleted, and has much. Refusal, as of `run`: nothing may be forgotten then. What comes into its
        threads afterwards stays, however many they have by then."""
        threads = self._threads = self._of_threads(tx)
        found = []
        for message_id in dict.fromkeys([*self._body.ids, *(one for ids in threads.values() for one in ids)]):
            message = messages.get(tx, self._call.organization_id, message_id)
            if message is not None and self._reaches(message.inbox_id):
                spare_live(tx, self._call, message)
                found += [message_id] if messages.has_much(tx, message_id) else []
        return found

    def run(self, tx: Tx) -> dict[str, str]:
        """Id → result, messages first. Refusal, and then nothing was changed."""
        self.files = []
        threads = self._of_threads(tx) if self._threads is None else self._threads
        results = {one: self._change(tx, one) for one in dict.fromkeys(self._body.ids)}
        for thread_id, message_ids in threads.items():
            results[thread_id] = self._change_thread(tx, thread_id, message_ids)
        return results

    def _of_threads(self, tx: Tx) -> dict[str, Sequence[str]]:
        """The messages of each."""
        threads = {one: self._of_thread(tx, one) for one in dict.fromkeys(self._body.threadIds)}
        most = DELETED_MAX if self._body.delete else MESSAGES_MAX
        if len(self._body.ids) + sum(map(len, threads.values())) > most:
            text = (
                f"That is more than {most} messages with those of the threads; name messages in 'ids' instead"
            )
            raise invalid([Fault("threadIds", "too_many", text)])
        return threads

    def _of_thread(self, tx: Tx, thread_id: str) -> Sequence[str]:
        return messages.ids_of_thread(tx, self._call.organization_id, thread_id, MESSAGES_MAX + 1)

    def _change_thread(self, tx: Tx, thread_id: str, message_ids: Sequence[str]) -> str:
        inbox_id = inboxes.owner_of(tx, "thread", self._call.organization_id, thread_id)
        if inbox_id is None:  # or it went with messages that were named beside it
            return CHANGED if message_ids else NOT_FOUND
        if not self._reaches(inbox_id):
            return DENIED
        return CHANGED if CHANGED in {self._change(tx, one) for one in message_ids} else UNCHANGED

    def _change(self, tx: Tx, message_id: str) -> str:
        message = messages.get(tx, self._call.organization_id, message_id)
        if message is None:
            return NOT_FOUND
        if not self._reaches(message.inbox_id):
            return DENIED
        if not self._body.delete:
            is_changed = labelling.change(
                tx, self._told, message, self._body.addLabels, self._body.removeLabels
            )
            return CHANGED if is_changed else UNCHANGED
        file = remove(tx, self._call, message, self.forgotten.get(message_id, 0))
        self.files += [file] if file is not None else []
        return CHANGED

    def _reaches(self, inbox_id: str) -> bool:
        try:
            self._call.principal.confine(inbox_id)
        except Refusal:
            return False
        return True
