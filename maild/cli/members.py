"""The people of an organization, and their way into the console."""

import json
from pathlib import Path
from typing import Any

import click

from maild.cli.common import (
    CommandGroup,
    config_option,
    json_option,
    organization_option,
    run_command,
    say,
    say_rows,
    show,
)


@click.group(cls=CommandGroup)
def member() -> None:
    """The people of an organization, who may sign in to the console."""


@member.command("add")
@organization_option
@click.option("--email", required=True, help="The member's address; a link can be mailed there.")
@click.option(
    "--role",
    type=click.Choice(["owner", "admin", "member"]),
    required=True,
    help="Owners and admins act, members read.",
)
@click.option("--name", help="How the console calls the member.")
@config_option
@json_option
def member_add(
    organization_id: str, email: str, role: str, name: str | None, config: Path, as_json: bool
) -> None:
    """Make a member, or give one another role or name."""
    show(run_command(lambda store: store.members.add(organization_id, email, role, name), config), as_json)


@member.command("list")
@organization_option
@config_option
@json_option
def member_list(organization_id: str, config: Path, as_json: bool) -> None:
    """Every member of an organization, in the order in which they joined."""
    found: list[dict[str, Any]] = run_command(lambda store: store.members.list(organization_id), config)
    if as_json:
        click.echo(json.dumps({"members": found}))
        return
    lines = (f"{one['id']}  {one['role']}  {one['email']}  {one['name'] or ''}".rstrip() for one in found)
    say_rows(lines, none="there is no member; `maild member add` makes one")


@member.command("remove")
@organization_option
@click.argument("who")
@config_option
@json_option
def member_remove(organization_id: str, who: str, config: Path, as_json: bool) -> None:
    """Delete the member WHO, an address or an id, and sign it out everywhere."""
    show(run_command(lambda store: store.members.remove(organization_id, who), config), as_json)


@click.group(cls=CommandGroup)
def console() -> None:
    """The pages for people, at /console."""


@console.command("link")
@organization_option
@click.option("--member", "who", required=True, help="An address or an id.")
@config_option
@json_option
def console_link(organization_id: str, who: str, config: Path, as_json: bool) -> None:
    """Print a link that signs a member in: once, and within fifteen minutes."""
    made = run_command(lambda store: store.members.link(organization_id, who), config)
    if as_json:
        show(made, as_json)
        return
    click.echo(made["link"])
    say(f"signs {made['member']} in once, until {made['expiresAt']}", err=True)
