"""The audit log over the API: every act leaves one row, of its own organization alone, without a word of mail."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest

from controlplane.contract.accounts.audit import AUDIT_PAGE_MAX, ActName
from controlplane.sending.reviews.reviewing import Approval
from maild.message import unsubscribe
from storage.audit import trail
from storage.audit.acts import OPERATOR, Act
from storage.audit.chain import GENESIS
from storage.audit.repeats import DISTINCT, RepeatedActs
from storage.audit.trail import address_hash, addresses_hash
from storage.engine.tx import Tx
from tests.conftest import Start
from tests.support.clients.mcp import Mcp
from tests.support.clients.submitting import encrypted, logged_in, plain, submitting
from tests.support.running import Answer, Api, Running, until
from tests.support.worlds.store import ManualClock

SUPPRESSED = "nobody@elsewhere.test"


async def rows(api: Api, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get("/v1/audit", **query)).data
    return found


async def head(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get("/v1/audit/head")).data
    return found


async def row_of(api: Api, answer: Answer) -> dict[str, Any]:
    """The only row that the request left."""
    request_id = answer.headers["X-Request-Id"]
    (found,) = [one for one in await rows(api, limit="1000") if one["requestId"] == request_id]
    return found


def test_the_document_names_every_act() -> None:
    assert list(get_args(ActName)) == [one.value for one in Act]


def repeats(maild: Running) -> RepeatedActs:
    return maild.daemon.operations._services.refusals


# What is recorded --------------------------------------------------------------------------------


async def test_what_a_model_does_names_its_tool(maild: Running, bot: dict[str, Any]) -> None:
    mcp = Mcp(maild.api)
    await maild.api.post("/v1/suppressions", {"email": SUPPRESSED})
    for to in ("ada@elsewhere.test", SUPPRESSED):
        await mcp.call("send_message", inboxId=bot["id"], to=[to], subject="s", text="Hello")
    await mcp.call("create_inbox", username="fresh")
    await maild.api.send(bot, to=[SUPPRESSED])  # the like of it, counted
    await maild.api.send(bot)
    await repeats(maild).flush()
    told = [(one["type"], one["details"].get("tool")) for one in await rows(maild.api)]
    assert told[-5:] == [
        ("message.queued", "send_message"),
        ("message.refused", "send_message"),
        ("inbox.created", "create_inbox"),
        ("message.queued", None),
        ("message.refused", None),
    ]


async def test_each_act_leaves_a_row_with_its_actor_and_request(maild: Running, bot: dict[str, Any]) -> None:
    api = maild.api

    async def did(
        method: str, path: str, act: Act, details: Mapping[str, Any], body: Any = None
    ) -> dict[str, Any]:
        answer = await api.call(method, path, body)
        row = await row_of(api, answer)
        data: dict[str, Any] = answer.data
        subject = data.get("id") or (await api.get("/v1/organization")).data["id"]
        assert (row["type"], row["subject"], row["details"]) == (act.value, subject, details)
        assert row["actor"].startswith("key_")
        return data

    minted = {"scopes": ["messages:read"], "mode": "live", "inboxId": None}
    key = await did("POST", "/v1/keys", Act.KEY_MINTED, minted, {"name": "a", "scopes": ["messages:read"]})
    await did("DELETE", f"/v1/keys/{key['id']}", Act.KEY_REVOKED, {})
    agent = await did("POST", "/v1/agents", Act.AGENT_CREATED, {}, {"name": "a"})
    await did("DELETE", f"/v1/agents/{agent['id']}", Act.AGENT_DELETED, {})
    inbox = await did("POST", "/v1/inboxes", Act.INBOX_CREATED, {"agentId": None, "domain": "agents.test"},
                      {"username": "other"})  # fmt: skip
    at = f"/v1/inboxes/{inbox['id']}"
    await did("PATCH", at, Act.INBOX_UPDATED, {"fields": ["name"]}, {"name": "Other"})
    await did("DELETE", at, Act.INBOX_DEACTIVATED, {})
    told = {"events": ["email.sent"], "host": "hook.example.com", "isActive": True}
    hook = await did("POST", "/v1/webhooks", Act.WEBHOOK_CREATED, told,
                     {"url": "https://hook.example.com/secret?a=b", "subscribedEvents": ["email.sent"]})  # fmt: skip
    at = f"/v1/webhooks/{hook['id']}"
    await did("PATCH", at, Act.WEBHOOK_UPDATED, {**told, "isActive": False}, {"isActive": False})
    await did("POST", f"{at}/rotate-secret", Act.WEBHOOK_SECRET_ROTATED, {})
    await did("DELETE", at, Act.WEBHOOK_DELETED, {})
    hashed = address_hash(maild.organization_id, SUPPRESSED)
    told = {"addressHash": hashed, "reason": "manual", "source": "api"}
    suppression = await did("POST", "/v1/suppressions", Act.SUPPRESSION_ADDED, told, {"email": SUPPRESSED})
    await did("DELETE", f"/v1/suppressions/{suppression['id']}", Act.SUPPRESSION_REMOVED, told)
    told, body = {"domainName": "ours.example.com", "dailyCap": None}, {"domainName": "ours.example.com"}
    domain = await did("POST", "/v1/domains", Act.DOMAIN_REGISTERED, told, body)
    at = f"/v1/domains/{domain['id']}"
    await did("PATCH", at, Act.DOMAIN_UPDATED, {"dailyCap": 5}, {"dailyCap": 5})
    await did("DELETE", at, Act.DOMAIN_DELETED, {"domainName": "ours.example.com"})


async def test_a_policy_is_recorded_with_addresses_as_hashes(maild: Running, bot: dict[str, Any]) -> None:
    body = {"version": 0, "outbound": {"review": "all"}, "review": {"notify": ["boss@elsewhere.test"]}}
    answer = await maild.api.call("PUT", "/v1/organization/policy", body)
    row = await row_of(maild.api, answer)
    assert (row["type"], row["subject"]) == ("policy.replaced", maild.organization_id)
    assert row["details"]["outbound"]["review"] == "all" and row["details"]["version"] == 1
    assert row["details"]["review"]["notify"] == [address_hash(maild.organization_id, "boss@elsewhere.test")]
    assert "boss@" not in json.dumps(row)


async def test_rules_are_recorded_with_addresses_as_hashes(maild: Running) -> None:
    made = {}
    for value in ("ada@elsewhere.test", "*.elsewhere.test"):
        body = {"direction": "outbound", "action": "block", "value": value, "note": "words"}
        answer = await maild.api.post("/v1/rules", body)
        made[value] = row = await row_of(maild.api, answer)
        assert (row["type"], row["subject"]) == ("rule.created", answer.data["id"])
        before = await head(maild.api)
        assert (await maild.api.post("/v1/rules", body)).data == answer.data
        assert await head(maild.api) == before
    told = {"direction": "outbound", "action": "block", "inboxId": None}
    hashed = address_hash(maild.organization_id, "ada@elsewhere.test")
    assert made["ada@elsewhere.test"]["details"] == {**told, "addressHash": hashed}
    assert made["*.elsewhere.test"]["details"] == {**told, "value": "*.elsewhere.test"}
    gone = await maild.api.call("DELETE", f"/v1/rules/{made['*.elsewhere.test']['subject']}")
    row = await row_of(maild.api, gone)
    assert (row["type"], row["details"]) == ("rule.deleted", made["*.elsewhere.test"]["details"])


async def test_what_is_held_is_recorded_until_somebody_decides(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    await maild.api.call("PUT", "/v1/organization/policy", {"version": 0, "outbound": {"review": "all"}})
    agent = await maild.key("messages:send", inbox=bot)

    async def held() -> dict[str, Any]:
        answer = await agent.send(bot)
        row = await row_of(maild.api, answer)
        review: dict[str, Any] = (await maild.api.get(f"/v1/reviews/{answer.data['review']['id']}")).data
        assert (row["type"], row["subject"]) == ("message.held", answer.data["id"])
        assert (row["details"]["reviewId"], row["details"]["reasons"]) == (review["id"], ["all"])
        assert row["actor"] == review["submittedBy"]
        return review

    async def decided(review: dict[str, Any], answer: Answer, act: Act) -> dict[str, Any]:
        assert answer.status == 200, answer.body
        row = await row_of(maild.api, answer)
        assert (row["type"], row["subject"]) == (act.value, review["id"])
        assert row["details"]["submittedBy"] == review["submittedBy"]
        assert row["details"]["messageId"] == review["message"]["id"]
        return row

    one = await held()
    body = {"contentHash": one["contentHash"], "note": "words"}
    approved = await maild.api.post(f"/v1/reviews/{one['id']}/approve", body)
    row = await decided(one, approved, Act.REVIEW_APPROVED)
    assert row["details"]["contentHash"] == one["contentHash"] and row["actor"] != one["submittedBy"]
    two = await held()
    rejected = await maild.api.post(f"/v1/reviews/{two['id']}/reject", {"note": "words"})
    await decided(two, rejected, Act.REVIEW_REJECTED)
    three = await held()
    withdrawn = await agent.post(f"/v1/messages/{three['message']['id']}/withdraw", None)
    row = await decided(three, withdrawn, Act.REVIEW_WITHDRAWN)
    assert row["actor"] == three["submittedBy"]
    four = await held()
    hashed = (await maild.operate(maild.store.reviews.show, four["id"]))["contentHash"]
    await maild.operate(maild.store.reviews.approve, four["id"], Approval(hashed))
    (row,) = await rows(maild.api, types="review.approved", actor="operator")
    assert (row["subject"], row["requestId"]) == (four["id"], None)
    five = await held()
    clock.forward(3 * 86_400)

    async def expired() -> list[dict[str, Any]] | None:
        return await rows(maild.api, types="review.expired") or None

    (row,) = await until(expired)
    assert (row["subject"], row["actor"]) == (five["id"], "system:reviews")
    assert "words" not in json.dumps(await rows(maild.api, limit="1000"))


async def test_a_send_is_recorded_by_hashes(maild: Running, bot: dict[str, Any]) -> None:
    fields = {
        "to": ["Ada@elsewhere.test"],
        "bcc": ["bob@elsewhere.test"],
        "subject": "words",
        "text": "words",
    }
    answer = await maild.api.send(bot, **fields)
    row = await row_of(maild.api, answer)
    raw = (await maild.api.get(f"/v1/messages/{answer.data['id']}/raw")).body
    keys = ["ada@elsewhere.test", "bob@elsewhere.test"]
    assert (row["type"], row["subject"]) == ("message.queued", answer.data["id"])
    assert row["details"] == {
        "contentHash": f"sha256:{hashlib.sha256(raw).hexdigest()}",
        "inboxId": bot["id"],
        "mode": "live",
        "recipients": 2,
        "recipientsHash": addresses_hash(maild.organization_id, keys),
    }


async def test_no_word_of_mail_is_recorded(maild: Running, bot: dict[str, Any]) -> None:
    sent = await maild.api.send(bot, to=["ada@elsewhere.test"], subject="zebra", text="zebra")
    await maild.received(bot, "From: zebra <zebra@there.test>\nSubject: zebra\n\nzebra\n")
    await maild.api.call("DELETE", f"/v1/messages/{sent.data['id']}")
    log = json.dumps(await rows(maild.api, limit="1000")).lower()
    assert "message.deleted" in log
    assert "zebra" not in log and "elsewhere.test" not in log and "there.test" not in log


async def test_mail_that_comes_in_is_no_act(maild: Running, bot: dict[str, Any]) -> None:
    before = await head(maild.api)
    await maild.received(bot, "From: ada@there.test\nSubject: hello\n\nhello\n")
    assert await head(maild.api) == before


async def test_a_schedule_is_recorded_from_its_send_to_its_end(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    sent = await maild.api.send(bot, sendAt="2026-11-25T12:00:00Z")
    row = await row_of(maild.api, sent)
    assert (row["type"], row["details"]["sendAt"]) == ("message.scheduled", "2026-11-25T12:00:00.000Z")
    cancelled = await maild.api.call("DELETE", f"/v1/messages/{sent.data['id']}/schedule")
    row = await row_of(maild.api, cancelled)
    assert (row["type"], row["subject"]) == ("message.cancelled", sent.data["id"])


async def test_what_the_scheduler_does_is_recorded(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    goes = (await maild.api.send(bot, to=["a@elsewhere.test"], sendAt="2026-11-30T12:00:00Z")).data["id"]
    stays = (await maild.api.send(bot, to=[SUPPRESSED], sendAt="2026-11-30T12:00:00Z")).data["id"]
    await maild.api.post("/v1/suppressions", {"email": SUPPRESSED})
    clock.forward(14 * 86_400)
    maild.daemon.operations._services.pipeline._wakes.scheduler()

    async def done() -> list[dict[str, Any]] | None:
        found = await rows(maild.api, actor="system:scheduler")
        return found if len(found) == 2 else None

    found = {one["subject"]: one for one in await until(done)}
    assert (found[goes]["type"], found[goes]["details"]["recipients"]) == ("message.dispatched", 1)
    assert found[stays]["type"] == "message.refused"
    assert found[stays]["details"] == {"code": "recipient_suppressed", "inboxId": bot["id"]}


async def test_a_replay_is_no_act(maild: Running, bot: dict[str, Any]) -> None:
    body = {"inboxId": bot["id"], "to": ["a@elsewhere.test"]}
    headers = {"Idempotency-Key": "once"}
    await maild.api.call("POST", "/v1/messages/send", body, headers=headers)
    before = await head(maild.api)
    assert (await maild.api.call("POST", "/v1/messages/send", body, headers=headers)).status == 200
    assert await head(maild.api) == before


async def test_whoever_unsubscribes_is_recorded_as_a_recipient(maild: Running, bot: dict[str, Any]) -> None:
    store = maild.daemon.operations._services
    key = maild.server_secret("unsubscribe")
    message = (await maild.api.send(bot)).data["id"]
    grant = unsubscribe.Grant(maild.organization_id, bot["id"], message, "ada@elsewhere.test", 2**32 - 1)
    await store.unsubscriber.act(unsubscribe.make(key, grant), "link")
    (row,) = await rows(maild.api, actor="recipient")
    assert row["type"] == "suppression.added"
    assert row["details"]["addressHash"] == address_hash(maild.organization_id, "ada@elsewhere.test")


async def test_a_send_costs_one_row_and_one_look_for_the_last(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    await maild.daemon.retention.stop()  # it looks after the log by age, in its own time
    for name in ("run", "run_many", "one", "all", "value"):
        monkeypatch.setattr(Tx, name, _telling(asked, getattr(Tx, name)))
    assert (await maild.api.send(bot, to=["ada@elsewhere.test"])).status == 201
    assert [sql.split()[0] for sql in asked if _is_of_acts(sql)] == ["SELECT", "INSERT"]
    asked.clear()
    await maild.deliver(bot["address"], "From: ada@there.test\nSubject: hello\n\nhello\n")
    assert any("INSERT INTO messages" in sql for sql in asked)
    assert not [sql for sql in asked if _is_of_acts(sql)]


def _is_of_acts(sql: str) -> bool:
    return re.search(r"\baudit\b", sql) is not None


def _telling(asked: list[str], ask: Callable[..., Any]) -> Callable[..., Any]:
    def told(tx: Tx, sql: str, *parameters: Any) -> Any:
        asked.append(sql)
        return ask(tx, sql, *parameters)

    return told


# Refusals and logins -----------------------------------------------------------------------------


async def test_a_refused_send_is_recorded_once_and_the_like_of_it_are_counted(
    maild: Running, bot: dict[str, Any]
) -> None:
    await maild.api.post("/v1/suppressions", {"email": SUPPRESSED})
    first = await maild.api.send(bot, to=[SUPPRESSED])
    row = await row_of(maild.api, first)
    hashed = address_hash(maild.organization_id, SUPPRESSED)
    assert (row["type"], row["subject"]) == ("message.refused", None)
    assert row["details"] == {"addressHash": hashed, "code": "recipient_suppressed"}
    before = await head(maild.api)
    for _ in range(20):
        assert (await maild.api.send(bot, to=[SUPPRESSED])).code == "recipient_suppressed"
    assert await head(maild.api) == before
    await repeats(maild).flush()
    assert (await head(maild.api))["seq"] == before["seq"] + 1
    (counted,) = await rows(maild.api, after=str(before["seq"]))
    assert counted["details"] == {"addressHash": hashed, "code": "recipient_suppressed", "times": 20}
    assert counted["actor"] == row["actor"]
    await repeats(maild).flush()  # nothing was counted in the window after it
    assert (await head(maild.api))["seq"] == before["seq"] + 1
    await maild.api.send(bot, to=[SUPPRESSED])
    assert (await rows(maild.api, after=str(before["seq"] + 1)))[0]["details"] == row["details"]


async def test_a_key_that_is_refused_in_many_ways_fills_no_disk(maild: Running, bot: dict[str, Any]) -> None:
    addresses = [f"a{number}@elsewhere.test" for number in range(DISTINCT + 8)]
    for address in addresses:
        await maild.api.post("/v1/suppressions", {"email": address})
    before = await head(maild.api)
    for _ in range(3):
        for address in addresses:
            await maild.api.send(bot, to=[address])
    assert (await head(maild.api))["seq"] == before["seq"] + DISTINCT
    await repeats(maild).flush()
    counted = await rows(maild.api, after=str(before["seq"] + DISTINCT), limit="1000")
    assert len(counted) == DISTINCT + 1
    assert sum(one["details"]["times"] for one in counted) == 3 * len(addresses) - DISTINCT
    (others,) = [one for one in counted if one["actor"] == "others"]
    assert others["details"] == {"code": "recipient_suppressed", "times": 24}


async def test_a_refusal_before_the_pipeline_is_recorded_too(maild: Running, bot: dict[str, Any]) -> None:
    reader = await maild.key("messages:read")
    answer = await reader.send(bot)
    row = await row_of(maild.api, answer)
    assert (row["type"], row["details"]) == ("message.refused", {"code": "insufficient_scope"})
    before = await head(maild.api)
    assert (await reader.get("/v1/keys")).status == 403  # no send
    assert await head(maild.api) == before


async def test_a_refusal_is_told_though_its_row_can_not_be_written(
    maild: Running, bot: dict[str, Any]
) -> None:
    maild.sql("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'a bug'); END")
    answer = await maild.api.send("inb_01m7yfag7w45tyj0v8xnjg5z6z")
    assert (answer.status, answer.code) == (404, "inbox_not_found")
    maild.sql("DROP TRIGGER full")


async def test_an_act_that_can_not_be_recorded_does_not_happen(maild: Running, bot: dict[str, Any]) -> None:
    maild.sql("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'a bug'); END")
    assert (await maild.api.send(bot)).code == "email_delivery_failed"
    assert (await maild.api.post("/v1/agents", {"name": "a"})).status == 500
    maild.sql("DROP TRIGGER full")
    assert await maild.api.messages() == [] and (await maild.api.get("/v1/agents")).data == []


async def test_logins_are_recorded_by_the_hour(start: Start, tmp_path: Any) -> None:
    maild = await submitting(start, tmp_path / "tls")
    bot = await maild.inbox("bot")
    for _ in range(3):
        (await logged_in(maild, bot)).hang_up()
    (row,) = await rows(maild.api, types="login.accepted")
    assert (row["subject"], row["requestId"]) == (bot["id"], None) and row["actor"].startswith("key_")
    await repeats(maild).flush()
    assert (await rows(maild.api, types="login.accepted"))[1]["details"] == {"times": 2}
    reader = await maild.key("messages:read")
    talk = await encrypted(maild)
    assert (await talk.say(f"AUTH PLAIN {plain(bot['address'], str(reader.key))}")).startswith("535")
    (refused,) = await rows(maild.api, types="login.refused")
    assert refused["details"] == {"code": "insufficient_scope"}
    assert (await talk.say(f"AUTH PLAIN {plain(bot['address'], 'svc_live_nonsense')}")).startswith("535")
    assert len(await rows(maild.api, types="login.refused")) == 1  # nobody knows whose key that would be


# How it is read ----------------------------------------------------------------------------------


async def test_pages_follow_each_other_and_filters_hold(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(5):
        await maild.api.post("/v1/agents", {"name": f"a{number}"})
    everything = await rows(maild.api, limit="1000")
    assert [one["seq"] for one in everything] == list(range(1, len(everything) + 1))
    assert everything[-1]["hash"] == (await head(maild.api))["hash"]
    paged: list[dict[str, Any]] = []
    while page := await rows(maild.api, after=str(paged[-1]["seq"] if paged else 0), limit="2"):
        paged += page
    assert paged == everything
    assert await rows(maild.api, types="agent.created,inbox.created", limit="100") == [
        one for one in everything if one["type"] in ("agent.created", "inbox.created")
    ]
    by_operator = await rows(maild.api, actor="operator", limit="100")
    assert by_operator == [one for one in everything if one["actor"] == "operator"] and by_operator
    assert await rows(maild.api, actor="nobody") == []


async def test_a_filter_looks_far(maild: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Further than one look passes over, and than one piece of a page holds."""
    recorder = maild.daemon.operations._services.audit

    def fill(tx: Tx) -> None:
        for number in range(450):
            act = Act.AGENT_CREATED if number % 150 == 149 else Act.AGENT_DELETED
            recorder.record(tx, maild.organization_id, act, OPERATOR)

    assert maild.daemon._db is not None
    await maild.daemon._db.write(fill)
    monkeypatch.setattr(trail, "WALK", 50)
    assert len(await rows(maild.api, types="agent.created")) == 3
    assert len(await rows(maild.api, types="agent.deleted", limit="1000")) == 447
    assert len(await rows(maild.api, types="agent.deleted", limit="300")) == 300


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ({"after": "-1"}, {"after": "out_of_range"}),
        ({"after": "x"}, {"after": "wrong_type"}),
        ({"after": str(2**63)}, {"after": "out_of_range"}),
        ({"after": "9" * 4999}, {"after": "out_of_range"}),
        ({"limit": str(AUDIT_PAGE_MAX + 1)}, {"limit": "out_of_range"}),
        ({"types": "key.minted,nonsense"}, {"types[1]": "not_allowed"}),
        ({"actor": "a" * 101}, {"actor": "too_long"}),
        ({"cursor": "x"}, {"cursor": "unknown_field"}),
    ],
)
async def test_what_no_list_can_be_asked(
    maild: Running, query: dict[str, str], faults: dict[str, str]
) -> None:
    answer = await maild.api.get("/v1/audit", **query)
    assert (answer.status, answer.faults) == (400, faults)


async def test_an_organization_without_rows_has_a_head_of_zeros(maild: Running) -> None:
    maild.sql("DELETE FROM audit")
    assert await head(maild.api) == {"seq": 0, "hash": GENESIS.hex(), "at": None}
    assert await rows(maild.api) == []


async def test_another_organizations_rows_are_never_shown(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.organization()
    await other.api.post("/v1/agents", {"name": "a"})
    theirs, ours = await rows(other.api, limit="1000"), await rows(maild.api, limit="1000")
    assert {one["organizationId"] for one in theirs} == {other.id}
    assert {one["organizationId"] for one in ours} == {maild.organization_id}
    assert (await head(other.api))["hash"] != (await head(maild.api))["hash"]
    (minted, *_) = [one for one in theirs if one["type"] == "key.minted"]
    assert await rows(maild.api, actor=minted["subject"]) == []


async def test_heads_are_told_to_keys_that_may_read_the_log(maild: Running, bot: dict[str, Any]) -> None:
    await maild.daemon.audit.tell_heads()
    (event,) = (await maild.api.get("/v1/events", types="audit.head")).data
    assert event["data"] == await head(maild.api)
    assert "audit.head" in {one["type"] for one in (await maild.api.get("/v1/events", types="*")).data}
    assert "audit.head" not in {one["type"] for one in (await maild.api.get("/v1/events")).data}
    reader = await maild.key("messages:read")
    assert (await reader.get("/v1/events", types="audit.head")).code == "insufficient_scope"
    assert "audit.head" not in {one["type"] for one in (await reader.get("/v1/events", types="*")).data}


async def test_who_may_read_it(maild: Running, bot: dict[str, Any]) -> None:
    assert len(await rows(await maild.key("audit:read"))) > 0
    for api in (await maild.key("keys:read", "organization:read"), await maild.key(inbox=bot)):
        for path in ("/v1/audit", "/v1/audit/head"):
            assert (await api.get(path)).code == "insufficient_scope"
    bound = {"name": "a", "inboxId": bot["id"], "scopes": ["audit:read"]}
    assert (await maild.api.post("/v1/keys", bound)).status in (400, 403)
