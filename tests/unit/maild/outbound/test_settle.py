"""From a verdict to the store: what can't be written for a reason of its own holds no place and is not tried hot."""

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from maild.outbound.settle import UNSETTLED_MAX, Outcome, Settler
from maild.outcomes import attempted
from maild.outcomes.verdict import Verdict
from maild.ports import Reply
from storage import usage
from storage.audit.trail import Records
from storage.clock import day_of, month_of
from storage.engine.tx import Tx
from storage.mail import messages
from storage.sending import leases
from storage.sending.leases import Due
from storage.tenants import circuit_breaker
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import Store

TAKEN = Verdict.of(250, "2.0.0", "taken", "mx.there.test")
FAILED = Verdict.of(550, "5.1.1", "no such user")
LATER = Verdict.of(451, "4.7.1", "later")


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def leased(store: Store, *recipients: str) -> list[Due]:
    await store.send(*recipients)
    now_ms = store.clock.now_ms()
    return (await store.db.write(leases.lease, "run", now_ms, 9, lambda n, at: now_ms + 60_000)).rows


async def settled(store: Store, outcome: Outcome) -> list[bool]:
    """Have it settled, to the end; what was called back."""
    settler = Settler(store.db, store.clock, store.ids, store.audit, lambda: False, store_retry_s=0)
    told: list[bool] = []
    await settler.settle(outcome, told.append)
    await asyncio.wait(settler._tasks)
    assert settler._slots._value == UNSETTLED_MAX
    return told


async def forbid(store: Store, table: str, when: str = "1") -> None:
    sql = (
        f"CREATE TRIGGER broken BEFORE INSERT ON {table} WHEN {when} BEGIN SELECT RAISE(ABORT, 'a bug'); END"
    )
    await store.db.write(lambda tx: tx.run(sql))


async def states(store: Store, message_id: str) -> list[tuple[str, str | None, int | None]]:
    sql = "SELECT status, lease, next_attempt_at FROM recipients WHERE message_id = ? ORDER BY position"
    found: list[tuple[str, str | None, int | None]] = await store.db.read(
        lambda tx: tx.all(sql, (message_id,))
    )
    return found


@pytest.mark.parametrize(("has_requests", "units"), [(False, 1), (True, 3)])
async def test_outcomes_are_written_in_small_pieces_while_requests_come_in(
    store: Store, has_requests: bool, units: int
) -> None:
    rows = await leased(store, *(f"{number}@there.test" for number in range(9)))
    settler = Settler(store.db, store.clock, store.ids, store.audit, lambda: has_requests)
    told: list[bool] = []
    for row in rows:
        await settler.settle(Outcome([row], {row.position: TAKEN}), told.append)
    written = store.db.units_written
    while settler._tasks:
        await asyncio.wait(settler._tasks)
    assert store.db.units_written - written == units
    assert told == [False] * len(rows)


@pytest.mark.parametrize(
    ("verdict", "recipients", "units"),
    [(TAKEN, 8, 2), (FAILED, 1, 1), (FAILED, 2, 2), (FAILED, 8, 4), (LATER, 2, 2)],
)
async def test_outcomes_of_many_recipients_are_written_in_as_small_pieces(
    store: Store, verdict: Verdict, recipients: int, units: int
) -> None:
    """An event about each recipient shows all of them: sixteen of a message to 150 held the loop for 27 ms."""
    settler = Settler(store.db, store.clock, store.ids, store.audit, lambda: False)
    outcomes = []
    for message in "abcd":
        rows = await leased(store, *(f"{message}{number}@there.test" for number in range(recipients)))
        outcomes.append(Outcome(rows, {row.position: verdict for row in rows}))
    for outcome in outcomes:
        await settler.settle(outcome, lambda _: None)
    written = store.db.units_written
    while settler._tasks:
        await asyncio.wait(settler._tasks)
    assert store.db.units_written - written == units


@pytest.mark.parametrize(
    ("verdict", "is_apart"),
    [
        (Verdict.of(550, "5.1.1", "no such user"), True),
        (Verdict.of(451, "4.7.1", "later"), True),
        (TAKEN, False),
    ],
)
async def test_events_of_many_recipients_are_written_beside_the_loop(
    store: Store, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, is_apart: bool
) -> None:
    """Each shows all recipients: of 150 that bounce it is four megabytes, which held the loop for 90 ms."""
    threads: list[int] = []

    def recorded(*args: Any) -> Any:
        threads.append(threading.get_ident())
        return record(*args)

    record = attempted.record
    monkeypatch.setattr("maild.outcomes.attempted.record", recorded)
    rows = await leased(store, *(f"{number}@there.test" for number in range(9)))
    await settled(store, Outcome(rows, {row.position: verdict for row in rows}))
    assert [thread != threading.get_ident() for thread in threads] == [is_apart]
    found = await states(store, rows[0].message_id)
    assert {status for status, _, _ in found} == {verdict.status}


async def test_who_has_no_verdict_is_deferred(store: Store) -> None:
    rows = await leased(store, "a@there.test", "b@there.test")
    assert await settled(store, Outcome(rows, {0: TAKEN})) == [True]
    found = await store.recipients(rows[0].message_id)
    assert [(one.status, one.enhanced_code) for one in found] == [
        ("delivered", "2.0.0"),
        ("deferred", "4.3.0"),
    ]


async def test_who_got_no_local_reply_is_deferred(store: Store) -> None:
    rows = await leased(store, "a@ours.test", "b@ours.test")
    outcome = Outcome(rows, {}, lambda tx: {"a@ours.test": Reply(250, "2.1.5", "in the inbox")})
    await settled(store, outcome)
    assert [status for status, _, _ in await states(store, rows[0].message_id)] == ["delivered", "deferred"]


async def test_a_verdict_on_nobody_changes_nothing(store: Store) -> None:
    rows = await leased(store, "a@there.test")
    await settled(store, Outcome(rows, {0: TAKEN, 7: TAKEN}))
    assert [status for status, _, _ in await states(store, rows[0].message_id)] == ["delivered"]


async def test_what_can_not_be_recorded_is_an_internal_deferral(store: Store) -> None:
    rows = await leased(store, "a@there.test")
    await forbid(store, "events", "NEW.type = 'email.sent'")
    assert await settled(store, Outcome(rows, {0: TAKEN})) == [True]
    assert await states(store, rows[0].message_id) == [("deferred", None, rows[0].next_attempt_at)]
    (row,) = await store.recipients(rows[0].message_id)
    assert (row.enhanced_code, row.response) == ("4.3.0", "internal error")


async def test_what_can_not_be_recorded_at_all_comes_again_on_schedule(store: Store) -> None:
    rows = await leased(store, "a@there.test")
    await forbid(store, "delivery_attempts")
    await settled(store, Outcome(rows, {0: TAKEN}))
    assert await states(store, rows[0].message_id) == [("queued", None, rows[0].next_attempt_at)]
    now_ms = store.clock.now_ms()
    again = await store.db.write(leases.lease, "run", now_ms, 9, lambda n, at: now_ms)
    assert again.rows == []


async def test_evidence_that_can_not_be_kept_costs_no_verdict(store: Store) -> None:
    rows = await leased(store, "a@there.test")
    await forbid(store, "delivery_evidence")
    outcome = Outcome(rows, {0: TAKEN}, evidence='["not_tried"]', attempted=rows)
    assert await settled(store, outcome) == [False]
    assert await store.attempts(rows[0].message_id) == ["delivered"]


async def test_evidence_is_kept_for_those_that_were_attempted_and_are_there(store: Store) -> None:
    rows = await leased(store, "a@there.test", "b@there.test", "c@there.test")
    sql = "DELETE FROM recipients WHERE message_id = ? AND position = 1"
    await store.db.write(lambda tx: tx.run(sql, (rows[0].message_id,)))
    outcome = Outcome(
        rows, dict.fromkeys(range(3), TAKEN), evidence='["not_tried"]', attempted=[rows[1], rows[2]]
    )
    await settled(store, outcome)
    found = await store.db.read(lambda tx: tx.all("SELECT position, attempt, shared FROM delivery_evidence"))
    assert found == [(2, 1, None)]


async def test_of_a_message_that_was_deleted_meanwhile_nothing_is_kept(store: Store) -> None:
    rows = await leased(store, "a@there.test")
    message = await store.message(rows[0].message_id)
    await store.db.write(messages.delete, message)
    await settled(store, Outcome(rows, {0: TAKEN}, evidence='["not_tried"]', attempted=rows))
    assert await store.scalar("SELECT count(*) FROM delivery_evidence") == 0


async def test_the_store_is_asked_until_it_writes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = await leased(store, "a@there.test")
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    refusals, write = [full] * 5, store.db.write

    async def refuses(*arguments: Any) -> Any:
        if refusals:
            raise refusals.pop()
        return await write(*arguments)

    monkeypatch.setattr(store.db, "write", refuses)
    with capture_logs() as lines:
        assert await settled(store, Outcome(rows, {0: TAKEN})) == [False]
    assert not refusals
    assert await store.attempts(rows[0].message_id) == ["delivered"]
    (told,) = (one for one in lines if one["event"] == "outcome_not_stored")
    assert "the disk is full" in told["error"] and "exc_info" not in told


@pytest.mark.parametrize("fault", [MemoryError(), AssertionError()])
async def test_what_says_nothing_of_itself_is_told_too(
    store: Store, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    rows = await leased(store, "a@there.test")
    faults, write = [fault] * 2, store.db.write  # together, and by itself

    async def fails(*arguments: Any) -> Any:
        if faults:
            raise faults.pop()
        return await write(*arguments)

    monkeypatch.setattr(store.db, "write", fails)
    with capture_logs() as lines:
        await settled(store, Outcome(rows, {0: TAKEN}))
    assert "outcome_not_stored" in [one["event"] for one in lines]


async def settled_together(store: Store, outcomes: list[Outcome]) -> list[bool]:
    """As `settled`, while the first of them is being written."""
    settler = Settler(store.db, store.clock, store.ids, store.audit, lambda: False, store_retry_s=0)
    told: list[bool] = []
    for outcome in outcomes:
        await settler.settle(outcome, told.append)
    await asyncio.wait(settler._tasks)
    assert settler._slots._value == UNSETTLED_MAX
    return told


async def test_outcomes_that_end_together_are_counted_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = await leased(store, "a@there.test") + await leased(store, "b@there.test")
    added: list[tuple[str, int]] = []
    add = usage.add

    def counting(tx: Tx, organization_id: str, period: str, metric: str, amount: int = 1) -> None:
        added.append((period, amount))
        add(tx, organization_id, period, metric, amount)

    monkeypatch.setattr(usage, "add", counting)
    assert await settled_together(store, [Outcome([row], {0: TAKEN}) for row in rows]) == [False, False]
    now_ms = store.clock.now_ms()
    assert added == [(day_of(now_ms), 2), (month_of(now_ms), 2)]
    assert len(await store.events("email.sent")) == 2


async def test_one_that_can_not_be_recorded_spoils_none_of_the_others(store: Store) -> None:
    rows = [row for number in range(20) for row in await leased(store, f"u{number}@there.test")]
    await forbid(store, "delivery_attempts", f"NEW.message_id = '{rows[7].message_id}'")
    told = await settled_together(store, [Outcome([row], {0: TAKEN}) for row in rows])
    assert len(told) == 20
    statuses = [(await states(store, row.message_id))[0][0] for row in rows]
    assert statuses == ["delivered"] * 7 + ["queued"] + ["delivered"] * 12
    assert len(await store.events("email.sent")) == 19
    day = day_of(store.clock.now_ms())
    assert await store.db.read(usage.get, rows[0].organization_id, day, "delivered") == 19


async def test_a_bounce_among_others_finds_their_counts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The circuit breaker reads what the outcomes before it in the same unit have counted."""
    rows = await leased(store, "a@there.test") + await leased(store, "b@there.test")
    found: list[int] = []

    def looking(tx: Tx, event_id: str, audit: Records, organization_id: str, now_ms: int) -> None:
        found.append(usage.get(tx, organization_id, day_of(now_ms), "delivered"))
        found.append(usage.get(tx, organization_id, day_of(now_ms), "bounced"))

    monkeypatch.setattr(circuit_breaker, "check", looking)
    refused = Verdict.of(550, "5.1.1", "no such user", "mx.there.test")
    await settled_together(store, [Outcome([rows[0]], {0: TAKEN}), Outcome([rows[1]], {0: refused})])
    assert found == [1, 1]


async def test_a_domain_that_nobody_can_place_holds_up_no_other(tmp_path: Path) -> None:
    async with Sending(tmp_path, local_domains={"ours.test"}) as sending:
        is_local = sending.queue._is_local

        async def stumbles(domain: str) -> bool:
            if domain == "odd.test":
                raise ValueError(domain)
            return await is_local(domain)

        sending.queue._is_local = stumbles
        odd = await sending.store.send("a@odd.test")
        other = await sending.store.send("b@ours.test")
        await sending.queue.start()
        await sending.until(other, "delivered")
        await sending.until(await sending.send("c@ours.test"), "delivered")
        (row,) = await sending.store.recipients(odd)
        assert (row.status, row.attempts) == ("queued", 1)
        assert row.next_attempt_at > sending.clock.now_ms()
