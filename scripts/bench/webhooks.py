"""How fast events reach webhooks, beside a bare aiohttp client in the same run.

    scripts/bench/webhooks [--rounds 3] [--deliveries 20000] [--organizations 1]

All call one HTTPS sink on loopback (a process of its own), which answers at once. Four parts:

  rate      ten endpoints, so many deliveries waiting in the store when the daemon starts; from the first arrival to the last. The
            daemon reads each event and its mail, renders, signs twice, posts, and commits a record. The bare client posts bodies of the same
            size from as many workers as the daemon has places, and does nothing else; once more with the daemon's headers and its
            two signatures, which every sender of webhooks must make. Both share TLS, kept-open connections and uvloop with the
            daemon. Rounds are interleaved; medians are shown, of rates, and of the rounds' ratios.
  hanging   the same with three of the ten endpoints that never answer: the rate of the other seven.
  idle      one mail at a time over SMTP: from its 250, and from the end of its data, to the first octet at the sink.
  stream    100 readers of GET /v1/events/stream, where it exists: memory and CPU of the daemon, alone and with mail coming in.

The events are those of a mail that came in by SMTP, published again and again through storage/publishing/events.py with the daemon
stopped. With one organization 25 of the 50 places are its own, with ten all of them are used.
"""

import argparse
import asyncio
import contextlib
import json
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import aiosmtplib
import uvloop

from conf.settings import Http
from controlplane.webhooks import signing
from scripts.bench import measure
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.publishing import events
from storage.records import EventRow, columns
from tests.support.daemon import DOMAIN, Daemon

ENDPOINTS = 10
HANGING = 3
PLACES, PLACES_OF_ONE = 50, 25
SEED_EVENTS = 200  # in one transaction
MAIL = (
    b"From: Ada <ada@there.test>\r\nSubject: Invoice 4711\r\n\r\n"
    + b"Please pay the invoice. It is attached.\r\n" * 40
)
SECRET = signing.keys(signing.secret_text(bytes(signing.SECRET_BYTES)))
READERS = 100
LOOK_S = 0.2
REST_S = 5.0
DONE_S = 300


class Sink(NamedTuple):
    url: str
    ca_file: str
    session: aiohttp.ClientSession

    async def seen(self) -> dict[str, list[float]]:
        """Arrivals by path since it was asked last."""
        async with self.session.get(f"{self.url}/seen") as answer:
            found: dict[str, list[float]] = json.loads(await answer.read())["arrivals"]
            return found

    async def until(self, count: int, prefix: str = "/") -> list[float]:
        """The arrivals at paths that begin so, once there are so many."""
        arrivals: list[float] = []
        async with asyncio.timeout(DONE_S):
            while True:
                for path, times in (await self.seen()).items():
                    arrivals += times if path.startswith(prefix) else []
                if len(arrivals) >= count:
                    return sorted(arrivals)
                await asyncio.sleep(LOOK_S)

    async def body_bytes(self) -> int:
        async with self.session.get(f"{self.url}/seen") as answer:
            size: int = json.loads(await answer.read())["body"]
            return size


@contextlib.asynccontextmanager
async def sink_in(folder: Path) -> AsyncIterator[Sink]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "scripts.bench.peers.webhook_sink", str(folder), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 20))
        context = ssl.create_default_context(cafile=ready["ca_file"])
        connector = aiohttp.TCPConnector(ssl=context, limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Sink(ready["http"], ready["ca_file"], session)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Bench:
    def __init__(self, daemon: Daemon, sink: Sink, options: argparse.Namespace) -> None:
        self._daemon = daemon
        self._sink = sink
        self._organizations = options.organizations
        self._deliveries = options.deliveries
        self._places = PLACES if options.organizations > 1 else PLACES_OF_ONE
        self._ids = Ids(Clock())
        self.body_bytes = 0

    async def prepare(self) -> None:
        """Organizations with an inbox each, ten endpoints, one mail to each inbox that becomes the pattern."""
        for number in range(self._organizations):
            key = self._daemon.api_key
            if number:
                made = json.loads(
                    await self._daemon.command(
                        "org", "create", f"Org {number}", "--plan", "selfhost", "--json"
                    )
                )
                key = made["apiKey"]
            async with aiohttp.ClientSession(
                self._daemon.api.url, headers={"Authorization": f"Bearer {key}"}
            ) as session:
                await session.post("/v1/inboxes", json={"username": f"bot{number}"})
                for endpoint in range(number, ENDPOINTS, self._organizations):
                    body = {"url": f"{self._sink.url}/ok/{endpoint}", "subscribedEvents": ["email.received"]}
                    async with session.post("/v1/webhooks", json=body) as answer:
                        assert answer.status == 201, await answer.text()
        for number in range(self._organizations):
            await self.mail(number)
        await self._sink.until(ENDPOINTS)
        self.body_bytes = await self._sink.body_bytes()
        await self._daemon.stop()

    async def mail(self, number: int = 0) -> float:
        """One mail to an inbox; when its 250 came."""
        await aiosmtplib.send(
            MAIL, sender="ada@there.test", recipients=[f"bot{number}@{DOMAIN}"],
            hostname="127.0.0.1", port=self._daemon.smtp_port, start_tls=False,
        )  # fmt: skip
        return time.monotonic()

    async def queue(self, hanging: int) -> None:
        """Fill the stopped store; the last `hanging` endpoints will never answer."""
        db = await Database.open(self._daemon.data_dir / "maild.sqlite3")
        try:
            await db.write(_point, self._sink.url, hanging)
            patterns = await db.write(_patterns)
            # Each event of the only organization is ten deliveries, of ten organizations one.
            count = self._deliveries // (ENDPOINTS // self._organizations) // self._organizations
            for pattern in patterns:
                for at in range(0, count, SEED_EVENTS):
                    await db.write(_publish, self._ids, pattern, min(SEED_EVENTS, count - at))
        finally:
            await db.close()

    async def rate(self, hanging: int = 0) -> measure.Result:
        await self.queue(hanging)
        await self._sink.seen()
        expected = self._deliveries * (ENDPOINTS - hanging) // ENDPOINTS
        await self._daemon.start()
        cpu_s = measure.cpu_s(self._daemon.pid)
        arrivals = await self._sink.until(expected, "/ok")
        cpu_s = measure.cpu_s(self._daemon.pid) - cpu_s
        await self._daemon.kill()
        await self._forget()
        return measure.Result.of(expected, arrivals[-1] - arrivals[0], cpu_s)

    async def _forget(self) -> None:
        """What still waits must not be delivered in the next round."""
        db = await Database.open(self._daemon.data_dir / "maild.sqlite3")
        await db.write(
            lambda tx: tx.run(
                "UPDATE webhook_deliveries SET status = 'halted', next_attempt_at = NULL, lease = NULL WHERE status = 'pending'"
            )
        )
        await db.close()

    async def bare(self, *, signs: bool) -> measure.Result:
        body, left = b"x" * self.body_bytes, iter(range(self._deliveries))

        async def worker(number: int) -> None:
            for _ in left:
                url = f"{self._sink.url}/bare/{number % ENDPOINTS}"
                headers = {"Content-Type": "application/json", **(signed(body) if signs else {})}
                async with session.post(url, data=body, headers=headers) as answer:
                    await answer.read()

        await self._sink.seen()
        cpu_s = time.process_time()
        connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=self._sink.ca_file), limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            await asyncio.gather(*(worker(number) for number in range(self._places)))
        arrivals = await self._sink.until(self._deliveries, "/bare")
        return measure.Result.of(self._deliveries, arrivals[-1] - arrivals[0], time.process_time() - cpu_s)

    async def idle(self, times: int) -> tuple[list[float], list[float]]:
        """Milliseconds to the first octet at the sink: from the 250, and from the end of the data."""
        await self.queue(0)
        await self._forget()
        await self._daemon.start()
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=self._daemon.smtp_port, start_tls=False)
        await client.connect()
        from_250, from_end = [], []
        for _ in range(times):
            await self._sink.seen()
            await client.mail("ada@there.test")
            await client.rcpt(f"bot0@{DOMAIN}")
            ended = time.monotonic()
            await client.data(MAIL)
            taken = time.monotonic()
            (first, *_) = await self._sink.until(ENDPOINTS // self._organizations)
            from_250.append((first - taken) * 1000)
            from_end.append((first - ended) * 1000)
        await client.quit()
        await self._daemon.kill()
        return from_250, from_end

    async def stream(self, mails: int) -> list[tuple[object, ...]] | None:
        """Rows of a table; None where the daemon has no stream."""
        await self._daemon.start()
        rows: list[tuple[object, ...]] = [
            ("", "peak RSS MiB", "CPU ms per s or mail"),
            ("nobody reads, at rest", *await self._cost(asyncio.sleep(REST_S), REST_S)),
            ("nobody reads, mail comes in", *await self._cost(self._mails(mails), mails)),
        ]
        try:
            async with contextlib.AsyncExitStack() as stack:
                readers = [await stack.enter_async_context(_Reader(self._daemon)) for _ in range(READERS)]
                if not all(one.is_open for one in readers):
                    return None
                rows += [
                    (f"{READERS} readers, at rest", *await self._cost(asyncio.sleep(REST_S), REST_S)),
                    (f"{READERS} readers, mail comes in", *await self._cost(self._mails(mails), mails)),
                ]
                async with asyncio.timeout(30):
                    while min(one.events for one in readers) < mails:
                        await asyncio.sleep(LOOK_S)
                return rows
        finally:
            await self._daemon.kill()

    async def _mails(self, count: int) -> None:
        for _ in range(count):
            await self.mail()

    async def _cost(self, work: Awaitable[None], times: float) -> tuple[float, float]:
        """Memory at its highest so far, and CPU by so many seconds or mails."""
        cpu_s = measure.cpu_s(self._daemon.pid)
        await work
        used_s = measure.cpu_s(self._daemon.pid) - cpu_s
        return measure.peak_rss_mib(self._daemon.pid), used_s * 1000 / times


class _Reader:
    """One reader of the stream, which counts the events that it is told."""

    def __init__(self, daemon: Daemon) -> None:
        self._session = aiohttp.ClientSession(headers={"Authorization": f"Bearer {daemon.api_key}"})
        self._url = f"{daemon.api.url}/v1/events/stream"
        self.is_open = False
        self.events = 0

    async def __aenter__(self) -> "_Reader":
        self._answer = await self._session.get(self._url, headers={"Accept": "text/event-stream"})
        self.is_open = self._answer.content_type == "text/event-stream"
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        self._answer.close()
        await self._session.close()

    async def _read(self) -> None:
        if self.is_open:
            async for line in self._answer.content:
                self.events += line.startswith(b"data:")


def signed(body: bytes) -> dict[str, str]:
    return signing.request_headers(
        webhook_id="whk_0123456789abcdefghjkmnpqrs", event_id="evt_0123456789abcdefghjkmnpqrs", event_type="email.received",
        attempt=1, at_s=int(time.time()), body=body, secrets=[SECRET],
    )  # fmt: skip


def _patterns(tx: Tx) -> list[EventRow]:
    """The first event of each organization."""
    return [
        EventRow(*row)
        for row in tx.all(
            f"SELECT {columns(EventRow)} FROM events WHERE seq IN (SELECT min(seq) FROM events GROUP BY organization_id)"
        )
    ]


def _publish(tx: Tx, ids: Ids, pattern: EventRow, count: int) -> None:
    for _ in range(count):
        events.publish(
            tx, ids.new("evt"), Clock().now_ms(), organization_id=pattern.organization_id, type=pattern.type,
            data=json.loads(pattern.data), inbox_id=pattern.inbox_id, message_id=pattern.message_id,
        )  # fmt: skip


def _point(tx: Tx, base: str, hanging: int) -> None:
    """Lead the endpoints to paths that answer, but the last ones."""
    for number, (webhook_id,) in enumerate(tx.all("SELECT id FROM webhooks ORDER BY id")):
        kind = "hang" if number >= ENDPOINTS - hanging else "ok"
        tx.run("UPDATE webhooks SET url = ? WHERE id = ?", (f"{base}/{kind}/{number}", webhook_id))


async def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="maild-bench-") as name:
        folder = Path(name)
        async with sink_in(folder) as sink:
            daemon = Daemon(
                folder,
                dns_port=9,
                more={
                    "webhooks": {"allow_private_networks": True, "ca_file": sink.ca_file},
                    "storage": {"reserve_percent": 0},
                    "http": http_settings(),
                },
            )
            async with daemon:
                bench = Bench(daemon, sink, options)
                await bench.prepare()
                await parts(bench, options)
                await daemon.start()


def http_settings() -> dict[str, Any]:
    """Room for the readers of the stream, where there is one."""
    room = {"max_connections_per_address": 10 * READERS, "event_streams_per_organization": READERS}
    return {name: value for name, value in room.items() if name in Http.__dataclass_fields__}


async def parts(bench: Bench, options: argparse.Namespace) -> None:
    bare, signing_too, ours, hanging = [], [], [], []
    for number in range(options.rounds):
        bare.append(await bench.bare(signs=False))
        signing_too.append(await bench.bare(signs=True))
        ours.append(await bench.rate())
        hanging.append(await bench.rate(HANGING))
        print(
            f"round {number + 1}: "
            + ", ".join(f"{one[-1].per_s:.0f}/s" for one in (bare, signing_too, ours, hanging)),
            flush=True,
        )
    plain, signer, maild, seven = (measure.median(one) for one in (bare, signing_too, ours, hanging))
    measure.table(
        f"{options.deliveries} deliveries of {bench.body_bytes} bytes, {ENDPOINTS} endpoints of {options.organizations} organization(s)",
        [("", "deliveries/s", "CPU ms", "ratio"),
         ("bare aiohttp", round(plain.per_s), plain.cpu_ms, 1.0),
         ("bare aiohttp, signing, of bare", round(signer.per_s), signer.cpu_ms, ratio(signing_too, bare)),
         ("maild, of bare", round(maild.per_s), maild.cpu_ms, ratio(ours, bare)),
         ("maild, of bare, signing", round(maild.per_s), maild.cpu_ms, ratio(ours, signing_too)),
         (f"{HANGING} hang, of maild", round(seven.per_s), seven.cpu_ms, ratio(hanging, ours))],
    )  # fmt: skip
    from_250, from_end = await bench.idle(options.mails)
    measure.table(
        "idle: ms to the first octet at the sink",
        [("", "p50", "p90")]
        + [(what, statistics.median(times), statistics.quantiles(times, n=10)[-1])
           for what, times in (("from the 250", from_250), ("from the end of the mail", from_end))],
    )  # fmt: skip
    rows = await bench.stream(options.mails)
    if rows is None:
        print("no GET /v1/events/stream here")
    else:
        measure.table("stream", rows)


def ratio(ours: Sequence[measure.Result], theirs: Sequence[measure.Result]) -> float:
    """The median of the rounds' ratios: what slows the machine slows both halves of a round."""
    return statistics.median(one.per_s / other.per_s for one, other in zip(ours, theirs, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/webhooks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deliveries", type=int, default=20_000, help="in each round (default: %(default)s)")
    parser.add_argument("--organizations", type=int, default=1, choices=[1, 10])
    parser.add_argument("--mails", type=int, default=100, help="for the idle part (default: %(default)s)")
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
