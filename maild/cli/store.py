"""The store: made, looked at, and under another key."""

import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import click

from conf.loading import SettingsError, parse
from maild.cli.common import (
    NamedPath,
    config_option,
    fail,
    json_option,
    key_file_option,
    run_command,
    say,
    settings_of,
    show,
    show_keys,
)
from storage.durable_files import is_there

RECOMMENDATION = (
    "Recommended for programs that write mail: what looks like a secret, and mail to addresses that are known from\n"
    "received mail alone, waits until somebody approves it (`maild reviews list`). docs/agents/safety.md says more."
)


@click.command()
@config_option
@click.option("--domain", help="Write a configuration for this domain where there is none.")
@click.option(
    "--recommended-policy/--no-policy",
    "is_recommended",
    default=None,
    help="Hold what looks like a secret, and mail to addresses known from received mail alone, until somebody approves "
    "it. Without either, a terminal is asked.",
)
@key_file_option
@json_option
def init(
    config: Path, domain: str | None, is_recommended: bool | None, key_file: Path | None, as_json: bool
) -> None:
    """Make the store, the master key, the DKIM keys and the first organization."""
    from maild.commands.operator_commands import write_configuration

    if not is_there(config):
        if domain is None:
            fail(f"{config} does not exist; name your mail domain with --domain to have it written")
        try:
            parse({"server": {"shared_domains": [domain]}})
        except SettingsError:
            fail(f"--domain: {domain} is no domain name such as agents.example.org (IDN in its xn-- form)")
        template = (resources.files("conf") / "maild.toml").read_text("utf-8")
        try:
            write_configuration(config, domain.lower().rstrip("."), template)
        except OSError as error:
            fail(f"{config}: {error.strerror}")
    settings = settings_of(config)
    if domain is not None and domain.lower().rstrip(".") not in settings.server.shared_domains:
        fail(f"--domain: {domain} is not one of server.shared_domains in {config}")
    made = run_command(
        lambda store: store.init(key_file=key_file, is_recommended=bool(is_recommended)), config
    )
    is_new = "apiKey" in made
    (show_keys if is_new else show)(made, as_json)  # first of all: its keys are shown once
    if not is_new and not as_json:
        own = made["organizationId"]
        say(
            f"Its keys were shown the first time; another: maild keys create --org {own} --name NAME",
            err=True,
        )
    is_asked = is_recommended is None and is_new and not as_json and sys.stdin.isatty()
    if is_asked and click.confirm(f"\n{RECOMMENDATION}\nSet it?"):
        show(run_command(lambda store: store.recommend_policy(made["organizationId"]), config), as_json)


@click.command()
@config_option
@json_option
def check(config: Path, as_json: bool) -> None:
    """Look for damage: pages, references, counters, stored messages. Exit code 1 when there is some."""
    from maild.commands.checking import check as look

    found: dict[str, Any] = run_command(lambda store: store.look_at(look), config)
    if as_json:
        click.echo(json.dumps(found))
    else:
        for one in found["damage"]:
            say(" ".join(filter(None, [f"{one['kind']}:", one["id"], one["fault"]])))
        for path in found["strayFiles"]:
            say(f"note: {path} belongs to no message; the next start removes it")
        verdict = (
            "OK" if found["ok"] else f"{len(found['damage'])} faults; restore what is named from a backup"
        )
        say(f"{found['blobs']} stored messages: {verdict}")
    if not found["ok"]:
        sys.exit(1)


@click.command()
@click.argument("target", type=NamedPath(path_type=Path))
@config_option
@json_option
def backup(target: Path, config: Path, as_json: bool) -> None:
    """Copy the store as it is now to the folder TARGET, also beside a running daemon; the next time what is new.

    The master key is not copied. Exit code 1 when the store has lost a message.
    """
    from maild.commands.backup import back_up

    found: dict[str, Any] = run_command(
        lambda store: store.look_at(lambda folder, _: back_up(folder, target)), config
    )
    if as_json:
        click.echo(json.dumps(found))
    else:
        for one in found["faults"]:
            say(f"not in the backup: {one['id']} {one['fault']}")
        new = f"{found['copied']} copied ({found['copiedBytes']} bytes), {found['removed']} removed"
        say(f"{found['folder']}: the store, and {found['files']} large messages in files: {new}")
        say("The master key is not in it: keep it elsewhere.", err=True)
        if found["ok"] and not found["noted"]:
            say(
                "The data folder takes no note of it: metrics and doctor don't know of this backup.", err=True
            )
    if not found["ok"]:
        sys.exit(1)


@click.command()
@config_option
@json_option
def compact(config: Path, as_json: bool) -> None:
    """Write the database anew without what is free in it. Stop the daemon first."""
    show(run_command(lambda store: store.compact(), config), as_json)


@click.command("rotate-master-key")
@config_option
@key_file_option
@json_option
def rotate_master_key(config: Path, key_file: Path | None, as_json: bool) -> None:
    """Seal all secrets under a new master key. Stop the daemon first."""
    show(run_command(lambda store: store.rotate_master_key(key_file), config), as_json)


@click.command("replace-lost-master-key")
@config_option
@key_file_option
@json_option
def replace_lost_master_key(config: Path, key_file: Path | None, as_json: bool) -> None:
    """Make another master key where the store's own is lost for good, and new secrets in place of what it sealed.

    Mail stays as it is. Lost are DKIM keys (new records of DNS are to be published), secrets of webhooks (whoever
    checks signatures needs the new ones), links to unsubscribe and reports about mail that was sent before. Stop the
    daemon first.
    """
    show(run_command(lambda store: store.replace_lost_master_key(key_file), config), as_json)
