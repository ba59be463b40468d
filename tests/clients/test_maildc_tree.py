"""What `maildc` tells of itself: `--schema` beside click's own tree, and what a shell completes."""

import json
import re
import shlex
from typing import Any

import click
import pytest

from maild_client.cli.program import program
from maild_client.cli.rows import rows
from tests.support.clients import maildc
from tests.support.laws.words import ROOT
from tests.support.running import Running


def tree(group: click.Group) -> dict[str, click.Command]:
    """By what is typed, as click's own --help finds them."""
    found: dict[str, click.Command] = {}
    waiting: list[tuple[click.Context, click.Group]] = [(click.Context(group, info_name="maildc"), group)]
    while waiting:
        context, here = waiting.pop()
        for name in here.list_commands(context):
            inner = here.get_command(context, name)
            assert inner is not None
            below = click.Context(inner, parent=context, info_name=name)
            if isinstance(inner, click.Group):
                waiting.append((below, inner))
            else:
                found[below.command_path] = inner
    return found


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    done = maildc._within(("--schema",), b"")
    assert done.code == 0 and done.said == ""
    read: dict[str, Any] = json.loads(done.out)
    return read


def test_the_schema_tells_each_command_as_click_has_it(told: dict[str, Any]) -> None:
    commands = {one["command"]: one for one in told["commands"]}
    found = tree(program())
    assert commands.keys() == found.keys() and len(commands) == len(told["commands"])
    common = {flag for one in told["commonOptions"] for flag in one["flags"]}
    for path, command in found.items():
        info = click.Context(command, info_name=path).to_info_dict()["command"]
        params = [one for one in info["params"] if one["name"] != "help"]
        arguments = [one["name"] for one in params if one["param_type_name"] == "argument"]
        assert [one["name"] for one in commands[path]["arguments"]] == arguments
        options = [one for one in params if one["param_type_name"] == "option"]
        flags = {flag for one in options for flag in (*one["opts"], *one["secondary_opts"])}
        mine = {flag for one in commands[path]["options"] for flag in one["flags"]}
        assert flags - mine <= common | {"--help"} and mine <= flags, path
        assert commands[path]["summary"]


def test_every_operation_is_told_with_its_answer(told: dict[str, Any]) -> None:
    by_operation = {one["operation"]: one for one in told["commands"] if "operation" in one}
    assert by_operation.keys() == {row.id for row in rows()}
    names = set(told["components"]["schemas"])
    referred = {part.split('"')[0] for part in json.dumps(told).split('"#/components/schemas/')[1:]}
    assert referred == names, "each schema is told, and none for nothing"
    send = by_operation["sendMessage"]
    required = {one["field"] for one in send["options"] if one["isRequired"]}
    assert required == {"inboxId", "to"} and send["scopes"] == ["messages:send"]


def test_what_is_common_does_not_hide_what_is_a_commands_own() -> None:
    """`--url` is a webhook's address; elsewhere it is the server's, as `--server` is everywhere."""
    for path, command in tree(program()).items():
        own = [flag for one in command.params if one.expose_value for flag in one.opts]
        common = [flag for one in command.params if not one.expose_value for flag in one.opts]
        assert len({*own, *common}) == len(own) + len(common), path
        assert "--server" in common


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_a_shell_completes_nouns_verbs_and_values(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = await maildc.within("completion", shell)
    assert script.code == 0 and "_MAILDC_COMPLETE" in script.out
    for line, wanted in (
        ("maildc mess", "messages"),
        ("maildc messages se", "send"),
        ("maildc messages list --stat", "--status"),
        ("maildc messages list --status hel", "held"),
    ):
        monkeypatch.setenv("_MAILDC_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
        done = await maildc.within()
        assert done.code == 0 and wanted in done.out.replace("\n", ",").split(","), (line, done.out)


async def test_all_pages_of_a_list_are_fetched(maild: Running) -> None:
    for number in range(3):
        await maild.inbox(f"box{number}")
    access: dict[str, Any] = {"url": maild.api.url, "key": maild.api.key}
    one = await maildc.run("inboxes", "list", "--limit", "2", **access)
    whole = await maildc.run("inboxes", "list", "--limit", "2", "--all", **access)
    assert len(one.json) == 2 and len({each["id"] for each in whole.json}) == 4


def test_commands_that_the_documents_show_are_commands() -> None:
    found = tree(program())
    lines = [
        line.strip()
        for name in ("maildc.md", "quickstart-mcp.md")
        for block in re.findall(
            r"```sh\n(.*?)```", (ROOT / "docs" / "agents" / name).read_text("utf-8"), re.DOTALL
        )
        for line in block.splitlines()
        if line.startswith("maildc ")
    ]
    assert len(lines) > 8
    for line in lines:
        words = shlex.split(re.split(" [<|>] ", line)[0])
        depth = next(depth for depth in (3, 2) if " ".join(words[:depth]) in found)
        path = " ".join(words[:depth])
        found[path].make_context(path, words[depth:], parent=click.Context(program(), info_name="maildc"))
