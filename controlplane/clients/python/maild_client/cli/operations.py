"""The commands that are made of rows: `maildc messages send --to …`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maild_client.cli import given
from maild_client.cli.columns import COLUMNS
from maild_client.cli.common import CommandRun, GuidingGroup, MaildcCommand, run_of
from maild_client.cli.rows import OperationRow, Taken, rows
from maild_client.cli.showing import event_line

if TYPE_CHECKING:
    from maild_client.cli.calling import Caller

NOTED_EVERY = 100
HELP_OF_BODIES = "Texts may be @FILE, or '-' for stdin; what begins with @ is written @@."


class Resource(GuidingGroup):
    """A noun, whose commands are made when they are asked for."""

    def __init__(self, name: str) -> None:
        self._rows = {row.verb.replace("_", "-"): row for row in rows() if row.resource == name}
        super().__init__(
            name.replace("_", "-"),
            help=f"What there is to do with {name}.",
            short_help=", ".join(self._rows),
            no_args_is_help=True,
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self._rows.get(cmd_name)
        return None if row is None else OperationCommand(row)


def resources() -> list[str]:
    """The nouns, in the order of the rows."""
    return list(dict.fromkeys(row.resource for row in rows()))


class OperationCommand(MaildcCommand):
    """The command of a row."""

    def __init__(self, row: OperationRow) -> None:
        self.row = row
        takes_text = any(one.place == "body" for one in row.takes)
        notes = [
            row.summary + ".",
            *([f"Scope: {', '.join(row.scopes)}."] if row.scopes else []),
            *([HELP_OF_BODIES] if takes_text else []),
        ]
        super().__init__(
            row.verb.replace("_", "-"),
            params=list(_params(row)),
            help="\n\n".join(notes),
            short_help=row.summary,
            callback=self._run,
        )

    def _run(self, **options: Any) -> None:
        from maild_client.cli.calling import Caller  # noqa: PLC0415 - --help calls nothing

        context = click.get_current_context()
        run = run_of(context)
        parts = given.parts(self.row, options)
        if self._destroys(parts) and not options.get("yes"):
            confirm(f"{self.row.summary}: {next(iter(parts['path'].values()), 'all of it')}?")
        with Caller(run) as caller:
            show(run, self.row, caller, parts, is_all=bool(options.get("fetch_all")), out=options.get("out"))

    def _destroys(self, parts: dict[str, dict[str, Any]]) -> bool:
        only_if = self.row.destroys_if
        return self.row.destroys and (only_if is None or bool(parts["body"].get(only_if)))


def confirm(question: str) -> None:
    """Ask on the terminal; without one the answer must have been given already. UsageError, Abort."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("This can't be undone: say --yes.")
    click.confirm(question, abort=True, err=True)


def show(
    run: CommandRun,
    row: OperationRow,
    caller: "Caller",
    parts: dict[str, dict[str, Any]],
    *,
    is_all: bool = False,
    out: str | None = None,
) -> None:
    """Call the operation, and put its answer on stdout, or its bytes into the file `out`."""
    kind = row.answer["kind"]
    if kind == "bytes":
        _put(caller.octets(row, parts), out)
    elif kind == "stream":
        for event in caller.events(row, parts):
            run.show_line(event, event_line(event))
    elif is_all and row.pages:
        run.show(_collected(run, caller.items(row, parts)), COLUMNS.get(row.id, ()))
    else:
        run.show(caller.json(row, parts), COLUMNS.get(row.id, ()) if kind == "list" else ())


def _collected(run: CommandRun, items: Iterator[Any]) -> list[Any]:
    found: list[Any] = []
    try:
        for item in items:
            found.append(item)
            if len(found) % NOTED_EVERY == 0:
                run.note(f"{len(found)} so far")
    finally:
        run.noted()
    return found


def _put(octets: bytes, out: str | None) -> None:
    if out is not None and out != "-":
        try:
            _keep(octets, Path(out))
        except OSError as error:
            raise click.UsageError(f"--out: {out} can't be written: {error.strerror}.") from None
        return
    if sys.stdout.isatty() and out is None:
        raise click.UsageError(
            "Bytes of strangers are not put on a terminal: say --out FILE, or pass them on."
        )
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()


def _keep(octets: bytes, path: Path) -> None:
    """As a new file: whole, or not at all."""
    with path.open("xb") as file:  # what is there is not overwritten
        try:
            file.write(octets)
            file.flush()
        except OSError:
            path.unlink()
            raise


# Options -----------------------------------------------------------------------------------------


def _params(row: OperationRow) -> Iterator[click.Parameter]:
    for taken in row.takes:
        if taken.place == "path":
            yield click.Argument([taken.option], metavar=taken.option.upper())
        else:
            yield _option(taken)
    if any(one.place == "body" for one in row.takes):
        yield click.Option(["--body"], metavar="JSON", help="The whole body; options go before its members.")
    if row.taken("attachments") is not None:
        yield click.Option(
            ["--attach"], metavar="FILE", multiple=True, help="A file to attach, once for each."
        )
    if row.pages:
        yield click.Option(["--all", "fetch_all"], is_flag=True, help="All pages.")
    if row.destroys:
        yield click.Option(["--yes"], is_flag=True, help="Don't ask.")
    if row.answer["kind"] == "bytes":
        yield click.Option(["--out"], metavar="FILE", help="Where the bytes go; stdout without it.")


def _option(taken: Taken) -> click.Option:
    told = taken.help
    if taken.is_required:
        told = f"{told}; required" if told else "Required"
    told = f"{told[:1].upper()}{told[1:]}" + ("" if not told or told.endswith(".") else ".")
    if taken.kind == "boolean":
        flag = f"{taken.flag}/--no-{taken.flag[2:]}"
        return click.Option([flag, taken.option], default=None, help=told)
    if taken.kind in ("strings", "map"):
        metavar = "KEY=VALUE" if taken.kind == "map" else None
        return click.Option(
            [taken.flag, taken.option], multiple=True, type=_type(taken), metavar=metavar, help=told
        )
    metavar = "JSON" if taken.kind == "json" else None
    return click.Option([taken.flag, taken.option], type=_type(taken), metavar=metavar, help=told)


def _type(taken: Taken) -> "click.ParamType[Any]":  # no generic in older ones
    if taken.choices and all(isinstance(one, str) for one in taken.choices):
        return click.Choice(taken.choices)
    return click.INT if taken.kind == "integer" else click.STRING
