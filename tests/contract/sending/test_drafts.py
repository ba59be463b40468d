"""Drafts (contract, section 4; decisions.md, "Draft"); sending them has tests of its own."""

import asyncio
import threading
import tracemalloc
from typing import Any

import pytest

from storage.engine.tx import Tx
from storage.mail import drafts
from tests.conftest import Start
from tests.support.running import Answer, Running

ABSENT = "drf_01m7yg00000000000000000000"
FULL = {
    "to": ["a@elsewhere.test"],
    "cc": ["b@elsewhere.test"],
    "bcc": ["c@elsewhere.test"],
    "subject": "hello",
    "text": "words",
    "html": "<p>words</p>",
}


async def make(maild: Running, inbox: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = await maild.api.post("/v1/drafts", {"inboxId": inbox["id"], **fields})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.data
    return made


async def test_an_empty_draft(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot)
    assert draft == {
        "id": draft["id"], "inboxId": bot["id"], "threadId": None, "toAddresses": [], "ccAddresses": [],
        "bccAddresses": [], "subject": "", "textBody": None, "htmlBody": None, "inReplyTo": None,
        "ifLastMessageId": None,
        "claimId": None,
        "completeClaim": False,
        "status": "draft", "messageId": None, "createdAt": draft["createdAt"], "updatedAt": draft["createdAt"],
        "sentAt": None, "discardedAt": None,
    }  # fmt: skip
    assert draft["id"].startswith("drf_")
    assert (await maild.api.get(f"/v1/drafts/{draft['id']}")).data == draft


async def test_drafts_are_read_beside_the_event_loop(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may be a megabyte, in hundreds of pages of the disk: six lists of a hundred had the event loop read for
    0.8 s."""
    draft = await make(maild, bot, **FULL)
    on_loop: list[bool] = []
    get = drafts.get

    def noted(tx: Tx, *given: str) -> Any:
        on_loop.append(threading.current_thread() is threading.main_thread())
        return get(tx, *given)

    monkeypatch.setattr(drafts, "get", noted)
    assert len((await maild.api.get("/v1/drafts")).data) == 1
    assert (await maild.api.get(f"/v1/drafts/{draft['id']}")).status == 200
    assert (await maild.api.post("/v1/messages/check", {"draftId": draft["id"]})).status == 200
    assert on_loop == [False] * 3
    assert (await maild.api.call("POST", f"/v1/drafts/{draft['id']}/send")).status == 201
    assert not on_loop[3]  # the transaction, which compares, finds what was just read


async def test_a_full_draft(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot, **FULL)
    assert (draft["toAddresses"], draft["ccAddresses"], draft["bccAddresses"]) == (
        FULL["to"],
        FULL["cc"],
        FULL["bcc"],
    )
    assert (draft["subject"], draft["textBody"], draft["htmlBody"]) == ("hello", "words", "<p>words</p>")


async def test_a_draft_is_made_once_under_a_key(maild: Running, bot: dict[str, Any]) -> None:
    async def make_again(key: str = "k", **fields: Any) -> Answer:
        body = {"inboxId": bot["id"], **FULL, **fields}
        return await maild.api.call("POST", "/v1/drafts", body, headers={"Idempotency-Key": key})

    first = await make_again()
    assert first.status == 201 and "Idempotent-Replayed" not in first.headers
    path = f"/v1/drafts/{first.data['id']}"
    changed = (await maild.api.call("PATCH", path, {"text": "other words"})).data
    again = await make_again()
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.data == changed, "as it is now"
    other = await make_again(text="else")
    assert (other.status, other.code) == (409, "idempotency_conflict")
    await maild.api.call("DELETE", path)
    assert (await make_again()).data["status"] == "discarded"
    assert (await make_again("another")).status == 201
    assert len((await maild.api.get("/v1/drafts")).data) == 2
    assert "words" not in str(maild.sql("SELECT answer FROM idempotency"))


async def test_what_was_refused_is_not_kept_under_a_key(maild: Running, bot: dict[str, Any]) -> None:
    body = {"inboxId": "inb_01m7yg00000000000000000000"}
    headers = {"Idempotency-Key": "k"}
    assert (await maild.api.call("POST", "/v1/drafts", body, headers=headers)).status == 404
    body = {"inboxId": bot["id"]}
    assert (await maild.api.call("POST", "/v1/drafts", body, headers=headers)).status == 201


async def test_a_bound_key_hears_of_no_draft_of_another_inbox(maild: Running, bot: dict[str, Any]) -> None:
    body, headers = {"inboxId": bot["id"], **FULL}, {"Idempotency-Key": "k"}
    assert (await maild.api.call("POST", "/v1/drafts", body, headers=headers)).status == 201
    bound = await maild.key(inbox=await maild.inbox("other"))
    refused = await bound.call("POST", "/v1/drafts", body, headers=headers)
    assert (refused.status, refused.code) == (403, "inbox_access_denied")


async def test_drafts_that_race_under_a_key_are_one(maild: Running, bot: dict[str, Any]) -> None:
    body, headers = {"inboxId": bot["id"], **FULL}, {"Idempotency-Key": "k"}
    made = await asyncio.gather(
        *(maild.api.call("POST", "/v1/drafts", body, headers=headers) for _ in range(5))
    )
    assert sorted(one.status for one in made) == [200] * 4 + [201]
    assert len({one.data["id"] for one in made}) == 1


async def test_a_reply_knows_its_thread(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, "From: a@elsewhere.test\nSubject: x\n\nwords\n")
    for name in (message["id"], message["threadId"]):
        draft = await make(maild, bot, inReplyTo=name)
        assert (draft["inReplyTo"], draft["threadId"]) == (name, message["threadId"])
    other = await maild.inbox("other")
    for inbox, name in ((other, message["id"]), (bot, "msg_01m7yg00000000000000000000")):
        answer = await maild.api.post("/v1/drafts", {"inboxId": inbox["id"], "inReplyTo": name})
        assert (answer.status, answer.code) == (404, "message_not_found")


FAULTS = [
    ({"to": "a@elsewhere.test"}, {"to": "wrong_type"}),
    ({"to": ["nobody"], "cc": ["x@"]}, {"to[0]": "invalid_email", "cc[0]": "invalid_email"}),
    ({"to": [f"a{number}@elsewhere.test" for number in range(51)]}, {"to": "too_many"}),
    ({"subject": "x" * 501}, {"subject": "too_long"}),
    ({"subject": "a\nb"}, {"subject": "control_character"}),
    ({"text": 1, "html": 2}, {"text": "wrong_type", "html": "wrong_type"}),
    ({"inReplyTo": "inb_1"}, {"inReplyTo": "invalid_id"}),
    ({"attachments": []}, {"attachments": "unknown_field"}),
]


@pytest.mark.parametrize(("fields", "faults"), FAULTS)
async def test_what_is_refused(
    maild: Running, bot: dict[str, Any], fields: dict[str, Any], faults: dict[str, str]
) -> None:
    created = await maild.api.post("/v1/drafts", {"inboxId": bot["id"], **fields})
    assert created.status == 400 and created.faults == faults
    draft = await make(maild, bot)
    changed = await maild.api.call("PATCH", f"/v1/drafts/{draft['id']}", fields)
    assert changed.status == 400 and changed.faults == faults


async def test_a_draft_too_large_is_413(maild: Running, bot: dict[str, Any]) -> None:
    answer = await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "text": "x" * 1_048_577})
    assert (answer.status, answer.code) == (413, "payload_too_large")


async def test_a_draft_does_not_grow_too_large_piece_by_piece(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot, text="x" * 524_288)
    too_much = await maild.api.call("PATCH", f"/v1/drafts/{draft['id']}", {"html": "x" * 524_289})
    assert (too_much.status, too_much.code) == (413, "payload_too_large")
    assert too_much.error["details"] == {"sizeBytes": 1_048_577, "limit": 1_048_576}
    just_fits = await maild.api.call("PATCH", f"/v1/drafts/{draft['id']}", {"html": "x" * 524_288})
    assert just_fits.status == 200
    replaced = await maild.api.call(
        "PATCH", f"/v1/drafts/{draft['id']}", {"text": None, "html": "x" * 1_048_576}
    )
    assert replaced.status == 200


async def test_patch_changes_what_is_given_alone(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot, **FULL)
    path = f"/v1/drafts/{draft['id']}"
    assert (await maild.api.call("PATCH", path, {})).faults == {"": "nothing_to_change"}
    changed = (await maild.api.call("PATCH", path, {"subject": "new", "to": []})).data
    assert changed == {**draft, "subject": "new", "toAddresses": [], "updatedAt": changed["updatedAt"]}
    cleared = (await maild.api.call("PATCH", path, {"text": None, "html": None, "subject": None})).data
    assert (cleared["textBody"], cleared["htmlBody"], cleared["subject"]) == (None, None, "")
    assert cleared["ccAddresses"] == FULL["cc"]
    assert (await maild.api.get(path)).data == cleared


async def test_a_discarded_draft(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot, **FULL)
    path = f"/v1/drafts/{draft['id']}"
    discarded = (await maild.api.call("DELETE", path)).data
    assert discarded["status"] == "discarded" and discarded["discardedAt"] is not None
    again = await maild.api.call("DELETE", path)
    assert again.status == 200 and again.data == discarded
    assert (await maild.api.get(path)).data == discarded
    refused = await maild.api.call("PATCH", path, {"subject": "x"})
    assert (refused.status, refused.code) == (409, "draft_not_editable")


async def test_a_sent_draft(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot, **FULL)
    path = f"/v1/drafts/{draft['id']}"
    maild.sql(
        "UPDATE drafts SET status = 'sent', message_id = 'msg_x', sent_at = 1 WHERE id = ?", draft["id"]
    )
    assert (await maild.api.get(path)).data["messageId"] == "msg_x"
    refused = await maild.api.call("PATCH", path, {"subject": "x"})
    assert (refused.status, refused.code) == (409, "draft_not_editable")
    refused = await maild.api.call("DELETE", path)
    assert (refused.status, refused.code) == (409, "draft_already_sent")


async def test_lists(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    made = [await make(maild, other if number == 3 else bot, subject=str(number)) for number in range(6)]
    await maild.api.call("DELETE", f"/v1/drafts/{made[0]['id']}")

    async def subjects(**params: str) -> str:
        return "".join(one["subject"] for one in (await maild.api.get("/v1/drafts", **params)).data)

    assert await subjects() == "543210"
    assert (await subjects(status="draft"), await subjects(status="discarded")) == ("54321", "0")
    assert await subjects(status="sent") == ""
    assert (await subjects(inboxId=other["id"]), await subjects(inboxId="inb_absent")) == ("3", "")
    assert await subjects(limit="2") == "54"
    assert await subjects(limit="2", cursor=made[4]["id"]) == "32"
    for params in ({"limit": "0"}, {"limit": "101"}, {"status": "open"}, {"cursor": "x"}, {"before": "x"}):
        assert (await maild.api.get("/v1/drafts", **params)).code == "validation_failed"


async def test_there_is_a_limit_to_open_drafts(start: Start) -> None:
    maild = await start(plans={"selfhost": {"open_drafts": 2}})
    bot = await maild.inbox("bot")
    first, _ = await make(maild, bot), await make(maild, bot)
    refused = await maild.api.post("/v1/drafts", {"inboxId": bot["id"]})
    assert (refused.status, refused.code) == (402, "draft_limit_reached")
    assert refused.error["details"] == {"resource": "openDrafts", "limit": 2, "used": 2, "resetsAt": None}
    await maild.api.call("DELETE", f"/v1/drafts/{first['id']}")
    await make(maild, bot)


async def test_drafts_of_others(maild: Running, bot: dict[str, Any]) -> None:
    draft = await make(maild, bot)
    stranger = await maild.organization()
    for api, draft_id in ((stranger.api, draft["id"]), (maild.api, ABSENT)):
        for method, body in (("GET", None), ("PATCH", {"subject": "x"}), ("DELETE", None)):
            answer = await api.call(method, f"/v1/drafts/{draft_id}", body)
            assert (answer.status, answer.code) == (404, "draft_not_found")
    assert (await stranger.api.get("/v1/drafts")).data == []
    answer = await stranger.api.post("/v1/drafts", {"inboxId": bot["id"]})
    assert (answer.status, answer.code) == (404, "inbox_not_found")


async def test_drafts_of_a_bound_key(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    mine, foreign = await make(maild, bot), await make(maild, other)
    bound = await maild.key(inbox=bot)
    assert [one["id"] for one in (await bound.get("/v1/drafts")).data] == [mine["id"]]
    assert (await bound.get("/v1/drafts", inboxId=other["id"])).data == []
    for method, body in (("GET", None), ("PATCH", {"subject": "x"}), ("DELETE", None)):
        answer = await bound.call(method, f"/v1/drafts/{foreign['id']}", body)
        assert (answer.status, answer.code) == (403, "inbox_access_denied")
    denied = await bound.post("/v1/drafts", {"inboxId": other["id"]})
    assert (denied.status, denied.code) == (403, "inbox_access_denied")
    absent = await bound.post("/v1/drafts", {"inboxId": "inb_01m7yg00000000000000000000"})
    assert (absent.status, absent.code) == (404, "inbox_not_found")
    assert (await bound.post("/v1/drafts", {"inboxId": bot["id"]})).status == 201


async def test_drafts_need_the_scope_to_send(maild: Running, bot: dict[str, Any]) -> None:
    reader = await maild.key("messages:read")
    assert (await reader.get("/v1/drafts")).code == "insufficient_scope"


async def test_a_page_of_large_drafts_is_never_in_memory_as_a_whole(
    maild: Running, bot: dict[str, Any]
) -> None:
    for _ in range(20):
        await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "text": "x" * 1_000_000})
    size = 0
    tracemalloc.start()
    try:
        headers = {"Authorization": f"Bearer {maild.api.key}"}
        async with maild._session.get(maild.api.url + "/v1/drafts?limit=100", headers=headers) as response:
            async for piece in response.content.iter_any():
                size += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 20_000_000 > 2 * peak
