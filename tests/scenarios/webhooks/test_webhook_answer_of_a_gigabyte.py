"""An endpoint answers with a gigabyte: what is read, kept and waited for stays small."""

from pathlib import Path

import pytest

from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import WebhookWorld, egress_to

GIGABYTE = 1 << 30
READ_MAX = 16 << 20  # far above what fits into the buffers of both sockets


@pytest.mark.parametrize("status", [200, 500])
async def test_the_connection_is_closed_and_the_status_counts(tmp_path: Path, status: int) -> None:
    world = await WebhookWorld.open(tmp_path)
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink)
        await egress.start()
        sink.script("/hook", Reply(status, {"Content-Length": str(GIGABYTE)}, endless=True))
        await world.webhook(sink.url())
        dispatcher = world.dispatcher(egress)
        await dispatcher.start()
        await world.event()
        await world.settled(dispatcher)
        (record,) = await world.attempts()
        assert (record.response_status, record.is_successful) == (status, int(status == 200))
        assert record.response_body == "x" * 1000
        assert sink.bytes_sent < READ_MAX

        # The next one takes a new connection: the rest of the answer is in nobody's way.
        await world.event()
        await world.settled(dispatcher)
        assert [one.connection for one in sink.received] == [1, 2]
        await dispatcher.stop()
        await egress.stop()
    await world.db.close()
