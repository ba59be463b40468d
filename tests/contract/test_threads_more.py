"""PATCH /v1/threads/{id}, pages and the archive (decisions.md, "Thread")."""

import tracemalloc
from typing import Any

import pytest

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
    assert (await maild.api.get("/v1/threads", cursor=third["id"])).faults == {"cursor": "invalid_cursor"}


@pytest.mark.parametrize("cursor", ["x", "msg_01m7yg00000000000000000000", f"{ABSENT}@never", f"{ABSENT}@"])
async def test_cursors_that_are_none(maild: Running, cursor: str) -> None:
    answer = await maild.api.get("/v1/threads", cursor=cursor)
    assert answer.status == 400 and set(answer.faults) == {"cursor"}


async def test_a_foreign_threads_cursor_says_nothing(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail(1))
    stranger = await maild.organization()
    answer = await stranger.api.get("/v1/threads", cursor=message["threadId"])
    assert answer.faults == {"cursor": "invalid_cursor"}


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
    assert size > 8 * 2 * len(html) > peak * 1.5  # htmlBody and html
    whole = (await maild.api.get(f"/v1/threads/{thread['id']}")).data
    assert whole["messageCount"] == len(whole["messages"]) == 8
    assert [one["messageIdHeader"] for one in whole["messages"]] == [
        f"<{n}@elsewhere.test>" for n in range(8)
    ]
    assert all(one["html"] == one["htmlBody"] and len(one["html"]) > 1_000_000 for one in whole["messages"])
