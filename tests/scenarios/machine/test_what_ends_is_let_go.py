"""What ends is let go at once. In a circle of references it would wait for the collector of cycles, which holds the
event loop while it looks for all of them. An exception knows the frames that it went through: whoever keeps one, or
waits for a future that has it, in a frame that outlives it closes the circle.
"""

import asyncio
import gc
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from controlplane.contract.refusals import Refusal
from controlplane.egress.client import EgressFailed
from controlplane.egress.http1 import EndpointConnection, NoResponse
from controlplane.transport.connections import ClientConnection
from maild.authentication.signatures import Unacceptable
from maild.inbound.sessions.session import Session
from maild.outbound.routing.route import RouteError
from maild.outbound.sessions.smtp_client import NextHopSession
from tests.conftest import Start
from tests.support.clients.mcp import Mcp
from tests.support.machine.ports import free_port
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.running import Running, until_true
from tests.support.worlds.sending import Sending
from tests.support.worlds.webhook_world import egress_to

Left = Callable[..., list[object]]
LAST = {"Connection": "close"}  # a connection that stays keeps what it was asked last
SIGNED = (
    "DKIM-Signature: v=1; a=rsa-sha256; d=there.test; s=none; c=relaxed/relaxed; h=from;\n"
    " bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA\nFrom: a@there.test\n\nwords\n"
)


@pytest.fixture
def left(no_collector: None) -> Left:
    """Of these types, what has come about in this test and is there still, though nothing is collected."""
    others = {id(one) for one in gc.get_objects()}
    return lambda *kinds: [
        one for one in gc.get_objects() if issubclass(type(one), kinds) and id(one) not in others
    ]


# Over HTTP ---------------------------------------------------------------------------------------


async def no_such_path(maild: Running) -> None:
    assert (await maild.api.call("GET", "/nothing", headers=LAST)).status == 404


async def another_method(maild: Running) -> None:
    assert (await maild.api.call("DELETE", "/health", headers=LAST)).status == 405


async def cut_short(maild: Running) -> None:
    where = urlsplit(maild.api.url)
    _, writer = await asyncio.open_connection(where.hostname, where.port)
    head = f"POST /v1/inboxes HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {maild.api.key}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{".encode())
    await writer.drain()
    await maild.api.get("/health")
    writer.transport.abort()


async def who_waits_and_leaves(maild: Running) -> None:
    where = urlsplit(maild.api.url)
    _, writer = await asyncio.open_connection(where.hostname, where.port)
    head = f"GET /v1/messages/wait?timeoutSeconds=30 HTTP/1.1\r\nHost: {where.netloc}\r\n"
    writer.write(f"{head}Authorization: Bearer {maild.api.key}\r\n\r\n".encode())

    def is_looked_at() -> bool:
        connections = [one for one in gc.get_objects() if type(one) is ClientConnection]
        return any(one._request is not None for one in connections)

    await until_true(is_looked_at)
    writer.transport.abort()


async def tools_that_refuse(maild: Running) -> None:
    mcp = Mcp(maild.api)
    assert (await mcp.call("cancel_message", messageId="msg_none")).is_error
    assert (await mcp.call("send_message", text=1)).is_error


async def a_check_of_what_would_be_refused(maild: Running) -> None:
    bot = await maild.inbox("bot")
    await maild.api.post("/v1/suppressions", {"email": "gone@elsewhere.test"})
    wish = {"inboxId": bot["id"], "to": ["gone@elsewhere.test"]}
    told = (await maild.api.post("/v1/messages/check", wish)).data
    assert [one["code"] for one in told["errors"]] == ["recipient_suppressed"]


async def a_send_that_trips_the_wire(maild: Running) -> None:
    bot = await maild.inbox("bot")
    answer = await maild.api.send(bot, to=[f"p{number}@elsewhere.test" for number in range(9)])
    assert answer.code == "sending_paused_bulk_review"


# By SMTP -----------------------------------------------------------------------------------------


async def a_name_that_no_nameserver_answers_for(maild: Running) -> None:
    bot = await maild.inbox("bot")
    assert (await maild.deliver(bot["address"], SIGNED)).startswith("250 ")


async def a_session_that_says_nothing(maild: Running) -> None:
    talk = await maild.smtp()
    assert (await talk.reply()).startswith("421 ")
    assert await talk.closed()


@pytest.mark.parametrize(
    ("act", "kinds"),
    [
        (no_such_path, [web.Request]),
        (another_method, [web.Request]),
        (cut_short, [ConnectionError]),
        (who_waits_and_leaves, [web.Request]),
        (tools_that_refuse, [Refusal]),
        (a_check_of_what_would_be_refused, [Refusal]),
        (a_send_that_trips_the_wire, [Refusal]),
        (a_name_that_no_nameserver_answers_for, [ConnectionError, Unacceptable]),
        (a_session_that_says_nothing, [Session, asyncio.CancelledError]),
    ],
)
async def test_in_the_daemon(
    start: Start, left: Left, act: Callable[[Running], Awaitable[None]], kinds: list[type]
) -> None:
    maild = await start(limits={"bulk_recipients": 5}, smtp={"command_timeout_s": 1})

    await act(maild)

    await until_true(lambda: not left(*kinds))


# To other hosts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outbound", "starttls", "status", "kinds"),
    [
        ({"allow_private_networks": False}, "", "bounced", [RouteError]),
        ({}, "broken", "delivered", [NextHopSession, ssl.SSLError]),
    ],
    ids=["no way", "a handshake that fails"],
)
async def test_a_delivery(
    tmp_path: Path, left: Left, outbound: dict[str, Any], starttls: str, status: str, kinds: list[type]
) -> None:
    (tmp_path / "ca").mkdir()
    (tmp_path / "data").mkdir()
    context = ThrowawayCa(tmp_path / "ca").server_context(["mx.there.test"])
    mx = Mx(starttls=starttls, tls_context=context)
    async with Sending(tmp_path / "data", mx=mx, outbound=outbound) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, status)
        await sending.queue.stop()  # a session that is kept is none that has ended

        await until_true(lambda: not left(*kinds))


@pytest.mark.parametrize("reply", [None, Reply(drop=True), Reply()], ids=["refused", "hangs up", "answers"])
async def test_an_endpoint(tmp_path: Path, left: Left, reply: Reply | None) -> None:
    async with WebhookSink(tmp_path) as sink:
        egress = egress_to(sink)
        await egress.start()
        if reply is not None:
            sink.script("/hook", reply)
        port = free_port() if reply is None else sink.port
        try:
            await egress.post(f"https://sink.test:{port}/hook", b"{}", {})
        except EgressFailed:
            assert reply is None or reply.drop
        await egress.stop()

        await until_true(lambda: not left(EndpointConnection, NoResponse))
