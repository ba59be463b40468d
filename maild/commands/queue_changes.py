"""What the operator does to what waits in the outbound queue, from the command line or over HTTP."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import groupby

from maild import outcomes
from maild.message.reports import bounces
from maild.outcomes import NewId, OutcomeContext, Verdict
from storage import queue_selection
from storage.audit.acts import Act, Actor
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.queue_selection import QueueChange, QueueSelection

DROPPED = Verdict("failed", None, None, bounces.TAKEN_OUT, failure="dropped")


class QueueChanges:
    """Units of work by their verb: some milliseconds each, for they hold up everybody's mail."""

    def __init__(self, clock: Clock, new_id: NewId, audit: Records) -> None:
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
        """`verb`: retry, hold, release or drop. `organization_id`: in whose audit log it stands that the actor did
        it."""
        now_ms = self._clock.now_ms()
        if verb == "drop":
            changed, at_once = self._drop(tx, selection, actor, now_ms), queue_selection.OUTCOMES_AT_ONCE
        else:
            changed, at_once = self._units[verb](tx, selection, now_ms), queue_selection.ROWS_AT_ONCE
        if changed and organization_id is not None:
            told = {"verb": verb, "recipients": changed, **_selected(selection)}
            self._audit.record(tx, organization_id, Act.QUEUE_CHANGED, actor, selection.message_id, told)
        return QueueChange(changed, has_more=changed == at_once)

    def _drop(self, tx: Tx, selection: QueueSelection, actor: Actor, now_ms: int) -> int:
        """Some of them fail for good, with all that follows from that."""
        rows = queue_selection.some(tx, selection)
        for organization_id, count in Counter(row.organization_id for row in rows).items():
            told = {"recipients": count}
            self._audit.record(tx, organization_id, Act.QUEUE_DROPPED, actor, selection.message_id, told)
        context = OutcomeContext(self._new_id, self._audit, now_ms)
        for _, group in groupby(sorted(rows), key=lambda row: row.message_id):
            of_message = [row._replace(attempts=row.attempts + 1) for row in group]
            verdicts = {row.position: DROPPED for row in of_message}
            outcomes.record(tx, of_message, verdicts, context, duration_ms=0)
        return len(rows)


def _selected(selection: QueueSelection) -> dict[str, str]:
    named = {"organizationId": selection.organization_id, "destination": selection.destination}
    return {name: value for name, value in named.items() if value is not None}
