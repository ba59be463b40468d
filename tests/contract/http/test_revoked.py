"""A key that is revoked does nothing from then on, also in a request that it had begun (contract, section 5)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from controlplane.access.rate_limit import RateLimit
from controlplane.operations.table import OPERATIONS
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.tenants import keys
from tests.conftest import Start
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

WRITING = [route for route in OPERATIONS if route.method != "GET" and not route.is_public]
# What writes nothing for the key here: nothing is there to claim, checks and pings change nothing, a reply has a fault.
IDLE = {
    "/v1/inboxes/{id}/codes/claim",
    "/v1/inboxes/{id}/claims",
    "/v1/messages/check",
    "/v1/messages/{id}/reply",
    "/v1/threads/{id}/reply",
    "/v1/webhooks/{id}/test",
}
# What goes on by itself, whoever asks.
FAR_MS = int(datetime.now(UTC).timestamp() + 86_400) * 1000
RULE = {"direction": "inbound", "action": "block", "value": "x.test"}
_OWN_TABLES = ("api_keys", "rate_windows", "replies_settled", "sqlite_sequence", "search_tail")


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
    # Looked at long after now, so no recheck writes while the test looks at what is written.
    running.sql(
        "UPDATE domains SET status = 'verified', last_checked_at = created_at WHERE id = ?", domain["id"]
    )
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
    for position, next_attempt_at in (
        (900, FAR_MS),
        (901, None),
    ):  # one that waits for its time, one that is held
        running.sql(
            """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
                 next_attempt_at, expires_at)
               VALUES (?, ?, ?, 'a@example.com', 'example.com', 'to', 'queued', ?, ?)""",
            named["schedule"],
            position,
            running.organization_id,
            next_attempt_at,
            FAR_MS,
        )
    return running, named


def revoke(tx: Tx) -> None:
    tx.run("UPDATE api_keys SET is_active = 0 WHERE name = 'a key'")


def when_admitted(patch: pytest.MonkeyPatch) -> list[str]:
    """Between the head of a request and its body, for those that have one. The list says that it has happened."""
    happened: list[str] = []
    count = RateLimit.count

    async def admitted_and_revoked(limit: RateLimit, organization_id: str) -> Any:
        verdict = await count(limit, organization_id)
        await limit._db.write(revoke)
        happened.append("admitted")
        return verdict

    patch.setattr(RateLimit, "count", admitted_and_revoked)
    return happened


def when_it_writes(patch: pytest.MonkeyPatch) -> list[str]:
    """Behind all looks at the store, before the first unit that changes it for the key."""
    happened: list[str] = []

    def revoked_and(name: str, write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def written(db: Database, *unit: Any, **more: Any) -> Any:
            if (
                db._check is not None or name == "write_repeatable"
            ):  # which only sends use, who ask by themselves
                await db._writer.submit(revoke)
                happened.append("written")
            return await write(db, *unit, **more)

        return written

    for name in ("write", "write_repeatable", "write_apart"):
        patch.setattr(Database, name, revoked_and(name, getattr(Database, name)))
    return happened


@pytest.mark.parametrize("revoked", [when_admitted, when_it_writes])
async def test_no_writing_route_does_anything_for_a_key_that_was_revoked_on_the_way(
    world: tuple[Running, dict[str, str]], revoked: Callable[[pytest.MonkeyPatch], list[str]]
) -> None:
    running, named = world
    idle = set()
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
        if body and "waitSeconds" in body:
            body["waitSeconds"] = 0
        with pytest.MonkeyPatch.context() as patch:
            happened = revoked(patch)
            answer = await short_lived.call(route.method, path, body)
        if not happened:
            idle.add(route.path)
            continue
        told = (route.method, path, answer.body)
        assert (answer.status, answer.code) == (401, "invalid_api_key"), told
        assert contents(running) == before, (route.method, path)
    assert idle <= IDLE


async def test_a_body_that_comes_after_the_revoke_is_in_vain(maild: Running, bot: dict[str, Any]) -> None:
    short_lived = await maild.key()
    where = urlsplit(maild.api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    body = f'{{"inboxId": "{bot["id"]}", "to": ["a@elsewhere.test"]}}'.encode()
    writer.write(
        b"POST /v1/messages/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        + f"Authorization: Bearer {short_lived.key}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    )
    async with asyncio.timeout(GIVES_UP_S):
        assert b" 100 " in await reader.readuntil(b"\r\n\r\n")  # admitted: only the body is missing
        (key_id,) = maild.sql(
            "SELECT id FROM api_keys WHERE key_hash = ?", keys.hash_of(str(short_lived.key))
        )[0]
        assert (await maild.api.call("DELETE", f"/v1/keys/{key_id}")).status == 200
        writer.write(body)
        assert b" 401 " in await reader.readline()
    writer.transport.abort()
    assert await maild.api.messages() == []
