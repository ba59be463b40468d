"""Outcomes: statuses, counters, suppressions and events change together."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maild.outcomes import attempted, reported
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.reported import Late
from maild.outcomes.verdict import Verdict
from storage import usage
from storage.clock import day_of, iso, month_of
from storage.publishing.events import DELIVERIES
from storage.sending import leases, outbound_events
from tests.support.worlds.store import ORGANIZATION, ManualClock, Store


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def settle(store: Store, *verdicts: Verdict, forward_s: float = 0) -> None:
    """Lease everything that is due, and give each row the verdict of its position, the last one where there is none."""
    now_ms = store.clock.now_ms()
    leased = await store.db.write(leases.lease, "run", now_ms, 100, lambda attempts, at: now_ms + 60_000)
    assert isinstance(store.clock, ManualClock)
    store.clock.forward(forward_s)
    last = len(verdicts) - 1
    await store.db.write(
        attempted.record,
        leased.rows,
        {row.position: verdicts[min(row.position, last)] for row in leased.rows},
        OutcomeContext(store.ids.new, store.audit, store.clock.now_ms()),
        duration_ms=5,
    )


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "suppressed"),
    [
        (550, "5.1.1", "", True),
        (550, "5.1.6", "", True),
        (550, "5.2.1", "", True),
        (556, "5.1.10", "", True),
        (550, None, "No such user here", True),
        (550, None, "User unknown in virtual table", True),
        (550, "5.0.0", "User unknown", True),
        (550, "5.0.0", "rejected", False),
        (550, None, "rejected", False),
        (550, "5.7.1", "user unknown, it says", True),
        (550, "5.7.1", "blocked", False),
        (550, "5.1.1", "user unknown: over quota", False),
        (552, "5.2.2", "full", False),
        (554, "5.6.0", "", False),
        (554, None, "user unknown", True),
        (554, None, "transaction failed", False),
    ],
)
async def test_only_a_bad_address_is_suppressed(
    store: Store, code: int, enhanced: str | None, text: str, suppressed: bool
) -> None:
    await store.send("You@There.test")
    await settle(store, Verdict.of(code, enhanced, text, "mx.there.test"))
    assert await store.scalar("SELECT group_concat(email) FROM suppressions") == (
        "you@there.test" if suppressed else None
    )
    (event,) = await store.events("email.bounced")
    assert (event["suppressed"], event["bounceType"]) == (suppressed, "permanent")


async def test_a_suppression_is_in_the_audit_log_once(store: Store) -> None:
    for _ in range(2):
        await store.send("you@there.test")
        await settle(store, Verdict.of(550, "5.1.1", "no", "mx"))
    assert await store.scalar("SELECT group_concat(type) FROM audit") == "suppression.added"


async def test_a_test_message_suppresses_nobody(store: Store) -> None:
    await store.send("you@there.test", mode="test")
    await settle(store, Verdict.of(550, "5.1.1", "no such user", "mx"))
    (event,) = await store.events("email.bounced")
    assert event["suppressed"] is False
    assert await store.scalar("SELECT count(*) FROM suppressions") == 0


@pytest.mark.parametrize(
    ("code", "status"),
    [(199, "deferred"), (200, "delivered"), (299, "delivered"), (300, "deferred"), (354, "deferred")],
)
def test_a_reply_of_2xx_alone_is_an_acceptance(code: int, status: str) -> None:
    assert Verdict.of(code, None, "").status == status


async def test_a_message_that_reached_somebody_has_no_failure_reason(store: Store) -> None:
    message_id = await store.send("a@there.test", "b@there.test", "c@there.test")
    ok, no = Verdict.of(250, None, "ok", "mx"), Verdict.of(550, "5.1.1", "no", "mx")
    await settle(store, ok, no, Verdict.of(451, None, "later", "mx"))
    sent = await store.message(message_id)
    assert (sent.failure_reason, sent.sent_at) == (None, store.clock.now_ms())
    assert isinstance(store.clock, ManualClock)
    store.clock.forward(60)
    await settle(store, ok)
    last = await store.message(message_id)
    assert (last.status, last.failure_reason, last.sent_at) == ("delivered", None, sent.sent_at)


async def test_what_arrives_after_its_time_has_arrived(store: Store) -> None:
    message_id = await store.send("a@there.test", expires_in_ms=1000)
    await settle(store, Verdict.of(250, None, "ok", "mx"), forward_s=2)
    (row,) = await store.recipients(message_id)
    assert (row.status, row.next_attempt_at) == ("delivered", None)
    assert (await store.message(message_id)).status == "delivered"


async def test_a_recipient_expires_at_the_millisecond(store: Store) -> None:
    for forward_s, status in ((1.999, "deferred"), (2, "failed")):
        message_id = await store.send("a@there.test", expires_in_ms=2000)
        await settle(store, Verdict.of(451, None, "later", "mx"), forward_s=forward_s)
        assert [one.status for one in await store.recipients(message_id)] == [status]
        assert len(await store.events("email.failed")) == (status == "failed")


async def test_counters_are_of_the_day_and_the_month(store: Store) -> None:
    await store.send("a@there.test", "b@there.test")
    await settle(store, Verdict.of(250, None, "ok", "mx"))
    now_ms = store.clock.now_ms()
    for period in (day_of(now_ms), month_of(now_ms)):
        assert await store.db.read(usage.get, ORGANIZATION, period, "delivered") == 2


@pytest.mark.parametrize(
    ("host", "was_told", "left"),
    [(None, False, 4), ("mx.there.test", False, 4), ("mx.there.test", True, 5), (None, True, 5)],
)
async def test_the_quota_comes_back_when_nothing_left_the_host(
    store: Store, host: str | None, was_told: bool, left: int
) -> None:
    now_ms = store.clock.now_ms()
    day, month = day_of(now_ms), month_of(now_ms)
    for period, scope in ((day, ""), (month, ""), (day, "ours.test")):
        await store.db.write(usage.add, ORGANIZATION, period, "messages", 5, scope)
    await store.send("a@there.test")
    await settle(store, replace(Verdict.of(550, "5.1.2", "no", host), has_left=was_told))
    for period, scope in ((day, ""), (month, ""), (day, "ours.test")):
        assert await store.db.read(usage.get, ORGANIZATION, period, "messages", scope) == left


async def test_a_row_that_is_gone_counts_for_nothing(store: Store) -> None:
    message_id = await store.send("a@there.test")
    now_ms = store.clock.now_ms()
    leased = await store.db.write(leases.lease, "run", now_ms, 9, lambda attempts, at: now_ms)
    await store.db.write(lambda tx: tx.run("DELETE FROM recipients WHERE message_id = ?", (message_id,)))
    verdicts = {0: Verdict.of(550, "5.1.1", "no")}
    await store.db.write(
        attempted.record, leased.rows, verdicts, OutcomeContext(store.ids.new, store.audit, now_ms), 1
    )
    assert await store.events() == []
    assert await store.scalar("SELECT count(*) FROM usage") == 0


async def test_a_bounce_that_comes_later(store: Store) -> None:
    message_id = await store.send("a@there.test", "b@there.test")
    await settle(store, Verdict.of(250, None, "ok", "mx"))
    now_ms = store.clock.now_ms()
    late = Verdict.of(550, "5.1.1", "no such user", "mx")

    async def bounce(position: int) -> None:
        failed = [Late(position, late)]
        await store.db.write(
            reported.settled_later, message_id, [], failed, OutcomeContext(store.ids.new, store.audit, now_ms)
        )

    await bounce(0)
    assert (await store.message(message_id)).status == "delivered"
    await bounce(0)  # told twice, counted once
    assert len(await store.events("email.bounced")) == 1
    await bounce(1)
    assert (await store.message(message_id)).status == "failed"
    assert await store.scalar("SELECT count(*) FROM suppressions") == 2
    assert len(await store.events("email.bounced")) == 2
    assert len(await store.events("email.failed")) == 1
    assert await store.db.read(usage.get, ORGANIZATION, day_of(now_ms), "bounced") == 2


async def test_what_a_smarthost_took_arrives_later(store: Store) -> None:
    message_id = await store.send("a@there.test", "b@there.test")
    await settle(store, Verdict.of(250, None, "ok", "relay", accepted="sent"))
    now_ms = store.clock.now_ms()
    for arrived, status, is_news in (
        ([0], "sent", True),
        ([0, 1], "delivered", True),
        ([0, 1], "delivered", False),
    ):
        told = await store.db.write(
            reported.settled_later,
            message_id,
            arrived,
            [],
            OutcomeContext(store.ids.new, store.audit, now_ms),
        )
        assert told is is_news
        assert len(await store.events()) == 1  # email.sent: what arrives later is told to nobody
        assert (await store.message(message_id)).status == status
    assert await store.db.read(usage.get, ORGANIZATION, day_of(now_ms), "delivered") == 2


async def test_an_expired_recipient_is_no_hard_bounce(store: Store) -> None:
    message_id = await store.send("a@there.test", expires_in_ms=1000)
    await settle(store, Verdict.of(451, None, "later", "mx"), forward_s=2)
    assert [one.status for one in await store.recipients(message_id)] == ["failed"]
    assert await store.attempts(message_id) == ["expired"]
    assert await store.scalar("SELECT count(*) FROM usage") == 0


async def test_a_subscriber_gets_a_delivery(store: Store) -> None:
    sql = """INSERT INTO webhooks
          (id, organization_id, url, subscribed_events, secret, created_at, updated_at)
        VALUES ('whk_1', ?, 'http://x.test', '["email.sent"]', x'00', 0, 0)"""
    await store.db.write(lambda tx: tx.run(sql, (ORGANIZATION,)))
    await store.send("a@there.test")
    woken: list[str] = []
    store.db.listen(DELIVERIES, lambda: woken.append("dispatcher"))
    await settle(store, Verdict.of(250, None, "ok", "mx"))
    assert await store.scalar("SELECT count(*) FROM webhook_deliveries") == 1
    assert woken == ["dispatcher"]


# Opt-in events ------------------------------------------------------------------------------------


async def test_a_first_deferral_is_told_once_for_each_recipient(store: Store) -> None:
    await store.send("a@there.test", "b@there.test")
    later = Verdict.of(451, "4.7.1", "later", "mx")
    await settle(store, later)
    first = await store.events("email.delayed")
    assert [one["recipient"] for one in first] == ["a@there.test", "b@there.test"]
    assert {key: first[0][key] for key in ("attempts", "smtpCode", "enhancedCode", "diagnostic")} == {
        "attempts": 1, "smtpCode": 451, "enhancedCode": "4.7.1", "diagnostic": "later",
    }  # fmt: skip
    assert first[0]["nextAttemptAt"] == first[0]["recipients"][0]["nextAttemptAt"] is not None
    assert first[0]["sentAt"] is None
    assert isinstance(store.clock, ManualClock)
    store.clock.forward(3600)
    await settle(store, later)
    assert len(await store.events("email.delayed")) == 2


async def test_a_failed_message_is_told_once(store: Store) -> None:
    await store.send("a@there.test", "b@there.test")
    await settle(store, Verdict.of(550, "5.1.1", "no", "mx"))
    (failed,) = await store.events("email.failed")
    assert failed["failureReason"] == "bounced"
    assert [one["status"] for one in failed["recipients"]] == ["bounced", "bounced"]
    assert [len(await store.events(type)) for type in ("email.bounced", "email.sent")] == [2, 0]


async def test_a_recipient_that_expires_is_not_told_as_delayed(store: Store) -> None:
    await store.send("a@there.test", expires_in_ms=1000)
    await settle(store, Verdict.of(451, None, "later", "mx"), forward_s=2)
    assert await store.events("email.delayed") == []
    assert [one["failureReason"] for one in await store.events("email.failed")] == ["expired"]


async def test_failing_without_a_recipient_can_be_told_too(store: Store) -> None:
    """A scheduled message that is refused at its time was never in the queue."""
    message_id = await store.send()
    fail = "UPDATE messages SET status = 'failed', failure_reason = 'limit_reached' WHERE id = ?"
    await store.db.write(lambda tx: tx.run(fail, (message_id,)))
    now_ms = store.clock.now_ms()
    await store.db.write(outbound_events.publish_failed, "evt_1", message_id, now_ms)
    await store.db.write(outbound_events.publish_failed, "evt_2", "msg_none", now_ms)
    (failed,) = await store.events("email.failed")
    assert (failed["messageId"], failed["failureReason"], failed["recipients"]) == (
        message_id, "limit_reached", [],
    )  # fmt: skip


async def test_the_time_to_the_next_attempt_begins_when_this_one_ends(store: Store) -> None:
    message_id = await store.send("you@there.test")
    await settle(store, Verdict.of(451, "4.4.2", "timed out"), forward_s=300)
    (row,) = await store.recipients(message_id)
    assert row.next_attempt_at == store.clock.now_ms() + 60_000
    (delayed,) = await store.events("email.delayed")
    assert delayed["nextAttemptAt"] == iso(row.next_attempt_at)


async def test_the_last_attempt_is_not_put_off_beyond_the_end(store: Store) -> None:
    message_id = await store.send("you@there.test")
    (row,) = await store.recipients(message_id)
    left_s = (row.expires_at - store.clock.now_ms()) / 1000 - 1
    await settle(store, Verdict.of(451, "4.4.2", "timed out"), forward_s=left_s)
    (after,) = await store.recipients(message_id)
    assert after.next_attempt_at == row.expires_at


async def test_what_was_put_off_was_no_attempt(store: Store) -> None:
    message_id = await store.send("you@there.test")
    (before,) = await store.recipients(message_id)
    not_before = store.clock.now_ms() + 5000
    await settle(store, Verdict("deferred", 451, "4.4.5", "not tried yet", not_before=not_before))
    (after,) = await store.recipients(message_id)
    assert (after.attempts, after.last_attempt_at) == (before.attempts, before.last_attempt_at)
    assert after.next_attempt_at == not_before
    (delayed,) = await store.events("email.delayed")
    assert (delayed["attempts"], delayed["nextAttemptAt"]) == (0, iso(not_before))
