"""A process that died while it was delivering: its leases are free at the next start, on schedule."""

from pathlib import Path

from storage.sending import leases
from tests.support.worlds.sending import Sending


async def test_the_lease_of_a_dead_process_is_tried_again_when_the_schedule_says(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        message_id = await sending.store.send("you@there.test")
        now_ms = sending.clock.now_ms()

        def retry_at(attempts: int, expires_at: int) -> int:
            return now_ms + 60_000

        leased = await sending.store.db.write(leases.lease, "run_dead", now_ms, 10, retry_at)
        assert [due.address for due in leased.rows] == ["you@there.test"]

        await sending.queue.start()
        sending.queue.wake()
        other = await sending.send("other@there.test")
        await sending.until(other, "delivered")
        (row,) = await sending.store.recipients(message_id)
        assert (row.status, row.attempts) == ("queued", 1)  # not at once

        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")
        assert await sending.store.scalar("SELECT count(*) FROM recipients WHERE lease IS NOT NULL") == 0
