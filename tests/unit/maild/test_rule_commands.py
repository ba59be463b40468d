"""The operator makes and deletes rules, beside a running daemon, which heeds them at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from maild.cli import main
from tests.support.running import Running

RULE = ("--direction", "outbound", "--action", "block")


class RulesHand:
    """The commands of rules, for the store of the daemon."""

    def __init__(self, maild: Running, folder: Path) -> None:
        self._maild = maild
        self._config = folder / "maild.toml"
        self._config.write_text(f'data_dir = "{maild.settings.data_dir}"\n')

    async def run(self, verb: str, *arguments: str, org: str = "") -> Any:
        organization_id = org or self._maild.organization_id
        command = ["rules", verb, "--org", organization_id, *arguments, "--config", str(self._config)]
        return await self._maild.operate(lambda: CliRunner().invoke(main, command))

    async def done(self, verb: str, *arguments: str) -> dict[str, Any]:
        result = await self.run(verb, *arguments, "--json")
        assert result.exit_code == 0, result.output
        (line,) = [line for line in result.stdout.splitlines() if line.startswith("{")]
        answer: dict[str, Any] = json.loads(line)
        return answer


@pytest.fixture
def hand(maild: Running, tmp_path: Path) -> RulesHand:
    return RulesHand(maild, tmp_path)


async def test_what_the_operator_says_holds_at_once(
    maild: Running, bot: dict[str, Any], hand: RulesHand
) -> None:
    made = await hand.done("add", *RULE, "--note", "asked us to stop", "ADA+x@Elsewhere.test")
    assert (await maild.api.get("/v1/rules")).data == [made]
    assert (made["value"], made["note"]) == ("ada@elsewhere.test", "asked us to stop")
    assert (await maild.api.send(bot, to=["ada@elsewhere.test"])).code == "recipient_not_allowed"
    assert (await hand.done("list"))["rules"] == [made]
    assert (await hand.done("remove", made["id"])) == {"id": made["id"], "deleted": True}
    assert (await maild.api.send(bot, to=["ada@elsewhere.test"])).status == 201


async def test_one_that_says_the_same_is_there_already(maild: Running, hand: RulesHand) -> None:
    first = (
        await maild.api.post("/v1/rules", {"direction": "outbound", "action": "block", "value": "x.test"})
    ).data
    assert await hand.done("add", *RULE, "X.test") == first


async def test_a_list_for_people(maild: Running, bot: dict[str, Any], hand: RulesHand) -> None:
    made = await hand.done("add", *RULE, "--inbox", bot["id"], "--note", "a\N{SNOWMAN}", "*.x.test")
    lines = (await hand.run("list")).stdout.splitlines()
    assert f'{made["id"]}  outbound  block  *.x.test  {bot["id"]}  "a\\u2603"' in lines


async def test_what_is_wrong_is_one_line(maild: Running, hand: RulesHand) -> None:
    stranger = await maild.organization()
    theirs = (
        await stranger.api.post("/v1/rules", {"direction": "inbound", "action": "hold", "value": "y.test"})
    ).data
    for words, result in (
        ("validation_failed", await hand.run("add", *RULE, "nobody@")),
        ("control_character", await hand.run("add", *RULE, "--note", "a\nb", "x.test")),
        ("inbox_not_found", await hand.run("add", *RULE, "--inbox", "inb_none", "x.test")),
        ("there is no rule rul_none", await hand.run("remove", "rul_none")),
        ("there is no rule", await hand.run("remove", theirs["id"])),
        ("there is no organization org_none", await hand.run("list", org="org_none")),
    ):
        assert result.exit_code == 2 and words in result.stderr, result.output
        assert len(result.stderr.splitlines()) == 1
    assert (await stranger.api.get("/v1/rules")).data == [theirs]
