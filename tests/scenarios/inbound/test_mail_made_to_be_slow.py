"""A stranger's mail that takes long to read is read in another process, and what it writes beside the event loop."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from maild.inbound.accept import APART_ROWS, MAX_ROWS
from maild.message.characters import guessing
from maild.message.reading import read_message
from storage.mail import messages
from storage.turns.cpu_process import CpuProcess
from tests.conftest import Start
from tests.support.running import Running


class Threads:
    """Calls a function and notes in which threads it ran."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.seen: list[threading.Thread] = []
        self._function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.seen.append(threading.current_thread())
        return self._function(*arguments, **named)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[Callable[..., Any]]:
    """The functions that the process which computes is asked for."""
    asked: list[Callable[..., Any]] = []
    run = CpuProcess.run

    async def noted(self: CpuProcess, owner: str, work: partial[Any]) -> Any:
        asked.append(work.func)
        return await run(self, owner, work)

    monkeypatch.setattr(CpuProcess, "run", noted)
    return asked


async def test_the_models_are_there_before_the_first_mail_and_guesses_are_made_elsewhere(
    start: Start, monkeypatch: pytest.MonkeyPatch, elsewhere: list[Callable[..., Any]]
) -> None:
    detect = Threads(guessing.detect)
    monkeypatch.setattr(guessing, "detect", detect)
    maild = await start()
    assert len(detect.seen) == 1
    bot = await maild.inbox("bot")
    message = await maild.received(
        bot, "Subject: Grüße\n\nGrüße aus Köln, schöne Tage noch\n".encode("latin-1")
    )
    assert message["textBody"] == "Grüße aus Köln, schöne Tage noch\n"
    assert len(detect.seen) == 1 and threading.current_thread() not in detect.seen
    assert elsewhere == [read_message]


async def test_bodies_that_have_to_be_guessed_are_shown_from_a_thread(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "<p>Grüße aus Köln, schöne Tage</p>"
    detect = Threads(guessing.detect)
    monkeypatch.setattr(guessing, "detect", detect)
    message = await maild.received(bot, b"Content-Type: text/html\n\n" + words.encode("latin-1"))
    assert message["htmlBody"].strip() == words
    assert detect.seen and threading.current_thread() not in detect.seen


async def test_mail_of_many_pieces_is_read_in_another_process(
    maild: Running, bot: dict[str, Any], elsewhere: list[Callable[..., Any]]
) -> None:
    await maild.received(bot, b"Subject: light\n\nhello\n")
    assert elsewhere == []
    names = b", ".join(b"=?x-%d?q?=E4?= <a%d@b.test>" % (one, one) for one in range(900))
    await maild.received(bot, b"Cc: " + names + b"\n\nhello\n")
    assert elsewhere == [read_message]


async def test_a_large_mail_is_read_where_it_lies(
    maild: Running, bot: dict[str, Any], elsewhere: list[Callable[..., Any]]
) -> None:
    message = await maild.received(bot, b"Subject: large\n\n" + b"a line of it\n" * 40_000)
    assert message["snippet"].startswith("a line of it")
    assert elsewhere[0] is read_message


async def test_many_rows_are_written_beside_the_loop(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Threads(messages.attachment_rows)
    monkeypatch.setattr(messages, "attachment_rows", rows)
    await maild.received(bot, many_parts(APART_ROWS // 2))
    assert rows.seen == [threading.current_thread()]
    whole = await maild.received(bot, many_parts(APART_ROWS + 1))
    assert len(whole["attachments"]) == APART_ROWS + 1
    assert rows.seen[1:] and threading.current_thread() not in rows.seen[1:]


async def test_too_many_rows_are_refused(maild: Running) -> None:
    """Each part makes a row in each inbox, and nobody else writes meanwhile."""
    boxes = [(await maild.inbox(f"bot{number}"))["address"] for number in range(MAX_ROWS // 999 + 1)]
    assert (await to_all(maild, boxes[:2], many_parts(999))).startswith("250 ")
    assert (await to_all(maild, boxes, many_parts(999))).startswith("554 5.5.3")
    assert maild.sql("SELECT count(*) FROM attachments") == [(2 * 999,)]


async def to_all(maild: Running, boxes: list[str], raw: bytes) -> str:
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    for address in boxes:
        assert (await talk.say(f"RCPT TO:<{address}>")).startswith("250 ")
    await talk.say("DATA")
    await talk.write(raw.replace(b"\n", b"\r\n"))
    return await talk.say(".")


def many_parts(count: int) -> bytes:
    part = b"--b\nContent-Type: image/png\n\nx\n"
    return b"Content-Type: multipart/mixed; boundary=b\n\n" + part * count + b"--b--\n"
