"""Everything at once, at set rates: what each kind of work waits for while all the others go on.

    scripts/bench/mixed [--seconds 60] [--times 1]

An open loop: each mail, read and send begins when it is due, whether those before it are done or not, and its latency
counts from that moment. At `--times 1`, a second: 100 mails of 4 KiB of text come in on ten kept-open sessions, 200 reads
(lists of 20 messages and threads, searches, GETs) and 50 sends to a sink that takes everything; each of two webhooks
hears of every mail that came in and of every message that went out, so about 300 deliveries. `loop` is a path that asks
the store nothing: what it waits is how late the daemon's event loop is. The load has the same cores and, where it may,
goes before the daemon; `the load itself` is how late its own loop is, which is in all the other figures.

Shown are the latencies in ms of the whole run and the 99th percentiles of its thirds, how many deliveries came, the
daemon's CPU and memory. What is shed (503, 421) is counted and not asked again; any other failure ends the bench.
"""

import argparse
import asyncio
import json
import random
import ssl
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import aiohttp
import uvloop

from scripts.bench import measure
from scripts.bench.mails.words import LANGUAGES, Words
from tests.support.daemon import DOMAIN, Daemon
from tests.support.hostile import wire
from tests.support.peers.dns_server import DnsServer

MAILS, READS, SENDS, LOOKS = 100, 200, 50, 20  # a second
SESSIONS, CONNECTIONS, WEBHOOKS = 10, 200, 2
SINK_DOMAIN = "sink.test"
MAIL_WORDS = 700  # about 4 KiB
WARM_UP_S = 3
DRAIN_S = 30
REFRESHED = 0.05  # of the lists are parsed: the load has the same two cores
LOOK_S = 0.2
IDLE_S = 30.0
AGE_S = 900  # a session of SMTP may last 1,200 (smtp.session_timeout_s)
ENVELOPE = f"MAIL FROM:<mallory@there.test>\r\nRCPT TO:<bot@{DOMAIN}>\r\nDATA\r\n".encode()
TRY_LATER = (b"421", b"451", b"452")
EVENTS = ("email.received", "email.sent")


class Shed(Exception):
    """The daemon had no time for it, and said so."""


class Pool:
    """Kept-open connections, of which each piece of work takes one; it waits where all are taken.

    One that rested for IDLE_S, or is AGE_S old, is not used again: the daemon closes those, and may be about to."""

    def __init__(self, size: int, connect: Callable[[], Awaitable[wire.Streams]]) -> None:
        self._free: asyncio.LifoQueue[_Rested | None] = asyncio.LifoQueue()
        self._connect = connect
        for _ in range(size):
            self._free.put_nowait(None)

    async def use(self, work: Callable[[wire.Streams], Awaitable[None]]) -> None:
        rested = _still_open(await self._free.get())
        opened, streams = (time.perf_counter(), None) if rested is None else (rested.opened, rested.streams)
        try:
            streams = streams or await self._connect()
            await work(streams)
        except Shed:
            if streams:
                streams[1].transport.abort()
            self._free.put_nowait(None)
            raise
        self._free.put_nowait(_Rested(opened, time.perf_counter(), streams))

    def close(self) -> None:
        while not self._free.empty():
            if rested := self._free.get_nowait():
                rested.streams[1].transport.abort()


class _Rested(NamedTuple):
    opened: float
    since: float
    streams: wire.Streams


def _still_open(rested: _Rested | None) -> _Rested | None:
    now = time.perf_counter()
    if rested is None or (now - rested.since < IDLE_S and now - rested.opened < AGE_S):
        return rested
    rested.streams[1].transport.abort()
    return None


@dataclass
class Load:
    """The pieces of work, and what each kind of them has waited: (due, seconds)."""

    daemon: Daemon
    inbox_id: str
    sessions: int
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    waits: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    events: int = 0  # that each webhook hears of
    shed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._words = [Words(self.chance, letters) for letters in LANGUAGES]
        self._http_port = int(self.daemon.api.url.rpartition(":")[2])
        self._smtp = Pool(self.sessions, self._session)
        self._http = Pool(CONNECTIONS, lambda: asyncio.open_connection("127.0.0.1", self._http_port))
        self._known: list[dict[str, Any]] = []

    async def _session(self) -> wire.Streams:
        streams = await asyncio.open_connection("127.0.0.1", self.daemon.smtp_port)
        if not (await wire.reply(streams[0])).startswith(b"220"):
            raise Shed
        await wire.say(*streams, b"EHLO there.test")
        return streams

    def _text(self, count: int) -> str:
        return self.chance.choice(self._words).some(count)

    async def mail(self) -> None:
        text = self._text(MAIL_WORDS)
        head = f"From: a{self.chance.randrange(500)}@there.test\r\nSubject: {text[:40]}\r\n\r\n"

        async def work(streams: wire.Streams) -> None:
            reader, writer = streams
            writer.write(ENVELOPE)  # in one packet, as MTAs do (RFC 2920)
            for _ in range(3):
                await wire.reply(reader)
            writer.write((head + text).encode())
            answer = await wire.say(*streams, b"\r\n.")
            if answer.startswith(TRY_LATER):
                raise Shed
            assert answer.startswith(b"250 "), answer
            self.events += 1

        await self._smtp.use(work)

    async def read(self) -> None:
        paths = ["/v1/messages?limit=20", "/v1/threads?limit=20", f"/v1/inboxes/{self.inbox_id}"]
        if self._known:
            one = self.chance.choice(self._known)
            paths += [f"/v1/messages/{one['id']}", f"/v1/threads/{one['threadId']}"]
        path = self.chance.choice(paths)
        found = await self._ask("GET", path)
        if path == paths[0] and (not self._known or self.chance.random() < REFRESHED):
            self._known = json.loads(found)["data"]

    async def search(self) -> None:
        word = max(self._text(12).split(), key=len)
        await self._ask("GET", f"/v1/messages?limit=20&q={quote(word)}")

    async def send(self) -> None:
        to = [f"a{self.chance.randrange(1 << 30)}@{SINK_DOMAIN}"]
        await self._ask(
            "POST", "/v1/messages/send",
            {"inboxId": self.inbox_id, "to": to, "subject": "bench", "text": self._text(100)},
        )  # fmt: skip
        self.events += 1

    async def look(self) -> None:
        await self._ask("GET", "/nothing-is-here", expected=404)

    async def _nothing(self) -> None:
        """What waits is the loop of the load."""

    async def _ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, expected: int | None = None
    ) -> bytes:
        octets = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: api", f"Authorization: Bearer {self.daemon.api_key}"]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(octets)}"]
        found = b""

        async def work(streams: wire.Streams) -> None:
            nonlocal found
            reader, writer = streams
            writer.write("\r\n".join([*lines, "", ""]).encode() + octets)
            status, answer = await _answer(reader)
            if status == 503:
                return
            if status != expected and (expected or status >= 300):
                raise measure.BenchFailed(f"{method} {path}: {status} {answer[:300]!r}")
            found = answer

        await self._http.use(work)
        if not found:
            raise Shed
        return found

    async def run(self, seconds: float, times: float) -> None:
        self.waits, self.shed = {}, Counter()
        async with asyncio.TaskGroup() as group:
            for kind, per_s, work in (
                ("mail in", MAILS, self.mail),
                ("read", READS * 0.8, self.read),
                ("search", READS * 0.2, self.search),
                ("send", SENDS, self.send),
                ("loop", LOOKS / times, self.look),
            ):
                group.create_task(self._paced(group, kind, per_s * times, seconds, work))
            group.create_task(self._paced(group, "the load itself", LOOKS, seconds, self._nothing))

    async def _paced(
        self,
        group: asyncio.TaskGroup,
        kind: str,
        per_s: float,
        seconds: float,
        work: Callable[[], Awaitable[None]],
    ) -> None:
        waited = self.waits.setdefault(kind, [])
        begun = time.monotonic()

        async def one(due_s: float) -> None:
            try:
                await work()
            except Shed:
                self.shed[kind] += 1
                return
            waited.append((due_s, time.monotonic() - begun - due_s))

        for number in range(int(seconds * per_s)):
            due_s = (number + self.chance.random()) / per_s
            await asyncio.sleep(max(0.0, begun + due_s - time.monotonic()))
            group.create_task(one(due_s))

    def close(self) -> None:
        self._smtp.close()
        self._http.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of the next response."""
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    status = int(head[0].split()[1])
    for line in head[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return status, await reader.readexactly(int(value))
    whole = b""  # in chunks
    while size := int(await reader.readline(), 16):
        whole += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return status, whole


class Receiver:
    """The sink of webhooks, a process of its own."""

    async def __aenter__(self) -> "Receiver":
        self._folder = tempfile.TemporaryDirectory()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "scripts.bench.peers.webhook_sink",
            self._folder.name,
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        ready = json.loads(await self._process.stdout.readline())
        self.url, self.ca_file = ready["http"], ready["ca_file"]
        self._trust = ssl.create_default_context(cafile=self.ca_file)
        return self

    async def until(self, count: int) -> int:
        """How many deliveries have come, once it is so many, or after DRAIN_S."""
        come = 0
        async with aiohttp.ClientSession() as session:
            for _ in range(round(DRAIN_S / LOOK_S)):
                async with session.get(f"{self.url}/seen", ssl=self._trust) as answer:
                    come += sum(map(len, json.loads(await answer.read())["arrivals"].values()))
                if come >= count:
                    break
                await asyncio.sleep(LOOK_S)
        return come

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()
        self._folder.cleanup()


def shown(kind: str, waits: list[tuple[float, float]], shed: int, seconds: float) -> tuple[object, ...]:
    in_ms = [wait * 1000 for _, wait in waits]
    thirds = [
        [wait * 1000 for due, wait in waits if part <= due * 3 / seconds < part + 1] for part in range(3)
    ]
    p99s = " ".join(f"{p99(some):.0f}" for some in thirds if some)
    return kind, len(in_ms), shed, statistics.median(in_ms), p99(in_ms), max(in_ms), p99s


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[98] if len(values) > 1 else values[0]


async def main(seconds: float, times: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with DnsServer() as dns, measure.Sink() as sink, Receiver() as receiver:
            dns.add_mx(SINK_DOMAIN)
            webhooks = {"allow_private_networks": True, "ca_file": receiver.ca_file}
            more = {"webhooks": webhooks, "smtp": {"max_sessions_per_address": 100}}
            async with Daemon(Path(folder), dns_port=dns.port, outbound_port=sink.port, more=more) as daemon:
                await measured(daemon, receiver, seconds, times)


async def measured(daemon: Daemon, receiver: Receiver, seconds: float, times: float) -> None:
    inbox = await daemon.api.post("/v1/inboxes", username="bot")
    for number in range(WEBHOOKS):
        await daemon.api.post(
            "/v1/webhooks", url=f"{receiver.url}/hook{number}", subscribedEvents=list(EVENTS)
        )
    load = Load(daemon, inbox["id"], round(SESSIONS * times))
    measure.take_precedence()
    try:
        await load.run(WARM_UP_S, times)
        used_s, begun = measure.cpu_s(daemon.pid), time.monotonic()
        await load.run(seconds, times)
        busy = (measure.cpu_s(daemon.pid) - used_s) / (time.monotonic() - begun) * 100
    finally:
        load.close()
    rows: list[tuple[object, ...]] = [("", "count", "shed", "p50 ms", "p99 ms", "max ms", "p99 by thirds")]
    rows += [shown(kind, waits, load.shed[kind], seconds) for kind, waits in load.waits.items()]
    measure.table(f"{times:g} times the load for {seconds:g} s", rows)
    begun = time.monotonic()
    come = await receiver.until(load.events * WEBHOOKS)
    print(
        f"webhooks: {come} of {load.events * WEBHOOKS} came, the last {time.monotonic() - begun:.1f} s after the end"
    )
    print(f"CPU {busy:.0f} % of a core, memory at most {measure.peak_rss_mib(daemon.pid):.0f} MiB")


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--times", type=float, default=1, help="the load, in multiples of the usual one")
    given = options.parse_args()
    uvloop.install()
    measure.run(main(given.seconds, given.times))
