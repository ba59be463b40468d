"""POST /v1/drafts/{id}/send: contract, sections 3 and 4; decisions.md, "Draft"; threat A15."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from storage.mail.blobs import Blobs, Stored
from tests.support.running import Answer, Api, Running


async def write(api: Api, inbox: dict[str, Any], **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = (await api.post("/v1/drafts", {"inboxId": inbox["id"], **fields})).data
    return made


async def send(api: Api, draft: dict[str, Any]) -> Answer:
    return await api.call("POST", f"/v1/drafts/{draft['id']}/send")


async def shown(api: Api, draft: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get(f"/v1/drafts/{draft['id']}")).data
    return found


async def test_the_message_is_what_the_draft_says(maild: Running, bot: dict[str, Any]) -> None:
    fields = {"to": ["a@elsewhere.test"], "cc": ["c@elsewhere.test"], "bcc": ["b@elsewhere.test"]}
    draft = await write(maild.api, bot, **fields, subject="Plan", text="words", html="<b>words</b>")
    answer = await send(maild.api, draft)
    assert answer.status == 201 and "Idempotent-Replayed" not in answer.headers
    message = (await maild.api.get(f"/v1/messages/{answer.data['id']}")).data
    assert (message["subject"], message["textBody"].strip()) == ("Plan", "words")
    assert "<b>words</b>" in message["htmlBody"]
    assert [(one["kind"], one["address"]) for one in message["recipients"]] == [
        ("to", "a@elsewhere.test"), ("cc", "c@elsewhere.test"), ("bcc", "b@elsewhere.test")
    ]  # fmt: skip
    sent = await shown(maild.api, draft)
    assert (sent["status"], sent["messageId"]) == ("sent", message["id"])
    assert sent["sentAt"] is not None


async def test_the_second_send_answers_the_first_ones_message(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    first = await send(maild.api, draft)
    again = await send(maild.api, draft)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.data["id"] == first.data["id"]
    assert len(await maild.api.messages()) == 1


async def test_a_hundred_at_once_make_one_message(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    answers = await asyncio.gather(*(send(maild.api, draft) for _ in range(100)))
    assert Counter(one.status for one in answers) == {201: 1, 200: 99}
    assert len({one.data["id"] for one in answers}) == 1
    assert (
        maild.sql("SELECT count(*) FROM messages") == maild.sql("SELECT count(*) FROM recipients") == [(1,)]
    )


async def test_what_is_edited_while_it_is_sent_is_sent_whole(maild: Running, bot: dict[str, Any]) -> None:
    """Whichever comes first: the message is one of the versions, and an edit that was taken is in it."""
    for number in range(10):
        draft = await write(maild.api, bot, to=["a@elsewhere.test"], subject="old", text="old")
        path = f"/v1/drafts/{draft['id']}"
        sent, edited = await asyncio.gather(
            send(maild.api, draft), maild.api.call("PATCH", path, {"subject": "new", "text": "new"})
        )
        message = (await maild.api.get(f"/v1/messages/{sent.data['id']}")).data
        wanted = "new" if edited.status == 200 else "old"
        assert (message["subject"], message["textBody"].strip()) == (wanted, wanted), number


async def change_before_the_commit(
    maild: Running, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch, method: str, body: Any = None
) -> None:
    """The draft's next message is composed before the change, and committed after it."""
    keep, changes = Blobs.keep, [(method, f"/v1/drafts/{draft['id']}", body)]

    async def late(blobs: Blobs, stored: Stored, commit: Callable[[], Awaitable[Any]]) -> Any:
        while changes:
            assert (await maild.api.call(*changes.pop())).status == 200
        return await keep(blobs, stored, commit)

    monkeypatch.setattr(Blobs, "keep", late)


async def test_what_was_edited_since_it_was_composed_is_composed_anew(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"], subject="old", text="old")
    await change_before_the_commit(maild, draft, monkeypatch, "PATCH", {"to": ["b@elsewhere.test"]})
    answer = await send(maild.api, draft)
    assert (answer.status, answer.data["toAddresses"]) == (201, ["b@elsewhere.test"])
    assert maild.sql("SELECT address FROM recipients") == [("b@elsewhere.test",)]


async def test_what_was_discarded_since_it_was_composed_is_not_sent(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    await change_before_the_commit(maild, draft, monkeypatch, "DELETE")
    answer = await send(maild.api, draft)
    assert (answer.status, answer.code) == (409, "draft_discarded")
    assert maild.sql("SELECT * FROM messages") == []


async def test_without_a_recipient_it_is_incomplete(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, subject="nobody")
    answer = await send(maild.api, draft)
    assert (answer.status, answer.code) == (400, "draft_incomplete")
    assert (await shown(maild.api, draft))["status"] == "draft"


async def test_a_bcc_alone_is_a_recipient(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, bcc=["b@elsewhere.test"])
    answer = await send(maild.api, draft)
    assert (answer.status, answer.data["toAddresses"]) == (201, [])
    assert b"undisclosed-recipients:;" in await maild.raw(answer.data["id"])


async def test_a_discarded_one_is_never_sent(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    await maild.api.call("DELETE", f"/v1/drafts/{draft['id']}")
    answer = await send(maild.api, draft)
    assert (answer.status, answer.code) == (409, "draft_discarded")
    assert await maild.api.messages() == []


async def test_a_sent_one_can_be_neither_edited_nor_discarded(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    await send(maild.api, draft)
    path = f"/v1/drafts/{draft['id']}"
    assert (await maild.api.call("PATCH", path, {"subject": "x"})).code == "draft_not_editable"
    assert (await maild.api.call("DELETE", path)).code == "draft_already_sent"


async def test_a_guard_that_refuses_leaves_a_draft(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, to=["gone@elsewhere.test"])
    suppression = (await maild.api.post("/v1/suppressions", {"email": "gone@elsewhere.test"})).data
    assert (await send(maild.api, draft)).code == "recipient_suppressed"
    assert (await shown(maild.api, draft))["status"] == "draft"
    await maild.api.call("DELETE", f"/v1/suppressions/{suppression['id']}")
    assert (await send(maild.api, draft)).status == 201


async def test_it_costs_what_a_message_costs(maild: Running) -> None:
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    drafts = [await write(tiny.api, bot, to=["a@elsewhere.test"]) for _ in range(2)]
    assert (await send(tiny.api, drafts[0])).status == 201
    assert (await send(tiny.api, drafts[1])).code == "limit_reached"


async def test_it_answers_in_its_conversation(maild: Running, bot: dict[str, Any]) -> None:
    asked = await maild.received(
        bot, "From: a@elsewhere.test\nMessage-ID: <q@elsewhere.test>\nSubject: Q\n\n?"
    )
    draft = await write(maild.api, bot, to=["a@elsewhere.test"], inReplyTo=asked["threadId"])
    sent = (await send(maild.api, draft)).data
    assert (sent["threadId"], sent["inReplyTo"]) == (asked["threadId"], "<q@elsewhere.test>")


async def test_the_draft_of_a_deleted_message_sends_nothing_again(
    maild: Running, bot: dict[str, Any]
) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    sent = (await send(maild.api, draft)).data
    await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")
    assert (await send(maild.api, draft)).code == "message_not_found"
    assert await maild.api.messages() == []


async def test_another_inboxs_and_another_organizations(maild: Running, bot: dict[str, Any]) -> None:
    draft = await write(maild.api, bot, to=["a@elsewhere.test"])
    bound = await maild.key(inbox=await maild.inbox("beside"))
    assert (await send(bound, draft)).code == "inbox_access_denied"
    stranger = await maild.organization()
    assert (await send(stranger.api, draft)).code == "draft_not_found"
    assert (await shown(maild.api, draft))["status"] == "draft"
