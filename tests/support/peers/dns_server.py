"""A scriptable DNS server on loopback, UDP and TCP on one port.

    server.add("x.test", "MX", "10 mx.x.test")     a record (TTL 300 unless told)
    server.servfail.add("y.test")                  SERVFAIL for every type; ("y.test", "A"): for this one
    server.drop.add("z.test")                      silence; "*.z.test": for all names below
    server.truncate.add("big.test")                TC over UDP, the whole over TCP
    server.forge["lies.test"] = lambda query: [b""]    any octets, as so many answers
    server.signed.add("x.test")                    DNSSEC vouches for this name, and for all below it (AD)
    server.queries[("x.test", "MX")]               how often it was asked, by a start not counted; who asks again since
                                                   we were slow asks once

Names without any record are NXDOMAIN; names with records of other types give an empty answer. Both
carry an SOA whose minimum is `negative_ttl`.
"""

import asyncio
import struct
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

from conf.settings import Dns
from maild.dnssec import SIGNED
from tests.support.waiting import GIVES_UP_S


class DnsServer:
    def __init__(self, host: str = "127.0.0.1", fixed_port: int = 0) -> None:
        """`fixed_port`: for who can't be told another one than 53."""
        self._host, self._fixed_port = host, fixed_port
        self.records: dict[tuple[str, str], list[str]] = {}
        self.ttls: dict[tuple[str, str], int] = {}
        self.servfail: set[str | tuple[str, str]] = set()
        self.drop: set[str] = set()
        self.truncate: set[str] = set()
        self.forge: dict[str, Callable[[dns.message.Message], list[bytes]]] = {}
        self.signed: set[str] = set()
        self.signed_exactly: set[str] = set()  # and not what is below
        self.negative_ttl = 60
        self.queries: Counter[tuple[str, str]] = Counter()
        self._heard: set[tuple[object, bytes]] = set()  # by UDP, from whom
        self.hold: asyncio.Event | None = None  # answers wait for it
        self.asked = asyncio.Event()
        self.port = 0
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, name: str, rdtype: str, *texts: str, ttl: int = 300) -> None:
        self.records.setdefault((name.lower(), rdtype), []).extend(texts)
        self.ttls[name.lower(), rdtype] = ttl

    def add_mx(self, domain: str, address: str = "127.0.0.1", host: str = "", preference: int = 10) -> None:
        """A destination: an MX and its address."""
        host = host or f"mx.{domain}"
        self.add(domain, "MX", f"{preference} {host}.")
        self.add(host, "AAAA" if ":" in address else "A", address)

    @property
    def settings(self) -> Dns:
        return Dns(nameservers=(f"127.0.0.1:{self.port}",), timeout_s=GIVES_UP_S)

    async def start(self) -> "DnsServer":
        while self._udp is None:
            self._tcp = await asyncio.start_server(self._serve_tcp, self._host, self._fixed_port)
            self.port = self._tcp.sockets[0].getsockname()[1]
            try:
                self._udp, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                    lambda: _Udp(self), local_addr=(self._host, self.port)
                )
            except OSError:  # a port that is free for TCP may be in use for UDP, by somebody's look-up
                self._tcp.close()
                if self._fixed_port:
                    raise
        return self

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._udp is not None:
            self._udp.close()
        if self._tcp is not None:
            self._tcp.close()

    async def __aenter__(self) -> "DnsServer":
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def answers(self, wire: bytes, over_tcp: bool, asker: object = None) -> list[bytes]:
        query = dns.message.from_wire(wire)
        name = query.question[0].name.to_text(omit_final_dot=True).lower()
        if name in self.forge and (over_tcp or name not in self.truncate):
            return self.forge[name](query)
        answer = await self.answer(wire, over_tcp, asker)
        return [] if answer is None else [answer]

    async def answer(self, wire: bytes, over_tcp: bool, asker: object = None) -> bytes | None:
        query = dns.message.from_wire(wire)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        rdtype = dns.rdatatype.to_text(question.rdtype)
        if name not in SIGNED and (asker is None or (asker, wire) not in self._heard):
            self.queries[name, rdtype] += 1
        self._heard.add((asker, wire))
        self.asked.set()
        if self.hold is not None:
            await self.hold.wait()
        if self._is_dropped(name):
            return None
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        if name in self.servfail or (name, rdtype) in self.servfail:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif name in self.truncate and not over_tcp:
            response.flags |= dns.flags.TC
        else:
            self._fill(response, name, rdtype)
            if query.flags & dns.flags.AD and self._is_signed(name):
                response.flags |= dns.flags.AD
        return _to_wire(response, 65_535 if over_tcp else max(query.payload, 512))

    def _is_dropped(self, name: str) -> bool:
        labels = name.split(".")
        above = (f"*.{'.'.join(labels[at:])}" for at in range(1, len(labels)))
        return name in self.drop or not self.drop.isdisjoint(above)

    def _fill(self, response: dns.message.Message, name: str, rdtype: str) -> None:
        for _ in range(10):
            if (name, rdtype) in self.records:
                response.answer.append(self._rrset(name, rdtype))
                return
            if (name, "CNAME") not in self.records:
                break
            response.answer.append(self._rrset(name, "CNAME"))
            name = self.records[name, "CNAME"][0].rstrip(".").lower()
        if not any(name == owner for owner, _ in self.records):
            response.set_rcode(dns.rcode.NXDOMAIN)
        soa = f"ns.test. hostmaster.test. 1 1 1 1 {self.negative_ttl}"
        response.authority.append(dns.rrset.from_text("test.", self.negative_ttl, "IN", "SOA", soa))

    def _is_signed(self, name: str) -> bool:
        return name in self.signed_exactly or any(f".{name}".endswith(f".{zone}") for zone in self.signed)

    def _rrset(self, name: str, rdtype: str) -> dns.rrset.RRset:
        return dns.rrset.from_text(
            name + ".", self.ttls[name, rdtype], "IN", rdtype, *self.records[name, rdtype]
        )

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_tcp(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (length,) = struct.unpack("!H", await reader.readexactly(2))
                for answer in await self.answers(await reader.readexactly(length), over_tcp=True):
                    writer.write(struct.pack("!H", len(answer)) + answer)
        except (asyncio.IncompleteReadError, ConnectionResetError):
            pass
        finally:
            writer.close()


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, server: DnsServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._server.spawn(self._reply(data, addr))

    async def _reply(self, data: bytes, addr: tuple[str, int]) -> None:
        for answer in await self._server.answers(data, over_tcp=False, asker=addr):
            self._transport.sendto(answer, addr)  # type: ignore[attr-defined]


def _to_wire(response: dns.message.Message, size: int) -> bytes:
    try:
        return response.to_wire(max_size=size)
    except dns.exception.TooBig:
        response.flags |= dns.flags.TC
        response.answer.clear()
        return response.to_wire(max_size=size)
