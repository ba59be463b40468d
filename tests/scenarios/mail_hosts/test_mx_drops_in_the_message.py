"""The connection is lost in the middle of a large message: the host can't have it, so the next one is asked."""

from pathlib import Path

from structlog.testing import capture_logs

from tests.support.worlds.sending import Sending
from tests.support.worlds.store import RAW

LARGE = RAW + (b"y" * 76 + b"\r\n") * 60_000


async def test_the_backup_takes_it(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.cut_at = [100_000]
        await sending.queue.start()
        with capture_logs() as told:
            message_id = await sending.send("you@there.test", raw=LARGE)
            await sending.until(message_id, "delivered")
        (row,) = await sending.store.recipients(message_id)
        assert (row.remote_host, row.attempts) == ("two.there.test", 1)
        assert len(sending.mx.received) == 1
        assert "lost_after_data" not in [one["event"] for one in told]


async def test_who_was_refused_stays_refused_and_the_others_wait(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.always[("RCPT", "no@there.test")] = "550 5.1.1 no such user"
        sending.mx.cut_at = [100_000]
        await sending.queue.start()
        message_id = await sending.send("no@there.test", "you@there.test", raw=LARGE)
        await sending.until(message_id, "bounced", "deferred")
        no, you = await sending.store.recipients(message_id)
        assert (no.enhanced_code, you.enhanced_code) == ("5.1.1", "4.4.2")
        assert "in the middle of the message" in you.response and "twice" not in you.response
