"""DNS over HTTPS through the real door, against a real TLS server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from conf.loading import SettingsError, parse
from conf.settings import Dns
from conf.strangers import LINES_PER_MINUTE, StrangerLog
from controlplane.domains import doh
from controlplane.domains.doh import DohVoice, Panel, PlainVoice, Question, Silent
from controlplane.egress.client import Egress
from maild.resolver import NoAnswer, NxDomain, Resolver
from storage.clock import Clock
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.doh_server import DohServer, txt
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S

ABSENT = (NxDomain, NoAnswer)
TXT = Question("acme.test", "TXT")
MX = Question("acme.test", "MX")
LONG = "v=DKIM1; k=rsa; p=" + "A" * 700


async def nobody(_host: str) -> list[str]:
    return []


@pytest.fixture
def zone() -> DnsServer:
    made = DnsServer()
    made.add("acme.test", "TXT", '"one " "record"', '"naïve"', r'"\255\001"')
    made.add("acme.test", "MX", "10 MX.Host.Example.", "0 .")
    made.add("long.test", "TXT", txt(LONG))
    made.add("alias.test", "CNAME", "long.test.")
    made.add("empty.test", "A", "192.0.2.1")
    return made


class World:
    def __init__(self, folder: Path, zone: DnsServer, stack: AsyncExitStack) -> None:
        self._ca = ThrowawayCa(folder)
        self._zone = zone
        self._stack = stack

    async def server(self, zone: DnsServer | None = None) -> DohServer:
        return await self._stack.enter_async_context(DohServer(self._ca, zone or self._zone))

    async def door(self, *, timeout_s: int = GIVES_UP_S, ca_file: str | None = None) -> Egress:
        settings = Dns(doh_ca_file=str(self._ca.ca_file) if ca_file is None else ca_file, timeout_s=timeout_s)
        door = Egress(doh.rules(settings), nobody, doh.USER_AGENT)
        await door.start()
        self._stack.push_async_callback(door.stop)
        return door


@pytest.fixture
async def world(tmp_path: Path, zone: DnsServer) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        yield World(tmp_path, zone, stack)


async def silence(voice: doh.Voice, question: Question = TXT) -> str:
    with pytest.raises(Silent) as silent:
        await voice.ask(question)
    return str(silent.value)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (TXT, ["one record", "naïve", "\\xff\x01"]),
        (MX, ["0 .", "10 mx.host.example"]),
        (Question("long.test", "TXT"), [LONG]),
        (Question("alias.test", "TXT"), [LONG]),
        (Question("empty.test", "TXT"), []),
        (Question("absent.test", "MX"), []),
    ],
)
async def test_records_as_checks_want_them(world: World, question: Question, answer: list[str]) -> None:
    server = await world.server()
    voice = DohVoice(server.url, await world.door())
    assert sorted(await voice.ask(question)) == sorted(answer)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("garbage", "no DNS message"),
        ("empty", "no DNS message"),
        ("status", "HTTP status 503"),
        ("redirect", "HTTP status 307"),
        ("servfail", "SERVFAIL"),
        ("truncated", "truncated"),
        ("other", "another question"),
        ("slow", "timeout"),
    ],
)
async def test_a_resolver_that_misbehaves_is_silent(world: World, fault: str, reason: str) -> None:
    server = await world.server()
    server.fault = fault
    voice = DohVoice(server.url, await world.door(timeout_s=1))
    assert reason in await silence(voice)
    assert server.requests == 1


async def test_a_resolver_that_is_down_is_silent(world: World) -> None:
    server = await world.server()
    await server.__aexit__()
    assert "refused" in await silence(DohVoice(server.url, await world.door()))


async def test_a_certificate_that_nobody_signed_is_not_taken(world: World) -> None:
    server = await world.server()
    assert "certificate" in await silence(DohVoice(server.url, await world.door(ca_file="")))
    assert server.requests == 0


async def test_plain_http_is_not_spoken(world: World) -> None:
    assert "https" in await silence(DohVoice("http://127.0.0.1:1/dns-query", await world.door()))


def test_plain_http_is_a_fault_of_the_configuration() -> None:
    with pytest.raises(SettingsError) as fault:
        parse({"dns": {"doh": ["https://a.test/dns-query", "http://b.test/dns-query"]}})
    assert [one.partition(":")[0] for one in fault.value.faults] == ["dns.doh.1"]


# Panels ------------------------------------------------------------------------------------------


def unheard() -> StrangerLog:
    return StrangerLog(lambda: 0.0, "maild.domains")


class Scripted:
    """A resolver that answers this, or is silent."""

    def __init__(self, answer: list[str] | None) -> None:
        self.name = "scripted"
        self._answer = answer

    async def ask(self, question: Question) -> list[str]:
        if self._answer is None:
            raise Silent("no")
        return [*self._answer, question.type]


async def test_each_resolver_s_answer_stands_by_itself() -> None:
    panel = Panel([Scripted(["a"]), Scripted(None), Scripted([])], unheard())
    assert await panel.hear([TXT, MX]) == {
        TXT: [["a", "TXT"], None, ["TXT"]],
        MX: [["a", "MX"], None, ["MX"]],
    }
    assert panel.quorum == 2


async def test_a_silent_resolver_is_a_line_for_each_hearing_and_ten_a_minute() -> None:
    """With no way to any resolver, all domains of the host would write one for each record of theirs."""
    panel = Panel([Scripted(None), Scripted([])], unheard())
    with capture_logs() as logged:
        await panel.hear([TXT, MX])
    (line,) = logged
    assert (line["event"], line["log_level"]) == ("resolver_silent", "warning")
    assert line["questions"] == ["TXT acme.test", "MX acme.test"] and line["reason"] == "no"
    with capture_logs() as logged:
        for _ in range(20):
            await panel.hear([TXT, MX])
    assert len(logged) == LINES_PER_MINUTE - 1


class Counting:
    """Counts how many are asked at a time; nobody answers before `go`."""

    name = "counting"

    def __init__(self) -> None:
        self.now = self.most = 0
        self.go = asyncio.Event()

    async def ask(self, question: Question) -> list[str]:
        self.now += 1
        self.most = max(self.most, self.now)
        await self.go.wait()
        self.now -= 1
        return []


async def test_hearings_are_bounded() -> None:
    voice = Counting()
    panel = Panel([voice], unheard())
    hearings = [asyncio.create_task(panel.hear([TXT])) for _ in range(doh.HEARINGS_MAX * 3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    voice.go.set()
    await asyncio.gather(*hearings)
    assert voice.most == doh.HEARINGS_MAX


@pytest.mark.parametrize(
    ("configured", "names", "quorum"),
    [
        ((), ["dns"], 1),
        (("https://a.test/q",), ["https://a.test/q", "dns"], 2),
        (("https://a.test/q", "https://b.test/q"), ["https://a.test/q", "https://b.test/q"], 2),
        (("https://a.test/q", "https://a.test/q"), ["https://a.test/q", "dns"], 2),
        (tuple(f"https://{one}.test/q" for one in "abc"), [f"https://{one}.test/q" for one in "abc"], 2),
    ],
)
def test_who_is_asked(configured: tuple[str, ...], names: list[str], quorum: int) -> None:
    panel = doh.panel(Dns(doh=configured), Egress(doh.rules(Dns()), nobody), _no_plain, ABSENT, unheard())
    assert [voice.name for voice in panel._voices] == names
    assert panel.quorum == quorum


def _no_plain() -> Any:
    raise AssertionError


# The resolver of [dns] ---------------------------------------------------------------------------


def plain(zone: DnsServer) -> Callable[[], Resolver]:
    return lambda: Resolver(zone.settings, Clock())


async def test_the_plain_resolver_says_the_same(zone: DnsServer) -> None:
    async with zone:
        voice = PlainVoice(plain(zone), ABSENT, GIVES_UP_S)
        assert sorted(await voice.ask(TXT)) == sorted(["one record", "naïve", "\\xff\x01"])
        assert sorted(await voice.ask(MX)) == ["0 .", "10 mx.host.example"]
        assert await voice.ask(Question("empty.test", "TXT")) == ()
        assert await voice.ask(Question("absent.test", "MX")) == ()


async def test_the_plain_resolver_keeps_nothing(zone: DnsServer) -> None:
    async with zone:
        voice = PlainVoice(plain(zone), ABSENT, GIVES_UP_S)
        question = Question("new.test", "TXT")
        assert await voice.ask(question) == ()
        zone.add("new.test", "TXT", '"there now"')
        assert await voice.ask(question) == ["there now"]


@pytest.mark.parametrize("trouble", ["servfail", "drop"])
async def test_the_plain_resolver_may_be_silent(zone: DnsServer, trouble: str) -> None:
    async with zone:
        getattr(zone, trouble).add("acme.test")
        assert "no answer" in await silence(PlainVoice(plain(zone), ABSENT, 1))
