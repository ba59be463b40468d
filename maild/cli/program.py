"""`maild`: the operator's commands. Faults are one line each on stderr and exit code 2."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from maild import __version__
from maild.cli.audit import audit
from maild.cli.common import EXIT_FAULT, CommandGroup, fail, say
from maild.cli.daemon import check_config, serve
from maild.cli.doctor import doctor
from maild.cli.keys import keys
from maild.cli.members import console, member
from maild.cli.organizations import org
from maild.cli.outbound_queue import queue
from maild.cli.policies import policy, rules
from maild.cli.reports import reports
from maild.cli.reviews import reviews
from maild.cli.store import backup, check, compact, init, replace_lost_master_key, rotate_master_key
from maild.descriptors import STDERR, STDOUT, fill, give_up
from storage.engine.failures import in_words
from storage.unfit_processor import UnfitProcessor

# What write(2) says of a stream.
_NOT_WRITTEN = frozenset(
    {
        errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE, errno.EBADF, errno.EAGAIN,
        errno.ECONNRESET,
    }
)  # fmt: skip


class OperatorCli(CommandGroup):
    """Commands that may end without an answer: a full disk, a reader that is gone, an operator who interrupts. That is
    exit code 2, since 1 is an answer of some (`check`, `audit verify`)."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click does, which says on stderr what a line of arguments lacks."""
        fill()
        if isinstance(sys.stdout, io.TextIOWrapper):  # a locale may lack characters of a name
            sys.stdout.reconfigure(errors="backslashreplace")
        if sys.flags.optimize > 1:
            fail(
                "PYTHONOPTIMIZE=2 (python -OO) takes away what commands and the API say of themselves; set it to 1"
            )
        try:
            return super().main(*args, **kwargs)
        except OSError:
            give_up(STDERR)
            sys.exit(EXIT_FAULT)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """As click does, which prints --help and --version here."""
        with _told():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does."""
        with _told():
            return super().invoke(ctx)


@contextmanager
def _told() -> Iterator[None]:
    """What leaves no answer, in a line."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        say("", err=True)  # behind the terminal's ^C
        fail("interrupted")
    except UnfitProcessor as error:
        fail(str(error))
    except OSError as error:
        if error.filename is not None or error.errno not in _NOT_WRITTEN:
            fail(in_words(error))
        give_up(STDOUT)
        if isinstance(error, BrokenPipeError):
            sys.exit(EXIT_FAULT)
        fail(f"standard output: {error.strerror}")


@click.group(cls=OperatorCli, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="maild")
def main() -> None:
    """Email for AI agents on one VM."""
    os.umask(0o077)  # whatever we write is our user's alone


for _one in (
    serve,
    check_config,
    doctor,
    init,
    check,
    backup,
    reports,
    compact,
    rotate_master_key,
    replace_lost_master_key,
):
    main.add_command(_one)
for _group in (audit, org, queue, reviews, keys, policy, rules, member, console):
    main.add_command(_group)
