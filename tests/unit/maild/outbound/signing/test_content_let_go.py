"""A message is in memory for as long as its room is held (maild/outbound/delivery.py), however its delivery ends.

What has ended must not wait for the collector of cycles: on a quiet host that comes hours later.
"""

import asyncio
import gc
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from maild.outbound.sessions.pipelining import PipeliningProtocol
from maild.outbound.signing.content import Content
from maild.outbound.signing.wire import StoredWire
from tests.support.running import until_true
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import RAW

pytestmark = pytest.mark.usefixtures("no_collector")

LARGE = RAW + (b"y" * 76 + b"\r\n") * 4000
DEAD = "127.0.1.77"  # nobody listens there


def in_memory() -> int:
    return sum(isinstance(one, Content) and len(one.wire) > len(LARGE) for one in gc.get_objects())


async def nothing_is_held_once(sending: Sending, status: str, raw: bytes = LARGE) -> None:
    await sending.queue.start()
    await sending.until(await sending.send("you@there.test", raw=raw), status)

    await until_true(lambda: in_memory() == 0)


@pytest.mark.parametrize("extensions", [["PIPELINING"], []])
@pytest.mark.parametrize("drop_at", ["", "greeting", "EHLO", "MAIL", "DATA", "dot"])
async def test_a_host_that_hangs_up(tmp_path: Path, drop_at: str, extensions: list[str]) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", DEAD if not drop_at else "127.0.0.1")
        sending.mx.drop_at = drop_at
        sending.mx.extensions = extensions
        await nothing_is_held_once(sending, "deferred")


async def test_a_host_that_hangs_up_in_the_message(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.cut_at = [100_000]
        await nothing_is_held_once(sending, "deferred", LARGE * 15)


async def test_a_host_that_hangs_up_between_two_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, ended = StoredWire.pieces, PipeliningProtocol.connection_lost
    is_lost, waited = asyncio.Event(), list[int]()

    def connection_lost(self: PipeliningProtocol, error: Exception | None) -> None:
        ended(self, error)
        is_lost.set()

    async def pieces(self: StoredWire) -> AsyncGenerator[bytes]:
        async for piece in whole(self):
            yield piece
            await is_lost.wait()
            waited.append(len(piece))

    monkeypatch.setattr(PipeliningProtocol, "connection_lost", connection_lost)
    monkeypatch.setattr(StoredWire, "pieces", pieces)
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.cut_at = [100]
        await nothing_is_held_once(sending, "deferred", LARGE * 15)
        assert len(waited) == 1


async def test_a_host_that_hangs_up_when_it_is_told_to_forget(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT"] = "451 4.3.0 later"
        sending.mx.drop_at = "RSET"
        await nothing_is_held_once(sending, "deferred")


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "dot"])
@pytest.mark.parametrize("said", ["451 4.3.0 later", "421 4.3.2 going down"])
async def test_a_host_that_wants_it_later(tmp_path: Path, stage: str, said: str) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always[stage] = said
        await nothing_is_held_once(sending, "deferred")


async def test_a_host_that_takes_it(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await nothing_is_held_once(sending, "delivered")
