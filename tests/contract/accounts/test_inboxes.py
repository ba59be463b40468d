"""POST and GET /v1/inboxes: contract, sections 2 and 4; decisions.md, "Inbox"."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from storage.clock import DAY_MS
from tests.conftest import Start, on_shared
from tests.support.running import APEX, BRAND, SHARED, SHARED_TOO, Answer, Api, Running
from tests.support.worlds.store import ManualClock

KEYS = {
    "id", "organizationId", "address", "username", "domain", "name", "agentId", "metadata", "isActive",
    "unreadCount", "lastMessageAt", "createdAt", "updatedAt", "deactivatedAt",
}  # fmt: skip


async def create(maild: Running, username: str = "bot", **fields: Any) -> Answer:
    return await maild.api.post("/v1/inboxes", {"username": username, **fields})


async def test_a_new_inbox_is_complete(maild: Running) -> None:
    answer = await create(maild, "sales.bot-1_x", name="Sales Bot", metadata={"team": "sales"})
    assert answer.status == 201
    inbox = answer.data
    created_at = inbox.pop("createdAt")
    assert created_at.endswith("Z") and len(created_at) == len("2026-11-02T00:00:00.000Z")
    assert inbox == {
        "id": inbox["id"],
        "organizationId": maild.organization_id,
        "address": f"sales.bot-1_x@{SHARED}",
        "username": "sales.bot-1_x",
        "domain": SHARED,
        "name": "Sales Bot",
        "agentId": None,
        "metadata": {"team": "sales"},
        "isActive": True,
        "unreadCount": 0,
        "lastMessageAt": None,
        "updatedAt": created_at,
        "deactivatedAt": None,
    }
    assert inbox["id"].startswith("inb_")


async def test_what_is_left_out_is_null_and_not_missing(maild: Running) -> None:
    inbox = (await create(maild)).data
    assert set(inbox) == KEYS
    assert (inbox["name"], inbox["agentId"], inbox["metadata"]) == (None, None, {})


async def test_null_is_as_good_as_left_out(maild: Running) -> None:
    assert (await create(maild, name=None, domain=None, agentId=None)).status == 201


@pytest.mark.parametrize(
    ("username", "code"),
    [
        ("a", "too_short"),
        ("", "too_short"),
        ("x" * 49, "too_long"),
        ("Bot", "invalid_format"),
        ("bot bot", "invalid_format"),
        ("bot+tag", "invalid_format"),
        ("bot@agents.test", "invalid_format"),
        ("b\u00f6t", "invalid_format"),
        ("\u0430dmin", "invalid_format"),
        ("bot\n", "invalid_format"),
        ("bot\x00", "invalid_format"),
        ("bot\r\nX: y", "invalid_format"),
        (".bot", "invalid_username"),
        ("bot.", "invalid_username"),
        ("b..t", "invalid_username"),
        (None, "wrong_type"),
        (12, "wrong_type"),
        (["bot"], "wrong_type"),
    ],
)
@on_shared
async def test_usernames_that_are_none(shared: Running, username: Any, code: str) -> None:
    answer = await create(shared, username)
    assert answer.status == 400
    assert answer.faults == {"username": code}


async def test_the_edges_of_what_is_allowed(maild: Running) -> None:
    for fields in (
        {"username": "ab"},
        {"username": "x" * 48},
        {"username": "-_-"},
        {"username": "named", "name": "n" * 100},
        {"username": "noted", "metadata": {f"k{n:039}": "v" * 256 for n in range(50)}},
    ):
        assert (await maild.api.post("/v1/inboxes", fields)).status == 201, fields


@on_shared
async def test_faults_of_the_other_fields(shared: Running) -> None:
    for fields, faults in (
        ({"name": "n" * 101}, {"name": "too_long"}),
        ({"name": "a\r\nBcc: x@y.test"}, {"name": "control_character"}),
        ({"metadata": {"k": 1}}, {"metadata.k": "wrong_type"}),
        ({"metadata": {str(n): "" for n in range(51)}}, {"metadata": "too_many"}),
        ({"metadata": {"k": "v" * 257}}, {"metadata.k": "too_long"}),
        ({"metadata": {"": "v"}}, {"metadata.": "too_short"}),
        ({"metadata": []}, {"metadata": "wrong_type"}),
        ({"domain": "d" * 254}, {"domain": "too_long"}),
    ):
        answer = await create(shared, **fields)
        assert answer.status == 400 and answer.faults == faults, fields


@pytest.mark.parametrize(
    "username",
    ["postmaster", "abuse", "mailer-daemon", "support", "noreply", "root", "billing", "security", BRAND],
)
@on_shared
async def test_reserved_usernames(shared: Running, username: str) -> None:
    answer = await create(shared, username)
    assert (answer.status, answer.code) == (422, "username_reserved")
    is_kept_everywhere = username in ("postmaster", "abuse", "mailer-daemon")
    assert ("domain of your own" in answer.error["message"]) is not is_kept_everywhere


async def test_an_address_is_given_once(maild: Running) -> None:
    assert (await create(maild)).status == 201
    answer = await create(maild)
    assert (answer.status, answer.code) == (409, "address_already_exists")
    other = await maild.organization()
    answer = await other.api.post("/v1/inboxes", {"username": "bot"})
    assert (answer.status, answer.code) == (409, "address_already_exists")
    assert (await create(maild, domain=SHARED_TOO)).data["address"] == f"bot@{SHARED_TOO}"


async def test_of_many_at_once_one_gets_the_address(maild: Running) -> None:
    answers = await asyncio.gather(*(create(maild) for _ in range(20)))
    assert Counter(one.status for one in answers) == {201: 1, 409: 19}


async def test_a_deactivated_address_cools_down_for_90_days(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    await maild.inbox("bot")
    maild.sql("UPDATE inboxes SET is_active = 0, deactivated_at = ? WHERE username = 'bot'", clock.at_ms)
    clock.forward(3600)
    answer = await create(maild)
    assert (answer.status, answer.code) == (409, "address_in_cooldown")
    assert answer.error["details"]["cooldownDaysRemaining"] == 90
    clock.at_ms += 89 * DAY_MS
    assert (await create(maild)).error["details"]["cooldownDaysRemaining"] == 1
    clock.at_ms += DAY_MS
    assert (await create(maild)).status == 201


@on_shared
async def test_domains_an_inbox_can_not_be_on(shared: Running) -> None:
    for domain in (APEX, f"deep.{APEX}", APEX.upper(), f"{APEX}."):
        answer = await create(shared, domain=domain)
        assert (answer.status, answer.code) == (403, "apex_domain_reserved"), domain
        assert answer.error["details"] == {"domainName": domain.lower().rstrip(".")}
    for domain in ("unknown.test", f"x{APEX}", f"sub.{SHARED}", "a b", "../x", "", "."):
        answer = await create(shared, domain=domain)
        assert (answer.status, answer.code) == (404, "domain_not_found"), domain


async def test_no_name_is_no_apex(start: Start) -> None:
    """An operator without an apex domain has reserved nothing, so an empty name is none that is known."""
    maild = await start(server={"apex_domain": ""})
    for domain in ("", "."):
        assert (await create(maild, domain=domain)).code == "domain_not_found"


async def test_a_domain_of_ones_own_must_be_verified(maild: Running) -> None:
    stranger = await maild.organization()
    maild.sql(
        "INSERT INTO domains (id, organization_id, domain_name, status, challenge, created_at) VALUES"
        " ('dom_1', ?, 'acme.test', 'pending', 'x', 1)", maild.organization_id,
    )  # fmt: skip
    answer = await create(maild, domain="Acme.test")
    assert (answer.status, answer.code) == (400, "domain_not_verified")
    assert answer.error["details"] == {"domainName": "acme.test"}
    maild.sql("UPDATE domains SET status = 'verified'")
    assert (await create(maild, domain="acme.test")).data["address"] == "bot@acme.test"
    assert (await create(maild, "support", domain="acme.test")).status == 201  # on one's own domain
    assert (await create(maild, "postmaster", domain="acme.test")).code == "username_reserved"
    maild.sql("UPDATE domains SET domain_name = 'xn--bcher-kva.test'")
    for number, domain in enumerate(
        ("bücher.test", "BÜCHER.test.", "bu\u0308cher.test", "XN--bcher-kva.test")
    ):
        made = await create(maild, f"bot{number}", domain=domain)
        assert made.data["address"] == f"bot{number}@xn--bcher-kva.test"
    assert (await create(maild, domain="ü" * 64 + ".test")).code == "domain_not_found"
    maild.sql("UPDATE domains SET domain_name = 'acme.test'")
    theirs = await stranger.api.post("/v1/inboxes", {"username": "spy", "domain": "acme.test"})
    assert (theirs.status, theirs.code) == (404, "domain_not_found")


async def test_an_agent_must_be_the_organizations(maild: Running) -> None:
    stranger = await maild.organization()
    maild.sql("INSERT INTO agents VALUES ('agt_1', ?, 'A', 1)", maild.organization_id)
    maild.sql("INSERT INTO agents VALUES ('agt_2', ?, 'B', 1)", stranger.id)
    for agent_id in ("agt_2", "agt_3", ""):
        answer = await create(maild, agentId=agent_id)
        assert (answer.status, answer.code) == (404, "agent_not_found")
    assert (await create(maild, agentId="agt_1")).data["agentId"] == "agt_1"


async def test_a_plan_has_so_many_inboxes(maild: Running) -> None:
    tiny = await maild.organization("tiny")
    assert (await tiny.api.post("/v1/inboxes", {"username": "first"})).status == 201
    answer = await tiny.api.post("/v1/inboxes", {"username": "second"})
    assert (answer.status, answer.code) == (402, "limit_reached")
    assert answer.error["details"] == {"resource": "inboxes", "limit": 1, "used": 1, "resetsAt": None}


async def test_the_list_is_newest_first_and_turns_pages(maild: Running) -> None:
    made = [(await maild.inbox(f"bot{n}"))["id"] for n in range(5)]
    other = await maild.organization()
    api = other.api
    theirs = [(await maild.inbox(f"their{n}", api))["id"] for n in range(5)]
    listed = (await api.get("/v1/inboxes")).data
    assert [one["id"] for one in listed] == theirs[::-1]
    assert all(set(one) == KEYS for one in listed)
    first = (await api.get("/v1/inboxes", limit="2")).data
    second = (await api.get("/v1/inboxes", limit="2", cursor=first[-1]["id"])).data
    assert [one["id"] for one in first + second] == theirs[:0:-1]
    assert (await api.get("/v1/inboxes", cursor=made[0])).data == []
    for cursor in ("x", "msg_01m7yg00000000000000000000", "inb_", "inb_01m7yg00000000000000000000' --"):
        assert (await api.get("/v1/inboxes", cursor=cursor)).faults == {"cursor": "invalid_cursor"}


async def test_the_list_shows_active_ones_unless_told(maild: Running, bot: dict[str, Any]) -> None:
    maild.sql("UPDATE inboxes SET is_active = 0, deactivated_at = 5 WHERE id = ?", bot["id"])
    assert bot["id"] not in [one["id"] for one in (await maild.api.get("/v1/inboxes")).data]
    (gone,) = (await maild.api.get("/v1/inboxes", isActive="false")).data
    assert (gone["id"], gone["isActive"], gone["deactivatedAt"]) == (
        bot["id"],
        False,
        "1970-01-01T00:00:00.005Z",
    )
    assert (await maild.api.get("/v1/inboxes", isActive="false", address=bot["address"])).data == [gone]
    assert (await maild.api.get("/v1/inboxes", isActive="perhaps")).faults == {"isActive": "wrong_type"}


async def test_counters_follow_the_mail(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(3):
        message = await maild.received(bot, f"Subject: {number}\n\n")
    inbox = next(one for one in (await maild.api.get("/v1/inboxes")).data if one["id"] == bot["id"])
    assert (inbox["unreadCount"], inbox["lastMessageAt"]) == (3, message["createdAt"])


async def test_a_deactivated_inbox_neither_receives_nor_sends(maild: Running, bot: dict[str, Any]) -> None:
    kept = await maild.received(bot, "Subject: kept\n\nwords\n")
    maild.sql("UPDATE inboxes SET is_active = 0, deactivated_at = 5 WHERE id = ?", bot["id"])
    talk = await maild.smtp()
    await talk.say("EHLO c.test")
    await talk.say("MAIL FROM:<a@b.test>")
    assert await talk.say(f"RCPT TO:<{bot['address']}>") == await talk.say("RCPT TO:<nobody@agents.test>")
    answer = await maild.api.send(bot)
    assert (answer.status, answer.code) == (404, "inbox_not_found")
    assert (await maild.api.get(f"/v1/messages/{kept['id']}")).data["textBody"] == "words\n"


async def test_an_inbox_is_found_by_its_address(maild: Running) -> None:
    """By who made it before, and was not told its id; among others' no more than an address that nobody has."""
    bot, other = await maild.inbox("bot"), await maild.inbox("other")
    theirs = await maild.inbox("theirs", (await maild.organization()).api)
    bound = await maild.key(inbox=bot)

    async def found(address: str, api: Api = maild.api) -> list[str]:
        return [one["id"] for one in (await api.get("/v1/inboxes", address=address)).data]

    assert await found("Bot@Agents.test") == await found("bot+shop@agents.test") == [bot["id"]]
    assert await found(bot["address"], bound) == [bot["id"]]
    assert await found(other["address"], bound) == await found(theirs["address"]) == []
    assert (await maild.api.call("GET", "/v1/inboxes?address=bot+shop@agents.test")).data[0]["id"] == bot[
        "id"
    ]
    assert (await maild.api.get("/v1/inboxes", address="bot")).faults == {"address": "invalid_email"}
