"""The operator makes and deletes rules, beside a running daemon, which heeds them at once."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.hands import Hands
from tests.support.running import Running

RULE = ("--direction", "outbound", "--action", "block")


@pytest.fixture
def hand(maild: Running, tmp_path: Path) -> Hands:
    return Hands(maild, tmp_path, "rules", of_own=True)


async def test_what_the_operator_says_holds_at_once(maild: Running, bot: dict[str, Any], hand: Hands) -> None:
    made = await hand("add", *RULE, "--note", "asked us to stop", "ADA+x@Elsewhere.test")
    assert made.pop("changed") is True
    assert (await maild.api.get("/v1/rules")).data == [made]
    assert (made["value"], made["note"]) == ("ada@elsewhere.test", "asked us to stop")
    assert (await maild.api.send(bot, to=["ada@elsewhere.test"])).code == "recipient_not_allowed"
    assert (await hand("list"))["rules"] == [made]
    assert (await hand("remove", made["id"])) == {"id": made["id"], "deleted": True}
    assert (await maild.api.send(bot, to=["ada@elsewhere.test"])).status == 201


async def test_one_that_says_the_same_is_there_already(maild: Running, hand: Hands) -> None:
    first = (
        await maild.api.post("/v1/rules", {"direction": "outbound", "action": "block", "value": "x.test"})
    ).data
    assert await hand("add", *RULE, "X.test") == {**first, "changed": False}


async def test_a_list_for_people(maild: Running, bot: dict[str, Any], hand: Hands) -> None:
    made = await hand("add", *RULE, "--inbox", bot["id"], "--note", "a\N{SNOWMAN}", "*.x.test")
    lines = (await hand.text("list")).splitlines()
    assert f'{made["id"]}  outbound  block  *.x.test  {bot["id"]}  "a\\u2603"' in lines


async def test_what_is_wrong_is_one_line(maild: Running, hand: Hands) -> None:
    stranger = await maild.organization()
    theirs = (
        await stranger.api.post("/v1/rules", {"direction": "inbound", "action": "hold", "value": "y.test"})
    ).data
    for words, told in (
        ("validation_failed", await hand.refused("add", *RULE, "nobody@")),
        ("control_character", await hand.refused("add", *RULE, "--note", "a\nb", "x.test")),
        ("inbox_not_found", await hand.refused("add", *RULE, "--inbox", "inb_none", "x.test")),
        ("there is no rule rul_none", await hand.refused("remove", "rul_none")),
        ("there is no rule", await hand.refused("remove", theirs["id"])),
        ("there is no organization org_none", await hand.refused("list", "--org", "org_none")),
    ):
        assert words in told and len(told.splitlines()) == 1
    assert (await stranger.api.get("/v1/rules")).data == [theirs]
