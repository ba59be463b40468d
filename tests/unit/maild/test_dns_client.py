"""Nameservers that answer otherwise than they should, and what is left of a question that nobody waits for any more."""

import asyncio
import gc
import socket
import subprocess
import sys
import time
import warnings

import dns.message
import dns.rcode
import dns.rrset
import pytest
import uvloop

from conf.setting_kinds import is_loopback
from maild.dns_client import DnsClient, NoNameserver, _AskedNameservers, _place_of
from tests.support.peers.dns_server import DnsServer
from tests.support.running import until_true
from tests.support.waiting import GIVES_UP_S

STEPS = 12  # of the event loop; before these a question stands at each of its own


@pytest.mark.parametrize("steps", range(STEPS))
def test_a_question_that_is_cancelled_leaves_no_socket(steps: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        client = DnsClient(lambda: [silent.getsockname()], 5, time.monotonic)

        async def ask_and_leave() -> None:
            asking = [asyncio.create_task(client.ask(b"a.test", "A")) for _ in range(3)]
            for _ in range(steps):
                await asyncio.sleep(0)
            for one in asking:
                one.cancel()
            await asyncio.wait(asking)

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(ask_and_leave())
    assert [str(one.message) for one in told] == []


def test_no_thread_is_begun_to_ask() -> None:
    """libuv begins those that look for addresses when it first needs them, and ends the process that has no room for
    them."""
    program = """if True:
        import asyncio, os, time, uvloop
        from maild.dns_client import DnsClient
        async def threads_begun():
            client = DnsClient(lambda: [("127.0.0.1", 9), ("::1", 9)], 5, time.monotonic)
            asking = asyncio.create_task(client.ask(b"a.test", "A"))
            await asyncio.wait([asking])
            return len(os.listdir("/proc/self/task")) - 1, type(asking.exception()).__name__
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            print(*runner.run(threads_begun()))
    """
    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert asked.stdout.split() == ["0", "NoNameserver"]


async def test_a_nameserver_of_the_link_is_asked_on_its_interface() -> None:
    """As routers name themselves where there is IPv6 alone (RFC 8106): fe80::1%eth0."""
    _, (_, port, _, interface) = await _place_of(("fe80::1%lo", 53))
    assert (port, interface) == (53, socket.if_nametoindex("lo"))


async def test_a_nameserver_may_be_named_as_containers_are() -> None:
    _, address = await _place_of(("localhost", 53))
    assert is_loopback(address[0])


@pytest.mark.usefixtures("no_collector")
async def test_a_question_that_was_answered_leaves_nothing_to_the_collector_of_cycles() -> None:
    async with DnsServer() as dns:
        client = DnsClient(lambda: [("127.0.0.1", dns.port)], 5, time.monotonic)
        await client.ask(b"\x01a\x04test\x00", "A")
        await until_true(lambda: not any(isinstance(one, _AskedNameservers) for one in gc.get_objects()))


@pytest.mark.parametrize("refusal", [dns.rcode.FORMERR, dns.rcode.NOTIMP])
@pytest.mark.parametrize("repeats_the_question", [True, False])
async def test_a_nameserver_that_does_not_know_edns_is_asked_without_it(
    refusal: dns.rcode.Rcode, repeats_the_question: bool
) -> None:
    """As old routers do not: other programs are served by them, since those ask without it (RFC 6891 §7)."""

    def answers(query: dns.message.Message) -> list[bytes]:
        response = dns.message.make_response(query)
        response.use_edns(False)
        if query.edns < 0:
            response.answer.append(dns.rrset.from_text("a.test.", 300, "IN", "A", "192.0.2.1"))
        else:
            response.set_rcode(refusal)
            response.question = response.question if repeats_the_question else []
        return [response.to_wire()]

    async with DnsServer() as server:
        server.forge["a.test"] = answers
        client = DnsClient(lambda: [("127.0.0.1", server.port)], GIVES_UP_S, time.monotonic)
        assert (await client.ask(b"\x01a\x04test\x00", "A")).records == ("192.0.2.1",)


@pytest.mark.parametrize("rcode", [dns.rcode.FORMERR, dns.rcode.NOTIMP, dns.rcode.BADVERS])
async def test_a_nameserver_that_fails_has_not_said_that_there_is_nothing(rcode: dns.rcode.Rcode) -> None:
    """Of BADVERS the header's part is that of an empty answer (RFC 6891 §6.1.3), by which mail would bounce."""

    def answers(query: dns.message.Message) -> list[bytes]:
        response = dns.message.make_response(query)
        response.set_rcode(rcode)
        return [response.to_wire()]

    async with DnsServer() as server:
        server.forge["a.test"] = answers
        client = DnsClient(lambda: [("127.0.0.1", server.port)], GIVES_UP_S, time.monotonic)
        with pytest.raises(NoNameserver):
            await client.ask(b"\x01a\x04test\x00", "A")
