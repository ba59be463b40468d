"""A host that speaks octet by octet is understood, and a tarpit has the time of one reply for each reply."""

from pathlib import Path

import pytest

from maild.outbound.sessions.smtp_client import Timeouts
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.worlds.sending import Sending


@pytest.mark.parametrize("has_pipelining", [True, False])
@pytest.mark.parametrize("has_tls", [True, False])
async def test_octets_make_a_reply_however_they_come(
    tmp_path: Path, has_tls: bool, has_pipelining: bool
) -> None:
    mx = Mx(extensions=["PIPELINING"] if has_pipelining else [], piece=1)
    if has_tls:
        mx.starttls, mx.tls_context = "good", ThrowawayCa(tmp_path).server_context(["mx.there.test"])
    mx.always["RCPT", "bad@there.test"] = "550-5.1.1 nobody\r\n550 5.1.1 of that name"
    async with Sending(tmp_path, mx=mx) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test", "bad@there.test")
        await sending.until(message_id, "delivered", "bounced")
        good, bad = await sending.store.recipients(message_id)
        assert (good.smtp_code, good.response) == (250, "taken")
        assert (bad.smtp_code, bad.response) == (550, "nobody of that name")
        assert [one.recipients for one in mx.received] == [["you@there.test"]]
        assert mx.received[0].tls == has_tls


@pytest.mark.parametrize("stage", ["greeting", "MAIL", "dot"])
async def test_a_reply_that_never_ends_has_its_time_and_no_more(tmp_path: Path, stage: str) -> None:
    """Its next line does not begin the time anew: spamd(8) would have the session for hours."""
    mx = Mx(drips_at=stage)
    timeouts = Timeouts(greeting=1, command=1, data_end=1)  # which the other host needs as well
    async with Sending(tmp_path, mx=mx, timeouts=timeouts) as sending:
        sending.dns.add_mx("tarpit.test")
        sending.dns.add_mx("there.test", address="127.0.0.9")
        async with await Mx().start("127.0.0.9", mx.port) as lively:
            await sending.queue.start()
            message_id = await sending.send("you@tarpit.test")
            await mx.until(stage)
            await sending.until(await sending.send("me@there.test"), "delivered")
            assert len(lively.received) == 1
            await sending.until(message_id, "deferred")
            (row,) = await sending.store.recipients(message_id)
            assert row.response is not None and "timed out" in row.response.lower()
