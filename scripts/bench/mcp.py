"""How many calls of tools POST /mcp answers, in both eras, beside GETs of the API and a bare aiohttp route.

    scripts/bench/mcp [--rounds 3] [--seconds 4] [--connections 8] [--waits 50]

One daemon with a few messages, load from this process. Then the same GETs by turns alone and while so many calls of
`wait_for_message` wait, in three times as many rounds: what the machine does besides meets both.
"""

import argparse
import asyncio
import contextlib
import json
import statistics
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import uvloop

from scripts.bench import api, measure
from scripts.bench.api import Figures, Served
from tests.support.clients.mcp import HANDSHAKE, MODERN, PATH, Mcp
from tests.support.daemon import Daemon

MESSAGES = 20
SETTLE_S = 1.0


def post(url: str, key: str, version: str, method: str, params: Mapping[str, Any] | None = None) -> bytes:
    """A request of MCP as octets."""
    mcp = Mcp(None, version)  # type: ignore[arg-type]  # it writes requests; this sends them
    body = mcp.request(method, params)
    octets = json.dumps(body).encode()
    named = {
        "Host": urlsplit(url).netloc,
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Content-Length": str(len(octets)),
        **mcp.headers(body),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode() + octets


def call(url: str, key: str, version: str, tool: str, **arguments: Any) -> bytes:
    return post(url, key, version, "tools/call", {"name": tool, "arguments": arguments})


@contextlib.asynccontextmanager
async def waiting(daemon: Daemon, count: int, after: str) -> AsyncIterator[None]:
    """So many calls that wait for mail behind that message."""
    octets = call(daemon.api.url, daemon.api_key, MODERN, "wait_for_message", timeoutSeconds=50, after=after)
    head, body = octets.split(b"\r\n\r\n", 1)
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        tasks = [
            asyncio.create_task(session.post(daemon.api.url + PATH, data=body, headers=headers).__aenter__())
            for _ in range(count)
        ]
        await asyncio.sleep(SETTLE_S)
        assert not any(task.done() for task in tasks)
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(measure.open_folder()))
        more = {"limits": {"requests_per_minute": 10_000_000}}
        daemon = await stack.enter_async_context(Daemon(folder, dns_port=9, outbound_port=9, more=more))
        bare = await stack.enter_async_context(api.serving("-m", "scripts.bench.peers.bare"))
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        for number in range(MESSAGES):
            await daemon.deliver(
                inbox["address"], f"From: ada@there.test\nSubject: {number}\n\n{'words ' * 100}\n"
            )
        (message,) = await daemon.api.get("/v1/messages", limit=1)
        url, key, served = daemon.api.url, daemon.api_key, Served(daemon.api.url, daemon.pid)
        get = api.request(url, f"/v1/messages/{message['id']}", key)
        loads: list[tuple[str, Served, bytes]] = [
            ("bare aiohttp route", bare, api.request(bare.url, "/bare")),
            ("GET message", served, get),
            ("whoami, modern", served, call(url, key, MODERN, "whoami")),
            ("whoami, handshake", served, call(url, key, HANDSHAKE, "whoami")),
            ("tools/list", served, post(url, key, MODERN, "tools/list")),
            ("find_messages", served, call(url, key, MODERN, "find_messages", limit=10)),
            ("read_message", served, call(url, key, MODERN, "read_message", messageId=message["id"])),
            ("read_thread", served, call(url, key, MODERN, "read_thread", threadId=message["threadId"])),
        ]
        rows: list[tuple[object, ...]] = [("", "p50 ms", "p99 ms", "per s", "CPU ms")]
        for name, server, octets in loads:
            rows.append((name, *await middle(server, octets, options)))
        measure.table("mcp", rows)
        alone, beside = [], []
        for _ in range(3 * options.rounds):
            alone.append(await api.load(served, get, options.connections, options.seconds))
            async with waiting(daemon, options.waits, message["id"]):
                beside.append(await api.load(served, get, options.connections, options.seconds))
        rows = [("", "p50 ms", "p99 ms", "per s", "CPU ms"), ("GET message alone", *medians(alone))]
        rows.append((f"beside {options.waits} waits", *medians(beside)))
        measure.table("waits", rows)


async def middle(server: Served, octets: bytes, options: argparse.Namespace) -> tuple[object, ...]:
    """The middle round."""
    rounds: list[Figures] = [
        await api.load(server, octets, options.connections, options.seconds) for _ in range(options.rounds)
    ]
    return sorted(rounds, key=lambda one: one.per_s)[len(rounds) // 2].row()


def medians(rounds: Sequence[Figures]) -> tuple[object, ...]:
    """Of each figure by itself."""
    return tuple(statistics.median(column) for column in zip(*(one.row() for one in rounds), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/mcp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--waits", type=int, default=50)
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
