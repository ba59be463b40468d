"""Dispatcher and event streams that never look by themselves: the commit of a change alone wakes them."""

from typing import Any

import pytest

from conf.tuning import FeedTuning, Tuning, WebhookTuning
from tests.conftest import Start
from tests.support.clients.event_stream import EventStream
from tests.support.running import Running, until

NEVER_S = 3600.0


@pytest.fixture
async def maild(start: Start) -> Running:
    return await start(
        webhooks={"allow_private_networks": True, "retry_delays_s": [3600]},
        tuning=Tuning(
            webhooks=WebhookTuning(look_again_s=NEVER_S),
            feeds=FeedTuning(look_again_s=NEVER_S, look_s=NEVER_S, rest_s=0),
        ),
    )


async def attempts(maild: Running, count: int) -> list[dict[str, Any]]:
    async def look() -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = (await maild.api.get("/v1/webhooks/deliveries")).data
        return found if len(found) == count else None

    return await until(look)


async def test_a_mail_that_comes_in_reaches_both(maild: Running) -> None:
    assert (await maild.api.post("/v1/webhooks", {"url": "https://127.0.0.1:9/x"})).status == 201
    bot = await maild.inbox("bot")
    async with EventStream(maild.api) as stream:
        await maild.received(bot, "Subject: one\n\n")
        told = await stream.next()
    (made,) = await attempts(maild, 1)
    assert told.id == made["eventId"]


async def test_a_stream_hears_where_no_webhook_does(maild: Running) -> None:
    bot = await maild.inbox("bot")
    async with EventStream(maild.api) as stream:
        await maild.received(bot, "Subject: one\n\n")
        assert (await stream.next()).type == "email.received"


@pytest.mark.parametrize("change", ["deactivated", "deleted"])
async def test_what_waits_for_a_webhook_that_went_is_halted(maild: Running, change: str) -> None:
    webhook = (await maild.api.post("/v1/webhooks", {"url": "https://127.0.0.1:9/x"})).data
    await maild.received(await maild.inbox("bot"), "Subject: one\n\n")
    (failed,) = await attempts(maild, 1)
    assert failed["nextAttemptAt"] is not None
    path = f"/v1/webhooks/{webhook['id']}"
    method, body = ("PATCH", {"isActive": False}) if change == "deactivated" else ("DELETE", None)
    assert (await maild.api.call(method, path, body)).status == 200
    assert next(one["nextAttemptAt"] for one in await attempts(maild, 2)) is None


async def test_an_inbox_that_goes_tells_of_what_is_not_sent(maild: Running) -> None:
    assert (
        await maild.api.post(
            "/v1/webhooks", {"url": "https://127.0.0.1:9/x", "subscribedEvents": ["email.failed"]}
        )
    ).status == 201
    bot = await maild.inbox("bot")
    sent = await maild.api.post(
        "/v1/messages/send", {"inboxId": bot["id"], "to": ["a@there.test"], "subject": "x", "text": "x"}
    )
    assert sent.status == 201
    assert (await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")).status == 200
    (told,) = await attempts(maild, 1)
    assert told["eventType"] == "email.failed"
