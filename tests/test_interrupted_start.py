"""Commands that are interrupted before they are read end as by any signal: no traceback, and nothing on stdout."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import GIVES_UP_S

ROOT = Path(__file__).parents[1]
# At the moment when the first module of another project is asked for, Ctrl-C.
PROGRAM = """
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

{how}
sys.meta_path.insert(0, Interrupting())
sys.argv = ["command", "--version"]
runpy.run_module({command!r}, run_name="__main__", alter_sys=True)
"""


def begun(command: str, how: str) -> "subprocess.CompletedProcess[str]":
    path = f"{ROOT}:{ROOT / 'controlplane' / 'clients' / 'python'}"
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(command=command, how=how)],
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
