"""Idempotency-Key: contract, section 4; decisions.md, "Idempotency"; threat A14."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.running import Answer, Api, Running
from tests.support.worlds.store import ManualClock

PATH = "/v1/messages/send"


async def send(api: Api, inbox: dict[str, Any], key: str | None = "k1", **fields: Any) -> Answer:
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"inboxId": inbox["id"], "to": ["a@elsewhere.test"], **fields}
    return await api.call("POST", PATH, body, headers=headers)


async def test_a_replay_is_the_first_answer(maild: Running, bot: dict[str, Any]) -> None:
    first = await send(maild.api, bot, text="hello")
    assert (first.status, first.headers.get("Idempotent-Replayed")) == (201, None)
    again = await send(maild.api, bot, text="hello")
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.body == first.body
    assert len(await maild.api.messages()) == 1


async def test_without_a_key_every_request_is_a_message(maild: Running, bot: dict[str, Any]) -> None:
    assert {(await send(maild.api, bot, None)).status for _ in range(2)} == {201}
    assert len(await maild.api.messages()) == 2


async def test_fifty_at_once_make_one_message(maild: Running, bot: dict[str, Any]) -> None:
    large = "x" * 200_000  # a file each: what the losers wrote goes again
    answers = await asyncio.gather(*(send(maild.api, bot, text=large) for _ in range(50)))
    assert Counter(one.status for one in answers) == {201: 1, 200: 49}
    assert len({one.body for one in answers}) == 1
    assert len(await maild.api.messages()) == 1
    assert maild.sql("SELECT value FROM usage WHERE length(period) = 10") == [(1,)]
    files = [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()]
    assert len(files) == 1


async def test_what_json_leaves_open_makes_no_difference(maild: Running, bot: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    one = json.dumps({"inboxId": bot["id"], "to": ["a@elsewhere.test"], "text": "é"}).encode()
    other = json.dumps(
        {"text": "é", "cc": [], "to": ["a@elsewhere.test"], "inboxId": bot["id"]},
        indent=2,
        ensure_ascii=False,
    ).encode()
    first = await maild.api.call("POST", PATH, data=one, headers=headers)
    again = await maild.api.call("POST", PATH, data=other, headers=headers)
    assert (first.status, again.status) == (201, 200)


@pytest.mark.parametrize(
    "fields", [{"text": "other"}, {"cc": ["b@elsewhere.test"]}, {"subject": "s"}, {"unsubscribe": True}]
)
async def test_the_same_key_with_another_body_is_a_conflict(
    maild: Running, bot: dict[str, Any], fields: dict[str, Any]
) -> None:
    await send(maild.api, bot, text="hello")
    answer = await send(maild.api, bot, **{"text": "hello", **fields})
    assert (answer.status, answer.code) == (409, "idempotency_conflict")
    assert len(await maild.api.messages()) == 1


async def test_a_test_key_does_not_replay_a_live_send(maild: Running, bot: dict[str, Any]) -> None:
    await send(maild.api, bot)
    assert (await send(maild.test_api, bot)).code == "idempotency_conflict"


async def test_another_organizations_equal_key_is_another_key(maild: Running, bot: dict[str, Any]) -> None:
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    assert (await send(maild.api, bot)).status == 201
    assert (await send(stranger.api, theirs)).status == 201


async def test_a_bound_key_replays_nothing_of_another_inbox(maild: Running, bot: dict[str, Any]) -> None:
    await send(maild.api, bot)
    bound = await maild.key(inbox=await maild.inbox("beside"))
    assert (await send(bound, bot)).code == "inbox_access_denied"


@pytest.mark.parametrize(
    ("key", "fault"),
    [("", "too_short"), ("   ", "too_short"), ("k" * 256, "too_long"), ("k\u00e9", "invalid_text")],
)
async def test_keys_that_are_none(maild: Running, bot: dict[str, Any], key: str, fault: str) -> None:
    answer = await send(maild.api, bot, key)
    assert (answer.status, answer.faults) == (400, {"Idempotency-Key": fault})
    assert await maild.api.messages() == []


async def test_the_longest_key(maild: Running, bot: dict[str, Any]) -> None:
    assert [(await send(maild.api, bot, "k" * 255)).status for _ in range(2)] == [201, 200]


async def test_a_refused_request_may_be_tried_again_under_its_key(
    maild: Running, bot: dict[str, Any]
) -> None:
    suppression = (await maild.api.post("/v1/suppressions", {"email": "a@elsewhere.test"})).data
    assert (await send(maild.api, bot)).code == "recipient_suppressed"
    await maild.api.call("DELETE", f"/v1/suppressions/{suppression['id']}")
    assert (await send(maild.api, bot)).status == 201


async def test_a_replay_comes_before_every_guard(maild: Running) -> None:
    """What was accepted was accepted: the caller must learn that, whatever happened since."""
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    assert (await send(tiny.api, bot)).status == 201
    assert (await send(tiny.api, bot)).status == 200
    assert (await send(tiny.api, bot, "k2")).code == "limit_reached"
    await tiny.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    assert (await send(tiny.api, bot)).status == 200


async def test_a_deleted_messages_words_are_gone_from_its_answer(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await send(maild.api, bot, subject="secret plan", text="burn after reading")).data
    await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")
    again = await send(maild.api, bot, subject="secret plan", text="burn after reading")
    assert (again.status, again.data["id"]) == (200, sent["id"])
    assert b"secret" not in again.body and b"burn" not in again.body
    assert await maild.api.messages() == []


async def test_it_is_kept_for_a_day_at_least(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    assert (await send(maild.api, bot)).status == 201
    clock.forward(24 * 3600 - 1)
    assert (await send(maild.api, bot)).status == 200


async def test_a_scheduled_send_replays_too(maild: Running, bot: dict[str, Any]) -> None:
    clock_now = (await maild.api.get("/v1/organization")).data["resetsAt"]["daily"]
    at = clock_now.replace("T00:", "T01:")
    first = await send(maild.api, bot, sendAt=at)
    again = await send(maild.api, bot, sendAt=at)
    assert (first.status, again.status, again.data["status"]) == (201, 200, "scheduled")
    assert len(await maild.api.messages()) == 1


async def test_a_scheduled_send_replays_after_its_time_too(start: Start) -> None:
    """Who heard nothing asks again with the same body, whose time may have come meanwhile."""
    clock = ManualClock(1_795_219_200_000)
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    at = "2026-11-21T00:01:00Z"
    assert (await send(maild.api, bot, sendAt=at)).status == 201
    for seconds in (30, 3600):
        clock.forward(seconds)
        again = await send(maild.api, bot, sendAt=at)
        assert (again.status, again.data["status"]) == (200, "scheduled")
    assert len(await maild.api.messages()) == 1
