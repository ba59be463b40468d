"""How fast maild takes mail in, beside Postfix on this machine in the same run.

    scripts/bench/inbound [--rounds 3] [--messages 2000] …
    scripts/bench/inbound --shapes text reply newsletter attachment --peers Postfix "Postfix + Dovecot"
    scripts/bench/inbound --rate 500 --messages 10000

All get the same load from Postfix's smtp-source: a connection for each message, then connections kept open.
Shapes: `x` is lines of X, as smtp-source sends them by itself, which cost the search index next to nothing; the others are
mail as people and programs write it (scripts/bench/mails/shapes.py), each message 20 times in a row.

    accepted   messages a second up to the last 250.
    settled    up to the moment when nothing is left to do: all is indexed (maild), or in the mailbox (Postfix).
    CPU        of the server's processes up to there.

Afterwards the API must show, and the maildir hold, exactly what was sent. Servers are measured in turn, each while the others
have settled and what they wrote is written back. Medians of the rounds are shown, and the ratio of the settled rates,
with its range over the rounds: machines drift, so only that is worth quoting. `Postfix` delivers into a maildir by
virtual(8); `Postfix + Dovecot` over LMTP, where Dovecot reads each message and keeps an index, as maild does. All write below TMPDIR.

With --judged the mails are signed by two domains (RSA-2048), the author's and one that sends for it, the envelope's domain
has an SPF record that passes, the author's asks to refuse what is not proven, and all servers ask one unbound. Beside
maild: a bare Postfix, one with opendkim and opendmarc, one with rspamd (spf, dkim, dmarc, arc). Each must have verified
one such mail and refused a forged one before it is measured. `maild, unsigned` gets mail of the same size whose domain
publishes nothing: the most that maild can be without judging. With --cold too, each message is from domains of its own,
so that no answer is cached (unbound has them all); one smtp-source for each message then, which costs all the same.
It runs in namespaces of its own (network, mounts), where clients come from 192.0.2.1 and /etc/resolv.conf names the
unbound; nothing of that is seen outside.

With --rate maild alone gets so many messages of text a second: how long the oldest has waited for the index, and what a
search takes meanwhile and afterwards.

Needs root (Postfix), the packages postfix and dovecot-lmtpd (--judged: opendkim, opendmarc, rspamd, unbound), and the project's environment; without a peer: --alone.
"""

import argparse
import asyncio
import contextlib
import statistics
import tempfile
import time
from pathlib import Path

from scripts.bench import measure
from scripts.bench.mail_in import judged
from scripts.bench.mail_in.inbound_runs import EACH, MODES, Inbound, Load, median, one_run, ratio
from scripts.bench.mail_in.inbound_servers import LOOK_S, Maild, Server, peers
from scripts.bench.mails.shapes import SHAPES, Author
from storage.ids import made_at
from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.peers.dns_server import DnsServer

PEERS = {"Postfix": ("postfix",), "Postfix + Dovecot": ("postfix", "dovecot")}
WARM_UP = 200
SEARCHED = ("rare7x", "et", "no such words")


Results = dict[tuple[str, str], list[Inbound]]


async def run(options: argparse.Namespace) -> None:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-bench-")))
        dns = await stack.enter_async_context(DnsServer())
        daemon = await stack.enter_async_context(Daemon(folder, dns_port=dns.port))
        await daemon.api.post("/v1/inboxes", username="bot")
        author = Author(options.size)
        if options.rate:
            mails = author.write("text", folder, options.messages // EACH)
            await at_rate(Maild(daemon), daemon, options, mails)
            return
        servers: list[Server] = [*await stack.enter_async_context(peers(options.peers)), Maild(daemon)]
        for server in servers:
            await one_run(server, Load(WARM_UP, options.sessions, options.size), kept_open=True)
        for shape in options.shapes:
            mails = [] if shape == "x" else author.write(shape, folder, options.messages // EACH)
            report(shape, options, await all_rounds(servers, options, mails))
        print(f"maild: peak resident memory {measure.peak_rss_mib(daemon.pid):.0f} MiB")


async def all_rounds(servers: list[Server], options: argparse.Namespace, mails: list[Path]) -> Results:
    results: Results = {}
    for _ in range(options.rounds):
        for mode, kept_open in MODES.items():
            for server in servers:
                load = Load(options.messages, options.sessions, options.size, mails)
                result = await one_run(server, load, kept_open)
                results.setdefault((mode, server.name), []).append(result)
    return results


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


def report(shape: str, options: argparse.Namespace, results: Results) -> None:
    rows: list[tuple[object, ...]] = [
        ("", "", "accepted/s", "settled/s", "CPU ms/message", *(f"of {peer}" for peer in options.peers))
    ]
    for mode in MODES:
        for name in (*options.peers, Maild.name):
            runs = results[mode, name]
            middle = median(runs)
            is_ours = name == Maild.name
            ratios = [ratio(runs, results[mode, peer]) if is_ours else "" for peer in options.peers]
            rates = round(middle.accepted_per_s), round(middle.settled_per_s)
            rows.append((mode, name, *rates, middle.cpu_ms, *ratios))
    what = f"lines of X, {options.size} bytes" if shape == "x" else shape
    what += f" of {options.size} bytes" if shape == "text" else ""
    print()
    measure.table(
        f"inbound, {what}: {options.messages} messages, {options.sessions} sessions, {options.rounds} rounds",
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/inbound",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=2000, help="in each run (default: %(default)s)")
    parser.add_argument("--sessions", type=int, default=10, help="at one time (default: %(default)s)")
    parser.add_argument(
        "--size", type=int, default=4096, help="bytes of `x` and `text` (default: %(default)s)"
    )
    parser.add_argument("--shapes", nargs="+", choices=["x", *SHAPES], default=["x"])
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=["Postfix"])
    parser.add_argument("--rate", type=int, help="messages a second, for maild alone")
    parser.add_argument("--judged", action="store_true", help="signed mail, beside others who verify it")
    parser.add_argument("--cold", action="store_true", help="with --judged: no answer of DNS is cached")
    parser.add_argument("--alone", action="store_true", help="without a peer beside it")
    options = parser.parse_args()
    if options.judged:
        if problems := tools.lacking(*judged.TOOLS, root=True):
            parser.error("; ".join(problems))
        judged.enter()
        measure.run(judged.run(options))
        return
    options.peers = [] if options.alone or options.rate else options.peers
    wanted = {"smtp-source", *(tool for peer in options.peers for tool in PEERS[peer])}
    if problems := tools.lacking(*sorted(wanted), root=bool(options.peers)):
        parser.error("; ".join(problems))
    measure.run(run(options))


if __name__ == "__main__":
    main()
