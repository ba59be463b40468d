"""What large bodies took of the system's memory it has again when they are gone."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from maild import allocator
if sys.argv[1] == "set":
    allocator.give_back_large_blocks()

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
