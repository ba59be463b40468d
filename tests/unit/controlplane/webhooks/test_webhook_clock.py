"""The clock was ahead for a while, by 40 days: no event waits for 40 days."""

import pytest

from controlplane.egress.http1 import HttpResponse
from storage.clock import DAY_MS
from storage.publishing import webhooks
from tests.support.worlds.webhook_world import START_MS, ScriptedPoster, WebhookWorld

URL = "https://sink.test/hook"
AHEAD_S = 40 * DAY_MS // 1000


@pytest.mark.parametrize("restarts", [True, False])
async def test_what_was_put_off_then_is_called_again(world: WebhookWorld, restarts: bool) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(503, b"later")
    await world.webhook(URL)
    world.clock.advance(AHEAD_S)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    await world.settled(dispatcher)
    ((state, attempts, due_ms, _),) = await world.states()
    assert (state, attempts) == ("pending", 1) and due_ms > START_MS + AHEAD_S * 1000

    world.clock.set_back(AHEAD_S)
    poster.answers[URL] = HttpResponse(200, b"ok")
    if restarts:
        await dispatcher.stop()
        dispatcher = world.dispatcher(poster)
        await dispatcher.start()
    dispatcher.wake()
    await poster.posted_count(2)
    await world.settled(dispatcher)
    assert await world.states() == [("succeeded", 2, None, None)]
    await dispatcher.stop()


async def test_what_was_published_then_is_told(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.webhook(URL)
    world.clock.advance(AHEAD_S)
    await world.event()
    world.clock.set_back(AHEAD_S)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await poster.posted_count(1)
    await dispatcher.stop()


async def test_a_retry_that_waits_as_it_should_is_left_alone(world: WebhookWorld) -> None:
    await world.webhook(URL)
    await world.event()
    assert await world.db.read(webhooks.ahead, START_MS) == []
    assert len(await world.db.read(webhooks.ahead, START_MS - 1)) == 1
