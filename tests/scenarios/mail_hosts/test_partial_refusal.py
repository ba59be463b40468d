"""One message, several recipients at one destination, each with a fate of its own."""

from pathlib import Path

import pytest

from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending


@pytest.mark.parametrize("extensions", [["PIPELINING"], []])
async def test_each_recipient_has_its_own_verdict(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT", "gone@there.test"] = "550-5.1.1 no such user\r\n550 5.1.1 sorry"
        sending.mx.always["RCPT", "later@there.test"] = "452 4.2.2 mailbox full"
        await sending.queue.start()
        message_id = await sending.send("you@there.test", "gone@there.test", "later@there.test")
        await sending.until(message_id, "delivered", "bounced", "deferred")

        assert sending.mx.received[0].recipients == ["you@there.test"]
        message = await sending.store.message(message_id)
        assert (message.status, message.sent_at) == ("sent", sending.clock.now_ms())
        assert [event["messageId"] for event in await sending.store.events("email.sent")] == [message_id]
        (bounced,) = await sending.store.events("email.bounced")
        assert (bounced["recipient"], bounced["diagnostic"]) == ("gone@there.test", "no such user sorry")
        assert [one["status"] for one in bounced["recipients"]] == ["delivered", "bounced", "deferred"]
        assert await sending.store.scalar("SELECT group_concat(email) FROM suppressions") == "gone@there.test"

        del sending.mx.always["RCPT", "later@there.test"]
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered", "bounced", "delivered")
        assert (await sending.store.message(message_id)).status == "delivered"
        assert len(await sending.store.events("email.sent")) == 1
        assert sending.mx.received[1].recipients == ["later@there.test"]


@pytest.mark.parametrize("extensions", [["PIPELINING"], []])
async def test_when_all_are_refused_nothing_is_sent(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT"] = "550 5.7.1 we do not like you"
        await sending.queue.start()
        message_id = await sending.send("a@there.test", "b@there.test")
        await sending.until(message_id, "bounced", "bounced")
        assert sending.mx.received == []
        assert (await sending.store.message(message_id)).status == "failed"
        assert len(await sending.store.events("email.bounced")) == 2
        assert await sending.store.scalar("SELECT count(*) FROM suppressions") == 0  # policy, not address
        del sending.mx.always["RCPT"]
        other = await sending.send("c@there.test")
        await sending.until(other, "delivered")
        assert sending.mx.connections == 1  # the session was reset and kept


async def test_a_server_that_takes_data_for_nobody_gets_an_empty_message(tmp_path: Path) -> None:
    """RFC 2920 §3.1: with pipelining DATA is sent before we know that nobody is left."""
    async with Sending(tmp_path, mx=Mx(extensions=["PIPELINING"])) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always |= {"RCPT": "550 5.1.1 no such user", "DATA": "354 go on"}
        await sending.queue.start()
        message_id = await sending.send("a@there.test")
        await sending.until(message_id, "bounced")
        assert [one.raw for one in sending.mx.received] == [b""]


async def test_a_quoted_local_part_is_said_as_it_is(tmp_path: Path) -> None:
    async with Sending(tmp_path, mx=Mx()) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        odd = ['"a b"@there.test', '"a@b"@there.test', '"a,b;c"@there.test']
        message_id = await sending.send(*odd)
        await sending.until(message_id, "delivered", "delivered", "delivered")
        assert sending.mx.received[0].recipients == odd
