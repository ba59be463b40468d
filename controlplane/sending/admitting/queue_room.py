"""How many recipients the queue may still take, also within a burst.

The store is asked at most once in RECHECK_MS, since it counts rows, and senders wait for that; once in FAR_RECHECK_MS
while what was admitted since is little of the room that there was. In between this process counts what it admits.
A place is taken before the message is composed and given back when its transaction is over, so sends that race
can't all see the last one. What was admitted while the store was being asked may count twice until the next look.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from controlplane.contract.refusals import Refusal
from storage.clock import Clock
from storage.engine.database import Database
from storage.sending import outbound

RECHECK_MS = 1000
FAR_RECHECK_MS = 10_000
LITTLE = 0.1  # of the room
RETRY_AFTER_S = 10  # where the queue or the disk is full: what leaves or is removed makes room


@dataclass
class QueueSlot:
    """A number of recipients, which are in the queue once `is_taken` is set."""

    recipients: int
    is_taken: bool = False


class QueueRoom:
    """How many recipients fit, by a look at the store that is not old and what was let in since."""

    def __init__(self, db: Database, clock: Clock, limit: int) -> None:
        self._db = db
        self._clock = clock
        self._limit = limit
        self._depth = 0
        self._looked_at_ms: int | None = None
        self._admitted = 0  # since that look
        self._held = 0  # by sends under way
        self._looking = asyncio.Lock()

    async def look(self) -> None:
        """Ask the store, if it is time to; callers that come meanwhile wait for the same answer."""
        if self._is_known():
            return
        async with self._looking:
            if self._is_known():
                return
            # What is known now was committed before the store is asked.
            now_ms, known = self._clock.now_ms(), self._admitted
            self._depth = await self._db.read(outbound.depth)
            self._admitted -= known
            self._looked_at_ms = now_ms

    def _is_known(self) -> bool:
        if self._looked_at_ms is None:
            return False
        is_far = self._admitted + self._held <= LITTLE * (self._limit - self._depth)
        age_ms = abs(self._clock.now_ms() - self._looked_at_ms)
        return age_ms < (FAR_RECHECK_MS if is_far else RECHECK_MS)

    def refuse(self, recipients: int) -> None:
        """Refusal when there is no room for this many recipients (0: none enters the queue yet)."""
        if self._depth + self._admitted + self._held + max(recipients, 1) > self._limit:
            text = "The sending queue is full; try again later."
            raise Refusal("provider_unavailable", text, retry_after_s=RETRY_AFTER_S)

    @contextmanager
    def place(self, recipients: int) -> Iterator[QueueSlot]:
        """Room for this many recipients (0: none enters the queue yet). Refusal when the queue is full."""
        self.refuse(recipients)
        place = QueueSlot(recipients)
        self._held += recipients
        try:
            yield place
        except Exception:
            raise
        except BaseException:  # cancelled: its transaction may be promised to the writer
            place.is_taken = True
            raise
        finally:
            self._held -= recipients
            if place.is_taken:
                self._admitted += recipients
