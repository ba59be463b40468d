"""How fast maild signs and sends, beside a Postfix (with opendkim signing, where that is installed) in the same run.

    scripts/bench/outbound [--rounds 3] [--messages 2000] …

Both deliver to one smtp-sink, which counts. maild finds it by the MX of our DNS fake and is fed through
`POST /v1/messages/send` on 20 kept-open connections; Postfix finds it by its relayhost and is fed by as many
kept-open connections of smtp-source. Two figures each, rounds interleaved, medians shown:

  end to end   from the first POST (or MAIL) to the last message that the sink has taken.
  drain        all messages are in the queue first, while the sink is paused (SIGSTOP: the kernel takes
               connections and nobody greets); from the moment it goes on to its last message. A milter signs
               when mail comes in, so Postfix drains mail that is signed already; maild signs while it drains.

Afterwards the API must show every message `delivered`. CPU is that of the server's processes (opendkim's
included) over the whole run, for the drain from the moment the sink goes on. The sender uses 40 recipients of
one domain in turn, for 50 within ten minutes trip the bulk guard.

Needs root (Postfix), the package postfix, better also opendkim, and the project's environment.
"""

import argparse
import asyncio
import contextlib
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from scripts.bench import measure
from scripts.bench.measure import Helper, Result, Sink
from tests.support import tools
from tests.support.daemon import Daemon
from tests.support.dns_server import DnsServer
from tests.support.postfix import Postfix, free_port

SINK_DOMAIN = "sink.test"
RECIPIENTS = 40
WARM_UP = 100
PAGE = 100
MODES = ("end to end", "drain")
LINE = "x" * 70 + "\n"

OPENDKIM_CONF = """\
Mode s
Domain x.test
Selector s1
KeyFile {folder}/s1.private
Canonicalization relaxed/relaxed
Socket inet:{port}@127.0.0.1
InternalHosts 127.0.0.1
SignatureAlgorithm rsa-sha256
RequireSafeKeys no
Syslog no
Background no
"""


class Maild:
    name = "maild"

    def __init__(self, daemon: Daemon, inbox_id: str, options: argparse.Namespace) -> None:
        self._daemon = daemon
        self._inbox_id = inbox_id
        self._text = LINE * (options.size // len(LINE))
        self._connections = options.connections
        self._sent: set[str] = set()

    def cpu_s(self) -> float:
        return measure.cpu_s(self._daemon.pid)

    async def feed(self, count: int) -> None:
        """Queue so many through the API, as fast as it answers."""
        numbers = iter(range(count))
        workers = [self._post(numbers) for _ in range(self._connections)]
        await asyncio.gather(*workers)

    async def _post(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            message = await self._daemon.api.post(
                "/v1/messages/send",
                inboxId=self._inbox_id,
                to=[f"user{number % RECIPIENTS}@{SINK_DOMAIN}"],
                subject=f"bench {number}",
                text=self._text,
            )
            self._sent.add(message["id"])

    async def check(self) -> None:
        """Each message that was sent since the last check must be `delivered`."""
        async with asyncio.timeout(measure.ARRIVE_S):
            more: dict[str, str] = {}
            while self._sent:
                page = await self._daemon.api.get("/v1/messages", limit=PAGE, direction="outbound", **more)
                if not page:
                    raise SystemExit(f"the API doesn't show {len(self._sent)} messages")
                self._sent -= {one["id"] for one in page if one["status"] == "delivered"}
                # The last outcomes commit a moment after the sink's 250: look again at the same page.
                more = {} if any(one["id"] in self._sent for one in page) else {"before": page[-1]["id"]}


class Peer:
    def __init__(self, postfix: Postfix, milter: Helper | None, options: argparse.Namespace) -> None:
        self.name = "Postfix + opendkim" if milter else "Postfix, unsigned"
        self._postfix = postfix
        self._pids = [postfix.master_pid, *([milter.pid] if milter else [])]
        self._options = options

    def cpu_s(self) -> float:
        return measure.cpu_s(*self._pids)

    async def feed(self, count: int) -> None:
        await measure.smtp_source(
            self._postfix.port,
            f"user@{SINK_DOMAIN}",
            count=count,
            sessions=self._options.connections,
            size_bytes=self._options.size,
            kept_open=True,
        )

    async def check(self) -> None:
        """The sink has counted."""


Server = Maild | Peer


async def end_to_end(server: Server, sink: Sink, count: int) -> Result:
    goal = sink.taken + count
    cpu_s, began = server.cpu_s(), time.perf_counter()
    await server.feed(count)
    await sink.until(goal)
    result = Result.of(count, time.perf_counter() - began, server.cpu_s() - cpu_s)
    await server.check()
    return result


async def drain(server: Server, sink: Sink, count: int) -> Result:
    goal = sink.taken + count
    sink.pause()
    try:
        await server.feed(count)
    finally:
        cpu_s, began = server.cpu_s(), time.perf_counter()
        sink.resume()
    await sink.until(goal)
    result = Result.of(count, time.perf_counter() - began, server.cpu_s() - cpu_s)
    await server.check()
    return result


RUNS: dict[str, Callable[[Server, Sink, int], Awaitable[Result]]] = dict(
    zip(MODES, (end_to_end, drain), strict=True)
)


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        sink = await stack.enter_async_context(Sink())
        daemon = await daemon_to(sink, folder, stack)
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        servers: list[Server] = [Maild(daemon, inbox["id"], options)]
        if not options.alone:
            servers.insert(0, await peer_to(sink, folder, stack, options))
        for server in servers:
            await end_to_end(server, sink, WARM_UP)
        results: dict[tuple[str, str], list[Result]] = {}
        for _ in range(options.rounds):
            for mode, measured in RUNS.items():
                for server in servers:
                    result = await measured(server, sink, options.messages)
                    results.setdefault((mode, server.name), []).append(result)
        report(options, results, [server.name for server in servers], measure.peak_rss_mib(daemon.pid))


async def daemon_to(sink: Sink, folder: Path, stack: contextlib.AsyncExitStack) -> Daemon:
    dns = await stack.enter_async_context(DnsServer())
    dns.add_mx(SINK_DOMAIN, "127.0.0.1")
    return await stack.enter_async_context(Daemon(folder, dns_port=dns.port, outbound_port=sink.port))


async def peer_to(
    sink: Sink, folder: Path, stack: contextlib.AsyncExitStack, options: argparse.Namespace
) -> Peer:
    milter = None
    extra = []
    if tools.find("opendkim"):
        milter = await stack.enter_async_context(signing_milter(folder))
        # Without the milter nothing would be signed, and the comparison void: then refuse.
        extra = [f"smtpd_milters = inet:127.0.0.1:{milter.port}", "milter_default_action = tempfail"]
    postfix = await stack.enter_async_context(Postfix("in.test", relay_port=sink.port, extra=extra))
    return Peer(postfix, milter, options)


def signing_milter(folder: Path) -> Helper:
    port = free_port()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    (folder / "s1.private").touch(0o600)
    (folder / "s1.private").write_bytes(key)
    (folder / "opendkim.conf").write_text(OPENDKIM_CONF.format(folder=folder, port=port))
    return Helper(tools.path_of("opendkim"), "-f", "-x", str(folder / "opendkim.conf"), port=port)


def report(
    options: argparse.Namespace,
    results: dict[tuple[str, str], list[Result]],
    names: list[str],
    peak_rss_mib: float,
) -> None:
    rows: list[tuple[object, ...]] = [("", "", "messages/s", "CPU ms/message", "of the first's rate")]
    for mode in MODES:
        base = measure.median(results[mode, names[0]]).per_s
        for name in names:
            one = measure.median(results[mode, name])
            rows.append((mode, name, round(one.per_s), one.cpu_ms, one.per_s / base))
    measure.table(
        f"outbound: {options.messages} messages of {options.size} bytes, {options.connections} connections in, "
        f"median of {options.rounds} rounds",
        rows,
    )
    print(f"maild: peak resident memory {peak_rss_mib:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/outbound",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=2000, help="in each run (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=20, help="that feed (default: %(default)s)")
    parser.add_argument("--size", type=int, default=4096, help="bytes of a message (default: %(default)s)")
    parser.add_argument("--alone", action="store_true", help="without Postfix beside it")
    options = parser.parse_args()
    wanted = ["smtp-sink"] if options.alone else ["smtp-sink", "smtp-source", "postfix"]
    if problems := tools.lacking(*wanted, root=not options.alone):
        parser.error("; ".join(problems))
    measure.run(run(options))


if __name__ == "__main__":
    main()
