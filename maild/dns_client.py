"""Questions to nameservers: UDP, then TCP for what is truncated, each server in turn until the caller's deadline.

A server that refuses, fails or sends garbage is not asked again for this question; one that is silent is, later, and
the next questions begin with another.
"""

import asyncio
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import structlog

from conf.dns_wire import NOERROR, NXDOMAIN, TYPES, DnsAnswer, DnsGarbage, DnsQuestion, read_answer
from conf.log_events import LogEvent, tell
from storage.exhaustion import is_exhaustion

DNS_PORT = 53
RESOLV_CONF = "/etc/resolv.conf"
SILENT_S = 30.0

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
            if version != self._read:
                self._take(Path(self._path).read_text("ascii", "replace"))
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
    return [one for one in named if is_address(one)]


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
        self._silent = SilentNameservers(now)
        self._random = random.SystemRandom()

    async def ask(self, name: bytes, rdtype: str) -> DnsAnswer:
        """A positive or negative answer. `name` is as the wire has it, in lower case.

        NoNameserver; OSError and MemoryError where there is no room here to ask. Goes on while servers are silent: the
        caller has the deadline.
        """
        nameservers = self._silent.behind_others(self._nameservers())
        while nameservers:
            for nameserver in tuple(nameservers):
                question = DnsQuestion(self._random.getrandbits(16), name, TYPES[rdtype])
                try:
                    async with asyncio.timeout(self._try_s):
                        answer = await _exchange(nameserver, question)
                except TimeoutError:
                    self._silent.was_silent(nameserver)
                    continue
                except (OSError, EOFError, DnsGarbage) as error:
                    if is_exhaustion(error):
                        raise
                    nameservers.remove(nameserver)
                    continue
                self._silent.answered(nameserver)
                if answer.rcode in (NOERROR, NXDOMAIN):
                    return answer
                nameservers.remove(nameserver)
        raise NoNameserver


async def _exchange(nameserver: Nameserver, question: DnsQuestion) -> DnsAnswer:
    answer = read_answer(await _over_udp(nameserver, question), question)
    if answer.truncated:
        wire = await _over_tcp(nameserver, question)
        if not question.is_answered_by(wire):
            raise DnsGarbage("an answer to something else")
        answer = read_answer(wire, question)
        if answer.truncated:
            raise DnsGarbage("truncated over TCP")
    return answer


async def _over_udp(nameserver: Nameserver, question: DnsQuestion) -> bytes:
    # A socket for each question: its port is one more number that a forger must guess (RFC 5452 §9.2).
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[bytes] = loop.create_future()
    asker = _Asker(question.is_answered_by, answered)
    try:
        transport, _ = await loop.create_datagram_endpoint(lambda: asker, remote_addr=nameserver)
        transport.sendto(question.to_wire())
        return await answered
    finally:
        asker.close()


class _Asker(asyncio.DatagramProtocol):
    """Passes over what is no answer: it may be forged, and the true one on its way."""

    def __init__(self, is_answer: Callable[[bytes], bool], answered: asyncio.Future[bytes]) -> None:
        self._is_answer = is_answer
        self._answered = answered
        self._transport: asyncio.BaseTransport | None = None
        self._is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        if self._is_closed:
            transport.close()

    def close(self) -> None:
        """Whoever is cancelled before the loop has given him the transport could not close it."""
        self._is_closed = True
        if self._transport is not None:
            self._transport.close()

    def datagram_received(self, data: bytes, addr: object) -> None:
        if not self._answered.done() and self._is_answer(data):
            self._answered.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self._answered.done():
            self._answered.set_exception(exc)


async def _over_tcp(nameserver: tuple[str, int], question: DnsQuestion) -> bytes:
    reader, writer = await asyncio.open_connection(*nameserver)
    try:
        query = question.to_wire()
        writer.write(len(query).to_bytes(2, "big") + query)
        return await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
    finally:
        writer.close()
