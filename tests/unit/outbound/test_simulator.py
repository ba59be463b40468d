"""Mail of test keys: scripted outcomes, no DNS, no network, no counters."""

from pathlib import Path

from tests.support.sending import Sending


async def test_outcomes_by_recipient(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await sending.queue.start()
        message_id = await sending.send(
            "delivered@simulator.test",
            "bounce@simulator.test",
            "defer@simulator.test",
            "anybody@there.test",
            mode="test",
        )
        expected = ("delivered", "bounced", "deferred", "delivered")
        await sending.until(message_id, *expected)
        for attempt in (2, 3):
            await sending.forward_to_retry(message_id)
            await sending.until_attempts(message_id, 3 + attempt)
        await sending.until(message_id, "delivered", "bounced", "delivered", "delivered")
        assert not sending.dns.queries
        assert sending.mx.connections == 0
        for table in ("usage", "suppressions"):
            assert await sending.store.scalar(f"SELECT count(*) FROM {table}") == 0
        assert await sending.store.scalar("SELECT group_concat(DISTINCT mode) FROM events") == "test"
        (bounced,) = await sending.store.events("email.bounced")
        assert (bounced["smtpCode"], bounced["enhancedCode"]) == (550, "5.1.1")
