"""The operator reads and replaces policies, beside a running daemon, which heeds them at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.hands import REFUSED, Hands, document
from tests.support.running import Running

ORGANIZATION = "/v1/organization/policy"


class PolicyHands(Hands):
    async def show(self, *arguments: str) -> dict[str, Any]:
        return document(await self.run("show", *arguments))

    async def set(self, policy: Any, *arguments: str) -> dict[str, Any]:
        return document(await self.run("set", *arguments, "-", said=json.dumps(policy)))


@pytest.fixture
def hand(maild: Running, tmp_path: Path) -> PolicyHands:
    return PolicyHands(maild, tmp_path, "policy", of_own=True)


async def test_what_the_operator_sets_holds_at_once(
    maild: Running, bot: dict[str, Any], hand: PolicyHands
) -> None:
    policy = await hand.show()
    assert policy == (await maild.api.get(ORGANIZATION)).data
    policy["outbound"]["review"] = "all"
    done = await hand.set(policy)
    assert done == (await maild.api.get(ORGANIZATION)).data and done["version"] == 1
    assert (await maild.api.send(bot)).data["status"] == "held"
    acts = (await maild.api.get("/v1/audit", types="policy.replaced")).data
    assert [(one["actor"], one["subject"]) for one in acts] == [("operator", maild.organization_id)]


async def test_an_inbox_has_one_of_its_own(maild: Running, bot: dict[str, Any], hand: PolicyHands) -> None:
    of_inbox = ("--inbox", bot["id"])
    await hand.set({"version": 0, "work": {"enabled": True}}, *of_inbox)
    assert (await hand.show(*of_inbox))["work"]["enabled"]
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}/policy")).data == await hand.show(*of_inbox)
    assert (await hand.show())["version"] == 0


async def test_people_change_policies_where_keys_may_not(maild: Running, hand: PolicyHands) -> None:
    maild.sql("UPDATE organizations SET reviewers = 'members'")
    assert (await maild.api.call("PUT", ORGANIZATION, {"version": 0})).code == "member_required"
    assert (await hand.set({"version": 0}))["version"] == 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "expected an object"),
        ("{}", "version"),
        ('{"version": 7}', "version"),
        ('{"version": 0, "outbound": {"review": "some"}}', "outbound.review"),
        ('{"version": 0, "work": {}}', "work"),
    ],
)
async def test_what_is_no_policy_is_told_and_changes_nothing(
    maild: Running, hand: PolicyHands, said: str, told: str
) -> None:
    ended = await hand.run("set", "-", said=said)
    assert ended.code == REFUSED and told in ended.error and "Traceback" not in ended.error
    assert (await hand.show())["version"] == 0


async def test_whose_policy_is_not_there_is_told(
    maild: Running, bot: dict[str, Any], hand: PolicyHands
) -> None:
    stranger = await maild.organization()
    for told in (
        await hand.refused("show", "--org", "org_nobody"),
        await hand.refused("show", "--inbox", bot["id"], "--org", stranger.id),
    ):
        assert "there is no" in told
