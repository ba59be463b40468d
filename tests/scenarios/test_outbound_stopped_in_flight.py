"""Stop while mail is on its way: what runs is finished, what waits is given back."""

import asyncio
from pathlib import Path

from tests.support.sending import Sending


async def test_running_deliveries_finish_and_the_rest_is_due_at_once(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["dot"] = asyncio.Event()
        messages = [await sending.store.send(f"u{number}@there.test") for number in range(5)]
        await sending.queue.start()
        await sending.mx.until("dot")
        stopping = asyncio.create_task(sending.queue.stop())
        async with asyncio.timeout(5):
            while await sending.store.scalar("SELECT count(*) FROM recipients WHERE lease IS NOT NULL") != 1:
                await asyncio.sleep(0.005)
        sending.mx.hold["dot"].set()
        await stopping
        rows = [(await sending.store.recipients(message_id))[0] for message_id in messages]
        assert sorted(row.status for row in rows) == ["delivered"] + ["queued"] * 4
        for row in rows:
            if row.status == "queued":
                assert (row.attempts, row.next_attempt_at) == (0, sending.clock.now_ms())
        await sending.queue.stop()  # idempotent


async def test_a_suppression_made_meanwhile_is_obeyed(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        message_id = await sending.store.send("You@there.test", "other@there.test")
        sql = "INSERT INTO suppressions VALUES ('sup_1', 'org_1', 'you@there.test', 'manual', 'api', 0)"
        await sending.store.db.write(lambda tx: tx.run(sql))
        await sending.queue.start()
        await sending.until(message_id, "suppressed", "delivered")
        assert sending.mx.received[0].recipients == ["other@there.test"]
