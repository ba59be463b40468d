"""The process that computes (storage.turns.cpu_process): reads functions with their values, writes what they return.

    python -m storage.turns.cpu_child WORK_S NICENESS
    stdin: asked, stdout: answered, each a length of 8 octets and a pickle

What is asked for comes from the process that began it, and nobody else holds the pipe. It ends when its input does.
What strangers wrote only ever is a value. Its memory is limited, where the machine has none left it goes first, and it
yields to the event loop where cores are few.
What takes more than WORK_S seconds of a processor ends the process, by SIGPROF.
"""

import mmap
import os
import pickle
import resource
import signal
import struct
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

LENGTH = struct.Struct("!Q")
MEMORY_BYTES = 1 << 30
OOM_SCORE = 500  # proc_pid_oom_score_adj(5): as if it had half of all memory besides


def map_file(path: str) -> mmap.mmap:
    """A read-only map of the file."""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def answer(asked: bytes) -> bytes:
    """Do what is asked. Answers (result, None), or (None, the traceback) when that raised."""
    try:
        result = pickle.loads(asked)()  # noqa: S301 (the daemon wrote it)
        return pickle.dumps((result, None), pickle.HIGHEST_PROTOCOL)
    except Exception:
        return pickle.dumps((None, traceback.format_exc()), pickle.HIGHEST_PROTOCOL)


def read_frame(stream: IO[bytes]) -> bytes | None:
    """None where the other side has ended."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    octets = stream.read(size)
    return octets if len(octets) == size else None


def write_frame(stream: IO[bytes], octets: bytes) -> None:
    """OSError where the other side has ended."""
    stream.write(LENGTH.pack(len(octets)))
    stream.write(octets)
    stream.flush()


def main() -> None:
    # What stops the daemon stops this process by way of its input, when nobody waits for it any more.
    # `systemctl kill` sends to every process of the service what is meant for the daemon alone.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    limit_memory()
    with suppress(OSError):
        os.nice(int(sys.argv[2]))
    with suppress(
        OSError
    ):  # a machine without memory ends this process before the daemon, which begins another
        Path("/proc/self/oom_score_adj").write_text(f"{OOM_SCORE}\n")
    # No handler of Python's: what never ends may be one call in C.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    asked_of, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not write between answers
    serve(asked_of, answers, float(sys.argv[1]))


def limit_memory() -> None:
    """Of this process, to `MEMORY_BYTES`, or to what it may have anyway where that is less (`ulimit -v`, LimitAS=)."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    with suppress(OSError, ValueError):  # a service may be forbidden to set limits of its own
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def serve(asked_of: IO[bytes], answers: IO[Any], work_s: float) -> None:
    """Until one of the two ends, or a piece of work takes more than `work_s` seconds of a processor."""
    while (asked := read_frame(asked_of)) is not None:
        signal.setitimer(signal.ITIMER_PROF, work_s)
        answered = answer(asked)
        signal.setitimer(signal.ITIMER_PROF, 0)
        try:
            write_frame(answers, answered)
        except BrokenPipeError:
            return


if __name__ == "__main__":
    main()
