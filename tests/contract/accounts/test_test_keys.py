"""A test key takes nothing from live keys that both share (decisions.md, "Test keys")."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conftest import Start
from tests.support.running import Answer, Running


def is_refused(answer: Answer) -> bool:
    return (answer.status, answer.code) == (403, "insufficient_scope") and (
        answer.error["details"]["requiredScope"] == "live"
    )


async def test_live_keys_are_revoked_by_live_keys(maild: Running) -> None:
    live = (await maild.api.post("/v1/keys", {"name": "live"})).data
    test = (await maild.api.post("/v1/keys", {"name": "test", "mode": "test"})).data
    assert is_refused(await maild.test_api.call("DELETE", f"/v1/keys/{live['id']}"))
    assert (await maild.api.with_key(live["apiKey"]).get("/v1/inboxes")).status == 200
    assert (await maild.test_api.call("DELETE", f"/v1/keys/{test['id']}")).status == 200
    assert (await maild.test_api.call("DELETE", "/v1/keys/key_unknown")).code == "key_not_found"
    assert (await maild.api.call("DELETE", f"/v1/keys/{live['id']}")).status == 200


async def test_domains_webhooks_and_suppressions_stay(maild: Running) -> None:
    domain = (await maild.api.post("/v1/domains", {"domainName": "acme.example"})).data
    hook = (await maild.api.post("/v1/webhooks", {"url": "https://hooks.example/"})).data
    row = (await maild.api.post("/v1/suppressions", {"email": "a@b.test"})).data
    for path in (
        f"/v1/domains/{domain['id']}",
        f"/v1/webhooks/{hook['id']}",
        f"/v1/suppressions/{row['id']}",
    ):
        assert is_refused(await maild.test_api.call("DELETE", path)), path
    assert is_refused(await maild.test_api.post("/v1/suppressions", {"email": "c@d.test"}))
    assert [one["email"] for one in (await maild.api.get("/v1/suppressions")).data] == ["a@b.test"]
    for path in (
        f"/v1/domains/{domain['id']}",
        f"/v1/webhooks/{hook['id']}",
        f"/v1/suppressions/{row['id']}",
    ):
        assert (await maild.api.call("DELETE", path)).status == 200, path


async def test_an_inbox_of_which_live_mail_waits_stays(start: Start) -> None:
    maild = await start(outbound={"relay": "127.0.0.1:1", "allow_private_networks": True})
    for options in ({"sendAt": (datetime.now(UTC) + timedelta(hours=1)).isoformat()}, {}):
        inbox = await maild.inbox(f"bot-{len(options)}")
        live = (await maild.api.send(inbox, **options)).data
        for path in (f"/v1/inboxes/{inbox['id']}", f"/v1/messages/{live['id']}"):
            assert is_refused(await maild.test_api.call("DELETE", path)), path
        assert (await maild.api.get(f"/v1/messages/{live['id']}")).data["status"] in ("scheduled", "queued")
        assert (await maild.api.call("DELETE", f"/v1/inboxes/{inbox['id']}")).status == 200


async def test_an_inbox_in_which_only_tests_wrote_may_go(maild: Running, bot: dict[str, Any]) -> None:
    await maild.test_api.send(bot)
    assert (await maild.test_api.call("DELETE", f"/v1/inboxes/{bot['id']}")).status == 200


async def test_an_inbox_whose_live_mail_has_arrived_may_go(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    await maild.api.send(bot, to=[other["address"]])
    await maild.arrival(other)
    assert (await maild.test_api.call("DELETE", f"/v1/inboxes/{bot['id']}")).status == 200


async def test_a_webhook_is_switched_off_by_live_keys_alone(maild: Running) -> None:
    url, events = "https://hooks.there.test/", ["email.received"]
    hook = (await maild.api.post("/v1/webhooks", {"url": url, "subscribedEvents": events})).data
    path = f"/v1/webhooks/{hook['id']}"
    assert is_refused(await maild.test_api.call("PATCH", path, {"isActive": False}))
    assert (await maild.test_api.call("PATCH", path, {"subscribedEvents": events})).status == 200
    assert (await maild.api.call("PATCH", path, {"isActive": False})).status == 200


async def test_a_webhook_is_led_elsewhere_by_live_keys_alone(maild: Running) -> None:
    """Another URL, an event less or another secret end for its owner what `isActive: false` ends."""
    url, events = "https://hooks.there.test/", ["email.received", "email.sent"]
    hook = (await maild.api.post("/v1/webhooks", {"url": url, "subscribedEvents": events})).data
    path = f"/v1/webhooks/{hook['id']}"
    for body in (
        {"url": "https://hooks.elsewhere.test/"},
        {"subscribedEvents": ["email.sent", "email.bounced"]},
    ):
        assert is_refused(await maild.test_api.call("PATCH", path, body)), body
    assert is_refused(await maild.test_api.call("POST", f"{path}/rotate-secret"))
    kept = (await maild.api.get(path)).data
    assert (kept["url"], kept["subscribedEvents"]) == (url, events)
    more = {"url": url, "subscribedEvents": [*events, "email.bounced"], "isActive": True}
    assert (await maild.test_api.call("PATCH", path, more)).data["subscribedEvents"] == more[
        "subscribedEvents"
    ]
    assert (await maild.test_api.call("PATCH", "/v1/webhooks/whk_x", more)).code == "webhook_not_found"
    assert (await maild.api.call("POST", f"{path}/rotate-secret")).data["secret"] != hook["secret"]


async def test_live_schedules_stay_and_its_own_it_may_cancel(maild: Running, bot: dict[str, Any]) -> None:
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    live = (await maild.api.send(bot, sendAt=at)).data
    for path in (f"/v1/messages/{live['id']}/schedule", f"/v1/messages/{live['id']}"):
        assert is_refused(await maild.test_api.call("DELETE", path)), path
    assert (await maild.api.get(f"/v1/messages/{live['id']}")).data["status"] == "scheduled"
    own = (await maild.test_api.send(bot, sendAt=at)).data
    assert (await maild.test_api.call("DELETE", f"/v1/messages/{own['id']}/schedule")).status == 200
    assert (await maild.api.call("DELETE", f"/v1/messages/{live['id']}/schedule")).status == 200


async def test_a_draft_of_live_keys_is_not_used_up_by_a_test(maild: Running, bot: dict[str, Any]) -> None:
    """What a test sends leaves for nowhere, and whoever sends the draft after it would hear that it was sent."""
    body = {"inboxId": bot["id"], "to": ["friend@elsewhere.test"], "subject": "The real one"}
    live = (await maild.api.post("/v1/drafts", body)).data
    path = f"/v1/drafts/{live['id']}"
    assert is_refused(await maild.test_api.call("POST", f"{path}/send"))
    assert is_refused(await maild.test_api.call("PATCH", path, {"subject": "Another one"}))
    assert is_refused(await maild.test_api.call("DELETE", path))
    assert (await maild.test_api.get(path)).data == live
    sent = await maild.api.call("POST", f"{path}/send")
    assert (sent.status, sent.data["mode"]) == (201, "live")
    again = await maild.test_api.call("POST", f"{path}/send")
    assert (again.status, again.data["id"]) == (200, sent.data["id"])


async def test_a_draft_of_its_own_a_test_may_change_send_and_discard(
    maild: Running, bot: dict[str, Any]
) -> None:
    body = {"inboxId": bot["id"], "to": ["friend@elsewhere.test"]}
    own, other = [(await maild.test_api.post("/v1/drafts", body)).data["id"] for _ in range(2)]
    assert (await maild.test_api.call("PATCH", f"/v1/drafts/{own}", {"subject": "A test"})).status == 200
    sent = await maild.test_api.call("POST", f"/v1/drafts/{own}/send")
    assert (sent.status, sent.data["mode"]) == (201, "test")
    assert (await maild.test_api.call("DELETE", f"/v1/drafts/{other}")).status == 200
