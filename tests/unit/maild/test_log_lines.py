"""What is said in one turn of the event loop is one write; nothing is lost, late or out of order."""

import asyncio
import contextlib
import errno
import fcntl
import io
import os
import threading
from typing import Any

import pytest
import structlog
from structlog.typing import EventDict

from maild import log_lines
from maild.log_lines import LogLines, not_waiting

SOON_WRITTEN = "maild.outbound"


class Stream(io.BytesIO):
    """Notes what each write brought, and takes `at_most` octets of it."""

    def __init__(self, at_most: int = 1000) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self._at_most = at_most

    def write(self, octets: bytes) -> int:  # type: ignore[override]
        self.writes.append(octets[: self._at_most])
        return super().write(octets[: self._at_most])


async def test_the_lines_of_a_turn_are_one_write_before_the_loop_waits() -> None:
    stream = Stream()
    log = LogLines(stream).logger(SOON_WRITTEN)
    for word in (b"one", b"two", b"three"):
        log.info(word)
    assert stream.writes == []
    await asyncio.sleep(0)
    log.debug(b"four")
    await asyncio.sleep(0)
    assert stream.writes == [b"one\ntwo\nthree\n", b"four\n"]


async def test_a_warning_is_written_at_once_behind_what_was_said_before() -> None:
    stream = Stream()
    log = LogLines(stream).logger(SOON_WRITTEN)
    log.info(b"first")
    log.warning(b"odd")
    assert stream.writes == [b"first\nodd\n"]
    log.error(b"worse")
    log.critical(b"worst")
    await asyncio.sleep(0)
    assert stream.writes[1:] == [b"worse\n", b"worst\n"]


async def test_what_others_say_is_written_at_once_behind_what_was_said_before() -> None:
    stream = Stream()
    lines = LogLines(stream)
    lines.logger(SOON_WRITTEN).info(b"first")
    lines.logger("maild.http").info(b"second")
    assert stream.writes == [b"first\nsecond\n"]


async def test_a_thread_without_a_loop_writes_at_once() -> None:
    stream = Stream()
    lines = LogLines(stream)
    lines.logger(SOON_WRITTEN).info(b"loop")
    thread = threading.Thread(target=lines.logger(SOON_WRITTEN).info, args=(b"thread",))
    thread.start()
    thread.join()
    assert stream.getvalue() == b"loop\nthread\n"


def test_without_a_loop_a_line_is_written_at_once() -> None:
    stream = Stream()
    LogLines(stream).logger(SOON_WRITTEN).info(b"starting")
    assert stream.getvalue() == b"starting\n"


async def test_what_the_stream_takes_in_parts_is_whole() -> None:
    stream = Stream(at_most=5)
    log = LogLines(stream).logger(SOON_WRITTEN)
    log.info(b"a long line")
    log.info(b"another")
    await asyncio.sleep(0)
    assert stream.getvalue() == b"a long line\nanother\n"


async def test_a_stream_that_takes_nothing_holds_nobody_up() -> None:
    class Full(Stream):
        def write(self, octets: bytes) -> None:  # type: ignore[override]
            return None

    log = LogLines(Full()).logger(SOON_WRITTEN)
    log.error(b"said")
    log.info(b"said")
    await asyncio.sleep(0)


def test_a_loop_that_ended_in_its_turn_keeps_nothing_back() -> None:
    stream = Stream()
    lines = LogLines(stream)

    async def say(word: bytes, is_last: bool) -> None:
        lines.logger(SOON_WRITTEN).info(word)
        if is_last:
            asyncio.get_running_loop().stop()

    with contextlib.suppress(RuntimeError):
        asyncio.run(say(b"last", is_last=True))
    asyncio.run(say(b"first", is_last=False))
    assert stream.getvalue() == b"last\nfirst\n"


class FullStream(Stream):
    """Takes nothing while it is full."""

    is_full = True

    def write(self, octets: bytes) -> int:  # type: ignore[override]
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(octets)


def test_a_reader_who_stands_still_loses_whole_lines_and_hears_how_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_lines, "PATIENCE_S", 0)
    number, pipe = os.pipe()
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    with open(number, "rb", buffering=0) as reader, open(pipe, "wb") as shared:
        lines = LogLines(not_waiting(shared))
        assert os.get_blocking(pipe), "others may have it, who do wait"
        structlog.configure(processors=[as_octets], logger_factory=lines.logger)
        try:
            for at in range(10):
                lines.write(b"%d" % at * 1000)
            read = reader.read(5000)
            for at in range(10, 12):
                lines.write(b"%d" % at * 500)
            read += reader.read(5000)
        finally:
            structlog.reset_defaults()
    said = read.splitlines()
    whole = [one for one in said if one[0] != ord("{")]
    assert all(len(one) == 1000 for one in whole) and whole[-1] == b"11" * 500
    (told,) = (one for one in said if one[0] == ord("{"))
    assert told == b"{'lines': 6, 'event': 'log_lines_lost'}" and len(whole) == 4 + 2


def test_a_line_that_was_taken_in_part_is_whole_in_the_end() -> None:
    class Narrow(Stream):
        """Takes so many octets."""

        room = 7

        def write(self, octets: bytes) -> int | None:  # type: ignore[override]
            taken = octets[: self.room]
            self.room -= len(taken)
            return super().write(taken) if taken else None

    stream = Narrow()
    lines = LogLines(stream)
    lines.write(b"one", b"two and more", b"three")
    lines.write(b"four")
    stream.room = 1000
    lines.write(b"five")
    assert stream.getvalue().startswith(b"one\ntwo and more\nfive\n")


def as_octets(_logger: Any, _method: str, line: EventDict) -> bytes:
    return str({name: str(value) if name == "event" else value for name, value in line.items()}).encode()


def test_a_stream_that_refuses_stops_nobody_and_what_is_lost_is_told() -> None:
    stream = FullStream()
    lines = LogLines(stream)
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, as_octets], logger_factory=lines.logger
    )
    try:
        structlog.contextvars.bind_contextvars(session="ses_a")
        log = lines.logger("maild.http")
        log.info(b"one")
        log.error(b"two")
        stream.is_full = False
        log.info(b"three")
        log.info(b"four")
    finally:
        structlog.reset_defaults()
        structlog.contextvars.clear_contextvars()
    assert stream.getvalue() == b"three\n{'lines': 2, 'event': 'log_lines_lost'}\nfour\n"
