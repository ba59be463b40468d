"""What the benches share: a bounded run, load and sink from Postfix's kit, CPU and memory of processes, tables.

CPU of a tree of processes is exact without cgroups: what a process used, what its dead children used (which
the kernel adds when it waits for them), and the same for each living descendant.
"""

import asyncio
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.support.machine import tools
from tests.support.machine.ports import free_port

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BACKLOG = "1000"
SENDER = "bench@x.test"
ARRIVE_S = 120
REST_LOOK_S = 0.3
REST_TICKS = 1
RUN_S = 1800
LOAD_NICENESS = -5
BEGIN_S = 300  # tests begin them, too, beside each other
END_S = 10


class BenchFailed(Exception):
    """A server does not do what is to be measured. No SystemExit: in a task of asyncio that leaves the other tasks and
    what they have started."""


def run(bench: Coroutine[None, None, None]) -> None:
    """Run it to its end, or to SIGTERM, SIGINT or RUN_S: whatever it started is stopped in each case."""
    failed: BaseException | None = None
    try:
        asyncio.run(_bounded(bench))
    except asyncio.CancelledError:
        raise SystemExit("stopped by a signal") from None
    except BenchFailed as error:
        failed = error
    except BaseExceptionGroup as group:
        failed, rest = group.split(BenchFailed)
        if failed is None or rest is not None:
            raise
    while isinstance(failed, BaseExceptionGroup):
        failed = failed.exceptions[0]
    if failed is not None:
        raise SystemExit(str(failed))


async def _bounded(bench: Coroutine[None, None, None]) -> None:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    async with asyncio.timeout(RUN_S):
        await bench


class Result(NamedTuple):
    per_s: float
    cpu_ms: float  # for one message

    @classmethod
    def of(cls, count: int, seconds: float, cpu_s: float) -> "Result":
        return cls(count / seconds, cpu_s * 1000 / count)


def median(results: Sequence[Result]) -> Result:
    return Result(*(statistics.median(values) for values in zip(*results, strict=True)))


def middle(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def span(values: Sequence[float], digits: int = 0) -> str:
    """The least and the greatest."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def table(title: str, rows: Iterable[Sequence[object]]) -> None:
    print(title)
    shown = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def cpu_s(*pids: int) -> float:
    """CPU seconds used so far by these processes and all that they have started."""
    times, children = _processes()
    total, todo = 0.0, list(pids)
    while todo:
        pid = todo.pop()
        total += times.get(pid, 0)
        todo += children.get(pid, [])
    return total


def _processes() -> tuple[dict[int, float], dict[int, list[int]]]:
    times: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue  # it ended while we looked
        # proc(5): the name stands in brackets and may hold anything; then state, parent, …, four times
        fields = text.rpartition(") ")[2].split()
        times[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS_PER_S
        children.setdefault(int(fields[1]), []).append(int(folder.name))
    return times, children


def take_precedence() -> None:
    """Run before others on the same cores, where we may: a load that comes too late measures itself."""
    with suppress(PermissionError):
        os.nice(LOAD_NICENESS)


async def rest(*pids: int) -> None:
    """Return when none of these processes has worked for a moment, and what was written is on the disk."""
    async with asyncio.timeout(ARRIVE_S):
        before = cpu_s(*pids)
        while True:
            await asyncio.sleep(REST_LOOK_S)
            now = cpu_s(*pids)
            if now - before <= REST_TICKS / TICKS_PER_S:
                break
            before = now
    await asyncio.to_thread(os.sync)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that programs without our privileges may enter."""
    folder = Path(tempfile.mkdtemp(prefix="maild-bench-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def peak_rss_mib(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


async def smtp_source(
    port: int,
    recipient: str,
    *,
    count: int,
    sessions: int,
    size_bytes: int,
    kept_open: bool,
    mail: Path | None = None,
    mail_from: str = SENDER,
) -> None:
    """Return when all messages are accepted; it gives up at the first other answer.

    `mail`: a file with the message; without one lines of X, as many as make up the size.
    """
    content = ["-l", str(size_bytes)] if mail is None else ["-F", str(mail)]
    process = await asyncio.create_subprocess_exec(
        tools.path_of("smtp-source"), "-s", str(sessions), "-m", str(count), *content,
        *(["-d"] if kept_open else []), "-f", mail_from, "-t", recipient, f"127.0.0.1:{port}",
    )  # fmt: skip
    try:
        if await process.wait():
            raise BenchFailed(f"smtp-source to port {port} failed: {process.returncode}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def sender(mail: Path) -> str:
    """Of the envelope: one for all mails."""
    return SENDER


async def send_mails(
    port: int,
    recipient: str,
    mails: Sequence[Path],
    *,
    each: int,
    sessions: int,
    kept_open: bool,
    sender_of: Callable[[Path], str] = sender,
) -> None:
    """Each of these messages so many times, the same in a row, over so many sessions at one time."""
    left = iter(mails)

    async def session() -> None:
        for mail in left:
            await smtp_source(
                port,
                recipient,
                count=each,
                sessions=1,
                size_bytes=0,
                kept_open=kept_open,
                mail=mail,
                mail_from=sender_of(mail),
            )

    async with asyncio.TaskGroup() as group:
        for _ in range(sessions):
            group.create_task(session())


class Helper:
    """A program that runs as long as the `async with`. It listens on `port`, or on the Unix socket `path`."""

    def __init__(
        self, *command: str, port: int = 0, path: Path | None = None, address: str = "127.0.0.1"
    ) -> None:
        self.port = port
        self.address = address
        self.path = path
        self._command = command
        self._process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def __aenter__(self) -> "Helper":
        self._process = await asyncio.create_subprocess_exec(*self._command, stdout=subprocess.PIPE)
        try:
            await self._listening()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _listening(self) -> None:
        async with asyncio.timeout(BEGIN_S):
            while self._process.returncode is None:
                try:
                    writer = await self._connect()
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    return
        raise BenchFailed(f"{self._command[0]} ended with {self._process.returncode}")

    async def _connect(self) -> asyncio.StreamWriter:
        if self.path is not None:
            return (await asyncio.open_unix_connection(self.path))[1]
        return (await asyncio.open_connection(self.address, self.port))[1]

    async def _end(self) -> None:
        if self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()  # a program of several processes ends them
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class Sink(Helper):
    """smtp-sink, which says after each mail how many it took, and throws it away, or `keeps` it in a folder."""

    def __init__(self, port: int = 0, keeps: Path | None = None, address: str = "127.0.0.1") -> None:
        port = port or free_port()
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        dump = [] if keeps is None else ["-d", f"{keeps}/mail."]
        super().__init__(
            tools.path_of("smtp-sink"), *user, *dump, "-c", "-h", "mx.sink.test", f"{address}:{port}", BACKLOG,
            port=port, address=address,
        )  # fmt: skip
        self.taken = 0
        self._more = asyncio.Condition()

    async def __aenter__(self) -> "Sink":
        await super().__aenter__()
        self._reading = asyncio.create_task(self._read())
        return self

    async def until(self, count: int) -> None:
        """Wait until it has taken so many in all."""
        try:
            async with asyncio.timeout(ARRIVE_S), self._more:
                await self._more.wait_for(lambda: self.taken >= count)
        except TimeoutError:
            raise BenchFailed(f"smtp-sink has {self.taken} of {count} messages after {ARRIVE_S} s") from None

    def pause(self) -> None:
        """The kernel goes on taking connections, nobody greets them."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        rest = b""
        while chunk := await self._process.stdout.read(65536):
            *whole, rest = (rest + chunk).split(b"\r")
            counts = re.findall(rb"mesg=(\d+)", b" ".join(whole))
            if counts:
                async with self._more:
                    self.taken = int(counts[-1])
                    self._more.notify_all()
