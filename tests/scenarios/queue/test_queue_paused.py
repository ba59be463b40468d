"""The operator stops all outgoing mail, and lets it go on: nothing enters, nothing leaves, nothing is lost."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from conf.tuning import QueueTuning, Tuning
from controlplane.sending.preparing import Preparation
from controlplane.sending.scheduler import Scheduler
from controlplane.sending.writing.composing import Letter
from storage.clock import iso
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock


def wake(maild: Running) -> None:
    """As the look-outs do by themselves every two seconds."""
    for service in maild.daemon._supervisor._services:
        if service.name in ("outbound queue", "scheduler"):
            service.wake()  # type: ignore[attr-defined]


async def test_nothing_leaves_until_the_queue_is_resumed(start: Start) -> None:
    clock = ManualClock(1_795_219_200_000)
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        maild = await start(
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, "first_retry_s": 60},
        )
        bot = await maild.inbox("bot")
        mx.script["RCPT"] = ["451 4.7.1 later"]
        deferred = (await maild.api.send(bot, subject="deferred")).data
        await status_of(maild, deferred, "queued", "deferred")
        later = (await maild.api.send(bot, subject="later", sendAt=iso(clock.at_ms + 60_000))).data

        await maild.operate(maild.store.queue.pause)
        refused = await maild.api.send(bot)
        assert (refused.status, refused.code) == (503, "provider_unavailable")
        assert (await maild.test_api.send(bot)).code == "provider_unavailable"
        clock.forward(3600)
        wake(maild)
        assert (await maild.received(bot, "Subject: comes in\n\n"))["subject"] == "comes in"
        assert mx.received == []
        assert (await maild.api.get(f"/v1/messages/{later['id']}")).data["status"] == "scheduled"

        await maild.operate(maild.store.queue.resume)
        wake(maild)
        for message in (deferred, later):
            await status_of(maild, message, "delivered", "delivered")
        assert len(mx.received) == 2
        assert (await maild.api.send(bot)).status == 201


async def test_a_send_that_is_being_composed_when_it_is_paused_is_refused(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    compose = Preparation.compose

    async def paused_meanwhile(self: Preparation, letter: Letter) -> Any:
        await maild.operate(maild.store.queue.pause)
        return await compose(self, letter)

    monkeypatch.setattr(Preparation, "compose", paused_meanwhile)
    refused = await maild.api.send(await maild.inbox("bot"))
    assert (refused.status, refused.code) == (503, "provider_unavailable")
    assert maild.sql("SELECT 1 FROM messages") == []


async def test_what_is_due_when_it_is_paused_stays_scheduled(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(1_795_219_200_000)
    maild = await start(clock=clock)
    later = (await maild.api.send(await maild.inbox("bot"), sendAt=iso(clock.at_ms + 60_000))).data
    dispatch, dispatched = Scheduler._dispatch_all, asyncio.Event()

    async def paused_meanwhile(self: Scheduler, message_ids: Sequence[str]) -> bool:
        await maild.operate(maild.store.queue.pause)
        try:
            return await dispatch(self, message_ids)
        finally:
            dispatched.set()

    monkeypatch.setattr(Scheduler, "_dispatch_all", paused_meanwhile)
    clock.forward(61)
    wake(maild)
    async with asyncio.timeout(GIVES_UP_S):
        await dispatched.wait()
    assert (await maild.api.get(f"/v1/messages/{later['id']}")).data["status"] == "scheduled"


async def test_what_is_approved_when_it_is_paused_stays_held(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await Held.make(maild)
    message = await held.held()
    refuse_when_full = Preparation.refuse_when_full

    async def paused_meanwhile(self: Preparation) -> None:
        await refuse_when_full(self)
        await maild.operate(maild.store.queue.pause)

    monkeypatch.setattr(Preparation, "refuse_when_full", paused_meanwhile)
    answer = await held.approve(message)
    assert (answer.status, answer.code) == (503, "provider_unavailable")
    assert (await held.message(message))["status"] == "held"


async def test_what_stands_in_line_waits_too(start: Start) -> None:
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        mx.hold["dot"] = asyncio.Event()
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={
                "port": mx.port, "allow_private_networks": True, "max_connections_per_destination": 1
            },
            tuning=Tuning(queue=QueueTuning(paused_look_s=0.01)),
        )  # fmt: skip
        bot = await maild.inbox("bot")
        sent = [(await maild.api.send(bot, subject=f"{number}")).data for number in range(4)]
        await mx.until("dot")
        await until(leased(maild, len(sent)))

        await maild.operate(maild.store.queue.pause)
        mx.hold["dot"].set()
        await status_of(maild, sent[0], "delivered", "delivered")  # it was between dot and 250
        await until(leased(maild, 0))
        assert len(mx.received) == 1
        assert maild.sql("SELECT DISTINCT attempts FROM recipients WHERE status = 'queued'") == [(0,)]

        await maild.operate(maild.store.queue.resume)  # and nobody wakes the queue
        for message in sent:
            await status_of(maild, message, "delivered", "delivered")
        assert len(mx.received) == 4


def leased(maild: Running, count: int) -> Callable[[], Awaitable[bool | None]]:
    async def look() -> bool | None:
        return (
            True
            if maild.sql("SELECT count(*) FROM recipients WHERE lease IS NOT NULL") == [(count,)]
            else None
        )

    return look


async def status_of(maild: Running, message: dict[str, Any], status: str, recipient: str) -> None:
    async def look() -> bool | None:
        found = (await maild.api.get(f"/v1/messages/{message['id']}")).data
        seen = (found["status"], *(one["status"] for one in found["recipients"]))
        return True if seen == (status, recipient) else None

    await until(look)
