"""The connection is lost after the final dot: nobody knows, so it is tried again later, and nowhere else."""

import asyncio
from pathlib import Path

from maild.outbound.sessions.smtp_client import Timeouts
from tests.support.worlds.sending import Sending


async def test_a_lost_answer_is_a_deferral_and_no_other_host_is_tried(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.drop_at = "dot"
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "deferred")
        (row,) = await sending.store.recipients(message_id)
        assert row.remote_host == "one.there.test"
        assert "may arrive twice" in row.response
        assert sending.mx.connections == 1

        sending.mx.drop_at = ""
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")
        assert b"Message-ID: <1@ours.test>" in sending.mx.received[0].raw


async def test_what_never_arrived_is_told_as_such(tmp_path: Path) -> None:
    """Small packets pass, large ones are lost on the way, as where nobody tells how large they may be (RFC 2923 §2.1).
    The host may all the same have it: its word may be what was lost."""
    async with Sending(tmp_path, timeouts=Timeouts(data_end=0.2)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["DATA"] = asyncio.Event()
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.mx.until("DATA")
        sending.mx.vanish()
        sending.mx.hold["DATA"].set()
        await sending.until(message_id, "deferred")
        (row,) = await sending.store.recipients(message_id)
    assert "octets were not even acknowledged" in row.response
    assert "may arrive twice" in row.response


async def test_a_connection_lost_before_the_dot_tries_the_next_host(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.drop_at = "EHLO"
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "deferred")
        assert sending.mx.connections == 2
