"""Organizations: made, shown, approved, paused, put on another plan, deleted."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from conf.settings import DEFAULT_PLAN
from maild.cli.common import (
    CommandGroup,
    config_option,
    fail,
    json_option,
    run_command,
    say,
    say_progress,
    settings_of,
    show,
    show_keys,
)


@click.group(cls=CommandGroup)
def org() -> None:
    """Organizations."""


@org.command("create")
@click.argument("name")
@click.option("--plan", default=DEFAULT_PLAN, show_default=True)
@config_option
@json_option
def org_create(name: str, plan: str, config: Path, as_json: bool) -> None:
    """Make an organization with a live and a test key."""
    _check_plan(config, "--plan", plan)
    if not 1 <= len(name) <= 100:
        fail("NAME: 1 to 100 characters")
    show_keys(run_command(lambda store: store.organizations.create(name, plan), config), as_json)


@org.command("list")
@config_option
@json_option
def org_list(config: Path, as_json: bool) -> None:
    """Every organization: may it send, and how much did it."""
    found: list[dict[str, Any]] = run_command(lambda store: store.organizations.list(), config)
    if as_json:
        click.echo(json.dumps({"organizations": found}))
        return
    for one in found:
        used, tripped = one["usage"], " tripwire" if one["tripwire"]["trippedAt"] else ""
        status = "being deleted" if one["deletedAt"] else f"{one['sendingApproval']['status']}{tripped}"
        sent = f"{used['messagesDaily']} today, {used['messagesMonthly']} this month"
        say(f"{one['id']}  {status}  {one['plan']}  {sent}  {one['name']}")


@org.command("show")
@click.argument("organization_id")
@config_option
@json_option
def org_show(organization_id: str, config: Path, as_json: bool) -> None:
    """One organization: usage, limits, approval, reputation, tripwire."""
    show(run_command(lambda store: store.organizations.show(organization_id), config), as_json)


@org.command("plan")
@click.argument("organization_id")
@click.argument("plan")
@config_option
@json_option
def org_plan(organization_id: str, plan: str, config: Path, as_json: bool) -> None:
    """Put an organization on another plan of the configuration."""
    _check_plan(config, "PLAN", plan)
    _change(organization_id, lambda every: every.set_plan(organization_id, plan), config, as_json, plan=plan)


@org.command("reset-tripwire")
@click.argument("organization_id")
@config_option
@json_option
def org_reset_tripwire(organization_id: str, config: Path, as_json: bool) -> None:
    """Let an organization send again that wrote to too many at once."""
    _change(
        organization_id,
        lambda every: every.reset_tripwire(organization_id),
        config,
        as_json,
        tripwire="reset",
    )


@org.command("reviewers")
@click.argument("organization_id")
@click.argument("who", type=click.Choice(["keys", "members"]))
@config_option
@json_option
def org_reviewers(organization_id: str, who: str, config: Path, as_json: bool) -> None:
    """Say who decides what is held, and changes policies and rules: keys too, or members (and you) alone."""
    _change(
        organization_id,
        lambda every: every.set_reviewers(organization_id, who),
        config,
        as_json,
        reviewers=who,
    )


@org.command("approve")
@click.argument("organization_id")
@config_option
@json_option
def org_approve(organization_id: str, config: Path, as_json: bool) -> None:
    """Let an organization send; the circuit breaker counts anew from now."""
    _change(organization_id, lambda every: every.approve(organization_id), config, as_json, status="approved")


@org.command("pause")
@click.argument("organization_id")
@click.option("--reason", default="manual_review", show_default=True)
@config_option
@json_option
def org_pause(organization_id: str, reason: str, config: Path, as_json: bool) -> None:
    """Keep an organization from sending; it goes on receiving."""
    _change(
        organization_id, lambda every: every.pause(organization_id, reason), config, as_json, status="paused"
    )


@org.command("delete")
@click.argument("organization_id")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@config_option
@json_option
def org_delete(organization_id: str, dry_run: bool, yes: bool, config: Path, as_json: bool) -> None:
    """Delete an organization with everything of it, for good; its audit log stays for its time."""
    found = run_command(lambda store: store.deletion.look(organization_id), config)
    if dry_run:
        _show_found(found, as_json)
        return
    if not yes:
        _confirm(found, as_json)
    answer = run_command(lambda store: store.deletion.delete(organization_id, _progress), config)
    say_progress()
    show(answer, as_json)


def _confirm(found: dict[str, Any], as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        fail("nobody can be asked here: --yes deletes it, --dry-run says what would go")
    _show_found(found, as_json=False)
    asked = "All of this goes for good. To delete it, type the organization's name"
    if click.prompt(asked, default="", show_default=False) != found["name"]:
        fail("that is not its name; nothing was deleted")


def _show_found(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found))
        return
    show({**found, "content": {kind: count for kind, count in found["content"].items() if count}}, as_json)


def _progress(erased: dict[str, int]) -> None:
    say_progress(f"{erased.get('messages', 0)} messages have gone")


def _check_plan(config: Path, argument: str, plan: str) -> None:
    plans = settings_of(config).plans
    if plan not in plans:
        fail(f"{argument}: there is no plan {plan}; the configuration has {', '.join(sorted(plans))}")


def _change(
    organization_id: str, change: Callable[[Any], bool], config: Path, as_json: bool, **shown: str
) -> None:
    changed = run_command(lambda store: change(store.organizations), config)
    show({"organizationId": organization_id, **shown, "changed": changed}, as_json)
