"""A domain that says that it takes no mail (RFC 7505), and one that does not exist."""

from pathlib import Path

import pytest

from tests.support.worlds.sending import Sending


@pytest.mark.parametrize(
    ("domain", "code", "enhanced"), [("null.test", 556, "5.1.10"), ("missing.test", 550, "5.1.2")]
)
async def test_it_bounces_at_once_and_gives_the_quota_back(
    tmp_path: Path, domain: str, code: int, enhanced: str
) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add("null.test", "MX", "0 .")
        await sending.queue.start()
        message_id = await sending.send(f"you@{domain}")
        await sending.until(message_id, "bounced")

        message = await sending.store.message(message_id)
        assert (message.status, message.failure_reason) == ("failed", "bounced")
        (bounced,) = await sending.store.events("email.bounced")
        assert (bounced["recipient"], bounced["bounceType"]) == (f"you@{domain}", "permanent")
        assert (bounced["smtpCode"], bounced["enhancedCode"]) == (code, enhanced)
        assert bounced["suppressed"] is True
        assert bounced["sentAt"] is None
        assert await sending.store.scalar("SELECT email FROM suppressions") == f"you@{domain}"
        assert await sending.store.events("email.sent") == []
        assert sending.mx.connections == 0
