"""What the commands share: options, how they answer, and what a fault looks like."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from conf.loading import SettingsError, load
from conf.settings import Settings
from maild.descriptors import STDERR, give_up
from maild.systemd import PRIORITIES, is_journal

EXIT_DIED = 1  # of the daemon: systemd starts it again, as it does not after a fault
EXIT_FAULT = 2
DEFAULT_CONFIG = "/etc/maild/maild.toml"


class NamedPath(click.Path):
    """A path that says something: in a script, the value of a variable that is not set means no folder at all."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """As click does."""
        if not os.fspath(value):
            self.fail("it is empty; name a path ('.' is the current folder)", param, ctx)
        return super().convert(value, param, ctx)


class CommandGroup(click.Group):
    """Commands that belong together; who mistakes one is told which there are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, which has options of commands here for misspelled."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(
                f"{error.message} What a command takes stands behind the command.", ctx
            ) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, which takes words for others that look like them."""
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            names = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"No such command {args[0]!r}; there are: {names}", ctx)
        return super().resolve_command(ctx, args)


config_option = click.option(
    "--config",
    type=NamedPath(path_type=Path, dir_okay=False, readable=False),  # who may not read it hears what to do
    default=DEFAULT_CONFIG,
    show_default=True,
    help="The configuration file.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
key_file_option = click.option(
    "--key-file",
    type=NamedPath(path_type=Path, dir_okay=False),
    help="Where the master key is, if not in data_dir: the file that systemd makes a credential of.",
)
organization_option = click.option("--org", "organization_id", required=True, help="The organization's id.")


def say(line: str, err: bool = False) -> None:
    """Print a line for a person. What others named or wrote may be in it: nothing of it acts on the terminal, or looks
    like a line of ours."""
    if not line.isprintable():
        line = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)
    try:
        click.echo(line, err=err)
    except OSError:
        if not err:
            raise
        give_up(STDERR)  # a full disk takes the log of a job too: its exit code tells


def say_rows(lines: Iterable[str], none: str) -> None:
    """Print each; where there is none, `none` on stderr, for silence may be a fault of whoever asked."""
    is_empty = True
    for line in lines:
        say(line)
        is_empty = False
    if is_empty:
        say(none, err=True)


def show_list(
    rows: Sequence[dict[str, Any]],
    limit: int,
    name: str,
    line: Callable[[dict[str, Any]], str],
    *,
    none: str,
    as_json: bool,
    advice: str = "",
) -> None:
    """The first `limit` of `rows`, which are one more where the list goes on: as JSON below `name`, or as lines, and on
    stderr that it goes on. `none`: as for `say_rows`."""
    has_more = len(rows) > limit
    if as_json:
        show({name: rows[:limit], "more": has_more}, as_json)
        return
    say_rows(map(line, rows[:limit]), none=none)
    if has_more:
        say(f"and more, which --limit beyond {limit} shows{advice}", err=True)


def say_progress(words: str = "") -> None:
    """Show a person who waits how far it is, in place of what was shown before. No words: it is over, and what comes is
    a line of its own."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{words}", err=True, nl=False)


def say_octets(octets: bytes) -> None:
    """Write octets to stdout as they are: all of them, or OSError. With PYTHONUNBUFFERED one write may take a part."""
    out, left = sys.stdout.buffer, memoryview(octets)
    while left:
        left = left[out.write(left) :]
    out.flush()


def fail(*lines: str, exit_code: int = EXIT_FAULT) -> NoReturn:
    priority = PRIORITIES["error"] if is_journal(sys.stderr) else ""
    for line in lines:
        say(f"{priority}maild: {line}", err=True)
    sys.exit(exit_code)


def settings_of(config: Path) -> Settings:
    try:
        return load(config)
    except SettingsError as error:
        fail(*error.faults)


def whole_settings_of(config: Path) -> Settings:
    """With a look into the files that they name: as the daemon's user, where root asks."""
    settings, faults = looked_at(config)
    if settings is None or faults:
        fail(*faults)
    return settings


def looked_at(config: Path) -> tuple[Settings | None, list[str]]:
    """As far as they can be had, and every fault of them and of the files that they name."""
    from conf import named_files
    from storage.data_folder import DataFolder

    try:
        settings, faults = load(config), []
    except SettingsError as error:
        if error.sound is None:
            return None, error.faults
        settings, faults = error.sound, error.faults
    with DataFolder(settings.data_path).as_its_owner():
        return settings, faults + named_files.faults(settings)


def run_command(work: Callable[[Any], Any], config: Path) -> Any:
    """Run `work(store)`, turning what the operator can mend into one line."""
    from controlplane.contract.refusals import Refusal
    from maild.commands.audit_verifying import Unverifiable
    from maild.commands.backup import BackupFault
    from maild.commands.members import MemberFault
    from maild.commands.operator_commands import OperatorCommands
    from maild.commands.org_deletion import DeletionRefused
    from storage.data_folder import ROOT, DataFolderError, user_of
    from storage.engine.failures import in_words
    from storage.engine.migrate import StoreError
    from storage.sealing import SealError

    try:
        return work(OperatorCommands(settings_of(config)))
    except (
        DataFolderError,
        StoreError,
        SealError,
        Unverifiable,
        MemberFault,
        BackupFault,
        DeletionRefused,
    ) as error:
        fail(str(error))
    except KeyError as error:
        fail(f"there is no {error.args[0]}")
    except Refusal as error:
        fail(f"{error.code}: {error.message} {json.dumps(error.details or {})}")
    except UnicodeEncodeError as error:  # octets from the shell: nothing in the store has such
        fail(f"{error.object!a} is not UTF-8")
    except OSError as error:
        is_closed = isinstance(error, PermissionError) and error.filename is not None and os.geteuid() != ROOT
        advice = f"; run this as root, or as the user {user_of(Path(error.filename))}" if is_closed else ""
        fail(f"{in_words(error)}{advice}")


def show_keys(answer: dict[str, Any], as_json: bool) -> None:
    """What was made, and a person is told to keep the keys in it."""
    show(answer, as_json)
    if not as_json:
        say("Keys are shown this once: keep them.", err=True)


def show(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer))
        return
    for name, value in answer.items():
        if name == "records":
            click.echo()
            say("Publish these DNS records:")
            for one in value:
                priority = f"{one['priority']} " if one["priority"] is not None else ""
                say(f"  {one['name']}  {one['type']}  {priority}{one['value']}")
        elif isinstance(value, dict):
            show({f"{name}.{inner}": found for inner, found in value.items()}, as_json=False)
        else:
            say(f"{name}: {_in_words(name, value)}")


def _in_words(name: str, value: Any) -> str:
    if value is None:
        return "unlimited" if name.startswith("limits.") else "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return str(value)
