"""Figures of a month of mail, which cost in proportion to it: counted beside the pages, and kept for a while.

A page shows what was counted last, and has it counted anew where that is older than FRESH_S. Who comes first waits for
WAIT_S at most, and is shown the page without them. Organizations are counted one after another, in their own turn of
the readers (`controlplane/mail/analytics.py`).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import structlog

from controlplane.access.principal import Principal
from storage.clock import Clock
from storage.service import Enduring, LoopService

FRESH_S = 60.0
WAIT_S = 1.0
KEPT_MAX = 200  # organizations

log = structlog.get_logger("maild.api")

Figures = Mapping[str, Any]
Count = Callable[[Principal], Awaitable[Figures]]


class CountedFigures(NamedTuple):
    """`at_s`: when, by the monotonic clock."""

    at_s: float
    figures: Figures


class KeptFigures(LoopService):
    """`count`: what a member of the organization may ask of operations."""

    name = "console figures"

    def __init__(self, clock: Clock, count: Count) -> None:
        super().__init__()
        self._clock = clock
        self._count = count
        self._kept: OrderedDict[str, CountedFigures] = OrderedDict()
        self._asked: OrderedDict[str, Principal] = OrderedDict()
        self._news = asyncio.Condition()

    async def of(self, principal: Principal) -> Figures | None:
        """Those of the principal's organization, as they were counted last; None: it takes longer than a page waits."""
        owner = principal.organization_id
        kept = self._kept.get(owner)
        if kept is None or self._clock.monotonic() - kept.at_s >= FRESH_S:
            self._asked[owner] = principal
            self.wake()
        if kept is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT_S), self._news:
                    await self._news.wait_for(lambda: owner in self._kept)
            kept = self._kept.get(owner)
        return None if kept is None else kept.figures

    async def run(self) -> None:
        while True:
            while self._asked:
                owner, principal = self._asked.popitem(last=False)
                with Enduring(log, "console_figures_failed", organization_id=owner):
                    await self._take(owner, principal)
            await self.pause(None)

    async def _take(self, owner: str, principal: Principal) -> None:
        figures = await self._count(principal)
        self._kept[owner] = CountedFigures(self._clock.monotonic(), figures)
        self._kept.move_to_end(owner)
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
        async with self._news:
            self._news.notify_all()
