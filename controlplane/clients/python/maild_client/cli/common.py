"""What all commands share: the options that each takes, and how it ends."""

import difflib
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import click
from click.shell_completion import shell_complete

from maild_client.cli import exits, showing
from maild_client.cli.exits import CommandEnded
from maild_client.credentials import ClientCredentials, CredentialsError, find

COMPLETE = "_MAILDC_COMPLETE"  # asks for completions, as click has it
ALIKE = 0.7  # of a word that is misspelled, rather than another


@dataclass
class CommandRun:
    """What a run of the command was told, whatever it does."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    wants_json: bool = False
    url: str | None = None
    key_file: Path | None = None
    idempotency_key: str | None = None  # of what was asked last

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

    def show_line(self, answer: Any, text: str) -> None:
        """One of many answers on stdout, at once: JSON on a line, or a text for a person."""
        click.echo(showing.as_ascii(answer) if self.shows_json else text)
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """How far it is, for a person who waits: on stderr, on a terminal alone."""
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{showing.safe(text)}", err=True, nl=False)

    def noted(self) -> None:
        """Take the note away."""
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", err=True, nl=False)


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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            options = [one.opts[0] for one in self.get_params(ctx) if isinstance(one, click.Option)]
            raise click.UsageError(f"{error.message} {_meant(error.option_name, options)}", ctx) from None


class GuidingGroup(click.Group):
    """A group that says which command may be meant by one that is not there, or else which there are."""

    def nouns_of(self, verb: str) -> list[str]:
        """The groups below this one that have such a command."""
        return []

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            nouns = self.nouns_of(args[0])
            behind = f"It stands behind what it is of: {', '.join(nouns)}."
            told = behind if nouns else _meant(args[0], self.list_commands(ctx))
            raise click.UsageError(f"No such command {args[0]!r}. {told}", ctx)
        return super().resolve_command(ctx, args)


def _meant(name: str, names: Sequence[str]) -> str:
    bare = {one.lstrip("-"): one for one in names}  # dashes make all options alike
    if close := difflib.get_close_matches(name.lstrip("-"), bare, 1, ALIKE):
        return f"Did you mean {bare[close[0]]!r}?"
    return f"There are: {', '.join(names)}."


def run(group: click.Group, arguments: Sequence[str] | None = None) -> int:
    """The exit code of a run; errors are on stderr by then."""
    instruction = os.environ.get(COMPLETE)
    if instruction:
        return shell_complete(group, {}, "maildc", COMPLETE, instruction)
    _take_streams()
    told = sys.argv[1:] if arguments is None else [*arguments]
    run = CommandRun()
    try:
        return _run(group, told, run)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return exits.USAGE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = "" if context is None else f"\nTry '{context.command_path} --help'."
        return _failed(run, CommandEnded(exits.USAGE, "usage", error.format_message() + hint), told)
    except CommandEnded as ended:
        return _failed(run, ended, told)


def _take_streams() -> None:
    """Have a stdout that writes all of an answer in any locale, or raises, and a stdin that can be read."""
    if sys.stdin is None:  # closed by who started us: it holds nothing
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as we live
    if sys.stdout is None:  # closed by who started us: nobody listens
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as we live
    elif isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        # PYTHONUNBUFFERED: what a full disk takes of a long answer would pass for all of it.
        sys.stdout = open(sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _run(group: click.Group, arguments: list[str], run: CommandRun) -> int:
    try:
        # Not `main` of click, which has ends of its own for what is interrupted or not read to its end.
        with group.make_context("maildc", arguments, obj=run) as context:
            done = group.invoke(context)
        sys.stdout.flush()
        return done if isinstance(done, int) else exits.DONE
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        return exits.INTERRUPTED
    except OSError as error:
        _give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):  # who reads has enough: `maildc … | head`
            return exits.DONE
        message = exits.unsure(f"stdout can't be written: {error.strerror}.", run.idempotency_key)
        raise CommandEnded(exits.SERVER, "not_written", message) from None


def _failed(run: CommandRun, ended: CommandEnded, arguments: Sequence[str]) -> int:
    # What a faulty line of arguments asked for may not have been read yet.
    as_json = run.wants_json or "--json" in arguments
    text = json.dumps({"error": ended.error}) if as_json else showing.error_text(ended.error)
    try:
        click.echo(text, err=True)
    except OSError:  # the exit code tells
        _give_up(sys.stderr)
    return ended.exit_code


def _give_up(stream: TextIO) -> None:
    """Write there no more: the interpreter's end would fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
