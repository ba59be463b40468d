"""An endpoint answers 410, or 429 with Retry-After: over at once, as with every 4xx (the contract, section 6)."""

from pathlib import Path

import pytest

from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import WebhookWorld, egress_to


@pytest.mark.parametrize("status", [410, 429])
async def test_it_is_never_tried_again_whatever_retry_after_says(status: int, tmp_path: Path) -> None:
    world = await WebhookWorld.open(tmp_path)
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink)
        await egress.start()
        sink.script("/hook", Reply(status, {"Retry-After": "1"}, b"no more"))
        await world.webhook(sink.url())
        dispatcher = world.dispatcher(egress)
        await dispatcher.start()
        await world.event()
        await world.settled(dispatcher)
        world.clock.advance(86_400)
        await world.settled(dispatcher)

        (record,) = await world.attempts()
        assert (record.response_status, record.response_body, record.is_successful) == (status, "no more", 0)
        assert (record.error, record.next_attempt_at) == (
            f"the endpoint answered {status}, which is final",
            None,
        )
        assert await world.states() == [("failed", 1, None, None)]
        assert len(sink.received) == 1

        # The webhook itself goes on: the next event is called as if nothing had been.
        await world.event()
        await world.settled(dispatcher)
        assert [one.is_successful for one in await world.attempts()] == [0, 1]
        await dispatcher.stop()
        await egress.stop()
    await world.db.close()
