"""A webhook is deleted or deactivated while deliveries wait: they halt at once, each with a last record."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from conf.tuning import WebhookTuning
from controlplane.egress.http1 import HttpResponse
from controlplane.webhooks import halting
from controlplane.webhooks.halting import Halter
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.publishing.webhooks import LeasedDelivery
from storage.records import WebhookAttempt
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.webhook_world import ScriptedPoster, WebhookWorld

URL = "https://failing.test/"


@pytest.mark.parametrize("how", ["deleted", "deactivated"])
async def test_pending_retries_halt(tmp_path: Path, how: str) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(503, b"")
    webhook = await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    for _ in range(3):
        await world.event()
    await world.settled(dispatcher)
    assert len(poster.posted) == 3

    # Half a minute before the retries are due.
    world.clock.advance(1)
    if how == "deleted":
        await world.db.write(webhooks.delete, "org_1", webhook.id, world.clock.ms)
    else:
        await world.db.write(webhooks.update, "org_1", webhook.id, world.clock.ms, is_active=False)
    await world.settled(dispatcher)

    assert len(poster.posted) == 3
    assert [state[0] for state in await world.states()] == ["halted"] * 3
    last = (await world.attempts())[3:]
    assert [record.error for record in last] == [f"the webhook was {how}; retries halted"] * 3
    for record in last:
        assert (record.attempt, record.is_successful, record.response_status) == (2, 0, None)
        assert (record.request_headers, record.next_attempt_at) == ("{}", None)
    world.clock.advance(86_400)
    await world.settled(dispatcher)
    assert len(await world.attempts()) == 6
    await dispatcher.stop()
    await world.db.close()


async def test_many_are_halted_at_a_time_and_hold_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one a hundred thousand took the dispatcher two minutes, and as much of the event loop."""
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    webhook = await world.webhook(URL)
    for _ in range(5):
        await world.event()
    await world.db.write(webhooks.delete, "org_1", webhook.id, world.clock.ms)
    halt, slices = webhooks.halt, list[int]()

    def noted(tx: Tx, deliveries: Sequence[LeasedDelivery], records: Sequence[WebhookAttempt]) -> None:
        slices.append(len(deliveries))
        halt(tx, deliveries, records)

    def no_place(*_: object) -> None:
        raise AssertionError("what is halted takes a slot")

    monkeypatch.setattr(webhooks, "halt", noted)
    monkeypatch.setattr(webhooks, "settle", no_place)
    monkeypatch.setattr(halting, "AT_ONCE", 2)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.settled(dispatcher)
    assert slices == [2, 2, 1]
    assert [state[0] for state in await world.states()] == ["halted"] * 5
    assert len(await world.attempts()) == 5
    await dispatcher.stop()
    await world.db.close()


async def test_the_end_waits_for_what_is_being_halted_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where many webhooks went, it took all the time that requests in flight have."""
    world = await WebhookWorld.open(tmp_path)
    gone = [await world.webhook(URL) for _ in range(3)]
    await world.event()
    for webhook in gone:
        await world.db.write(webhooks.delete, "org_1", webhook.id, world.clock.ms)
    dispatcher = world.dispatcher(ScriptedPoster(), tuning=WebhookTuning(drain_s=GIVES_UP_S))
    begun, stopping = asyncio.Event(), list[asyncio.Task[None]]()
    halt = Halter.halt

    async def ended_meanwhile(halter: Halter, webhook_id: str) -> None:
        stopping.append(asyncio.create_task(dispatcher.stop()))
        begun.set()
        await halt(halter, webhook_id)

    monkeypatch.setattr(Halter, "halt", ended_meanwhile)
    await dispatcher.start()
    await begun.wait()
    await asyncio.gather(*stopping)
    assert sorted(state[0] for state in await world.states()) == ["halted", "pending", "pending"]
    await world.db.close()


async def test_at_most_what_was_in_flight_is_sent_after_a_delete(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(503, b"")
    release = poster.hold(URL)
    webhook = await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    dispatcher.wake()
    await poster.posted_count(1, URL)
    await world.db.write(webhooks.delete, "org_1", webhook.id, world.clock.ms)
    release.set()
    await world.settled(dispatcher)
    assert len(poster.posted) == 1
    assert [record.attempt for record in await world.attempts()] == [1, 2]
    assert [state[0] for state in await world.states()] == ["halted"]
    await dispatcher.stop()
    await world.db.close()
