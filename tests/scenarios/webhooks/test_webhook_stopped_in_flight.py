"""SIGTERM while requests are under way: what can finish does, the rest is given back untried."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from conf.tuning import HttpTuning, Tuning
from tests.conftest import Start
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import START_MS, ScriptedPoster, WebhookWorld

SLOW, QUICK = "https://slow.test/", "https://quick.test/"


async def test_stop_gives_leases_back_and_the_same_attempt_follows(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    release = poster.hold(SLOW)
    await world.webhook(SLOW)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    dispatcher.wake()
    await poster.posted_count(1, SLOW)
    await dispatcher.stop()
    assert await world.states() == [("pending", 0, START_MS, None)]
    assert await world.attempts() == []

    release.set()
    await dispatcher.start()
    await world.settled(dispatcher)
    assert len(poster.delivery_ids(SLOW)) == 2
    assert len(set(poster.delivery_ids(SLOW))) == 1
    assert await world.states() == [("succeeded", 1, None, None)]
    await dispatcher.stop()
    await world.db.close()


async def test_what_ends_in_time_is_recorded(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    release = poster.hold(QUICK)
    await world.webhook(QUICK)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    dispatcher.wake()
    await poster.posted_count(1, QUICK)
    stopping = asyncio.create_task(dispatcher.stop())
    release.set()
    await stopping
    assert await world.states() == [("succeeded", 1, None, None)]
    await world.db.close()


async def test_who_waits_for_an_endpoint_that_hangs_holds_the_end_up_for_so_long_and_no_longer(
    start: Start, tmp_path: Path
) -> None:
    async with WebhookSink(tmp_path) as sink:
        maild = await start(
            webhooks={"allow_private_networks": True, "ca_file": str(sink.ca_file)},
            tuning=Tuning(http=HttpTuning(shutdown_s=0.5)),
        )
        sink.always("/hook", Reply(hold=asyncio.Event()))
        webhook = (await maild.api.post("/v1/webhooks", {"url": sink.url("/hook", "127.0.0.1")})).data
        ping = asyncio.create_task(maild.api.call("POST", f"/v1/webhooks/{webhook['id']}/test"))
        await sink.received_count(1)
        assert not ping.done()
        await maild.daemon.stop()
        # The endpoint would have been given up later, with an answer: nobody waited for that.
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await ping
