"""A host answers a command with a code that is no answer to it (RFC 5321 §4.3.2): a verdict, and nobody else waits."""

from pathlib import Path

import pytest

from maild.outbound.sessions.replies import REPLY_OCTETS_MAX
from maild.outbound.settle import UNSETTLED_MAX
from storage.sending import leases
from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending


@pytest.mark.parametrize("code", [251, 220, 354])
async def test_all_other_mail_flows(tmp_path: Path, code: int) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=[]), local_domains={"ours.test"}) as sending:
        for number in range(UNSETTLED_MAX + 1):
            sending.dns.add_mx(f"d{number}.odd.test")
        sending.dns.add_mx("there.test", address="127.0.0.2")
        sending.mx.always["MAIL"] = f"{code} hm"
        odd = [await sending.store.send(f"a@d{number}.odd.test") for number in range(UNSETTLED_MAX + 1)]
        await sending.queue.start()
        async with await Mx().start("127.0.0.2", sending.mx.port) as lively:
            for message_id in odd:
                await sending.until(message_id, "deferred")
            for address in ("you@there.test", "bot@ours.test"):
                await sending.until(await sending.send(address), "delivered")
            assert len(lively.received) == 1
        for message_id in odd:
            (row,) = await sending.store.recipients(message_id)
            assert (row.smtp_code, row.attempts) == (code, 1)
            assert row.response.startswith(f"answered MAIL with {code}, which is no answer to it")
            assert await sending.store.attempts(message_id) == ["deferred"]


async def test_rows_that_an_earlier_process_could_not_settle_get_past_it(tmp_path: Path) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=[])) as sending:
        sending.dns.add_mx("odd.test")
        sending.dns.add_mx("there.test")
        sending.mx.always["MAIL"] = "251 hm"
        odd = [await sending.store.send("a@odd.test") for _ in range(UNSETTLED_MAX + 1)]
        now_ms = sending.clock.now_ms()
        await sending.store.db.write(leases.lease, "run_0", now_ms, 100, lambda n, at: now_ms + 60_000)
        await sending.queue.start()
        sending.clock.forward(61)
        sending.queue.wake()
        for message_id in odd:
            await sending.until(message_id, "deferred")
        del sending.mx.always["MAIL"]
        await sending.until(await sending.send("you@there.test"), "delivered")


@pytest.mark.parametrize("extensions", [["PIPELINING"], []])
@pytest.mark.parametrize(
    ("stage", "reply", "code"),
    [
        ("MAIL", "251 hm", 251),
        ("MAIL", "354 hm", 354),
        ("RCPT", "354 hm", 354),
        ("DATA", "250 hm", 250),
        ("dot", "354 hm", 354),
        ("MAIL", "150 hm", 421),
        ("RCPT", "999 hm", 421),
        ("DATA", "hm", 421),
        ("dot", "099 hm", 421),
        ("MAIL", "2500 hm", 421),
        ("greeting", "250 hm", 250),
        ("greeting", "354 hm", 354),
        ("EHLO", "354 hm", 354),
        ("RCPT", "250 " + "x" * 2 * REPLY_OCTETS_MAX, 421),
    ],
)
async def test_it_is_tried_again_and_told_in_words(
    tmp_path: Path, extensions: list[str], stage: str, reply: str, code: int
) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always[stage] = reply
        await sending.queue.start()
        message_id = await sending.send("a@there.test", "b@there.test")
        await sending.until(message_id, "deferred", "deferred")
        for row in await sending.store.recipients(message_id):
            assert row.smtp_code == code
            assert "no answer to it" in row.response or "no SMTP reply" in row.response
            assert "(-1" not in row.response and "\\r" not in row.response
        assert len(await sending.store.events("email.delayed")) == 2
        assert (await sending.store.message(message_id)).status == "queued"

        del sending.mx.always[stage]
        sending.clock.forward(120)  # past both recipients' next attempts
        sending.queue.wake()
        await sending.until(message_id, "delivered", "delivered")


async def test_one_recipient_of_several_is_answered_so(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT", "b@there.test"] = "354 hm"
        await sending.queue.start()
        message_id = await sending.send("a@there.test", "b@there.test")
        await sending.until(message_id, "delivered", "deferred")
        assert sending.mx.received[0].recipients == ["a@there.test"]
