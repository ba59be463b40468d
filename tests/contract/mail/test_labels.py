"""Labels: changes, filters of lists, batches (docs/contract.md, sections 2 and 4)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane.operations.mail import message_batches
from controlplane.operations.mail import messages as operations
from storage.engine.database import Database
from storage.mail import messages
from tests.conftest import on_shared
from tests.support.running import Api, Running

ABSENT = "msg_01m7yg00000000000000000000"


def mail(number: int, **headers: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    return (
        f"From: ada@elsewhere.test\nSubject: {number}\nMessage-ID: <{number}@elsewhere.test>\n{more}\nwords\n"
    )


async def received(maild: Running, inbox: dict[str, Any], count: int) -> list[str]:
    """Ids of so many messages, each in a thread of its own, the first one's first."""
    return [(await maild.received(inbox, mail(number)))["id"] for number in range(count)]


async def change(api: Api, message_id: str, **body: Any) -> list[str]:
    labels: list[str] = (await api.call("PATCH", f"/v1/messages/{message_id}", body)).data["labels"]
    return labels


async def batch(api: Api, **body: Any) -> dict[str, str]:
    return {one["id"]: one["result"] for one in (await api.post("/v1/messages/batch", body)).data}


async def listed(api: Api, **query: str) -> list[str]:
    return [one["id"] for one in await api.messages(**query)]


async def threads(api: Api, **query: str) -> list[str]:
    return [one["id"] for one in (await api.get("/v1/threads", **query)).data]


async def test_labels_are_added_behind_the_others_and_taken_away(maild: Running, bot: dict[str, Any]) -> None:
    (one,) = await received(maild, bot, 1)
    assert await change(maild.api, one, addLabels=["b", "a", "b"]) == ["unread", "b", "a"]
    assert await change(maild.api, one, addLabels=["b", "c"], removeLabels=["unread", "x"]) == ["b", "a", "c"]
    assert await change(maild.api, one, addLabels=[]) == ["b", "a", "c"]
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}")).data["unreadCount"] == 0


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({"labels": [], "addLabels": ["a"]}, {"addLabels": "not_allowed"}),
        ({"labels": [], "removeLabels": []}, {"removeLabels": "not_allowed"}),
        ({"addLabels": ["a"], "removeLabels": ["a"]}, {"removeLabels": "not_allowed"}),
        ({"addLabels": ["svc:a"]}, {"addLabels[0]": "not_allowed"}),
        ({"removeLabels": ["svc:a"]}, {"removeLabels[0]": "not_allowed"}),
        ({"labels": ["svc:a"]}, {"labels[0]": "not_allowed"}),
        ({"addLabels": ["a", "b,c"]}, {"addLabels[1]": "not_allowed"}),
        ({"labels": ["b,c"]}, {"labels[0]": "not_allowed"}),
        ({"addLabels": None}, {"addLabels": "wrong_type"}),
        ({"addLabels": [str(number) for number in range(50)]}, {"addLabels": "too_many"}),
    ],
)
async def test_changes_that_are_refused(
    maild: Running, bot: dict[str, Any], body: dict[str, Any], faults: dict[str, str]
) -> None:
    (one,) = await received(maild, bot, 1)
    answer = await maild.api.call("PATCH", f"/v1/messages/{one}", body)
    assert answer.status == 400 and answer.faults == faults
    assert (await maild.api.get(f"/v1/messages/{one}")).data["labels"] == ["unread"]


async def test_a_label_with_a_comma_that_is_there_can_be_taken_away(
    maild: Running, bot: dict[str, Any]
) -> None:
    """No filter could ask for it, so none is given any more."""
    (one,) = await received(maild, bot, 1)
    await asyncio.to_thread(maild.sql, """UPDATE messages SET labels = '["a","b,c"]'""")
    assert await change(maild.api, one, removeLabels=["b,c"]) == ["a"]


async def test_messages_are_found_by_their_labels(maild: Running, bot: dict[str, Any]) -> None:
    first, second, third = await received(maild, bot, 3)
    await change(maild.api, first, labels=["a", "b"])
    await change(maild.api, second, labels=["a", "unread", 'x""unread'])
    assert await listed(maild.api, labels="a") == [second, first]
    assert await listed(maild.api, labels="b,a", inboxId=bot["id"]) == [first]
    assert (
        await listed(maild.api, unread="true") == await listed(maild.api, labels="unread") == [third, second]
    )
    assert await listed(maild.api, unread="true", labels="a") == [second]
    assert await listed(maild.api, unread="false") == [first]
    assert await listed(maild.api, unread="false", labels="unread") == []
    assert await listed(maild.api, labels="c") == []
    await change(maild.api, second, labels=['x""unread'])
    assert await listed(maild.api, unread="true") == [third]
    await maild.api.call("DELETE", f"/v1/messages/{first}")
    assert await listed(maild.api, labels="a") == []


async def test_filters_go_together_with_all_others(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    ids = await received(maild, bot, 6)
    await batch(maild.api, ids=ids[:5], addLabels=["a"])
    await batch(maild.api, ids=[ids[1]], removeLabels=["unread"])
    (elsewhere,) = await received(maild, other, 1)
    await change(maild.api, elsewhere, addLabels=["a"])
    ours = [ids[4], ids[3], ids[2], ids[1], ids[0]]
    assert await listed(maild.api, labels="a", inboxId=bot["id"]) == ours
    page = await listed(maild.api, labels="a", inboxId=bot["id"], limit="2")
    assert page == ours[:2]
    assert await listed(maild.api, labels="a", inboxId=bot["id"], cursor=page[-1], limit="2") == ours[2:4]
    assert await listed(maild.api, labels="a", q="words") == [elsewhere, *ours]
    assert await listed(maild.api, labels="a", q="1", unread="false") == [ids[1]]
    assert await listed(maild.api, labels="a", direction="outbound") == []
    created = (await maild.api.get(f"/v1/messages/{ids[2]}")).data
    assert await listed(maild.api, labels="a", until=created["createdAt"], inboxId=bot["id"]) == [
        ids[1],
        ids[0],
    ]
    assert await listed(maild.api, labels="a", since=created["createdAt"]) == [elsewhere, *ours[:3]]
    assert await listed(maild.api, labels="a", threadId=created["threadId"]) == [ids[2]]


async def test_the_other_filters(maild: Running, bot: dict[str, Any]) -> None:
    plain = (await maild.received(bot, mail(1)))["id"]
    notice = (await maild.received(bot, mail(2, Auto_Submitted="auto-replied")))["id"]
    spam = (await maild.received(bot, "From: a@b.test, c@d.test\nSubject: x\n\nwords\n"))["id"]
    sent = (await maild.api.send(bot, attachments=[{"filename": "a.txt", "content": "aGk="}])).data["id"]
    for query, expected in (
        ({"isAutoReply": "true"}, [notice]),
        ({"isAutoReply": "false", "direction": "inbound"}, [spam, plain]),
        ({"isSpam": "true"}, [spam]),
        ({"hasAttachments": "true"}, [sent]),
        ({"hasAttachments": "false", "direction": "inbound"}, [spam, notice, plain]),
        ({"status": "received"}, [spam, notice, plain]),
        ({"status": "queued"}, [sent]),
        ({"status": "cancelled"}, []),
    ):
        assert await listed(maild.api, **query) == expected, query


async def test_threads_are_found_by_the_labels_that_they_show(maild: Running, bot: dict[str, Any]) -> None:
    ids = await received(maild, bot, 4)
    of = [(await maild.api.get(f"/v1/messages/{one}")).data["threadId"] for one in ids]
    await batch(maild.api, ids=ids[:2], addLabels=["a"], removeLabels=["unread"])
    await maild.received(bot, mail(9, In_Reply_To="<0@elsewhere.test>"))
    assert await threads(maild.api, labels="a") == [of[0], of[1]]
    assert await threads(maild.api, labels="a", unread="true") == [of[0]]
    assert await threads(maild.api, labels="a,unread") == [of[0]]
    assert await threads(maild.api, unread="false") == [of[1]]
    assert await threads(maild.api, unread="true") == [of[0], of[3], of[2]]
    assert await threads(maild.api, unread="false", labels="unread") == []
    (last,) = await threads(maild.api, unread="true", limit="1")
    assert await threads(maild.api, unread="true", cursor=last) == [of[3], of[2]]
    await maild.api.call("PATCH", f"/v1/threads/{of[3]}", {"isArchived": True})
    assert await threads(maild.api, unread="true", isArchived="false") == [of[0], of[2]]
    assert await threads(maild.api, unread="true", isArchived="true", inboxId=bot["id"]) == [of[3]]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/threads"])
@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ({"labels": ""}, {"labels[0]": "too_short"}),
        ({"labels": "a,,b"}, {"labels[1]": "too_short"}),
        ({"labels": ",".join("x" * 51)}, {"labels": "too_many"}),
        ({"labels": "a\n"}, {"labels[0]": "control_character"}),
        ({"unread": "perhaps"}, {"unread": "wrong_type"}),
    ],
)
@on_shared
async def test_filters_that_are_refused(
    shared: Running, path: str, query: dict[str, str], faults: dict[str, str]
) -> None:
    answer = await shared.api.get(path, **query)
    assert answer.status == 400 and answer.faults == faults


# Batches -----------------------------------------------------------------------------------------


async def test_a_batch_says_what_became_of_each(maild: Running, bot: dict[str, Any]) -> None:
    first, second = await received(maild, bot, 2)
    stranger = await maild.organization()
    theirs = (await maild.received(await maild.inbox("theirs", stranger.api), mail(1), stranger.api))["id"]
    await change(maild.api, second, labels=["done"])
    body: dict[str, Any] = {"addLabels": ["done"], "removeLabels": ["unread"]}
    results = await batch(maild.api, ids=[first, second, theirs, ABSENT, first], **body)
    assert results == {first: "changed", second: "unchanged", theirs: "not_found", ABSENT: "not_found"}
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}")).data["unreadCount"] == 0
    assert (await stranger.api.get(f"/v1/messages/{theirs}")).data["labels"] == ["unread"]


async def test_a_batch_reaches_all_messages_of_a_thread(maild: Running, bot: dict[str, Any]) -> None:
    first = await maild.received(bot, mail(1))
    second = await maild.received(bot, mail(2, In_Reply_To="<1@elsewhere.test>"))
    thread = first["threadId"]
    absent = "thd_01m7yg00000000000000000000"
    results = await batch(maild.api, threadIds=[thread, absent], removeLabels=["unread"])
    assert results == {thread: "changed", absent: "not_found"}
    assert (await maild.api.get(f"/v1/threads/{thread}")).data["unreadCount"] == 0
    assert await batch(maild.api, threadIds=[thread], removeLabels=["unread"]) == {thread: "unchanged"}
    assert await batch(maild.api, ids=[first["id"]], threadIds=[thread], delete=True) == {
        first["id"]: "changed",
        thread: "changed",
    }
    assert (await maild.api.get(f"/v1/messages/{second['id']}")).code == "message_not_found"
    assert (await maild.api.get(f"/v1/threads/{thread}")).code == "thread_not_found"


async def test_a_batch_of_a_bound_key_stays_in_its_inbox(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    (mine,), theirs = await received(maild, bot, 1), await maild.received(other, mail(7))
    bound = await maild.key("messages:label", inbox=bot)
    assert await batch(bound, ids=[mine, theirs["id"]], threadIds=[theirs["threadId"]], addLabels=["a"]) == {
        mine: "changed",
        theirs["id"]: "inbox_access_denied",
        theirs["threadId"]: "inbox_access_denied",
    }
    refused = await bound.post("/v1/messages/batch", {"ids": [mine], "delete": True})
    assert (refused.status, refused.code) == (403, "insufficient_scope")
    assert refused.error["details"]["requiredScope"] == "messages:send"
    reading = await (await maild.key("messages:read")).post(
        "/v1/messages/batch", {"ids": [mine], "addLabels": ["a"]}
    )
    assert (reading.status, reading.code) == (403, "insufficient_scope")


async def test_what_is_deleted_in_a_batch_leaves_no_file(maild: Running, bot: dict[str, Any]) -> None:
    ids = [(await maild.received(bot, mail(number) + "x" * 400_000))["id"] for number in range(2)]
    assert len(list((maild.settings.data_path / "blobs").glob("??/blb_*"))) == 2
    assert set((await batch(maild.api, ids=ids, delete=True)).values()) == {"changed"}
    assert not list((maild.settings.data_path / "blobs").glob("??/blb_*"))


async def test_a_batch_is_one_transaction(maild: Running, bot: dict[str, Any]) -> None:
    first, second = await received(maild, bot, 2)
    await change(maild.api, second, labels=[str(number) for number in range(50)])
    answer = await maild.api.post("/v1/messages/batch", {"ids": [first, second], "addLabels": ["one more"]})
    assert answer.status == 400 and answer.faults == {"addLabels": "too_many"}
    assert (await maild.api.get(f"/v1/messages/{first}")).data["labels"] == ["unread"]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"ids": "required"}),
        ({"addLabels": ["a"]}, {"ids": "required"}),
        ({"ids": [ABSENT]}, {"": "nothing_to_change"}),
        ({"ids": [ABSENT], "delete": True, "addLabels": ["a"]}, {"delete": "not_allowed"}),
        ({"ids": ["thd_x"], "addLabels": ["a"]}, {"ids[0]": "invalid_id"}),
        ({"ids": [ABSENT] * 101, "addLabels": ["a"]}, {"ids": "too_many"}),
        ({"threadIds": ["thd_x"] * 21, "addLabels": ["a"]}, {"threadIds": "too_many"}),
        ({"ids": [ABSENT], "labels": ["a"]}, {"labels": "unknown_field"}),
    ],
)
@on_shared
async def test_batches_that_are_refused(
    shared: Running, body: dict[str, Any], faults: dict[str, str]
) -> None:
    answer = await shared.api.post("/v1/messages/batch", body)
    assert answer.status == 400 and answer.faults == faults


@pytest.mark.parametrize(
    ("limit", "body"), [("MESSAGES_MAX", {"addLabels": ["a"]}), ("DELETED_MAX", {"delete": True})]
)
async def test_a_thread_too_long_for_a_batch_is_refused(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, limit: str, body: dict[str, Any]
) -> None:
    monkeypatch.setattr(message_batches, limit, 1)
    first = await maild.received(bot, mail(1))
    second = await maild.received(bot, mail(2, In_Reply_To="<1@elsewhere.test>"))
    answer = await maild.api.post("/v1/messages/batch", {"threadIds": [first["threadId"]], **body})
    assert answer.faults == {"threadIds": "too_many"}
    assert (await maild.api.get(f"/v1/messages/{second['id']}")).data["labels"] == ["unread"]


async def test_a_test_key_deletes_no_live_scheduled_message(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no words of what was named beside it."""
    monkeypatch.setattr(messages, "MUCH", 0)
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    (beside,) = await received(maild, bot, 1)
    scheduled = (await maild.api.send(bot, sendAt=at)).data
    body = {"ids": [beside, scheduled["id"]], "delete": True}
    answer = await maild.test_api.post("/v1/messages/batch", body)
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    assert maild.sql("SELECT json_extract(data, '$.subject') FROM events WHERE message_id = ?", beside) == [
        ("0",)
    ]
    assert (await maild.api.get(f"/v1/messages/{scheduled['id']}")).data["status"] == "scheduled"


async def test_what_much_hangs_on_loses_its_words_before_the_batch_that_deletes_it(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred messages that bounced for 150 recipients each, deleted in one transaction, kept all others from
    writing for nine seconds."""
    ids = await received(maild, bot, 2)
    units: list[str] = []
    write_apart = Database.write_apart

    async def noted(db: Database, unit: Any, *args: Any) -> Any:
        units.append(unit.__name__)
        return await write_apart(db, unit, *args)

    monkeypatch.setattr(Database, "write_apart", noted)
    monkeypatch.setattr(messages, "MUCH", 0)
    assert set((await batch(maild.api, ids=ids, delete=True)).values()) == {"changed"}
    assert units == ["_forget_some"] * 4 + ["run"]  # of each message until there is none
    subjects = maild.sql("SELECT json_extract(data, '$.subject') FROM events WHERE type = 'email.received'")
    assert subjects == [("",)] * 2


async def test_what_comes_into_a_thread_while_it_is_deleted_stays(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of the others are gone by then, so it may not be one too many."""
    monkeypatch.setattr(messages, "MUCH", 0)
    monkeypatch.setattr(message_batches, "DELETED_MAX", 1)
    (first,) = await received(maild, bot, 1)
    thread_id = (await maild.api.get(f"/v1/messages/{first}")).data["threadId"]
    came: list[str] = []
    forget_words = operations.forget_words

    async def beside(call: Any, message_id: str) -> int:
        message = await maild.received(bot, mail(1, In_Reply_To="<0@elsewhere.test>"))
        assert message["threadId"] == thread_id
        came.append(message["id"])
        return await forget_words(call, message_id)

    monkeypatch.setattr(message_batches, "forget_words", beside)
    assert await batch(maild.api, threadIds=[thread_id], delete=True) == {thread_id: "changed"}
    assert await listed(maild.api, threadId=thread_id) == came


async def test_one_batch_at_a_time_stands_before_other_writers(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    message = await maild.received(bot, "From: ada@elsewhere.test\nSubject: hello\n\nwords\n")
    in_line: list[int] = []
    waiting = 0
    write_apart = Database.write_apart

    async def counted(self: Database, unit: Any) -> Any:
        nonlocal waiting
        waiting += 1
        in_line.append(waiting)
        try:
            return await write_apart(self, unit)
        finally:
            waiting -= 1

    monkeypatch.setattr(Database, "write_apart", counted)
    bodies = [{"ids": [message["id"]], "addLabels": [f"l{number}"]} for number in range(5)]
    answers = await asyncio.gather(*(maild.api.post("/v1/messages/batch", body) for body in bodies))
    assert [answer.data[0]["result"] for answer in answers] == ["changed"] * 5
    assert in_line == [1] * 5


async def test_who_may_only_label_is_told_no_words(maild: Running, bot: dict[str, Any]) -> None:
    """A change answers what was changed; it is no way to read mail for a key without the scopes for it."""
    got = await maild.received(
        bot,
        "From: Ada Secret <ada@secret.test>\nSubject: secret\nMessage-ID: <secret@secret.test>\n\nsecret\n",
    )
    paths = (f"/v1/messages/{got['id']}", f"/v1/threads/{got['threadId']}")
    for scopes, is_told in (
        (("messages:label",), False),
        (("messages:reply",), False),
        (("messages:label", "messages:read"), True),
        (("messages:label", "threads:read"), True),
        (("messages:send",), True),  # it can forward them to itself
    ):
        api = await maild.key(*scopes)
        for path, body in zip(paths, ({"addLabels": ["seen"]}, {"isArchived": True}), strict=True):
            answer = await api.call("PATCH", path, body)
            assert (answer.status, set(answer.data["labels"])) == (200, {"unread", "seen"})
            assert (b"secret" in answer.body) == is_told, (scopes, path)
            assert answer.data.keys() == (await maild.api.call("PATCH", path, body)).data.keys()
