"""Events about what clients change, and the sign that a cursor is older than the log (docs/contract.md, section 6)."""

import random
from pathlib import Path
from typing import Any

import pytest

from storage.upkeep.retention import ROWS, _remove
from tests.conftest import Start
from tests.support.clients.event_stream import EventStream
from tests.support.peers.webhook_sink import WebhookSink
from tests.support.running import Api, Running
from tests.support.worlds.store import ManualClock

DAY_S = 86_400
BEGINNING = "evt_" + "0" * 26


def mail(number: int, **headers: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    return f"From: ada@elsewhere.test\nSubject: {number}\nMessage-ID: <{number}@elsewhere.test>\n{more}\nsecretwords\n"


async def told(api: Api, **query: str) -> list[tuple[str, dict[str, Any]]]:
    """(type, data) of every event, in pages."""
    found: list[dict[str, Any]] = []
    while True:
        after = {"after": found[-1]["id"]} if found else {}
        page = (await api.get("/v1/events", limit="100", **{"types": "*", **query, **after})).data
        if not page:
            return [(one["type"], one["data"]) for one in found]
        found += page


async def test_changes_are_told_by_ids_and_labels(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail(1))
    ids = {"messageId": message["id"], "inboxId": bot["id"], "threadId": message["threadId"]}
    path = f"/v1/messages/{message['id']}"
    await maild.api.call("PATCH", path, {"labels": ["unread", "a"]})
    await maild.api.call("PATCH", path, {"labels": ["unread", "a"]})  # nothing changes
    await maild.test_api.call("PATCH", path, {"removeLabels": ["unread"]})
    await maild.api.call("PATCH", f"/v1/threads/{message['threadId']}", {"isArchived": True})
    await maild.api.call("PATCH", f"/v1/threads/{message['threadId']}", {"isArchived": True})
    await maild.received(bot, mail(2, In_Reply_To="<1@elsewhere.test>"))
    await maild.api.call("DELETE", path)
    thread = {"threadId": message["threadId"], "inboxId": bot["id"]}
    changes = "message.updated,message.deleted,thread.updated"
    assert await told(maild.api, types=changes) == [
        ("message.updated", {**ids, "labelsBefore": ["unread"], "labels": ["unread", "a"]}),
        ("message.updated", {**ids, "labelsBefore": ["unread", "a"], "labels": ["a"]}),
        ("thread.updated", {**thread, "isArchived": True}),
        ("thread.updated", {**thread, "isArchived": False}),
        ("message.deleted", {**ids, "labelsBefore": ["a"]}),
    ]
    assert "secretwords" not in str(maild.sql("SELECT data FROM events WHERE type NOT LIKE 'email%'"))


async def test_drafts_are_told_as_they_become(maild: Running, bot: dict[str, Any]) -> None:
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@elsewhere.test"]})).data
    other = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "text": "secretwords"})).data
    await maild.api.call("PATCH", f"/v1/drafts/{draft['id']}", {"subject": "secretwords"})
    sent = (await maild.api.call("POST", f"/v1/drafts/{draft['id']}/send")).data
    for _ in range(2):
        await maild.api.call("DELETE", f"/v1/drafts/{other['id']}")
    found = await told(maild.api, types="draft.created,draft.updated,draft.discarded")
    assert [(type, data["draftId"], data["status"], data["messageId"]) for type, data in found] == [
        ("draft.created", draft["id"], "draft", None),
        ("draft.created", other["id"], "draft", None),
        ("draft.updated", draft["id"], "draft", None),
        ("draft.updated", draft["id"], "sent", sent["id"]),
        ("draft.discarded", other["id"], "discarded", None),
    ]
    assert "secretwords" not in str(found)


async def test_who_does_not_ask_for_them_hears_what_it_always_heard(start: Start, tmp_path: Path) -> None:
    async with WebhookSink(tmp_path) as sink:
        maild = await start(webhooks={"allow_private_networks": True, "ca_file": str(sink.ca_file)})
        bot = await maild.inbox("bot")
        plain = (await maild.api.post("/v1/webhooks", {"url": sink.url("/plain", "127.0.0.1")})).data
        assert plain["subscribedEvents"] == ["email.received", "email.sent", "email.bounced"]
        asked = {
            "url": sink.url("/all", "127.0.0.1"),
            "subscribedEvents": ["email.received", "message.updated"],
        }
        await maild.api.post("/v1/webhooks", asked)
        async with EventStream(maild.api) as stream, EventStream(maild.api, types="*") as chosen:
            message = await maild.received(bot, mail(1))
            await maild.api.call("PATCH", f"/v1/messages/{message['id']}", {"labels": []})
            await maild.received(bot, mail(2))
            assert [(await stream.next()).type for _ in range(2)] == ["email.received"] * 2
            types = [(await chosen.next()).type for _ in range(3)]
        assert types == ["email.received", "message.updated", "email.received"]
        assert [type for type, _ in await told(maild.api)] == types
        assert [one["type"] for one in (await maild.api.get("/v1/events")).data] == ["email.received"] * 2
        calls = await sink.received_count(5)
        by_path = sorted((call.path, call.event["type"]) for call in calls)
        assert by_path.count(("/all", "message.updated")) == 1
        assert ("/plain", "message.updated") not in by_path


async def test_a_bound_key_hears_of_changes_in_its_inbox_alone(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    mine, theirs = await maild.received(bot, mail(1)), await maild.received(other, mail(2))
    for one in (mine, theirs):
        await maild.api.call("PATCH", f"/v1/messages/{one['id']}", {"labels": []})
    found = await told(await maild.key(inbox=bot), types="message.updated")
    assert [data["messageId"] for _, data in found] == [mine["id"]]


# A mirror ----------------------------------------------------------------------------------------


class Mirror:
    """What somebody knows who reads nothing but events, from the first one on."""

    def __init__(self) -> None:
        self.labels: dict[str, list[str]] = {}
        self.archived: dict[str, bool] = {}
        self.threads: dict[str, set[str]] = {}
        self.drafts: dict[str, str] = {}

    def hear(self, type: str, data: dict[str, Any]) -> None:
        if type == "email.received":
            self.labels[data["messageId"]] = ["unread"]
            self.threads.setdefault(data["threadId"], set()).add(data["messageId"])
            self.archived.setdefault(data["threadId"], False)
        elif type == "message.updated":
            assert self.labels[data["messageId"]] == data["labelsBefore"]
            self.labels[data["messageId"]] = data["labels"]
        elif type == "message.deleted":
            assert self.labels.pop(data["messageId"]) == data["labelsBefore"]
            self.threads[data["threadId"]].remove(data["messageId"])
            if not self.threads[data["threadId"]]:
                del self.threads[data["threadId"]], self.archived[data["threadId"]]
        elif type == "thread.updated":
            assert self.archived[data["threadId"]] != data["isArchived"]
            self.archived[data["threadId"]] = data["isArchived"]
        elif type.startswith("draft."):
            self.drafts[data["draftId"]] = data["status"]


async def act(maild: Running, bot: dict[str, Any], chance: random.Random, number: int) -> None:
    """One random act of a client or a correspondent; what it names may be gone."""
    messages = [one["id"] for one in await maild.api.messages(limit="100")] or ["msg_x"]
    threads = [one["id"] for one in (await maild.api.get("/v1/threads", limit="100")).data] or ["thd_x"]
    drafts = [one["id"] for one in (await maild.api.get("/v1/drafts", limit="100")).data] or ["drf_x"]
    some = chance.sample(messages, min(len(messages), 3))
    labels = chance.sample(["a", "b", "unread"], 2)
    match chance.randrange(9):
        case 0 | 1:
            answered = f"<{chance.randrange(number + 1)}@elsewhere.test>"
            await maild.deliver(bot["address"], mail(number, In_Reply_To=answered))
        case 2:
            await maild.api.call("PATCH", f"/v1/messages/{some[0]}", {"labels": labels})
        case 3:
            await maild.api.post(
                "/v1/messages/batch", {"ids": some, "addLabels": labels[:1], "removeLabels": labels[1:]}
            )
        case 4:
            await maild.api.post("/v1/messages/batch", {"ids": some[:2], "delete": True})
        case 5:
            is_archived = chance.random() < 0.7
            await maild.api.call(
                "PATCH", f"/v1/threads/{chance.choice(threads)}", {"isArchived": is_archived}
            )
        case 6:
            await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "text": "words"})
        case 7:
            await maild.api.call("PATCH", f"/v1/drafts/{chance.choice(drafts)}", {"text": "others"})
        case 8:
            await maild.api.call("DELETE", f"/v1/drafts/{chance.choice(drafts)}")


async def test_a_mirror_that_follows_events_equals_the_lists(maild: Running, bot: dict[str, Any]) -> None:
    chance = random.Random(7)
    for number in range(300):
        await act(maild, bot, chance, number)
    mirror = Mirror()
    for type, data in await told(maild.api):
        mirror.hear(type, data)
    assert await maild.api.get("/v1/messages")
    listed = {id: labels for id, labels in maild.sql("SELECT id, labels FROM messages")}
    assert {
        one["id"]: one["labels"] for one in await maild.api.messages(limit="100")
    }.items() <= mirror.labels.items()
    assert mirror.labels.keys() == listed.keys() and len(listed) > 10
    threads = {id: bool(archived) for id, archived in maild.sql("SELECT id, is_archived FROM threads")}
    assert mirror.archived == threads and {*threads.values()} == {True, False}
    drafts = dict(maild.sql("SELECT id, status FROM drafts"))
    assert mirror.drafts == drafts and {*drafts.values()} == {"draft", "discarded"}


# Gaps --------------------------------------------------------------------------------------------


async def forget(maild: Running, *event_ids: str) -> None:
    """As retention does with what is too old."""
    rows = next(one for one in ROWS if one.kind == "events")
    marks = ", ".join("?" * len(event_ids))
    keys: list[tuple[Any, ...]] = list(maild.sql(f"SELECT seq FROM events WHERE id IN ({marks})", *event_ids))
    assert maild.daemon._db is not None
    await maild.daemon._db.write(lambda tx: _remove(tx, rows, keys, maild.daemon._clock.now_ms()))


async def gap(api: Api, after: str | None, **wish: str) -> bool:
    answer = await api.get("/v1/events", **({} if after is None else {"after": after}), **wish)
    assert answer.status == 200
    return answer.headers.get("X-Events-Gap") == "true"


async def test_a_cursor_older_than_the_log_is_told(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    ids = []
    for number in range(5):
        await maild.deliver(bot["address"], mail(number))
        ids.append((await maild.api.get("/v1/events")).data[-1]["id"])
        clock.forward(60)
    assert [await gap(maild.api, one) for one in (None, BEGINNING, *ids)] == [False] * 7
    await forget(maild, ids[0], ids[1])
    assert [await gap(maild.api, one) for one in (None, BEGINNING, *ids)] == [False, True, True, *[False] * 4]
    await forget(maild, ids[3])  # a webhook had kept the one before
    assert [await gap(maild.api, one) for one in (BEGINNING, *ids)] == [True, True, True, True, False, False]
    stranger = await maild.organization()
    assert not await gap(stranger.api, BEGINNING)


async def test_a_stream_tells_of_it_before_any_event(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(3):
        await maild.deliver(bot["address"], mail(number))
    ids = [one["id"] for one in (await maild.api.get("/v1/events")).data]
    await forget(maild, ids[0], ids[1])
    async with EventStream(maild.api, ids[0]) as stream:
        assert stream.response.headers["X-Events-Gap"] == "true"
        assert (await stream.next()).id == ids[2] and stream.gaps == 1
    async with EventStream(maild.api, ids[1]) as stream:
        assert "X-Events-Gap" not in stream.response.headers
        assert (await stream.next()).id == ids[2] and stream.gaps == 0


async def test_a_quiet_reader_is_told_of_no_gap_that_is_its_neighbours(
    maild: Running, bot: dict[str, Any]
) -> None:
    """Its last event is as old as it was quiet, and what has gone since is nothing that it would have heard."""
    other = await maild.inbox("other")
    await maild.deliver(bot["address"], mail(0))
    (first,) = [one["id"] for one in (await maild.api.get("/v1/events")).data]
    for number in (1, 2):
        await maild.deliver(other["address"], mail(number))
    ids = [one["id"] for one in (await maild.api.get("/v1/events")).data]
    wishes: list[tuple[dict[str, str], bool]] = [
        ({"inboxId": bot["id"]}, False),
        ({"types": "email.failed,message.updated"}, False),
        ({"inboxId": other["id"], "types": "email.failed"}, False),
        ({"inboxId": other["id"]}, True),
        ({"types": "email.received"}, True),
        ({}, True),
    ]
    for gone in (ids[1:2], ids[:1]):  # the place of the reader is in the log, and then it isn't
        await forget(maild, *gone)
        for wish, is_gap in wishes:
            assert await gap(maild.api, first, **wish) is is_gap, wish
            async with EventStream(maild.api, first, **wish) as stream:
                assert ("X-Events-Gap" in stream.response.headers) is is_gap, wish


@pytest.mark.parametrize("kept", [0, 1])
async def test_who_began_when_they_had_gone_missed_none(
    maild: Running, bot: dict[str, Any], kept: int
) -> None:
    """Where nothing of theirs is in the log, and where an older event was kept for a webhook."""
    stranger = await maild.organization()
    for number in range(3):
        await maild.deliver(bot["address"], mail(number))
    await maild.deliver((await maild.inbox("theirs", stranger.api))["address"], mail(3))
    ids = [one["id"] for one in (await maild.api.get("/v1/events")).data]
    await forget(maild, *ids[kept:])
    known = []
    for query in ({}, {"inboxId": bot["id"]}, {"types": "domain.failed"}):
        async with EventStream(maild.api, **query) as stream:
            known.append(stream.last_event_id)
    await maild.deliver(bot["address"], mail(4))
    for one in known:
        async with EventStream(maild.api, one) as again:
            assert "X-Events-Gap" not in again.response.headers
            assert (await again.next()).event["data"]["subject"] == "4" and again.gaps == 0


async def test_retention_itself_notes_what_it_takes(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock, storage={"keep_events_days": 1, "reserve_percent": 0})
    bot = await maild.inbox("bot")
    await maild.deliver(bot["address"], mail(1))
    await maild.deliver(bot["address"], mail(2))
    first, second = (one["id"] for one in (await maild.api.get("/v1/events")).data)
    clock.forward(2 * DAY_S)
    await maild.deliver(bot["address"], mail(3))
    await maild.daemon.retention.round()
    assert await gap(maild.api, first)
    assert not await gap(maild.api, second)
