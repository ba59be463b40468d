"""POST /v1/webhooks/deliveries/{id}/redeliver: decisions.md, "Webhook"; docs/contract.md, "Webhook requests"."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.running import Answer, Running, until


@pytest.fixture
async def sink(tmp_path: Path) -> AsyncIterator[WebhookSink]:
    async with WebhookSink(tmp_path) as opened:
        yield opened


@pytest.fixture
async def maild(start: Start, sink: WebhookSink) -> Running:
    running = await start(webhooks={"allow_private_networks": True, "ca_file": str(sink.ca_file)})
    await running.api.post("/v1/webhooks", {"url": sink.url("/hook", "127.0.0.1")})
    return running


async def told(maild: Running, count: int = 1) -> list[dict[str, Any]]:
    """The log of attempts, newest first, once there are so many."""

    async def look() -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = (await maild.api.get("/v1/webhooks/deliveries")).data
        return found if len(found) >= count else None

    found: list[dict[str, Any]] = await until(look)
    return found


async def delivered(maild: Running) -> dict[str, Any]:
    """The record of the first attempt to tell of a message that came in."""
    await maild.received(await maild.inbox(), "Subject: told\n\nhello\n")
    return (await told(maild))[0]


async def redeliver(maild: Running, delivery_id: str) -> Answer:
    return await maild.api.call("POST", f"/v1/webhooks/deliveries/{delivery_id}/redeliver")


async def test_what_succeeded_is_sent_again_as_the_next_attempt(maild: Running, sink: WebhookSink) -> None:
    first = await delivered(maild)
    answer = await redeliver(maild, first["id"])
    assert answer.status == 200
    again = answer.data
    assert (again["attempt"], again["isSuccessful"], again["nextAttemptAt"]) == (2, True, None)
    assert (again["eventId"], again["webhookId"]) == (first["eventId"], first["webhookId"])
    one, two = sink.received
    assert two.body == one.body
    assert (two.headers["x-svc-attempt"], two.delivery_id) == ("2", again["id"])
    assert again["id"] != first["id"] and again == (await told(maild, 2))[0]
    third = (await redeliver(maild, again["id"])).data
    assert third["attempt"] == 3


async def test_a_refused_one_is_sent_again(maild: Running, sink: WebhookSink) -> None:
    sink.script("/hook", Reply(410))
    first = await delivered(maild)
    assert (first["isSuccessful"], first["nextAttemptAt"]) == (False, None)
    assert (await redeliver(maild, first["id"])).data["isSuccessful"]
    assert maild.sql("SELECT status, attempts, lease FROM webhook_deliveries") == [("succeeded", 2, None)]


async def test_a_waiting_retry_is_replaced(maild: Running, sink: WebhookSink) -> None:
    sink.script("/hook", Reply(503))
    first = await delivered(maild)
    assert first["nextAttemptAt"] is not None
    assert (await redeliver(maild, first["id"])).data["attempt"] == 2
    assert maild.sql("SELECT status, next_attempt_at FROM webhook_deliveries") == [("succeeded", None)]


async def test_a_failure_is_retried_as_its_number_says(maild: Running, sink: WebhookSink) -> None:
    sink.script("/hook", Reply(), *[Reply(503)] * 4)
    newest = await delivered(maild)
    for attempt in (2, 3, 4):
        newest = (await redeliver(maild, newest["id"])).data
        assert newest["attempt"] == attempt and newest["nextAttemptAt"] is not None
    newest = (await redeliver(maild, newest["id"])).data
    assert (newest["attempt"], newest["nextAttemptAt"]) == (5, None)
    assert maild.sql("SELECT status FROM webhook_deliveries") == [("failed",)]
    assert (await redeliver(maild, newest["id"])).data["attempt"] == 6


async def test_an_attempt_in_flight_is_not_disturbed(maild: Running, sink: WebhookSink) -> None:
    """Nor do two calls at once make two attempts."""
    release = asyncio.Event()
    first = await delivered(maild)
    sink.script("/hook", Reply(hold=release))
    slow = asyncio.create_task(redeliver(maild, first["id"]))
    await sink.received_count(2)
    refused = await redeliver(maild, first["id"])
    assert (refused.status, refused.code) == (409, "delivery_in_flight")
    release.set()
    assert (await slow).data["attempt"] == 2
    assert len(sink.received) == 2


async def test_a_halted_one_is_sent_again_once_its_webhook_is_active(
    maild: Running, sink: WebhookSink
) -> None:
    sink.script("/hook", Reply(503))
    first = await delivered(maild)
    path = f"/v1/webhooks/{first['webhookId']}"
    await maild.api.call("PATCH", path, {"isActive": False})
    halted = (await told(maild, 2))[0]
    assert halted["error"] == "the webhook was deactivated; retries halted"
    refused = await redeliver(maild, halted["id"])
    assert (refused.status, refused.code) == (409, "webhook_inactive")
    await maild.api.call("PATCH", path, {"isActive": True})
    assert (await redeliver(maild, halted["id"])).data["attempt"] == 3


async def test_of_a_deleted_webhook(maild: Running) -> None:
    first = await delivered(maild)
    await maild.api.call("DELETE", f"/v1/webhooks/{first['webhookId']}")
    refused = await redeliver(maild, first["id"])
    assert (refused.status, refused.code) == (404, "webhook_not_found")


async def test_of_an_event_that_is_not_kept(maild: Running) -> None:
    first = await delivered(maild)
    ping = (await maild.api.call("POST", f"/v1/webhooks/{first['webhookId']}/test")).data
    await maild.operate(maild.sql, "DELETE FROM webhook_deliveries")
    await maild.operate(maild.sql, "DELETE FROM events")
    for record in (first, ping):
        refused = await redeliver(maild, record["id"])
        assert (refused.status, refused.code) == (410, "event_not_kept")


async def test_an_unknown_one_and_that_of_a_stranger_are_not_found(maild: Running) -> None:
    first = await delivered(maild)
    stranger = await maild.organization()
    for api, delivery_id in ((maild.api, "del_nothing"), (stranger.api, first["id"])):
        answer = await api.call("POST", f"/v1/webhooks/deliveries/{delivery_id}/redeliver")
        assert (answer.status, answer.code) == (404, "delivery_not_found")


async def test_it_needs_webhooks_write(maild: Running) -> None:
    first = await delivered(maild)
    reader = await maild.key("webhooks:read")
    answer = await reader.call("POST", f"/v1/webhooks/deliveries/{first['id']}/redeliver")
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    bound = await maild.key(inbox=(await maild.inbox("another")))
    answer = await bound.call("POST", f"/v1/webhooks/deliveries/{first['id']}/redeliver")
    assert (answer.status, answer.code) == (403, "insufficient_scope")


async def test_a_deleted_message_is_told_of_without_its_words(maild: Running, sink: WebhookSink) -> None:
    first = await delivered(maild)
    (message,) = await maild.api.messages()
    await maild.api.call("DELETE", f"/v1/messages/{message['id']}")
    await redeliver(maild, first["id"])
    before, after = (one.event["data"] for one in sink.received)
    assert before["text"] == "hello\n" and after["text"] is None
    assert (after["subject"], after["snippet"]) == ("", "")
