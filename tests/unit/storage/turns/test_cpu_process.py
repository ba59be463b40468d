"""What computes long has a process of its own, whose end is nobody's end (storage/turns/cpu_process.py)."""

import asyncio
import ctypes
import io
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from maild.message.digest import digest
from maild.message.reading import read_message
from storage.turns import cpu_child
from storage.turns.cpu_process import ComputingFailed, CpuProcess, MappedFile
from tests.support.waiting import GIVES_UP_S

LESS_KIB = 700_000
RAW = b"From: a@b.test\r\nSubject: hi\r\n\r\nhello\r\n"


@pytest_asyncio.fixture
async def cpu() -> AsyncIterator[CpuProcess]:
    process = CpuProcess()
    yield process
    await process.close()


def dies_once(mark: Path) -> int:
    """Ends its process the first time, and says which one it is the second."""
    if mark.exists():
        return os.getpid()
    mark.touch()
    os._exit(9)


def oom_score() -> int:
    return int(Path("/proc/self/oom_score_adj").read_text())


async def test_a_function_runs_elsewhere_and_gives_what_it_gives_here(cpu: CpuProcess) -> None:
    assert cpu.pid is None, "begun before it was needed"
    assert await cpu.run("a", partial(os.getpid)) == cpu.pid != os.getpid()
    found, report = await cpu.run("a", partial(read_message, RAW, True))
    here, _ = read_message(RAW, True)
    assert found._replace(parsed=None) == here._replace(parsed=None)  # type: ignore[arg-type]
    assert found.parsed.subject == "hi" and list(found.parsed.headers.items()) == list(
        here.parsed.headers.items()
    )
    assert report is None


async def test_a_file_is_mapped_there_and_not_sent(cpu: CpuProcess, tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(RAW + b"line\r\n" * 400_000)
    mapped: Any = MappedFile(path)
    assert (await cpu.run("a", partial(digest, mapped))).snippet.startswith("hello")
    assert (await cpu.run("a", partial(type, mapped))).__name__ == "mmap"


async def test_what_a_function_raises_is_told_with_where_it_was(cpu: CpuProcess) -> None:
    with pytest.raises(ComputingFailed, match=r"(?s)cpu_child.*invalid literal"):
        await cpu.run("a", partial(int, "x"))
    pid = cpu.pid
    assert await cpu.run("a", partial(os.getpid)) == pid, "an exception ended the process"


async def test_work_whose_process_dies_is_done_by_the_next(cpu: CpuProcess, tmp_path: Path) -> None:
    first = await cpu.run("a", partial(os.getpid))
    assert await cpu.run("a", partial(dies_once, tmp_path / "mark")) == cpu.pid != first


async def test_a_process_killed_between_two_pieces_of_work_is_not_missed(cpu: CpuProcess) -> None:
    first = await cpu.run("a", partial(os.getpid))
    os.kill(first, signal.SIGKILL)
    assert await cpu.run("a", partial(os.getpid)) != first


async def test_work_that_ends_every_process_fails_and_other_work_goes_on(cpu: CpuProcess) -> None:
    with pytest.raises(ComputingFailed):
        await cpu.run("a", partial(os._exit, 3))
    assert await cpu.run("b", partial(len, RAW)) == len(RAW)


async def test_work_without_end_is_ended_and_not_tried_again() -> None:
    """Also in one call in C, as a pattern that goes wrong is."""
    cpu = CpuProcess(work_s=0.05)
    with capture_logs() as told, pytest.raises(ComputingFailed, match=r"more than 0\.05 s of a processor"):
        await cpu.run("a", partial(sum, range(10**18)))
    assert [(one["event"], one["exit_code"]) for one in told] == [("cpu_process_died", -signal.SIGPROF)]
    assert await cpu.run("b", partial(len, RAW)) == len(RAW)
    await cpu.close()


async def test_memory_without_end_is_refused_there(cpu: CpuProcess) -> None:
    with pytest.raises(ComputingFailed, match="MemoryError"):
        await cpu.run("a", partial(bytearray, 2 * cpu_child.MEMORY_BYTES))
    assert await cpu.run("a", partial(len, RAW)) == len(RAW)


def test_it_begins_where_less_memory_is_allowed() -> None:
    """As by LimitAS=, which it may not raise. It died each time, with a traceback, and the daemon computed itself."""
    asked = io.BytesIO()
    cpu_child.write_frame(asked, pickle.dumps(partial(len, RAW)))
    child = f"ulimit -v {LESS_KIB}; exec {sys.executable} -m storage.turns.cpu_child 10 0"
    done = subprocess.run(["/bin/sh", "-c", child], input=asked.getvalue(), capture_output=True, check=False)
    assert done.stderr == b""
    answered = cpu_child.read_frame(io.BytesIO(done.stdout))
    assert answered is not None
    assert pickle.loads(answered) == (len(RAW), None)


async def test_a_machine_without_memory_ends_it_before_the_daemon(cpu: CpuProcess) -> None:
    """Its work is done by the next one; with the daemon every session and request would end."""
    assert await cpu.run("a", partial(oom_score)) >= oom_score() + 500


async def test_owners_take_turns(cpu: CpuProcess, tmp_path: Path) -> None:
    done: list[str] = []

    async def one(owner: str) -> None:
        await cpu.run(owner, partial(len, owner))
        done.append(owner)

    await asyncio.gather(*(one(owner) for owner in ("greedy", "greedy", "greedy", "modest")))
    assert done == ["greedy", "modest", "greedy", "greedy"]


async def test_a_host_without_room_for_a_process_does_the_work_itself(
    cpu: CpuProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert await cpu.run("a", partial(os.getpid)) == os.getpid()
    with pytest.raises(ComputingFailed, match="invalid literal"):
        await cpu.run("a", partial(int, "x"))


async def test_a_daemon_whose_files_were_replaced_does_the_work_itself_and_says_so_once(
    cpu: CpuProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Between the install of a new version and the restart a process would be of another version than who asks it."""
    child = await cpu.run("a", partial(os.getpid))
    replaced = tmp_path / "cpu_child.py"
    replaced.write_text("raise ImportError('half of an install')")
    monkeypatch.setattr(cpu_child, "__file__", str(replaced))
    assert await cpu.run("a", partial(os.getpid)) == child, "what runs already is of the same version"
    os.kill(child, signal.SIGKILL)
    with capture_logs() as told:
        for _ in range(3):
            assert await cpu.run("a", partial(os.getpid)) == os.getpid()
    assert [one["event"] for one in told] == ["cpu_process_died", "cpu_process_not_begun"]
    assert "restart the daemon" in told[1]["error"]


async def test_the_process_ends_when_nothing_is_asked(tmp_path: Path) -> None:
    cpu = CpuProcess(idle_s=0)
    first = await cpu.run("a", partial(os.getpid))
    async with asyncio.timeout(GIVES_UP_S):
        while cpu.pid is not None:
            await asyncio.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert await cpu.run("a", partial(os.getpid)) != first
    await cpu.close()


async def test_closing_twice_is_closing_once(cpu: CpuProcess) -> None:
    await cpu.run("a", partial(os.getpid))
    await cpu.close()
    await cpu.close()
    assert cpu.pid is None


async def test_signals_for_the_daemon_do_not_end_what_it_waits_for(cpu: CpuProcess) -> None:
    pid = await cpu.run("a", partial(os.getpid))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        os.kill(pid, number)
    assert await cpu.run("a", partial(os.getpid)) == pid


async def test_the_process_ends_with_the_one_that_began_it() -> None:
    """However that ends: here by SIGKILL."""
    program = (
        "import asyncio, os\nfrom functools import partial\nfrom storage.turns.cpu_process import CpuProcess\n"
        "async def main():\n"
        "    print(await CpuProcess().run('a', partial(os.getpid)), flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    # An orphan comes to this process (PR_SET_CHILD_SUBREAPER), so its end can be waited for.
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
    try:
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        async with asyncio.timeout(GIVES_UP_S):
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                await asyncio.sleep(0.01)
    finally:
        ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)
        parent.stdout.close()


async def test_secrets_of_the_environment_are_not_handed_on(
    cpu: CpuProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAILD_OUTBOUND__PASSWORD", "secret")
    assert await cpu.run("a", partial(os.getenv, "MAILD_OUTBOUND__PASSWORD")) is None


async def test_an_answer_that_found_no_memory_is_not_taken_for_the_next_one(
    cpu: CpuProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not read of it stood in the pipe, before the answer to whatever was asked next."""
    read_frame, failures = cpu_child.read_frame, [MemoryError()]

    def read(stream: Any) -> bytes | None:
        if failures:
            stream.read(cpu_child.LENGTH.size)
            raise failures.pop()
        return read_frame(stream)

    monkeypatch.setattr(cpu_child, "read_frame", read)
    with pytest.raises(MemoryError):
        await cpu.run("a", partial(bytes, 100))
    async with asyncio.timeout(GIVES_UP_S):
        assert await cpu.run("b", partial(len, RAW)) == len(RAW)
