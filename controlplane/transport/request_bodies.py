"""Bodies of requests: how much of them may be in memory, and how many are worked on at a time.

- One account of bytes for all of HTTP (storage.byte_account), held by organizations and, where they are known, by
  addresses. A body is counted piece by piece as it comes, so a client that trickles holds what it has sent and no
  more; what was announced and could not fit is refused before it is read. All of it is given back when the operation
  is done.
- Beyond `LARGE_BYTES` the loop takes one piece of one body in each of its rounds, in turns of their owners: forty
  clients with a megabyte in flight each would else hold up all others for as long as all of it takes to copy.
- An operation's row says how long its body may be; a client that announces more is refused before it sends.
- What is read in a millisecond or few is parsed on the loop, all else in a thread.
- A body costs several times its size while it is parsed, decoded, composed and read back. So only `LARGE_AT_ONCE` of
  the large ones are worked on at a time; the rest wait as octets, and are called fairly (storage/turns/work_turns.py).
  Peak memory is the account and `LARGE_AT_ONCE` times four of the largest bodies.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol

from aiohttp import HttpVersion11, web

from conf.settings import Http
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.operations.operation import JSON, Operation
from controlplane.transport.reading import read_body
from controlplane.transport.request_headers import media_type
from storage.byte_account import ByteAccount
from storage.turns.cpu_threads import CpuThreads
from storage.turns.work_turns import WorkTurns

PIECE_BYTES = 64 * 1024  # of a body, as it comes; twice as much may wait
LARGE_BYTES = 256 * 1024  # more is parsed in a thread, in its turn
AT_ONCE_BYTES = 32 * 1024  # more takes some milliseconds, and sixteen requests begin in one round
FOREIGN_ADDRESSES_AT_ONCE = 4
LARGE_AT_ONCE = 2
RETRY_AFTER_S = 2


class ClientLeft(ConnectionError):
    """The client hung up before its turn came; nothing was begun."""


class TakesBody(Protocol):
    """What a body is for, as far as it says how long that may be."""

    @property
    def body_bytes_max(self) -> int: ...


class RequestBodies:
    """Reads bodies for all of HTTP: one account of their bytes, and one line of the large ones."""

    def __init__(self, settings: Http, cpu: CpuThreads) -> None:
        self.cpu = cpu
        self.account = ByteAccount(settings.max_bytes_in_flight)
        self.turns = WorkTurns(LARGE_AT_ONCE)
        self.pieces = WorkTurns(1)

    @property
    def held_bytes(self) -> int:
        return self.account.held_bytes

    @property
    def is_memory_scarce(self) -> bool:
        """Have all bodies together half of what they may, or more?"""
        return self.account.is_half_used

    def body(self, operation: Operation, request: web.Request, holders: Sequence[str]) -> "ParsedBody":
        """The operation's model of the body; a large one has its turn until the block ends."""
        assert operation.body is not None
        return ParsedBody(self, operation, request, holders, partial(read_body, operation.body))

    def parsed(
        self,
        taker: TakesBody,
        request: web.Request,
        holders: Sequence[str],
        parse: Callable[[bytearray], Any],
    ) -> "ParsedBody":
        """What `parse` makes of the JSON body; it may empty what it is given."""
        return ParsedBody(self, taker, request, holders, parse)

    def octets(self, taker: TakesBody, request: web.Request, holders: Sequence[str]) -> "BodyOctets":
        """The whole body, as long as it may be; counted until the block ends."""
        return BodyOctets(self, taker, request, holders)


# Classes, since a generator for each layer costs a request as much as all that they do.
class BodyOctets:
    """The octets of a body, for an `async with`."""

    def __init__(
        self, bodies: RequestBodies, taker: TakesBody, request: web.Request, holders: Sequence[str]
    ) -> None:
        self._bodies = bodies
        self._taker = taker
        self._request = request
        self._holders = holders
        self._held = 0
        self._octets = bytearray()

    async def __aenter__(self) -> Any:
        """A bytearray."""
        try:
            return await self._read()
        except BaseException:
            self._give_back()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._give_back()

    async def _read(self) -> bytearray:
        request, account = self._request, self._bodies.account
        announced = request.content_length
        if announced:
            if announced > self._taker.body_bytes_max:
                raise _too_large(self._taker, announced)
            if not account.has_room(announced, *self._holders):  # held is what has come
                raise _no_room()
        await continue_if_expected(request)
        request.content.set_read_chunk_size(PIECE_BYTES)
        while not request.content.at_eof():
            piece = await request.content.readany()
            if self._held + len(piece) > self._taker.body_bytes_max:
                raise _too_large(self._taker, announced)
            if not account.take(len(piece), *self._holders):
                raise _no_room()
            self._held += len(piece)
            self._octets += piece
            if self._held > LARGE_BYTES:
                async with self._bodies.pieces.turn(self._holders[0]):
                    await asyncio.sleep(0)
        return self._octets

    def _give_back(self) -> None:
        self._bodies.account.give(self._held, *self._holders)
        self._held = 0
        # Where the reader of aiohttp has raised, it knows the exception, which knows this: a circle.
        self._octets = bytearray()


class ParsedBody(BodyOctets):
    """What `parse` makes of them."""

    def __init__(
        self,
        bodies: RequestBodies,
        taker: TakesBody,
        request: web.Request,
        holders: Sequence[str],
        parse: Callable[[bytearray], Any],
    ) -> None:
        super().__init__(bodies, taker, request, holders)
        self._parse = parse
        self._turn: AbstractAsyncContextManager[None] | None = None

    async def __aenter__(self) -> Any:
        try:
            _check_coding(self._request)
            raw = await self._read()
            if raw and media_type(self._request) != JSON:
                raise Refusal("unsupported_media_type")
            if len(raw) > LARGE_BYTES:
                return await self._parsed_in_turn(raw)
            return self._parse(raw) if _is_quick(raw) else await self._parsed_apart(raw)
        except BaseException:
            await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        if self._turn is not None:
            await self._turn.__aexit__(None, None, None)
        self._give_back()

    async def _parsed_in_turn(self, raw: bytearray) -> Any:
        turn = self._bodies.turns.turn(self._holders[0])
        await turn.__aenter__()
        self._turn = turn
        _check_presence(self._request)
        return await self._parsed_apart(raw)

    async def _parsed_apart(self, raw: bytearray) -> Any:
        return await self._bodies.cpu.run(self._holders[0], partial(self._parse, raw))


def _is_quick(raw: bytearray) -> bool:
    """Is it read in a millisecond or few? An address whose domain is not ASCII takes one by itself, as does its A-label
    form."""
    if len(raw) > AT_ONCE_BYTES:
        return False
    is_plain = raw.isascii() and b"\\u" not in raw and b"xn--" not in raw.lower()
    return is_plain or raw.count(b"@") + raw.count(b"\\u0040") <= FOREIGN_ADDRESSES_AT_ONCE


async def refuse_body(request: web.Request) -> None:
    """For endpoints that take none; it is not read."""
    if request.content_length or (request.can_read_body and await request.content.readany()):
        raise invalid([Fault("", "unexpected_body", "This endpoint takes no body")])


async def expect(request: web.Request) -> None:
    """What a route does about Expect (RFC 9110 §10.1.1). The 100 itself is sent when the body is wanted: a client that
    is refused sends none."""
    if request.version >= HttpVersion11 and not expects_continue(request):
        raise Refusal("expectation_failed")


async def continue_if_expected(request: web.Request) -> None:
    """RFC 9110 §10.1.1: a client that asked is told that the body is wanted."""
    if request.version >= HttpVersion11 and expects_continue(request):
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer itself has not begun


def expects_continue(request: web.Request) -> bool:
    return request.headers.get("Expect", "").strip().lower() == "100-continue"


def _check_coding(request: web.Request) -> None:
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refusal("unsupported_media_type", "Send the body uncompressed.")


def _check_presence(request: web.Request) -> None:
    """Work for a client that hung up while it waited is useless."""
    if request.transport is None or request.transport.is_closing():
        raise ClientLeft


def _no_room() -> Refusal:
    return Refusal(
        "provider_unavailable",
        "Too many bytes of requests are in transit; try again later.",
        retry_after_s=RETRY_AFTER_S,
    )


def _too_large(taker: TakesBody, announced: int | None) -> Refusal:
    limit = taker.body_bytes_max
    details = {"sizeBytes": announced, "limit": limit}  # nobody knows how long a chunked body would become
    return Refusal("payload_too_large", f"The body of this request may have {limit} bytes.", details)
