"""What the operator does to what waits in the outbound queue, from the command line or over HTTP."""

from collections import Counter
from collections.abc import Callable, Mapping

from maild.outcomes import dropped
from maild.outcomes.outcome_context import NewId
from storage.audit.acts import Act, Actor
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.sending import queue_selection
from storage.sending.queue_selection import QueueChange, QueueSelection

DROPPING_S = 0.005


class QueueChanges:
    """Units of work by their verb: some milliseconds each, for they hold up everybody's mail. `dropping_s`: how long
    one goes on to drop; what it has begun it ends."""

    def __init__(self, clock: Clock, new_id: NewId, audit: Records, dropping_s: float = DROPPING_S) -> None:
        self._dropping_s = dropping_s
        self._audit = audit
        self._clock = clock
        self._new_id = new_id
        self._units: Mapping[str, Callable[[Tx, QueueSelection, int], int]] = {
            "retry": queue_selection.retry,
            "hold": queue_selection.hold,
            "release": queue_selection.release,
        }

    def change(
        self, tx: Tx, verb: str, selection: QueueSelection, actor: Actor, organization_id: str | None
    ) -> QueueChange:
        """`verb`: retry, hold, release or drop. `selection`: a part (`queue_selection.found`). `organization_id`: in
        whose audit log it stands that the actor did it."""
        now_ms = self._clock.now_ms()
        has_more = False
        if verb == "drop":
            changed, has_more = self._drop(tx, selection, actor, now_ms)
        else:
            changed = self._units[verb](tx, selection, now_ms)
        if changed and organization_id is not None:
            told = {"verb": verb, "recipients": changed, **_selected(selection)}
            self._audit.record(tx, organization_id, Act.QUEUE_CHANGED, actor, selection.message_id, told)
        return QueueChange(changed, has_more)

    def _drop(self, tx: Tx, selection: QueueSelection, actor: Actor, now_ms: int) -> tuple[int, bool]:
        """Some of them fail for good, with all that follows from that; how many, and whether there may be more."""
        until = self._clock.monotonic() + self._dropping_s
        counts: Counter[str] = Counter()
        has_more, is_time = True, True
        while has_more and is_time:
            rows = queue_selection.some(tx, selection)
            dropped.record(tx, rows, self._new_id, now_ms)
            counts.update(row.organization_id for row in rows)
            has_more = len(rows) == queue_selection.OUTCOMES_AT_ONCE
            is_time = self._clock.monotonic() < until
        for organization_id, count in counts.items():
            told = {"recipients": count}
            self._audit.record(tx, organization_id, Act.QUEUE_DROPPED, actor, selection.message_id, told)
        return counts.total(), has_more


def _selected(selection: QueueSelection) -> dict[str, str]:
    named = {"organizationId": selection.organization_id, "destination": selection.destination}
    return {name: value for name, value in named.items() if value is not None}
