"""`login` and `mcp`: what makes a machine ready."""

import getpass
import sys
from typing import Any

import click
import httpx2

from maild_client._sync.client import http_client_for
from maild_client.cli import exits
from maild_client.cli.calling import told
from maild_client.cli.common import MaildcCommand, run_of
from maild_client.cli.exits import CommandEnded
from maild_client.credentials import (
    URL_VARIABLE,
    ClientCredentials,
    CredentialsError,
    checked_key,
    checked_url,
    keep,
)

KEY_CHARS_MAX = 1024
CHECK_S = 15


@click.command("login", cls=MaildcCommand, short_help="Keep a key for the commands that follow")
@click.option("--no-check", is_flag=True, help="Keep the key without asking the server about it.")
@click.pass_context
def login(context: click.Context, no_check: bool) -> None:
    """Keep a key for the commands that follow.

    The key is read from stdin, never from an argument, and kept for this server in a file that you alone can read:

        maildc login --url https://mail.example.org < key.txt
    """
    session = run_of(context)
    try:
        url = checked_url(session.url or session.environ.get(URL_VARIABLE) or "")
        credentials = ClientCredentials(url, checked_key(_given_key(), "stdin"))
    except CredentialsError as error:
        raise CommandEnded(exits.KEY if error.is_key else exits.USAGE, "usage", str(error)) from None
    if not no_check:
        _check(credentials)
    try:
        file = keep(session.environ, credentials)
    except OSError as error:
        raise CommandEnded(exits.REFUSED, "not_kept", f"The key can't be kept: {error}.") from None
    click.echo(f"Kept for {url} in {file}", err=True)


@click.command("mcp", cls=MaildcCommand, short_help="Bridge a host that speaks MCP over stdio")
@click.pass_context
def mcp(context: click.Context) -> int:
    """Bridge a host that speaks MCP over stdio to the server.

    A host starts it as a program and gives it the key in MAILD_API_KEY or a file; nobody types here.
    """
    from maild_client import stdio  # noqa: PLC0415 - it is no other command's

    with told():
        return stdio.main(run_of(context).credentials())


def _given_key() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("API key (not shown): ")
    return sys.stdin.readline(KEY_CHARS_MAX)


def _check(credentials: ClientCredentials) -> None:
    """The server knows the key; CommandEnded. A key that may not ask this is a key all the same."""
    headers = {"Authorization": f"Bearer {credentials.api_key}"}
    try:
        with told(), http_client_for(credentials.url, timeout=CHECK_S) as client:
            answer: Any = client.get(f"{credentials.url}/v1/organization", headers=headers)
    except httpx2.HTTPError as error:
        why = f"{credentials.url} can't be reached ({type(error).__name__}): nothing was kept."
        raise CommandEnded(exits.SERVER, "unreachable", why) from None
    if answer.status_code == 401:
        raise CommandEnded(
            exits.KEY, "invalid_api_key", f"{credentials.url} does not know this key: nothing was kept."
        )
    if answer.status_code not in (200, 403):
        why = f"{credentials.url} answered {answer.status_code}: is it a maild server? Nothing was kept."
        raise CommandEnded(exits.SERVER, "not_understood", why)
