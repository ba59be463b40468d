"""How fast maild takes mail in, beside a Postfix on this machine in the same run.

    scripts/bench/inbound [--rounds 3] [--messages 2000] …
    scripts/bench/inbound --text --sustained --messages 12000
    scripts/bench/inbound --rate 500 --messages 10000

Both get the same load from Postfix's smtp-source: a connection for each message, then connections kept open.
Rounds are interleaved and medians shown, for figures drift between runs: only the ratio is worth quoting.
A message counts when it was answered 250; afterwards the API must show (and Postfix's maildir hold) exactly what
was sent. CPU is that of the server's processes up to then, so for Postfix it includes the delivery to the
maildir, as for maild it includes parsing and threading. Both write below TMPDIR.

Lines of X, which smtp-source sends by itself, cost the search index next to nothing. With --text the messages are words in
several languages, each message 20 times in a row, and with --sustained a run ends when all of it is indexed (for
Postfix: when it is in the maildir), in time as in CPU; so the one rests while the other is measured.

With --rate maild alone gets so many messages of text a second: how long the oldest has waited for the index, and what a
search takes meanwhile and afterwards.

Needs root (Postfix), the packages postfix and the project's environment; without Postfix's server: --alone.
"""

import argparse
import asyncio
import contextlib
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from scripts.bench import measure
from scripts.bench.measure import Result
from scripts.bench.words import write_mails
from storage.data_folder import DataFolder
from storage.ids import made_at
from tests.support import tools
from tests.support.daemon import DOMAIN, Daemon
from tests.support.dns_server import DnsServer
from tests.support.postfix import Postfix

MODES = {"connection per message": False, "kept open": True}
WARM_UP = 200
PEER_DOMAIN = "in.test"
EACH = 20
LOOK_S = 0.05
SEARCHED = ("rare7x", "et", "no such words")


class Maild:
    name = "maild"

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.port = daemon.smtp_port
        self.recipient = f"bot@{DOMAIN}"
        store = DataFolder(daemon.data_dir).database
        self._store = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)

    def oldest_unindexed(self) -> str | None:
        found: str | None = self._store.execute("SELECT min(message_id) FROM search_tail").fetchone()[0]
        return found

    async def settle(self, count: int) -> None:
        """Wait until all is indexed."""
        async with asyncio.timeout(measure.ARRIVE_S):
            while self.oldest_unindexed() is not None:
                await asyncio.sleep(LOOK_S)

    def cpu_s(self) -> float:
        return measure.cpu_s(self._daemon.pid)

    async def prepare(self) -> None:
        self._before = await self._unread()

    async def check(self, count: int) -> None:
        shown = await self._unread() - self._before
        if shown != count:
            raise SystemExit(f"the API shows {shown} of {count} messages")

    async def _unread(self) -> int:
        inboxes = await self._daemon.api.get("/v1/inboxes")
        return sum(one["unreadCount"] for one in inboxes)


class Peer:
    name = "Postfix"

    def __init__(self, postfix: Postfix) -> None:
        self._postfix = postfix
        self.port = postfix.port
        self.recipient = f"user@{PEER_DOMAIN}"

    def cpu_s(self) -> float:
        return measure.cpu_s(self._postfix.master_pid)

    async def prepare(self) -> None:
        self._postfix.empty_mailbox()

    async def settle(self, count: int) -> None:
        await self.check(count)

    async def check(self, count: int) -> None:
        await self._postfix.until_stored(count, deadline_s=measure.ARRIVE_S)


async def one_run(
    server: Maild | Peer, options: argparse.Namespace, mails: list[Path], count: int, kept_open: bool
) -> Result:
    await server.prepare()
    cpu_s, began = server.cpu_s(), time.perf_counter()
    if mails:
        await measure.send_mails(
            server.port,
            server.recipient,
            [mails[at % len(mails)] for at in range(count // EACH)],
            each=EACH,
            sessions=options.sessions,
            kept_open=kept_open,
        )
    else:
        await measure.smtp_source(
            server.port,
            server.recipient,
            count=count,
            sessions=options.sessions,
            size_bytes=options.size,
            kept_open=kept_open,
        )
    if options.sustained:
        await server.settle(count)
    seconds = time.perf_counter() - began
    await server.check(count)
    return Result.of(count, seconds, server.cpu_s() - cpu_s)


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        dns = await stack.enter_async_context(DnsServer())
        daemon = await stack.enter_async_context(Daemon(folder, dns_port=dns.port))
        await daemon.api.post("/v1/inboxes", username="bot")
        servers: list[Maild | Peer] = [Maild(daemon)]
        if not options.alone:
            servers.insert(0, Peer(await stack.enter_async_context(Postfix(PEER_DOMAIN))))
        has_text = options.text or options.rate
        mails = write_mails(folder, options.messages // EACH, options.size) if has_text else []
        if options.rate:
            await at_rate(Maild(daemon), daemon, options, mails)
            return
        results: dict[tuple[str, str], list[Result]] = {}
        for server in servers:
            await one_run(server, options, mails, WARM_UP, kept_open=True)
        for _ in range(options.rounds):
            for mode, kept_open in MODES.items():
                for server in servers:
                    result = await one_run(server, options, mails, options.messages, kept_open)
                    results.setdefault((mode, server.name), []).append(result)
        report(options, results, measure.peak_rss_mib(daemon.pid))


async def at_rate(maild: Maild, daemon: Daemon, options: argparse.Namespace, mails: list[Path]) -> None:
    """Mail at a fixed rate, and beside it somebody who searches."""
    waited: list[float] = []
    sending = asyncio.create_task(_send_at(maild, options.rate, mails))
    searching = asyncio.create_task(_searches(daemon, sending, waited, maild))
    try:
        await sending
        during = await searching
        await maild.settle(options.messages)
        quiet = asyncio.create_task(asyncio.sleep(3))
        idle = await _searches(daemon, quiet, [], maild)
    finally:
        sending.cancel()
        searching.cancel()
    rows: list[tuple[object, ...]] = [("", *SEARCHED)]
    for name, times in (("meanwhile", during), ("afterwards", idle)):
        rows.append((name, *(f"{statistics.median(one):.1f} ms" for one in times)))
    measure.table(f"{options.rate} messages/s of text, {len(mails) * EACH} in all; p50 of a search", rows)
    waited.sort()
    print(f"oldest message not indexed: p50 {statistics.median(waited):.2f} s, longest {waited[-1]:.2f} s")


async def _send_at(maild: Maild, rate: int, mails: list[Path]) -> None:
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number, mail in enumerate(mails):
            await asyncio.sleep(began + number * EACH / rate - time.perf_counter())
            sent = measure.smtp_source(
                maild.port, maild.recipient, count=EACH, sessions=1, size_bytes=0, kept_open=True, mail=mail
            )
            group.create_task(sent)


async def _searches(
    daemon: Daemon, until: "asyncio.Task[None]", waited: list[float], maild: Maild
) -> list[list[float]]:
    """For each of SEARCHED what it took, in ms, asked by turns; and how old what is not indexed has become, in s."""
    took: list[list[float]] = [[] for _ in SEARCHED]
    while not until.done():
        for at, words in enumerate(SEARCHED):
            began = time.perf_counter()
            await daemon.api.get("/v1/messages", q=words)
            took[at].append((time.perf_counter() - began) * 1000)
        oldest = maild.oldest_unindexed()
        waited.append(time.time() - made_at(oldest) / 1000 if oldest else 0.0)
        await asyncio.sleep(LOOK_S)
    return took


def report(
    options: argparse.Namespace, results: dict[tuple[str, str], list[Result]], peak_rss_mib: float
) -> None:
    rows: list[tuple[object, ...]] = [("", "", "messages/s", "CPU ms/message", "of Postfix's rate")]
    for mode in MODES:
        peers = results.get((mode, Peer.name))
        base = measure.median(peers).per_s if peers else None
        for name in (Peer.name, Maild.name):
            if (mode, name) in results:
                one = measure.median(results[mode, name])
                rows.append((mode, name, round(one.per_s), one.cpu_ms, one.per_s / base if base else "-"))
    measure.table(
        f"inbound{', sustained' if options.sustained else ''}: {options.messages} messages of {options.size} bytes"
        f"{' of text' if options.text else ''}, {options.sessions} sessions, "
        f"median of {options.rounds} rounds",
        rows,
    )
    print(f"maild: peak resident memory {peak_rss_mib:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/inbound",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=2000, help="in each run (default: %(default)s)")
    parser.add_argument("--sessions", type=int, default=10, help="at one time (default: %(default)s)")
    parser.add_argument("--size", type=int, default=4096, help="bytes of a message (default: %(default)s)")
    parser.add_argument("--text", action="store_true", help="words instead of lines of X")
    parser.add_argument("--sustained", action="store_true", help="up to the moment when all is indexed")
    parser.add_argument("--rate", type=int, help="messages a second, for maild alone")
    parser.add_argument("--alone", action="store_true", help="without Postfix beside it")
    options = parser.parse_args()
    options.alone = options.alone or bool(options.rate)
    wanted = ["smtp-source"] if options.alone else ["smtp-source", "postfix"]
    if problems := tools.lacking(*wanted, root=not options.alone):
        parser.error("; ".join(problems))
    measure.run(run(options))


if __name__ == "__main__":
    main()
