"""One endpoint's requests leave in the order of its events, though several may wait for their answers at once.

Without it a new connection's handshake would let the next event, on a connection that is open, overtake.
"""

import asyncio


class Turn:
    """A place in the line of one endpoint: `come`, send, `pass_on`."""

    def __init__(self, line: "dict[str, Turn]", webhook_id: str) -> None:
        self._line = line
        self._webhook_id = webhook_id
        self._before = line.get(webhook_id)
        self._is_over = asyncio.Event()
        line[webhook_id] = self

    async def come(self) -> None:
        """Return when the one before has sent its request, or given up."""
        if self._before is not None:
            await self._before._is_over.wait()
            self._before = None

    def pass_on(self) -> None:
        """The request is on its way, or won't be: the next may send. Idempotent."""
        self._is_over.set()
        if self._line.get(self._webhook_id) is self:
            del self._line[self._webhook_id]


class SendOrder:
    """The lines of all endpoints; what is leased takes its turn in the order of the leases."""

    def __init__(self) -> None:
        self._line: dict[str, Turn] = {}

    def take(self, webhook_id: str) -> Turn:
        return Turn(self._line, webhook_id)

    def none(self) -> Turn:
        """For what stands in no line."""
        return Turn({}, "")
