"""Questions to nameservers: UDP, then TCP for what is truncated, each server in turn until the caller's deadline.

A server that refuses, fails or sends garbage is not asked again for this question; one that is silent is, later, may
still answer, and the next questions begin with another.
"""

import asyncio
import os
import random
import socket
import stat
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, cast

import structlog

from conf.dns_wire import (
    FORMERR,
    NOERROR,
    NOTIMP,
    NXDOMAIN,
    TYPES,
    DnsAnswer,
    DnsGarbage,
    DnsQuestion,
    read_answer,
)
from conf.log_events import LogEvent, tell
from conf.setting_kinds import is_loopback
from storage.exhaustion import is_exhaustion

DNS_PORT = 53
RESOLV_CONF = "/etc/resolv.conf"
RESOLV_CONF_BYTES = 64 * 1024
NAMESERVERS_MAX = 3  # resolv.conf(5), MAXNS
SILENT_S = 30.0
_WITHOUT_EDNS = (FORMERR, NOTIMP)  # RFC 6891 §7, and before it RFC 2671 §5.3

Nameserver = tuple[str, int]  # address, port

log = structlog.get_logger("maild.dns")


class NoNameserver(Exception):
    """None of them gave an answer."""


class SystemNameservers:
    """Those that /etc/resolv.conf names, now. It is looked at for each question: the daemon may start before the
    network does, which may name others any day. While the file is away or names none, the last ones stay."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path or RESOLV_CONF
        self._read: tuple[int, ...] = ()  # what tells that the file is still the one that was read
        self._named: tuple[Nameserver, ...] = ()

    def __call__(self) -> Sequence[Nameserver]:
        """None where none was ever named."""
        try:
            found = os.stat(self._path)
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if version != self._read and stat.S_ISREG(found.st_mode):  # a pipe would be waited for
                with open(self._path, encoding="ascii", errors="replace") as file:
                    self._take(file.read(RESOLV_CONF_BYTES))
                self._read = version
        except OSError:
            pass  # as said above; whoever asks hears that there is no answer
        return self._named

    def _take(self, text: str) -> None:
        named = tuple((address, DNS_PORT) for address in _addresses(text))
        if self._named and named and named != self._named:
            tell(log, LogEvent.NAMESERVERS_CHANGED, nameservers=[address for address, _ in named])
        self._named = named or self._named


def _addresses(text: str) -> list[str]:
    """Of resolv.conf(5). What is no address is passed over, as by the C library: the other lines still count."""
    lines = [line.split() for line in text.splitlines()]
    named = [words[1] for words in lines if len(words) > 1 and words[0] == "nameserver"]
    return [one for one in named if is_address(one)][:NAMESERVERS_MAX]


def is_address(text: str) -> bool:
    """Is it an address of IPv4 or IPv6, and no name?"""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@dataclass(slots=True)
class _Silence:
    """`times`: that a server was silent since its last answer; `looks_again_at`: when a question begins with it."""

    times: int = 0
    looks_again_at: float = 0.0


class SilentNameservers:
    """Those that were silent when they were asked last. They stand behind the others, each by how often it was: else
    one of two that is dead costs every question its try, and a message that takes ten has no time left. One question in
    SILENT_S begins with it all the same, and finds it when it is back. `now`: a monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._silences: dict[Nameserver, _Silence] = {}

    def behind_others(self, nameservers: Sequence[Nameserver]) -> list[Nameserver]:
        """In the order in which one question asks them; those that are alike as they are named."""
        return sorted(nameservers, key=self._rank)

    def _rank(self, nameserver: Nameserver) -> int:
        silence = self._silences.get(nameserver)
        if silence is None:
            return 0
        now = self._now()
        if now < silence.looks_again_at:
            return silence.times
        silence.looks_again_at = now + SILENT_S  # this question does, and none of those beside it
        return 0

    def was_silent(self, nameserver: Nameserver) -> None:
        silence = self._silences.setdefault(nameserver, _Silence())
        silence.times += 1
        silence.looks_again_at = self._now() + SILENT_S

    def answered(self, nameserver: Nameserver) -> None:
        self._silences.pop(nameserver, None)


class DnsClient:
    """`nameservers` gives those that are to be asked; a try takes `try_s` at most. `now`: a monotonic clock in
    seconds."""

    def __init__(
        self, nameservers: Callable[[], Sequence[Nameserver]], try_s: float, now: Callable[[], float]
    ) -> None:
        self._nameservers = nameservers
        self._try_s = try_s
        self._now = now
        self._silent = SilentNameservers(now)
        self._random = random.SystemRandom()
        # When something was heard last that came over the network: one on this host fails by itself without it.
        self.heard_at = float("-inf")

    async def ask(self, name: bytes, rdtype: str) -> DnsAnswer:
        """A positive or negative answer. `name` is as the wire has it, in lower case.

        NoNameserver; OSError and MemoryError where there is no room here to ask. Goes on while servers are silent: the
        caller has the deadline.
        """
        nameservers = self._silent.behind_others(self._nameservers())
        asked = _AskedNameservers(lambda: DnsQuestion(self._random.getrandbits(16), name, TYPES[rdtype]))
        try:
            while nameservers:
                for nameserver in tuple(nameservers):
                    answer = await self._try(asked, nameserver, nameservers)
                    if answer is not None:
                        return answer
        finally:
            asked.close()
        raise NoNameserver

    async def _try(
        self, asked: "_AskedNameservers", nameserver: Nameserver, nameservers: list[Nameserver]
    ) -> DnsAnswer | None:
        """The answer of this one, or of one before that comes late. Those that fail leave the list."""
        try:
            async with asyncio.timeout(self._try_s):
                await asked.ask(nameserver)
                while nameserver in nameservers:
                    asker, heard = await asked.next()
                    answer = await _read(asker, heard)
                    if answer is not None and answer.rcode in _WITHOUT_EDNS and asker.question.has_edns:
                        await asked.ask_without_edns(asker)
                        continue
                    if answer is not None:
                        self._silent.answered(asker.nameserver)
                        is_told = answer.rcode in (NOERROR, NXDOMAIN)
                        if is_told or not is_loopback(asker.nameserver[0]):
                            self.heard_at = self._now()
                        if is_told:
                            return answer
                    if asker.nameserver in nameservers:
                        nameservers.remove(asker.nameserver)
        except TimeoutError:
            self._silent.was_silent(nameserver)
        return None


class _AskedNameservers:
    """Whom one question went to, on a socket for each: its port is one more number that a forger must guess (RFC 5452
    §9.2). Who is asked again gets the same octets on the same socket, so that what he answered meanwhile counts: else
    nobody would be heard who needs longer than a try."""

    def __init__(self, question: Callable[[], DnsQuestion]) -> None:
        self._question = question
        self._askers: dict[Nameserver, _Asker] = {}
        self._heard: deque[_Heard] = deque()
        self._waiting: asyncio.Future[None] | None = None

    async def ask(self, nameserver: Nameserver) -> None:
        """OSError where there is no room here to ask; any other is heard."""
        asker = self._askers.get(nameserver)
        if asker is None:
            asker = self._askers[nameserver] = _Asker(nameserver, self._question(), self._hear)
        await self._send(asker)

    async def ask_without_edns(self, asker: "_Asker") -> None:
        """One that does not know it. As `ask`."""
        asker.question = asker.question._replace(has_edns=False)
        await self._send(asker)

    async def _send(self, asker: "_Asker") -> None:
        try:
            await asker.send()
        except OSError as error:
            if is_exhaustion(error):
                raise
            self._hear((asker, error.with_traceback(None)))  # it knows who asks

    async def next(self) -> "_Heard":
        """What came next: octets or an error."""
        if not self._heard:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        return self._heard.popleft()

    def _hear(self, heard: "_Heard") -> None:
        self._heard.append(heard)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def close(self) -> None:
        """Nobody is heard any more; those who were asked know who hears them."""
        for asker in self._askers.values():
            asker.close()
        self._askers.clear()
        self._heard.clear()


class _Asker(asyncio.DatagramProtocol):
    """Passes over what is no answer: it may be forged, and the true one on its way."""

    def __init__(
        self,
        nameserver: Nameserver,
        question: DnsQuestion,
        hear: Callable[["_Heard"], None],
    ) -> None:
        self.nameserver = nameserver
        self.question = question
        self._hear_of = hear
        self._transport: asyncio.DatagramTransport | None = None
        self._waits = False
        self._is_closed = False

    async def send(self) -> None:
        self._waits = True
        if self._transport is None:
            connected = await _socket_to(self.nameserver)
            await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, sock=connected)
        if self._transport is not None:
            self._transport.sendto(self.question.to_wire())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)  # uvloop's is no subclass of it
        if self._is_closed:
            transport.close()

    def close(self) -> None:
        """Whoever is cancelled before the loop has given him the transport could not close it."""
        self._is_closed = True
        if self._transport is not None:
            self._transport.close()

    def datagram_received(self, data: bytes, addr: object) -> None:
        if self._waits and self.question.is_answered_by(data):
            self._hear(data)

    def error_received(self, exc: Exception) -> None:
        if self._waits:
            self._hear(exc)

    def _hear(self, heard: bytes | Exception) -> None:
        self._waits = False
        self._hear_of((self, heard))


_Heard = tuple[_Asker, bytes | Exception]


async def _socket_to(nameserver: Nameserver) -> socket.socket:
    """A socket of our own, which is connected at once. For one that uvloop makes, libuv reads the address on a thread:
    it begins four for the first, and ends the process where the system has no room for them."""
    family, address = await _place_of(nameserver)
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        made.setblocking(False)
        made.connect(address)
    except BaseException:
        made.close()
        raise
    return made


async def _place_of(nameserver: Nameserver) -> tuple[int, Any]:
    """Family and address, as a socket takes them: with the interface of one of the link ("fe80::1%eth0"), which uvloop
    passes over. A nameserver of the settings may be named, as containers are."""
    if is_address(nameserver[0]):
        found = socket.getaddrinfo(*nameserver, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST)
    else:
        found = await asyncio.get_running_loop().getaddrinfo(*nameserver, type=socket.SOCK_DGRAM)
    return found[0][0], found[0][4]


async def _read(asker: _Asker, heard: bytes | Exception) -> DnsAnswer | None:
    """None for what is no answer. OSError where there is no room here to ask."""
    try:
        if isinstance(heard, Exception):
            raise heard
        answer = read_answer(heard, asker.question)
        return await _whole(asker) if answer.truncated else answer
    except (OSError, EOFError, DnsGarbage) as error:
        if is_exhaustion(error):
            raise
        return None
    finally:
        del heard  # its traceback knows this frame


async def _whole(asker: _Asker) -> DnsAnswer:
    """What did not fit into a datagram. OSError, EOFError, DnsGarbage."""
    wire = await _over_tcp(asker.nameserver, asker.question)
    if not asker.question.is_answered_by(wire):
        raise DnsGarbage("an answer to something else")
    answer = read_answer(wire, asker.question)
    if answer.truncated:
        raise DnsGarbage("truncated over TCP")
    return answer


async def _over_tcp(nameserver: tuple[str, int], question: DnsQuestion) -> bytes:
    reader, writer = await asyncio.open_connection(*nameserver)
    try:
        query = question.to_wire()
        writer.write(len(query).to_bytes(2, "big") + query)
        return await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
    finally:
        writer.close()
