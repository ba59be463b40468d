"""What one hostile peer does to everybody: each attack by itself, how long the daemon leaves others waiting, what it holds.

    scripts/bench/hostility [--seconds 8] [--only NAME …]

Beside each attack another client asks every 10 ms for what needs no store, and a third one brings a small mail every 100 ms; shown are
the median, the 99th percentile and the longest wait of the former's answers, the median and the longest wait from the latter's
connecting to its 250, the daemon's memory at most (a new daemon for each attack), and its CPU. The first row is the idle daemon.
All of it shares the cores with the attackers: read the waits of small machines with that in mind.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import uvloop

from scripts.bench import measure
from tests.support import hostile
from tests.support.hostile import Target
from tests.support.hostile.attacks import ATTACKS, CROWDS
from tests.support.hostile.stage import Stage, stage
from tests.support.hostile.wire import connection, mail

EVERY_S = 0.01
MAIL_EVERY_S = 0.1
FRIEND = 200  # an address that no attacker has
IDLE = "(nobody)"
QUESTION = b"GET /nothing-is-here HTTP/1.1\r\nHost: x\r\n\r\n"
Row = tuple[object, ...]


async def waits_ms(port: int, seconds: float) -> list[float]:
    """How long each answer took, asked on one connection, the next not before the last is there."""
    waited = []
    end = time.monotonic() + seconds
    async with connection(port) as (reader, writer):
        while (begun := time.monotonic()) < end:
            writer.write(QUESTION)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            waited.append((time.monotonic() - begun) * 1000)
            await asyncio.sleep(EVERY_S)
    return waited


async def mail_ms(target: Target, seconds: float) -> list[float]:
    """How long each mail took, a new connection each."""
    waited = []
    end = time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        reply = await mail(target, FRIEND, target.addresses[-1:], b"Subject: hi\r\n\r\nhello")
        assert reply.startswith(b"250 "), reply
        waited.append((time.monotonic() - begun) * 1000)
        await asyncio.sleep(MAIL_EVERY_S)
    return waited


async def one(name: str, seconds: float) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        async with stage(Path(folder)) as on:
            attack = nullcontext() if name == IDLE else hostile.running(on.target, [name])
            async with attack:
                return await measured(name, on, seconds)


async def measured(name: str, on: Stage, seconds: float) -> Row:
    cpu_s = measure.cpu_s(on.daemon.pid)
    waited, mailed = await asyncio.gather(waits_ms(on.target.http_port, seconds), mail_ms(on.target, seconds))
    busy = (measure.cpu_s(on.daemon.pid) - cpu_s) / seconds * 100
    p99 = statistics.quantiles(waited, n=100)[98] if len(waited) > 1 else max(waited)
    mail_waits = statistics.median(mailed), max(mailed)
    return (
        name,
        statistics.median(waited),
        p99,
        max(waited),
        *mail_waits,
        on.memory_mib("VmHWM"),
        f"{busy:.0f} %",
    )


async def main(seconds: float, names: list[str]) -> None:
    rows: list[Row] = [("attack", "p50 ms", "p99 ms", "longest ms", "mail p50", "longest", "peak MiB", "CPU")]
    for name in (IDLE, *names):
        rows.append(await one(name, seconds))
    measure.table(f"each for {seconds:g} s", rows)


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seconds", type=float, default=8)
    names = [*ATTACKS, *CROWDS]
    options.add_argument("--only", nargs="*", choices=sorted(names), default=names)
    given = options.parse_args()
    uvloop.install()
    measure.run(main(given.seconds, given.only))
