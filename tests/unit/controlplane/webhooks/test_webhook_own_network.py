"""This host's own network is away for a day: no endpoint is at fault, so its events wait, and none is given up."""

import json

from controlplane.egress.client import EgressCutOff
from controlplane.egress.http1 import HttpResponse
from storage.publishing import webhooks
from tests.support.worlds.webhook_world import START_MS, ScriptedPoster, WebhookWorld

URL = "https://sink.test/hook"
DAY_S = 86_400


async def test_no_attempt_counts_and_all_are_told_in_their_order(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = EgressCutOff()
    await world.webhook(URL)
    sent = [await world.event() for _ in range(3)]
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    for _ in range(10):  # more than there are attempts
        await poster.posted_count(len(poster.posted) + 1)
        world.clock.advance(DAY_S / 10)
    assert await world.attempts() == []
    assert {state for state, *_ in await world.states()} == {"pending"}

    poster.answers[URL] = HttpResponse(200, b"ok")
    await world.settled(dispatcher)
    await dispatcher.stop()
    assert list(dict.fromkeys(json.loads(body)["id"] for _, body, _ in poster.posted)) == sent
    assert [(one.attempt, one.is_successful) for one in await world.attempts()] == [(1, 1)] * 3


async def test_a_retry_waits_as_the_same_attempt(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(503, b"later")
    await world.webhook(URL)
    await world.event()
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.settled(dispatcher)
    poster.answers[URL] = EgressCutOff()
    world.clock.advance(31)
    dispatcher.wake()
    await poster.posted_count(5)
    poster.answers[URL] = HttpResponse(200, b"ok")
    await world.settled(dispatcher)
    await dispatcher.stop()
    assert [(one.attempt, one.response_status) for one in await world.attempts()] == [(1, 503), (2, 200)]
    assert len({headers["X-Svc-Delivery"] for _, _, headers in poster.posted}) == 2


async def test_a_stop_in_between_costs_no_attempt(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = EgressCutOff()
    await world.webhook(URL)
    await world.event()
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await poster.posted_count(2)
    await dispatcher.stop()
    assert await world.states() == [("pending", 0, START_MS, None)]


async def test_who_deactivates_the_webhook_meanwhile_ends_it(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = EgressCutOff()
    webhook = await world.webhook(URL)
    await world.event()
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await poster.posted_count(2)
    await world.db.write(webhooks.update, "org_1", webhook.id, START_MS, is_active=False)
    await world.settled(dispatcher)
    await dispatcher.stop()
    assert [state for state, *_ in await world.states()] == ["halted"]


async def test_who_asks_for_it_hears_why_it_was_not_called(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(400, b"no")
    await world.webhook(URL)
    await world.event()
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.settled(dispatcher)
    (failed,) = await world.attempts()
    poster.answers[URL] = EgressCutOff()
    record = await dispatcher.redeliver(world.db, "org_1", failed.id)
    await dispatcher.stop()
    assert (record.attempt, record.error) == (2, "not called: this host's own network is away")
