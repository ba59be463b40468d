"""An endpoint that never answers, with a long backlog, beside a healthy one."""

import asyncio
from pathlib import Path

import pytest

from conf.settings import Webhooks
from controlplane.egress.http1 import HttpResponse
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import ScriptedPoster, WebhookWorld, egress_to


async def test_an_endpoint_that_hangs_from_the_start_holds_one_place(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink)
        await egress.start()
        sink.always("/hangs", Reply(hold=asyncio.Event()))
        await world.organization("org_2")
        await world.webhook(sink.url("/hangs"))
        await world.webhook(sink.url("/healthy"), organization_id="org_2")
        for _ in range(100):
            await world.event()
        dispatcher = world.dispatcher(egress, Webhooks(max_concurrent=6))
        await dispatcher.start()
        await sink.received_count(1, "/hangs")

        for count in range(1, 31):
            await world.event("org_2")
            dispatcher.wake()
            await sink.received_count(count, "/healthy")
        assert len(await sink.received_count(1, "/hangs")) == 1
        await dispatcher.stop()
        await egress.stop()
    await world.db.close()


async def test_one_that_comes_to_hang_holds_its_own_places_only(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    await world.webhook("https://hangs.test/")
    await world.webhook("https://healthy.test/", ("email.sent",))
    dispatcher = world.dispatcher(poster, Webhooks(max_concurrent=20))
    await dispatcher.start()
    for _ in range(10):
        await world.event()
    await world.settled(dispatcher)
    poster.hold("https://hangs.test/")
    for _ in range(10):
        await world.event()
    dispatcher.wake()
    await poster.posted_count(10 + 5, "https://hangs.test/")
    for count in range(1, 11):
        await world.event(type="email.sent", data={})
        dispatcher.wake()
        await poster.posted_count(count, "https://healthy.test/")
    assert poster.most_at_once["https://hangs.test/"] == 5
    assert len(poster.delivery_ids("https://hangs.test/")) == 10 + 5
    await dispatcher.stop()
    await world.db.close()


async def test_many_hanging_endpoints_of_one_organization(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    for number in range(20):
        poster.hold(f"https://hangs{number}.test/")
        await world.webhook(f"https://hangs{number}.test/")
    for _ in range(10):
        await world.event()
    await world.organization("org_2")
    await world.webhook("https://healthy.test/", organization_id="org_2")
    dispatcher = world.dispatcher(poster, Webhooks(max_concurrent=10))
    await dispatcher.start()
    await world.event("org_2")
    dispatcher.wake()
    await poster.posted_count(1, "https://healthy.test/")
    assert poster.most_at_once["all"] <= 6
    await dispatcher.stop()
    await world.db.close()


@pytest.mark.parametrize("healthy_in", ["org_1", "org_3"])
async def test_those_that_failed_leave_places_to_those_that_did_not(tmp_path: Path, healthy_in: str) -> None:
    """However many hang, in their own organization and in all."""
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    for organization_id in ("org_2", "org_3"):
        await world.organization(organization_id)
    hanging = [f"https://hangs{number}.test/" for number in range(20)]
    for number, url in enumerate(hanging):
        poster.answers[url] = HttpResponse(503, b"")
        await world.webhook(url, organization_id=f"org_{number % 2 + 1}")
    await world.webhook("https://healthy.test/", ("email.sent",), organization_id=healthy_in)
    dispatcher = world.dispatcher(poster, Webhooks(max_concurrent=10))
    await dispatcher.start()
    for organization_id in ("org_1", "org_2"):
        await world.event(organization_id)
    await world.settled(dispatcher)

    for url in hanging:
        poster.hold(url)
    world.clock.advance(30)
    dispatcher.wake()
    await poster.posted_count(len(hanging) + 4)
    for count in range(1, 4):
        await world.event(healthy_in, type="email.sent", data={})
        dispatcher.wake()
        await poster.posted_count(count, "https://healthy.test/")
    assert len(poster.posted) == len(hanging) + 4 + 3
    await dispatcher.stop()
    await world.db.close()
