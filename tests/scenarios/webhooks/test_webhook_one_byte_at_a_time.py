"""An endpoint that trickles its answer: no byte that comes extends the deadline, and neighbours don't wait."""

from pathlib import Path

import pytest

from conf.settings import Webhooks
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import WebhookWorld, egress_to

DRIP_S = 0.002  # the head takes a twelfth of the deadline, all of it twenty times as long
HEAD = b"HTTP/1.1 200 OK\r\nX-Padding: " + b"a" * 8000


@pytest.mark.parametrize(
    ("reply", "status"), [(Reply(raw=HEAD, drip_s=DRIP_S), None), (Reply(body=b"x", drip_s=DRIP_S), 200)]
)
async def test_the_deadline_holds(tmp_path: Path, reply: Reply, status: int | None) -> None:
    world = await WebhookWorld.open(tmp_path)
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink, timeout_s=1)
        await egress.start()
        sink.always("/drips", reply)
        await world.webhook(sink.url("/drips"))
        await world.webhook(sink.url("/healthy"), ("email.sent",))
        dispatcher = world.dispatcher(egress, Webhooks(timeout_s=1))
        await dispatcher.start()
        await world.event()
        dispatcher.wake()
        await sink.received_count(1, "/drips")
        await world.event(type="email.sent", data={})
        dispatcher.wake()
        await sink.received_count(1, "/healthy")

        await world.settled(dispatcher)
        drips = [one for one in await world.attempts() if one.event_type == "email.received"]
        assert [one.error for one in drips] == ["timeout: no whole answer within 1 s"]
        assert [one.response_status for one in drips] == [status]
        await dispatcher.stop()
        await egress.stop()
    await world.db.close()
