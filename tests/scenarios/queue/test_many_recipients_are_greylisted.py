"""All recipients of a message at one domain are deferred at once: they are tried again together."""

from itertools import count
from pathlib import Path

from storage.sending import leases
from tests.support.worlds.sending import Sending


async def test_they_come_again_in_one_transaction(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.script["DATA"] = ["451 4.7.1 greylisted, come back"]
        await sending.queue.start()
        to = [f"u{number}@there.test" for number in range(20)]
        message_id = await sending.send(*to)
        await sending.until(message_id, *["deferred"] * 20)
        rows = await sending.store.recipients(message_id)
        assert len({row.next_attempt_at for row in rows}) == 1
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, *["delivered"] * 20)
        assert [sorted(one.recipients) for one in sending.mx.received] == [sorted(to)]


async def test_who_has_a_copy_of_his_own_comes_in_his_own_time(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        db, times = sending.store.db, count(60_000)
        await sending.store.send(*(f"u{number}@there.test" for number in range(20)))
        await db.write(lambda tx: tx.run("UPDATE messages SET unsubscribe = 1"))
        leased = await db.write(
            leases.lease, "run", sending.clock.now_ms(), 100, lambda attempts, at: next(times)
        )
        assert len({row.next_attempt_at for row in leased.rows}) == 20
