"""One endpoint's events leave in their order, however many may be unanswered (controlplane/webhooks/send_order.py)."""

import asyncio
import json

from conf.tuning import WebhookTuning
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.webhook_world import ScriptedPoster, WebhookWorld

URL, OTHER = "https://sink.test/hook", "https://other.test/hook"


def ids(poster: ScriptedPoster, url: str = URL) -> list[str]:
    return [json.loads(body)["id"] for to, body, _ in poster.posted if to == url]


async def connecting(poster: ScriptedPoster) -> None:
    """Return when all that `connects` holds up has begun."""
    async with asyncio.timeout(GIVES_UP_S):
        while poster.connects:
            await asyncio.sleep(0)


async def test_a_slow_handshake_is_not_overtaken(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    first = await world.event()
    await world.settled(dispatcher)  # it earned a second slot

    answer, handshake = poster.hold(URL), asyncio.Event()
    poster.connects.append(handshake)
    more = [await world.event() for _ in range(3)]
    dispatcher.wake()
    await connecting(poster)
    for _ in range(50):  # whoever could overtake has the time to
        await asyncio.sleep(0)
    assert ids(poster) == [first]
    handshake.set()
    await poster.posted_count(3, URL)  # two unanswered at once
    answer.set()
    await world.settled(dispatcher)
    assert ids(poster) == [first, *more]
    await dispatcher.stop()


async def test_one_that_hangs_before_it_sends_keeps_its_own_line_alone(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    handshake = asyncio.Event()
    poster.connects.append(handshake)
    await world.event()
    dispatcher.wake()
    await connecting(poster)
    await world.webhook(OTHER)
    await world.event()
    dispatcher.wake()
    await poster.posted_count(1, OTHER)
    assert ids(poster) == []
    handshake.set()
    await world.settled(dispatcher)
    assert len(ids(poster)) == 2
    await dispatcher.stop()


async def test_a_line_is_open_again_after_a_stop(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster, tuning=WebhookTuning(drain_s=0))
    await dispatcher.start()
    poster.connects.append(asyncio.Event())  # never
    await world.event()
    dispatcher.wake()
    await connecting(poster)
    await dispatcher.stop()
    world.clock.advance(60)
    await dispatcher.start()
    await world.settled(dispatcher)
    assert len(ids(poster)) == 1
    await dispatcher.stop()
