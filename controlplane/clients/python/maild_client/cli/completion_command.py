"""`maildc completion`: what a shell reads to complete the command."""

import click
from click.shell_completion import get_completion_class

from maild_client.cli.common import COMPLETE, MaildcCommand

SHELLS = ("bash", "zsh")


@click.command("completion", cls=MaildcCommand, short_help="Print what a shell completes by")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what bash or zsh reads to complete this command.

    bash: maildc completion bash > ~/.local/share/bash-completion/completions/maildc
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(context.find_root().command, {}, "maildc", COMPLETE).source())
