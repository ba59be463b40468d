"""What all commands share: the options that each takes, and how it ends."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from maild_client.cli import exits, showing
from maild_client.cli.exits import CommandEnded
from maild_client.credentials import ClientCredentials, CredentialsError, find


@dataclass
class CommandRun:
    """What a run of the command was told, whatever it does."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    wants_json: bool = False
    url: str | None = None
    key_file: Path | None = None

    @property
    def shows_json(self) -> bool:
        """Does stdout take JSON: a program reads it, or somebody asked for it?"""
        return self.wants_json or not sys.stdout.isatty()

    def credentials(self) -> ClientCredentials:
        """What to call with which key; CommandEnded."""
        try:
            return find(self.environ, self.url, self.key_file)
        except CredentialsError as error:
            code = ("no_key", exits.KEY) if error.is_key else ("usage", exits.USAGE)
            raise CommandEnded(code[1], code[0], str(error)) from None

    def show(self, answer: Any, columns: Sequence[str] = ()) -> None:
        """An answer on stdout."""
        showing.out(answer, as_json=self.shows_json, columns=columns)


def run_of(context: click.Context) -> CommandRun:
    """That of the run."""
    return context.find_root().ensure_object(CommandRun)


def _noted(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def note(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:
            setattr(run_of(context), name, value)

    return note


def common_options(*, has_url: bool = False) -> list[click.Parameter]:
    """Those that stand before a command as well as behind it. `has_url`: it has an option `--url` of its own."""
    servers = ["--server"] if has_url else ["--server", "--url"]
    return [
        click.Option(
            ["--json", "wants_json"], is_flag=True, expose_value=False, callback=_noted("wants_json"),
            help="Answers and errors as JSON; answers are anyway where stdout is no terminal.",
        ),
        click.Option(
            [*servers, "server"], expose_value=False, callback=_noted("url"), metavar="URL",
            help="The server's address, instead of MAILD_URL.",
        ),
        click.Option(
            ["--key-file"], expose_value=False, callback=_noted("key_file"),
            type=click.Path(path_type=Path), metavar="FILE",
            help="A file (mode 0600) that holds the key, instead of MAILD_API_KEY.",
        ),
    ]  # fmt: skip


class MaildcCommand(click.Command):
    """A command with the options that all have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        own = options.get("params") or []
        options["params"] = [*own, *common_options(has_url=any("--url" in one.opts for one in own))]
        super().__init__(*args, **options)


def run(group: click.Group, arguments: Sequence[str] | None = None) -> int:  # noqa: PLR0911 - a table of ends
    """The exit code of a run; errors are on stderr by then."""
    session = CommandRun()
    try:
        done = group.main(args=arguments, prog_name="maildc", standalone_mode=False, obj=session)
        return done if isinstance(done, int) else exits.DONE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return exits.USAGE
    except click.UsageError as error:
        hint = "" if error.ctx is None else f"\nTry '{error.ctx.command_path} --help'."
        return _failed(session, CommandEnded(exits.USAGE, "usage", error.format_message() + hint), arguments)
    except click.ClickException as error:
        return _failed(session, CommandEnded(exits.USAGE, "usage", error.format_message()), arguments)
    except CommandEnded as ended:
        return _failed(session, ended, arguments)
    except (click.Abort, KeyboardInterrupt):
        return exits.INTERRUPTED
    except BrokenPipeError:  # who reads has enough: `maildc … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.DONE


def _failed(session: CommandRun, ended: CommandEnded, arguments: Sequence[str] | None) -> int:
    # What a faulty line of arguments asked for may not have been read yet.
    if session.wants_json or "--json" in (sys.argv[1:] if arguments is None else arguments):
        click.echo(json.dumps({"error": ended.error}), err=True)
    else:
        click.echo(showing.error_text(ended.error), err=True)
    return ended.exit_code
