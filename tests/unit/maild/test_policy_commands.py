"""The operator reads and replaces policies, beside a running daemon, which heeds them at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from maild.cli import main
from tests.support.running import Running

ORGANIZATION = "/v1/organization/policy"


class PolicyHand:
    """The commands of policies, for the store of the daemon."""

    def __init__(self, maild: Running, folder: Path) -> None:
        self._maild = maild
        self._config = folder / "maild.toml"
        self._config.write_text(f'data_dir = "{maild.settings.data_dir}"\n')

    async def run(self, verb: str, *arguments: str, org: str = "", said: str = "") -> Result:
        named = ["--org", org or self._maild.organization_id, "--config", str(self._config)]
        command = ["policy", verb, *named, *arguments]
        return await self._maild.operate(lambda: CliRunner().invoke(main, command, input=said))

    async def show(self, *arguments: str) -> dict[str, Any]:
        return shown(await self.run("show", *arguments))

    async def set(self, document: Any, *arguments: str) -> dict[str, Any]:
        return shown(await self.run("set", *arguments, "-", said=json.dumps(document)))


def shown(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout[result.stdout.index("{\n") :])
    return document


@pytest.fixture
def hand(maild: Running, tmp_path: Path) -> PolicyHand:
    return PolicyHand(maild, tmp_path)


async def test_what_the_operator_sets_holds_at_once(
    maild: Running, bot: dict[str, Any], hand: PolicyHand
) -> None:
    document = await hand.show()
    assert document == (await maild.api.get(ORGANIZATION)).data
    document["outbound"]["review"] = "all"
    done = await hand.set(document)
    assert done == (await maild.api.get(ORGANIZATION)).data and done["version"] == 1
    assert (await maild.api.send(bot)).data["status"] == "held"
    acts = (await maild.api.get("/v1/audit", types="policy.replaced")).data
    assert [(one["actor"], one["subject"]) for one in acts] == [("operator", maild.organization_id)]


async def test_an_inbox_has_one_of_its_own(maild: Running, bot: dict[str, Any], hand: PolicyHand) -> None:
    of_inbox = ("--inbox", bot["id"])
    await hand.set({"version": 0, "work": {"enabled": True}}, *of_inbox)
    assert (await hand.show(*of_inbox))["work"]["enabled"]
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}/policy")).data == await hand.show(*of_inbox)
    assert (await hand.show())["version"] == 0


async def test_people_change_policies_where_keys_may_not(maild: Running, hand: PolicyHand) -> None:
    maild.sql("UPDATE organizations SET reviewers = 'members'")
    assert (await maild.api.call("PUT", ORGANIZATION, {"version": 0})).code == "member_required"
    assert (await hand.set({"version": 0}))["version"] == 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{", "no JSON"),
        ("[]", "expected an object"),
        ("{}", "version"),
        ('{"version": 7}', "version"),
        ('{"version": 0, "outbound": {"review": "some"}}', "outbound.review"),
        ('{"version": 0, "work": {}}', "work"),
    ],
)
async def test_what_is_no_policy_is_told_and_changes_nothing(
    maild: Running, hand: PolicyHand, said: str, told: str
) -> None:
    result = await hand.run("set", "-", said=said)
    assert result.exit_code == 2 and told in result.stderr and "Traceback" not in result.output
    assert (await hand.show())["version"] == 0


async def test_whose_policy_is_not_there_is_told(
    maild: Running, bot: dict[str, Any], hand: PolicyHand
) -> None:
    stranger = await maild.organization()
    for result in (
        await hand.run("show", org="org_nobody"),
        await hand.run("show", "--inbox", bot["id"], org=stranger.id),
    ):
        assert result.exit_code == 2 and "there is no" in result.stderr
