"""kill -9 of the whole daemon while an endpoint holds its answer: the next one makes the same attempt again."""

import asyncio
from pathlib import Path

import aiosmtplib

from tests.support.daemon import DOMAIN, Daemon
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.webhook_sink import HOST, Reply, WebhookSink


async def test_the_same_attempt_comes_from_the_next_process(tmp_path: Path) -> None:
    async with (
        DnsServer() as dns,
        WebhookSink(tmp_path) as sink,
        Daemon(
            tmp_path,
            dns_port=dns.port,
            more={"webhooks": {"allow_private_networks": True, "ca_file": str(sink.ca_file), "timeout_s": 1}},
        ) as daemon,
    ):
        dns.add(HOST, "A", "127.0.0.1")
        await daemon.api.post("/v1/inboxes", username="bot")
        await daemon.api.post("/v1/webhooks", url=sink.url(), subscribedEvents=["email.received"])
        sink.script("/hook", Reply(hold=asyncio.Event()))
        await aiosmtplib.send(
            b"Subject: told\r\n\r\n", sender="ada@there.test", recipients=[f"bot@{DOMAIN}"],
            hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False,
        )  # fmt: skip
        await sink.received_count(1)
        await daemon.kill()
        await daemon.start()
        before, after = await sink.received_count(2)

        assert after.delivery_id == before.delivery_id
        assert (after.body, after.headers["x-svc-attempt"]) == (before.body, "1")
        log = await daemon.api.until("/v1/webhooks/deliveries", lambda found: len(found) > 0)
        assert [(one["id"], one["attempt"], one["isSuccessful"]) for one in log] == [
            (after.delivery_id, 1, True)
        ]
