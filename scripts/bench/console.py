"""Pages of the console over a store with many messages: how long each takes, and how large it is.

    scripts/bench/seed --folder /var/tmp/million --messages 1000000
    scripts/bench/console /var/tmp/million [--organization big] [--seconds 2]

An owner signs in by a link, as people do, and asks for each page again and again on one kept-open connection, which so
is the server's time and the loopback's. `first` is the first look, with nothing kept of it.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import uvloop

from scripts.bench import measure
from scripts.bench.api import Connection, Served, load, request, serving, toml
from scripts.bench.seed import FACTS, document

OWNER = "bench@people.test"


def pages(facts: dict[str, Any]) -> dict[str, str]:
    inbox = f"/console/inboxes/{facts['inboxId']}"
    return {
        "overview": "/console",
        "inboxes": "/console/inboxes",
        "threads of an inbox": inbox,
        "search, rare word": f"{inbox}?q={facts['rare']}",
        "search, common word": f"{inbox}?q=the",
        "thread": f"/console/threads/{facts['threadId']}",
        "message": f"/console/messages/{facts['messageId']}",
        "reviews": "/console/reviews",
        "keys": "/console/keys",
        "rules": "/console/rules",
        "suppressions": "/console/suppressions",
        "domains": "/console/domains",
        "webhooks": "/console/webhooks",
        "audit": "/console/audit",
        "events": "/console/audit/events",
        "settings": "/console/settings",
    }


async def command(config: Path, *words: str) -> str:
    """What `maild` printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "maild",
        *words,
        "--config",
        str(config),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise measure.BenchFailed(f"maild {' '.join(words)} failed")
    return said.decode()


async def cookie_of(server: Served, config: Path, organization_id: str) -> str:
    """A session of an owner, who is made where there is none."""
    who = ("--org", organization_id)
    if OWNER not in await command(config, "member", "list", *who):
        await command(config, "member", "add", *who, "--email", OWNER, "--role", "owner")
    said = await command(config, "console", "link", *who, "--member", OWNER)
    link = said.split("link=")[1].split()[0]
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{server.url}/console/sign-in",
            data={"link": link},
            headers={"Sec-Fetch-Site": "same-origin"},
            allow_redirects=False,
        ) as answer,
    ):
        (cookie,) = answer.cookies.values()
        return f"{cookie.key}={cookie.value}"


async def run(options: argparse.Namespace) -> None:
    facts = json.loads((options.store / FACTS).read_text())[options.organization]
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        config = folder / "maild.toml"
        config.write_text(toml(document(options.store)))
        server = await stack.enter_async_context(serving("-m", "maild", "serve", "--config", str(config)))
        cookie = await cookie_of(server, config, facts["organizationId"])
        rows: list[tuple[object, ...]] = [("", "first ms", "p50 ms", "p99 ms", "CPU ms", "KB")]
        for name, path in pages(facts).items():
            octets = request(server.url, path).removesuffix(b"\r\n") + f"Cookie: {cookie}\r\n\r\n".encode()
            alone = await Connection.open(server.url)
            began = time.perf_counter()
            size = len(await alone.get(octets))
            first_ms = (time.perf_counter() - began) * 1000
            alone.close()
            one = await load(server, octets, 1, options.seconds)
            rows.append((name, first_ms, one.p50_ms, one.p99_ms, one.cpu_ms, size / 1000))
        measure.table(f"pages of {options.organization}, one connection, {options.seconds:g} s each", rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/console",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("store", type=Path, help="a folder made by scripts/bench/seed")
    parser.add_argument("--organization", default="big", choices=["mine", "big"])
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement (default: %(default)s)")
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
