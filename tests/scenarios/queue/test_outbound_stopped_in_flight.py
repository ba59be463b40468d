"""Stop while mail is on its way: what runs is finished, what waits is given back."""

import asyncio
from pathlib import Path

from storage.mail import messages, withdrawal
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending


async def test_running_deliveries_finish_and_the_rest_is_due_at_once(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["dot"] = asyncio.Event()
        messages = [await sending.store.send(f"u{number}@there.test") for number in range(5)]
        await sending.queue.start()
        await sending.mx.until("dot")
        stopping = asyncio.create_task(sending.queue.stop())
        async with asyncio.timeout(GIVES_UP_S):
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


async def test_what_stands_in_line_is_looked_at_again(tmp_path: Path) -> None:
    """Deleted, withdrawn or suppressed while the one before it took its time: it must not leave."""
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["dot"] = asyncio.Event()
        db = sending.store.db
        slow, deleted, suppressed, wanted = [
            await sending.store.send(f"{name}@there.test") for name in ("slow", "deleted", "No", "wanted")
        ]
        await sending.queue.start()
        await sending.mx.until("dot")
        assert await sending.store.scalar("SELECT count(*) FROM recipients WHERE lease IS NOT NULL") == 4
        message = await sending.store.message(deleted)
        await db.write(messages.delete, message)
        sql = "INSERT INTO suppressions VALUES ('sup_1', 'org_1', 'no@there.test', 'manual', 'api', 0)"
        await db.write(lambda tx: tx.run(sql))
        sending.mx.hold["dot"].set()
        await sending.until(wanted, "delivered")
        await sending.until(suppressed, "suppressed")
        await sending.until(slow, "delivered")
        arrived = [one for received in sending.mx.received for one in received.recipients]
        assert arrived == ["slow@there.test", "wanted@there.test"]


async def test_a_withdrawn_inbox_sends_nothing_that_stands_in_line(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["dot"] = asyncio.Event()
        first, second = [await sending.store.send(f"u{number}@there.test") for number in range(2)]
        await sending.queue.start()
        await sending.mx.until("dot")
        store = sending.store
        sent = await store.message(first)
        waiting = await store.db.read(
            withdrawal.INBOXES.find_waiting, sent.organization_id, [sent.inbox_id], 10
        )
        await store.db.write(withdrawal.withdraw, waiting, store.ids.new, store.clock.now_ms())
        sending.mx.hold["dot"].set()
        other = await sending.send("other@there.test")
        await sending.until(other, "delivered")
        await sending.until(second, "failed")
        arrived = [one for received in sending.mx.received for one in received.recipients]
        assert arrived == ["u0@there.test", "other@there.test"]
