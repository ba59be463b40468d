"""More mail for a destination than its rate allows: it waits in the store, each message until its time."""

from pathlib import Path

from maild.outbound.lines.queue_leases import QueueLeases
from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending

LIVELY = "127.0.0.2"
SLOW = {"pace": {"slow": {"domains": ["slow.test"], "messages_per_minute": 6}}}


async def waiting(sending: Sending, messages: int) -> list[str]:
    """So many messages, of which one has left."""
    for host in ("mx1.slow.test", "mx2.slow.test"):  # each of them is asked for, and the message counts once
        sending.dns.add_mx("slow.test", host=host)
    sent = [await sending.store.send(f"u{number}@slow.test") for number in range(messages)]
    await sending.queue.start()
    await sending.mx.until("dot")
    await settled(sending, messages - 1)
    return sent


async def settled(sending: Sending, messages: int) -> None:
    """Wait until no lease is left, and so many are due later."""
    await sending.until_true(
        "SELECT sum(lease IS NOT NULL) = 0 AND sum(coalesce(next_attempt_at, 0) > ?) = ? FROM recipients",
        (sending.clock.now_ms(), messages),
    )


async def test_each_waits_for_its_time_and_others_go_on(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=SLOW) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        sent = await waiting(sending, 30)
        rows = [(await sending.store.recipients(message_id))[0] for message_id in sent]
        due = sorted(row.next_attempt_at - sending.clock.now_ms() for row in rows if row.next_attempt_at)
        assert due == [seconds * 1000 for seconds in range(10, 300, 10)]
        assert {row.attempts for row in rows if row.next_attempt_at} == {0}
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.until(await sending.send("you@there.test"), "delivered")
        for taken in range(2, 6):
            sending.clock.forward(10)
            sending.queue.wake()
            await sending.mx.until("dot", taken)
            await settled(sending, 30 - taken)
        assert len(sending.mx.received) == 5


async def test_who_waits_long_is_told_why(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=SLOW) as sending:
        sent = await waiting(sending, 12)
        rows = [(await sending.store.recipients(message_id))[0] for message_id in sent]
        told = [row for row in rows if row.status == "deferred"]
        assert len(told) == 6  # 60 to 110 seconds
        assert {row.response for row in told} == {"not tried yet: [slow] gets 6 messages a minute at most"}
        delayed = await sending.store.events("email.delayed")
        assert {(one["class"], one["advice"], one["attempts"]) for one in delayed} == {
            ("throttled", "slow_down", 0)
        }


async def test_nothing_is_leased_before_its_time(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=SLOW) as sending:
        await waiting(sending, 100)
        leases = 0
        lease = QueueLeases._take_due

        def counting(*given: object) -> object:
            nonlocal leases
            leases += 1
            return lease(*given)  # type: ignore[arg-type]

        sending.queue._leases._take_due = counting.__get__(sending.queue._leases)  # type: ignore[method-assign]
        for _ in range(3):
            sending.clock.forward(2)
            sending.queue.wake()
        await sending.until_true("SELECT 1")
        assert leases <= 3
        assert sending.mx.stages["MAIL"] == 1


async def test_a_restart_neither_forgets_nor_hurries_what_waits(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=SLOW) as sending:
        sent = await waiting(sending, 20)
        before = [(await sending.store.recipients(one))[0].next_attempt_at for one in sent]
        await sending.queue.stop()
        sending.queue = sending.make_queue()
        await sending.queue.start()
        sending.clock.forward(10)
        sending.queue.wake()
        await sending.mx.until("dot", 2)
        await settled(sending, 18)
        after = [(await sending.store.recipients(one))[0].next_attempt_at for one in sent]
        assert sorted(one for one in after if one) == sorted(one for one in before if one)[1:]


async def test_a_session_takes_as_many_messages_as_it_may(tmp_path: Path) -> None:
    pace = {"few": {"mx": ["*.few.test"], "messages_per_connection": 3, "max_connections": 1}}
    async with Sending(tmp_path, outbound={"pace": pace}) as sending:
        sending.dns.add_mx("there.test", host="mx.few.test")
        sent = [await sending.store.send(f"u{number}@there.test") for number in range(12)]
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        assert sending.mx.connections == 4
