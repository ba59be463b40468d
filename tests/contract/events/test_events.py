"""GET /v1/events: decisions.md, "Webhook"; docs/contract.md, "Events and webhooks". And what events look like."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from controlplane.contract.fields import EventType
from controlplane.contract.telling.events import EVENTS
from storage.ids import Ids, first_at, made_at
from tests.conftest import Start, on_shared
from tests.support.laws import published
from tests.support.peers.webhook_sink import WebhookSink
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

ENVELOPE = {"id", "type", "apiVersion", "createdAt", "organizationId", "data"}


async def listed(maild: Running, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await maild.api.get("/v1/events", **query)).data
    return found


async def subjects(maild: Running, **query: str) -> list[str]:
    return [one["data"]["subject"] for one in await listed(maild, **query)]


async def received(maild: Running, count: int, username: str = "bot") -> dict[str, Any]:
    """An inbox that got messages of the subjects 1, 2, …"""
    inbox = await maild.inbox(username)
    for number in range(1, count + 1):
        assert (await maild.deliver(inbox["address"], f"Subject: {number}\n\nword {number}\n"))[:3] == "250"
    return inbox


async def test_an_event_is_what_a_webhook_gets(start: Start, tmp_path: Path) -> None:
    async with WebhookSink(tmp_path) as sink:
        maild = await start(webhooks={"allow_private_networks": True, "ca_file": str(sink.ca_file)})
        await maild.api.post("/v1/webhooks", {"url": sink.url("/hook", "127.0.0.1")})
        await received(maild, 1)
        (call,) = await sink.received_count(1)
        (event,) = await listed(maild)
        assert event == call.event
        assert set(event) == ENVELOPE and event["data"]["text"] == "word 1\n"


async def test_pages_follow_each_other_oldest_first(maild: Running) -> None:
    await received(maild, 5)
    first = await listed(maild, limit="2")
    assert [one["data"]["subject"] for one in first] == ["1", "2"]
    assert await subjects(maild, after=first[-1]["id"], limit="2") == ["3", "4"]
    assert await subjects(maild, after=(await listed(maild))[-1]["id"]) == []


async def test_types_are_chosen(maild: Running) -> None:
    inbox = await received(maild, 1)
    assert (await maild.test_api.send(inbox, to=["delivered@simulator.test"], subject="out")).status == 201

    async def both() -> list[dict[str, Any]] | None:
        found = await listed(maild)
        return found if len(found) == 2 else None

    events = await until(both)
    assert [one["type"] for one in events] == ["email.received", "email.sent"]
    assert "mode" not in events[0] and events[1]["mode"] == "test"
    assert await listed(maild, types="email.sent") == events[1:]
    assert await listed(maild, types="email.received,email.sent") == events
    assert await listed(maild, types="domain.verified") == []


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ({"types": "email.opened"}, {"types[0]": "not_allowed"}),
        ({"types": ""}, {"types[0]": "not_allowed"}),
        ({"after": "5"}, {"after": "invalid_cursor"}),
        ({"after": "msg_01m7yfag7w45tyj0v8xnjg5z6z"}, {"after": "invalid_cursor"}),
        ({"limit": "0"}, {"limit": "out_of_range"}),
        ({"limit": "101"}, {"limit": "out_of_range"}),
        ({"before": "evt_01m7yfag7w45tyj0v8xnjg5z6z"}, {"before": "unknown_field"}),
    ],
)
@on_shared
async def test_what_is_refused(shared: Running, query: dict[str, str], faults: dict[str, str]) -> None:
    answer = await shared.api.get("/v1/events", **query)
    assert answer.status == 400 and answer.faults == faults


async def test_a_bound_key_sees_the_events_of_its_inbox(maild: Running) -> None:
    mine, other = await received(maild, 2, "mine"), await received(maild, 1, "other")
    bound = await maild.key(inbox=mine)
    found = (await bound.get("/v1/events")).data
    assert [one["data"]["inboxId"] for one in found] == [mine["id"]] * 2
    assert (await bound.get("/v1/events", inboxId=other["id"])).data == []
    assert (await bound.get("/v1/events", inboxId=mine["id"])).data == found
    assert len(await listed(maild)) == 3
    assert await listed(maild, inboxId=mine["id"]) == found
    # The event of another inbox is a position, and nothing else.
    foreign = (await listed(maild, inboxId=other["id"]))[0]
    assert (await bound.get("/v1/events", after=foreign["id"])).data == []


async def test_another_organization_sees_none_and_its_cursors_tell_nothing(maild: Running) -> None:
    stranger = await maild.organization()
    await received(maild, 1)
    theirs = await maild.inbox("theirs", stranger.api)
    await maild.deliver(theirs["address"], "Subject: theirs\n\n")
    (own,) = await listed(maild)
    (foreign,) = (await stranger.api.get("/v1/events")).data
    assert foreign["data"]["subject"] == "theirs"
    # A stranger's id stands where an id that never was stands: at its time.
    invented = foreign["id"][:14] + "0" * 16
    for after in (foreign["id"], invented):
        assert await listed(maild, after=after) in ([], [own])  # within one millisecond or after it
    assert await listed(maild, after=foreign["id"]) == await listed(maild, after=invented)


async def test_a_cursor_outlives_its_event(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    inbox = await maild.inbox()
    ids = []
    for number in range(4):
        await maild.deliver(inbox["address"], f"Subject: {number}\n\n")
        ids.append((await listed(maild))[-1]["id"])
        clock.forward(60)
    await maild.operate(maild.sql, "DELETE FROM events WHERE id = ?", ids[1])
    assert await subjects(maild, after=ids[1]) == ["2", "3"]
    await maild.operate(maild.sql, "DELETE FROM events WHERE id = ?", ids[0])
    assert await subjects(maild, after=ids[0]) == ["2", "3"]
    assert await subjects(maild, after=ids[1], types="email.sent") == []
    assert await subjects(maild, after="evt_" + "z" * 26) == []
    assert await subjects(maild, after="evt_" + "0" * 26) == ["2", "3"]


async def test_the_words_of_a_deleted_message_are_gone(maild: Running) -> None:
    await received(maild, 1)
    (message,) = await maild.api.messages()
    await maild.api.call("DELETE", f"/v1/messages/{message['id']}")
    (event,) = await listed(maild)
    data = event["data"]
    assert (data["messageId"], data["text"], data["extractedText"]) == (message["id"], None, None)
    assert (data["subject"], data["snippet"], data["attachments"]) == ("", "", [])


async def test_it_needs_messages_read(maild: Running) -> None:
    answer = await (await maild.key("threads:read")).get("/v1/events")
    assert (answer.status, answer.code) == (403, "insufficient_scope")


def test_an_id_tells_its_time() -> None:
    clock = ManualClock()
    assert made_at(Ids(clock).new("evt")) == clock.at_ms
    assert made_at(first_at("evt", 12_345) + "0" * 16) == 12_345


# What events look like -------------------------------------------------------------------------------

AT = "2026-11-21T12:00:00.000Z"
BASE = {
    "messageId": "msg_1", "inboxId": "inb_1", "threadId": "thd_1", "fromAddress": "a@b.test", "toAddresses": [],
    "subject": "", "sentAt": AT, "recipients": [],
}  # fmt: skip
SMTP = {"smtpCode": 450, "enhancedCode": None, "diagnostic": "later"}
CHECKS = {"ownership": True, "mx": True, "spf": True, "dkim": True}
MEANING = {"class": "mailbox_full", "advice": "retry_later"}
DRAFT = {"draftId": "drf_1", "inboxId": "inb_1", "threadId": None, "status": "draft", "messageId": None}
CHANGED = {"messageId": "msg_1", "inboxId": "inb_1", "threadId": "thd_1"}
REVIEW = {
    "reviewId": "rev_1", "messageId": "msg_1", "inboxId": "inb_1", "direction": "outbound", "status": "pending",
    "reasons": ["all"], "expiresAt": AT,
}  # fmt: skip
ENDED_CLAIM = {
    "claimId": "clm_1", "messageId": "msg_1", "inboxId": "inb_1", "threadId": "thd_1", "attempt": 1, "holder": None,
}  # fmt: skip
DATA: dict[str, dict[str, Any]] = {
    "email.sent": BASE,
    "email.bounced": {
        **BASE, **SMTP, **MEANING, "recipient": "x@y.test", "bounceType": "permanent", "suppressed": True,
    },
    "email.complained": {**BASE, "recipient": "x@y.test", "feedbackType": "abuse", "suppressed": True},
    "email.unsubscribed": {
        "email": "x@y.test", "messageId": "msg_1", "inboxId": "inb_1", "source": "link", "suppressionId": "sup_1",
    },
    "email.delayed": {
        **BASE, **SMTP, **MEANING, "sentAt": None, "recipient": "x@y.test", "attempts": 1, "nextAttemptAt": AT,
    },
    "email.failed": {**BASE, "failureReason": "domain_not_verified"},
    "domain.verified": {
        "domainId": "dom_1", "domainName": "y.test", "status": "verified", "checks": CHECKS, "verifiedAt": AT,
    },
    "domain.failed": {
        "domainId": "dom_1", "domainName": "y.test", "status": "failed", "checks": CHECKS, "verifiedAt": None,
    },
    "sending.paused": {
        "status": "paused", "reason": "bounce_rate", "action": "contact_operator", "trippedAt": AT,
    },
    "message.updated": {**CHANGED, "labelsBefore": ["unread"], "labels": []},
    "message.deleted": {**CHANGED, "labelsBefore": ["unread"]},
    "thread.updated": {"threadId": "thd_1", "inboxId": "inb_1", "isArchived": True},
    "draft.created": DRAFT, "draft.updated": DRAFT, "draft.discarded": DRAFT,
    "claim.expired": ENDED_CLAIM, "claim.dead": ENDED_CLAIM,
    "review.requested": REVIEW, "review.resolved": {**REVIEW, "status": "approved", "resolvedBy": "key_1"},
    "audit.head": {"seq": 1, "hash": "00" * 32, "at": AT},
    "webhook.test": {"webhookId": "whk_1"},
}  # fmt: skip


def body(type: str, data: dict[str, Any], **more: Any) -> bytes:
    made = {
        "id": "evt_1",
        "type": type,
        "apiVersion": "v1",
        "createdAt": AT,
        "organizationId": "org_1",
        **more,
    }
    return json.dumps({**made, "data": data}).encode()


def test_every_type_has_its_schema() -> None:
    assert set(EVENTS) == {*get_args(EventType), "webhook.test"}
    assert set(DATA) | {"email.received"} == set(EVENTS)


@pytest.mark.parametrize("type", DATA)
def test_the_guard_takes_the_documented_shape_and_nothing_else(type: str) -> None:
    published.check_body(body(type, DATA[type]))
    published.check_body(body(type, DATA[type], mode="test"))
    for wrong in (
        body(type, {**DATA[type], "more": 1}),
        body(type, {key: DATA[type][key] for key in list(DATA[type])[1:]}),
        body(type, DATA[type], mode="live"),
        body("email.opened", DATA[type]),
    ):
        with pytest.raises(published.Misshapen):
            published.check_body(wrong)


@on_shared
async def test_the_document_tells_of_each_as_a_webhook(shared: Running) -> None:
    told = (await shared.api.with_key(None).get("/openapi.json")).json
    assert set(told["webhooks"]) == set(EVENTS)
    for type, item in told["webhooks"].items():
        schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        whole = told["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        assert whole["properties"]["type"]["const"] == type
        assert whole["properties"]["mode"]["const"] == "test"
        shared_ones = told["components"]["parameters"]
        parameters = [
            shared_ones[one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one
            for one in item["post"]["parameters"]
        ]
        names = {one["name"] for one in parameters}
        assert {"X-Svc-Signature", "X-Svc-Delivery", "webhook-id"} <= names
