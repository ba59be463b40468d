"""Nobody looks at the queue while the lifetime of what waits in it ends: the host is off, its clock jumps, or the
operator has paused all that leaves. It is not given up at the first look."""

from pathlib import Path
from typing import Any

import pytest

from maild.outbound.lines.queue_leases import QueueLeases
from maild.outbound.lines.schedule import LATE_LIFE_MS
from storage import switches
from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.sending.leases import Leased
from tests.support.worlds.sending import Sending

SIX_DAYS_S = 6 * DAY_MS // 1000
LATER = "451 4.7.1 greylisted, come again in five minutes"


async def deferred(sending: Sending, *recipients: str) -> str:
    """A message that waits for another attempt. The queue runs."""
    sending.mx.script["RCPT"] = [LATER] * len(recipients)
    message_id = await sending.send(*recipients, expires_in_ms=5 * DAY_MS)
    await sending.until(message_id, *["deferred"] * len(recipients))
    return message_id


async def after_six_days_off(sending: Sending) -> None:
    """Another run of the daemon begins."""
    await sending.queue.stop()
    sending.clock.forward(SIX_DAYS_S)
    sending.queue = sending.make_queue()
    await sending.queue.start()


async def expires_in_s(sending: Sending, message_id: str) -> float:
    (row,) = await sending.store.recipients(message_id)
    return (row.expires_at - sending.clock.now_ms()) / 1000


async def test_what_a_host_puts_off_once_more_still_gets_there(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await deferred(sending, "you@there.test")
        sending.mx.script["RCPT"] = [LATER]
        await after_six_days_off(sending)
        await sending.until_attempts(message_id, 2)
        assert await expires_in_s(sending, message_id) == LATE_LIFE_MS / 1000
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")
        assert len(await sending.store.events("email.delayed")) == 1


async def test_it_is_given_up_an_hour_later(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await deferred(sending, "you@there.test")
        sending.mx.always["RCPT"] = LATER
        await after_six_days_off(sending)
        ends = sending.clock.now_ms() + LATE_LIFE_MS
        attempts = 2
        while True:
            await sending.until_attempts(message_id, attempts)
            if (await sending.store.recipients(message_id))[0].status == "failed":
                break
            await sending.forward_to_retry(message_id)
            attempts += 1
        assert sending.clock.now_ms() == ends
        message = await sending.store.message(message_id)
        assert (message.status, message.failure_reason) == ("failed", "expired")
        assert attempts > 3


async def test_a_second_start_gives_it_no_second_hour(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await deferred(sending, "you@there.test")
        sending.mx.always["RCPT"] = LATER
        for run in (2, 3):
            await sending.queue.stop()
            sending.clock.forward(SIX_DAYS_S if run == 2 else 600)
            sending.queue = sending.make_queue()
            await sending.queue.start()
            await sending.until_attempts(message_id, run)
        assert await expires_in_s(sending, message_id) == LATE_LIFE_MS / 1000 - 600


async def test_a_rate_lets_each_have_its_turn(tmp_path: Path) -> None:
    """What a rate makes wait beyond its time is given up untried, but not because the host was off."""
    pace = {"slow": {"domains": ["there.test"], "messages_per_minute": 1}}
    async with Sending(tmp_path, outbound={"first_retry_s": 60, "pace": pace}) as sending:
        sending.dns.add_mx("there.test")
        sent = [await sending.store.send("you@there.test", expires_in_ms=5 * DAY_MS) for _ in range(4)]
        sending.clock.forward(SIX_DAYS_S)
        await sending.queue.start()
        while len(sending.mx.received) < len(sent):
            expired = "SELECT count(*) FROM recipients WHERE status = 'failed'"
            assert not await sending.store.scalar(expired)
            sending.clock.forward(30)
            sending.queue.wake()
            await sending.until_true(
                "SELECT count(*) = 0 FROM recipients WHERE lease IS NOT NULL OR next_attempt_at <= ?",
                (sending.clock.now_ms(),),
            )
        for one in sent:
            await sending.until(one, "delivered")


async def test_the_clock_jumps_ahead_and_is_set_right(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await deferred(sending, "you@there.test")
        sending.mx.script["RCPT"] = [LATER]
        sending.clock.set_back(-SIX_DAYS_S)
        sending.queue.wake()
        await sending.until_attempts(message_id, 2)
        (row,) = await sending.store.recipients(message_id)
        assert row.status == "deferred"
        sending.clock.set_back(SIX_DAYS_S)
        sending.queue.wake()
        await sending.until_true("SELECT next_attempt_at < ? FROM recipients", (row.next_attempt_at,))
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")


async def test_the_clock_jumps_ahead_while_the_writer_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_due, ahead_s = QueueLeases._take_due, [float(SIX_DAYS_S)]

    def jump_first(self: QueueLeases, tx: Tx, *given: Any) -> Leased:
        sending.clock.set_back(-ahead_s.pop() if ahead_s else 0)
        return take_due(self, tx, *given)

    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await deferred(sending, "you@there.test")
        sending.mx.script["RCPT"] = [LATER]
        monkeypatch.setattr(QueueLeases, "_take_due", jump_first)
        sending.queue.wake()
        await sending.until_attempts(message_id, 2)
        assert (await sending.store.recipients(message_id))[0].status == "deferred"


async def test_nothing_waits_for_longer_than_its_lifetime_from_now(tmp_path: Path) -> None:
    """It was sent while the clock was ahead by a year."""
    async with Sending(tmp_path, outbound={"first_retry_s": 60, "give_up_after_s": 5 * 86400}) as sending:
        sending.dns.add_mx("there.test")
        sending.clock.forward(365 * 86400)
        message_id = await sending.store.send("you@there.test", expires_in_ms=5 * DAY_MS)
        sending.clock.set_back(365 * 86400)
        sending.mx.script["RCPT"] = [LATER]
        await sending.queue.start()
        await sending.until_attempts(message_id, 1)
        assert await expires_in_s(sending, message_id) == 5 * 86400


async def test_the_operator_had_paused_the_queue(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"first_retry_s": 60}) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await deferred(sending, "you@there.test")
        await sending.store.db.write(switches.turn_off, switches.QUEUE, sending.clock.now_ms())
        sending.queue.wake()
        await sending.store.db.write(lambda tx: None)
        sending.clock.forward(SIX_DAYS_S)
        sending.mx.script["RCPT"] = [LATER]
        await sending.store.db.write(switches.turn_on, switches.QUEUE)
        sending.queue.wake()
        await sending.until_attempts(message_id, 2)
        assert (await sending.store.recipients(message_id))[0].status == "deferred"
