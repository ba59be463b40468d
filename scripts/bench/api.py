"""How fast the API answers, beside a bare aiohttp route that answers a small JSON with the same server settings.

    scripts/bench/seed --folder /var/tmp/small --messages 20000 --mine 10000
    scripts/bench/seed --folder /var/tmp/million --messages 1000000 --mine 10000
    scripts/bench/api /var/tmp/small /var/tmp/million

Each store is served by a daemon of its own (`maild serve`), the bare route by a process of its own; the client is this process.
All are measured in turn, and only ratios mean something: the machine may be shared. CPU is the server's alone, for one request,
and says most where others work on the machine. `mine` is the
organization that has as many messages in each store: what differs between the stores is other tenants' mail.
"""

import argparse
import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import uvloop

from scripts.bench import measure
from scripts.bench.seed import FACTS, document

WARM_UP = 50


class Connection:
    """One kept-open HTTP connection that sends one request again and again."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, url: str) -> "Connection":
        parts = urlsplit(url)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    async def get(self, request: bytes) -> bytes:
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 2"):
            raise measure.BenchFailed(f"{request.split()[1]!r}: {head[:200]!r}")
        at = head.lower().index(b"content-length:")
        return await self._reader.readexactly(int(head[at + 15 : head.index(b"\r", at)]))

    def close(self) -> None:
        self._writer.close()


def request(url: str, path: str, key: str = "") -> bytes:
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    return f"GET {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{authorization}\r\n".encode()


class Figures:
    def __init__(self, times_s: list[float], seconds: float, cpu_s: float) -> None:
        ordered = sorted(times_s)
        self.p50_ms = statistics.median(ordered) * 1000
        self.p99_ms = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] * 1000
        self.count = len(ordered)
        self.per_s = len(ordered) / seconds
        self.cpu_ms = cpu_s * 1000 / len(ordered)

    def row(self) -> tuple[float, float, int, float]:
        return self.p50_ms, self.p99_ms, round(self.per_s), self.cpu_ms


class Served(NamedTuple):
    """A server process of this run."""

    url: str
    pid: int


async def load(server: Served, octets: bytes, connections: int, seconds: float) -> Figures:
    opened = [await Connection.open(server.url) for _ in range(connections)]
    times: list[float] = []
    for _ in range(WARM_UP // connections + 1):
        await asyncio.gather(*(one.get(octets) for one in opened))
    cpu_s = measure.cpu_s(server.pid)
    began = time.perf_counter()
    until = began + seconds

    async def worker(one: Connection) -> None:
        while (at := time.perf_counter()) < until:
            await one.get(octets)
            times.append(time.perf_counter() - at)

    await asyncio.gather(*(worker(one) for one in opened))
    taken = time.perf_counter() - began
    for one in opened:
        one.close()
    return Figures(times, taken, measure.cpu_s(server.pid) - cpu_s)


@contextlib.asynccontextmanager
async def serving(*command: str) -> AsyncIterator[Served]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), 120)
        if not line:
            raise measure.BenchFailed(f"{' '.join(command[:3])} did not start")
        yield Served(json.loads(line)["http"], process.pid)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def paths(facts: dict[str, Any]) -> dict[str, str]:
    inbox = facts["inboxId"]
    return {
        "GET message": f"/v1/messages/{facts['messageId']}",
        "list 50 messages": "/v1/messages?limit=50",
        "list 50 of inbox": f"/v1/messages?limit=50&inboxId={inbox}",
        "list inboxes": "/v1/inboxes",
        "list 50 threads": "/v1/threads?limit=50",
        "GET thread": f"/v1/threads/{facts['threadId']}",
        "raw": f"/v1/messages/{facts['messageId']}/raw",
        "search rare": f"/v1/messages?q={facts['rare']}",
        "search common": "/v1/messages?q=the",
        "search common in inbox": f"/v1/messages?q=invoice&inboxId={inbox}",
        "search two words": "/v1/messages?q=the%20and",
        "search nothing": "/v1/messages?q=zzzzqqqq",
        "search sender": "/v1/messages?from=person77%40",
        "search in no window": "/v1/messages?q=the&since=2100-01-01",
        "search two letters": "/v1/messages?q=~~",
        "list since": "/v1/messages?since=2100-01-01",
        "list until": "/v1/messages?until=2000-01-01",
        "list label": "/v1/messages?labels=tenth",
        "list label of inbox": f"/v1/messages?labels=tenth&inboxId={inbox}",
        "list rare label": "/v1/messages?labels=thousandth",
        "list two labels": "/v1/messages?labels=tenth,thousandth",
        "list no label": "/v1/messages?labels=none",
        "list unread of label": "/v1/messages?unread=true&labels=tenth",
        "list unread label of inbox": f"/v1/messages?unread=true&inboxId={inbox}",
        "list threads of label": "/v1/threads?labels=tenth",
        "list threads of rare label": "/v1/threads?labels=thousandth",
        "list threads unread of label": "/v1/threads?unread=true&labels=tenth",
        "list archived threads": "/v1/threads?isArchived=true",
    }


def toml(settings: dict[str, Any]) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if not isinstance(value, dict)]
    for name, section in settings.items():
        if isinstance(section, dict):
            lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in section.items())]
    return "\n".join(lines) + "\n"


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        bare = await stack.enter_async_context(serving("-m", "scripts.bench.peers.bare"))
        stores: list[tuple[str, Served, dict[str, Any]]] = []
        for number, store in enumerate(options.stores):
            config = folder / f"{number}.toml"
            config.write_text(toml(document(store)))
            facts = json.loads((store / FACTS).read_text())
            server = await stack.enter_async_context(serving("-m", "maild", "serve", "--config", str(config)))
            for name in options.organizations:
                stores.append((f"{store.name}/{name}", server, facts[name]))
        for connections in options.connections:
            rows: list[tuple[object, ...]] = [
                ("", "", "p50 ms", "p99 ms", "requests/s", "CPU ms", "of bare"),
            ]
            alone = await load(bare, request(bare.url, "/bare"), connections, options.seconds)
            rows.append(("bare", "", *alone.row(), 1.0))
            for what in paths(stores[0][2]):
                if options.only and options.only not in what:
                    continue
                # Beside the bare route at the same moment: what else the machine does meets both.
                beside = await load(bare, request(bare.url, "/bare"), connections, options.seconds / 2)
                for label, server, facts in stores:
                    octets = request(server.url, paths(facts)[what], facts["apiKey"])
                    one = await load(server, octets, connections, options.seconds)
                    rows.append((what, label, *one.row(), one.per_s / beside.per_s))
            measure.table(f"{connections} connections, {options.seconds:g} s each", rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/api", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stores", type=Path, nargs="+", help="folders made by scripts/bench/seed")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (default: %(default)s)")
    parser.add_argument("--organizations", nargs="+", default=["mine"], choices=["mine", "big"])
    parser.add_argument("--only", default="", help="endpoints whose name holds this")
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
