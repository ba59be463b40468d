"""The clock was ahead for a while, by hours or by 40 days: nothing that was put off then waits as long."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from maild.outbound.lines.schedule import STEPS
from storage.clock import DAY_MS
from storage.sending import leases
from tests.conftest import Start
from tests.support.running import Running, Template
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import ManualClock

HOURS_S = 3 * 3600
AHEAD_S = 40 * DAY_MS // 1000


Restart = Callable[[Running, ManualClock], Awaitable[Running]]


@pytest.fixture
async def set_back_and_restart(template: Template, tmp_path: Path) -> AsyncIterator[Restart]:
    """Sets the clock back by hours, stops a daemon and starts the next on what it left."""
    started = []

    async def restart(before: Running, clock: ManualClock) -> Running:
        clock.set_back(HOURS_S)
        await before.daemon.stop()
        left = replace(template, folder=before.settings.data_path)
        started.append(await Running.start(left, tmp_path / "after", clock))
        return started[-1]

    yield restart
    for running in started:
        await running.stop()


async def due_in_ms(sending: Sending, message_id: str) -> int:
    (row,) = await sending.store.recipients(message_id)
    return int(row.next_attempt_at - sending.clock.now_ms())


async def deferred_ahead(sending: Sending, ahead_s: int) -> str:
    """A message whose host wants it later, by a clock that is ahead."""
    sending.dns.add_mx("there.test")
    sending.mx.script["RCPT"] = ["451 4.7.1 later"]
    sending.clock.forward(ahead_s)
    await sending.queue.start()
    message_id = await sending.send("you@there.test")
    await sending.until(message_id, "deferred")
    return message_id


@pytest.mark.parametrize("ahead_s", [HOURS_S, AHEAD_S])
async def test_deferred_mail_is_tried_again_on_its_schedule(tmp_path: Path, ahead_s: int) -> None:
    async with Sending(tmp_path) as sending:
        message_id = await deferred_ahead(sending, ahead_s)
        unsent = await sending.store.send("me@other.test")  # queued by then, and not looked at
        sending.clock.set_back(ahead_s)
        sending.dns.add_mx("other.test")
        sending.queue.wake()
        await sending.until(unsent, "delivered")
        assert await due_in_ms(sending, message_id) <= 60_000 * 1.1
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")


async def test_mail_deferred_before_a_restart_is_tried_again_on_its_schedule(tmp_path: Path) -> None:
    """A hardware clock in local time is ahead by hours until NTP answers."""
    async with Sending(tmp_path) as sending:
        message_id = await deferred_ahead(sending, HOURS_S)
        await sending.queue.stop()
        sending.clock.set_back(HOURS_S)
        sending.queue = sending.make_queue()
        await sending.queue.start()
        async with asyncio.timeout(GIVES_UP_S):
            while await due_in_ms(sending, message_id) > 60_000 * 1.1:
                await asyncio.sleep(0.005)
        (row,) = await sending.store.recipients(message_id)
        assert row.last_attempt_at == sending.clock.now_ms()
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")


async def test_a_lease_that_was_taken_then_ends_at_the_next_start(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        message_id = await sending.store.send("you@there.test")
        sending.clock.forward(AHEAD_S)
        now_ms = sending.clock.now_ms()
        await sending.store.db.write(leases.lease, "run_0", now_ms, 9, lambda n, at: now_ms + 60_000)
        sending.clock.set_back(AHEAD_S)
        await sending.queue.start()
        async with asyncio.timeout(GIVES_UP_S):
            while await due_in_ms(sending, message_id) > 60_000 * 1.1:
                await asyncio.sleep(0.005)
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")


async def test_what_waits_as_the_schedule_says_is_left_alone(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        message_id = await sending.store.send("you@there.test")
        schedule = sending.queue._leases._schedule
        now_ms = sending.clock.now_ms()
        late_ms = max(schedule.retry_at(now_ms, len(STEPS), now_ms * 2) for _ in range(1000))
        assert late_ms <= now_ms + schedule.longest_ms
        await sending.store.db.write(leases.lease, "run_0", now_ms, 9, lambda n, at: late_ms)
        await sending.queue.start()
        await sending.store.db.write(lambda tx: None)
        assert (await sending.store.recipients(message_id))[0].next_attempt_at == late_ms


async def test_what_comes_after_a_restart_is_listed_first(
    start: Start, set_back_and_restart: Restart
) -> None:
    """A hardware clock in local time is ahead by hours until NTP answers."""
    clock = ManualClock()
    clock.forward(HOURS_S)
    before = await start(clock=clock)
    inbox = await before.inbox("bot")
    await before.received(inbox, "Subject: by the wrong clock\n\n")
    with capture_logs() as lines:
        after = await set_back_and_restart(before, clock)
    assert [one["log_level"] for one in lines if one["event"] == "clock_behind"] == ["warning"]
    await after.deliver(inbox["address"], "Subject: newest\n\n")
    listed = await after.api.messages(inboxId=inbox["id"])
    assert [one["subject"] for one in listed] == ["newest", "by the wrong clock"]


class TickingClock(ManualClock):
    """Two milliseconds go by between two looks."""

    def now_ms(self) -> int:
        self.at_ms += 2
        return self.at_ms


async def test_a_review_that_is_opened_after_a_restart_is_the_newest(
    start: Start, set_back_and_restart: Restart
) -> None:
    """It is told of by mail only where it comes behind those that were: a review's id is made after its message's."""
    clock = TickingClock()
    clock.forward(HOURS_S)
    before = await start(clock=clock)
    inbox = await before.inbox("bot")
    policy = {"version": 0, "outbound": {"review": "all"}}
    assert (await before.api.call("PUT", f"/v1/inboxes/{inbox['id']}/policy", json=policy)).status == 200
    first = (await before.api.send(inbox)).data
    after = await set_back_and_restart(before, clock)
    second = (await after.api.send(inbox)).data
    listed = (await after.api.get("/v1/reviews")).data
    assert [one["messageId"] for one in listed] == [second["id"], first["id"]]


@pytest.mark.parametrize("ahead_s", [HOURS_S, AHEAD_S])
async def test_what_comes_after_it_is_counted_in_its_time(start: Start, ahead_s: int) -> None:
    """NTP sets a clock that was ahead at boot, and the daemon runs on for months."""
    clock = ManualClock()
    clock.forward(ahead_s)
    maild = await start(clock=clock)
    inbox = await maild.inbox("bot")
    await maild.received(inbox, "Subject: by the wrong clock\n\n")
    clock.set_back(ahead_s)
    await maild.received(inbox, "Subject: by the right one\n\n")
    await maild.api.send(inbox, to=["nobody@there.test"])
    found = (await maild.api.get("/v1/analytics/summary")).data
    assert (found["received"], found["sent"]) == (1, 1)
    destinations = (await maild.api.get("/v1/analytics/destinations")).data
    assert [(one["domain"], one["sent"]) for one in destinations] == [("there.test", 1)]
