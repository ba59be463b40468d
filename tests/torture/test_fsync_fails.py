"""The disk refuses every fsync, then the process is killed: what was refused is not there, what was taken is."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemon import ROOT
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.torture

PROGRAM = """
import asyncio, os, signal, sqlite3, sys
from pathlib import Path

import structlog

from storage.engine.database import Database

structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))

async def main(path):
    db = await Database.open(path)
    for number in range(20):
        try:
            await db.write(lambda tx: tx.run("INSERT INTO notes VALUES (?, ?)", (number, "x" * 9000)))
            print("taken", number, flush=True)
        except sqlite3.OperationalError:
            print("refused", number, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1])))
"""


def traced(path: Path, first_failing: int) -> dict[str, list[int]]:
    """What the program was told, with every fsync from that one on failing."""
    injected = f"inject=fsync,fdatasync:error=EIO:when={first_failing}+"
    ended = subprocess.run(
        ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=fsync,fdatasync", "-e", injected,
         sys.executable, "-c", PROGRAM, str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    if "ptrace" in ended.stderr:
        pytest.skip(f"strace may not trace here: {ended.stderr[:200]}")
    told: dict[str, list[int]] = {"taken": [], "refused": []}
    for line in ended.stdout.splitlines():
        word, number = line.split()
        told[word].append(int(number))
    assert sum(map(len, told.values())) == 20, ended.stderr
    assert ended.stderr.count("writes_fail") == 1
    return told


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace makes the fsyncs fail; it is not installed"
)
@pytest.mark.parametrize("first_failing", [2, 5, 8])
def test_what_was_refused_is_not_there_after_a_kill(tmp_path: Path, first_failing: int) -> None:
    path = tmp_path / "store"
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("CREATE TABLE notes (number INTEGER, text TEXT)")
    conn.close()
    told = traced(path, first_failing)
    assert told["refused"]
    conn = sqlite3.connect(path)
    kept = [number for (number,) in conn.execute("SELECT number FROM notes")]
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.close()
    assert kept == told["taken"]
