"""What a program asked of the disk and told its peers, call by call: recorded by strace, replayed on a LossyDisk.

    command = [*recording(trace), sys.executable, "-m", "maild", "serve"]
    calls = read(trace, folder)
    for moment in replay(calls, disk):        # the disk as it was just after that moment

strace is a child of what it records (-D), so signals and the exit code are the program's own; it holds the program's
stdout, at whose end the trace is whole. What a program maps into memory and writes there is no call, nor is a call that
is not known here: whoever replays compares the end with the real folder.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

from tests.support.machine.lossy_disk import LossyDisk
from tests.support.waiting import GIVES_UP_S

# Machines differ in which of them they have; each stands for the one that it means.
_MEANT = {
    "open": "open", "openat": "open",
    "pwrite64": "pwrite", "write": "write", "ftruncate": "truncate", "fsync": "sync", "fdatasync": "sync",
    "rename": "rename", "renameat": "rename", "renameat2": "rename", "link": "link", "linkat": "link",
    "unlink": "unlink", "unlinkat": "unlink", "rmdir": "unlink", "mkdir": "mkdir", "mkdirat": "mkdir",
    "writev": "send", "sendto": "send", "sendmsg": "send",
}  # fmt: skip
_UNKNOWN = (
    "creat", "pwritev", "pwritev2", "truncate", "fallocate", "copy_file_range", "sendfile", "symlink", "symlinkat",
)  # fmt: skip
_BY_NAME = frozenset({"open", "rename", "link", "unlink", "mkdir"})
_STRING_MAX_BYTES = 256 * 1024 * 1024  # longer than any write
_UNFINISHED = " <unfinished ...>"
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_DESCRIPTOR = re.compile(r"\w+\(\d+<((?:\\x[0-9a-f]{2})+)>(\(deleted\))?")
_RESULT = re.compile(r"\) += (\d+)")
# SQLite's index of the WAL: mapped, never synced, and made anew by who opens the store first.
_IN_MEMORY = "-shm"


class DiskCall(NamedTuple):
    """`what`: what _MEANT says. `paths`: relative to the folder, two of a rename or a link, none of what was sent.
    `data`: what was written. `arguments`: those behind names and octets. `began`, `returned`: when, as places in the
    trace."""

    what: str
    paths: tuple[PurePosixPath, ...]
    data: bytes
    arguments: str
    began: int
    returned: int

    @property
    def path(self) -> PurePosixPath:
        return self.paths[0]


def require_recording(folder: Path) -> None:
    """Skip the test where strace is not installed, or may not trace."""
    if shutil.which("strace") is None:
        pytest.skip("strace records the calls; it is not installed")
    tried = subprocess.run(
        [*recording(folder / "tried"), "true"],
        capture_output=True,
        text=True,
        timeout=GIVES_UP_S,
        check=False,
    )
    if tried.stderr:
        pytest.skip(f"strace may not trace here: {tried.stderr[:200]}")


def recording(trace: Path) -> list[str]:
    """What stands before a command that is to be recorded."""
    wanted = ",".join(f"?{name}" for name in (*_MEANT, *_UNKNOWN))
    return ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-y", "-xx", "-s", str(_STRING_MAX_BYTES),
            "-e", "signal=none", "-e", f"trace={wanted}", "-o", str(trace)]  # fmt: skip


def read(trace: Path, folder: Path, first: int = 0) -> list[DiskCall]:
    """The calls that succeeded and are about what lies in `folder`, and those that wrote to a socket or a pipe, in the
    order in which they began; `first` is the moment of the first line."""
    with trace.open("rb") as lines:
        whole = _joined((number, line.decode("ascii")) for number, line in enumerate(lines, first))
        found = [call for one in whole if (call := _understood(*one, str(folder))) is not None]
    return sorted(found, key=lambda call: call.began)


def replay(calls: Iterable[DiskCall], disk: LossyDisk) -> Iterator[int]:
    """Each moment at which something was asked, came to be durable, or was sent; `disk` is as it was just after it."""
    steps = [(one.returned if one.what == "sync" else one.began, one) for one in calls]
    for moment, call in sorted(steps, key=lambda step: step[0]):
        _DONE[call.what](disk, call)
        yield moment


def _joined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """(when it began, when it returned, the whole text) of each call; those of other threads stand in between."""
    unfinished: dict[str, tuple[int, str]] = {}
    for moment, line in lines:
        thread, _, text = line.rstrip("\n").partition(" ")
        text = text.lstrip()
        if text.endswith(_UNFINISHED):
            unfinished[thread] = (moment, text.removesuffix(_UNFINISHED))
        elif resumed := _RESUMED.match(text):
            began, beginning = unfinished.pop(thread)
            yield began, moment, beginning + text[resumed.end() :]
        else:
            yield moment, moment, text


def _understood(began: int, returned: int, text: str, folder: str) -> DiskCall | None:
    end = text.rfind(")")
    result = _RESULT.match(text, end)
    if result is None:
        return None  # it failed, or the program ended in it
    strings = [_plain(one) for one in _STRING.findall(text)]
    descriptor = _DESCRIPTOR.match(text)
    named = strings if descriptor is None else [_plain(descriptor[1])]
    paths = tuple(path for one in named if (path := _inside(folder, one.decode())) is not None)
    if any(path.name.endswith(_IN_MEMORY) for path in paths) or (descriptor is not None and descriptor[2]):
        return None
    name = text.partition("(")[0]
    what = _MEANT.get(name, name)
    data = b"" if descriptor is None else b"".join(strings)
    if what in ("write", "pwrite"):
        data = data[: int(result[1])]
    if not paths:
        is_sent = what in ("send", "write") and not named[0].startswith(b"/")
        return DiskCall("send", (), data, "", began, returned) if is_sent else None
    if what not in _DONE or what == "send" or (descriptor is not None and what in _BY_NAME):
        raise NotImplementedError(f"{name} of {named}: the lossy disk does not know what it does")
    return DiskCall(what, paths, data, text[:end].rpartition('"')[2], began, returned)


def _inside(folder: str, path: str) -> PurePosixPath | None:
    return PurePosixPath(path[len(folder) + 1 :]) if f"{path}/".startswith(f"{folder}/") else None


def _plain(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


def _last_number(call: DiskCall) -> int:
    return int(call.arguments.rpartition(", ")[2])


def _opened(disk: LossyDisk, call: DiskCall) -> None:
    path = call.path
    if "O_CREAT" in call.arguments and not disk.has(path):
        disk.create(path, call.returned)
    elif "O_TRUNC" in call.arguments:
        disk.truncate(path, 0, call.returned)


_DONE: dict[str, Callable[[LossyDisk, DiskCall], None]] = {
    "open": _opened,
    "write": lambda disk, call: disk.append(call.path, call.data, call.returned),
    "pwrite": lambda disk, call: disk.write(call.path, call.data, _last_number(call), call.returned),
    "truncate": lambda disk, call: disk.truncate(call.path, _last_number(call), call.returned),
    "sync": lambda disk, call: disk.sync(call.path, call.began),
    "mkdir": lambda disk, call: disk.make_folder(call.path, call.returned),
    "link": lambda disk, call: disk.link(call.path, call.paths[1], call.returned),
    "rename": lambda disk, call: disk.rename(call.path, call.paths[1], call.returned),
    "unlink": lambda disk, call: disk.remove(call.path, call.returned),
    "send": lambda disk, call: None,
}
