"""The process dies while it delivers once more on request: the same attempt comes again, under the same ids."""

import asyncio
from contextlib import suppress
from pathlib import Path

from controlplane.egress.http1 import HttpResponse
from tests.support.worlds.webhook_world import ScriptedPoster, WebhookWorld

URL = "https://slow.test/"


async def test_the_redelivery_is_finished_by_the_next_run(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    await world.webhook(URL)
    killed = world.dispatcher(poster)
    await killed.start()
    await world.event()
    await world.settled(killed)
    (record,) = await world.attempts()
    poster.hold(URL)
    asked = asyncio.create_task(killed.redeliver(world.db, "org_1", record.id))
    await poster.posted_count(2, URL)

    second_poster = ScriptedPoster()
    second_poster.answers[URL] = HttpResponse(200, b"")
    second = world.dispatcher(second_poster)
    await second.start()  # frees what the first one holds
    await world.settled(second)
    assert second_poster.posted == []  # not before the first request must be over
    world.clock.advance(10)
    await world.settled(second)
    assert second_poster.delivery_ids(URL) == poster.delivery_ids(URL)[1:]
    assert [(one.attempt, one.is_successful) for one in await world.attempts()] == [(1, 1), (2, 1)]

    # Had the first one lived on, its record would find no lease to settle.
    poster.held[URL].set()
    with suppress(asyncio.CancelledError):
        await asked
    assert len(await world.attempts()) == 2
    for part in (second, killed):
        await part.stop()
    await world.db.close()
