"""Whoever speaks no HTTP, or hangs up, hears our words alone; the log has neither a traceback nor a key of his.

The daemon is a process of its own, on the loop that it has in production.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.daemon import Daemon
from tests.support.waiting import GIVES_UP_S

KEY = "svc_live_" + "5ec4e7" * 8
BEARER = b"Authorization: Bearer " + KEY.encode()
GET = b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + BEARER + b"\r\n"

MALFORMED = {
    "no HTTP": b"BOGUS " + KEY.encode() + b"\r\n\r\n",
    "version 9.9 behind a key": b"GET /" + KEY.encode() + b" HTTP/9.9\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "NUL behind the key": GET + BEARER + b"\x00\r\n\r\n",
    "control character behind the key": GET + BEARER + b"\x7f\r\n\r\n",
    "no host": b"GET /v1/inboxes HTTP/1.1\r\n" + BEARER + b"\r\n\r\n",
    "line too long": b"GET /" + KEY.encode() * 200 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "header too long": GET + BEARER + b"5" * 9000 + b"\r\n\r\n",
    "too many headers": GET + b"".join(b"X-%d: %s\r\n" % (n, KEY.encode()) for n in range(300)) + b"\r\n",
    "bad name": GET + b"Bad " + BEARER + b"\r\n\r\n",
    "signed length": POST + b"Content-Length: -5\r\n\r\n",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "huge length": POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "gzip and chunks": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "bytes of a path": b"GET /\xc3\xa9" + KEY.encode() + b" HTTP/9.1\r\nHost: x\r\n\r\n",
}


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Daemon]:
    http = {"max_connections": 5, "header_timeout_s": 2}
    async with Daemon(tmp_path, dns_port=9, more={"http": http}) as running:
        yield running


async def ask(daemon: Daemon, octets: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (names in lower case) and body of the answer; the server closes or says how long it is."""
    where = urlsplit(daemon.api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        writer.write(octets)
        async with asyncio.timeout(GIVES_UP_S):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
            lines = head.split("\r\n")
            headers = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines[1:-2]}
            body = await reader.readexactly(int(headers["content-length"]))
        return int(lines[0].split()[1]), headers, body
    finally:
        writer.transport.abort()


async def test_malformed_requests(daemon: Daemon) -> None:
    for name, octets in MALFORMED.items():
        status, headers, body = await ask(daemon, octets)
        assert status == 400, name
        assert headers["server"] == "maild", name
        assert re.fullmatch(r"req_[0-9a-z]{26}", headers["x-request-id"]), name
        assert json.loads(body)["error"]["details"]["fields"][0]["code"] == "bad_request", name
        assert KEY.encode() not in body and b"^" not in body, name
    logged = daemon.log_lines()
    assert not [line for line in logged if "5ec4e7" in line or "Traceback" in line]
    told = [json.loads(line) for line in logged]  # each line is JSON
    malformed = [one for one in told if one["event"] == "http_malformed"]
    assert 0 < len(malformed) <= 10 < len(MALFORMED)
    assert all(one["level"] == "info" for one in malformed)


async def test_letters_of_a_url_that_are_not_encoded_are_told(daemon: Daemon) -> None:
    """curl and old libraries send them as they are."""
    for target in ("/v1/messages?q=Gr\u00fc\u00dfe", "/v1/\u8a9e"):
        status, _, body = await ask(daemon, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        (fault,) = json.loads(body)["error"]["details"]["fields"]
        assert (status, fault["code"]) == (400, "bad_request")
        assert "URL" in fault["message"] and "%C3%BC" in fault["message"]


async def test_a_field_that_stands_twice_is_told(daemon: Daemon) -> None:
    """wget2 sends its own Content-Type beside its user's."""
    twice = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}"
    status, _, body = await ask(daemon, POST + twice)
    (fault,) = json.loads(body)["error"]["details"]["fields"]
    assert (status, fault["code"]) == (400, "bad_request")
    assert "twice" in fault["message"] and "Content-Type" in fault["message"]


async def test_keys_in_odd_places_of_good_requests_are_not_logged(daemon: Daemon) -> None:
    key = KEY.encode()
    for octets, wanted in (
        (b"GET /v1/" + key + b" HTTP/1.1\r\nHost: x\r\n\r\n", 401),
        (b"GET /v1/inboxes?key=" + key + b" HTTP/1.1\r\nHost: x\r\n\r\n", 401),
        (GET + b"Authorization: Bearer svc_\xff\r\n\r\n", 401),
        (GET + BEARER + b"\xff\r\n\r\n", 401),
        (GET + b"Authorization: " + key + b"\r\n\r\n", 401),
        (GET + b"Expect: " + key + b"\r\n\r\n", 417),
        (b"GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: " + key + b"\r\n\r\n", 417),
    ):
        status, headers, body = await ask(daemon, octets)
        assert status == wanted, octets
        assert headers["x-request-id"].startswith("req_")
        assert json.loads(body)["error"]["code"] and key not in body
    assert not [line for line in daemon.log_lines() if "5ec4e7" in line or "Traceback" in line]


async def test_who_hangs_up_in_the_middle_is_daily_life(daemon: Daemon) -> None:
    inbox = await daemon.api.post("/v1/inboxes", username="bot")
    big = await daemon.api.post(
        "/v1/messages/send",
        inboxId=inbox["id"],
        to=["delivered@simulator.test"],
        attachments=[{"filename": "a", "content": "QUFB" * 1_000_000}],
    )
    own = b"Host: x\r\nAuthorization: Bearer " + daemon.api_key.encode() + b"\r\n"
    where = urlsplit(daemon.api.url)
    upload = b"POST /v1/inboxes HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n" + own
    download = b"GET /v1/messages/" + big["id"].encode() + b"/raw HTTP/1.1\r\n" + own
    chunks = (
        b"POST /v1/inboxes HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n" + own
    )
    for octets in (upload + b'\r\n{"username"', download + b"\r\n", chunks + b"\r\n5\r\nab"):
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(octets)
        if octets.startswith(b"GET"):
            await reader.readexactly(1000)
        else:
            await writer.drain()
            # An answer on another connection, asked after: the daemon has read ours.
            await daemon.api.get("/v1/inboxes")
        writer.transport.abort()

    async def told() -> list[dict[str, str]]:
        await daemon.api.get("/v1/inboxes")
        return [
            one for line in daemon.log_lines() if (one := json.loads(line))["event"] == "http_client_left"
        ]

    async with asyncio.timeout(GIVES_UP_S):
        while len(left := await told()) < 3:
            await asyncio.sleep(0.05)
    assert {one["level"] for one in left} == {"info"}
    assert not [line for line in daemon.log_lines() if "Traceback" in line or "request_failed" in line]
    answered = [one for line in daemon.log_lines() if (one := json.loads(line))["event"] == "request_done"]
    told_twice = {one["request_id"] for one in left} & {one["request_id"] for one in answered}
    assert not told_twice  # nobody was told that it is done


async def test_a_connection_too_many_hears_503_and_is_closed(daemon: Daemon) -> None:
    where = urlsplit(daemon.api.url)
    await daemon.api.close()
    opened = [await asyncio.open_connection(where.hostname, where.port) for _ in range(8)]
    answers = [asyncio.create_task(reader.read()) for reader, _ in opened]
    async with asyncio.timeout(GIVES_UP_S):
        while sum(one.done() for one in answers) < 3:
            await asyncio.wait(
                [one for one in answers if not one.done()], return_when=asyncio.FIRST_COMPLETED
            )
    refused = [one.result() for one in answers if one.done()]
    assert len(refused) == 3
    for answer in refused:
        head, _, body = answer.decode().partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 503 ")
        assert "X-Request-Id: req_" in head and "Retry-After: " in head and "Server: maild" in head
        assert json.loads(body)["error"]["code"] == "provider_unavailable"
    # The others said nothing either: they are cut when a head is overdue, and a place is free again.
    async with asyncio.timeout(GIVES_UP_S):
        await asyncio.wait(answers)
    status, _, _ = await ask(daemon, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    assert status == 200
    for _, writer in opened:
        writer.transport.abort()


async def test_expect_100_continue(daemon: Daemon) -> None:
    """RFC 9110 §10.1.1: whoever may send is told to go on; whoever is refused is told before the body."""
    where = urlsplit(daemon.api.url)
    head = (
        b"POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        b"Content-Length: 19\r\n"
    )
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write(head + b"Authorization: Bearer " + daemon.api_key.encode() + b"\r\n\r\n")
    async with asyncio.timeout(GIVES_UP_S):
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b'{"username": "bot"}')
        assert (await reader.readline()).startswith(b"HTTP/1.1 201 ")
    writer.transport.abort()
    status, _, _ = await ask(daemon, head + BEARER + b"\r\n\r\n")
    assert status == 401


BODY = b'{"username": "bot"}'
LENGTH = b"Content-Length: 19\r\n"


GOOD_POST = POST.replace(KEY.encode(), b"GOOD")
BEFORE_THE_BODY = [
    (POST + LENGTH, 401),
    (GOOD_POST + b"Content-Length: 40000000\r\n", 413),
    (GOOD_POST + b"Expect: a reward\r\n" + LENGTH, 417),
    (POST + b"Expect: 100-continue\r\n" + LENGTH, 401),
    (POST + b"Transfer-Encoding: chunked\r\n", 401),
    (GET + b"Authorization: Bearer GOOD\r\n" + LENGTH, 400),
    (GET.replace(b"/v1/inboxes", b"/nothing") + LENGTH, 404),
    (POST.replace(b"/v1/inboxes", b"/mcp") + LENGTH, 401),
    (POST.replace(b"POST", b"CONNECT") + LENGTH, 404),
]


async def test_behind_a_body_that_was_not_waited_for_no_request_is_answered(daemon: Daemon) -> None:
    """A proxy that reuses such a connection sends the request of somebody else, which would be taken for the body; and
    what is behind it in that one's body for a request."""
    where, key = urlsplit(daemon.api.url), daemon.api_key.encode()
    for head, status in BEFORE_THE_BODY:
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(head.replace(b"GOOD", key) + b"\r\n")
        async with asyncio.timeout(GIVES_UP_S):
            answered = await reader.readuntil(b"\r\n\r\n")
            assert answered.startswith(b"HTTP/1.1 %d " % status), head
            assert b"\r\nConnection: close\r\n" in answered, head
            if status != 413:
                body = b"13\r\n" + BODY + b"\r\n0\r\n\r\n" if b"chunked" in head else BODY
                writer.write(body + GET + b"Authorization: Bearer " + key + b"\r\n\r\n")
                with suppress(ConnectionResetError):  # closed before that came: as good an end
                    assert b"HTTP/1.1" not in await reader.read(), head
        writer.transport.abort()


async def test_a_connection_is_kept_when_a_request_is_refused_whose_body_has_come(daemon: Daemon) -> None:
    where = urlsplit(daemon.api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    async with asyncio.timeout(GIVES_UP_S):
        for _ in range(2):
            writer.write(POST + LENGTH + b"\r\n" + BODY)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 401 ") and b"Connection: close" not in head
            length = re.search(rb"Content-Length: (\d+)", head)
            assert length is not None
            await reader.readexactly(int(length[1]))
    writer.transport.abort()
