"""Looking for what webhooks wait for costs others little, however many webhooks wait."""

import asyncio
import threading
from typing import Any

import pytest

from controlplane.webhooks import dispatcher as dispatching
from controlplane.webhooks import look_out
from controlplane.webhooks.look_out import Look, rest_after
from controlplane.webhooks.slots import InFlight, SlotLimits, SlowStart
from storage.publishing import webhooks
from tests.support.worlds.webhook_world import START_MS, ScriptedPoster, WebhookWorld

URL = "https://sink.test/hook"


@pytest.mark.parametrize(
    ("cost_s", "rest_s"), [(0.0, 0.0), (0.002, 0.0), (0.01, 0.04), (0.2, 0.8), (3.0, 1.0)]
)
def test_a_long_look_is_followed_by_a_longer_rest(cost_s: float, rest_s: float) -> None:
    assert rest_after(cost_s) == pytest.approx(rest_s)


async def test_a_look_tells_who_begins_whose_they_are_and_when_more_is_due(world: WebhookWorld) -> None:
    await world.organization("org_2")
    mine, theirs = await world.webhook(URL), await world.webhook("https://b.test/", organization_id="org_2")
    await world.event()
    await world.event(organization_id="org_2")
    busy = InFlight()
    busy.begin(theirs.id, "org_2")
    seen = await world.db.read(look_out.look, START_MS, SlotLimits(2, 1), busy, SlowStart(1))
    assert (seen.begin, seen.owners, seen.next_due_ms) == ({mine.id: 1}, {mine.id: "org_1"}, None)
    assert {head.webhook_id for head in seen.heads} == {mine.id, theirs.id}
    assert (seen.to_halt, seen.rest_s) == ([], 0.0)


async def test_what_waits_for_a_webhook_that_went_asks_for_no_slot(world: WebhookWorld) -> None:
    webhook = await world.webhook(URL)
    await world.event()
    await world.db.write(webhooks.delete, "org_1", webhook.id, START_MS)
    seen = await world.db.read(look_out.look, START_MS, SlotLimits(2, 1), InFlight(), SlowStart(1))
    assert (seen.to_halt, seen.heads, seen.begin) == ([webhook.id], [], {})


async def test_a_look_is_beside_the_event_loop_and_none_is_made_while_it_rests(
    world: WebhookWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def long_look(*args: Any) -> Look:
        looks.append(threading.get_ident())
        return look_out.look(*args)._replace(rest_s=60.0)

    monkeypatch.setattr(dispatching, "look", long_look)
    poster = ScriptedPoster()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await world.event()
    await dispatcher.start()
    await poster.posted_count(1)
    for _ in range(20):
        dispatcher.wake()
        await asyncio.sleep(0)
    assert len(looks) == 1 and looks[0] != threading.get_ident()
    await dispatcher.stop()
