"""A mail host that is silent beside one that is well: what each message pays for it, and that it is found again."""

import asyncio
import socket
from pathlib import Path

import pytest

from maild.message.delivery_evidence import unpack
from maild.outbound import delivery
from maild.outbound.sessions.connections import IDLE_S
from maild.outbound.sessions.silent_addresses import SILENT_FOR_S
from maild.outbound.sessions.smtp_client import Timeouts
from tests.support.peers.mx import Mx, vanish
from tests.support.worlds.sending import Sending

EVIDENCE = "SELECT evidence FROM delivery_evidence WHERE message_id = ?"
QUICK = Timeouts(connect=0.2, greeting=0.2)


async def tried(sending: Sending, address: str) -> list[str]:
    """The addresses that a message to it was brought to, once it is delivered."""
    message_id = await sending.send(address)
    await sending.until(message_id, "delivered")
    kept = await sending.store.scalar(EVIDENCE, [message_id])
    return [host.address for host in unpack(kept).hosts]


async def test_an_address_that_no_connection_comes_to_is_waited_for_once(tmp_path: Path) -> None:
    """Of a host with two: one version of IP leads nowhere."""
    async with Sending(tmp_path, timeouts=QUICK) as sending:
        sending.dns.add_mx("there.test", "127.0.0.2")
        sending.dns.add("mx.there.test", "AAAA", "::1")
        with socket.create_server(("127.0.0.2", sending.mx.port)) as off:
            vanish(off)
            async with await Mx().start("::1", sending.mx.port):
                await sending.queue.start()
                assert await tried(sending, "a@there.test") == ["127.0.0.2", "::1"]
                sending.clock.forward(IDLE_S + 1)
                assert await tried(sending, "b@there.test") == ["::1"]
                sending.clock.forward(SILENT_FOR_S)
                assert await tried(sending, "c@there.test") == ["127.0.0.2", "::1"]


async def test_a_host_that_greets_nobody_does_not_keep_the_mail_from_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the time that one wait for a greeting takes, an attempt tries no other host."""
    monkeypatch.setattr(delivery, "HOSTS_FOR_S", 0)
    async with Sending(tmp_path, timeouts=QUICK) as sending:
        sending.dns.add_mx("there.test", "127.0.0.2", "one.there.test", 10)
        sending.dns.add_mx("there.test", "127.0.0.1", "two.there.test", 20)
        hung = await Mx(hold={"greeting": asyncio.Event()}).start("127.0.0.2", sending.mx.port)
        async with hung:
            await sending.queue.start()
            message_id = await sending.send("you@there.test")
            await sending.until(message_id, "deferred")
            await sending.forward_to_retry(message_id)
            await sending.until(message_id, "delivered")
        assert hung.connections == 1
