"""An endpoint that redirects to the cloud's metadata service: a failed attempt, never followed."""

from pathlib import Path

import pytest

from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import WebhookWorld, egress_to


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_redirect_is_a_failed_attempt(tmp_path: Path, status: int) -> None:
    world = await WebhookWorld.open(tmp_path)
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink)
        await egress.start()
        sink.script("/hook", Reply(status, {"Location": "http://169.254.169.254/latest/meta-data/"}))
        await world.webhook(sink.url())
        dispatcher = world.dispatcher(egress)
        await dispatcher.start()
        await world.event()
        await world.settled(dispatcher)
        (record,) = await world.attempts()
        assert (record.response_status, record.is_successful) == (status, 0)
        assert record.error == f"the endpoint answered {status}; redirects are not followed"
        assert record.next_attempt_at is not None
        world.clock.advance(30)
        await world.settled(dispatcher)
        assert [one.headers["x-svc-attempt"] for one in sink.received] == ["1", "2"]
        assert (await world.attempts())[-1].is_successful
        await dispatcher.stop()
        await egress.stop()
    await world.db.close()
