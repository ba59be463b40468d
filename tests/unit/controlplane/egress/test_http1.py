"""Answers as data: whole, torn, lying; each one read at once and a byte at a time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.egress import http1
from controlplane.egress.http1 import (
    ANSWER_BYTES_MAX,
    HEAD_BYTES_MAX,
    WIRE_BYTES_MAX,
    BrokenOff,
    Closed,
    EndpointConnection,
    HttpResponse,
    NotHttp,
    TooLate,
)
from storage.turns import patient_timer
from tests.support.running import until_true
from tests.support.waiting import GIVES_UP_S

REQUEST = http1.post("/hook", [("Host", "a.test")], b"{}")
FAR_S = 3600.0


class Wire:
    """A transport that notes; what is sent back reaches the connection as it would from a socket."""

    def __init__(self) -> None:
        self.written = b""
        self.is_aborted = False
        self.connection = EndpointConnection()
        self.connection.connection_made(self)  # type: ignore[arg-type]

    def write(self, data: bytes) -> None:
        self.written += data

    def abort(self) -> None:
        self.is_aborted = True

    def ask(self, in_s: float = FAR_S) -> "asyncio.Future[HttpResponse]":
        return self.connection.ask(REQUEST, asyncio.get_running_loop().time() + in_s)

    def send(self, data: bytes, piece: int) -> None:
        for at in range(0, len(data), piece):
            if not self.is_aborted:
                self.connection.data_received(data[at : at + piece])

    def end(self) -> None:
        if not self.is_aborted:
            self.connection.eof_received()
        self.connection.connection_lost(None)


def head(*fields: str, status: str = "200 OK", version: str = "1.1") -> bytes:
    return "\r\n".join([f"HTTP/{version} {status}", *fields, "", ""]).encode()


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end


WHOLE = [
    ("with a length", head("Content-Length: 2") + b"ok", HttpResponse(200, b"ok"), True),
    (
        "with its type",
        head("content-TYPE: text/plain", "Content-Length: 0"),
        HttpResponse(200, b"", True, "text/plain"),
        True,
    ),
    (
        "with the type of an interim one",
        head("Content-Type: a/b", status="103 Early") + head("Content-Length: 0"),
        HttpResponse(200, b""),
        True,
    ),
    ("without a body", head("Content-Length: 0", status="500 No"), HttpResponse(500, b""), True),
    ("no content", head(status="204 No Content"), HttpResponse(204, b""), True),
    ("chunked", head("Transfer-Encoding: chunked") + chunked(b"gr", b"eat"), HttpResponse(200, b"great"), True),
    (
        "chunked, with extensions and trailers",
        head("transfer-encoding: Chunked") + b"2;a=b\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
        HttpResponse(200, b"ok"),
        True,
    ),
    (
        "after interim answers",
        head(status="103 Early Hints") * 2 + head("Content-Length: 0"),
        HttpResponse(200, b""),
        True,
    ),
    ("line ends without CR", b"HTTP/1.1 202 Yes\nContent-Length: 2\n\nok", HttpResponse(202, b"ok"), True),
    ("with a folded line", head("X: a", " b", "\tc", "Content-Length: 2") + b"ok", HttpResponse(200, b"ok"), True),
    ("with controls in a field", head("X: a\0\1", "Content-Length: 2") + b"ok", HttpResponse(200, b"ok"), True),
    (
        "in chunks whose sizes are padded",
        head("Transfer-Encoding: chunked ") + b"2   \r\nok\r\n0   \r\n\r\n",
        HttpResponse(200, b"ok"),
        True,
    ),
    ("without a reason phrase", b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", HttpResponse(200, b""), True),
    ("that says close", head("Connection: close", "Content-Length: 2") + b"ok", HttpResponse(200, b"ok"), False),
    ("of HTTP/1.0", head("Content-Length: 2", version="1.0") + b"ok", HttpResponse(200, b"ok"), False),
    (
        "compressed",
        head("Content-Encoding: gzip", "Content-Length: 2") + b"\x1f\x8b",
        HttpResponse(200, b"\x1f\x8b"),
        True,
    ),
    (
        "as long as is read",
        head(f"Content-Length: {ANSWER_BYTES_MAX}") + b"x" * ANSWER_BYTES_MAX,
        HttpResponse(200, b"x" * ANSWER_BYTES_MAX, False),
        False,
    ),
    (
        "longer than is read",
        head("Content-Length: 99999999") + b"x" * (ANSWER_BYTES_MAX + 1),
        HttpResponse(200, b"x" * ANSWER_BYTES_MAX, False),
        False,
    ),
    (
        "longer than is read, in chunks",
        head("Transfer-Encoding: chunked") + chunked(*[b"x" * 1000] * 70),
        HttpResponse(200, b"x" * ANSWER_BYTES_MAX, False),
        False,
    ),
]  # fmt: skip

WHOLE_AT_THE_END = [
    ("without a length", head() + b"all of it", HttpResponse(200, b"all of it", False)),
    ("of HTTP/1.0 without a length", head(version="1.0") + b"all", HttpResponse(200, b"all", False)),
    (
        "in a coding over the chunked one",
        head("Transfer-Encoding: chunked, gzip") + b"zz",
        HttpResponse(200, b"zz", False),
    ),
    (
        "after an interim one with a length",
        head("Content-Length: 0", status="103 Early Hints") + head() + b"all",
        HttpResponse(200, b"all", False),
    ),
    (
        "in a coding that is not chunked",
        head("Transfer-Encoding: gzip") + b"zz",
        HttpResponse(200, b"zz", False),
    ),
]

FAILED = [
    ("SSH", b"SSH-2.0-OpenSSH_9.2\r\n\r\n", NotHttp),
    ("a request", b"GET / HTTP/1.1\r\n\r\n", NotHttp),
    ("a length that is none", head("Content-Length: 2x") + b"ok", NotHttp),
    ("two lengths", head("Content-Length: 2", "Content-Length: 3") + b"okk", NotHttp),
    ("length and chunks", head("Content-Length: 2", "Transfer-Encoding: chunked") + chunked(b"ok"), NotHttp),
    ("a chunk size that is none", head("Transfer-Encoding: chunked") + b"zz\r\nok\r\n", NotHttp),
    ("another protocol", head("Connection: upgrade", "Upgrade: h2c", status="101 Switching"), NotHttp),
    ("a field that is too long", head("X: " + "a" * HEAD_BYTES_MAX, "Content-Length: 0"), NotHttp),
    ("too many fields", head(*["X-Y: abcdef"] * 9000, "Content-Length: 0"), NotHttp),
    ("a field without end", b"HTTP/1.1 200 OK\r\nX: " + b"a" * (WIRE_BYTES_MAX + 1), NotHttp),
    ("interim answers without end", head("X: y", status="100 Continue") * 5000, NotHttp),
    ("a bare CR in a field", head("X: a\rb", "Content-Length: 0"), NotHttp),
    ("a status below all classes", head("Content-Length: 2", status="099 No") + b"no", NotHttp),
    ("with a long body", head("Content-Length: 99999", status="000 No") + b"x" * ANSWER_BYTES_MAX, NotHttp),
]  # fmt: skip

TORN = [
    ("before a byte", b"", Closed),
    ("in the status line", b"HTTP/1.1 20", NotHttp),
    ("in the head", b"HTTP/1.1 200 OK\r\nContent-Le", NotHttp),
    ("after an interim answer", head(status="100 Continue"), NotHttp),
    ("in the body", head("Content-Length: 99") + b"short", BrokenOff),
    ("in a chunk", head("Transfer-Encoding: chunked") + b"5\r\nab", BrokenOff),
    ("in a chunk, after a blank", head("Transfer-Encoding: chunked ") + b"5\r\nab", BrokenOff),
    ("before the last chunk", head("Transfer-Encoding: chunked") + b"2\r\nab\r\n", BrokenOff),
]

PIECES = pytest.mark.parametrize("piece", [1, 1_000_000], ids=["byte by byte", "at once"])


def named(cases: list[Any]) -> Any:
    return pytest.mark.parametrize("case", [pytest.param(rest, id=name) for name, *rest in cases])


@PIECES
@named(WHOLE)
async def test_an_answer_is_whole(case: Any, piece: int) -> None:
    data, expected, is_kept = case
    wire = Wire()
    asked = wire.ask()
    assert wire.written == REQUEST and not wire.connection.is_idle
    wire.send(data, piece)
    assert await asked == expected
    assert wire.connection.is_idle is is_kept is not wire.is_aborted


@PIECES
@named(WHOLE_AT_THE_END)
async def test_an_answer_is_whole_when_the_connection_ends(case: Any, piece: int) -> None:
    data, expected = case
    wire = Wire()
    asked = wire.ask()
    wire.send(data, piece)
    assert not asked.done()
    wire.end()
    assert await asked == expected and not wire.connection.is_idle


@PIECES
@named(FAILED)
async def test_what_is_no_answer_ends_the_connection(case: Any, piece: int) -> None:
    data, failure = case
    wire = Wire()
    asked = wire.ask()
    wire.send(data, piece)
    assert asked.done()
    with pytest.raises(failure):
        await asked
    assert wire.is_aborted and not wire.connection.is_idle


@PIECES
async def test_what_comes_behind_a_fault_is_not_read(piece: int) -> None:
    wire = Wire()
    asked = wire.ask()
    wire.send(head("X: " + "a" * HEAD_BYTES_MAX, "Content-Length: 0"), piece)
    assert isinstance(asked.exception(), NotHttp) and wire.connection.status is None


@PIECES
@named(TORN)
async def test_a_torn_answer_says_where(case: Any, piece: int) -> None:
    data, failure = case
    wire = Wire()
    asked = wire.ask()
    wire.send(data, piece)
    assert not asked.done()
    wire.end()
    with pytest.raises(failure):
        await asked
    assert wire.connection.status == (200 if failure is BrokenOff else None)


async def test_what_is_wrapped_around_a_body_has_an_end_too() -> None:
    wire = Wire()
    asked = wire.ask()
    wire.send(head("Transfer-Encoding: chunked") + b"1;" + b"a" * WIRE_BYTES_MAX, 10_000)
    assert await asked == HttpResponse(200, b"", False) and wire.is_aborted


async def test_a_kept_open_connection_answers_one_request_after_the_other() -> None:
    wire = Wire()
    for status in (200, 404, 204):
        asked = wire.ask()
        wire.send(head("Content-Length: 2", status=f"{status} So") + (b"ok" if status != 204 else b""), 7)
        assert (await asked).status == status
    assert wire.written == REQUEST * 3


@pytest.mark.parametrize(
    "surplus", [head("Content-Length: 0"), b"HTT", b"\x00"], ids=["an answer", "a part of one", "rubbish"]
)
@pytest.mark.parametrize("is_late", [False, True])
async def test_what_nobody_asked_for_ends_the_connection(surplus: bytes, is_late: bool) -> None:
    wire = Wire()
    asked = wire.ask()
    first = head("Content-Length: 2") + b"ok"
    wire.send(first if is_late else first + surplus, 1_000_000)
    if is_late:
        wire.send(surplus, 1_000_000)
    assert await asked == HttpResponse(200, b"ok")
    assert wire.is_aborted and not wire.connection.is_idle


async def test_empty_lines_without_end_end_an_idle_connection() -> None:
    wire = Wire()
    asked = wire.ask()
    wire.send(head("Content-Length: 2") + b"ok", 1_000_000)
    wire.send(b"\r\n" * 100, 7)
    assert await asked == HttpResponse(200, b"ok") and wire.is_aborted


async def test_a_connection_that_ended_before_it_was_asked_is_closed_at_once() -> None:
    wire = Wire()
    wire.end()
    asked = wire.ask()
    assert isinstance(asked.exception(), Closed) and wire.written == b""


@pytest.mark.parametrize("end", [Wire.end, lambda wire: wire.connection.connection_lost(OSError("reset"))])
async def test_an_idle_connection_that_ends_is_not_asked_again(end: Callable[[Wire], None]) -> None:
    wire = Wire()
    asked = wire.ask()
    wire.send(head("Content-Length: 0"), 1_000_000)
    await asked
    end(wire)
    assert not wire.connection.is_idle


@pytest.mark.parametrize(("come", "status"), [(b"", None), (head("Content-Length: 9") + b"a", 200)])
async def test_the_deadline_is_for_the_last_byte(come: bytes, status: int | None) -> None:
    wire = Wire()
    asked = wire.ask(in_s=0)
    wire.send(come, 1_000_000)
    with pytest.raises(TooLate):
        await asked
    assert wire.is_aborted and wire.connection.status == status


async def test_an_answer_that_came_while_the_process_stood_still_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patient_timer, "HEARD_S", GIVES_UP_S)
    wire = Wire()
    answer, timer = wire.ask(in_s=0), wire.connection._deadline
    assert timer is not None
    due = timer._handle
    await until_true(lambda: timer._handle is not due)
    wire.send(head("Content-Length: 2") + b"ok", 1)
    assert (await answer).status == 200


async def test_who_no_longer_waits_is_told_nothing() -> None:
    wire = Wire()
    wire.ask().cancel()
    wire.send(head("Content-Length: 0"), 1_000_000)
    wire.connection.close()
    assert wire.is_aborted and not wire.connection.is_idle


CASES: list[Any] = [*WHOLE, *WHOLE_AT_THE_END, *FAILED, *TORN]
ANY_ANSWER: list[bytes] = [data for _, data, *_ in CASES if len(data) < 1000]


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    data = b"".join(draw(st.lists(st.sampled_from(ANY_ANSWER), min_size=1, max_size=3)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        data = (
            data[:at]
            + draw(st.sampled_from([b"", b"\0", b"\r", b"\n", b" ", b":", b"0", b"\xff"]))
            + data[at + 1 :]
        )
    return data


@given(mangled(), st.lists(st.integers(1, 40), min_size=1, max_size=5))
async def test_however_it_is_mangled_and_torn_it_ends_once_and_alike(data: bytes, pieces: list[int]) -> None:
    ends: list[str] = []
    for sizes in ([len(data) + 1], pieces):
        wire = Wire()
        asked = wire.ask()
        at = 0
        while at < len(data) and not wire.is_aborted:
            size = sizes[at % len(sizes)]
            wire.connection.data_received(data[at : at + size])
            at += size
            assert not wire.connection.is_idle or (asked.done() and asked.exception() is None)
        wire.end()
        assert asked.done() and not wire.connection.is_idle
        ends.append(repr(asked.exception() or asked.result()))
    assert ends[0] == ends[1]


def test_a_post_as_it_stands_on_the_wire() -> None:
    assert http1.post("/a?b=c", [("Host", "a.test:8443"), ("X-Y", "z")], b"{}") == (
        b"POST /a?b=c HTTP/1.1\r\nHost: a.test:8443\r\nX-Y: z\r\nContent-Length: 2\r\n\r\n{}"
    )


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nb", "a\rb", "a\0b"])
def test_no_field_brings_another(value: str) -> None:
    for fields, target in (([("X-Y", value)], "/"), ([(value, "z")], "/"), ([], f"/{value}")):
        with pytest.raises(ValueError, match="line end or NUL"):
            http1.post(target, fields, b"")
