"""The tree of commands."""

import os
import signal
import sys
from collections.abc import Mapping
from importlib import import_module

import click

from maild_client.cli import common, exits, schema
from maild_client.cli.operations import Resource, resources
from maild_client.cli.rows import rows
from maild_client.version import __version__

# Made by hand, each in its module, which is read when it is asked for.
_BY_HAND: Mapping[str, str] = {
    "read": "mail_commands",
    "reply": "mail_commands",
    "wait": "mail_commands",
    "listen": "mail_commands",
    "work": "work_command",
    "mcp": "setup_commands",
    "login": "setup_commands",
    "completion": "completion_command",
}


class Program(common.GuidingGroup):
    """`maildc`: what is made by hand, and a noun for each resource."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_BY_HAND, *(name.replace("_", "-") for name in resources())]

    def nouns_of(self, verb: str) -> list[str]:
        of = dict.fromkeys(row.resource for row in rows() if row.verb.replace("_", "-") == verb)
        return [noun.replace("_", "-") for noun in of]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _BY_HAND:
            found: click.Command = getattr(import_module(f"maild_client.cli.{_BY_HAND[cmd_name]}"), cmd_name)
            return found
        name = cmd_name.replace("-", "_")
        return Resource(name) if name in resources() else None


def program() -> click.Group:
    """`maildc` with all its commands."""
    params = [
        *common.common_options(),
        click.Option(
            ["--schema"], is_flag=True, is_eager=True, expose_value=False, callback=_show_schema,
            help="All commands with their options and answers, as JSON.",
        ),
    ]  # fmt: skip
    group = Program("maildc", help="Email for agents: the API of a maild server.", params=params)
    return click.version_option(__version__, prog_name="maildc")(group)


def _show_schema(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        click.echo(schema.told(context))
        context.exit(exits.DONE)


def main() -> None:
    """The command's entry point."""
    if os.name == "posix":
        # Where whoever started us ignores the ends of his children, the system keeps no exit codes, and Python says 0.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.exit(common.run(program()))
