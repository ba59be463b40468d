"""Requests that wait for a message: what they cost while nothing comes, and how soon each hears.

    scripts/bench/waits [--waits 200] [--rounds 3]

As many inboxes of one organization as there are waits, one wait at each. Idle: CPU of the daemon, with nobody waiting and with all.
Then one mail to each inbox over SMTP, four sessions at a time: from the 250 of each to the end of its wait's answer.
"""

import argparse
import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

import aiohttp
import aiosmtplib
import uvloop

from scripts.bench import measure
from tests.support.daemon import Daemon

MAIL = b"From: Ada <ada@there.test>\r\nSubject: Your code\r\n\r\nIt is 4711.\r\n"
IDLE_S = 20.0
SESSIONS = 4
SETTLE_S = 2.0


class Bench:
    def __init__(self, daemon: Daemon, inboxes: list[dict[str, Any]]) -> None:
        self._daemon = daemon
        self._inboxes = inboxes
        self._said: dict[str, float] = {}
        self._heard: dict[str, float] = {}

    async def idle(self) -> float:
        """CPU of the daemon in ms a second."""
        await asyncio.sleep(SETTLE_S)
        cpu_s = measure.cpu_s(self._daemon.pid)
        await asyncio.sleep(IDLE_S)
        return (measure.cpu_s(self._daemon.pid) - cpu_s) * 1000 / IDLE_S

    async def waits(self, session: aiohttp.ClientSession, after: str) -> list["asyncio.Task[None]"]:
        tasks = [asyncio.create_task(self._wait(session, one["id"], after)) for one in self._inboxes]
        await asyncio.sleep(SETTLE_S)
        return tasks

    async def _wait(self, session: aiohttp.ClientSession, inbox_id: str, after: str) -> None:
        query = {"inboxId": inbox_id, "timeoutSeconds": "55", "after": after}
        async with session.get("/v1/messages/wait", params=query) as answer:
            data = (await answer.json())["data"]
        assert data["message"]["inboxId"] == inbox_id, data
        self._heard[inbox_id] = time.perf_counter()

    async def mails(self) -> list[float]:
        """How late each wait heard, in ms."""
        waiting = asyncio.Queue[dict[str, Any]]()
        for one in self._inboxes:
            waiting.put_nowait(one)

        async def session() -> None:
            async with aiosmtplib.SMTP(
                hostname="127.0.0.1", port=self._daemon.smtp_port, start_tls=False
            ) as smtp:
                while not waiting.empty():
                    inbox = waiting.get_nowait()
                    await smtp.sendmail("ada@there.test", [inbox["address"]], MAIL)
                    self._said[inbox["id"]] = time.perf_counter()

        await asyncio.gather(*(session() for _ in range(SESSIONS)))
        while len(self._heard) < len(self._inboxes):
            await asyncio.sleep(0.01)
        return [(self._heard[one] - self._said[one]) * 1000 for one in self._said]


async def run(options: argparse.Namespace) -> None:
    with measure.open_folder() as folder:
        sections: dict[str, dict[str, Any]] = {
            "http": {"max_connections": 4 * options.waits, "waits_per_organization": options.waits},
            "limits": {"requests_per_minute": 1_000_000},
        }
        async with Daemon(Path(folder), dns_port=9, outbound_port=9, more=sections) as daemon:
            inboxes = [await daemon.api.post("/v1/inboxes", username=f"w{n}") for n in range(options.waits)]
            headers = {"Authorization": f"Bearer {daemon.api_key}"}
            connector = aiohttp.TCPConnector(limit=0)
            rows: list[tuple[object, ...]] = [("", "CPU ms per s", "p50 ms", "p99 ms", "worst ms")]
            rows.append(("nobody waits", await Bench(daemon, inboxes).idle(), "", "", ""))
            async with aiohttp.ClientSession(daemon.api.url, headers=headers, connector=connector) as session:
                for _ in range(options.rounds):
                    bench = Bench(daemon, inboxes)
                    position = await daemon.api.get("/v1/messages/wait", timeoutSeconds=0)
                    tasks = await bench.waits(session, position["cursor"])
                    idle = await bench.idle()
                    late = sorted(await bench.mails())
                    await asyncio.gather(*tasks)
                    name = f"{options.waits} wait, one mail each"
                    rows.append((name, idle, statistics.median(late), late[len(late) * 99 // 100], late[-1]))
            measure.table("waits", rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/waits", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--waits", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
