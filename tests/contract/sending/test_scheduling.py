"""`sendAt`: contract, sections 3, 4 and 8; decisions.md, "Message"."""

import asyncio
from collections.abc import Sequence
from email import message_from_bytes
from typing import Any

import pytest

from controlplane.sending import scheduler
from storage.clock import iso
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import messages, withdrawal
from storage.set_aside import LEFT_ALONE_S
from storage.turns.rounds import Kind, Rounds
from tests.conftest import Start
from tests.support.running import Answer, Api, Running, until
from tests.support.worlds.store import ManualClock

MINUTE_MS = 60_000
DAY_MS = 86_400_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)  # 2026-11-21T00:00Z


@pytest.fixture
async def maild(start: Start, clock: ManualClock) -> Running:
    return await start(clock=clock)


async def schedule(
    maild: Running, bot: dict[str, Any], clock: ManualClock, in_ms: int = MINUTE_MS, **fields: Any
) -> Answer:
    return await maild.api.send(bot, sendAt=iso(clock.at_ms + in_ms), **fields)


async def left(maild: Running, message_id: str, api: Api | None = None) -> dict[str, Any]:
    """The message, once it is scheduled no more."""

    async def look() -> dict[str, Any] | None:
        found: dict[str, Any] = (await (api or maild.api).get(f"/v1/messages/{message_id}")).data
        return None if found["status"] == "scheduled" else found

    found: dict[str, Any] = await until(look)
    return found


async def test_it_waits_and_then_goes(maild: Running, bot: dict[str, Any], clock: ManualClock) -> None:
    answer = await schedule(maild, bot, clock, text="later")
    sent = answer.data
    assert (answer.status, sent["status"]) == (201, "scheduled")
    assert (sent["scheduledAt"], sent["sentAt"]) == (iso(clock.at_ms + MINUTE_MS), None)
    assert maild.sql("SELECT * FROM recipients") == maild.sql("SELECT * FROM usage") == []
    clock.forward(60)
    gone = await left(maild, sent["id"])
    assert gone["status"] == "queued"
    assert [one["address"] for one in gone["recipients"]] == ["somebody@elsewhere.test"]
    assert gone["scheduledAt"] == sent["scheduledAt"]
    assert maild.sql("SELECT value FROM usage WHERE length(period) = 10") == [(1,)]


async def test_its_date_is_the_one_it_leaves_at(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock, 5 * DAY_MS)).data
    assert message_from_bytes(await maild.raw(sent["id"]))["Date"] == "Thu, 26 Nov 2026 00:00:00 +0000"


@pytest.mark.parametrize("in_ms", [MINUTE_MS, 30 * DAY_MS])
async def test_the_nearest_and_the_farthest(
    maild: Running, bot: dict[str, Any], clock: ManualClock, in_ms: int
) -> None:
    assert (await schedule(maild, bot, clock, in_ms)).status == 201


@pytest.mark.parametrize("in_ms", [-DAY_MS, 0, MINUTE_MS - 1, 30 * DAY_MS + 1, 4000 * DAY_MS])
async def test_too_near_and_too_far(
    maild: Running, bot: dict[str, Any], clock: ManualClock, in_ms: int
) -> None:
    answer = await schedule(maild, bot, clock, in_ms)
    assert (answer.status, answer.faults) == (400, {"sendAt": "out_of_range"})


@pytest.mark.parametrize(
    "at", ["2026-11-22T00:00:00", "2026-11-22", "tomorrow", "", 1_795_305_600, "2026-11-31T00:00:00Z"]
)
async def test_what_is_no_time_with_an_offset(maild: Running, bot: dict[str, Any], at: Any) -> None:
    answer = await maild.api.send(bot, sendAt=at)
    assert (answer.status, answer.faults) == (400, {"sendAt": "invalid_date"})


@pytest.mark.parametrize("at", ["2026-11-21T05:00:00+02:00", "2026-11-21t03:00:00z"])
async def test_an_offset_counts(maild: Running, bot: dict[str, Any], at: str) -> None:
    """RFC 3339 §5.6: T and Z in either case."""
    sent = (await maild.api.send(bot, sendAt=at)).data
    assert sent["scheduledAt"] == "2026-11-21T03:00:00.000Z"


async def test_attachments_are_not_schedulable(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    attachment = {"filename": "a.txt", "content": "eA=="}
    answer = await schedule(maild, bot, clock, attachments=[attachment])
    assert (answer.status, answer.code) == (400, "attachments_not_schedulable")
    assert (await schedule(maild, bot, clock, attachments=[])).status == 201


async def test_a_cancelled_one_never_goes(maild: Running, bot: dict[str, Any], clock: ManualClock) -> None:
    sent = (await schedule(maild, bot, clock)).data
    cancelled = await maild.api.call("DELETE", f"/v1/messages/{sent['id']}/schedule")
    assert cancelled.data == {"id": sent["id"], "status": "cancelled"}
    other = (await schedule(maild, bot, clock)).data
    clock.forward(3600)
    await left(maild, other["id"])  # the scheduler has been there
    assert (await maild.api.get(f"/v1/messages/{sent['id']}")).data["status"] == "cancelled"
    assert maild.sql("SELECT message_id FROM recipients") == [(other["id"],)]
    assert maild.sql("SELECT value FROM usage WHERE length(period) = 10") == [(1,)]


async def test_one_that_is_cancelled_just_before_its_turn_does_not_fail(
    maild: Running, bot: dict[str, Any], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found due, cancelled, and then looked at: no guard has a say in it any more."""
    sent = (await schedule(maild, bot, clock, to=["gone@elsewhere.test"])).data
    await maild.api.call("DELETE", f"/v1/messages/{sent['id']}/schedule")
    await maild.api.post("/v1/suppressions", {"email": "gone@elsewhere.test"})
    find = scheduler.Scheduler._due

    def found_before(self: scheduler.Scheduler, tx: Tx) -> Sequence[str]:
        due = find(self, tx)
        return [sent["id"], *due] if due else due

    monkeypatch.setattr(scheduler.Scheduler, "_due", found_before)
    other = (await schedule(maild, bot, clock)).data
    clock.forward(60)
    await left(maild, other["id"])
    assert (await maild.api.get(f"/v1/messages/{sent['id']}")).data["status"] == "cancelled"
    assert (await maild.api.get("/v1/events", types="email.failed")).data == []


async def test_what_is_not_scheduled_can_not_be_cancelled(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock)).data
    clock.forward(60)
    await left(maild, sent["id"])
    answer = await maild.api.call("DELETE", f"/v1/messages/{sent['id']}/schedule")
    assert (answer.status, answer.code) == (409, "not_scheduled")
    now = (await maild.api.send(bot)).data
    assert (await maild.api.call("DELETE", f"/v1/messages/{now['id']}/schedule")).code == "not_scheduled"


async def test_of_a_cancel_and_a_dispatch_one_wins(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    ids = [(await schedule(maild, bot, clock)).data["id"] for _ in range(40)]
    clock.forward(60)
    answers = await asyncio.gather(*(maild.api.call("DELETE", f"/v1/messages/{one}/schedule") for one in ids))
    for message_id in ids:
        await left(maild, message_id)
    queued = {one for (one,) in maild.sql("SELECT message_id FROM recipients")}
    for message_id, answer in zip(ids, answers, strict=True):
        assert (message_id in queued) == (answer.status == 409), answer.body


async def test_the_guards_run_again_when_it_goes(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock, to=["gone@elsewhere.test"])).data
    await maild.api.post("/v1/suppressions", {"email": "GONE@elsewhere.test"})
    clock.forward(60)
    refused = await left(maild, sent["id"])
    assert (refused["status"], refused["failureReason"]) == ("failed", "recipient_suppressed")
    assert maild.sql("SELECT * FROM recipients") == maild.sql("SELECT * FROM usage") == []
    # Of all guards the tripwire alone stops the organization.
    assert (await maild.api.send(bot)).status == 201


async def test_the_guards_run_at_once_too(maild: Running, bot: dict[str, Any], clock: ManualClock) -> None:
    await maild.api.post("/v1/suppressions", {"email": "gone@elsewhere.test"})
    answer = await schedule(maild, bot, clock, to=["gone@elsewhere.test"])
    assert (answer.status, answer.code) == (422, "recipient_suppressed")


async def test_the_allowance_is_that_of_the_day_it_goes(maild: Running, clock: ManualClock) -> None:
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    assert (await tiny.api.send(bot)).status == 201
    at = iso(clock.at_ms + MINUTE_MS)
    assert (await tiny.api.send(bot, sendAt=at)).code == "limit_reached"
    assert (await tiny.api.send(bot, sendAt=iso(clock.at_ms + DAY_MS))).status == 201


async def test_one_that_lost_its_allowance_meanwhile_fails_and_says_so(
    maild: Running, clock: ManualClock
) -> None:
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    later = (await tiny.api.send(bot, sendAt=iso(clock.at_ms + MINUTE_MS))).data
    assert (await tiny.api.send(bot)).status == 201
    clock.forward(60)

    async def look() -> Any:
        found = (await tiny.api.get(f"/v1/messages/{later['id']}")).data
        return found if found["status"] == "failed" else None

    assert (await until(look))["failureReason"] == "limit_reached"
    assert maild.sql("SELECT value FROM usage WHERE length(period) = 10") == [(1,)]


async def test_what_was_due_while_we_were_down_goes_once_we_are_up(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock)).data
    await maild.daemon.stop()
    clock.forward(7200)
    await maild.daemon.start()
    api = maild.api = type(maild.api)(maild._session, maild.daemon.http.url, maild.api.key)
    assert (await left(maild, sent["id"]))["status"] == "queued"
    assert maild.sql("SELECT count(*) FROM recipients") == [(1,)]
    assert len(await api.messages()) == 1


async def test_a_clock_that_jumps_neither_doubles_nor_loses(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock, 20 * DAY_MS)).data
    clock.forward(40 * 86_400)
    assert (await left(maild, sent["id"]))["status"] == "queued"
    clock.at_ms -= 40 * DAY_MS
    other = (await schedule(maild, bot, clock)).data
    clock.forward(60)
    await left(maild, other["id"])
    counted = maild.sql("SELECT message_id, count(*) FROM recipients GROUP BY 1 ORDER BY 1")
    assert counted == sorted([(sent["id"], 1), (other["id"], 1)])


async def test_deleting_a_scheduled_message_drops_it(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock)).data
    assert (await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")).status == 200
    other = (await schedule(maild, bot, clock)).data
    clock.forward(60)
    await left(maild, other["id"])
    assert maild.sql("SELECT message_id FROM recipients") == [(other["id"],)]


async def test_a_deactivated_inbox_sends_nothing_that_was_scheduled(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock)).data
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    found = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
    assert (found["status"], found["failureReason"]) == ("failed", "inbox_not_found")


async def test_a_deactivated_inbox_takes_nothing_back_from_whom_it_has_reached(
    maild: Running, bot: dict[str, Any]
) -> None:
    other = await maild.inbox("other")
    sent = (await maild.api.send(bot, to=[other["address"], "somebody@elsewhere.test"])).data
    await maild.arrival(other)
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    await maild.until_withdrawn()
    found = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
    assert (found["status"], found["failureReason"]) == ("delivered", None)
    assert maild.sql("SELECT status FROM recipients ORDER BY position") == [("delivered",), ("failed",)]


async def test_a_failure_gives_back_what_was_counted_on_the_day_it_went(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await schedule(maild, bot, clock, 3 * DAY_MS)).data
    clock.forward(3 * 86_400)
    await left(maild, sent["id"])
    assert maild.sql("SELECT period, value FROM usage WHERE length(period) = 10") == [("2026-11-24", 1)]
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    assert maild.sql("SELECT period, value FROM usage WHERE length(period) = 10") == [("2026-11-24", 0)]


async def test_a_test_keys_scheduled_mail_ends_in_the_simulator(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    sent = (await maild.test_api.send(bot, sendAt=iso(clock.at_ms + MINUTE_MS))).data
    clock.forward(60)

    async def look() -> Any:
        found = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
        return found if found["status"] == "delivered" else None

    assert (await until(look))["mode"] == "test"
    assert maild.sql("SELECT * FROM usage WHERE metric = 'messages'") == []


async def test_others_write_while_an_inbox_goes_for_which_much_waits(
    maild: Running, bot: dict[str, Any], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(withdrawal, "FEW", 2)
    monkeypatch.setattr(withdrawal, "SLICE_S", 0)
    for _ in range(5):
        assert (await schedule(maild, bot, clock, DAY_MS)).status == 201
    db = maild.daemon._db
    assert db is not None
    written = db.units_written
    assert (await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")).status == 200
    await maild.until_withdrawn()
    assert db.units_written - written >= 6  # the inbox, and five slices
    assert maild.sql("SELECT status, failure_reason, count(*) FROM messages GROUP BY 1, 2") == [
        ("failed", "inbox_not_found", 5)
    ]
    ((told,),) = maild.sql("SELECT count(*) FROM events WHERE type = 'email.failed'")
    assert told == 5


async def test_others_write_while_much_is_due_at_once(
    maild: Running, bot: dict[str, Any], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer takes what comes first, a few to a commit: who stands behind a whole batch waits for many of them."""
    waiting, most = 0, 0
    write = Database.write

    async def written(db: Database, unit: Any, *args: Any) -> Any:
        nonlocal waiting, most
        is_dispatch = getattr(unit, "__name__", "") == "_dispatch"
        waiting += is_dispatch
        most = max(most, waiting)
        try:
            return await write(db, unit, *args)
        finally:
            waiting -= is_dispatch

    monkeypatch.setattr(Database, "write", written)
    sent = [(await schedule(maild, bot, clock)).data["id"] for _ in range(3 * scheduler.AT_ONCE)]
    clock.forward(61)
    for one in sent:
        await left(maild, one)
    assert 1 < most <= scheduler.AT_ONCE


async def test_organizations_take_turns_where_much_is_due_at_once(
    maild: Running, bot: dict[str, Any], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has its newsletter go at nine; a message of another one, for a moment after nine, goes with the first."""
    monkeypatch.setattr(scheduler, "BATCH", 8)
    monkeypatch.setattr(scheduler, "TURNS", 3)
    batches: list[list[str]] = []
    find = scheduler.Scheduler._due

    def finding(self: scheduler.Scheduler, tx: Tx) -> Sequence[str]:
        batches.append(list(find(self, tx)))
        return batches[-1]

    monkeypatch.setattr(scheduler.Scheduler, "_due", finding)
    for _ in range(30):
        assert (await schedule(maild, bot, clock)).status == 201
    other = await maild.organization()
    inbox = await maild.inbox("other", other.api)
    theirs = (await other.api.send(inbox, sendAt=iso(clock.at_ms + MINUTE_MS + 1000))).data["id"]
    batches.clear()
    clock.forward(62)
    await left(maild, theirs, other.api)
    assert theirs in next(batch for batch in batches if batch)


async def test_what_can_not_be_dispatched_holds_up_no_other(
    maild: Running, bot: dict[str, Any], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "BATCH", 2)
    dispatch, broken = scheduler.Scheduler._dispatch, set[str]()

    def failing(self: scheduler.Scheduler, tx: Tx, message_id: str) -> Any:
        if message_id in broken:
            raise ValueError("a fault of the program")
        return dispatch(self, tx, message_id)

    monkeypatch.setattr(scheduler.Scheduler, "_dispatch", failing)
    for _ in range(4):
        broken.add((await schedule(maild, bot, clock)).data["id"])
    whole = (await schedule(maild, bot, clock, 2 * MINUTE_MS)).data["id"]
    clock.forward(121)
    assert (await left(maild, whole))["status"] == "queued"
    db = maild.daemon._db
    assert db is not None
    assert await db.lookup(messages.next_scheduled_at, broken) is None  # nothing calls for a look at once
    mended = set(broken)
    broken.clear()
    clock.forward(LEFT_ALONE_S)
    for message_id in mended:
        assert (await left(maild, message_id))["status"] == "queued"


async def test_what_is_due_waits_for_its_place_behind_requests(
    maild: Running, bot: dict[str, Any], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty thousand that were due at one moment took all of the event loop for ten seconds."""
    asked, place = asyncio.Event(), asyncio.Event()
    begin = Rounds.begin

    async def waited(rounds: Rounds, kind: Kind, owner: str = "") -> None:
        if kind is Kind.DELIVERY:
            asked.set()
            await place.wait()
        await begin(rounds, kind, owner)

    monkeypatch.setattr(Rounds, "begin", waited)
    sent = (await schedule(maild, bot, clock)).data["id"]
    clock.forward(61)
    await asked.wait()
    assert (await maild.api.get(f"/v1/messages/{sent}")).data["status"] == "scheduled"
    place.set()
    assert (await left(maild, sent))["status"] == "queued"
