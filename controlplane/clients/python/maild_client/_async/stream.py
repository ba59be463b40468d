"""Events as they happen. A stream that breaks off goes on where it was."""

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from types import TracebackType
from typing import Self, cast

import httpx2

from maild_client import _wire
from maild_client._async.transport import AsyncTransport
from maild_client._wire import Call
from maild_client.errors import ConnectionFailed, EventsGap, MaildError
from maild_client.types import Event

HEARTBEATS_S = 60  # the server sends a comment every 15 seconds
log = logging.getLogger("maild_client")


class AsyncEventStream:
    """`async for event in stream`: for ever. At least once, in the order of their commits; dedupe on `id`.

    EventsGap where events are missing; the same stream then goes on with those that are kept.
    """

    def __init__(self, transport: AsyncTransport, call: Call) -> None:
        self._transport = transport
        self._call = replace(call, wait_s=HEARTBEATS_S)
        self._answer: httpx2.Response | None = None
        self._told: AsyncIterator[httpx2.ServerSentEvent] | None = None
        self._has_begun = False
        self._failures = 0
        self._left = 0  # so many times

    def __aiter__(self) -> "AsyncListening":
        return AsyncListening(self, self._left)

    async def __anext__(self) -> Event:
        return await self.next_until(self._left)

    async def next_until(self, left: int) -> Event:
        """The next event, where the stream was left so many times and is not meanwhile."""
        while left == self._left:
            try:
                told = await anext(await self._connection())
            except (StopAsyncIteration, httpx2.RequestError, MaildError) as fault:
                if left == self._left:
                    await self._broken(fault)
                continue
            self._has_begun = True
            if told.id:
                self._call = self._call.with_headers(Last_Event_ID=told.id)
            if told.event == "gap":
                raise EventsGap("events are missing, they are not kept any more: read the lists anew")
            if told.data:  # an id may come without an event
                self._failures = 0
                return cast(Event, json.loads(told.data))
        await self._disconnect()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Leave the stream, and end the loop that another task is in; asked again, it goes on where it was."""
        self._left += 1
        await self._disconnect()

    async def _disconnect(self) -> None:
        answer, self._answer, self._told = self._answer, None, None
        if answer is not None:
            await self._transport.let_go(answer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _connection(self) -> AsyncIterator[httpx2.ServerSentEvent]:
        if self._told is None:
            self._answer = await self._transport.opened(self._call)
            self._told = aiter(httpx2.EventSource(self._answer))
        return self._told

    async def _broken(self, fault: Exception) -> None:
        """Wait before the next connection, where there may be one. Who never had a stream is told why."""
        await self._disconnect()
        if isinstance(fault, MaildError) and not (self._has_begun and fault.is_passing):
            raise fault
        if not self._has_begun:
            raise ConnectionFailed(f"what answered is no event stream ({fault})")
        pause_s = _wire.long_pause_s(fault, self._failures, self._transport.chance())
        self._failures += 1
        log.info("the event stream ended (%s); again in %.1f s", type(fault).__name__, pause_s)
        await self._transport.pause(pause_s)


class AsyncListening:
    """One loop over a stream. It ends when the stream is left, also while it is busy with an event."""

    def __init__(self, stream: AsyncEventStream, left: int) -> None:
        self._stream = stream
        self._left = left

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        return await self._stream.next_until(self._left)
