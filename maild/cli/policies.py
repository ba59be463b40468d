"""Policies and rules: what mail may do, who may be written to, who may write."""

import json
from pathlib import Path
from typing import Any, TextIO

import click

from maild.cli.common import (
    CommandGroup,
    config_option,
    fail,
    json_option,
    organization_option,
    run_command,
    say_rows,
    show,
)


@click.group(cls=CommandGroup)
def policy() -> None:
    """What the mail of an organization, or of an inbox, may and may not do."""


_inbox = click.option("--inbox", "inbox_id", help="Of this inbox, and not of the whole organization.")


@policy.command("show")
@organization_option
@_inbox
@config_option
def policy_show(organization_id: str, inbox_id: str | None, config: Path) -> None:
    """The own document, as JSON: what `set` takes."""
    shown = run_command(lambda store: store.policies.show(organization_id, inbox_id), config)
    click.echo(json.dumps(shown, indent=2))


@policy.command("set")
@organization_option
@_inbox
@click.argument("file", type=click.File("r", encoding="utf-8"))
@config_option
def policy_set(organization_id: str, inbox_id: str | None, file: TextIO, config: Path) -> None:
    """Replace the document by that of FILE ('-': standard input), which names the version that it replaces."""
    try:
        given = json.load(file)
    except (ValueError, RecursionError) as error:
        fail(f"FILE: no JSON: {error}")
    if not isinstance(given, dict):
        fail("FILE: expected an object, as `maild policy show` prints it")
    done = run_command(lambda store: store.policies.replace(organization_id, inbox_id, given), config)
    click.echo(json.dumps(done, indent=2))


@click.group(cls=CommandGroup)
def rules() -> None:
    """Who may be written to, and who may write."""


@rules.command("add")
@organization_option
@click.option("--direction", type=click.Choice(["inbound", "outbound"]), required=True)
@click.option("--action", type=click.Choice(["allow", "block", "hold"]), required=True)
@click.option("--inbox", "inbox_id", help="For this inbox alone.")
@click.option("--note", help="Why.")
@click.argument("value")
@config_option
@json_option
def rules_add(
    organization_id: str,
    direction: str,
    action: str,
    inbox_id: str | None,
    note: str | None,
    value: str,
    config: Path,
    as_json: bool,
) -> None:
    """Make a rule about VALUE: an address, a domain, or '*.' and a domain."""
    given = {"direction": direction, "action": action, "value": value, "inboxId": inbox_id, "note": note}
    show(run_command(lambda store: store.rules.add(organization_id, given), config), as_json)


@rules.command("list")
@organization_option
@config_option
@json_option
def rules_list(organization_id: str, config: Path, as_json: bool) -> None:
    """Every rule of an organization, newest first."""
    found: list[dict[str, Any]] = run_command(lambda store: store.rules.list(organization_id), config)
    if as_json:
        click.echo(json.dumps({"rules": found}))
        return
    say_rows(map(_rule_line, found), none="there is no rule")


def _rule_line(one: dict[str, Any]) -> str:
    of_inbox = f"  {one['inboxId']}" if one["inboxId"] else ""
    note = f"  {json.dumps(one['note'])}" if one["note"] else ""
    return f"{one['id']}  {one['direction']}  {one['action']}  {one['value']}{of_inbox}{note}"


@rules.command("remove")
@organization_option
@click.argument("rule_id")
@config_option
@json_option
def rules_remove(organization_id: str, rule_id: str, config: Path, as_json: bool) -> None:
    """Delete a rule; the next message meets it no more."""
    run_command(lambda store: store.rules.remove(organization_id, rule_id), config)
    show({"id": rule_id, "deleted": True}, as_json)
