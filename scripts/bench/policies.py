"""What the TLS policy of a receiver costs a queue that drains, once it is known.

    scripts/bench/policies [--messages 1000] [--rounds 5]

Three receivers, all by TLS: one without a policy, whose certificate nobody looks at; one that publishes MTA-STS under
"enforce", whose host must prove its name; one whose host has a TLSA record that DNSSEC vouches for (DANE). All messages
of a run are in the queue first, while the host holds its reply to MAIL back; shown are messages/s from the moment it
goes on, and the daemon's CPU for each. What the daemon asked of DNS and of the policy's host for these runs is counted.

Rounds are interleaved, each begins with another receiver, and the first, in which policies are learnt, is not counted.
Shares are those of the receiver without a policy, in the same round. The hosts are those of the tests, in this process,
on the same cores. Needs root: policies are fetched from port 443.
"""

import argparse
import asyncio
import contextlib
import os
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from scripts.bench import measure
from scripts.bench.measure import Result
from tests.support.daemon import Daemon, Sections
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.tlsa import tlsa_record
from tests.support.worlds.sts_world import policy_file

CONNECTIONS = 20
TEXT = ("x" * 70 + "\n") * 57
POLICY_ADDRESS = "127.3.0.9"
HTTPS = 443
KINDS = ("none", "mta-sts", "dane")


class Receiver(NamedTuple):
    """`policy`: what stands behind the TLS of its attempts."""

    policy: str
    domain: str
    mx: Mx


class World:
    def __init__(self, daemon: Daemon, inbox_id: str, dns: DnsServer, receivers: list[Receiver]) -> None:
        self.daemon, self.dns, self.receivers = daemon, dns, receivers
        self._inbox_id = inbox_id
        self.fetches = 0

    async def send(self, domain: str) -> str:
        body = {"inboxId": self._inbox_id, "to": [f"user@{domain}"], "subject": "bench", "text": TEXT}
        made = await self.daemon.api.post("/v1/messages/send", **body)
        return str(made["id"])

    async def feed(self, domain: str, count: int) -> None:
        left = iter(range(count))

        async def post() -> None:
            for _ in left:
                await self.send(domain)

        await asyncio.gather(*(post() for _ in range(CONNECTIONS)))

    def questions(self) -> int:
        """What was asked of DNS and of policies' hosts so far."""
        return sum(self.dns.queries.values()) + self.fetches


@contextlib.asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    port = free_port()
    async with contextlib.AsyncExitStack() as stack:
        ca = ThrowawayCa(folder)
        dns = await stack.enter_async_context(DnsServer())
        receivers = []
        for number, policy in enumerate(KINDS):
            domain = f"{policy}.example"
            host = f"mx.{domain}"
            mx = Mx(starttls="good", tls_context=ca.server_context([host]))
            await stack.enter_async_context(await mx.start(f"127.3.0.{number + 1}", port))
            dns.add_mx(domain, f"127.3.0.{number + 1}", host=host)
            receivers.append(Receiver(policy, domain, mx))
        dns.add("_mta-sts.mta-sts.example", "TXT", '"v=STSv1; id=1;"')
        dns.add("mta-sts.mta-sts.example", "A", POLICY_ADDRESS)
        dns.add(
            f"_{port}._tcp.mx.dane.example", "TLSA", tlsa_record(3, 1, 1, ca.certificate("mx.dane.example"))
        )
        dns.signed.add("dane.example")
        more: Sections = {"outbound": {"ca_file": str(ca.ca_file)}, "dns": {"trust_ad": True}}
        daemon = await stack.enter_async_context(
            Daemon(folder, dns_port=dns.port, outbound_port=port, more=more)
        )
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        found = World(daemon, inbox["id"], dns, receivers)
        body = policy_file("enforce", "mx.mta-sts.example")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            found.fetches += 1
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            writer.close()

        context = ca.server_context(["mta-sts.mta-sts.example"])
        server = await asyncio.start_server(serve, POLICY_ADDRESS, HTTPS, ssl=context)
        stack.callback(server.close)
        yield found


async def drained(one: World, receiver: Receiver, count: int) -> Result:
    mx = receiver.mx
    mx.hold["MAIL"] = asyncio.Event()
    mx.received.clear()
    await one.feed(receiver.domain, count)
    await asyncio.to_thread(os.sync)
    used, began = measure.cpu_s(one.daemon.pid), time.perf_counter()
    mx.hold.pop("MAIL").set()
    async with asyncio.timeout(measure.ARRIVE_S):
        while len(mx.received) < count:
            await asyncio.sleep(0.01)
    seconds = time.perf_counter() - began
    await measure.rest(one.daemon.pid)
    return Result.of(count, seconds, measure.cpu_s(one.daemon.pid) - used)


async def is_met(one: World, receiver: Receiver) -> None:
    """The bench ends where the policy is not the one that is measured."""
    message_id = await one.send(receiver.domain)
    message = await one.daemon.api.until(f"/v1/messages/{message_id}", lambda it: it["status"] == "delivered")
    (recipient,) = message["recipients"]
    wanted = "" if receiver.policy == "none" else f" ({receiver.policy})"
    told = recipient["tls"] or "plain text"
    if not told.startswith("TLSv1.3") or not told.endswith(wanted) or ("(" in told) != bool(wanted):
        raise measure.BenchFailed(f"{receiver.domain}: {told}")


async def run(options: argparse.Namespace) -> None:
    results: dict[str, list[Result]] = defaultdict(list)
    questions: dict[str, int] = defaultdict(int)
    with measure.open_folder() as folder:
        async with world(folder) as one:
            for receiver in one.receivers:
                await is_met(one, receiver)
            for number in range(options.rounds + 1):
                begin = number % len(one.receivers)
                for receiver in one.receivers[begin:] + one.receivers[:begin]:
                    before = one.questions()
                    result = await drained(one, receiver, options.messages)
                    if number:
                        results[receiver.policy].append(result)
                        questions[receiver.policy] += one.questions() - before
    rows: list[tuple[object, ...]] = [
        ("policy", "messages/s", "CPU ms", "share of rate", "share of CPU", "asked")
    ]
    for policy, found in results.items():
        rates = [it.per_s / bare.per_s for it, bare in zip(found, results["none"], strict=True)]
        costs = [it.cpu_ms / bare.cpu_ms for it, bare in zip(found, results["none"], strict=True)]
        middle = measure.median(found)
        rows.append(
            (
                policy,
                round(middle.per_s),
                middle.cpu_ms,
                f"{measure.middle(rates):.2f} ({measure.span(rates, 2)})",
                f"{measure.middle(costs):.2f} ({measure.span(costs, 2)})",
                questions[policy],
            )
        )
    measure.table(f"\n{options.rounds} rounds of {options.messages} messages to each", rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/policies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
