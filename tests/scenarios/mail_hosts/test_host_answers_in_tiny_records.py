"""Hosts that answer under TLS in records of one octet: each costs a microsecond, and what waits in a socket is
decrypted in one piece (conf/tls.py)."""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from conf.settings import Webhooks
from conf.tls import RECEIVED_OCTETS
from controlplane.egress.client import Egress
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.worlds.sending import Sending

NAME = "there.test"
LEAST_OF_A_RECORD = 22  # of TLS 1.3: a head of 5, the kind of content, and 16 that prove it
SMTP_ANSWER = (b"421-" + b"x" * 40 + b"\r\n") * 100 + b"421 later\r\n"
HTTP_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5_000


class Reads:
    """How often TLS was read from in a round of the loop, at most."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._rounds: Counter[int] = Counter()
        self._round = 0
        read = ssl.SSLObject.read

        def counted(one: ssl.SSLObject, *args: Any) -> Any:
            self._count()
            return read(one, *args)

        patch.setattr(ssl.SSLObject, "read", counted)

    def _count(self) -> None:
        if not self._rounds[self._round]:
            asyncio.get_running_loop().call_soon(self._next)
        self._rounds[self._round] += 1

    def _next(self) -> None:
        self._round += 1

    @property
    def most(self) -> int:
        return max(self._rounds.values())


@asynccontextmanager
async def host(
    address: str, port: int, context: ssl.SSLContext, answer: bytes, *, starttls: bool
) -> AsyncIterator[int]:
    """Its port: it shakes hands, hears something, and answers in records of one octet."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if starttls:
            for said in (b"220 x\r\n", b"250-x\r\n250 STARTTLS\r\n"):
                writer.write(said)
                await reader.readline()
            writer.write(b"220 go on\r\n")
        heard, saying = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(heard, saying, server_side=True)
        for step in (tls.do_handshake, tls.read):
            while _waits(step):
                writer.write(saying.read())
                heard.write(await reader.read(RECEIVED_OCTETS))
        for at in range(len(answer)):
            tls.write(answer[at : at + 1])
        writer.write(saying.read())
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    async with await asyncio.start_server(one, address, port) as server:
        yield server.sockets[0].getsockname()[1]


def _waits(step: Callable[[], object]) -> bool:
    try:
        step()
    except ssl.SSLWantReadError:
        return True
    return False


def most_of_a_round() -> int:
    """Linux gives a socket twice what it is asked for, and two rounds of the loop may count as one."""
    return 4 * RECEIVED_OCTETS // LEAST_OF_A_RECORD


async def test_what_a_mail_host_says_is_read_little_by_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ThrowawayCa(tmp_path).server_context([f"mx.{NAME}"])
    async with Sending(tmp_path, mx=Mx()) as sending:
        sending.dns.add_mx(NAME, "127.0.0.7")
        port = sending.mx.port
        reads = Reads(monkeypatch)
        async with host("127.0.0.7", port, context, SMTP_ANSWER, starttls=True):
            await sending.queue.start()
            await sending.until(await sending.send(f"you@{NAME}"), "deferred")
    assert 1 < reads.most <= most_of_a_round()


async def test_what_an_endpoint_answers_is_read_little_by_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca = ThrowawayCa(tmp_path)

    async def resolve(_: str) -> list[str]:
        return ["127.0.0.1"]

    egress = Egress(Webhooks(allow_private_networks=True, ca_file=str(ca.ca_file)), resolve)
    await egress.start()
    reads = Reads(monkeypatch)
    async with host("127.0.0.1", 0, ca.server_context([NAME]), HTTP_ANSWER, starttls=False) as port:
        assert (await egress.get(f"https://{NAME}:{port}/")).status == 200
        await egress.stop()
    assert 1 < reads.most <= most_of_a_round()
