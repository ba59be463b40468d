"""What large bodies took of the system's memory it has again when they are gone."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from maild.allocator import BUSY_SHARE, ROUND_S, ROUNDS, MemoryKeeper

PROGRAM = """
import sys, threading
from maild import allocator
if sys.argv[1] == "set":
    allocator.keep_little()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def work():
    for size in (3, 20, 5, 17, 9, 23):
        body = bytearray(size << 20)
        text = bytes(body)
        pin.append(bytes(100_000))  # what outlives a body lies behind it
        del body, text

pin = []
before = resident()
for _ in range(5):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print((resident() - before) >> 20)
"""


def grown_mib(mode: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, mode], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
def test_large_blocks_are_given_back() -> None:
    assert grown_mib("set") <= 8  # 3 MB of them are pinned


ARENAS = """
import threading
from maild import allocator
allocator.keep_little()

ARENA_BYTES = 64 << 20  # glibc's HEAP_MAX_SIZE, to which an arena's heap is aligned
together = threading.Barrier(13)

def work():
    blocks = [bytes(60_000) for _ in range(100)]
    together.wait()
    together.wait()

for _ in range(12):
    threading.Thread(target=work).start()
together.wait()
with open("/proc/self/maps") as file:
    maps = [line.replace("-", " ", 1).split() for line in file]
heaps = [
    first
    for first, then in zip(maps, maps[1:])
    if int(first[0], 16) % ARENA_BYTES == 0 and first[2:] == ["rw-p", "00000000", "00:00", "0"]
    and then[0] == first[1] and then[2] == "---p"  # the rest of it, for later
]
print(len(heaps), allocator.ARENAS)
together.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
def test_threads_share_a_few_arenas() -> None:
    done = subprocess.run([sys.executable, "-c", ARENAS], capture_output=True, text=True, check=True)
    found, allowed = map(int, done.stdout.split())
    assert 0 < found < allowed  # the first of them is the process's own heap


async def rounds(*shares: float) -> Sequence[int]:
    """How often the caches were emptied after each round, of rounds that took so much of a core."""
    spent_s, emptied, seen = 0.0, 0, []

    async def empty() -> None:
        nonlocal emptied
        emptied += 1

    keeper = MemoryKeeper(empty, lambda: spent_s)
    for share in shares:
        spent_s += share * ROUND_S
        await keeper.round()
        seen.append(emptied)
    return seen


async def test_memory_is_given_back_in_the_first_quiet_rounds_after_busy_ones() -> None:
    quiet, busy = BUSY_SHARE / 2, BUSY_SHARE * 2
    assert await rounds(quiet, busy, busy, quiet, quiet, busy, quiet) == [0, 0, 0, 1, 2, 2, 3]
    assert await rounds(busy, *[quiet] * (ROUNDS + 3)) == [0, *range(1, ROUNDS + 1), *[ROUNDS] * 3]


SMALL_BLOCKS = """
import threading
from maild.allocator import give_back_what_is_free

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20

pin = []

def work():
    blocks = [b"x" * 60_000 for _ in range(1000)]
    pin.extend(blocks[::100])  # nothing below them is given back by itself

before = resident()
thread = threading.Thread(target=work)
thread.start()
thread.join()
kept = resident() - before
give_back_what_is_free()
print(kept, resident() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
def test_small_blocks_are_given_back_when_asked() -> None:
    done = subprocess.run([sys.executable, "-c", SMALL_BLOCKS], capture_output=True, text=True, check=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 20
    assert left < 10
