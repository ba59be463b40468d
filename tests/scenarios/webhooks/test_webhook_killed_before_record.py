"""The process dies between the POST and its record: the attempt comes again under the same ids."""

import asyncio
from pathlib import Path

from controlplane.egress.client import Egress, OnSent, nobody_waits
from controlplane.egress.http1 import HttpResponse
from tests.support.peers.webhook_sink import WebhookSink
from tests.support.worlds.webhook_world import START_MS, WebhookWorld, egress_to


async def test_the_same_attempt_is_repeated_after_a_restart(tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink)
        await egress.start()
        await world.webhook(sink.url())
        await world.event()

        # The first run posts, and its answer never becomes a record.
        first = _PostsAndHangs(egress)
        killed = world.dispatcher(first)
        await killed.start()
        await sink.received_count(1)
        assert await world.attempts() == []

        # The next run frees the lease, and waits until the first attempt must be over.
        second = world.dispatcher(egress)
        await second.start()
        await world.settled(second)
        assert len(sink.received) == 1
        assert await world.states() == [("pending", 0, START_MS + 10_000, None)]
        world.clock.advance(10)
        await world.settled(second)

        before, after = sink.received
        assert before.delivery_id == after.delivery_id
        assert before.headers["x-svc-attempt"] == after.headers["x-svc-attempt"] == "1"
        assert before.body == after.body
        (record,) = await world.attempts()
        assert (record.id, record.attempt, record.is_successful) == (after.delivery_id, 1, 1)
        for part in (second, killed, egress):
            await part.stop()
    await world.db.close()


class _PostsAndHangs:
    """The request leaves and is answered; the process gets no further."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress

    async def post(
        self, url: str, body: bytes, headers: dict[str, str], on_sent: OnSent = nobody_waits
    ) -> HttpResponse:
        await self._egress.post(url, body, headers)
        await asyncio.Event().wait()
        raise AssertionError("never woken")
