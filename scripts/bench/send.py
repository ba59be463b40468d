"""How fast `POST /v1/messages/send` accepts mail, beside a bare aiohttp route with one durable insert.

    scripts/bench/send [--seconds 3] [--rounds 3] [--connections 1 10 50] [--scheduled 1000]

Both take the same body (4 KiB of text for one recipient) on kept-open connections. The bare route parses it as JSON and
inserts it as one row through the same writer (storage.engine.writer: group commit, an fsync before the answer); ours
validates, composes, parses back, runs the guards and stores message, thread, recipient and counters. The
queue delivers nothing meanwhile: its smarthost is a stopped smtp-sink. Rounds are interleaved, medians shown.

Then the sink goes on, and so many messages that were scheduled for one second leave: the time from that second to
the last one's arrival.

Needs Postfix's smtp-sink and the project's environment.
"""

import argparse
import asyncio
import contextlib
import json
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop

from scripts.bench import measure
from scripts.bench.api import Served, load, serving
from scripts.bench.measure import Sink
from tests.support.daemon import Daemon

LINE = "x" * 70 + "\n"
AHEAD_S = 75  # scheduling a thousand takes a while; the least that the API takes is 60


def request(url: str, path: str, body: dict[str, Any], key: str = "") -> bytes:
    octets = json.dumps(body).encode()
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"POST {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{authorization}"
        f"Content-Type: application/json\r\nContent-Length: {len(octets)}\r\n\r\n"
    ).encode() + octets


async def accept(daemon: Daemon, inbox_id: str, beside: Served, options: argparse.Namespace) -> None:
    text = LINE * (4096 // len(LINE))
    body = {"inboxId": inbox_id, "to": ["user@sink.test"], "subject": "bench", "text": text}
    maild = Served(daemon.api.url, daemon.pid)
    asked = (
        ("bare insert", beside, request(beside.url, "/bare", body)),
        ("POST send", maild, request(maild.url, "/v1/messages/send", body, daemon.api_key)),
    )
    for connections in options.connections:
        rounds = [
            [await load(server, octets, connections, options.seconds) for _, server, octets in asked]
            for _ in range(options.rounds)
        ]
        rows: list[tuple[object, ...]] = [("", "p50 ms", "p99 ms", "per s", "CPU ms", "p99/p50", "of bare")]
        for side, (name, *_) in enumerate(asked):
            p50, p99, per_s, cpu = map(
                statistics.median, zip(*(one[side].row() for one in rounds), strict=True)
            )
            ratio = statistics.median(one[side].per_s / one[0].per_s for one in rounds)
            rows.append((name, p50, p99, per_s, cpu, p99 / p50, ratio))
        measure.table(f"\n{connections} connections, {options.rounds} rounds of {options.seconds:g} s", rows)
    print(f"peak of the daemon's memory: {measure.peak_rss_mib(daemon.pid):.0f} MiB")


async def leave(daemon: Daemon, inbox_id: str, sink: Sink, count: int) -> None:
    """Schedule `count` messages for one second, and see them arrive."""
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=AHEAD_S)
    body = {"inboxId": inbox_id, "to": ["user@sink.test"], "text": "later", "sendAt": at.isoformat()}
    began = time.perf_counter()
    for start in range(0, count, 20):
        many = min(20, count - start)
        await asyncio.gather(*(daemon.api.post("/v1/messages/send", **body) for _ in range(many)))
    print(f"\n{count} messages scheduled in {time.perf_counter() - began:.1f} s for {at.isoformat()}")
    sink.resume()
    early = sink.taken
    async with asyncio.timeout(AHEAD_S):  # what was queued before leaves first
        while datetime.now(UTC) < at - timedelta(seconds=2):
            early = sink.taken
            await asyncio.sleep(0.2)
    goal = early + count
    await sink.until(goal)
    late_s = (datetime.now(UTC) - at).total_seconds()
    print(f"the last one arrived {late_s:.2f} s after that second began")


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        for name in ("accept", "leave"):
            (folder / name).mkdir()
        sink = await stack.enter_async_context(Sink())
        more: dict[str, dict[str, Any]] = {
            "outbound": {"relay": f"127.0.0.1:{sink.port}", "max_queued": 10_000_000},
            "storage": {"reserve_percent": 0},
            "limits": {"requests_per_minute": 1_000_000_000},
        }
        sink.pause()
        bare = await stack.enter_async_context(
            serving("-m", "scripts.bench.peers.bare", str(folder / "bare.sqlite3"))
        )
        if options.connections:
            async with Daemon(folder / "accept", dns_port=9, more=more) as daemon:
                inbox = await daemon.api.post("/v1/inboxes", username="bench")
                await accept(daemon, inbox["id"], bare, options)
        sink.resume()
        if options.scheduled:
            async with Daemon(folder / "leave", dns_port=9, more=more) as daemon:
                inbox = await daemon.api.post("/v1/inboxes", username="bench")
                await leave(daemon, inbox["id"], sink, options.scheduled)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/send", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, nargs="*", default=[1, 10, 50])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (default: %(default)s)")
    parser.add_argument("--scheduled", type=int, default=1000, help="0: none")
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
