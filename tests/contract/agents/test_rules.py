"""Rules as the API takes, shows and deletes them: contract, sections 2 and 4, "Rules"."""

from typing import Any

import pytest

from storage.agents.rules import RULES_MAX
from tests.support.running import Answer, Api, Running

ABSENT = "rul_01m7yg00000000000000000000"
RULE = {"direction": "outbound", "action": "block", "value": "ada@x.org"}


async def add(api: Api, value: str, **fields: Any) -> Answer:
    return await api.post("/v1/rules", {**RULE, "value": value, **fields})


async def values(api: Api, **params: str) -> list[str]:
    return [one["value"] for one in (await api.get("/v1/rules", **params)).data]


async def test_a_new_one_is_complete(maild: Running, bot: dict[str, Any]) -> None:
    answer = await add(maild.api, "ada@x.org", inboxId=bot["id"], note="asked us to stop")
    row = answer.data
    assert answer.status == 201
    assert row["id"].startswith("rul_") and row["createdAt"].endswith("Z")
    assert {name: row[name] for name in set(row) - {"id", "createdAt"}} == {
        "inboxId": bot["id"],
        "direction": "outbound",
        "action": "block",
        "value": "ada@x.org",
        "note": "asked us to stop",
    }
    assert (await maild.api.get("/v1/rules")).data == [row]


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("Ada@X.Org", "ada@x.org"),
        ("ada+news@x.org", "ada@x.org"),
        ("ADA+a+b@x.org", "ada@x.org"),
        ("+ada@x.org", "+ada@x.org"),
        ('"ada"@x.org', "ada@x.org"),
        ("ÄÖ@x.org", "äö@x.org"),
        ("ada@Bücher.test", "ada@xn--bcher-kva.test"),
        ("X.Org.", "x.org"),
        ("bücher.test", "xn--bcher-kva.test"),
        ("*.X.Org", "*.x.org"),
        ("*.bücher.test", "*.xn--bcher-kva.test"),
        ("*.org", "*.org"),
        ("*.test", "*.test"),
    ],
)
async def test_a_value_is_kept_as_it_is_compared(maild: Running, written: str, compared: str) -> None:
    answer = await add(maild.api, written)
    assert (answer.status, answer.data["value"]) == (201, compared)
    assert await values(maild.api, value=written) == [compared]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"direction": "required", "action": "required", "value": "required"}),
        ({**RULE, "direction": "both"}, {"direction": "not_allowed"}),
        ({**RULE, "action": "deny"}, {"action": "not_allowed"}),
        ({**RULE, "value": "nobody@"}, {"value": "invalid_email"}),
        ({**RULE, "value": "Ada <ada@x.org>"}, {"value": "invalid_email"}),
        ({**RULE, "value": "@x.org"}, {"value": "invalid_email"}),
        ({**RULE, "value": "ada@*.x.org"}, {"value": "invalid_email"}),
        ({**RULE, "value": "org"}, {"value": "invalid_domain"}),
        ({**RULE, "value": ""}, {"value": "invalid_domain"}),
        ({**RULE, "value": "*"}, {"value": "invalid_domain"}),
        ({**RULE, "value": "*."}, {"value": "invalid_domain"}),
        ({**RULE, "value": "*.*.x.org"}, {"value": "invalid_domain"}),
        ({**RULE, "value": "a.*.org"}, {"value": "invalid_domain"}),
        ({**RULE, "value": "*." + "a." * 10 + "org"}, {"value": "invalid_domain"}),
        ({**RULE, "value": "a" * 5000}, {"value": "invalid_domain"}),
        ({**RULE, "value": "x.org\r\nX: y"}, {"value": "invalid_domain"}),
        ({**RULE, "value": None}, {"value": "wrong_type"}),
        ({**RULE, "inboxId": "org_x"}, {"inboxId": "invalid_id"}),
        ({**RULE, "note": "a" * 201}, {"note": "too_long"}),
        ({**RULE, "note": "a\nb"}, {"note": "control_character"}),
        ({**RULE, "id": ABSENT}, {"id": "unknown_field"}),
    ],
)  # fmt: skip
async def test_every_fault_is_named(maild: Running, body: Any, faults: dict[str, str]) -> None:
    answer = await maild.api.post("/v1/rules", body)
    assert (answer.status, answer.faults) == (400, faults)


async def test_one_that_exists_is_answered_as_it_stands(maild: Running, bot: dict[str, Any]) -> None:
    first = await add(maild.api, "ada@x.org", note="the first")
    again = await add(maild.api, "ADA+x@X.ORG", note="another")
    assert (again.status, again.data) == (201, first.data)
    for other in (
        {"action": "hold"},
        {"direction": "inbound"},
        {"inboxId": bot["id"]},
        {"value": "x.org"},
    ):
        assert (await maild.api.post("/v1/rules", {**RULE, **other})).data["id"] != first.data["id"]
    assert len(await values(maild.api)) == 5


async def test_asked_again_under_its_key_it_is_made_once(maild: Running) -> None:
    headers = {"Idempotency-Key": "k"}
    first = await maild.api.call("POST", "/v1/rules", RULE, headers=headers)
    assert first.status == 201
    await maild.api.call("DELETE", f"/v1/rules/{first.data['id']}")
    again = await maild.api.call("POST", "/v1/rules", RULE, headers=headers)
    assert (again.status, again.data) == (200, first.data)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert await values(maild.api) == []
    other = await maild.api.call("POST", "/v1/rules", {**RULE, "action": "hold"}, headers=headers)
    assert (other.status, other.code) == (409, "idempotency_conflict")


async def test_an_inbox_that_is_not_there_is_not_found(maild: Running, bot: dict[str, Any]) -> None:
    theirs = await maild.inbox("theirs", api=(await maild.organization()).api)
    gone = await maild.inbox("gone")
    assert (await maild.api.call("DELETE", f"/v1/inboxes/{gone['id']}")).status == 200
    for inbox_id in (theirs["id"], gone["id"], "inb_unknown"):
        answer = await add(maild.api, "x.org", inboxId=inbox_id)
        assert (answer.status, answer.code) == (404, "inbox_not_found")


async def test_the_list_is_newest_first_in_pages(maild: Running) -> None:
    for number in range(52):
        await add(maild.api, f"n{number}.test")
    newest_first = [f"n{number}.test" for number in reversed(range(52))]
    page = (await maild.api.get("/v1/rules")).data
    assert [one["value"] for one in page] == newest_first[:50]
    assert await values(maild.api, cursor=page[-1]["id"]) == newest_first[50:]
    assert await values(maild.api, limit="2") == newest_first[:2]


async def test_filters_hold_together(maild: Running, bot: dict[str, Any]) -> None:
    await add(maild.api, "a.test", action="allow")
    await add(maild.api, "b.test", action="allow", inboxId=bot["id"])
    await add(maild.api, "c.test", direction="inbound")
    assert await values(maild.api, action="allow") == ["b.test", "a.test"]
    assert await values(maild.api, direction="inbound") == ["c.test"]
    assert await values(maild.api, inboxId=bot["id"]) == ["b.test"]
    assert await values(maild.api, action="allow", value="A.test") == ["a.test"]
    assert await values(maild.api, action="hold", value="a.test") == []
    assert await values(maild.api, inboxId="inb_unknown") == []


@pytest.mark.parametrize(
    ("params", "faults"),
    [
        ({"limit": "0"}, {"limit": "out_of_range"}),
        ({"action": "deny"}, {"action": "not_allowed"}),
        ({"value": "a@"}, {"value": "invalid_email"}),
        ({"cursor": "sup_01m7yg00000000000000000000"}, {"cursor": "invalid_cursor"}),
        ({"note": "x"}, {"note": "unknown_field"}),
    ],
)  # fmt: skip
async def test_the_lists_faults_are_named(maild: Running, params: dict[str, str], faults: Any) -> None:
    assert (await maild.api.get("/v1/rules", **params)).faults == faults


async def test_one_that_is_deleted_is_gone(maild: Running) -> None:
    row = (await add(maild.api, "x.org")).data
    answer = await maild.api.call("DELETE", f"/v1/rules/{row['id']}")
    assert (answer.status, answer.data) == (200, {"id": row["id"], "deleted": True})
    again = await maild.api.call("DELETE", f"/v1/rules/{row['id']}")
    assert (again.status, again.code) == (404, "rule_not_found")


async def test_an_organization_has_no_more_rules_than_we_can_ask(maild: Running) -> None:
    first = (await add(maild.api, "x0.test")).data
    maild.sql(
        """INSERT INTO rules SELECT 'rul_' || n, organization_id, NULL, direction, action, n || '.test', NULL, 1
           FROM rules, (WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ?) SELECT n FROM c)""",
        RULES_MAX - 1,
    )
    answer = await add(maild.api, "more.test")
    assert (answer.status, answer.code) == (402, "limit_reached")
    limits = {"resource": "rules", "limit": RULES_MAX, "used": RULES_MAX, "resetsAt": None}
    assert answer.error["details"] == limits
    assert (await add(maild.api, "x0.test")).data == first
    assert (await maild.api.call("DELETE", f"/v1/rules/{first['id']}")).status == 200
    assert (await add(maild.api, "more.test")).status == 201


async def test_other_organizations_are_not_touched(maild: Running, bot: dict[str, Any]) -> None:
    stranger = await maild.organization()
    mine = (await add(maild.api, "ada@x.org")).data
    assert await values(stranger.api) == []
    foreign = await stranger.api.call("DELETE", f"/v1/rules/{mine['id']}")
    absent = await stranger.api.call("DELETE", f"/v1/rules/{ABSENT}")
    assert (foreign.status, foreign.code, foreign.body) == (404, "rule_not_found", absent.body)
    assert await values(maild.api) == ["ada@x.org"]


async def test_bound_keys_and_test_keys_make_none(maild: Running, bot: dict[str, Any]) -> None:
    row = (await add(maild.api, "x.org")).data
    bound = await maild.key(inbox=bot)
    for method, path, body in (
        ("GET", "/v1/rules", None),
        ("POST", "/v1/rules", RULE),
        ("DELETE", f"/v1/rules/{row['id']}", None),
    ):
        answer = await bound.call(method, path, body)
        assert (answer.status, answer.code) == (403, "insufficient_scope"), path
        if method != "GET":
            answer = await maild.test_api.call(method, path, body)
            assert (answer.status, answer.code) == (403, "insufficient_scope"), path
            assert answer.error["details"]["requiredScope"] == "live"
    assert await values(maild.test_api) == ["x.org"]
