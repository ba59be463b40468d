"""GET /v1/messages/wait (docs/contract.md, "Waiting for a message")."""

import asyncio
from typing import Any

import pytest

from conf.tuning import FeedTuning, Tuning
from storage.clock import iso
from storage.publishing import events
from tests.conftest import Start, on_shared
from tests.support.laws.counted import Counted
from tests.support.running import Answer, Api, Running, until, until_true
from tests.support.worlds.holding import approve, held, hold
from tests.support.worlds.store import ManualClock

FOREVER = "55"
PATH = "/v1/messages/wait"


def mail(subject: str = "topic", words: str = "words", **headers: str) -> str:
    named = {
        "From": "Ada <ada@elsewhere.test>",
        **{name.replace("_", "-"): one for name, one in headers.items()},
    }
    return "".join(f"{name}: {value}\n" for name, value in named.items()) + f"Subject: {subject}\n\n{words}\n"


async def wait(api: Api, **query: str) -> Any:
    return (await api.get(PATH, **query)).data


def waits(maild: Running) -> int:
    return len(maild.daemon.operations._services.streams._waits)


async def waiting(maild: Running, api: Api | None = None, **query: str) -> "asyncio.Task[Answer]":
    """A request that waits, once it does."""
    count = waits(maild) + 1
    task = asyncio.create_task((api or maild.api).get(PATH, timeoutSeconds=FOREVER, **query))

    async def does() -> bool | None:
        assert not task.done(), task.result().body
        return waits(maild) == count or None

    await until(does)
    return task


async def test_a_message_that_comes_in_ends_the_wait(maild: Running, bot: dict[str, Any]) -> None:
    task = await waiting(maild, inboxId=bot["id"])
    message = await maild.received(bot, mail())
    answer = (await task).data
    assert answer == {"message": message, "timedOut": False, "cursor": message["id"]}
    assert answer["message"]["textBody"] == "words\n"
    assert waits(maild) == 0


async def test_what_comes_between_the_position_and_the_wait_is_found(
    maild: Running, bot: dict[str, Any]
) -> None:
    await maild.received(bot, mail("0"))  # is not what will be waited for
    position = await wait(maild.api, timeoutSeconds="0")
    assert position["message"] is None and position["timedOut"]
    first, second = await maild.received(bot, mail("1")), await maild.received(bot, mail("2"))
    found = await wait(maild.api, after=position["cursor"])
    assert found["message"]["id"] == found["cursor"] == first["id"]  # the oldest
    found = await wait(maild.api, after=found["cursor"])
    assert found["cursor"] == second["id"]
    found = await wait(maild.api, after=found["cursor"], timeoutSeconds="0")
    assert found == {"message": None, "timedOut": True, "cursor": second["id"]}


async def test_the_position_of_now_is_behind_all_mail_whatever_else_was_told_since(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many changes, of any organization, hid the last mail, and the position was a minute ago."""
    monkeypatch.setattr(events, "WALK", 2)
    message = await maild.received(bot, mail())
    for label in ("a", "b", "c"):
        await maild.api.call("PATCH", f"/v1/messages/{message['id']}", {"addLabels": [label]})
    for scope in ({}, {"inboxId": bot["id"]}):
        position = await wait(maild.api, timeoutSeconds="0", **scope)
        assert (await wait(maild.api, timeoutSeconds="0", after=position["cursor"], **scope))[
            "message"
        ] is None


async def test_a_clock_ahead_of_ours_misses_no_mail(maild: Running, bot: dict[str, Any]) -> None:
    """Of whoever asks for what comes after its own time, which may be that of another zone."""
    over = await wait(maild.api, timeoutSeconds="0", after="2099-01-01T00:00:00Z")
    task = await waiting(maild, after="2099-01-01T00:00:00Z")
    message = await maild.received(bot, mail())
    assert (await task).data["cursor"] == message["id"]
    assert (await wait(maild.api, timeoutSeconds="0", after=over["cursor"]))["cursor"] == message["id"]


async def test_a_wait_that_is_over_says_where_to_go_on(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail())
    answer = await wait(maild.api, q="other", timeoutSeconds="1")
    assert answer == {"message": None, "timedOut": True, "cursor": message["id"]}


async def test_positions_are_messages_events_and_times(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    old = await maild.received(bot, mail("old"))
    clock.forward(121)
    first = await maild.received(bot, mail("1"))
    clock.forward(30)
    second = await maild.received(bot, mail("2"))
    told = (await maild.api.get("/v1/events")).data
    at = iso(clock.now_ms())
    for after, expected in (
        (None, first), (old["id"], first), (first["id"], second), (told[0]["id"], first), (told[1]["id"], second),
        (old["createdAt"], old), (at, second), ("2020-01-01", old), ("msg_" + "0" * 26, old), ("evt_" + "0" * 26, old),
    ):  # fmt: skip
        query = {} if after is None else {"after": after, "timeoutSeconds": "0"}
        assert (await wait(maild.api, **query))["cursor"] == expected["id"], after
    await maild.api.call("DELETE", f"/v1/messages/{first['id']}")
    assert (await wait(maild.api, timeoutSeconds="0", after=first["id"]))["cursor"] == second["id"]
    assert (await wait(maild.api, timeoutSeconds="0", after=old["id"]))["cursor"] == second["id"]
    clock.forward(600)
    over = await wait(maild.api, timeoutSeconds="0", after=second["id"])
    assert over["timedOut"] and over["cursor"] > second["id"]  # nobody reads all of the log again and again
    third = await maild.received(bot, mail("3"))
    assert (await wait(maild.api, timeoutSeconds="0", after=over["cursor"]))["cursor"] == third["id"]


async def test_mail_that_was_held_comes_once(start: Start) -> None:
    """It comes when it is approved: a position between its id and that moment gave it again."""
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    await hold(maild, bot, unlisted="hold")
    review = await held(maild, bot, mail())
    clock.forward(300)
    assert (await approve(maild.api, review)).status == 200
    found = await wait(maild.api, after="2020-01-01", timeoutSeconds="0")
    assert found["cursor"] == review["messageId"]
    for _ in range(3):
        clock.forward(50)
        found = await wait(maild.api, after=found["cursor"], timeoutSeconds="0")
        assert found["message"] is None


async def test_what_came_before_an_event_does_not_come_behind_it(start: Start) -> None:
    maild = await start(clock=ManualClock())  # in which no time goes by
    bot = await maild.inbox("bot")
    await maild.received(bot, mail("1"))
    (event,) = (await maild.api.get("/v1/events", types="email.received")).data
    over = await wait(maild.api, after=event["id"], timeoutSeconds="0")
    assert over["message"] is None
    assert (await wait(maild.api, after=over["cursor"], timeoutSeconds="0"))["message"] is None
    second = await maild.received(bot, mail("2"))
    assert (await wait(maild.api, after=over["cursor"], timeoutSeconds="0"))["cursor"] == second["id"]


async def test_a_message_whose_time_is_older_than_the_position_is_found(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message's time is read before its commit: others may be committed, and looked at, in between."""
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    clock.forward(300)
    position = await wait(maild.api, timeoutSeconds="0")
    clock.at_ms -= 5000
    late = await maild.received(bot, mail())
    clock.at_ms += 5000
    assert (await wait(maild.api, timeoutSeconds="0", after=position["cursor"]))["cursor"] == late["id"]


async def test_what_is_waited_for(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    position = (await wait(maild.api, timeoutSeconds="0"))["cursor"]
    first = await maild.received(bot, mail("Your CODE is 17", Message_ID="<1@elsewhere.test>"))
    again = await maild.received(bot, mail("Re: Your code", "thanks", In_Reply_To="<1@elsewhere.test>"))
    third = await maild.received(other, mail("straße", "digits", From="Bob <bob@mail.there.test>"))
    for query, expected in (
        ({"inboxId": other["id"]}, third),
        ({"threadId": first["threadId"], "q": "thanks"}, again),
        ({"from": "BOB@"}, third),
        ({"subject": "code is"}, first),
        ({"subject": "STRASSE"}, third),
        ({"q": "digit"}, third),
        ({"q": "Re: your"}, again),
        ({"fromDomain": "there.test", "verified": "false"}, third),
        ({"fromDomain": "mail.there.test", "verified": "false"}, third),
        ({"fromDomain": "other.test", "verified": "false"}, None),
        ({"fromDomain": "there.test"}, None),  # nobody has proven it
        ({"verified": "true"}, None),
        ({"verified": "false"}, first),
        ({"from": "ada", "subject": "straße"}, None),
    ):
        answer = await wait(maild.api, after=position, timeoutSeconds="0", **query)
        assert (answer["message"] or {}).get("id") == (expected or {}).get("id"), query


async def test_a_domain_is_the_proven_one(maild: Running, bot: dict[str, Any]) -> None:
    """Mail between inboxes of the host is proven; a From alone is not."""
    sender = await maild.inbox("sender")
    position = (await wait(maild.api, timeoutSeconds="0"))["cursor"]
    await maild.received(bot, mail(From="sender@agents.test.evil.test"))
    task = await waiting(maild, after=position, fromDomain="agents.test", inboxId=bot["id"])
    await maild.api.send(sender, to=[bot["address"]], text="proven")
    found = (await task).data["message"]
    assert found["auth"]["verifiedDomain"] == "agents.test" and found["textBody"].strip() == "proven"


async def test_sent_mail_ends_no_wait(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot)).data
    assert (await wait(maild.api, timeoutSeconds="0", after="2020-01-01"))["message"] is None
    answer = await maild.received(bot, mail())
    assert (await wait(maild.api, timeoutSeconds="0", after=sent["id"]))["cursor"] == answer["id"]


async def test_a_large_body_comes_in_pieces(maild: Running, bot: dict[str, Any]) -> None:
    task = await waiting(maild)
    await maild.received(bot, mail(words="x" * 400_000))
    answer = (await task).data
    assert len(answer["message"]["textBody"]) == 400_001 and answer["cursor"] == answer["message"]["id"]


# Who may -----------------------------------------------------------------------------------------


async def test_a_bound_key_waits_in_its_inbox_alone(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    theirs = await maild.received(other, mail())
    bound = await maild.key(inbox=bot)
    for query in ({"inboxId": other["id"]}, {"threadId": theirs["threadId"]}):
        answer = await bound.get(PATH, **query)
        assert (answer.status, answer.code) == (403, "inbox_access_denied")
    task = await waiting(maild, bound)
    await maild.received(other, mail("other's"))
    mine = await maild.received(bot, mail("mine"))
    assert (await task).data["cursor"] == mine["id"]


async def test_a_stranger_waits_for_nothing_of_it(maild: Running, bot: dict[str, Any]) -> None:
    stranger = await maild.organization()
    message = await maild.received(bot, mail())
    for query, code in (
        ({"inboxId": bot["id"]}, "inbox_not_found"),
        ({"threadId": message["threadId"]}, "thread_not_found"),
    ):
        answer = await stranger.api.get(PATH, **query)
        assert (answer.status, answer.code) == (404, code)
    assert (await wait(stranger.api, timeoutSeconds="0", after="2020-01-01"))["message"] is None
    # Another's id is no more than a time.
    assert (await wait(stranger.api, timeoutSeconds="0", after=message["id"]))["message"] is None


async def test_a_conversation_of_another_inbox_is_not_waited_for(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    theirs = await maild.received(other, mail())
    answer = await maild.api.get(PATH, inboxId=bot["id"], threadId=theirs["threadId"], timeoutSeconds="0")
    assert (answer.status, answer.code) == (404, "thread_not_found")
    assert "another inbox" in answer.error["message"]
    there = {"inboxId": other["id"], "threadId": theirs["threadId"]}
    assert (await wait(maild.api, timeoutSeconds="0", **there))["message"] is None


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ({"timeoutSeconds": "56"}, {"timeoutSeconds": "out_of_range"}),
        ({"timeoutSeconds": "-1"}, {"timeoutSeconds": "out_of_range"}),
        ({"after": "yesterday"}, {"after": "invalid_cursor"}),
        ({"after": "thd_01m7yfag7w45tyj0v8xnjg5z6z"}, {"after": "invalid_cursor"}),
        ({"fromDomain": "x"}, {"fromDomain": "invalid_domain"}),
        ({"limit": "1"}, {"limit": "unknown_field"}),
    ],
)
@on_shared
async def test_what_is_refused(shared: Running, query: dict[str, str], faults: dict[str, str]) -> None:
    answer = await shared.api.get(PATH, **query)
    assert answer.status == 400 and answer.faults == faults


@on_shared
async def test_it_needs_messages_read(shared: Running) -> None:
    answer = await (await shared.key("threads:read")).get(PATH)
    assert (answer.status, answer.code) == (403, "insufficient_scope")


# Places ------------------------------------------------------------------------------------------


async def test_too_many_waits_of_an_organization_are_refused(start: Start) -> None:
    maild = await start(http={"waits_per_organization": 2})
    tasks = [await waiting(maild) for _ in range(2)]
    answer = await maild.api.get(PATH)
    assert (answer.status, answer.code) == (429, "too_many_streams") and answer.headers["Retry-After"]
    assert (await maild.api.get(PATH, timeoutSeconds="0")).status == 200  # takes no place
    stranger = await maild.organization()
    tasks.append(await waiting(maild, stranger.api))
    for task in tasks:
        task.cancel()


async def test_waits_and_streams_leave_half_of_the_connections(start: Start) -> None:
    maild = await start(http={"max_connections": 4})
    tasks = [await waiting(maild) for _ in range(2)]
    for path in (PATH, "/v1/events/stream"):
        answer = await maild.api.get(path)
        assert (answer.status, answer.code) == (503, "provider_unavailable")
    for task in tasks:
        task.cancel()


async def test_a_client_that_leaves_frees_its_place(maild: Running) -> None:
    task = await waiting(maild)
    task.cancel()

    await until_true(lambda: waits(maild) == 0)


async def test_a_revoked_key_waits_no_longer(maild: Running, bot: dict[str, Any]) -> None:
    made = (await maild.api.post("/v1/keys", {"name": "short"})).data
    task = await waiting(maild, maild.api.with_key(made["apiKey"]))
    await maild.api.call("DELETE", f"/v1/keys/{made['id']}")
    answer = await task
    assert (answer.status, answer.code) == (401, "invalid_api_key")
    assert waits(maild) == 0


async def test_a_key_that_the_operator_revoked_beside_the_daemon_too(maild: Running) -> None:
    made = (await maild.api.post("/v1/keys", {"name": "short"})).data
    task = await waiting(maild, maild.api.with_key(made["apiKey"]))
    await asyncio.to_thread(maild.sql, "UPDATE api_keys SET is_active = 0 WHERE id = ?", made["id"])
    assert (await task).status == 401


async def test_a_deactivated_inbox_is_waited_in_no_longer(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail())
    position = message["id"]
    in_inbox = await waiting(maild, inboxId=bot["id"], after=position)
    in_thread = await waiting(maild, threadId=message["threadId"], after=position)
    anywhere = await waiting(maild, after=position)
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    answers = await asyncio.gather(in_inbox, in_thread)
    assert [(one.status, one.code) for one in answers] == [(404, "inbox_not_found")] * 2
    assert not anywhere.done()
    short = await maild.api.get(PATH, inboxId=bot["id"], after=position, timeoutSeconds="1")
    assert short.code == "inbox_not_found", "who waits for less than the look-out does hears of it too"
    look = await maild.api.get(PATH, inboxId=bot["id"], after=position, timeoutSeconds="0")
    assert look.code == "inbox_not_found", "and who asks again and again"
    assert (await wait(maild.api, inboxId=bot["id"]))["cursor"] == position  # what has come is found
    anywhere.cancel()


async def test_a_daemon_that_stops_says_where_to_go_on(start: Start) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    message = await maild.received(bot, mail())
    task = await waiting(maild, after=message["id"])
    stopping = asyncio.create_task(maild.daemon.stop())
    assert (await task).data == {"message": None, "timedOut": True, "cursor": message["id"]}
    await stopping


# Work --------------------------------------------------------------------------------------------


async def statements(maild: Running, idle: int, counted: Counted) -> int:
    """How often one statement is asked for one message to one inbox while so many others are waited at."""
    boxes = [await maild.inbox(f"idle{number}") for number in range(idle)]
    bot = await maild.inbox("bot")
    tasks = [await waiting(maild, inboxId=box["id"]) for box in (*boxes, bot)]
    await until(counted.is_quiet)  # all have looked, and looked again with the first look-out
    counted.begin()
    await maild.deliver(bot["address"], mail())
    await tasks[-1]
    used = counted.most()
    for task in tasks[:-1]:
        task.cancel()
    return used


async def test_a_message_wakes_those_who_wait_for_its_inbox_alone(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    tuning = Tuning(feeds=FeedTuning(look_s=30, look_again_s=30))  # nobody looks without being woken
    many = await statements(await start(tuning=tuning), 30, counted)
    assert 0 < many <= 8  # look-outs, where other commits come between


async def test_nothing_is_asked_while_nothing_happens(maild: Running, bot: dict[str, Any]) -> None:
    asked: list[str] = []

    async def ask() -> str | None:
        asked.append("once more")
        return None

    streams = maild.daemon.operations._services.streams
    key_id = maild.sql("SELECT id FROM api_keys LIMIT 1")[0][0]
    async with streams.waiting(key_id, maild.organization_id, bot["id"], lambda _: None) as one:
        assert await one.until(ask, 0.5) is None
        assert len(asked) <= 2  # at first, and when the look-out begins
        one.end()
        assert await one.until(ask, 30) is None
