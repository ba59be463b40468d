"""The tree of commands."""

import sys

import click

from maild_client.cli import common, setup_commands


def program() -> click.Group:
    """`maildc` with all its commands."""
    group = click.Group(
        "maildc", help="Email for agents: the API of a maild server.", params=common.common_options()
    )
    group.add_command(setup_commands.login)
    group.add_command(setup_commands.mcp)
    return group


def main() -> None:
    """The command's entry point."""
    sys.exit(common.run(program()))
