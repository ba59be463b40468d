"""POST /v1/webhooks and GET /v1/webhooks/deliveries: contract, sections 2, 4 and 6; decisions.md, "Webhook"."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Start, on_shared
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

DELIVERY = {
    "id", "webhookId", "eventId", "eventType", "attempt", "requestHeaders", "responseStatus", "responseBody",
    "isSuccessful", "error", "durationMs", "nextAttemptAt", "createdAt",
}  # fmt: skip


@pytest.fixture
async def maild(start: Start) -> AsyncIterator[Running]:
    """With a DNS server that answers: no such name."""
    async with DnsServer() as dns:
        yield await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]})


async def test_a_new_webhook_is_complete_and_shows_its_secret_once(maild: Running) -> None:
    answer = await maild.api.post("/v1/webhooks", {"url": "https://hooks.elsewhere.test/in?x=1"})
    assert answer.status == 201
    webhook = answer.data
    assert set(webhook) == {"id", "url", "subscribedEvents", "isActive", "secret", "createdAt", "updatedAt"}
    assert webhook["id"].startswith("whk_") and webhook["isActive"] is True
    assert webhook["url"] == "https://hooks.elsewhere.test/in?x=1"
    assert webhook["subscribedEvents"] == ["email.received", "email.sent", "email.bounced"]
    kind, _, secret = webhook["secret"].partition("_")
    assert kind == "whsec" and len(base64.b64decode(secret, validate=True)) == 32
    ((sealed,),) = maild.sql("SELECT secret FROM webhooks")  # A6
    assert secret.encode() not in sealed and base64.b64decode(secret) not in sealed
    other = (await maild.api.post("/v1/webhooks", {"url": "https://hooks.elsewhere.test/in?x=1"})).data
    assert other["secret"] != webhook["secret"]


async def test_subscriptions(maild: Running) -> None:
    every = [
        "email.received", "email.sent", "email.bounced", "email.complained", "email.unsubscribed", "email.delayed",
        "email.failed", "domain.verified", "domain.failed", "sending.paused",
    ]  # fmt: skip
    made = (await maild.api.post("/v1/webhooks", {"url": "https://a.test", "subscribedEvents": every})).data
    assert made["subscribedEvents"] == every
    twice = (
        await maild.api.post("/v1/webhooks", {"url": "https://a.test", "subscribedEvents": every[:1] * 3})
    ).data
    assert twice["subscribedEvents"] == every[:1]
    for events, faults in (
        ([], {"subscribedEvents": "too_few"}),
        (["email.opened"], {"subscribedEvents[0]": "not_allowed"}),
        (["email.sent", "*"], {"subscribedEvents[1]": "not_allowed"}),
        ("email.sent", {"subscribedEvents": "wrong_type"}),
        (None, {"subscribedEvents": "wrong_type"}),
    ):
        answer = await maild.api.post("/v1/webhooks", {"url": "https://a.test", "subscribedEvents": events})
        assert answer.status == 400 and answer.faults == faults


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://a.test", "invalid_format"),
        ("HTTPS://a.test", "invalid_format"),
        ("ftp://a.test", "invalid_format"),
        ("//a.test", "invalid_format"),
        ("", "invalid_format"),
        (5, "wrong_type"),
        (None, "wrong_type"),
        ("https://" + "a" * 2048, "too_long"),
        ("https://", "refused_target"),
        ("https:///x", "refused_target"),
        ("https://127.0.0.1/x", "refused_target"),
        ("https://127.1", "refused_target"),
        ("https://2130706433", "refused_target"),
        ("https://0x7f000001", "refused_target"),
        ("https://0177.0.0.1", "refused_target"),
        ("https://[::1]/", "refused_target"),
        ("https://[::ffff:10.0.0.1]/", "refused_target"),
        ("https://[fe80::1]/", "refused_target"),
        ("https://[fd00::1]/", "refused_target"),
        ("https://[64:ff9b::7f00:1]/", "refused_target"),
        ("https://169.254.169.254/latest/meta-data", "refused_target"),
        ("https://10.0.0.1", "refused_target"),
        ("https://192.168.1.1:8443", "refused_target"),
        ("https://100.64.0.1", "refused_target"),
        ("https://0.0.0.0", "refused_target"),
        ("https://localhost/x", "refused_target"),
        ("https://LOCALHOST./x", "refused_target"),
        ("https://user:pass@a.test/", "refused_target"),
        ("https://a.test:99999/", "refused_target"),
        ("https://a b.test/", "refused_target"),
        ("https://a.test/\r\nX: y", "refused_target"),
    ],
)
@on_shared
async def test_targets_that_are_refused(shared: Running, url: Any, code: str) -> None:
    """W1; a name that does not resolve passes, for it may do so later."""
    answer = await shared.api.post("/v1/webhooks", {"url": url})
    assert answer.status == 400 and answer.faults == {"url": code}
    assert shared.sql("SELECT * FROM webhooks") == []


async def test_private_targets_pass_where_the_operator_allows_them(start: Start) -> None:
    maild = await start(webhooks={"allow_private_networks": True})
    assert (await maild.api.post("/v1/webhooks", {"url": "https://127.0.0.1:8443/x"})).status == 201


async def test_a_plan_has_so_many_webhooks(maild: Running) -> None:
    tiny = await maild.organization("tiny")
    assert (await tiny.api.post("/v1/webhooks", {"url": "https://a.test"})).status == 201
    answer = await tiny.api.post("/v1/webhooks", {"url": "https://b.test"})
    assert (answer.status, answer.code) == (402, "webhook_limit_reached")
    assert answer.error["details"] == {"resource": "webhooks", "limit": 1, "used": 1, "resetsAt": None}
    assert (await maild.api.post("/v1/webhooks", {"url": "https://b.test"})).status == 201


@pytest.fixture
async def called(start: Start) -> AsyncIterator[Running]:
    """One webhook whose endpoint nobody answers."""
    maild = await start(webhooks={"allow_private_networks": True})
    assert (await maild.api.post("/v1/webhooks", {"url": "https://127.0.0.1:9/x"})).status == 201
    yield maild


async def test_every_attempt_is_in_the_log(called: Running) -> None:
    bot = await called.inbox("bot")
    await called.received(bot, "Subject: told\n\n")

    async def look() -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = (await called.api.get("/v1/webhooks/deliveries")).data
        return found or None

    (one,) = await until(look)
    assert set(one) == DELIVERY
    assert (
        one["id"].startswith("del_")
        and one["webhookId"].startswith("whk_")
        and one["eventId"].startswith("evt_")
    )
    assert (one["eventType"], one["attempt"], one["isSuccessful"]) == ("email.received", 1, False)
    assert one["responseStatus"] is None and one["responseBody"] is None
    assert one["error"] and one["nextAttemptAt"] > one["createdAt"]
    assert one["requestHeaders"]["X-Svc-Delivery"] == one["id"]
    assert one["requestHeaders"]["X-Svc-Signature"].startswith("t=")
    assert "secret" not in str(one).lower()


async def test_another_organization_sees_none_of_it(called: Running) -> None:
    bot = await called.inbox("bot")
    await called.received(bot, "Subject: told\n\n")

    async def look() -> bool | None:
        return bool((await called.api.get("/v1/webhooks/deliveries")).data) or None

    await until(look)
    stranger = await called.organization()
    assert (await stranger.api.get("/v1/webhooks/deliveries")).data == []


async def test_the_log_is_newest_first(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock, webhooks={"allow_private_networks": True})
    await maild.api.post("/v1/webhooks", {"url": "https://127.0.0.1:9/x"})
    bot = await maild.inbox("bot")
    for count in (1, 2, 3):
        await maild.received(bot, f"Subject: {count}\n\n")

        async def look(count: int = count) -> list[dict[str, Any]] | None:
            found: list[dict[str, Any]] = (await maild.api.get("/v1/webhooks/deliveries")).data
            return found if len(found) >= count else None

        found = await until(look)
        clock.forward(1)
    moments = [one["createdAt"] for one in found]
    assert moments == sorted(moments, reverse=True) and len(set(moments)) == 3
    assert (await maild.api.get("/v1/webhooks/deliveries", limit="1")).data == found[:1]


async def test_the_log_is_read_page_by_page(start: Start) -> None:
    """After an outage there are more than one page shows, and each is one to redeliver."""
    maild = await start(clock=ManualClock(), webhooks={"allow_private_networks": True})  # all in one instant
    webhook = (await maild.api.post("/v1/webhooks", {"url": "https://127.0.0.1:9/x"})).data
    for _ in range(5):
        await maild.api.call("POST", f"/v1/webhooks/{webhook['id']}/test")
    whole = [one["id"] for one in (await maild.api.get("/v1/webhooks/deliveries")).data]
    found: list[str] = []
    params = {"limit": "2"}
    while page := (await maild.api.get("/v1/webhooks/deliveries", **params)).data:
        found += [one["id"] for one in page]
        params["cursor"] = page[-1]["id"]
    assert found == whole and len(set(whole)) == 5

    stranger = await maild.organization()
    assert (await stranger.api.get("/v1/webhooks/deliveries", cursor=whole[0])).data == []
    refused = await maild.api.get("/v1/webhooks/deliveries", cursor=webhook["id"])
    assert (refused.status, refused.faults) == (400, {"cursor": "invalid_cursor"})
