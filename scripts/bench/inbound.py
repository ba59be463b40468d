"""How fast maild takes mail in, beside a Postfix on this machine in the same run.

    scripts/bench/inbound [--rounds 3] [--messages 2000] …

Both get the same load from Postfix's smtp-source: a connection for each message, then connections kept open.
Rounds are interleaved and medians shown, for figures drift between runs: only the ratio is worth quoting.
A message counts when it was answered 250; afterwards the API must show (and Postfix's maildir hold) exactly what
was sent. CPU is that of the server's processes up to then, so for Postfix it includes the delivery to the
maildir, as for maild it includes parsing, threading and indexing. Both write below TMPDIR.

Needs root (Postfix), the packages postfix and the project's environment; without Postfix's server: --alone.
"""

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

from scripts.bench import measure
from scripts.bench.measure import Result
from tests.support import tools
from tests.support.daemon import DOMAIN, Daemon
from tests.support.dns_server import DnsServer
from tests.support.postfix import Postfix

MODES = {"connection per message": False, "kept open": True}
WARM_UP = 200
PEER_DOMAIN = "in.test"


class Maild:
    name = "maild"

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.port = daemon.smtp_port
        self.recipient = f"bot@{DOMAIN}"

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

    async def check(self, count: int) -> None:
        await self._postfix.until_stored(count, deadline_s=measure.ARRIVE_S)


async def one_run(server: Maild | Peer, options: argparse.Namespace, count: int, kept_open: bool) -> Result:
    await server.prepare()
    cpu_s, began = server.cpu_s(), time.perf_counter()
    await measure.smtp_source(
        server.port,
        server.recipient,
        count=count,
        sessions=options.sessions,
        size_bytes=options.size,
        kept_open=kept_open,
    )
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
        results: dict[tuple[str, str], list[Result]] = {}
        for server in servers:
            await one_run(server, options, WARM_UP, kept_open=True)
        for _ in range(options.rounds):
            for mode, kept_open in MODES.items():
                for server in servers:
                    result = await one_run(server, options, options.messages, kept_open)
                    results.setdefault((mode, server.name), []).append(result)
        report(options, results, measure.peak_rss_mib(daemon.pid))


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
        f"inbound: {options.messages} messages of {options.size} bytes, {options.sessions} sessions, "
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
    parser.add_argument("--alone", action="store_true", help="without Postfix beside it")
    options = parser.parse_args()
    wanted = ["smtp-source"] if options.alone else ["smtp-source", "postfix"]
    if problems := tools.lacking(*wanted, root=not options.alone):
        parser.error("; ".join(problems))
    measure.run(run(options))


if __name__ == "__main__":
    main()
