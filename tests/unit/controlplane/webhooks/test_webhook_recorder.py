"""Attempts that end together are recorded together (controlplane/webhooks/recorder.py)."""

import asyncio

from conf.tuning import WebhookTuning
from storage.engine.tx import Tx
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.webhook_world import ScriptedPoster, WebhookWorld

URL, OTHER = "https://sink.test/hook", "https://other.test/hook"


async def test_a_record_that_the_store_refuses_holds_up_its_own_place_alone(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    refused, taken = await world.webhook(URL), await world.webhook(OTHER)
    await world.db.write(_refuse, refused.id)
    answers = [poster.hold(URL), poster.hold(OTHER)]
    dispatcher = world.dispatcher(poster, tuning=WebhookTuning(drain_s=0.05, store_retry_s=GIVES_UP_S * 2))
    await dispatcher.start()
    await world.event()
    dispatcher.wake()
    await poster.posted_count(2)

    for answer in answers:  # both end in the same turn of the loop
        answer.set()
    await _recorded(world, 1)
    assert [one.webhook_id for one in await world.attempts()] == [taken.id]
    await dispatcher.stop()


def _refuse(tx: Tx, webhook_id: str) -> None:
    tx.run(
        f"""CREATE TRIGGER refusing BEFORE INSERT ON webhook_attempts WHEN new.webhook_id = '{webhook_id}'
            BEGIN SELECT raise(ABORT, 'refused'); END"""
    )


async def _recorded(world: WebhookWorld, count: int) -> None:
    async with asyncio.timeout(GIVES_UP_S):
        while len(await world.attempts()) < count:
            await asyncio.sleep(0)
