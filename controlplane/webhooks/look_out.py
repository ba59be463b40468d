"""A look at what waits for webhooks, and who may begin of it: beside the event loop, and the rarer the longer it takes.

A look reads a row for each webhook that has something pending, also where that is a retry in an hour. Each commit of an
event and each end of an attempt wakes the dispatcher, so with thousands of such webhooks it would do nothing but look.
"""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from controlplane.webhooks.slots import InFlight, SlotLimits, SlowStart, assign_slots
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.publishing.webhooks import Head

QUICK_S = 0.002
RESTS = 4  # a long look is followed by so many times its length: it takes a fifth of a core at most
REST_MAX_S = 1.0


class Look(NamedTuple):
    """`heads`: what is due. `begin`: webhook id → attempts to begin, at most; `owners`: their organizations. `to_halt`:
    webhooks that went, and for which something waits. `next_due_ms`: when to look again, or None; what waits for a slot
    has no time, for it is looked at when an attempt ends. `rest_s`: how long no look is due after this one, whatever
    wakes the dispatcher."""

    heads: Sequence[Head]
    begin: Mapping[str, int]
    owners: Mapping[str, str]
    to_halt: Sequence[str]
    next_due_ms: int | None
    rest_s: float


def look(tx: Tx, now_ms: int, slots: SlotLimits, in_flight: InFlight, slow_start: SlowStart) -> Look:
    """A unit of a reader's thread. `in_flight` is the caller's copy; `slow_start`, which changes meanwhile, is asked
    for single webhooks alone."""
    begun_s = time.thread_time()
    found, next_due_ms = webhooks.heads(tx, now_ms)
    heads = [head for head in found if not head.is_to_halt]
    to_halt = [head.webhook_id for head in found if head.is_to_halt]
    begin = assign_slots(heads, slots, in_flight, slow_start)
    owners = {head.webhook_id: head.organization_id for head in heads if head.webhook_id in begin}
    return Look(heads, begin, owners, to_halt, next_due_ms, rest_after(time.thread_time() - begun_s))


def rest_after(cost_s: float) -> float:
    """The rest after a look that cost so many seconds of CPU."""
    return 0.0 if cost_s <= QUICK_S else min(RESTS * cost_s, REST_MAX_S)
