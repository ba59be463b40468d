"""The daemon with everything that attacks need: hosts that take its mail, an organization of the attackers' own."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from tests.support.daemon import Api, Daemon
from tests.support.hostile import Target, signed, strangers, wire
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.worlds.sender_world import PublishedRecords

SINK_DOMAIN = "sink.test"
HOP_ADDRESS = "127.0.1.1"
HOP_DOMAINS = tuple(f"hop{n}.test" for n in range(4))
LONG_THREAD = 300
SIGNERS = 20
BIG_BYTES = 20 * strangers.MIB
REQUESTS_PER_MINUTE = 240


@dataclass
class Stage:
    daemon: Daemon
    sink: Mx
    target: Target

    def memory_mib(self, what: str = "VmRSS") -> int:
        """Of the daemon and the processes that compute for it: `VmRSS` now, `VmHWM` at most so far.

        What a process has of files is counted once: they are the interpreter and its libraries, the same for all."""
        pid = self.daemon.pid
        begun = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
        children = [_memory_kib(one) for one in chain.from_iterable(begun)]
        return (_memory_kib(str(pid))[what] + sum(one[what] - one["RssFile"] for one in children)) // 1024


def _memory_kib(pid: str) -> Counter[str]:
    """By the names of /proc/PID/status; nothing of a process that has ended."""
    with suppress(FileNotFoundError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        sizes = [line.split() for line in lines if line.endswith(" kB")]
        return Counter({name.rstrip(":"): int(kib) for name, kib, _ in sizes})
    return Counter()


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    folder.mkdir(exist_ok=True)
    async with DnsServer() as dns, Mx() as sink:
        dns.add_mx(SINK_DOMAIN)
        for domain in HOP_DOMAINS:
            dns.add_mx(domain, HOP_ADDRESS)
        for number in range(SIGNERS):
            PublishedRecords(dns).add(*signed.key_record(number))
        dns.drop.add("*.hangs.test")
        for domain in strangers.LONG_SPF_DOMAINS:
            _publish_long_spf(dns, domain)
        limits = {"limits": {"requests_per_minute": REQUESTS_PER_MINUTE}}
        async with Daemon(folder, dns_port=dns.port, outbound_port=sink.port, more=limits) as daemon:
            yield Stage(daemon, sink, await _prepare(daemon, sink.port))


def _publish_long_spf(dns: DnsServer, domain: str) -> None:
    networks = " ".join(f"ip4:192.0.2.{number % 256}" for number in range(400))
    for number in range(9):
        _publish_text(dns, f"i{number}.{domain}", f"v=spf1 {networks} ~all")
    included = " ".join(f"include:i{number}.{domain}" for number in range(9))
    _publish_text(dns, domain, f"v=spf1 {included} ~all")


def _publish_text(dns: DnsServer, name: str, text: str) -> None:
    dns.add(name, "TXT", " ".join(f'"{text[at : at + 255]}"' for at in range(0, len(text), 255)))
    dns.truncate.add(name)


async def _prepare(daemon: Daemon, hop_port: int) -> Target:
    """What the attackers' own agents would make in time: a large message, a long conversation."""
    made = json.loads(await daemon.command("org", "create", "Mallory", "--plan", "selfhost", "--json"))
    api = Api(daemon.api.url, made["apiKey"])
    inboxes = [await api.post("/v1/inboxes", username=f"agent{number}") for number in range(20)]
    target = Target(
        smtp_port=daemon.smtp_port,
        http_port=int(daemon.api.url.rpartition(":")[2]),
        key=made["apiKey"],
        inbox_id=inboxes[0]["id"],
        addresses=tuple(one["address"] for one in inboxes),
        big_message_id="",
        long_thread_id="",
        hop_domains=HOP_DOMAINS,
        hop_address=HOP_ADDRESS,
        hop_port=hop_port,
    )
    async with wire.session(target, 99) as streams:
        for number in range(LONG_THREAD):
            await wire.begin(streams, target.addresses[:1])
            name = b"References" if number else b"Message-ID"
            streams[1].write(b"%s: <long@thread>\r\nSubject: long\r\n\r\nword %d\r\n" % (name, number))
            await wire.say(*streams, b".")
    (thread,) = await api.get("/v1/threads")
    await wire.mail(target, 98, target.addresses[2:3], b"Subject: big\r\n\r\n" + strangers.lines(BIG_BYTES))
    (big,) = await api.get("/v1/messages", inboxId=inboxes[2]["id"])
    await api.close()
    return replace(target, big_message_id=big["id"], long_thread_id=thread["id"])
