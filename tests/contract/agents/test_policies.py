"""The policies of an organization and of its inboxes: documents with versions, and the stricter of both."""

import json
import re
from typing import Any

import pytest

from tests.support.daemon import ROOT
from tests.support.running import Answer, Api, Running

DEFAULT: dict[str, Any] = {
    "outbound": {
        "recipients": "any", "review": "off", "holdOn": [], "firstTimeDaily": None, "replyTo": "honor",
    },
    "inbound": {"hold": [], "unlisted": "accept"},
    "work": {"enabled": False, "maxAttempts": 5, "requireClaim": False},
    "review": {"expiresAfterSeconds": 172_800, "notify": []},
}  # fmt: skip
ORGANIZATION = "/v1/organization/policy"


async def put(api: Api, path: str, version: int = 0, **members: Any) -> Answer:
    return await api.call("PUT", path, {"version": version, **members})


def own(inbox: dict[str, Any]) -> str:
    return f"/v1/inboxes/{inbox['id']}/policy"


async def effective(maild: Running, inbox: dict[str, Any]) -> dict[str, Any]:
    policy: dict[str, Any] = (await maild.api.get(f"/v1/inboxes/{inbox['id']}")).data["policy"]
    return policy


async def test_a_policy_is_replaced_as_a_whole_by_who_has_read_it(
    maild: Running, bot: dict[str, Any]
) -> None:
    path = own(bot)
    assert (await maild.api.get(path)).data == {"version": 0, **DEFAULT}
    work = {"enabled": True, "maxAttempts": 3}
    first = (await put(maild.api, path, work=work)).data
    assert first == {"version": 1, **DEFAULT, "work": {**DEFAULT["work"], **work}}
    assert (await maild.api.get(path)).data == first
    assert {"version": 1, **await effective(maild, bot)} == first
    late = await put(maild.api, path, work=work)
    assert (late.status, late.code, late.error["details"]) == (409, "version_conflict", {"version": 1})
    assert (await put(maild.api, path, 1)).data == {"version": 2, **DEFAULT}
    assert (await put(maild.api, path, 7)).error["details"] == {"version": 2}


async def test_an_organizations_policy_has_versions_of_its_own_and_says_nothing_of_work(
    maild: Running, bot: dict[str, Any]
) -> None:
    without = {name: member for name, member in DEFAULT.items() if name != "work"}
    assert (await maild.api.get(ORGANIZATION)).data == {"version": 0, **without}
    first = (await put(maild.api, ORGANIZATION, inbound={"unlisted": "hold"})).data
    assert first == {"version": 1, **without, "inbound": {"hold": [], "unlisted": "hold"}}
    assert (await maild.api.get(ORGANIZATION)).data == first
    assert (await maild.api.get(own(bot))).data == {"version": 0, **DEFAULT}
    assert (await effective(maild, bot))["inbound"] == {"hold": [], "unlisted": "hold"}
    assert (await put(maild.api, ORGANIZATION, 1, work={"enabled": True})).faults == {"work": "unknown_field"}
    assert (await put(maild.api, ORGANIZATION)).error["details"] == {"version": 1}


RECIPIENTS = ("any", "allowlist", "participants")
REVIEW = ("off", "first_time", "external", "all")
UNLISTED = ("accept", "hold", "refuse")
# member, the organization's, the inbox's, what holds
STRICTER = [
    *[("outbound.recipients", one, other, max(one, other, key=RECIPIENTS.index))
      for one in RECIPIENTS for other in RECIPIENTS],
    *[("outbound.review", one, other, max(one, other, key=REVIEW.index)) for one in REVIEW for other in REVIEW],
    *[("inbound.unlisted", one, other, max(one, other, key=UNLISTED.index))
      for one in UNLISTED for other in UNLISTED],
    ("outbound.replyTo", "verified", "honor", "verified"),
    ("outbound.replyTo", "honor", "verified", "verified"),
    ("outbound.replyTo", "honor", "honor", "honor"),
    ("outbound.holdOn", ["secret"], ["duplicate", "secret"], ["duplicate", "secret"]),
    ("outbound.holdOn", [], ["secret"], ["secret"]),
    ("outbound.firstTimeDaily", None, None, None),
    ("outbound.firstTimeDaily", None, 0, 0),
    ("outbound.firstTimeDaily", 3, None, 3),
    ("outbound.firstTimeDaily", 3, 20, 3),
    ("inbound.hold", ["unverified"], ["high_risk"], ["high_risk", "unverified"]),
    ("review.expiresAfterSeconds", 60, 2_592_000, 60),
    ("review.expiresAfterSeconds", 2_592_000, 300, 300),
    ("review.notify", ["ada@example.org"], ["bob@example.org", "ada@example.org"],
     ["ada@example.org", "bob@example.org"]),
]  # fmt: skip


async def test_of_two_policies_the_stricter_holds_member_by_member(
    maild: Running, bot: dict[str, Any]
) -> None:
    for version, (member, of_organization, of_inbox, holds) in enumerate(STRICTER):
        part, name = member.split(".")
        for path, value in ((ORGANIZATION, of_organization), (own(bot), of_inbox)):
            assert (await put(maild.api, path, version, **{part: {name: value}})).status == 200
        assert (await effective(maild, bot))[part][name] == holds, (member, of_organization, of_inbox)


async def test_a_level_without_a_document_says_nothing(maild: Running, bot: dict[str, Any]) -> None:
    await put(maild.api, ORGANIZATION, review={"expiresAfterSeconds": 600_000})
    assert (await effective(maild, bot))["review"]["expiresAfterSeconds"] == 600_000
    await put(maild.api, own(bot), work={"enabled": True})  # whose other members are their defaults
    found = await effective(maild, bot)
    assert (found["review"]["expiresAfterSeconds"], found["work"]["enabled"]) == (172_800, True)


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"version": "required"}),
        ({"version": -1}, {"version": "out_of_range"}),
        ({"version": 2**63}, {"version": "out_of_range"}),
        ({"version": 0, "outgoing": {}}, {"outgoing": "unknown_field"}),
        ({"version": 0, "outbound": {"recipient": "any"}}, {"outbound.recipient": "unknown_field"}),
        ({"version": 0, "outbound": {"recipients": "none"}}, {"outbound.recipients": "not_allowed"}),
        ({"version": 0, "outbound": {"review": None}}, {"outbound.review": "not_allowed"}),
        ({"version": 0, "outbound": {"holdOn": ["secrets"]}}, {"outbound.holdOn[0]": "not_allowed"}),
        ({"version": 0, "outbound": {"firstTimeDaily": -1}}, {"outbound.firstTimeDaily": "out_of_range"}),
        ({"version": 0, "inbound": {"hold": "unverified"}}, {"inbound.hold": "wrong_type"}),
        ({"version": 0, "work": {"maxAttempts": 0}}, {"work.maxAttempts": "out_of_range"}),
        ({"version": 0, "review": {"notify": ["ada"]}}, {"review.notify[0]": "invalid_email"}),
        (
            {"version": 0, "review": {"expiresAfterSeconds": 59}},
            {"review.expiresAfterSeconds": "out_of_range"},
        ),
    ],
)
async def test_what_a_policy_does_not_know_is_refused(
    maild: Running, bot: dict[str, Any], body: Any, faults: dict[str, str]
) -> None:
    assert (await maild.api.call("PUT", own(bot), body)).faults == faults
    assert (await effective(maild, bot)) == DEFAULT


async def test_a_bound_key_sees_what_holds_for_it_and_changes_nothing(
    maild: Running, bot: dict[str, Any]
) -> None:
    await put(maild.api, ORGANIZATION, outbound={"firstTimeDaily": 5})
    bound = await maild.key(inbox=bot)
    shown = (await bound.get(f"/v1/inboxes/{bot['id']}")).data["policy"]
    assert shown["outbound"]["firstTimeDaily"] == 5
    for path in (own(bot), ORGANIZATION):
        assert (await bound.get(path)).code == "insufficient_scope"
        assert (await put(bound, path, 1)).code == "insufficient_scope"


async def test_a_test_key_reads_policies_and_loosens_none(maild: Running, bot: dict[str, Any]) -> None:
    tester = maild.test_api
    for path in (own(bot), ORGANIZATION):
        assert (await tester.get(path)).data["version"] == 0
        assert (await put(tester, path)).code == "insufficient_scope"


async def test_policies_of_another_organization_are_not_there(maild: Running, bot: dict[str, Any]) -> None:
    await put(maild.api, ORGANIZATION, inbound={"unlisted": "refuse"})
    other = (await maild.organization()).api
    assert (await other.get(own(bot))).code == "inbox_not_found"
    assert (await put(other, own(bot))).code == "inbox_not_found"
    assert (await other.get(ORGANIZATION)).data["inbound"]["unlisted"] == "accept"


def test_the_contract_shows_the_default() -> None:
    text = (ROOT / "docs/contract.md").read_text()
    shown = re.search(r"### Policy\n.*?```json\n(.*?)```", text, re.DOTALL)
    assert shown is not None and json.loads(shown[1]) == {"version": 0, **DEFAULT}
