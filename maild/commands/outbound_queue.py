"""The outbound queue in the operator's hands: what waits there, how its attempts went, and its switch. What is done to
what waits (`queue_changes.py`) the API does as well."""

from collections.abc import Callable, Iterator
from typing import Any

from controlplane.mail import attempts
from controlplane.mail.attempts import Attempts
from controlplane.operations.sending.operator_queue import queue_state, shown_recipient
from maild.commands.queue_changes import QueueChanges
from maild.commands.store_commands import StoreCommands
from storage import switches
from storage.agents import reviews
from storage.audit.acts import OPERATOR, Act
from storage.engine.tx import Tx
from storage.sending import message_outcomes, queue_selection
from storage.sending.queue_selection import FoundForChange, QueueChange, QueueSelection
from storage.tenants import organizations

DROPPING_S = 0.02  # in one transaction: with a rest as long a drop has the store for half of the time at most

Progress = Callable[[str, int], None]


def _to_nobody(_verb: str, _recipients: int) -> None:
    pass


class QueueCommands(StoreCommands):
    """KeyError names what does not exist."""

    def pause(self) -> dict[str, Any]:
        """Nothing enters or leaves the outbound queue from now on; `show`, and `changed`: it did before."""

        def unit(tx: Tx) -> bool:
            changed = switches.turn_off(tx, switches.QUEUE, self._clock.now_ms())
            self._record(tx, Act.QUEUE_PAUSED)
            return changed

        return {"changed": self._run(unit), **self.show()}

    def resume(self) -> dict[str, Any]:
        """`show`, and `changed`: it was paused."""

        def unit(tx: Tx) -> bool:
            changed = switches.turn_on(tx, switches.QUEUE)
            self._record(tx, Act.QUEUE_RESUMED)
            return changed

        return {"changed": self._run(unit), **self.show()}

    def show(self) -> dict[str, Any]:
        """As `GET /v1/operator/queue` has it."""
        return self._look(queue_state)

    def waiting(self, selection: QueueSelection, limit: int) -> list[dict[str, Any]]:
        """What waits, held ones first, then by the time of the next attempt."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            _require(tx, selection)
            return [shown_recipient(one) for one in queue_selection.listed(tx, selection, limit)]

        return self._look(unit)

    def attempts(self, message_id: str) -> dict[str, Any]:
        """`{"status", "reviewId", "attempts"}`: every attempt to deliver a message, oldest first, as the API shows
        them; where there is none, the message's status tells why. `reviewId`: of the review for which it is held."""

        def unit(tx: Tx) -> dict[str, Any]:
            message = message_outcomes.summary(tx, message_id)
            if message is None:
                raise KeyError(f"message {message_id}")
            found = Attempts.of(tx, message.organization_id, message_id, message.mode == "live")
            review = reviews.of_message(tx, message.organization_id, message_id)
            return {
                "status": message.status,
                "reviewId": review.id if review is not None and message.status == "held" else None,
                "attempts": attempts.shown(tx, found, found.rows),
            }

        return self._look(unit)

    def change(self, verb: str, selection: QueueSelection, progress: Progress = _to_nobody) -> int:
        """retry, hold, release or drop; how many recipients. What is dropped is held first, so that it does not leave
        meanwhile: killed in between, it waits. `progress` hears after each transaction what is done to them, and to how
        many it was."""
        counts = [self._change_all(step, selection, progress) for step in queue_selection.STEPS[verb]]
        return counts[-1]

    def _change_all(self, verb: str, selection: QueueSelection, progress: Progress) -> int:
        def find(tx: Tx) -> FoundForChange:
            _require(tx, selection)
            return queue_selection.found(tx, verb, selection, self._clock.now_ms())

        total, found = 0, FoundForChange((), is_all=False)
        while not found.is_all:
            found = self._look(find)
            for part in found.parts:
                is_last = found.is_all and part is found.parts[-1]
                for changed in self._change_part(verb, part, is_last=is_last):
                    total += changed
                    progress(verb, total)
        return total

    def _change_part(self, verb: str, part: QueueSelection, *, is_last: bool) -> Iterator[int]:
        """The daemon writes in between: it has the store for at least as long as this has."""

        def unit(tx: Tx) -> QueueChange:
            changes = QueueChanges(self._clock, self._ids.new, self._audit, DROPPING_S)
            return changes.change(tx, verb, part, OPERATOR, organizations.own(tx))

        change = QueueChange(0, has_more=True)
        while change.has_more:
            began = self._clock.monotonic()
            change = self._run(unit)
            yield change.recipients
            if change.has_more or not is_last:
                self._rest_since(began)

    def count_leased(self, selection: QueueSelection) -> int:
        """How many recipients are being delivered at the moment."""
        return self._look(lambda tx: queue_selection.leased(tx, selection))

    def _record(self, tx: Tx, act: Act) -> None:
        own = organizations.own(tx)
        if own is not None:
            self._audit.record(tx, own, act, OPERATOR)


def _require(tx: Tx, selection: QueueSelection) -> None:
    """A name that is misspelt is not taken for a queue that is empty."""
    if selection.organization_id is not None and organizations.get(tx, selection.organization_id) is None:
        raise KeyError(f"organization {selection.organization_id}")
    if selection.message_id is not None and message_outcomes.summary(tx, selection.message_id) is None:
        raise KeyError(f"message {selection.message_id}")
