"""The outbound queue of the whole host in its operator's hands. These operations alone reach beyond the caller's
organization; `contract/scopes.py` says who holds their scope.
"""

from typing import Any

from controlplane.operations.operation import Call, Run
from controlplane.operations.results import Result
from storage import switches
from storage.audit.acts import Act
from storage.clock import iso, iso_or_none
from storage.engine.tx import Tx
from storage.sending import outbound, queue_selection
from storage.sending.queue_selection import (
    STEPS,
    DestinationLine,
    FoundForChange,
    QueueChange,
    QueueSelection,
    Waiting,
)

DESTINATIONS = 20
CHANGED_MAX = 10_000  # by one call, so that no client waits for minutes


async def show_queue(call: Call) -> Result:
    return Result(await call.read(queue_state))


async def list_queue(call: Call) -> Result:
    query = call.input
    selection = QueueSelection(query.messageId, query.organizationId, query.destination, query.isHeld)
    return Result(await call.read(_listed, selection, query.limit))


async def pause_queue(call: Call) -> Result:
    await call.db.write(_pause, call)
    return Result(await call.read(queue_state))


async def resume_queue(call: Call) -> Result:
    await call.db.write(_resume, call)
    call.services.wake_queue()
    return Result(await call.read(queue_state))


def _pause(tx: Tx, call: Call) -> None:
    switches.turn_off(tx, switches.QUEUE, call.services.clock.now_ms())
    call.record(tx, Act.QUEUE_PAUSED)


def _resume(tx: Tx, call: Call) -> None:
    switches.turn_on(tx, switches.QUEUE)
    call.record(tx, Act.QUEUE_RESUMED)


def changing(verb: str) -> Run:
    """The operation that does so to what is selected (`ChangeQueue`)."""

    async def run(call: Call) -> Result:
        given = call.input
        selection = QueueSelection(given.messageId, given.organizationId, given.destination)
        *before, last = STEPS[verb]
        for step in before:
            await _change(call, step, selection, at_most=None)
        total, has_more = await _change(call, last, selection, CHANGED_MAX)
        call.services.wake_queue()
        return Result({"recipients": total, "more": has_more})

    return run


async def _change(call: Call, step: str, selection: QueueSelection, at_most: int | None) -> tuple[int, bool]:
    """How many recipients, and whether there may be more."""
    total, found = 0, FoundForChange((), is_all=False)
    while not found.is_all:
        found = await call.read(queue_selection.found, step, selection, call.services.clock.now_ms())
        for part in found.parts:
            if at_most is not None and total >= at_most:
                return total, True
            total += await _change_part(call, step, part)
    return total, False


async def _change_part(call: Call, step: str, part: QueueSelection) -> int:
    total, change = 0, QueueChange(0, has_more=True)
    while change.has_more:
        change = await call.db.write(
            call.services.change_queue, step, part, call.principal.actor, call.organization_id
        )
        total += change.recipients
    return total


def queue_state(tx: Tx) -> dict[str, Any]:
    """How many recipients wait or are being delivered, since when nothing has been (null: it runs), where most wait."""
    return {
        "waiting": outbound.depth(tx),
        "pausedSince": iso_or_none(switches.off_since(tx, switches.QUEUE)),
        "destinations": [shown_destination(one) for one in queue_selection.lines(tx, DESTINATIONS)],
    }


def _listed(tx: Tx, selection: QueueSelection, limit: int) -> list[dict[str, Any]]:
    return [shown_recipient(one) for one in queue_selection.listed(tx, selection, limit)]


def shown_destination(one: DestinationLine) -> dict[str, Any]:
    """As the API and `maild queue show` have it."""
    return {
        "destination": one.destination,
        "waiting": one.waiting,
        "held": one.held,
        "firstDueAt": iso_or_none(one.first_due_at),
    }


def shown_recipient(one: Waiting) -> dict[str, Any]:
    """As the API and `maild queue list` have it."""
    return {
        "messageId": one.message_id,
        "organizationId": one.organization_id,
        "address": one.address,
        "destination": one.destination,
        "status": "held" if one.next_attempt_at is None else one.status,
        "attempts": one.attempts,
        "lastAttemptAt": iso_or_none(one.last_attempt_at),
        "nextAttemptAt": iso_or_none(one.next_attempt_at),
        "expiresAt": iso(one.expires_at),
        "smtpCode": one.smtp_code,
        "enhancedCode": one.enhanced_code,
        "response": one.response,
    }
