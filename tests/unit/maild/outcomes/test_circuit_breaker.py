"""Reputation ceilings (contract, section 8): what trips them, once, and what an approval forgives."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maild.outcomes import reported
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.verdict import Verdict
from storage import usage
from storage.clock import day_of
from storage.tenants import circuit_breaker, organizations
from storage.tenants.circuit_breaker import judge
from storage.usage import ReputationRates
from tests.support.worlds.store import ORGANIZATION, ManualClock, Store
from tests.unit.maild.outcomes.test_outcomes import settle

BAD = replace(Verdict.of(550, "5.1.1", "no such user", "mx.there.test"), has_left=True)
DAY_S = 86_400


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def sent(store: Store, count: int) -> None:
    await store.db.write(usage.add, ORGANIZATION, day_of(store.clock.now_ms()), "messages", count)


async def bounce(store: Store, count: int, verdict: Verdict = BAD) -> None:
    await store.send(*(f"nobody{number}@there.test" for number in range(count)))
    await settle(store, verdict)


async def approval(store: Store) -> tuple[str, str | None, str | None]:
    row = await store.db.read(organizations.get, ORGANIZATION)
    assert row is not None
    return row.sending_status, row.sending_reason, row.sending_action


@pytest.mark.parametrize(
    ("count", "bounced", "complained", "reason"),
    [
        (100, 0.05, 0.0, "hard_bounce_rate"),
        (100, 0.049999, 0.002999, None),
        (1000, 0.0, 0.003, "complaint_rate"),
        (99, 1.0, 1.0, None),
        (0, 0.0, 0.0, None),
    ],
)
def test_the_ceilings(count: int, bounced: float, complained: float, reason: str | None) -> None:
    assert judge(ReputationRates(count, bounced, complained)) == reason


async def test_bounces_pause_it_in_the_transaction_that_counts_them(store: Store) -> None:
    await sent(store, 100)
    await bounce(store, 4)
    assert await approval(store) == ("approved", None, None)
    await bounce(store, 1)
    assert await approval(store) == ("paused", "hard_bounce_rate", "contact_operator")
    (paused,) = await store.events("sending.paused")
    assert paused == {
        "status": "paused", "reason": "hard_bounce_rate", "action": "contact_operator",
        "trippedAt": "2026-11-18T11:06:40.000Z",
    }  # fmt: skip
    await bounce(store, 3)
    assert len(await store.events("sending.paused")) == 1
    acts = "SELECT group_concat(actor) FROM audit WHERE type = 'organization.paused'"
    assert await store.scalar(acts) == circuit_breaker.BREAKER.name


async def test_complaints_pause_it_too(store: Store) -> None:
    await sent(store, 400)
    message_id = await store.send("a@there.test", "b@there.test")
    await settle(store, Verdict.of(250, None, "ok", "mx"))

    async def complain(position: int) -> bool:
        now_ms = store.clock.now_ms()
        return await store.db.write(
            reported.complained,
            message_id,
            position,
            "abuse",
            OutcomeContext(store.ids.new, store.audit, now_ms),
        )

    assert await complain(0)
    assert not await complain(0)  # told twice, counted once
    assert await approval(store) == ("approved", None, None)
    assert await complain(1)
    assert await approval(store) == ("paused", "complaint_rate", "contact_operator")
    assert [one["recipient"] for one in await store.events("email.complained")] == [
        "a@there.test", "b@there.test",
    ]  # fmt: skip
    assert all(one["suppressed"] for one in await store.events("email.complained"))
    sql = "SELECT group_concat(reason || ' ' || source) FROM suppressions"
    assert await store.scalar(sql) == "complaint feedback_loop,complaint feedback_loop"


async def test_who_never_got_the_message_can_not_complain(store: Store) -> None:
    message_id = await store.send("a@there.test")
    now_ms = store.clock.now_ms()
    for verdict in (Verdict.of(451, None, "later", "mx"), BAD):
        assert not await store.db.write(
            reported.complained, message_id, 0, "abuse", OutcomeContext(store.ids.new, store.audit, now_ms)
        )
        await settle(store, verdict)
        assert isinstance(store.clock, ManualClock)
        store.clock.forward(3600)
    assert await store.events("email.complained") == []


async def test_an_approval_counts_anew(store: Store) -> None:
    await sent(store, 100)
    await bounce(store, 5)
    assert await store.db.write(organizations.approve, ORGANIZATION, store.clock.now_ms())
    await bounce(store, 6)
    assert await approval(store) == ("approved", None, None)  # too few since then to judge
    await sent(store, 94)
    await bounce(store, 1)
    assert await approval(store) == ("approved", None, None)
    await sent(store, 6)
    await bounce(store, 1)
    assert (await approval(store))[0] == "paused"
    assert len(await store.events("sending.paused")) == 2
    shown = await store.db.read(usage.reputation, ORGANIZATION, store.clock.now_ms())
    assert shown.sent == 200  # what the organization is shown forgets nothing


async def test_what_was_forgiven_is_over_after_the_window(store: Store) -> None:
    await sent(store, 1000)
    assert await store.db.write(organizations.approve, ORGANIZATION, store.clock.now_ms())
    assert isinstance(store.clock, ManualClock)
    store.clock.forward(31 * DAY_S)
    await sent(store, 100)
    standing = await store.db.read(organizations.standing, ORGANIZATION, store.clock.now_ms())
    assert standing.sent == 100


async def test_an_approval_by_a_clock_that_was_ahead_does_not_end_the_watch(store: Store) -> None:
    """It was set back: nothing would be judged until it is there again."""
    assert isinstance(store.clock, ManualClock)
    store.clock.forward(400 * DAY_S)
    assert await store.db.write(organizations.approve, ORGANIZATION, store.clock.now_ms())
    store.clock.set_back(400 * DAY_S)
    await sent(store, 100)
    await bounce(store, 5)
    assert (await approval(store))[0] == "paused"


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict.of(451, "4.4.1", "later", "mx"),
        Verdict("bounced", 550, "5.3.0", "the stored message is gone"),
        Verdict("suppressed", None, None, "on the list"),
        Verdict("failed", None, None, "not theirs"),
        Verdict.of(250, None, "ok", "mx"),
    ],
)
async def test_what_is_no_hard_bounce_does_not_count(store: Store, verdict: Verdict) -> None:
    await sent(store, 100)
    await bounce(store, 10, verdict)
    assert await approval(store) == ("approved", None, None)
    assert await store.scalar("SELECT count(*) FROM usage WHERE metric = 'bounced'") == 0


async def test_test_mail_trips_nothing(store: Store) -> None:
    await sent(store, 100)
    await store.send(*(f"bounce{number}@simulator.test" for number in range(10)), mode="test")
    await settle(store, BAD)
    assert await approval(store) == ("approved", None, None)


async def test_an_operators_pause_is_told_once_and_kept(store: Store) -> None:
    now_ms = store.clock.now_ms()
    for number in range(2):
        pausing = (f"evt_{number}", ORGANIZATION, "spam", "contact_operator", now_ms)
        assert await store.db.write(organizations.pause, *pausing)
    assert len(await store.events("sending.paused")) == 1
    await sent(store, 100)
    await bounce(store, 50)
    assert await approval(store) == ("paused", "spam", "contact_operator")
    assert not await store.db.write(organizations.pause, "evt_3", "org_none", "x", "y", now_ms)
    await store.db.write(circuit_breaker.check, "evt_4", store.audit, "org_none", now_ms)
    assert len(await store.events("sending.paused")) == 1


async def is_watched(store: Store) -> bool:
    row = await store.db.read(organizations.get, ORGANIZATION)
    assert row is not None
    return bool(row.is_watched)


async def test_it_is_watched_while_the_messages_are_too_few_to_judge(store: Store) -> None:
    await sent(store, 80)
    await bounce(store, 3)
    assert not await is_watched(store)  # more messages make it less
    await bounce(store, 1)
    assert await is_watched(store) and await approval(store) == ("approved", None, None)


@pytest.mark.parametrize(("bounced", "status"), [(5, "paused"), (4, "approved")])
async def test_the_look_at_a_hundredth_message_decides(store: Store, bounced: int, status: str) -> None:
    await sent(store, 70)
    await bounce(store, bounced)
    for messages, state in [(29, "approved"), (1, status)]:
        await sent(store, messages)
        now_ms = store.clock.now_ms()
        await store.db.write(circuit_breaker.check, "evt_9", store.audit, ORGANIZATION, now_ms)
        assert (await approval(store))[0] == state
    assert not await is_watched(store)
