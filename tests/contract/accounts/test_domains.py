"""Domains: contract, sections 3 and 4; decisions.md, "Domain". One test a row and a code."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key

from conf.tuning import ApiTuning, Tuning
from controlplane.domains import registry
from controlplane.domains.fresh_keys import DkimKeyMaker
from controlplane.domains.registry import Registry, ShownDomain
from storage.domains.dkim_keys import DkimKey
from storage.domains.domains import DomainRow
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import inboxes, withdrawal
from storage.sending import outbound
from tests.support.peers.doh_server import publish
from tests.support.running import APEX, HOSTNAME, SHARED, SHARED_TOO, Running
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world, record_of
from tests.support.worlds.store import ManualClock

Start = Callable[..., Awaitable[Running]]
UNKNOWN = "dom_" + "0" * 26
KEYS = {
    "id",
    "domainName",
    "status",
    "mxStatus",
    "spfStatus",
    "dkimStatus",
    "dmarcStatus",
    "records",
    "dailyCap",
    "todayUsed",
    "resetsAt",
    "note",
    "verifiedAt",
    "createdAt",
}
CEILING_KEYS = {"id", "domainName", "dailyCap", "todayUsed", "resetsAt", "note"}
NONE_PASSES = {"ownership": False, "mx": False, "spf": False, "dkim": False}
ALL_PASS = dict.fromkeys(NONE_PASSES, True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def world(start: Start, tmp_path: Path, clock: ManualClock) -> AsyncIterator[DomainWorld]:
    async with domain_world(start, tmp_path, clock=clock) as made:
        yield made


# POST /v1/domains --------------------------------------------------------------------------------


async def test_register(world: DomainWorld) -> None:
    domain = await world.register()
    assert set(domain) == KEYS
    assert domain["id"].startswith("dom_")
    assert domain == domain | {
        "domainName": NAME,
        "status": "pending",
        "mxStatus": False,
        "spfStatus": False,
        "dkimStatus": False,
        "dmarcStatus": False,
        "dailyCap": None,
        "todayUsed": 0,
        "note": None,
        "verifiedAt": None,
        "resetsAt": "2026-11-19T00:00:00.000Z",
        "createdAt": "2026-11-18T11:06:40.000Z",
    }
    ownership, mx, spf, dkim, dmarc = domain["records"]
    unchecked = {"status": "unchecked", "observed": []}
    assert ownership["value"].startswith("svc-verify=") and len(ownership["value"]) > 30
    assert ownership == unchecked | {
        "purpose": "ownership",
        "type": "TXT",
        "name": f"_svc-challenge.{NAME}",
        "value": ownership["value"],
        "priority": None,
        "required": True,
    }
    assert mx == unchecked | {
        "purpose": "mx",
        "type": "MX",
        "name": NAME,
        "value": HOSTNAME,
        "priority": 10,
        "required": True,
    }
    assert (spf["type"], spf["name"], spf["required"]) == ("TXT", NAME, True)
    assert spf["value"].startswith("v=spf1 ")
    assert (dkim["type"], dkim["name"], dkim["required"]) == ("TXT", f"s1._domainkey.{NAME}", True)
    assert dkim["value"].startswith("v=DKIM1; k=rsa; p=MII")
    assert (dmarc["type"], dmarc["name"], dmarc["required"]) == ("TXT", f"_dmarc.{NAME}", False)
    assert await world.shown(domain) == domain


async def test_register_with_a_ceiling(world: DomainWorld) -> None:
    assert (await world.register(dailyCap=1_000_000))["dailyCap"] == 1_000_000
    assert (await world.register("other.test", dailyCap=None))["dailyCap"] is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Acme.TEST", "acme.test"),
        ("acme.test.", "acme.test"),
        ("bücher.test", "xn--bcher-kva.test"),
        ("xn--bcher-kva.test", "xn--bcher-kva.test"),
    ],
)
async def test_names_are_kept_as_lower_case_a_labels(world: DomainWorld, given: str, kept: str) -> None:
    assert (await world.register(given))["domainName"] == kept


@pytest.mark.parametrize(
    "name",
    [
        "",
        "localhost",
        "com",
        "a..test",
        ".acme.test",
        "-a.test",
        "a_b.test",
        "acme.test/x",
        "https://acme.test",
        "bot@acme.test",
        "127.0.0.1",
        "[::1]",
        "acme .test",
        "acme.test\n",
        "a" * 64 + ".test",
        "a." * 120 + "test",
        "ü" * 300 + ".test",
        "*.acme.test",
    ],
)
async def test_a_name_that_is_no_domain(world: DomainWorld, name: str) -> None:
    answer = await world.api.post("/v1/domains", {"domainName": name})
    assert (answer.status, answer.faults) == (400, {"domainName": "invalid_domain"})


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"domainName": "required"}),
        ({"domainName": None}, {"domainName": "wrong_type"}),
        ({"domainName": NAME, "dailyCap": 0}, {"dailyCap": "out_of_range"}),
        ({"domainName": NAME, "dailyCap": 1_000_001}, {"dailyCap": "out_of_range"}),
        ({"domainName": NAME, "dailyCap": "5"}, {"dailyCap": "wrong_type"}),
        ({"domainName": NAME, "region": "eu"}, {"region": "unknown_field"}),
        ({"domainName": "x", "dailyCap": True}, {"domainName": "invalid_domain", "dailyCap": "wrong_type"}),
    ],
)
async def test_a_body_that_is_not_valid(
    world: DomainWorld, body: dict[str, Any], faults: dict[str, str]
) -> None:
    answer = await world.api.post("/v1/domains", body)
    assert (answer.status, answer.faults) == (400, faults)


async def test_a_name_of_one_s_own_is_registered_once(world: DomainWorld) -> None:
    await world.register()
    answer = await world.api.post("/v1/domains", {"domainName": "ACME.test."})
    assert (answer.status, answer.code) == (409, "domain_already_registered")


async def test_of_many_registrations_at_once_one_is_made(world: DomainWorld) -> None:
    answers = await asyncio.gather(*(world.api.post("/v1/domains", {"domainName": NAME}) for _ in range(5)))
    assert sorted(one.status for one in answers) == [201, 409, 409, 409, 409]
    assert world.maild.sql("SELECT count(*) FROM dkim_keys WHERE domain_name = ?", NAME) == [(1,)]


async def test_an_organization_has_no_more_domains_than_we_can_check(start: Start, tmp_path: Path) -> None:
    async with domain_world(start, tmp_path, tuning=Tuning(api=ApiTuning(domains=1))) as world:
        await world.register()
        answer = await world.api.post("/v1/domains", {"domainName": "another.test"})
    assert (answer.status, answer.code) == (402, "limit_reached")
    details = {"resource": "domains", "limit": 1, "used": 1, "resetsAt": None}
    assert answer.error["details"] == details


async def test_a_name_that_another_organization_has_verified(world: DomainWorld) -> None:
    await world.verified()
    other = await world.maild.organization()
    answer = await other.api.post("/v1/domains", {"domainName": NAME})
    assert (answer.status, answer.code) == (409, "domain_already_registered")


async def test_a_name_that_another_organization_has_pending_is_free(world: DomainWorld) -> None:
    mine = await world.register()
    other = await world.maild.organization()
    theirs = await world.register(api=other.api)
    assert record_of(mine, "ownership")["value"] != record_of(theirs, "ownership")["value"]
    assert record_of(mine, "dkim")["value"] == record_of(theirs, "dkim")["value"]


async def test_a_deleted_name_may_be_registered_again(world: DomainWorld) -> None:
    first = await world.verified()
    await world.delete(first)
    again = await world.register()
    assert again["id"] != first["id"]
    assert (again["status"], again["mxStatus"]) == ("pending", False)
    assert record_of(again, "ownership")["value"] != record_of(first, "ownership")["value"]
    assert record_of(again, "dkim")["value"] == record_of(first, "dkim")["value"]


@pytest.mark.parametrize("name", [APEX, f"mail.{APEX}", f"a.b.{APEX.upper()}", SHARED, SHARED_TOO])
async def test_names_of_the_operator_are_reserved(world: DomainWorld, name: str) -> None:
    answer = await world.api.post("/v1/domains", {"domainName": name})
    assert (answer.status, answer.code) == (403, "apex_domain_reserved")


async def test_private_keys_are_sealed(world: DomainWorld) -> None:
    await world.register()
    ((private, public),) = world.maild.sql(
        "SELECT private_key, public_key FROM dkim_keys WHERE domain_name = ?", NAME
    )
    assert len(private) > 1200
    with pytest.raises(ValueError, match="deserialize"):  # no PKCS#8 in the clear
        load_der_private_key(private, password=None)
    assert len(public) == 392  # RSA-2048


# GET /v1/domains, GET /v1/domains/{id} -----------------------------------------------------------


async def test_list_newest_first(world: DomainWorld) -> None:
    assert (await world.api.get("/v1/domains")).data == []
    made = [await world.register(f"d{number}.test") for number in range(3)]
    assert (await world.api.get("/v1/domains")).data == made[::-1]
    await world.delete(made[1])
    assert (await world.api.get("/v1/domains")).data == [made[2], made[0]]


async def test_many_are_listed_in_short_reads(world: DomainWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records of a thousand in one read had a reader for 95 ms."""
    made = [(await world.register(f"d{number}.test"))["id"] for number in range(3)]
    completed: list[int] = []
    complete, read_for = Registry._complete, Database.read_for

    def counted(shown_by: Registry, tx: Tx, row: DomainRow) -> ShownDomain:
        completed[-1] += 1
        return complete(shown_by, tx, row)

    async def read(db: Database, organization_id: str, unit: Any, *args: Any) -> Any:
        completed.append(0)
        return await read_for(db, organization_id, unit, *args)

    monkeypatch.setattr(registry, "SHOWN_AT_ONCE", 2)
    monkeypatch.setattr(Registry, "_complete", counted)
    monkeypatch.setattr(Database, "read_for", read)
    assert [one["id"] for one in (await world.api.get("/v1/domains")).data] == made[::-1]
    assert [count for count in completed if count] == [2, 1]


async def test_list_shows_the_state_of_dns(world: DomainWorld) -> None:
    domain = await world.register()
    publish(world.zone, domain["records"], without=["dmarc", "mx"])
    world.zone.add(NAME, "MX", "10 other.example.")
    await world.verify(domain)
    (listed,) = (await world.api.get("/v1/domains")).data
    assert (listed["mxStatus"], listed["spfStatus"], listed["dkimStatus"]) == (False, True, True)
    assert (listed["status"], listed["dmarcStatus"]) == ("pending", False)
    seen = {one["purpose"]: (one["status"], one["observed"]) for one in listed["records"]}
    assert seen == {
        "ownership": ("ok", [record_of(domain, "ownership")["value"]]),
        "mx": ("mismatch", ["10 other.example"]),
        "spf": ("ok", ["v=spf1 mx -all"]),
        "dkim": ("ok", [record_of(domain, "dkim")["value"]]),
        "dmarc": ("missing", []),
    }


async def test_query_parameters_are_unknown(world: DomainWorld) -> None:
    assert (await world.api.get("/v1/domains", limit="5")).faults == {"limit": "unknown_field"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("POST", "/verify", None),
        ("POST", "/rotate-dkim", None),
        ("PATCH", "", {"dailyCap": 5}),
        ("DELETE", "", None),
    ],
)
async def test_unknown_foreign_and_deleted_domains_are_not_found(
    world: DomainWorld, method: str, path: str, body: Any
) -> None:
    deleted = await world.register("deleted.test")
    await world.delete(deleted)
    foreign = await world.register("foreign.test", (await world.maild.organization()).api)
    bodies = set()
    for domain_id in (UNKNOWN, deleted["id"], foreign["id"], "nonsense", "dom_%2e%2e"):
        answer = await world.api.call(method, f"/v1/domains/{domain_id}{path}", body)
        assert (answer.status, answer.code) == (404, "domain_not_found")
        bodies.add(answer.body)
    assert len(bodies) == 1


# POST /v1/domains/{id}/verify --------------------------------------------------------------------


async def test_verify(world: DomainWorld, clock: ManualClock) -> None:
    domain = await world.register()
    publish(world.zone, domain["records"])
    clock.forward(60)
    answer = await world.verify(domain)
    assert answer == {
        "id": domain["id"],
        "domainName": NAME,
        "status": "active",
        "checks": ALL_PASS,
        "verifiedAt": "2026-11-18T11:07:40.000Z",
    }
    shown = await world.shown(domain)
    assert (shown["status"], shown["verifiedAt"]) == ("verified", answer["verifiedAt"])
    assert all(shown[f"{one}Status"] for one in ("mx", "spf", "dkim", "dmarc"))
    assert {one["status"] for one in shown["records"]} == {"ok"}
    clock.forward(60)
    assert await world.verify(domain) == answer


async def test_verify_without_any_record(world: DomainWorld) -> None:
    domain = await world.register()
    assert await world.verify(domain) == {
        "id": domain["id"],
        "domainName": NAME,
        "status": "pending",
        "checks": NONE_PASSES,
        "verifiedAt": None,
    }
    assert {one["status"] for one in (await world.shown(domain))["records"]} == {"missing"}


@pytest.mark.parametrize("purpose", ["ownership", "mx", "spf", "dkim"])
async def test_verify_needs_each_required_record(world: DomainWorld, purpose: str) -> None:
    domain = await world.register()
    publish(world.zone, domain["records"], without=[purpose])
    answer = await world.verify(domain)
    assert (answer["status"], answer["checks"]) == ("pending", ALL_PASS | {purpose: False})
    publish(world.zone, [record_of(domain, purpose)])
    assert (await world.verify(domain))["status"] == "active"


async def test_dmarc_is_not_required(world: DomainWorld) -> None:
    domain = await world.register()
    publish(world.zone, domain["records"], without=["dmarc"])
    assert (await world.verify(domain))["status"] == "active"
    assert (await world.shown(domain))["dmarcStatus"] is False


async def test_verify_asks_every_resolver_for_what_is_there_now(world: DomainWorld) -> None:
    domain = await world.register()
    for _ in range(2):
        await world.verify(domain)
    questions = 5
    assert [one.requests for one in world.doh] == [2 * questions] * 2


async def test_verify_takes_no_body(world: DomainWorld) -> None:
    domain = await world.register()
    answer = await world.api.post(f"/v1/domains/{domain['id']}/verify", {"force": True})
    assert answer.faults == {"": "unexpected_body"}


async def test_another_organization_s_challenge_proves_nothing(world: DomainWorld) -> None:
    publish(world.zone, (await world.register())["records"])
    other = await world.maild.organization()
    theirs = await world.register(api=other.api)
    answer = await world.verify(theirs, other.api)
    assert (answer["status"], answer["checks"]) == ("pending", ALL_PASS | {"ownership": False})
    shown = record_of(await world.shown(theirs, other.api), "ownership")
    assert shown["status"] == "mismatch"


async def test_of_two_organizations_that_verify_at_once_one_wins(world: DomainWorld) -> None:
    other = await world.maild.organization()
    mine, theirs = await world.register(), await world.register(api=other.api)
    publish(world.zone, mine["records"])
    publish(world.zone, [record_of(theirs, "ownership")])
    answers = await asyncio.gather(
        *(world.verifying(mine) for _ in range(5)),
        *(world.verifying(theirs, other.api) for _ in range(5)),
    )
    outcomes = {tuple((one.status, one.code) for one in half) for half in (answers[:5], answers[5:])}
    assert outcomes == {((200, ""),) * 5, ((409, "domain_already_registered"),) * 5}
    counted = world.maild.sql("SELECT count(*) FROM domains WHERE status = 'verified'")
    assert counted == [(1,)]
    loser, api = (theirs, other.api) if answers[0].status == 200 else (mine, world.api)
    assert (await world.shown(loser, api))["status"] == "pending"


async def test_the_loser_may_verify_once_the_winner_is_gone(world: DomainWorld) -> None:
    other = await world.maild.organization()
    mine, theirs = await world.register(), await world.register(api=other.api)
    publish(world.zone, mine["records"])
    publish(world.zone, [record_of(theirs, "ownership")])
    assert (await world.verify(mine))["status"] == "active"
    assert (await world.verifying(theirs, other.api)).code == "domain_already_registered"
    await world.delete(mine)
    assert (await world.verify(theirs, other.api))["status"] == "active"


async def test_who_verifies_a_name_ends_what_waits_in_inboxes_that_others_had_on_it(
    world: DomainWorld,
) -> None:
    old = await world.verified()
    bot = await world.maild.inbox("bot", domain=NAME)
    policy = {"version": 0, "outbound": {"review": "all"}, "work": {"enabled": True}}
    reviewer = await world.maild.key()
    assert (await reviewer.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    held = (await world.api.send(bot, text="Hello")).data
    await world.maild.received(bot, "From: friend@elsewhere.test\n\nHello\n")
    (claim,) = (await world.api.post(f"/v1/inboxes/{bot['id']}/claims", {})).data
    await world.delete(old)
    other = await world.maild.organization()
    await world.verified(api=other.api)

    assert (await world.api.get(f"/v1/inboxes/{bot['id']}")).code == "inbox_not_found"
    await world.maild.until_withdrawn()
    message = (await world.api.get(f"/v1/messages/{held['id']}")).data
    assert (message["status"], message["failureReason"]) == ("failed", "inbox_not_found")
    assert (await reviewer.get(f"/v1/reviews/{held['review']['id']}")).data["status"] == "withdrawn"
    assert (await world.api.post(f"/v1/claims/{claim['id']}/extend", {})).code == "claim_lost"


async def test_inboxes_are_taken_from_others_some_at_a_time(
    world: DomainWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand on one name, each with a row of its owner's audit log, held up all that write for 212 ms."""
    monkeypatch.setattr(registry, "EVICTED_AT_ONCE", 2)
    old = await world.verified()
    bots = [await world.maild.inbox(f"bot{number}", domain=NAME) for number in range(5)]
    await world.delete(old)
    taken: list[tuple[int, bool]] = []
    evict = inboxes.evict

    def noted(tx: Any, inbox_ids: Any, now_ms: int) -> Any:
        taken.append((len(inbox_ids), threading.current_thread() is threading.main_thread()))
        return evict(tx, inbox_ids, now_ms)

    monkeypatch.setattr(inboxes, "evict", noted)
    other = await world.maild.organization()
    await world.verified(api=other.api)
    assert taken == [(2, False), (2, False), (1, True)]
    assert {(await world.api.get(f"/v1/inboxes/{bot['id']}")).code for bot in bots} == {"inbox_not_found"}
    acts = (await world.api.get("/v1/audit?types=inbox.deactivated")).data
    assert {one["subject"] for one in acts} == {bot["id"] for bot in bots}


async def test_nobody_loses_inboxes_on_a_name_that_is_verified_meanwhile(
    world: DomainWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that prove one name at one moment, one has it, and keeps its inboxes."""
    monkeypatch.setattr(registry, "EVICTED_AT_ONCE", 1)
    old = await world.verified()
    bots = [await world.maild.inbox(name, domain=NAME) for name in ("one", "two")]
    await world.delete(old)
    other = await world.maild.organization()
    theirs = await world.register(api=other.api)
    publish(world.zone, theirs["records"])
    evict_many = Registry._evict_many

    async def late(self: Registry, *given: Any) -> Any:
        monkeypatch.setattr(Registry, "_evict_many", evict_many)
        await world.verified()
        return await evict_many(self, *given)

    monkeypatch.setattr(Registry, "_evict_many", late)
    assert (await world.verifying(theirs, other.api)).code == "domain_already_registered"
    assert {(await world.api.get(f"/v1/inboxes/{bot['id']}")).status for bot in bots} == {200}


async def test_a_long_queue_is_looked_through_once_for_all_inboxes_that_one_owner_loses(
    world: DomainWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await world.verified()
    bots = [await world.maild.inbox(name, domain=NAME) for name in ("one", "two", "three")]
    sent = [(await world.api.send(bot, text="Hi", sendAt="2026-11-19T00:00:00Z")).data for bot in bots]
    await world.delete(old)
    looks: list[tuple[Any, ...]] = []

    def noted(tx: Any, *given: Any) -> Any:
        looks.append(given)
        return withdrawal.INBOXES.find_waiting(tx, *given)

    monkeypatch.setattr(withdrawal, "SENDERS", (withdrawal.INBOXES._replace(find_waiting=noted),))
    other = await world.maild.organization()
    await world.verified(api=other.api)
    await world.maild.until_withdrawn()
    assert len(looks) == 1
    for one in sent:
        assert (await world.api.get(f"/v1/messages/{one['id']}")).data["status"] == "failed"


async def test_verifying_publishes_an_event(world: DomainWorld) -> None:
    domain = await world.verified()
    ((data,),) = world.maild.sql("SELECT json(data) FROM events WHERE type = 'domain.verified'")
    assert f'"domainId":"{domain["id"]}"' in data and '"status":"verified"' in data
    await world.verify(domain)
    assert world.maild.sql("SELECT count(*) FROM events") == [(1,)]


# PATCH /v1/domains/{id} --------------------------------------------------------------------------


async def patched(world: DomainWorld, domain: dict[str, Any], cap: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (
        await world.api.call("PATCH", f"/v1/domains/{domain['id']}", {"dailyCap": cap})
    ).data
    return answer


@pytest.mark.parametrize("cap", [1, 1_000_000, None])
async def test_patch_the_ceiling(world: DomainWorld, cap: int | None) -> None:
    domain = await world.register(dailyCap=7)
    answer = await patched(world, domain, cap)
    assert set(answer) == CEILING_KEYS
    assert answer == {
        "id": domain["id"],
        "domainName": NAME,
        "dailyCap": cap,
        "todayUsed": 0,
        "resetsAt": "2026-11-19T00:00:00.000Z",
        "note": None,
    }
    assert (await world.shown(domain))["dailyCap"] == cap


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"dailyCap": "required"}),
        ({"dailyCap": 0}, {"dailyCap": "out_of_range"}),
        ({"dailyCap": -1}, {"dailyCap": "out_of_range"}),
        ({"dailyCap": 1_000_001}, {"dailyCap": "out_of_range"}),
        ({"dailyCap": 1.5}, {"dailyCap": "wrong_type"}),
        ({"dailyCap": "10"}, {"dailyCap": "wrong_type"}),
        ({"dailyCap": True}, {"dailyCap": "wrong_type"}),
        ({"dailyCap": 5, "status": "verified"}, {"status": "unknown_field"}),
    ],
)
async def test_a_ceiling_that_is_not_valid(
    world: DomainWorld, body: dict[str, Any], faults: dict[str, str]
) -> None:
    domain = await world.register(dailyCap=7)
    answer = await world.api.call("PATCH", f"/v1/domains/{domain['id']}", body)
    assert (answer.status, answer.faults) == (400, faults)
    assert (await world.shown(domain))["dailyCap"] == 7


async def test_a_note_says_that_the_ceiling_is_exhausted_already(
    world: DomainWorld, clock: ManualClock
) -> None:
    domain = await world.verified()
    inbox = await world.maild.inbox("bot", domain=NAME)
    for _ in range(2):
        assert (await world.api.send(inbox)).status == 201
    answer = await patched(world, domain, 3)
    assert (answer["todayUsed"], answer["note"]) == (2, None)
    answer = await patched(world, domain, 2)
    assert answer["todayUsed"] == 2
    assert "2026-11-19T00:00:00.000Z" in answer["note"]
    assert (await world.shown(domain))["note"] == answer["note"]
    clock.forward(86_400)
    shown = await world.shown(domain)
    assert (shown["todayUsed"], shown["note"]) == (0, None)


async def test_today_used_counts_messages_of_this_domain_and_of_live_keys(world: DomainWorld) -> None:
    domain, other = await world.verified(), await world.verified("other.test")
    inbox = await world.maild.inbox("bot", domain=NAME)
    shared = await world.maild.inbox("bot")
    to = [f"a{number}@elsewhere.test" for number in range(3)]
    assert (await world.api.send(inbox, to=to)).status == 201
    assert (await world.maild.test_api.send(inbox)).status == 201
    assert (await world.api.send(shared)).status == 201
    used = [(await world.shown(one))["todayUsed"] for one in (domain, other)]
    assert used == [1, 0]


async def test_a_domain_at_its_ceiling_sends_no_more_today(world: DomainWorld, clock: ManualClock) -> None:
    domain = await world.verified(dailyCap=2)
    inbox, shared = await world.maild.inbox("bot", domain=NAME), await world.maild.inbox("bot")
    for _ in range(2):  # mail of other domains takes nothing from it
        assert (await world.api.send(shared)).status == 201
    answers = await asyncio.gather(*(world.api.send(inbox) for _ in range(5)))
    assert sorted(one.status for one in answers) == [201, 201, 429, 429, 429]
    answer = await world.api.send(inbox)
    assert (answer.status, answer.code) == (429, "domain_daily_cap_reached")
    assert answer.headers["X-Domain-Limit"] == answer.headers["X-Domain-Used"] == "2"
    assert answer.headers["Retry-After"] == str(46_400)
    assert answer.error["details"] == {
        "domainName": NAME,
        "limit": 2,
        "used": 2,
        "resetsAt": "2026-11-19T00:00:00.000Z",
    }
    assert (await world.api.send(shared)).status == 201
    assert (await world.maild.test_api.send(inbox)).status == 201
    for at, status in (("2026-11-18T23:59:59.999Z", 429), ("2026-11-19T12:00:00.000Z", 201)):
        assert (await world.api.send(inbox, sendAt=at)).status == status
    await patched(world, domain, None)
    assert (await world.api.send(inbox)).status == 201
    await patched(world, domain, 2)
    clock.forward(46_400)
    assert (await world.api.send(inbox)).status == 201


# DELETE /v1/domains/{id} -------------------------------------------------------------------------


@pytest.mark.parametrize("is_verified", [True, False])
async def test_delete(world: DomainWorld, is_verified: bool) -> None:
    domain = await (world.verified() if is_verified else world.register())
    assert await world.delete(domain) == {"id": domain["id"], "status": "deleted"}
    again = await world.api.call("DELETE", f"/v1/domains/{domain['id']}")
    assert again.code == "domain_not_found"


async def test_the_queue_is_looked_through_beside_the_event_loop(
    world: DomainWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand rows of it, where so many wait."""
    threads: list[threading.Thread] = []
    look = outbound.of_domain

    def noted(*given: Any) -> list[tuple[str, int]]:
        threads.append(threading.current_thread())
        return look(*given)

    monkeypatch.setattr(outbound, "of_domain", noted)
    await world.delete(await world.verified())
    assert len(threads) == 1 and threads[0] is not threading.current_thread()


async def test_no_inbox_on_a_domain_that_is_not_verified_or_not_theirs(world: DomainWorld) -> None:
    pending = await world.register()
    answer = await world.api.post("/v1/inboxes", {"username": "bot", "domain": NAME})
    assert (answer.status, answer.code) == (400, "domain_not_verified")
    await world.delete(pending)
    answer = await world.api.post("/v1/inboxes", {"username": "bot", "domain": NAME})
    assert (answer.status, answer.code) == (404, "domain_not_found")


# POST /v1/domains/{id}/rotate-dkim ---------------------------------------------------------------


async def test_rotate_dkim(world: DomainWorld) -> None:
    domain = await world.verified()
    path = f"/v1/domains/{domain['id']}/rotate-dkim"
    rotating = (await world.api.call("POST", path)).data
    assert set(rotating) == KEYS
    old, new = (one for one in rotating["records"] if one["purpose"] == "dkim")
    assert (old["name"], old["required"]) == (f"s1._domainkey.{NAME}", True)
    assert (new["name"], new["required"], new["status"]) == (f"s2._domainkey.{NAME}", False, "unchecked")
    assert new["value"] != old["value"]
    # Asking again makes no third key; checking before DNS shows the second changes nothing.
    assert (await world.api.call("POST", path)).data == rotating
    assert (await world.verify(domain))["checks"] == ALL_PASS
    assert len(world.maild.sql("SELECT 1 FROM dkim_keys WHERE domain_name = ?", NAME)) == 2
    publish(world.zone, [new])
    assert (await world.verify(domain))["status"] == "active"
    assert record_of(await world.shown(domain), "dkim") | {"required": True} == {
        **new,
        "required": True,
        "status": "ok",
        "observed": [new["value"]],
    }
    keys = world.maild.sql(
        "SELECT selector, status, length(private_key) > 0 FROM dkim_keys WHERE domain_name = ? ORDER BY 1",
        NAME,
    )
    assert keys == [("s1", "retired", 0), ("s2", "active", 1)]


async def test_a_rotation_that_another_overtakes_brings_the_others_key(
    world: DomainWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one's signs already."""
    domain = await world.verified()
    path = f"/v1/domains/{domain['id']}/rotate-dkim"
    keys_for = DkimKeyMaker.keys_for

    async def overtaken(self: DkimKeyMaker, *asked: Any, **how: Any) -> Sequence[DkimKey]:
        made = await keys_for(self, *asked, **how)
        monkeypatch.setattr(DkimKeyMaker, "keys_for", keys_for)
        rotating = (await world.api.call("POST", path)).data
        publish(world.zone, rotating["records"])
        await world.verify(domain)
        return made

    monkeypatch.setattr(DkimKeyMaker, "keys_for", overtaken)
    answer = await world.api.call("POST", path)
    assert answer.data["records"] == (await world.shown(domain))["records"]
    keys = world.maild.sql("SELECT selector, status FROM dkim_keys WHERE domain_name = ? ORDER BY 1", NAME)
    assert keys == [("s1", "retired"), ("s2", "active")]


async def test_rotate_needs_a_verified_domain(world: DomainWorld) -> None:
    domain = await world.register()
    answer = await world.api.call("POST", f"/v1/domains/{domain['id']}/rotate-dkim")
    assert (answer.status, answer.code) == (400, "domain_not_verified")


# Scopes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "scope"),
    [
        ("GET", "", None, "domains:read"),
        ("GET", "/{id}", None, "domains:read"),
        ("POST", "", {"domainName": "scoped.test"}, "domains:write"),
        ("POST", "/{id}/verify", None, "domains:write"),
        ("POST", "/{id}/rotate-dkim", None, "domains:write"),
        ("PATCH", "/{id}", {"dailyCap": 5}, "domains:write"),
        ("DELETE", "/{id}", None, "domains:write"),
    ],
)
async def test_scopes(world: DomainWorld, method: str, path: str, body: Any, scope: str) -> None:
    domain = await world.verified()
    target = "/v1/domains" + path.format(id=domain["id"])
    others = {"domains:read", "domains:write", "inboxes:*", "keys:*", "messages:*"} - {scope}
    poor = await world.maild.key(*sorted(others))
    bound = await world.maild.key("messages:read", inbox=await world.maild.inbox("bot"))
    for api in (poor, bound):
        answer = await api.call(method, target, body)
        assert (answer.status, answer.code) == (403, "insufficient_scope")
        assert answer.error["details"]["requiredScope"] == scope
    rich = await world.maild.key(scope)
    assert (await rich.call(method, target, body)).status in (200, 201)
