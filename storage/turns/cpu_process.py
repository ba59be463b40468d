"""A process for work that only computes and that strangers can make long: reading a mail of a thousand parts.

The interpreter runs one thread at a time, so a thread that computes takes from the event loop what it uses; a process
has an interpreter of its own. It has no event loop and no network, and no store but what a function opens by its path
(`index_child`): it gets a function with its values and gives back what that returns (`cpu_child`). What computes over
objects that can't be handed over goes to the thread (`cpu_threads`).

The process is begun when it is first needed, and ended when nothing was asked for IDLE_S, so that a quiet host has none
and its memory is free. Its pipe is its life: it ends when this process does, however that ends. One that died is begun
anew, and what it was at is tried once more, unless it had taken WORK_S of a processor: nothing that is read takes a
tenth of that, so it would never end. Where no process can be begun the work is done here, on the thread that would wait
for it; so it is once the program's files were replaced (an upgrade before its restart): a process of the new ones need
not understand what this one asks. Owners (an address, an organization) take turns (storage.turns.fair_threads).
"""

import asyncio
import fcntl
import mmap
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import structlog

from storage.turns import cpu_child
from storage.turns.background import BESIDE
from storage.turns.fair_threads import FairThreads, Serve
from storage.turns.started_threads import started_threads

log = structlog.get_logger("maild.store")

T = TypeVar("T")

IDLE_S = 20.0
WORK_S = 60.0
END_S = 5.0
TRIES = 2
LARGE_BYTES = 1 << 20
KEPT_BYTES = 8 << 20
PIPE_BYTES = 1 << 20  # a small message passes in one write
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TZ")  # not MAILD_*, which may hold secrets


class ComputingFailed(Exception):
    """The function raised, took too long, or ended its process `TRIES` times."""


class MappedFile:
    """A value that arrives as a read-only map of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[[str], mmap.mmap], tuple[str]]:
        return cpu_child.map_file, (str(self._path),)


class CpuProcess:
    """Runs functions in a process of its own, one at a time.

    `idle_s`: seconds without work until the process ends. `work_s`: seconds of a processor that one function may take.
    `niceness`: how far it yields to the event loop (`storage.turns.background`).
    """

    def __init__(self, idle_s: float = IDLE_S, work_s: float = WORK_S, niceness: int = BESIDE) -> None:
        self._idle_s = idle_s
        self._work_s = work_s
        self._niceness = niceness
        self._executor = started_threads(1, "cpu process")
        self._turns: FairThreads[Callable[[], Any], Any] = FairThreads([self._thread], share=1)
        self._child: subprocess.Popen[bytes] | None = None
        self._resting: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._told = ""  # why no process could be begun, as it was last said

    @property
    def pid(self) -> int | None:
        """None while there is no process."""
        child = self._child
        return None if child is None else child.pid

    async def run(self, owner: str, work: "partial[T]") -> T:
        """What `work` gives, a module's function with values that can be pickled, once it is its owner's turn.

        `owner`: an address, an organization id, or `OWN`. ComputingFailed. Work whose caller was cancelled is not
        begun."""
        try:
            return cast(T, await self._turns.submit(owner, work))
        finally:
            self._rest_later()

    async def close(self) -> None:
        """Return when all that was begun or waits has run, and the process has ended. Idempotent."""
        await self._turns.finish()
        if self._is_closed:
            return
        self._is_closed = True
        if self._resting is not None:
            self._resting.cancel()
        await asyncio.get_running_loop().run_in_executor(self._executor, self._end)
        self._executor.shutdown()

    def _rest_later(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
        if self._is_closed:
            return
        # The thread ends the process when it is through with what it is at.
        self._resting = asyncio.get_running_loop().call_later(self._idle_s, self._executor.submit, self._end)

    # On the thread -----------------------------------------------------------------------------

    def _thread(self, serve: Serve[Callable[[], Any], Any]) -> Awaitable[None]:
        return asyncio.get_running_loop().run_in_executor(self._executor, serve, self._call)

    def _call(self, work: Callable[[], Any]) -> Any:
        asked = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        for _ in range(TRIES):
            try:
                child = self._child = self._child or _begin(self._work_s, self._niceness)
            except OSError as error:  # no memory, descriptor or process left, or another program
                self._tell(str(error))
                return _result(cpu_child.answer(asked))
            self._told = ""
            try:
                answered = _exchange(child, asked)
            except BaseException:  # no memory: the rest of this answer would be taken for the next one
                child.kill()
                self._end()
                raise
            if answered is not None:
                return _result(answered)
            self._end()
            log.error("cpu_process_died", exit_code=child.returncode)
            if child.returncode == -signal.SIGPROF:
                raise ComputingFailed(f"it took more than {self._work_s:g} s of a processor")
        raise ComputingFailed("it ended the process that computes")

    def _tell(self, reason: str) -> None:
        if reason != self._told:  # once, and not for each mail
            log.warning("cpu_process_not_begun", error=reason)
        self._told = reason

    def _end(self) -> None:
        child = self._child
        if child is None:
            return
        with suppress(BrokenPipeError), child:  # closes its pipes, and waits
            assert child.stdin is not None
            child.stdin.close()
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
        self._child = None


def _program() -> tuple[int, int, int]:
    """Another one when an installer has written the program's files anew. OSError while there are none."""
    found = os.stat(cpu_child.__file__)
    return found.st_ino, found.st_mtime_ns, found.st_size


_RUNNING = _program()


def _begin(work_s: float, niceness: int) -> "subprocess.Popen[bytes]":
    """OSError where the system has no room for it, or it would be of another program than this process."""
    if _program() != _RUNNING:
        raise OSError("the program's files were replaced: restart the daemon")
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    # What it frees of a large message goes back at once (mallopt(3); maild.allocator says why).
    environment |= {"MALLOC_MMAP_THRESHOLD_": str(LARGE_BYTES), "MALLOC_ARENA_MAX": "1"}
    # Of what was small some stays: a page that is given back costs a fault when it is wanted again.
    environment |= {"MALLOC_TRIM_THRESHOLD_": str(KEPT_BYTES)}
    # Its modules are those of this process, wherever that was started (-P: not those of the working directory).
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    child = subprocess.Popen(  # noqa: S603 (nothing of the command is a stranger's)
        [sys.executable, "-P", "-m", cpu_child.__name__, str(work_s), str(niceness)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    assert child.stdin is not None and child.stdout is not None
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):  # more than /proc/sys/fs/pipe-max-size allows: it only takes more writes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return child


def _exchange(child: "subprocess.Popen[bytes]", asked: bytes) -> bytes | None:
    """None when the process has died."""
    assert child.stdin is not None and child.stdout is not None
    try:
        cpu_child.write_frame(child.stdin, asked)
        return cpu_child.read_frame(child.stdout)
    except BrokenPipeError:
        return None


def _result(answered: bytes) -> Any:
    result, fault = pickle.loads(answered)  # noqa: S301 (our own functions wrote it)
    if fault is not None:
        raise ComputingFailed(fault)
    return result
