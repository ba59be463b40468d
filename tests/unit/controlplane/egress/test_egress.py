"""The door itself, against a real HTTPS server on loopback."""

import asyncio
import errno
import gzip
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from conf.settings import Webhooks
from controlplane.egress import client
from controlplane.egress.client import Egress, EgressCutOff, EgressFailed, EgressStarved
from controlplane.egress.http1 import ANSWER_BYTES_MAX, EndpointConnection
from controlplane.egress.targets import EgressRefused
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.webhook_world import egress_to


@pytest.fixture
async def sink(tmp_path: Path) -> AsyncIterator[WebhookSink]:
    async with WebhookSink(tmp_path) as running:
        yield running


@pytest.fixture
async def egress(sink: WebhookSink) -> AsyncIterator[Egress]:
    door = egress_to(sink)
    await door.start()
    yield door
    await door.stop()


async def test_a_get_has_no_body_and_follows_nobody(sink: WebhookSink, egress: Egress) -> None:
    sink.always(
        "/policy", Reply(302, {"Location": sink.url("/elsewhere"), "Content-Type": "text/plain"}, b"there")
    )
    answer = await egress.get(sink.url("/policy"))
    assert (answer.status, answer.body, answer.is_whole, answer.content_type) == (
        302,
        b"there",
        True,
        "text/plain",
    )
    (received,) = sink.received
    assert (received.method, received.path, received.body) == ("GET", "/policy", b"")
    assert "content-length" not in received.headers


async def post_with(settings: Webhooks, resolve: Any, url: str) -> None:
    door = Egress(settings, resolve)
    await door.start()
    try:
        await door.post(url, b"{}", {})
    finally:
        await door.stop()


async def failure(egress: Egress, url: str) -> EgressFailed:
    with pytest.raises(EgressFailed) as failed:
        await egress.post(url, b"{}", {})
    return failed.value


async def test_what_arrives_is_what_was_given(sink: WebhookSink, egress: Egress) -> None:
    sink.script("/hook?a=1", Reply(201, body="grün".encode()))
    answer = await egress.post(sink.url("/hook?a=1"), b'{"a":1}', {"Content-Type": "application/json"})
    assert (answer.status, answer.body) == (201, "grün".encode())
    (received,) = sink.received
    assert (received.method, received.path, received.body) == ("POST", "/hook?a=1", b'{"a":1}')
    assert received.headers == {
        "host": f"sink.test:{sink.port}",
        "content-type": "application/json",
        "content-length": "7",
        "user-agent": "maild-webhooks/1",
        "accept": "*/*",
        "accept-encoding": "identity",
    }


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(sink: WebhookSink, egress: Egress, status: int) -> None:
    sink.script("/hook", Reply(status, {"Location": sink.url("/secret")}))
    assert (await egress.post(sink.url(), b"{}", {})).status == status
    assert [one.path for one in sink.received] == ["/hook"]


@pytest.mark.parametrize("size", [2, 1_000_000])
async def test_who_waits_for_its_turn_hears_when_the_request_left(
    sink: WebhookSink, egress: Egress, size: int
) -> None:
    answered, left = asyncio.Event(), asyncio.Event()
    sink.script("/slow", Reply(hold=answered))
    posting = asyncio.create_task(egress.post(sink.url("/slow"), b"x" * size, {}, left.set))
    async with asyncio.timeout(GIVES_UP_S):
        await left.wait()  # before any answer
        await sink.received_count(1, "/slow")
    assert not posting.done()
    answered.set()
    assert (await posting).status == 200


async def test_cookies_are_not_kept(sink: WebhookSink, egress: Egress) -> None:
    sink.script("/hook", Reply(headers={"Set-Cookie": "a=b"}))
    for _ in range(2):
        await egress.post(sink.url(), b"{}", {})
    assert all("cookie" not in one.headers for one in sink.received)


async def test_an_endless_answer_is_cut(sink: WebhookSink, egress: Egress) -> None:
    sink.script("/hook", Reply(endless=True))
    answer = await egress.post(sink.url(), b"{}", {})
    assert (answer.status, len(answer.body)) == (200, ANSWER_BYTES_MAX)


async def test_a_compressed_answer_is_not_inflated(sink: WebhookSink, egress: Egress) -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    sink.script("/hook", Reply(headers={"Content-Encoding": "gzip"}, body=bomb))
    assert (await egress.post(sink.url(), b"{}", {})).body == bomb


@pytest.mark.parametrize("where", ["hold", "body_hold"])
async def test_one_deadline_covers_head_and_body(sink: WebhookSink, where: str) -> None:
    never = asyncio.Event()
    sink.script("/hook", Reply(hold=never) if where == "hold" else Reply(body_hold=never))
    door = Egress(
        # The shortest that the settings allow is 1 s.
        Webhooks(allow_private_networks=True, ca_file=str(sink.ca_file), timeout_s=1),
        sink.resolve,
    )
    await door.start()
    error = await failure(door, sink.url())
    assert error.reason == "timeout: no whole answer within 1 s"
    assert error.status == (None if where == "hold" else 200)
    await door.stop()


async def test_a_resolver_that_hangs_is_a_timeout_and_passes_registration(sink: WebhookSink) -> None:
    async def hang(_host: str) -> list[str]:
        await asyncio.Event().wait()
        raise AssertionError

    door = Egress(Webhooks(timeout_s=1), hang)
    await door.check_url("https://slow.test/")
    await door.start()
    told = (await failure(door, "https://slow.test/")).reason
    assert told == "timeout: its name was not resolved within 1 s"
    await door.stop()


async def test_a_host_that_takes_no_connection(sink: WebhookSink) -> None:
    """Whoever runs the endpoint looks at firewalls then, and not at what the endpoint does."""
    door = egress_to(sink, timeout_s=1)
    await door.start()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first:
        first.connect(full.getsockname())  # the kernel drops what comes now
        told = (await failure(door, f"https://sink.test:{full.getsockname()[1]}/")).reason
    assert told == "timeout: there was no connection within 1 s"
    await door.stop()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(drop=True), "the connection was closed before an answer"),
        (Reply(raw=b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "the answer is not valid HTTP"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"), "the answer is not valid HTTP"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort"), "the answer broke off"),
    ],
)
async def test_torn_answers(sink: WebhookSink, egress: Egress, reply: Reply, reason: str) -> None:
    sink.script("/hook", reply)
    assert (await failure(egress, sink.url())).reason == reason


async def test_nobody_listens(sink: WebhookSink, egress: Egress) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"https://sink.test:{free.getsockname()[1]}/"
        assert (await failure(egress, url)).reason == "the connection was refused"


async def test_a_name_without_addresses(egress: Egress) -> None:
    assert (await failure(egress, "https://nowhere.test/")).reason == "the host name does not resolve"


async def test_a_certificate_of_another_ca(sink: WebhookSink, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    settings = Webhooks(allow_private_networks=True, ca_file=str(ThrowawayCa(folder, "other CA").ca_file))
    with pytest.raises(EgressFailed, match="the certificate does not verify"):
        await post_with(settings, sink.resolve, sink.url())
    assert sink.received == []


async def test_a_certificate_of_another_name(sink: WebhookSink) -> None:
    async def resolve(_host: str) -> list[str]:
        return ["127.0.0.1"]

    settings = Webhooks(allow_private_networks=True, ca_file=str(sink.ca_file))
    with pytest.raises(EgressFailed, match="the certificate does not verify"):
        await post_with(settings, resolve, sink.url(host="elsewhere.test"))


async def test_a_server_that_speaks_no_tls(egress: Egress) -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mx.test ESMTP\r\n" * 100)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        url = f"https://sink.test:{server.sockets[0].getsockname()[1]}/"
        assert (await failure(egress, url)).reason.startswith("tls: ")


async def test_a_server_that_never_finishes_the_handshake(sink: WebhookSink) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    door = egress_to(sink, timeout_s=1)
    await door.start()
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        url = f"https://sink.test:{server.sockets[0].getsockname()[1]}/"
        assert (await failure(door, url)).reason == "timeout: the TLS handshake was not done within 1 s"
        await door.stop()


async def test_a_server_that_shows_certificates_without_end(sink: WebhookSink, tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    (folder := tmp_path / "long").mkdir()
    long = ThrowawayCa(folder).server_context(["sink.test"], shows_ca=80)
    door = egress_to(sink)
    await door.start()
    async with await asyncio.start_server(silent, "127.0.0.1", 0, ssl=long) as server:
        url = f"https://sink.test:{server.sockets[0].getsockname()[1]}/"
        assert (await failure(door, url)).reason == "tls: the handshake is too long"
        await door.stop()


async def test_a_head_without_end(sink: WebhookSink, egress: Egress) -> None:
    sink.script("/hook", Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X-Header: 1\r\n" * 100_000 + b"\r\n"))
    assert (await failure(egress, sink.url())).reason == "the answer is not valid HTTP"


async def test_a_kept_open_connection_that_was_closed_is_replaced(sink: WebhookSink, egress: Egress) -> None:
    sink.script("/hook", Reply(), Reply(drop=True), Reply(202))
    await egress.post(sink.url(), b"1", {})
    assert (await egress.post(sink.url(), b"2", {})).status == 202
    assert [(one.body, one.connection) for one in sink.received] == [(b"1", 1), (b"2", 1), (b"2", 2)]


async def test_no_proxy_of_the_environment(
    sink: WebhookSink, egress: Egress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await egress.post(sink.url(), b"{}", {})).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "sink.test"])
async def test_loopback_is_not_called(sink: WebhookSink, host: str) -> None:
    with pytest.raises(EgressRefused):
        await post_with(Webhooks(ca_file=str(sink.ca_file)), sink.resolve, sink.url(host=host))
    assert sink.connections == 0


async def test_a_name_that_changes_its_address_after_registration(sink: WebhookSink) -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"], ["93.184.215.14", "127.0.0.1"]])

    async def rebinding(_host: str) -> list[str]:
        return next(answers)

    door = Egress(Webhooks(ca_file=str(sink.ca_file)), rebinding)
    await door.check_url(sink.url())
    await door.start()
    for _ in range(2):
        with pytest.raises(EgressRefused):
            await door.post(sink.url(), b"{}", {})
    await door.stop()
    assert sink.connections == 0


async def test_the_socket_factory_checks_the_address_that_is_dialled() -> None:
    guard = Egress(Webhooks(), lambda _host: asyncio.sleep(0, []))._guard
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("169.254.169.254", 443))
    with pytest.raises(PermissionError):
        guard.open_socket(info)


async def test_who_gives_up_as_the_handshake_ends_leaves_no_connection(
    sink: WebhookSink, egress: Egress, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    class GivenUp(EndpointConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            made.append(transport)
            posting.cancel()

    monkeypatch.setattr("controlplane.egress.client.EndpointConnection", GivenUp)
    posting = asyncio.create_task(egress.post(sink.url(), b"{}", {}))
    with pytest.raises(asyncio.CancelledError):
        await posting
    monkeypatch.undo()
    # asyncio refuses a descriptor that a transport still has.
    assert (await egress.post(sink.url(), b"{}", {})).status == 200
    assert made[0].is_closing()


async def test_a_stop_during_the_look_up_takes_no_tls_away(sink: WebhookSink) -> None:
    looked_up, go_on = asyncio.Event(), asyncio.Event()

    async def resolve(host: str) -> list[str]:
        looked_up.set()
        await go_on.wait()
        return await sink.resolve(host)

    door = Egress(Webhooks(allow_private_networks=True, ca_file=str(sink.ca_file)), resolve)
    await door.start()
    posting = asyncio.create_task(door.post(sink.url(), b"{}", {}))
    await looked_up.wait()
    await door.stop()
    go_on.set()
    assert (await posting).status == 200
    assert not door._kept._idle


async def test_after_stop_nothing_is_called(sink: WebhookSink) -> None:
    door = egress_to(sink)
    await door.start()
    await door.stop()
    await door.stop()
    assert (await failure(door, sink.url())).reason == "shutting down"


WANTS = [
    OSError(errno.EMFILE, "Too many open files"),
    OSError(errno.ENOBUFS, "No buffer space"),
    MemoryError(),
]


@pytest.mark.parametrize("error", WANTS, ids=repr)
@pytest.mark.parametrize("where", ["look-up", "socket", "first socket", "connect", "first connect"])
async def test_who_could_not_be_called_for_want_of_descriptors_was_not_called(
    sink: WebhookSink, monkeypatch: pytest.MonkeyPatch, where: str, error: Exception
) -> None:
    """Nor where the want is over for the second address, and nobody listens there."""
    more = [ConnectionRefusedError(errno.ECONNREFUSED, "refused")] if where.startswith("first") else [error]
    failures = [error, *more]

    async def resolve(host: str) -> list[str]:
        if where == "look-up":
            raise error
        return ["127.0.0.1", "127.0.0.2"]

    class Failing(client._Opening):
        def __init__(self, open_socket: Any) -> None:
            super().__init__(Mock(side_effect=failures) if where.endswith("socket") else open_socket)
            if where.endswith("connect"):
                self._loop = Mock(sock_connect=AsyncMock(side_effect=failures))

    monkeypatch.setattr(client, "_Opening", Failing)
    egress = egress_to(sink, resolve)
    await egress.start()
    with pytest.raises(EgressStarved):
        await egress.post(sink.url(), b"", {})
    await egress.stop()
    assert sink.connections == 0


class Away:
    """A network that is away; `asked`: about whom."""

    def __init__(self, is_away: bool = True) -> None:
        self._is_away = is_away
        self.asked: list[tuple[list[str], bool]] = []

    async def is_away(self, addresses: Sequence[str], is_named: bool) -> bool:
        self.asked.append((list(addresses), is_named))
        return self._is_away


NOBODY_THERE = OSError(errno.ENETUNREACH, "Network is unreachable")


@pytest.mark.parametrize("is_away", [True, False])
@pytest.mark.parametrize(
    ("host", "resolved", "fault", "asked"),
    [
        ("sink.test", None, None, ([], True)),
        ("sink.test", ["127.0.0.1"], NOBODY_THERE, (["127.0.0.1"], True)),
        ("sink.test", ["127.0.0.1"], OSError(errno.EADDRNOTAVAIL, "no"), (["127.0.0.1"], True)),
        ("sink.test", ["127.0.0.1"], TimeoutError(), (["127.0.0.1"], True)),
        ("127.0.0.1", None, NOBODY_THERE, (["127.0.0.1"], False)),
    ],
)
async def test_whether_the_own_network_is_away_is_asked_where_nobody_was_reached(
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    resolved: list[str] | None,
    fault: Exception | None,
    asked: Any,
    is_away: bool,
) -> None:
    async def resolve(_host: str) -> list[str]:
        if resolved is None:
            raise OSError("no nameserver")
        return resolved

    class Failing(client._Opening):
        async def sock_connect(self, sock: Any, address: Any) -> None:
            assert fault is not None
            raise fault

    monkeypatch.setattr(client, "_Opening", Failing)
    network = Away(is_away)
    egress = Egress(Webhooks(allow_private_networks=True), resolve, network=network)
    await egress.start()
    with pytest.raises(EgressFailed) as failed:
        await egress.post(f"https://{host}/", b"", {})
    await egress.stop()
    assert isinstance(failed.value, EgressCutOff) is is_away
    assert network.asked == [asked]


@pytest.mark.parametrize("reply", ["refused", Reply(drop=True), Reply(raw=b"nonsense\r\n\r\n")], ids=str)
async def test_who_was_heard_is_not_taken_for_the_own_network(sink: WebhookSink, reply: Any) -> None:
    network = Away()
    rules = Webhooks(allow_private_networks=True, ca_file=str(sink.ca_file))
    egress = Egress(rules, sink.resolve, network=network)
    url = sink.url()
    if reply == "refused":
        await sink.__aexit__(None, None, None)
    else:
        sink.always("/hook", reply)
    await egress.start()
    with pytest.raises(EgressFailed) as failed:
        await egress.post(url, b"", {})
    await egress.stop()
    assert not isinstance(failed.value, EgressCutOff) and network.asked == []
