"""API keys: made, listed and revoked."""

import json
from pathlib import Path
from typing import Any

import click

from maild.cli.common import (
    CommandGroup,
    config_option,
    fail,
    json_option,
    organization_option,
    run_command,
    say,
    show,
    show_keys,
)


@click.group(cls=CommandGroup)
def keys() -> None:
    """API keys."""


@keys.command("create")
@organization_option
@click.option("--name", required=True, help="What the key is for.")
@click.option("--scope", "scopes", multiple=True, help="A scope; give it once for each. Default: all.")
@click.option("--inbox", "inbox_id", help="Bind the key to this inbox.")
@click.option("--test", "is_test", is_flag=True, help="A test key: its mail reaches nobody.")
@config_option
@json_option
def keys_create(
    organization_id: str,
    name: str,
    scopes: tuple[str, ...],
    inbox_id: str | None,
    is_test: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Make an API key. It is shown once."""
    from controlplane.contract.scopes import (
        BOUND_BY_NAME,
        GRANTABLE,
        MAIL_SCOPES,
        OPERATOR_SCOPES,
        SCOPES,
        mail_scopes_of,
    )

    unknown = [scope for scope in scopes if scope not in GRANTABLE | set(OPERATOR_SCOPES)]
    if unknown:
        known = ", ".join((*SCOPES, *OPERATOR_SCOPES))
        fail(*(f"--scope: there is no scope {scope}; there are {known}" for scope in unknown))
    if not 1 <= len(name) <= 64:
        fail("--name: 1 to 64 characters")
    if is_test and not set(scopes).isdisjoint(OPERATOR_SCOPES):
        fail(f"--scope: a test key can't hold {', '.join(OPERATOR_SCOPES)}")
    held: tuple[str, ...] = scopes or ("*",)
    if inbox_id is not None:
        held = mail_scopes_of(held)
        if not held:
            fail(f"--scope: a key bound to an inbox can hold only {', '.join(MAIL_SCOPES + BOUND_BY_NAME)}")
    mode = "test" if is_test else "live"
    answer = run_command(lambda store: store.keys.create(organization_id, name, held, inbox_id, mode), config)
    show_keys(answer, as_json)


@keys.command("list")
@organization_option
@config_option
@json_option
def keys_list(organization_id: str, config: Path, as_json: bool) -> None:
    """Every key of an organization by its first characters, newest first; the keys themselves nobody has."""
    found: list[dict[str, Any]] = run_command(lambda store: store.keys.list(organization_id), config)
    if as_json:
        click.echo(json.dumps({"keys": found}))
        return
    for one in found:
        state = one["mode"] if one["isActive"] else "revoked"
        use = f"used {one['lastUsedAt']}" if one["lastUsedAt"] else "never used"
        parts = (
            one["id"],
            f"{one['keyPrefix']}…",
            state,
            " ".join(one["scopes"]),
            one["inboxId"],
            use,
            one["name"],
        )
        say("  ".join(filter(None, parts)))


@keys.command("revoke")
@click.argument("key_id")
@click.option("--with-minted", is_flag=True, help="And the keys that were minted with it, and with those.")
@click.option("--with-mail", is_flag=True, help="And withdraw what they sent and is not delivered yet.")
@config_option
@json_option
def keys_revoke(key_id: str, with_minted: bool, with_mail: bool, config: Path, as_json: bool) -> None:
    """Make a key useless at once, also in a running daemon. What else it leaves is counted."""
    from controlplane.access.authentication import PREFIX

    if key_id.startswith(PREFIX):
        fail("KEY_ID: this is a key, not its id: 'maild keys list --org ID' tells it by the first characters")
    answer: dict[str, Any] = run_command(
        lambda store: store.keys.revoke(key_id, with_minted=with_minted, with_mail=with_mail), config
    )
    show(answer, as_json)
    for left, what in (
        (answer["minted"]["active"], "keys minted with it that live on (--with-minted ends them)"),
        (answer["messages"]["waiting"], "messages it sent that are still to go (--with-mail withdraws them)"),
    ):
        if left:
            say(f"{what}: {left}", err=True)
