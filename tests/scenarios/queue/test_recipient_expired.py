"""A recipient that is deferred until its time is over."""

from pathlib import Path

from maild.outbound.lines.schedule import STEPS
from tests.support.worlds.sending import Sending


async def test_it_is_given_up_with_a_transient_bounce(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT"] = "450 4.2.1 not now"
        await sending.queue.start()
        message_id = await sending.send("you@there.test", expires_in_ms=3_600_000)
        attempts = 1
        while (await sending.store.recipients(message_id))[0].status in ("queued", "deferred"):
            await sending.until_attempts(message_id, attempts)
            if (await sending.store.recipients(message_id))[0].status == "failed":
                break
            await sending.forward_to_retry(message_id)
            attempts += 1
        # After 0, 1, 6, 21 and 51 minutes, and when the hour is over.
        assert attempts == 6 <= len(STEPS)
        assert (await sending.store.attempts(message_id))[-2:] == ["deferred", "expired"]
        message = await sending.store.message(message_id)
        assert (message.status, message.failure_reason) == ("failed", "expired")
        (bounced,) = await sending.store.events("email.bounced")
        assert (bounced["bounceType"], bounced["smtpCode"], bounced["suppressed"]) == (
            "transient",
            450,
            False,
        )
        assert await sending.store.scalar("SELECT count(*) FROM suppressions") == 0
        assert await sending.store.scalar("SELECT count(*) FROM usage WHERE metric = 'bounced'") == 0
