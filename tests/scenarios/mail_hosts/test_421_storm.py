"""A receiver answers everybody with 421 for a while: it gets few attempts, late ones, and nobody else waits."""

import asyncio
from pathlib import Path

from maild.outbound.pace.pace import FIRST_SESSIONS
from maild.outbound.pace.pacing import HostGroup
from tests.support.peers.mx import Mx
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending

LIVELY = "127.0.0.2"
BUSY = "421 4.7.0 too many connections from your host, try again later"


def group(sending: Sending, name: str) -> HostGroup:
    return sending.queue._deliverer._groups.group(name)


async def backs_off(sending: Sending, name: str) -> None:
    async with asyncio.timeout(GIVES_UP_S):
        while not group(sending, name).pace.waits_s:
            await asyncio.sleep(0.005)


async def storm(sending: Sending, messages: int) -> list[str]:
    """So many messages to a receiver that greets with 421, each of which was told of it."""
    sending.dns.add_mx("storm.test")
    sending.mx.always["greeting"] = BUSY
    sent = [await sending.store.send(f"u{number}@storm.test") for number in range(messages)]
    await sending.queue.start()
    for message_id in sent:
        await sending.until(message_id, "deferred")
    return sent


async def test_one_asks_and_the_others_wait_as_long_as_it_was_told(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        sent = await storm(sending, 60)
        assert sending.mx.connections == 1
        rows = [(await sending.store.recipients(message_id))[0] for message_id in sent]
        assert sorted(row.attempts for row in rows) == [0] * 59 + [1]
        assert {(row.attempts, row.response, row.remote_host) for row in rows} == {
            (1, BUSY[10:], "mx.storm.test"),
            (
                0,
                "not tried yet: mx.storm.test asked for less mail",
                None,
            ),  # the words were for another's message
        }
        waiting = [row for row in rows if not row.attempts]
        wait_s = group(sending, "mx.storm.test").pace.waits_s
        assert {row.last_attempt_at for row in waiting} == {None}
        assert all(
            wait_s * 1000 <= row.next_attempt_at - sending.clock.now_ms() < wait_s * 1000 + 1000
            for row in waiting
        )
        delayed = await sending.store.events("email.delayed")
        assert {(one["class"], one["advice"]) for one in delayed} == {("throttled", "slow_down")}
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.until(await sending.send("you@there.test"), "delivered")
        assert sending.mx.connections == 1


async def test_each_time_in_vain_it_waits_twice_as_long_until_a_message_is_taken(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sent = await storm(sending, 30)
        waits = []
        for attempts in range(2, 5):
            waits.append(group(sending, "mx.storm.test").pace.waits_s)
            sending.clock.forward(waits[-1] + 1)
            sending.queue.wake()
            await sending.mx.until("greeting", attempts)
            await backs_off(sending, "mx.storm.test")
        assert waits == [51, 102, 204]
        assert sending.mx.connections == 4
        sending.mx.always.clear()
        sending.clock.forward(group(sending, "mx.storm.test").pace.waits_s + 1)
        sending.queue.wake()
        await sending.mx.until("dot")
        sending.clock.forward(600)  # for those that had an attempt of their own
        sending.queue.wake()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        assert group(sending, "mx.storm.test").pace.waits_s == 0
        assert group(sending, "mx.storm.test").pace.sessions > FIRST_SESSIONS


async def test_a_receiver_that_throttles_in_the_middle_is_left_alone_by_all(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("storm.test")
        await sending.queue.start()
        await sending.until(await sending.send("first@storm.test"), "delivered")
        sending.mx.always["MAIL"] = "451 4.7.28 unusual rate of mail from your address"
        sent = [await sending.store.send(f"u{number}@storm.test") for number in range(40)]
        sending.queue.wake()
        for message_id in sent:
            await sending.until(message_id, "deferred")
        assert sending.mx.stages["MAIL"] <= 1 + FIRST_SESSIONS


async def test_a_recipient_that_is_greylisted_slows_down_nobody(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        for number in range(20):
            later = "450 4.7.1 greylisted, come again" if number % 2 else "452 4.2.2 mailbox full"
            sending.mx.always["RCPT", f"late{number}@there.test"] = later
        await sending.queue.start()
        await sending.until(await sending.send("first@there.test"), "delivered")
        late = [await sending.store.send(f"late{number}@there.test") for number in range(20)]
        good = [await sending.store.send(f"u{number}@there.test") for number in range(20)]
        sending.queue.wake()
        for message_id in good:
            await sending.until(message_id, "delivered")
        for message_id in late:
            await sending.until(message_id, "deferred")
            assert await sending.store.attempts(message_id) == ["deferred"]
        assert group(sending, "mx.there.test").pace.sessions > FIRST_SESSIONS


async def test_what_is_put_off_until_its_time_is_over_fails_with_the_reason(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("storm.test")
        sending.mx.always["greeting"] = BUSY
        await sending.queue.start()
        await sending.until(await sending.send("first@storm.test"), "deferred")
        message_id = await sending.send("you@storm.test", expires_in_ms=30_000)
        await sending.until(message_id, "deferred")
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "failed")
        (row,) = await sending.store.recipients(message_id)
        assert (row.attempts, row.enhanced_code) == (0, "4.4.5")
