"""`smtp.proxy_from`: a balancer names its client, and nobody else can (PROXY protocol, version 2)."""

import ipaddress
import struct
from typing import Any

import pytest
import structlog

from maild.inbound.wire.proxy_header import MORE_OCTETS_MAX, SIGNATURE
from tests.conftest import Start
from tests.support.running import Running, Smtp, until, until_true

LOOPBACK = {"proxy_from": ["127.0.0.0/8"]}
CLIENT = "192.0.2.7"


def header(source: str = CLIENT, *, command: int = 0x21, more: bytes = b"") -> bytes:
    """What a balancer begins with; `more`: TLVs."""
    address = ipaddress.ip_address(source)
    to = ipaddress.ip_address("192.0.2.1" if address.version == 4 else "2001:db8::1")
    body = address.packed + to.packed + struct.pack("!HH", 40000, 25) + more
    return (
        SIGNATURE
        + bytes([command, 0x11 if address.version == 4 else 0x21])
        + struct.pack("!H", len(body))
        + body
    )


async def begun(maild: Running, octets: bytes, *, tls: bool = False) -> Smtp:
    listener = maild.daemon.listener
    talk = await Smtp.connect((listener.tls_addresses if tls else listener.addresses)[0])
    maild._talks.append(talk)
    await talk.write(octets)
    if tls:
        await talk.start_tls()
    return talk


async def received_from(maild: Running, talk: Smtp, to: str) -> str:
    """The client's address as Received has it, of a message that goes this way."""
    await talk.begin(to)
    assert (await talk.say(b"Subject: hi\r\n\r\nhello\r\n.")).startswith("250 ")
    newest = (await maild.api.messages(limit="1"))[0]
    trace = maild.sql("SELECT trace FROM messages WHERE id = ?", newest["id"])[0][0].decode()
    return str(trace.split("([")[1].split("])")[0])


@pytest.mark.parametrize(
    ("source", "peer"),
    [
        (CLIENT, CLIENT),
        ("2001:db8::7", "IPv6:2001:db8::7"),
        (f"::ffff:{CLIENT}", CLIENT),
    ],
)
@pytest.mark.parametrize("more", [b"", b"\x04\x00\x03abc"])
async def test_the_client_that_it_names_is_the_peer(
    start: Start, source: str, peer: str, more: bytes
) -> None:
    maild = await start(smtp=LOOPBACK)
    bot = await maild.inbox("bot")
    talk = await begun(maild, header(source, more=more))
    assert (await talk.reply()).startswith("220 ")
    assert await received_from(maild, talk, bot["address"]) == peer


async def test_the_balancers_own_connection_is_served_as_itself(start: Start) -> None:
    maild = await start(smtp=LOOPBACK)
    bot = await maild.inbox("bot")
    talk = await begun(maild, header(command=0x20))
    assert (await talk.reply()).startswith("220 ")
    assert await received_from(maild, talk, bot["address"]) == "127.0.0.1"
    bare = await begun(maild, SIGNATURE + b"\x20\x00\x00\x00")
    assert (await bare.reply()).startswith("220 ")


async def test_limits_are_those_of_the_client(start: Start) -> None:
    maild = await start(smtp=LOOPBACK | {"max_sessions_per_address": 1})
    for source in (CLIENT, "192.0.2.8"):
        assert (await (await begun(maild, header(source))).reply()).startswith("220 ")
    assert (await (await begun(maild, header())).reply()).startswith("421 4.7.0 ")


async def test_addresses_of_one_ipv6_network_have_the_sessions_of_one(start: Start) -> None:
    maild = await start(smtp=LOOPBACK | {"max_sessions_per_address": 2})
    first = await begun(maild, header("2001:db8::1"))
    assert (await first.reply()).startswith("220 ")
    assert (await (await begun(maild, header("2001:db8::2"))).reply()).startswith("220 ")
    assert (await (await begun(maild, header("2001:db8::3"))).reply()).startswith("421 4.7.0 ")
    assert (await (await begun(maild, header("2001:db8:0:1::1"))).reply()).startswith("220 ")
    await first.say("QUIT")
    assert await first.closed()
    assert await until(lambda: greeted(maild, "2001:db8::4"))


async def greeted(maild: Running, source: str) -> bool:
    return (await (await begun(maild, header(source))).reply()).startswith("220 ")


async def test_a_connection_without_its_header_takes_a_place_of_all(start: Start) -> None:
    maild = await start(smtp=LOOPBACK | {"max_sessions": 1})
    waits = await begun(maild, header()[:20])
    await until_true(lambda: len(maild.daemon.listener._sessions) == 1)
    assert (await (await begun(maild, header())).reply()).startswith("421 4.7.0 ")
    waits.hang_up()
    await until_true(lambda: not maild.daemon.listener._sessions)
    assert (await (await begun(maild, header())).reply()).startswith("220 ")


async def test_from_anywhere_else_a_header_is_never_read(start: Start) -> None:
    """It is lines of nonsense to SMTP, and one of them is QUIT: its authors meant it so."""
    maild = await start(smtp={"proxy_from": ["10.0.0.0/8", "::/0"]})
    with structlog.testing.capture_logs() as lines:
        talk = await maild.smtp()
        await talk.write(header() + b"\r\n")
        heard = []
        while reply := await talk.reply():
            heard.append(reply[:4])
        assert heard == ["500 ", "500 ", "500 ", "221 "]
    assert {line["peer"] for line in lines if "peer" in line} == {"127.0.0.1"}


@pytest.mark.parametrize(
    "octets",
    [
        b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 25\r\n",
        b"EHLO client.elsewhere.test\r\n",
        SIGNATURE + b"\x11\x11\x00\x0c" + bytes(12),
        SIGNATURE + b"\x22\x11\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x11\x00\x04" + bytes(4),
        SIGNATURE + b"\x21\x21\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x12\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x31\x00\xd8" + bytes(216),
        SIGNATURE + b"\x21\x00\x00\x00",
        SIGNATURE + b"\x21\x11" + struct.pack("!H", MORE_OCTETS_MAX + 1),
    ],
)
async def test_a_balancer_that_sends_anything_else_is_cut_off(start: Start, octets: bytes) -> None:
    maild = await start(smtp=LOOPBACK)
    with structlog.testing.capture_logs() as lines:
        talk = await begun(maild, octets)
        assert await talk.closed()  # not even greeted
    assert [line["event"] for line in lines if line["log_level"] == "info"] == ["proxy_header_refused"]


async def test_nothing_is_said_before_the_header_and_not_for_ever_waited_for(start: Start) -> None:
    maild = await start(smtp=LOOPBACK | {"command_timeout_s": 1})
    talk = await begun(maild, header()[:27])
    assert (await talk.reply()).startswith("421 4.4.2 ")
    assert await talk.closed()


async def test_what_comes_with_the_header_is_the_clients_first_words(start: Start) -> None:
    maild = await start(smtp=LOOPBACK)
    talk = await begun(maild, header() + b"EHLO client.elsewhere.test\r\n")
    assert (await talk.reply()).startswith("220 ")
    assert "PIPELINING" in await talk.reply()


async def test_before_tls_too(start: Start) -> None:
    maild = await start(smtp=LOOPBACK | {"listen_tls": ["127.0.0.1:0"]})
    bot: dict[str, Any] = await maild.inbox("bot")
    talk = await begun(maild, header(), tls=True)
    assert (await talk.reply()).startswith("220 ")
    assert await received_from(maild, talk, bot["address"]) == CLIENT
    without = await Smtp.connect(maild.daemon.listener.tls_addresses[0])
    maild._talks.append(without)
    await without.write(b"\x16\x03\x01" + bytes(20))
    assert await without.closed()
