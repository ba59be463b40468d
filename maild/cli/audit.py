"""The audit log: what stands in it, is it whole, and the key of a chain."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from maild.cli.common import (
    CommandGroup,
    config_option,
    fail,
    json_option,
    key_file_option,
    organization_option,
    run_command,
    say,
    show,
    show_list,
)


@click.group(cls=CommandGroup)
def audit() -> None:
    """The audit log."""


@audit.command("list")
@organization_option
@click.option("--actor", help="What this one did: key_…, mem_…, operator, system:…")
@click.option("--type", "types", multiple=True, help="Acts of this type; give it once for each.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@config_option
@json_option
def audit_list(
    organization_id: str, actor: str | None, types: tuple[str, ...], limit: int, config: Path, as_json: bool
) -> None:
    """Who did what in an organization, newest first."""
    from storage.audit.acts import Act

    unknown = sorted({*types} - {one.value for one in Act})
    if unknown:
        fail(*(f"--type: there is no {one}; there are {', '.join(sorted(Act))}" for one in unknown))
    rows: list[dict[str, Any]] = run_command(
        lambda store: store.audit.list(organization_id, limit=limit + 1, types=types, actor=actor), config
    )
    show_list(rows, limit, "rows", _act_line, none="no such act stands there", as_json=as_json)


def _act_line(one: dict[str, Any]) -> str:
    details = " ".join(f"{name}={json.dumps(value)}" for name, value in one["details"].items())
    return "  ".join(filter(None, (one["at"], one["actor"], one["type"], one["subject"], details)))


@audit.command("verify")
@click.option("--org", "organization_id", help="Of this organization alone.")
@click.option("--head", help="A hash that was noted elsewhere: 64 hexadecimal digits.")
@key_file_option
@config_option
@json_option
def audit_verify(
    organization_id: str | None, head: str | None, key_file: Path | None, config: Path, as_json: bool
) -> None:
    """Is the audit log as it was written? Exit code 1 when it is not, 2 when that could not be found out.

    That its newest rows were cut off shows only against a hash that was noted elsewhere (--head).
    """
    wanted = None if head is None else head.strip().lower()
    if wanted is not None and (len(wanted) != 64 or not set(wanted) <= set("0123456789abcdef")):
        fail("--head: 64 hexadecimal digits, as GET /v1/audit/head and the line audit_head show it")
    found: dict[str, Any] = run_command(
        lambda store: store.verify_audit(key_file, organization_id, wanted), config
    )
    _print_verdict(found, as_json)
    if not found["ok"]:
        sys.exit(1)


def _print_verdict(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found))
        return
    for one in found["organizations"]:
        is_whole = one["brokenSeq"] is None
        verdict = "whole" if is_whole else f"BROKEN at {one['brokenSeq']}: {one['fault']}"
        rows = f"rows {one['first']} to {one['last']}, head {one['head']}" if one["rows"] else "no rows"
        say(f"{one['organizationId']}: {verdict}; {rows}")
    if found["waiting"]:
        say(f"note: {found['waiting']} rows of commands wait for the daemon to seal them")
    if found["headFound"] is False:
        say("--head: BROKEN: no row has that hash; rows were cut off, or it is older than what is kept")


@audit.command("key")
@organization_option
@key_file_option
@config_option
@json_option
def audit_key(organization_id: str, key_file: Path | None, config: Path, as_json: bool) -> None:
    """Print the key of an organization's chain, for who checks an export. Who has it can forge rows of this chain."""
    show(run_command(lambda store: store.show_chain_key(key_file, organization_id), config), as_json)
