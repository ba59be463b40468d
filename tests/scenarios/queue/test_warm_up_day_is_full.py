"""A new sending domain has more mail for a provider than its warm-up allows on the day."""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from storage.clock import DAY_MS
from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import EPOCH_MS

LIVELY = "127.0.0.2"
TODAY = datetime.fromtimestamp(EPOCH_MS / 1000, UTC).date()
NEW = {"warmup": {"new": {"begins": TODAY, "senders": ["ours.test"], "messages": [3, 5]}}}
TOMORROW_MS = (EPOCH_MS // DAY_MS + 1) * DAY_MS


async def send_to_provider(sending: Sending, messages: int) -> list[str]:
    """So many messages, to two domains whose mail one provider takes."""
    for domain in ("one.test", "two.test"):
        sending.dns.add_mx(domain, host="aspmx.l.google.com")
    return [
        await sending.store.send(f"u{number}@{('one', 'two')[number % 2]}.test") for number in range(messages)
    ]


async def counts(sending: Sending, *statuses: int) -> None:
    """Wait until so many are delivered, and so many deferred, and none is at work."""
    await sending.until_true(
        """SELECT sum(status = 'delivered') = ? AND sum(status = 'deferred') = ? AND sum(lease IS NOT NULL) = 0
           FROM recipients""",
        statuses,
    )


async def test_what_is_too_much_waits_for_the_next_day(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=NEW) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        sent = await send_to_provider(sending, 12)
        await sending.queue.start()
        await counts(sending, 3, 9)
        assert len(sending.mx.received) == 3
        waiting = [
            row for one in sent for row in await sending.store.recipients(one) if row.status == "deferred"
        ]
        assert {(row.attempts, row.next_attempt_at, row.response) for row in waiting} == {
            (0, TOMORROW_MS, f"not tried yet: the warm-up allows 3 messages to google.com on {TODAY}")
        }
        delayed = await sending.store.events("email.delayed")
        assert {(one["class"], one["advice"]) for one in delayed} == {("throttled", "slow_down")}
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.until(await sending.send("you@there.test"), "delivered")
        sending.clock.at_ms = TOMORROW_MS
        sending.queue.wake()
        await counts(sending, 9, 4)
        sending.clock.at_ms = TOMORROW_MS + DAY_MS  # the day after the last
        sending.queue.wake()
        await counts(sending, 13, 0)


async def test_all_of_it_is_due_with_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a look at the day took: what is due a second later than mail that is newer finds the day full."""
    async with Sending(tmp_path, outbound=NEW) as sending:
        ticks = count()
        monkeypatch.setattr(sending.clock, "now_ms", lambda: EPOCH_MS + next(ticks))
        await send_to_provider(sending, 6)
        await sending.queue.start()
        await counts(sending, 3, 3)
        assert await sending.store.scalar(
            "SELECT group_concat(DISTINCT next_attempt_at) FROM recipients WHERE status = 'deferred'"
        ) == str(TOMORROW_MS)


async def test_a_restart_begins_no_new_day(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=NEW) as sending:
        await send_to_provider(sending, 2)
        await sending.queue.start()
        await counts(sending, 2, 0)
        await sending.queue.stop()
        sending.queue = sending.make_queue()
        await send_to_provider(sending, 2)
        await sending.queue.start()
        await counts(sending, 3, 1)


async def test_what_nobody_took_is_not_counted(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=NEW) as sending:
        sending.mx.script["RCPT"] = ["550 5.1.1 no such user", "450 4.2.2 full"]
        sent = await send_to_provider(sending, 5)
        await sending.queue.start()
        await sending.until_true(
            "SELECT sum(status = 'delivered') = 3 AND sum(status = 'bounced') = 1 FROM recipients"
        )
        assert len(sent) - len(sending.mx.received) == 2


async def test_other_senders_have_no_limit(tmp_path: Path) -> None:
    other = {"warmup": {"new": {"begins": TODAY, "senders": ["new.test"], "messages": [1]}}}
    async with Sending(tmp_path, outbound=other) as sending:
        await send_to_provider(sending, 5)
        await sending.queue.start()
        await counts(sending, 5, 0)
        assert await sending.store.scalar("SELECT count(*) FROM warm_up_counts") == 0
