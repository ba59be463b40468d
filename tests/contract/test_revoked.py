"""A key that is revoked does nothing from then on, also in a request that it had begun (contract, section 5)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from controlplane.access.rate_limit import RateLimit
from controlplane.operations.table import OPERATIONS
from storage import keys
from tests.conftest import Start
from tests.support.running import Running

WRITING = [route for route in OPERATIONS if route.method != "GET" and not route.is_public]
# What goes on by itself, whoever asks.
RULE = {"direction": "inbound", "action": "block", "value": "x.test"}
_OWN_TABLES = ("api_keys", "rate_windows", "sqlite_sequence", "search_tail")


def contents(running: Running) -> dict[str, list[Any]]:
    tables = running.sql(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        " AND name NOT LIKE 'search%'"
    )
    return {
        name: sorted(map(repr, running.sql(f"SELECT * FROM {name}")))
        for (name,) in tables
        if name not in _OWN_TABLES
    }


@pytest.fixture
async def world(start: Start) -> tuple[Running, dict[str, str]]:
    """One resource of each kind that a path can name."""
    running = await start(webhooks={"allow_private_networks": True})
    api = running.api
    bot = await running.inbox("bot")
    policy = {"version": 0, "work": {"enabled": True}}
    assert (await api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    mail = await running.received(bot, "From: ada@elsewhere.test\nSubject: x\n\n")
    (claim,) = (await api.post(f"/v1/inboxes/{bot['id']}/claims", {"leaseSeconds": 3600})).data
    hook = (await api.post("/v1/webhooks", {"url": "https://127.0.0.1:9/"})).data
    attempt = (await api.call("POST", f"/v1/webhooks/{hook['id']}/test")).data
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    domain = (await api.post("/v1/domains", {"domainName": "acme.example"})).data
    running.sql("UPDATE domains SET status = 'verified' WHERE id = ?", domain["id"])
    draft = (await api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@elsewhere.test"]})).data
    named = {
        "keys": (await api.post("/v1/keys", {"name": "other"})).data["id"],
        "agents": (await api.post("/v1/agents", {"name": "agent"})).data["id"],
        "inboxes": bot["id"],
        "messages": mail["id"],
        "schedule": (await api.send(bot, sendAt=at)).data["id"],
        "threads": mail["threadId"],
        "drafts": draft["id"],
        "domains": domain["id"],
        "suppressions": (await api.post("/v1/suppressions", {"email": "a@b.test"})).data["id"],
        "rules": (await api.post("/v1/rules", RULE)).data["id"],
        "webhooks": hook["id"],
        "deliveries": attempt["id"],
        "claims": claim["id"],
    }
    held = {"version": 0, "outbound": {"review": "all"}}
    assert (await api.call("PUT", "/v1/organization/policy", held)).status == 200
    named["reviews"] = (await api.send(bot)).data["review"]["id"]
    return running, named


async def test_no_writing_route_does_anything_for_a_key_that_was_revoked_on_the_way(
    world: tuple[Running, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Revoked right after the request was admitted: between its head and its body, for those that have one."""
    running, named = world
    count = RateLimit.count
    assert running.daemon._db is not None
    db = running.daemon._db

    async def admitted_and_revoked(limit: RateLimit, organization_id: str) -> Any:
        verdict = await count(limit, organization_id)
        await db.write(lambda tx: tx.run("UPDATE api_keys SET is_active = 0 WHERE name = 'a key'"))
        return verdict

    for route in WRITING:
        words = route.path.split("/")
        kind = next((one for one in ("deliveries", "schedule") if one in words), words[2])
        path = route.path.replace("{id}", named.get(kind, ""))
        body = dict(route.body.example) if route.body else None
        if body and "inboxId" in body:
            body["inboxId"] = named["inboxes"]
        for field in ("agentId", "inReplyTo", "sendAt", "attachments"):
            if body:
                body.pop(field, None)
        if body and "domain" in body:
            del body["domain"]
        short_lived = await running.key_for(route)
        before = contents(running)
        monkeypatch.setattr(RateLimit, "count", admitted_and_revoked)
        answer = await short_lived.call(route.method, path, body)
        monkeypatch.setattr(RateLimit, "count", count)
        assert (answer.status, answer.code) == (401, "invalid_api_key"), (route.method, path, answer.body)
        assert contents(running) == before, (route.method, path)


async def test_a_body_that_comes_after_the_revoke_is_in_vain(maild: Running, bot: dict[str, Any]) -> None:
    short_lived = await maild.key()
    where = urlsplit(maild.api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    body = f'{{"inboxId": "{bot["id"]}", "to": ["a@elsewhere.test"]}}'.encode()
    writer.write(
        b"POST /v1/messages/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        + f"Authorization: Bearer {short_lived.key}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    )
    async with asyncio.timeout(5):
        assert b" 100 " in await reader.readuntil(b"\r\n\r\n")  # admitted: only the body is missing
        (key_id,) = maild.sql(
            "SELECT id FROM api_keys WHERE key_hash = ?", keys.hash_of(str(short_lived.key))
        )[0]
        assert (await maild.api.call("DELETE", f"/v1/keys/{key_id}")).status == 200
        writer.write(body)
        assert b" 401 " in await reader.readline()
    writer.transport.abort()
    assert await maild.api.messages() == []
