"""Commands that are interrupted before they are read end as by any signal: no traceback, and nothing on stdout."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.waiting import GIVES_UP_S

ROOT = Path(__file__).parents[1]
# At the moment when a module is asked for, the first one of another project unless told, a signal comes.
PROGRAM = """
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{number})

{how}
sys.meta_path.insert(0, Interrupting())
sys.argv = ["command", *{arguments!r}]
runpy.run_module({command!r}, run_name="__main__", alter_sys=True)
"""


def begun(
    command: str,
    how: str,
    module: str = "click",
    number: str = "SIGINT",
    arguments: Sequence[str] = ("--version",),
) -> "subprocess.CompletedProcess[str]":
    path = f"{ROOT}:{ROOT / 'controlplane' / 'clients' / 'python'}"
    program = PROGRAM.format(command=command, how=how, module=module, number=number, arguments=arguments)
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", ["maild", "maildc"])
def test_an_interrupt_while_modules_are_read_is_no_traceback(command: str) -> None:
    done = begun(command, "signal.signal(signal.SIGINT, signal.default_int_handler)")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("command", ["maild", "maildc"])
def test_who_ignores_interrupts_is_not_ended_by_one(command: str) -> None:
    done = begun(command, "signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert (done.returncode, done.stderr) == (0, "") and "version" in done.stdout


@pytest.mark.parametrize("number", ["SIGHUP", "SIGUSR1", "SIGUSR2"])
def test_a_daemon_that_starts_is_not_ended_by_what_it_will_answer(number: str, tmp_path: Path) -> None:
    """As by the hook of an ACME client that begins with it."""
    done = begun("maild", "", "maild.daemon", number, ["serve", "--config", str(tmp_path / "none.toml")])
    assert done.returncode == 2 and "none.toml" in done.stderr
