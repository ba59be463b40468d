"""`maild`: the operator's commands. Faults are one line each on stderr and exit code 2."""

import os

import click

from maild import __version__
from maild.cli.audit import audit
from maild.cli.daemon import check_config, serve
from maild.cli.keys import keys
from maild.cli.members import console, member
from maild.cli.organizations import org
from maild.cli.outbound_queue import queue
from maild.cli.policies import policy, rules
from maild.cli.reviews import reviews
from maild.cli.store import backup, check, init, rotate_master_key


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="maild")
def main() -> None:
    """Email for AI agents on one VM."""
    os.umask(0o077)  # whatever we write is our user's alone


for _one in (serve, check_config, init, check, backup, rotate_master_key):
    main.add_command(_one)
for _group in (audit, org, queue, reviews, keys, policy, rules, member, console):
    main.add_command(_group)
