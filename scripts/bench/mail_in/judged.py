"""scripts/bench/inbound --judged: mail whose senders are verified, beside others who verify them (see --help there)."""

import argparse
import asyncio
import contextlib
import re
import smtplib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.bench import measure
from scripts.bench.mail_in.inbound_runs import MODES, Inbound, Load, median, one_run, ratio
from scripts.bench.mail_in.inbound_servers import PEER_DOMAIN, Maild, Peer, Server
from scripts.bench.mails.signed_mails import FORGER, SigningAuthor
from scripts.bench.peers.judging_milters import MILTERS, postfix_lines
from scripts.bench.peers.judging_world import CLIENT, DNS_PORT, enter, prepare, resolver
from tests.support.daemon import Daemon
from tests.support.peers.postfix import Postfix

__all__ = ["TOOLS", "enter", "run"]

TOOLS = ("smtp-source", "postfix", "opendkim", "opendmarc", "rspamd", "unbound", "unshare", "ip")
WARM_UP = 40
MAILS = 100
BARE = "Postfix"
UNSIGNED = "maild, unsigned"
TTL_S, COLD_TTL_S = 3600, 1


class Contestant(NamedTuple):
    """`judges`: whether it verifies what it gets."""

    name: str
    server: Server
    mails: Sequence[Path]
    judges: bool


async def run(options: argparse.Namespace) -> None:
    """In the namespaces of `enter`."""
    async with contextlib.AsyncExitStack() as stack:
        folder, mails = (stack.enter_context(measure.open_folder()) for _ in range(2))
        prepare(folder)
        author = SigningAuthor(options.size, mails, options.cold)
        signed = author.signed(options.messages if options.cold else MAILS)
        ttl_s = COLD_TTL_S if options.cold else TTL_S
        await stack.enter_async_context(resolver(folder, author.records(), ttl_s))
        contestants = await _start(stack, signed, author.unsigned(MAILS, like=signed[0]))
        for one in contestants:
            await _must_judge(author, one)
            await one_run(one.server, _load(options, author, one, WARM_UP), kept_open=True)
        results = await _all_rounds(options, author, contestants)
        _report(options, results, contestants)


async def _start(
    stack: contextlib.AsyncExitStack, signed: Sequence[Path], unsigned: Sequence[Path]
) -> list[Contestant]:
    peers = [await stack.enter_async_context(_peer(name)) for name in MILTERS]
    folder = stack.enter_context(measure.open_folder())
    daemon = await stack.enter_async_context(Daemon(folder, dns_port=DNS_PORT))
    await daemon.api.post("/v1/inboxes", username="bot")
    maild = Maild(daemon)
    return [
        *(Contestant(one.name, one, signed, one.name != BARE) for one in peers),
        Contestant(maild.name, maild, signed, judges=True),
        Contestant(UNSIGNED, maild, unsigned, judges=False),
    ]


@contextlib.asynccontextmanager
async def _peer(name: str) -> AsyncIterator[Peer]:
    async with contextlib.AsyncExitStack() as stack:
        milters = [
            await stack.enter_async_context(make(stack.enter_context(measure.open_folder())))
            for make in MILTERS[name]
        ]
        extra = postfix_lines(milters) if milters else []
        postfix = await stack.enter_async_context(Postfix(PEER_DOMAIN, extra=extra))
        yield Peer(name, postfix, *(one.pid for one in milters))


def _load(options: argparse.Namespace, author: SigningAuthor, one: Contestant, count: int) -> Load:
    if options.cold:
        return Load(count, options.sessions, 0, one.mails, each=1, sender_of=author.mail_from)
    return Load(count, options.sessions, 0, one.mails, sender_of=author.mail_from)


async def _must_judge(author: SigningAuthor, one: Contestant) -> None:
    """SystemExit where it does not say what it verified, or takes a forged mail."""
    if not one.judges:
        return
    mail = one.mails[-1]
    good = mail.read_bytes()
    await one.server.prepare()
    if refused := await asyncio.to_thread(_deliver, one.server, good, author.mail_from(mail)):
        raise measure.BenchFailed(f"{one.name} refuses mail that is right: {refused}")
    await one.server.settle(1)
    found = "\n".join(re.findall(r"(?m)^Authentication-Results:.*(?:\n[ \t].*)*", await one.server.newest()))
    wanted = ["spf=pass", "dmarc=pass", *(f"header.d={name}" for name in author.domains_of(mail))]
    if len(re.findall(r"\bdkim=pass", found)) != 2 or not all(word in found for word in wanted):
        raise measure.BenchFailed(f"{one.name} did not verify all: {found or 'it says nothing'}")
    if not await asyncio.to_thread(_deliver, one.server, good + b"forged\n", f"x@{FORGER}"):
        raise measure.BenchFailed(f"{one.name} takes forged mail")


def _deliver(server: Server, mail: bytes, sender: str) -> str:
    """Why it was refused for good; "" when it was taken."""
    with smtplib.SMTP("127.0.0.1", server.port) as client:
        try:
            client.sendmail(sender, server.recipient, mail.replace(b"\n", b"\r\n"))
        except smtplib.SMTPDataError as error:
            if error.smtp_code < 500:
                raise
            return str(error)
    return ""


async def _all_rounds(
    options: argparse.Namespace, author: SigningAuthor, contestants: Sequence[Contestant]
) -> dict[tuple[str, str], list[Inbound]]:
    results: dict[tuple[str, str], list[Inbound]] = {}
    for _ in range(options.rounds):
        for mode in _modes(options):
            for one in contestants:
                load = _load(options, author, one, options.messages)
                results.setdefault((mode, one.name), []).append(await one_run(one.server, load, MODES[mode]))
    return results


def _modes(options: argparse.Namespace) -> list[str]:
    return list(MODES)[:1] if options.cold else list(MODES)


def _report(
    options: argparse.Namespace,
    results: dict[tuple[str, str], list[Inbound]],
    contestants: Sequence[Contestant],
) -> None:
    beside = [one.name for one in contestants if one.name != Maild.name]
    rows: list[tuple[object, ...]] = [
        ("", "", "accepted/s", "settled/s", "CPU ms/message", *(f"of {name}" for name in beside))
    ]
    for mode in _modes(options):
        for one in contestants:
            runs = results[mode, one.name]
            middle = median(runs)
            ours = one.name == Maild.name
            ratios = [ratio(runs, results[mode, name]) if ours else "" for name in beside]
            rows.append(
                (
                    mode,
                    one.name,
                    round(middle.accepted_per_s),
                    round(middle.settled_per_s),
                    middle.cpu_ms,
                    *ratios,
                )
            )
    what = "no answer cached" if options.cold else "answers cached"
    measure.table(
        f"inbound, judged, text of {options.size} bytes and two signatures ({what}): {options.messages} messages,"
        f" {options.sessions} sessions, {options.rounds} rounds, from {CLIENT}",
        rows,
    )
    print(f"{UNSIGNED}: mail of the same size whose domain publishes nothing")
