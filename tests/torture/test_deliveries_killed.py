"""kill -9 at each point of a delivery: the message is delivered by the next process, told once and counted once.

Up to the final dot the host has nothing, so it gets one copy. From there on it may have taken what we never heard of:
a second copy is the price (RFC 5321 §4.5.4.1), with the Message-ID and the body of the first.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Daemon
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx

pytestmark = pytest.mark.torture

# Where the host is when the process dies: it holds its reply back, but for the last one.
POINTS = ("greeting", "MAIL", "RCPT", "DATA", "dot", "behind the dot")
NEVER_TWICE = POINTS[:4]
RETRY_S = 1


class World:
    def __init__(self, daemon: Daemon, mx: Mx, inbox_id: str) -> None:
        self.daemon, self.mx, self.inbox_id = daemon, mx, inbox_id

    async def send(self, point: str) -> str:
        made = await self.daemon.api.post(
            "/v1/messages/send", inboxId=self.inbox_id, to=["ann@there.test"], subject=point, text="hello"
        )
        return str(made["id"])

    async def killed_at(self, point: str) -> str:
        """The id of a message, in whose delivery the process died."""
        stage = point.rpartition(" ")[2]
        self.mx.stages.clear()
        if point == stage:
            self.mx.hold[stage] = asyncio.Event()
        message_id = await self.send(point)
        await self.mx.until(stage)
        await self.daemon.kill()
        self.mx.hold.clear()
        await self.daemon.start()
        return message_id

    def copies(self, message: dict[str, Any]) -> list[bytes]:
        """What the host took of it."""
        name = message["messageIdHeader"].encode()
        return [one.raw for one in self.mx.received if b"Message-ID: " + name in one.raw]


async def test_a_delivery_that_is_killed_anywhere_ends_well(tmp_path: Path) -> None:
    async with Mx(extensions=["8BITMIME"]) as mx, DnsServer() as dns:
        dns.add_mx("there.test")
        more = {"outbound": {"first_retry_s": RETRY_S}}
        async with Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port, more=more) as daemon:
            inbox = await daemon.api.post("/v1/inboxes", username="bot")
            world = World(daemon, mx, inbox["id"])
            for point in POINTS:
                message_id = await world.killed_at(point)
                message = await daemon.api.until(
                    f"/v1/messages/{message_id}", lambda one: one["status"] == "delivered"
                )
                copies = world.copies(message)
                assert len(copies) == 1 or (len(copies) == 2 and point not in NEVER_TWICE), point
                assert len({raw.partition(b"\r\n\r\n")[2] for raw in copies}) == 1
            await told_once(daemon)


async def told_once(daemon: Daemon) -> None:
    events = await daemon.api.get("/v1/events", types="email.sent", limit=100)
    assert Counter(one["data"]["subject"] for one in events) == dict.fromkeys(POINTS, 1)
    assert (await daemon.api.get("/v1/organization"))["usage"]["messagesDaily"] == len(POINTS)
    waiting = await daemon.command("queue", "list", "--all", "--json")
    assert '"recipients": []' in waiting
