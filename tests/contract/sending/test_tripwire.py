"""The bulk tripwire: contract, section 8; decisions.md, "Tripwire"."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from storage.clock import iso
from storage.mail import messages
from tests.conftest import Start
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

CODE = (403, "sending_paused_bulk_review")
YEAR_S = 365 * 86_400


def people(first: int, last: int) -> list[str]:
    """Addresses first, first + 1, … last."""
    return [f"p{number}@elsewhere.test" for number in range(first, last + 1)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def maild(start: Start, clock: ManualClock) -> Running:
    return await start(clock=clock, limits={"bulk_recipients": 50})


async def test_forty_nine_pass_and_the_fiftieth_trips(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    assert (await maild.api.send(bot, to=people(1, 49))).status == 201
    answer = await maild.api.send(bot, to=people(50, 50))
    assert (answer.status, answer.code) == CODE
    told = answer.error["details"]
    assert told == {
        "limit": 50, "windowSeconds": 600, "trippedAt": "2026-11-21T00:00:00.000Z",
        "resetsAt": "2026-11-22T00:00:00.000Z",
    }  # fmt: skip
    # Once tripped, also who was written to before is not written to.
    clock.forward(1)
    answer = await maild.api.send(bot, to=people(1, 1))
    assert (answer.status, answer.code) == CODE
    assert answer.error["details"] == told


async def test_one_send_of_fifty_trips(maild: Running, bot: dict[str, Any]) -> None:
    answer = await maild.api.send(bot, to=people(1, 30), cc=people(31, 40), bcc=people(41, 50))
    assert (answer.status, answer.code) == CODE
    assert await maild.api.messages() == []


async def test_it_counts_people_not_copies(maild: Running, bot: dict[str, Any]) -> None:
    for _ in range(3):
        assert (await maild.api.send(bot, to=people(1, 49))).status == 201
    assert (await maild.api.send(bot, to=["P1@Elsewhere.TEST"])).status == 201


async def test_it_counts_over_all_inboxes_and_keys(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    assert (await maild.api.send(bot, to=people(1, 25))).status == 201
    bound = await maild.key(inbox=other)
    assert (await bound.send(other, to=people(26, 49))).status == 201
    assert (await bound.send(other, to=people(50, 50))).code == CODE[1]
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    assert (await stranger.api.send(theirs, to=people(1, 49))).status == 201


async def test_after_ten_minutes_they_are_forgotten(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    assert (await maild.api.send(bot, to=people(1, 49))).status == 201
    clock.forward(599)
    assert (await maild.api.send(bot, to=people(1, 1))).status == 201  # p1 is seen anew
    clock.forward(1)
    assert (await maild.api.send(bot, to=people(50, 97))).status == 201  # and p1 makes 49
    assert (await maild.api.send(bot, to=people(98, 98))).code == CODE[1]


async def test_it_stays_tripped_for_a_day(maild: Running, bot: dict[str, Any], clock: ManualClock) -> None:
    await maild.api.send(bot, to=people(1, 50))
    clock.forward(86_399)
    assert (await maild.api.send(bot, to=people(1, 1))).code == CODE[1]
    clock.forward(1)
    assert (await maild.api.send(bot, to=people(1, 1))).status == 201


async def test_a_clock_that_was_ahead_counts_nobody_and_trips_nothing(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    """It was set back: what it noted would be of the last ten minutes for as long as it was ahead."""
    clock.forward(YEAR_S)
    assert (await maild.api.send(bot, to=people(1, 49))).status == 201
    assert (await maild.api.send(bot, to=people(50, 50))).code == CODE[1]
    clock.set_back(YEAR_S)
    assert (await maild.api.send(bot, to=people(51, 99))).status == 201
    assert (await maild.api.send(bot, to=people(100, 100))).code == CODE[1]


async def test_it_stays_tripped_over_a_restart(maild: Running, bot: dict[str, Any]) -> None:
    await maild.api.send(bot, to=people(1, 50))
    await maild.daemon.stop()
    await maild.daemon.start()
    maild.api.url = maild.daemon.http.url
    assert (await maild.api.send(bot, to=people(1, 1))).code == CODE[1]


async def test_an_operator_resets_it(maild: Running, bot: dict[str, Any]) -> None:
    assert (await maild.api.send(bot, to=people(1, 49))).status == 201
    assert (await maild.api.send(bot, to=people(50, 50))).code == CODE[1]
    await maild.operate(maild.store.organizations.reset_tripwire, maild.organization_id)
    assert (await maild.api.send(bot, to=people(50, 98))).status == 201


async def test_answers_are_neither_counted_nor_stopped(maild: Running, bot: dict[str, Any]) -> None:
    asked = await maild.received(bot, "From: Asker <asker@Elsewhere.test>\nSubject: Q\n\n?")
    assert (await maild.api.send(bot, to=people(1, 49))).status == 201
    reply = {"to": ["ASKER@elsewhere.test"], "inReplyTo": asked["id"]}
    assert (await maild.api.send(bot, **reply)).status == 201  # not the fiftieth
    assert (await maild.api.send(bot, to=people(50, 50))).code == CODE[1]
    assert (await maild.api.send(bot, **reply)).status == 201  # not stopped
    assert (await maild.api.send(bot, **{**reply, "inReplyTo": asked["threadId"]})).status == 201


async def test_who_never_wrote_there_is_no_correspondent(maild: Running, bot: dict[str, Any]) -> None:
    asked = await maild.received(bot, "From: asker@elsewhere.test\nSubject: Q\n\n?")
    await maild.api.send(bot, to=people(1, 50))
    answer = await maild.api.send(bot, to=["asker@elsewhere.test"], cc=people(1, 1), inReplyTo=asked["id"])
    assert (answer.status, answer.code) == CODE
    # The asker is one in that conversation alone.
    assert (await maild.api.send(bot, to=["asker@elsewhere.test"])).code == CODE[1]


async def test_many_at_once_do_not_slip_through(maild: Running, bot: dict[str, Any]) -> None:
    answers = await asyncio.gather(*(maild.api.send(bot, to=people(n, n)) for n in range(1, 101)))
    assert Counter(one.status for one in answers) == {201: 49, 403: 51}
    assert len(await maild.api.messages(limit="100")) == 49


async def test_the_simulator_does_not_touch_it(maild: Running, bot: dict[str, Any]) -> None:
    assert (await maild.test_api.send(bot, to=people(1, 50))).status == 201
    assert (await maild.api.send(bot, to=people(51, 99))).status == 201
    assert (await maild.api.send(bot, to=people(100, 100))).code == CODE[1]
    assert (await maild.test_api.send(bot)).status == 201


async def test_what_is_refused_is_not_counted(maild: Running, bot: dict[str, Any]) -> None:
    await maild.api.post("/v1/suppressions", {"email": "gone@elsewhere.test"})
    assert (await maild.api.send(bot, to=[*people(1, 40), "gone@elsewhere.test"])).status == 422
    assert (await maild.api.send(bot, to=people(41, 89))).status == 201


async def test_scheduled_mail_is_counted_when_it_goes(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    at = iso(clock.at_ms + 60_000)
    many = iso(clock.at_ms + 86_400_000)
    assert (await maild.api.send(bot, to=people(100, 149), cc=people(150, 199), sendAt=many)).status == 201
    later = (await maild.api.send(bot, to=people(1, 49), sendAt=at)).data
    trips = (await maild.api.send(bot, to=people(50, 50), sendAt=iso(clock.at_ms + 61_000))).data
    assert (await maild.api.send(bot, to=people(60, 60))).status == 201
    clock.forward(60)

    async def look() -> Any:
        found = (await maild.api.get(f"/v1/messages/{later['id']}")).data
        return found if found["status"] == "failed" else None

    assert (await until(look))["failureReason"] == "sending_paused_bulk_review"
    clock.forward(1)

    async def look_too() -> Any:
        found = (await maild.api.get(f"/v1/messages/{trips['id']}")).data
        return found if found["status"] == "failed" else None

    assert (await until(look_too))["failureReason"] == "sending_paused_bulk_review"


async def test_it_says_so_in_an_event_once(maild: Running, bot: dict[str, Any]) -> None:
    await maild.api.send(bot, to=people(1, 50))
    await maild.api.send(bot, to=people(1, 50))
    ((data,),) = maild.sql("SELECT data FROM events WHERE type = 'sending.paused'")
    assert json.loads(data) == {
        "status": "paused", "reason": "bulk_pattern", "action": "ask_operator_to_reset_tripwire",
        "trippedAt": "2026-11-21T00:00:00.000Z",
    }  # fmt: skip


async def test_only_the_newest_part_of_a_conversation_is_looked_at(
    maild: Running, bot: dict[str, Any]
) -> None:
    """Strangers may make it as long as they like, and the look is taken while everybody waits."""
    early = await maild.received(bot, "From: early@elsewhere.test\r\nSubject: on\r\n\r\nhi\r\n")
    columns = [name for (name,) in maild.sql("SELECT name FROM pragma_table_info('messages')")]
    newer = "printf('msg_7%025d', number)"
    changed = {"id": newer, "from_address": "'late@elsewhere.test'"}
    copied = ", ".join(changed.get(name, name) for name in columns)
    flood = f"""WITH RECURSIVE numbers (number) AS
          (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {messages.THREAD_LOOK})
        INSERT INTO messages ({", ".join(columns)}) SELECT {copied} FROM messages, numbers WHERE id = ?"""
    maild.sql(flood, early["id"])
    to = ["early@elsewhere.test", "late@elsewhere.test"]
    assert (await maild.api.send(bot, to=to, inReplyTo=early["id"])).status == 201
    assert maild.sql("SELECT address FROM recent_recipients") == [("early@elsewhere.test",)]
