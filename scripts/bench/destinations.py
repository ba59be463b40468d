"""What many destinations, some of which hang, and a long queue cost the others.

    scripts/bench/destinations [--messages 2000] [--rounds 3] [--queued 1000000]

  hanging      mail to 450 domains on nine hosts (smtp-sink) that answer, alone, and among mail to 50 domains whose
               hosts take the connection and never say a word: messages/s until the last of the 450's has arrived.
  reading      p50 of GET of one message on four kept-open connections: at rest, and while the queue
               drains: all messages are in it first.
  long queue   so many recipients wait for an hour in the store: how long the daemon takes to start (the process and
               its modules included), and from POST to the sink's 250 for one message at a time, beside an empty queue.

Rounds are interleaved; medians are shown with their range. Needs Postfix's smtp-sink and no root.
"""

import argparse
import asyncio
import contextlib
import sqlite3
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from scripts.bench import measure
from scripts.bench.api import Figures, Served, load, request
from scripts.bench.measure import Sink
from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer

HEALTHY, HOSTS = 450, 9
HANGING = 50
CONNECTIONS = 20
TEXT = ("x" * 70 + "\n") * 57
READERS = 4
HOUR_MS = 3_600_000


class World:
    """A daemon, the hosts that answer, and those that hang, all on one port."""

    def __init__(self, daemon: Daemon, inbox_id: str, sinks: Sequence[Sink]) -> None:
        self.daemon = daemon
        self._inbox_id = inbox_id
        self._sinks = sinks

    async def feed(self, domains: Sequence[str]) -> None:
        """A message to each, as fast as the API answers."""
        waiting = iter(domains)

        async def post() -> None:
            for domain in waiting:
                await self.send(domain)

        await asyncio.gather(*(post() for _ in range(CONNECTIONS)))

    async def send(self, domain: str) -> str:
        body = {"inboxId": self._inbox_id, "to": [f"user@{domain}"], "subject": "bench", "text": TEXT}
        made = await self.daemon.api.post("/v1/messages/send", **body)
        return str(made["id"])

    def pause(self) -> None:
        """The hosts that answer take connections, and greet nobody."""
        for sink in self._sinks:
            sink.pause()

    def resume(self) -> None:
        """They go on."""
        for sink in self._sinks:
            sink.resume()

    async def arrival(self, count: int) -> None:
        """Wait until the hosts that answer have taken so many more, evenly spread, as `healthy` are."""
        each = count // HOSTS
        await asyncio.gather(*(sink.until(sink.taken + each) for sink in self._sinks))


def healthy(count: int) -> list[str]:
    """So many domains in turn; a multiple of HOSTS, so that each host gets as many."""
    return [f"d{number % HEALTHY}.test" for number in range(count)]


def among_hanging(domains: Sequence[str]) -> list[str]:
    """One to a host that hangs after each nine that answer."""
    mixed = list[str]()
    for number, domain in enumerate(domains):
        mixed.append(domain)
        if number % 9 == 8:
            mixed.append(f"h{number // 9 % HANGING}.test")
    return mixed


@contextlib.asynccontextmanager
async def world(folder: Path, port: int) -> AsyncIterator[World]:
    async with contextlib.AsyncExitStack() as stack:
        dns = await stack.enter_async_context(DnsServer())
        for number in range(HEALTHY):
            dns.add_mx(
                f"d{number}.test", f"127.1.0.{number % HOSTS + 1}", host=f"mx{number % HOSTS}.hosts.test"
            )
        for number in range(HANGING):
            address = f"127.2.0.{number + 1}"
            dns.add_mx(f"h{number}.test", address)
            silent = await asyncio.start_server(_say_nothing, address, port)
            stack.callback(silent.close)
        sinks = [
            await stack.enter_async_context(Sink(port, address=f"127.1.0.{number + 1}"))
            for number in range(HOSTS)
        ]
        more = {"outbound": {"max_queued": 100_000_000}}
        daemon = await stack.enter_async_context(
            Daemon(folder, dns_port=dns.port, outbound_port=port, more=more)
        )
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        yield World(daemon, inbox["id"], sinks)


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        await reader.read()
    writer.close()


async def hanging(options: argparse.Namespace) -> None:
    count = options.messages // HOSTS * HOSTS
    rates: dict[str, list[float]] = {"alone": [], "among hosts that hang": []}
    at_rest: list[Figures] = []
    draining: list[Figures] = []
    for _ in range(options.rounds):
        # A new daemon for each: it remembers who hung.
        for name, found in rates.items():
            with measure.open_folder() as folder:
                async with world(folder, free_port()) as one:
                    await one.feed(healthy(HOSTS * 10))
                    await measure.rest(one.daemon.pid)
                    if name == "alone":
                        at_rest.append(await reading(one))
                    domains = healthy(count)
                    arrived = asyncio.create_task(one.arrival(count))
                    await asyncio.sleep(0)  # it looks at what was taken before
                    began = time.perf_counter()
                    await one.feed(domains if name == "alone" else among_hanging(domains))
                    await arrived
                    found.append(count / (time.perf_counter() - began))
                    if name == "alone":
                        one.pause()
                        await one.feed(healthy(count))
                        one.resume()
                        draining.append(await reading(one))
    alone, among = rates.values()
    shares = [one / other for one, other in zip(alone, among, strict=True)]
    rows: list[tuple[object, ...]] = [("", "messages/s", "range")]
    rows += [(name, round(measure.middle(found)), measure.span(found)) for name, found in rates.items()]
    measure.table(f"\nhanging: {count} messages to {HEALTHY} domains, and a ninth as many to {HANGING}", rows)
    print(f"alone, of among hosts that hang: {measure.middle(shares):.2f} ({measure.span(shares, 2)})")
    ratios = [one.p50_ms / other.p50_ms for one, other in zip(draining, at_rest, strict=True)]
    rows = [("", "p50 ms", "p99 ms")]
    for name, figures in (("at rest", at_rest), ("while the queue drains", draining)):
        rows.append(
            (name, *(statistics.median(getattr(one, at) for one in figures) for at in ("p50_ms", "p99_ms")))
        )
    measure.table("\nreading", rows)
    print(f"p50, of that at rest: {measure.middle(ratios):.2f} ({measure.span(ratios, 2)})")


async def reading(one: World) -> Figures:
    (newest,) = await one.daemon.api.get("/v1/messages", limit=1)
    octets = request(one.daemon.api.url, f"/v1/messages/{newest['id']}", one.daemon.api_key)
    return await load(Served(one.daemon.api.url, one.daemon.pid), octets, READERS, 2)


async def long_queue(options: argparse.Namespace) -> None:
    rows: list[tuple[object, ...]] = [("", "start s", "range", "POST to 250 ms, p50", "range")]
    found: dict[str, tuple[list[float], list[float]]] = {
        "empty": ([], []),
        f"{options.queued} wait": ([], []),
    }
    with measure.open_folder() as folder:
        async with world(folder, free_port()) as one:
            for name, (starts, waits) in found.items():
                if name != "empty":
                    message_id = await one.send("d0.test")
                    await one.daemon.stop()
                    fill(one.daemon.data_dir / "maild.sqlite3", message_id, options.queued)
                    await one.daemon.start()
                for _ in range(options.rounds):
                    await one.daemon.stop()
                    began = time.perf_counter()
                    await one.daemon.start()
                    starts.append(time.perf_counter() - began)
                    waits.append(await one_at_a_time(one))
    for name, (starts, waits) in found.items():
        rows.append(
            (
                name,
                measure.middle(starts),
                measure.span(starts, 2),
                measure.middle(waits),
                measure.span(waits, 1),
            )
        )
    measure.table("\nlong queue", rows)


async def one_at_a_time(one: World) -> float:
    times = []
    for _ in range(5 * HOSTS):
        began = time.perf_counter()
        message_id = await one.send("d0.test")
        path = f"/v1/messages/{message_id}"
        while (await one.daemon.api.get(path))["status"] != "delivered":
            await asyncio.sleep(0.001)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def fill(database: Path, message_id: str, count: int) -> None:
    """Recipients of one message at 1,000 domains, due in an hour."""
    later_ms = int(time.time() * 1000) + HOUR_MS
    with contextlib.closing(sqlite3.connect(database)) as conn, conn:
        conn.execute(
            """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
                 next_attempt_at, expires_at)
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
               SELECT m.id, i, m.organization_id, 'u' || i || '@w' || (i % 1000) || '.test', 'w' || (i % 1000) || '.test',
                 'to', 'queued', ? + i % 60000, ? FROM n, messages m WHERE m.id = ?""",
            (count, later_ms, later_ms + 24 * HOUR_MS, message_id),
        )


async def run(options: argparse.Namespace) -> None:
    if options.messages:
        await hanging(options)
    if options.queued:
        await long_queue(options)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/destinations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--messages", type=int, default=2000, help="to hosts that answer; 0: leave that out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queued", type=int, default=1_000_000, help="recipients; 0: leave that out")
    options = parser.parse_args()
    if problems := tools.lacking("smtp-sink", root=False):
        parser.error("; ".join(problems))
    measure.run(run(options))


if __name__ == "__main__":
    main()
