"""Rules and policies in a person's hands: what a form says is what the API has, and nobody writes over another."""

import html
import re
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, PageAnswer, Visitor
from tests.support.running import Running


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


def form_of(page: PageAnswer, action: str) -> dict[str, str | list[str]]:
    """What a browser sends when somebody presses the button of that form and touches nothing."""
    (body,) = re.findall(rf'<form[^>]*action="{re.escape(action)}"[^>]*>(.*?)</form>', page.text, re.DOTALL)
    given: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", body):
        said = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        value = html.unescape(said.get("value", ""))
        if said.get("type") != "checkbox":
            given[said["name"]] = value
        elif " checked" in tag:
            given.setdefault(said["name"], []).append(value)
    for name, options in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', body, re.DOTALL):
        (given[name],) = re.findall(r'<option value="(\w+)" selected>', options)
    return given


EVERYTHING: dict[str, Any] = {
    "outbound": {
        "recipients": "allowlist",
        "review": "external",
        "holdOn": ["duplicate", "secret"],
        "firstTimeDaily": 7,
        "replyTo": "verified",
    },
    "inbound": {"hold": ["high_risk", "unverified"], "unlisted": "hold"},
    "review": {"expiresAfterSeconds": 5400, "notify": ["eve@people.test", "joe@people.test"]},
}
WORK = {"enabled": True, "maxAttempts": 9, "requireClaim": True}


async def test_a_rule_is_added_listed_and_deleted(local: Running) -> None:
    inbox = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    for given in (
        {
            "direction": "outbound",
            "action": "block",
            "value": " *.Elsewhere.test ",
            "note": "asked us to stop",
        },
        {"direction": "inbound", "action": "hold", "value": "a@b.test", "inbox": inbox["id"]},
    ):
        done = await member.post("/console/rules", **given)
        assert done.location == "/console/rules?done=rule_made"
    page = await member.follow(done)
    assert "*.elsewhere.test Block to them all asked us to stop" in page.said.replace("block", "Block")
    assert f"from them {inbox['address']}" in page.said
    assert "a@b.test" not in (await member.get("/console/rules?direction=outbound")).said
    rules = (await local.api.get("/v1/rules")).data
    assert [(one["action"], one["value"], one["inboxId"]) for one in rules] == [
        ("hold", "a@b.test", inbox["id"]),
        ("block", "*.elsewhere.test", None),
    ]
    (act, _) = (await local.api.get("/v1/audit", types="rule.created")).data
    assert act["actor"].startswith("mem_")
    done = await member.post(f"/console/rules/{rules[0]['id']}/delete")
    assert done.location == "/console/rules?done=rule_deleted"
    assert [one["id"] for one in (await local.api.get("/v1/rules")).data] == [rules[1]["id"]]
    assert (await member.post(f"/console/rules/{rules[0]['id']}/delete")).status == 404


async def test_what_is_wrong_with_a_rule_is_told(local: Running) -> None:
    member = await Visitor.sign_in(local)
    done = await member.post("/console/rules", direction="outbound", action="burn", value="no domain!")
    assert done.status == 400 and "action:" in done.said and "who:" in done.said
    assert (await local.api.get("/v1/rules")).data == []


async def test_all_rules_are_walked_through(local: Running) -> None:
    for number in range(55):
        rule = {"direction": "outbound", "action": "block", "value": f"d{number}.test", "note": "&" * 150}
        assert (await local.api.post("/v1/rules", rule)).status == 201
    member, seen, path = await Visitor.sign_in(local), set(), "/console/rules"
    while path:
        page = await member.get(path)
        assert len(page.body) <= 60_000
        seen |= set(re.findall(r"<code>(d\d+\.test)</code>", page.text))
        older = re.findall(r'href="([^"]*\?[^"]*cursor=[^"]+)"', page.text)
        path = html.unescape(older[0]) if older else ""
    assert len(seen) == 55


async def test_the_recommended_policy_takes_one_yes_and_keeps_what_was_said(local: Running) -> None:
    written = {"version": 0, "outbound": {"review": "first_time", "holdOn": ["duplicate"]}}
    assert (await local.api.call("PUT", "/v1/organization/policy", written)).status == 200
    member = await Visitor.sign_in(local)
    page = await member.get("/console/rules")
    assert "Recommended" in page.said
    done = await member.post("/console/rules/recommended", **form_of(page, "/console/rules/recommended"))
    assert done.location == "/console/rules?done=policy_saved"
    assert "Recommended" not in (await member.follow(done)).said
    policy = (await local.api.get("/v1/organization/policy")).data
    assert sorted(policy["outbound"]["holdOn"]) == ["duplicate", "recipient_from_content", "secret"]
    assert policy["outbound"]["review"] == "first_time" and policy["version"] == 2
    again = await member.post("/console/rules/recommended", version="1")
    assert again.location.endswith("done=policy_conflict")


async def test_a_form_that_nobody_touched_says_what_the_policy_said(local: Running) -> None:
    """Also of members that the API gets one day: a form without them would set them back."""
    inbox = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    for api, page, action, document in (
        ("/v1/organization/policy", "/console/rules", "/console/rules/policy", EVERYTHING),
        (
            f"/v1/inboxes/{inbox['id']}/policy",
            f"/console/inboxes/{inbox['id']}/policy",
            f"/console/inboxes/{inbox['id']}/policy",
            {**EVERYTHING, "work": WORK},
        ),
    ):
        before = (await local.api.call("PUT", api, {"version": 0, **document})).data
        done = await member.post(action, **form_of(await member.get(page), action))
        assert done.location == f"{page}?done=policy_saved"
        assert (await local.api.get(api)).data == {**before, "version": 2}
        assert set(before) == {"version", *document}, "else the table above tests less than there is"
        for name, part in document.items():
            assert set(before[name]) == set(part)


async def test_what_a_form_changes_is_changed(local: Running) -> None:
    inbox = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    path = f"/console/inboxes/{inbox['id']}/policy"
    form = form_of(await member.get(path), path)
    form |= {"recipients": "participants", "holdOn": ["secret"], "workEnabled": "1", "firstTimeDaily": "3"}
    await member.post(path, **form)
    policy = (await local.api.get(f"/v1/inboxes/{inbox['id']}/policy")).data
    assert policy["outbound"]["recipients"] == "participants" and policy["outbound"]["holdOn"] == ["secret"]
    assert policy["outbound"]["firstTimeDaily"] == 3 and policy["work"]["enabled"] is True
    said = (await member.get(path)).said
    assert "who is in the conversation already; and" not in said
    assert "Agents write to who is in the conversation already" in said and "yes, claimed up to 5" in said


async def test_nobody_writes_over_what_somebody_else_wrote(local: Running) -> None:
    inbox = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    for api, page, action in (
        ("/v1/organization/policy", "/console/rules", "/console/rules/policy"),
        (f"/v1/inboxes/{inbox['id']}/policy", *[f"/console/inboxes/{inbox['id']}/policy"] * 2),
    ):
        form = form_of(await member.get(page), action)
        await local.api.call("PUT", api, {"version": 0, "outbound": {"review": "all"}})
        done = await member.post(action, **{**form, "review": "off"})
        assert done.location == f"{page}?done=policy_conflict"
        page_after = await member.follow(done)
        assert "Nothing was saved" in page_after.said and "Held before it goes all mail" in page_after.said
        assert (await local.api.get(api)).data["version"] == 1


@pytest.mark.parametrize("between", [",", " ", ";", "; ", " , "])
async def test_addresses_stand_as_people_write_them(local: Running, between: str) -> None:
    member = await Visitor.sign_in(local)
    form = form_of(await member.get("/console/rules"), "/console/rules/policy")
    done = await member.post("/console/rules/policy", **{**form, "notify": f"a@b.test{between}c@d.test"})
    assert done.location == "/console/rules?done=policy_saved"
    policy = (await local.api.get("/v1/organization/policy")).data
    assert policy["review"]["notify"] == ["a@b.test", "c@d.test"]


async def test_what_is_no_number_is_told_by_its_field(local: Running) -> None:
    member = await Visitor.sign_in(local)
    form = form_of(await member.get("/console/rules"), "/console/rules/policy")
    for name, typed, called in (
        ("firstTimeDaily", "many", "first contacts a day: "),
        ("firstTimeDaily", "9" * 5000, "first contacts a day: "),
        ("firstTimeDaily", "-1", "first contacts a day: "),
        ("expiresAfterSeconds", "59", "seconds that held mail waits: "),
        ("expiresAfterSeconds", "", "seconds that held mail waits: "),
        ("expiresAfterSeconds", "²", "seconds that held mail waits: "),
        ("version", "one", "version: "),
        ("notify", "nobody", "who hears of held mail, no. 1: "),
        ("holdOn", "everything", "holdOn"),
    ):
        done = await member.post("/console/rules/policy", **{**form, name: typed})
        assert done.status == 400 and called in done.said, (name, typed, done.said)
    assert (await local.api.get("/v1/organization/policy")).data["version"] == 0
