"""`maildc work`: an inbox as a queue, whose messages a program of one's own handles."""

import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from maild_client._sync.work import Claim
from maild_client.cli.calling import Caller, told
from maild_client.cli.common import MaildcCommand, run_of
from maild_client.cli.showing import safe

# Ctrl-C stops the claiming, and lets what was begun end; Windows has no groups.
OWN_GROUP = 0 if os.name == "posix" else None


class ProgramFailed(Exception):
    """The program says that the message is not done."""


@click.command("work", cls=MaildcCommand, short_help="Run a program for each message of an inbox")
@click.argument("inbox_id", metavar="INBOX_ID")
@click.option("--exec", "command", required=True, metavar="CMD", help="The program, with its arguments.")
@click.option("--concurrency", type=click.IntRange(1, 100), default=1, show_default=True, help="At once.")
@click.option("--lease-seconds", type=click.IntRange(30, 3600), default=300, show_default=True)
@click.option(
    "--retry-delay", type=click.IntRange(0), default=30, show_default=True, help="Seconds after a failure."
)
@click.pass_context
def work(context: click.Context, /, inbox_id: str, command: str, **options: Any) -> None:
    """Claim what comes into an inbox, and run CMD for each message.

    CMD is a program, no line of a shell. The message is JSON on its stdin; MAILD_MESSAGE_ID, MAILD_THREAD_ID,
    MAILD_INBOX_ID and MAILD_CLAIM_ID are in its environment, words of senders are not. Exit 0 says that the message
    is done; anything else gives it back. `maildc reply $MAILD_MESSAGE_ID --claim-id $MAILD_CLAIM_ID` answers, and
    sends nothing where the claim was lost. Leases are extended meanwhile. SIGTERM: what runs is finished first.
    """
    runner = ProgramRunner(_program(command))
    with Caller(run_of(context)) as caller, _log_on_stderr(), told():
        caller.client.inboxes.work(
            inbox_id,
            runner.handle,
            concurrency=options["concurrency"],
            lease_seconds=options["lease_seconds"],
            retry_delay_seconds=options["retry_delay"],
        )


def _program(command: str) -> list[str]:
    try:
        found = shlex.split(command)
    except ValueError as error:
        raise click.UsageError(f"--exec: {error}.") from None
    if not found or shutil.which(found[0]) is None:
        raise click.UsageError(f"--exec: there is no program {found[0] if found else ''!r}.")
    return found


class ProgramRunner:
    """Runs the program for a message."""

    def __init__(self, program: list[str]) -> None:
        self._program = program

    def handle(self, message: Mapping[str, Any], claim: Claim) -> None:
        """Returns when it is done; ProgramFailed."""
        environ = {
            **os.environ,
            "MAILD_MESSAGE_ID": claim.message_id,
            "MAILD_THREAD_ID": claim.thread_id,
            "MAILD_INBOX_ID": str(message["inboxId"]),
            "MAILD_CLAIM_ID": claim.id,
            "MAILD_ATTEMPT": str(claim.attempt),
        }
        try:
            with subprocess.Popen(  # noqa: S603 - the user's own
                self._program, stdin=subprocess.PIPE, env=environ, process_group=OWN_GROUP
            ) as process:
                process.communicate(json.dumps(message).encode())
        except OSError as error:
            raise ProgramFailed(f"{self._program[0]} can't be run: {error.strerror}") from None
        if process.returncode:
            raise ProgramFailed(_ended(process.returncode))


def _ended(code: int) -> str:
    return f"exit {code}" if code > 0 else f"ended by {signal.Signals(-code).name}"


class StderrLog(logging.Handler):
    """What the worker tells, a line each, without a trace of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        why = record.exc_info[1] if record.exc_info else None
        told = record.getMessage() + (f": {why}" if why else "")
        click.echo(f"maildc work: {safe(told)}", err=True)


@contextmanager
def _log_on_stderr() -> Iterator[None]:
    log, handler = logging.getLogger("maild_client"), StderrLog()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
