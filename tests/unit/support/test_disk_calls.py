"""Calls as strace writes them down (tests/support/machine/disk_calls.py), and as they come back."""

import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from tests.support.machine.disk_calls import read, recording, replay, require_recording
from tests.support.machine.lossy_disk import WHOLE, LossyDisk
from tests.support.waiting import GIVES_UP_S

PROGRAM = """
import os, sqlite3, sys, threading
from pathlib import Path

folder = Path(sys.argv[1])

def thread(number):
    path = folder / f"{number}.new"
    with path.open("wb") as file:
        for _ in range(20):
            file.write(bytes([number]) * 5000)
            file.flush()
            os.fsync(file.fileno())
    path.rename(folder / "kept" / str(number))
    os.link(folder / "kept" / str(number), folder / f"link-{number}")
    if number % 2:
        (folder / "kept" / str(number)).unlink()

(folder / "kept").mkdir()
threads = [threading.Thread(target=thread, args=(number,)) for number in range(4)]
for one in threads: one.start()
for one in threads: one.join()
conn = sqlite3.connect(folder / "store")
conn.execute("PRAGMA journal_mode = WAL")
conn.execute("CREATE TABLE notes (text)")
for _ in range(5):
    with conn:
        conn.execute("INSERT INTO notes VALUES (?)", ("x" * 9000,))
conn.execute("PRAGMA wal_checkpoint")
with (folder / "link-0").open("r+b") as file:
    file.truncate(7)
os.write(1, b"done")
"""


def test_the_replay_of_a_program_ends_with_the_folder_that_it_left(tmp_path: Path) -> None:
    require_recording(tmp_path)
    folder, again, trace = tmp_path / "folder", tmp_path / "again", tmp_path / "trace"
    folder.mkdir()
    done = subprocess.run(
        [*recording(trace), sys.executable, "-c", PROGRAM, str(folder)],
        capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done"), done.stderr
    disk, calls = LossyDisk(), read(trace, folder)
    moments = list(replay(calls, disk))
    assert moments == sorted(moments)
    assert [call.data for call in calls if call.what == "send"] == [b"done"]
    disk.rebuild(again, WHOLE)
    octets = [
        {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (folder, again)
    ]
    for one in octets:
        one.pop(Path("store-shm"), None)
    assert octets[0] == octets[1] and len(octets[0]) == 7


def escaped(text: str) -> str:
    return "".join(f"\\x{octet:02x}" for octet in text.encode())


FILE = f"7<{escaped('/data/file')}>"
OPENED = f'1 openat(AT_FDCWD<{escaped("/")}>, "{escaped("/data/file")}", O_WRONLY|O_CREAT|O_CLOEXEC, 0600) = {FILE}'


def calls(folder: Path, *lines: str) -> list[tuple[str, tuple[PurePosixPath, ...], bytes, int, int]]:
    trace = folder / "trace"
    trace.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return [
        (one.what, one.paths, one.data, one.began, one.returned)
        for one in read(trace, Path("/data"), first=10)
    ]


def test_a_call_lasts_from_its_beginning_to_its_return(tmp_path: Path) -> None:
    path = (PurePosixPath("file"),)
    assert calls(
        tmp_path,
        OPENED,
        f'1 pwrite64({FILE}, "{escaped("abc")}", 3, 4096 <unfinished ...>',
        f"2 fsync({FILE}) = 0",
        "1 <... pwrite64 resumed>)            = 2",
    ) == [("open", path, b"", 10, 10), ("pwrite", path, b"ab", 11, 13), ("sync", path, b"", 12, 12)]


def test_what_failed_did_not_return_or_is_about_others_is_no_call(tmp_path: Path) -> None:
    gone = f'1 write(7<{escaped("/data/file")}>(deleted), "{escaped("x")}", 1) = 1'
    shared = f'1 pwrite64(7<{escaped("/data/store-shm")}>, "{escaped("x")}", 1, 0) = 1'
    assert not calls(
        tmp_path,
        f'1 unlink("{escaped("/data/file")}") = -1 ENOENT (No such file or directory)',
        f'1 write({FILE}, "{escaped("x")}", 1) = ?',
        f'1 write({FILE}, "{escaped("x")}", 1 <unfinished ...>',
        f'2 mkdir("{escaped("/database")}", 0700) = 0',
        gone,
        shared,
    )


def test_a_call_of_which_the_disk_knows_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="fallocate"):
        calls(tmp_path, f"1 fallocate({FILE}, 0, 0, 4096) = 0")
    with pytest.raises(NotImplementedError, match="mkdirat"):
        calls(tmp_path, f'1 mkdirat({FILE}, "{escaped("beside")}", 0700) = 0')
    with pytest.raises(NotImplementedError, match="writev"):
        calls(tmp_path, f'1 writev({FILE}, [{{iov_base="{escaped("x")}", iov_len=1}}], 1) = 1')
