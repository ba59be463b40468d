"""The master key is rotated between two lives of the daemon: webhooks keep their secrets, mail its signature."""

from pathlib import Path

from standardwebhooks import Webhook

from maild.daemon import Daemon
from storage.sealing import read_master_key
from tests.conftest import Start
from tests.support.peers.webhook_sink import WebhookSink


async def test_what_was_sealed_goes_on_working(start: Start, tmp_path: Path) -> None:
    async with WebhookSink(tmp_path) as sink:
        maild = await start(webhooks={"allow_private_networks": True, "ca_file": str(sink.ca_file)})
        made = (await maild.api.post("/v1/webhooks", {"url": sink.url("/hook", "127.0.0.1")})).data
        key_file = maild.settings.data_path / "master.key"
        before = read_master_key(key_file)
        await maild.daemon.stop()
        maild.store.rotate_master_key(None)
        assert read_master_key(key_file) != before

        maild.daemon = Daemon(maild.settings)
        await maild.daemon.start()
        maild.api.url = maild.daemon.http.url
        inbox = await maild.inbox()
        await maild.received(inbox, "Subject: after\n\n")
        (request,) = await sink.received_count(1)
        Webhook(made["secret"]).verify(request.body, request.headers)
        assert (await maild.api.send(inbox, to=[inbox["address"]], unsubscribe=True)).status == 201
        await maild.arrival(inbox, count=2)
