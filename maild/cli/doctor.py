"""What this host lacks to be a mail host."""

import json
import sys
from pathlib import Path

import click

from maild.cli.common import config_option, json_option, key_file_option, run_command, say


@click.command()
@config_option
@click.option(
    "--reach", multiple=True, metavar="DOMAIN", help="Try to connect to the mail hosts of this domain, too."
)
@key_file_option
@json_option
def doctor(config: Path, reach: tuple[str, ...], key_file: Path | None, as_json: bool) -> None:
    """Look at what a mail host needs: DNS, PTR, certificate, ports, room. Exit code 1 when something is at fault."""
    found = run_command(lambda store: store.examine(reach, key_file), config)
    if as_json:
        click.echo(json.dumps(found))
    else:
        for one in found["diagnoses"]:
            say(f"{one['status']:8}{one['check']} {one['subject']}: {one['found']}")
            if one["advice"]:
                say(f"{'':8}{one['advice']}")
        faults = sum(one["status"] == "fault" for one in found["diagnoses"])
        say(f"{len(found['diagnoses'])} looked at, {faults} at fault")
    if not found["ok"]:
        sys.exit(1)
