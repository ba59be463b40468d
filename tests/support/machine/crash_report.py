"""Why a worker of the tests died: the signal that ended it, and where its threads were.

xdist names the test that ran, and no more.
"""

import faulthandler
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import GIVES_UP_S

FOLDER = "TESTS_CRASH_FOLDER"  # the processes of one run share it through their environment
_OF_EVERY_TEST = ("/_pytest/", "/pluggy/", "/xdist/", "/execnet/", "Extension modules:")


def _ended_by(status: int | None) -> str:
    if status is None:
        return "it still runs"
    return signal.Signals(-status).name if -status in set(signal.Signals) else f"exit status {status}"


class OfWorkers:
    """The controller's part."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._deaths: list[str] = []

    @pytest.hookimpl(optionalhook=True)  # xdist's
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if error is not None:
            process = node.gateway._io.popen
            self._deaths.append(f"{node.gateway.id}: {error}; ended by {_ended_by(process.wait(GIVES_UP_S))}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for death in self._deaths:
            terminalreporter.write_line(death)
        for stacks in sorted(self._folder.iterdir()):
            if lines := stacks.read_text(errors="replace").splitlines():
                shown = (line for line in lines if not any(one in line for one in _OF_EVERY_TEST))
                terminalreporter.write_line("\n".join((f"stacks of {stacks.name}", *shown)))


def configure(config: pytest.Config) -> None:
    if (worker := getattr(config, "workerinput", None)) is None:
        folder = tempfile.TemporaryDirectory(prefix="maild-crashes-")
        config.add_cleanup(folder.cleanup)
        os.environ[FOLDER] = folder.name
        config.pluginmanager.register(OfWorkers(Path(folder.name)))
    else:
        stacks = open(Path(os.environ[FOLDER]) / worker["workerid"], "w")  # noqa: SIM115 — as long as the process
        faulthandler.enable(stacks)
        config.add_cleanup(stacks.close)
