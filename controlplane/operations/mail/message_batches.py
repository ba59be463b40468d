"""Many messages in one request: their labels, or their end.

All are looked at first, so what can't be done is refused before anything was changed. Then they are changed in slices
of some milliseconds, between which others write: one message may have hundreds of events, of 50 KiB each. One slice at
a time stands in the line of what is to be written, and organizations that change many messages take turns at them.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from controlplane.contract.mail.messages import ChangeMessages
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.mail import labelling
from controlplane.operations.mail.messages import remove, spare_live_schedule
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.engine.tx import Tx
from storage.mail import inboxes, messages
from storage.records import MessageRow

# Of a batch with those of its threads: what is looked at before, and to delete takes longer.
MESSAGES_MAX = 500
DELETED_MAX = 200
SLICE_S = 0.008
CHANGED, UNCHANGED, NOT_FOUND, DENIED = "changed", "unchanged", "not_found", "inbox_access_denied"


async def change_messages(call: Call) -> Result:
    if call.input.delete:
        call.principal.require("messages:send")
    batch = _Batch(call)
    await call.read(batch.look)
    while batch.is_left:
        async with call.services.batch_turns.turn(call.organization_id):
            changed = await call.db.write_apart(batch.change_some)
        batch.note(changed)
        for file in changed.files:
            await asyncio.to_thread(call.services.blobs.remove, file)
    return Result([{"id": one, "result": result} for one, result in batch.results().items()])


@dataclass
class _Slice:
    """What one slice does. `results`: of messages; `files`: blobs whose files are to be removed once it is committed;
    `forgotten`: the event up to which the words of the next message are gone."""

    forgotten: int
    results: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


class _Batch:
    """One run of it."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._body: ChangeMessages = call.input
        self._told = call.services.changes()
        self._left: list[str] = []
        self._forgotten = 0
        self._threads: dict[str, Sequence[str]] = {}
        self._of_threads: dict[str, str] = {}
        self._of_messages: dict[str, str] = {}

    @property
    def is_left(self) -> bool:
        """Is there something to be changed still?"""
        return bool(self._left)

    def look(self, tx: Tx) -> None:
        """See what is named. Refusal where something can't be done."""
        self._threads = {one: self._of_thread(tx, one) for one in dict.fromkeys(self._body.threadIds)}
        most = DELETED_MAX if self._body.delete else MESSAGES_MAX
        if len(self._body.ids) + sum(map(len, self._threads.values())) > most:
            text = (
                f"That is more than {most} messages with those of the threads; name messages in 'ids' instead"
            )
            raise invalid([Fault("threadIds", "too_many", text)])
        for thread_id in self._threads:
            self._look_at_thread(tx, thread_id)
        reached = (one for message_ids in self._threads.values() for one in message_ids)
        self._left = list(dict.fromkeys([*self._body.ids, *reached]))
        for message_id in self._left:
            message = messages.get(tx, self._call.organization_id, message_id)
            if message is not None and self._reaches(message.inbox_id):
                self._refuse(message)

    def change_some(self, tx: Tx) -> _Slice:
        """Change the next ones, until the slice is over."""
        some, is_over = _Slice(self._forgotten), self._call.services.clock.ends_in(SLICE_S)
        for message_id in self._left:
            result = self._change(tx, message_id, some, is_over)
            if result is None:
                break
            some.results[message_id], some.forgotten = result, 0
            if is_over():
                break
        return some

    def note(self, changed: _Slice) -> None:
        """The slice is committed."""
        self._of_messages |= changed.results
        self._left = self._left[len(changed.results) :]
        self._forgotten = changed.forgotten

    def results(self) -> dict[str, str]:
        """Id → result, of messages first."""
        of_messages = {one: self._of_messages[one] for one in self._body.ids}
        return {**of_messages, **{one: self._result_of_thread(one) for one in self._threads}}

    def _of_thread(self, tx: Tx, thread_id: str) -> Sequence[str]:
        return messages.ids_of_thread(tx, self._call.organization_id, thread_id, MESSAGES_MAX + 1)

    def _look_at_thread(self, tx: Tx, thread_id: str) -> None:
        inbox_id = inboxes.owner_of(tx, "thread", self._call.organization_id, thread_id)
        if inbox_id is None:
            self._of_threads[thread_id] = NOT_FOUND
        elif not self._reaches(inbox_id):
            self._of_threads[thread_id] = DENIED
            self._threads[thread_id] = ()

    def _result_of_thread(self, thread_id: str) -> str:
        if thread_id in self._of_threads:
            return self._of_threads[thread_id]
        is_changed = any(self._of_messages[one] == CHANGED for one in self._threads[thread_id])
        return CHANGED if is_changed else UNCHANGED

    def _refuse(self, message: MessageRow) -> None:
        if self._body.delete:
            spare_live_schedule(self._call, message)
        else:
            labelling.changed(message, self._body.addLabels, self._body.removeLabels)

    def _change(self, tx: Tx, message_id: str, some: _Slice, is_over: Callable[[], bool]) -> str | None:
        """The result; None where the slice was over before."""
        message = messages.get(tx, self._call.organization_id, message_id)
        if message is None:
            return NOT_FOUND
        if not self._reaches(message.inbox_id):
            return DENIED
        if not self._body.delete:
            added, removed = self._body.addLabels, self._body.removeLabels
            is_changed = labelling.change(tx, self._told, message, added, removed)
            return CHANGED if is_changed else UNCHANGED
        if not self._forget(tx, message_id, some, is_over):
            return None
        file = remove(tx, self._call, message, some.forgotten)
        some.files += [file] if file is not None else []
        return CHANGED

    def _forget(self, tx: Tx, message_id: str, some: _Slice, is_over: Callable[[], bool]) -> bool:
        """Take the message's words from its events, which may be many; was that all?"""
        while (last := messages.forget_some_words(tx, message_id, some.forgotten)) is not None:
            some.forgotten = last
            if is_over():
                return False
        return True

    def _reaches(self, inbox_id: str) -> bool:
        try:
            self._call.principal.confine(inbox_id)
        except Refusal:
            return False
        return True
