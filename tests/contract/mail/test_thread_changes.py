"""PATCH /v1/threads/{id}, pages and the archive (decisions.md, "Thread")."""

import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest

from storage.engine.tx import Tx
from storage.shown import message_json
from storage.shown.message_json import ShownMessage
from tests.support.running import Running

ABSENT = "thd_01m7yg00000000000000000000"


def mail(number: int, **headers: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    return (
        f"From: ada@elsewhere.test\nSubject: {number}\nMessage-ID: <{number}@elsewhere.test>\n{more}\nwords\n"
    )


async def test_a_thread_is_archived_and_brought_back(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail(1))
    path = f"/v1/threads/{message['threadId']}"
    (before,) = (await maild.api.get("/v1/threads")).data
    archived = (await maild.api.call("PATCH", path, {"isArchived": True})).data
    assert archived == {**before, "isArchived": True}
    assert (await maild.api.get("/v1/threads")).data == [archived]
    assert (await maild.api.get("/v1/threads", isArchived="false")).data == []
    assert (await maild.api.get("/v1/threads", isArchived="true")).data == [archived]
    assert (await maild.api.call("PATCH", path, {"isArchived": False})).data == before


async def test_mail_that_comes_in_takes_the_thread_out_of_the_archive(
    maild: Running, bot: dict[str, Any]
) -> None:
    message = await maild.received(bot, mail(1))
    path = f"/v1/threads/{message['threadId']}"
    await maild.api.call("PATCH", path, {"isArchived": True})
    await maild.api.send(bot, inReplyTo=message["id"])
    assert (await maild.api.get(path)).data["isArchived"] is True
    await maild.received(bot, mail(2, In_Reply_To="<1@elsewhere.test>"))
    assert (await maild.api.get(path)).data["isArchived"] is False


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"isArchived": "required"}),
        ({"isArchived": None}, {"isArchived": "wrong_type"}),
        ({"isArchived": "yes"}, {"isArchived": "wrong_type"}),
        ({"isArchived": True, "subject": "x"}, {"subject": "unknown_field"}),
    ],
)
async def test_patch_refuses(
    maild: Running, bot: dict[str, Any], body: dict[str, Any], faults: dict[str, str]
) -> None:
    message = await maild.received(bot, mail(1))
    answer = await maild.api.call("PATCH", f"/v1/threads/{message['threadId']}", body)
    assert answer.status == 400 and answer.faults == faults


async def test_who_may_archive(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail(1))
    path, body = f"/v1/threads/{message['threadId']}", {"isArchived": True}
    stranger = await maild.organization()
    for api, where in ((stranger.api, path), (maild.api, f"/v1/threads/{ABSENT}")):
        answer = await api.call("PATCH", where, body)
        assert (answer.status, answer.code) == (404, "thread_not_found")
    bound = await maild.key(inbox=await maild.inbox("other"))
    assert (await bound.call("PATCH", path, body)).code == "inbox_access_denied"
    assert (await (await maild.key("threads:read")).call("PATCH", path, body)).code == "insufficient_scope"
    assert (await (await maild.key(inbox=bot)).call("PATCH", path, body)).status == 200


async def test_pages(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(7):
        await maild.received(bot, mail(number))
    everything = (await maild.api.get("/v1/threads")).data
    assert [one["subject"] for one in everything] == list("6543210")
    for cursor_of in (lambda one: one["id"], lambda one: f"{one['id']}@{one['lastMessageAt']}"):
        pages: list[Any] = []
        cursor: dict[str, str] = {}
        while page := (await maild.api.get("/v1/threads", limit="3", **cursor)).data:
            pages += page
            cursor = {"cursor": cursor_of(page[-1])}
        assert pages == everything
    # It outlives the thread and what happens to it.
    third = everything[2]
    cursor = {"cursor": f"{third['id']}@{third['lastMessageAt']}"}
    (gone,) = await maild.api.messages(threadId=third["id"])
    await maild.api.call("DELETE", f"/v1/messages/{gone['id']}")
    assert (await maild.api.get("/v1/threads", **cursor)).data == everything[3:]
    # Without its moment it stands where the thread began.
    assert (await maild.api.get("/v1/threads", cursor=third["id"])).data == everything[3:]


@pytest.mark.parametrize("cursor", ["x", "msg_01m7yg00000000000000000000", f"{ABSENT}@never", f"{ABSENT}@"])
async def test_cursors_that_are_none(maild: Running, cursor: str) -> None:
    answer = await maild.api.get("/v1/threads", cursor=cursor)
    assert answer.status == 400 and set(answer.faults) == {"cursor"}


async def test_a_foreign_threads_cursor_says_nothing(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail(1))
    stranger = await maild.organization()
    known = await stranger.api.get("/v1/threads", cursor=message["threadId"])
    unknown = await stranger.api.get("/v1/threads", cursor=ABSENT)
    assert known.status == unknown.status == 200 and known.data == unknown.data == []


async def long_thread(maild: Running, bot: dict[str, Any], count: int, body: str = "words") -> str:
    """A conversation of so many messages, all by one stranger; its id."""
    for number in range(count):
        await maild.deliver(
            bot["address"],
            f"From: a@elsewhere.test\nSubject: Re: long\nMessage-ID: <{number}@elsewhere.test>\n"
            f"References: <0@elsewhere.test>\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>{body}</p>\n",
        )
    (thread,) = (await maild.api.get("/v1/threads", inboxId=bot["id"])).data
    return str(thread["id"])


def numbers(thread: dict[str, Any]) -> list[int]:
    return [int(one["messageIdHeader"].strip("<").split("@")[0]) for one in thread["messages"]]


async def test_a_conversation_comes_in_pages_the_newest_first_each_in_its_order(
    maild: Running, bot: dict[str, Any]
) -> None:
    path = f"/v1/threads/{await long_thread(maild, bot, 7)}"
    whole = (await maild.api.get(path)).data
    assert numbers(whole) == list(range(7)) and whole["hasMore"] is False and whole["messageCount"] == 7
    newest = (await maild.api.get(path, limit="3")).data
    assert numbers(newest) == [4, 5, 6] and newest["hasMore"] is True
    older = (await maild.api.get(path, limit="3", before=newest["messages"][0]["id"])).data
    assert numbers(older) == [1, 2, 3] and older["hasMore"] is True
    oldest = (await maild.api.get(path, limit="3", before=older["messages"][0]["id"])).data
    assert numbers(oldest) == [0] and oldest["hasMore"] is False
    assert oldest["messages"] + older["messages"] + newest["messages"] == whole["messages"]
    # The cursor outlives its message.
    await maild.api.call("DELETE", f"/v1/messages/{newest['messages'][0]['id']}")
    again = (await maild.api.get(path, limit="3", before=newest["messages"][0]["id"])).data
    assert numbers(again) == [1, 2, 3]
    assert (await maild.api.get(path, before=oldest["messages"][0]["id"])).data["messages"] == []


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ({"limit": "0"}, {"limit": "out_of_range"}),
        ({"limit": "201"}, {"limit": "out_of_range"}),
        ({"before": ABSENT}, {"before": "invalid_cursor"}),
        ({"after": "x"}, {"after": "unknown_field"}),
    ],
)
async def test_a_page_of_a_conversation_that_can_not_be(
    maild: Running, bot: dict[str, Any], query: dict[str, str], faults: dict[str, str]
) -> None:
    path = f"/v1/threads/{await long_thread(maild, bot, 1)}"
    assert (await maild.api.get(path, **query)).faults == faults


async def test_a_long_conversation_shows_its_newest_hundred_and_is_read_in_slices(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/v1/threads/{await long_thread(maild, bot, 103, 'words ' * 600)}"
    asked: list[int] = []
    some_of_thread = message_json.some_of_thread

    def counted(tx: Tx, organization_id: str, ids: Sequence[str]) -> list[ShownMessage]:
        asked.append(len(ids))
        return some_of_thread(tx, organization_id, ids)

    monkeypatch.setattr(message_json, "some_of_thread", counted)
    whole = (await maild.api.get(path)).data
    assert numbers(whole) == list(range(3, 103)) and whole["hasMore"] is True
    assert sum(asked) == 100 and max(asked) <= 8


async def test_an_answer_holds_eight_mebibytes_of_bodies_but_one_message_at_least(
    maild: Running, bot: dict[str, Any]
) -> None:
    path = f"/v1/threads/{await long_thread(maild, bot, 4, 'words ' * 500_000)}"
    whole = (await maild.api.get(path)).data
    assert numbers(whole) == [2, 3] and whole["hasMore"] is True
    monstrous = f"/v1/threads/{await long_thread(maild, await maild.inbox('other'), 1, 'words ' * 1_500_000)}"
    shown = (await maild.api.get(monstrous)).data
    assert len(shown["messages"][0]["html"]) > 8 * 1024 * 1024 and shown["hasMore"] is False


async def test_a_huge_conversation_is_never_in_memory_as_a_whole(maild: Running, bot: dict[str, Any]) -> None:
    """Strangers decide how much stands in it."""
    html = "<p>" + "words " * 300_000 + "</p>"
    for number in range(8):
        await maild.deliver(
            bot["address"],
            f"From: a@elsewhere.test\nSubject: Re: huge\nMessage-ID: <{number}@elsewhere.test>\n"
            f"References: <0@elsewhere.test>\nMIME-Version: 1.0\nContent-Type: text/html\n\n{html}\n",
        )
    (thread,) = (await maild.api.get("/v1/threads")).data
    size = 0
    tracemalloc.start()
    try:
        headers = {"Authorization": f"Bearer {maild.api.key}"}
        url = f"{maild.api.url}/v1/threads/{thread['id']}"
        async with maild._session.get(url, headers=headers) as response:
            async for piece in response.content.iter_any():
                size += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 4 * 2 * len(html)  # htmlBody and html
    assert peak < 10 * len(html)  # one message at a time
    whole = (await maild.api.get(f"/v1/threads/{thread['id']}")).data
    assert whole["messageCount"] == 8 and whole["hasMore"] is True
    assert numbers(whole) == [4, 5, 6, 7]
    assert all(one["html"] == one["htmlBody"] and len(one["html"]) > 1_000_000 for one in whole["messages"])
