"""How fast maild signs and sends, beside a Postfix that lets opendkim, rspamd or nobody sign, in the same run.

    scripts/bench/outbound [--rounds 3] [--messages 2000] …

All deliver to one smtp-sink, which counts. maild finds it by the MX of our DNS fake and is fed through
`POST /v1/messages/send` on 20 kept-open connections; each Postfix finds it by its relayhost and is fed by as many
kept-open connections of smtp-source. Two figures each:

  end to end   from the first POST (or MAIL) to the last message that the sink has taken.
  drain        all messages are in the queue first, while the sink is paused (SIGSTOP: the kernel takes
               connections and nobody greets); from the moment it goes on to its last message. A milter signs
               when mail comes in, so Postfix drains mail that is signed already; maild signs what it has not
               signed while it waited.

Rounds are interleaved, and each begins with another server. A run begins when none of the servers works any more
and what was written is written back (sync). Shown are the medians of the rounds, their range, and maild's rate as a
share of a peer's in the same round.

At first the sink keeps some mails of each server, and the bench ends if one is not signed that should be, or the other
way round. After a run the API must show every message `delivered`. CPU is that of the server's processes (the
milter's included) over the whole run, for the drain from the moment the sink goes on. The sender uses 40 recipients
of one domain in turn, for 50 within ten minutes trip the bulk guard.

Needs root and the packages postfix (which brings smtp-sink and smtp-source), opendkim and rspamd; of the last two, what
is not installed is left out. maild alone (--alone) needs smtp-sink and no root.
"""

import argparse
import asyncio
import contextlib
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from scripts.bench import measure
from scripts.bench.measure import Helper, Result, Sink
from scripts.bench.peers.signing_milters import MILTERS
from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.postfix import Postfix

SINK_DOMAIN = "sink.test"
RECIPIENTS = 40
WARM_UP = 100
PAGE = 100
MODES = ("end to end", "drain")
LINE = "x" * 70 + "\n"


class Maild:
    name = "maild"
    signs = True

    def __init__(self, daemon: Daemon, inbox_id: str, options: argparse.Namespace) -> None:
        self._daemon = daemon
        self.pids = [daemon.pid]
        self._inbox_id = inbox_id
        self._text = LINE * (options.size // len(LINE))
        self._connections = options.connections
        self._sent: set[str] = set()

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
                    raise measure.BenchFailed(f"the API doesn't show {len(self._sent)} messages")
                self._sent -= {one["id"] for one in page if one["status"] == "delivered"}
                # The last outcomes commit a moment after the sink's 250: look again at the same page.
                more = {} if any(one["id"] in self._sent for one in page) else {"before": page[-1]["id"]}


class Peer:
    """A Postfix. `signer`: what signs its mail, and its process; None: nothing does."""

    def __init__(
        self, postfix: Postfix, signer: tuple[str, Helper] | None, options: argparse.Namespace
    ) -> None:
        self.signs = signer is not None
        self.name = f"Postfix + {signer[0]}" if signer else "Postfix, unsigned"
        self._postfix = postfix
        self.pids = [postfix.master_pid, *([signer[1].pid] if signer else [])]
        self._options = options

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
Results = dict[tuple[str, str], list[Result]]  # by mode and server, a result for each round


async def end_to_end(server: Server, sink: Sink, count: int) -> Result:
    goal = sink.taken + count
    cpu_s, began = measure.cpu_s(*server.pids), time.perf_counter()
    await server.feed(count)
    await sink.until(goal)
    result = Result.of(count, time.perf_counter() - began, measure.cpu_s(*server.pids) - cpu_s)
    await server.check()
    return result


async def drain(server: Server, sink: Sink, count: int) -> Result:
    goal = sink.taken + count
    sink.pause()
    try:
        await server.feed(count)
    finally:
        cpu_s, began = measure.cpu_s(*server.pids), time.perf_counter()
        sink.resume()
    await sink.until(goal)
    result = Result.of(count, time.perf_counter() - began, measure.cpu_s(*server.pids) - cpu_s)
    await server.check()
    return result


RUNS: dict[str, Callable[[Server, Sink, int], Awaitable[Result]]] = dict(
    zip(MODES, (end_to_end, drain), strict=True)
)


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        port = free_port()
        daemon = await daemon_to(port, folder, stack)
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        servers: list[Server] = [Maild(daemon, inbox["id"], options)]
        if not options.alone:
            servers = [*await peers_to(port, stack, options), *servers]
        for server in servers:
            await warm_up(server, port)
        sink = await stack.enter_async_context(Sink(port))
        results = await rounds(servers, sink, options)
        report(options, results, servers, measure.peak_rss_mib(daemon.pid))


async def rounds(servers: Sequence[Server], sink: Sink, options: argparse.Namespace) -> Results:
    results: Results = {}
    pids = [pid for server in servers for pid in server.pids]
    for number in range(options.rounds):
        first = number % len(servers)
        for mode, measured in RUNS.items():
            for server in (*servers[first:], *servers[:first]):
                await measure.rest(*pids)
                result = await measured(server, sink, options.messages)
                results.setdefault((mode, server.name), []).append(result)
    return results


async def warm_up(server: Server, port: int) -> None:
    """Its first mails go to a sink that keeps them: are they signed, as its name says?"""
    with measure.open_folder() as folder:
        folder.chmod(0o777)
        async with Sink(port, keeps=folder) as sink:
            await end_to_end(server, sink, WARM_UP)
        signed = sum(b"\nDKIM-Signature:" in one.read_bytes() for one in folder.iterdir())
    if signed != (WARM_UP if server.signs else 0):
        raise measure.BenchFailed(f"{server.name}: {signed} of {WARM_UP} mails are signed")


async def daemon_to(port: int, folder: Path, stack: contextlib.AsyncExitStack) -> Daemon:
    dns = await stack.enter_async_context(DnsServer())
    dns.add_mx(SINK_DOMAIN, "127.0.0.1")
    return await stack.enter_async_context(Daemon(folder, dns_port=dns.port, outbound_port=port))


async def peers_to(
    port: int, stack: contextlib.AsyncExitStack, options: argparse.Namespace
) -> Sequence[Peer]:
    peers = [Peer(await stack.enter_async_context(Postfix("in.test", relay_port=port)), None, options)]
    for name, milter in MILTERS.items():
        if not tools.find(name):
            print(f"{name} is not installed, and left out")
            continue
        helper = await stack.enter_async_context(milter(stack.enter_context(measure.open_folder())))
        # What it can't sign does not go out.
        extra = [f"smtpd_milters = unix:{helper.path}", "milter_default_action = tempfail"]
        postfix = await stack.enter_async_context(Postfix("in.test", relay_port=port, extra=extra))
        peers.append(Peer(postfix, (name, helper), options))
    return peers


def report(
    options: argparse.Namespace, results: Results, servers: Sequence[Server], peak_rss_mib: float
) -> None:
    rows: list[tuple[object, ...]] = [
        ("", "", "messages/s", "range", "CPU ms/message", "maild's rate as a share", "range")
    ]
    for mode in MODES:
        ours = [one.per_s for one in results[mode, Maild.name]]
        for server in servers:
            rates = [one.per_s for one in results[mode, server.name]]
            shares = [mine / theirs for mine, theirs in zip(ours, rates, strict=True)]
            cpu_ms = measure.median(results[mode, server.name]).cpu_ms
            share = (
                ("", "") if server.name == Maild.name else (measure.middle(shares), measure.span(shares, 2))
            )
            rows.append(
                (mode, server.name, round(measure.middle(rates)), measure.span(rates), cpu_ms, *share)
            )
    measure.table(
        f"outbound: {options.messages} messages of {options.size} bytes, {options.connections} connections in, "
        f"median of {options.rounds} rounds",
        rows,
    )
    for mode in MODES:
        signing = {one.name: measure.median(results[mode, one.name]).per_s for one in servers if one.signs}
        ours_per_s = signing.pop(Maild.name)
        if signing:
            best = max(signing, key=signing.__getitem__)
            print(f"{mode}: {ours_per_s / signing[best]:.2f} of the best signing peer's rate ({best})")
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
