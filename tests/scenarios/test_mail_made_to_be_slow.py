"""A stranger's mail that takes long to read is read beside the event loop, and so is what it writes."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from maild.inbound import accept
from maild.message import guessing
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


async def test_the_models_are_there_before_the_first_mail_and_guesses_are_made_in_a_thread(
    start: Start, monkeypatch: pytest.MonkeyPatch
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
    assert len(detect.seen) > 1
    assert threading.current_thread() not in detect.seen


async def test_mail_of_many_pieces_is_read_in_a_thread(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Threads(accept.digest)
    monkeypatch.setattr(accept, "digest", read)
    await maild.received(bot, b"Subject: light\n\nhello\n")
    assert read.seen == []
    names = b", ".join(b"=?x-%d?q?=E4?= <a%d@b.test>" % (one, one) for one in range(900))
    await maild.received(bot, b"Cc: " + names + b"\n\nhello\n")
    assert len(read.seen) == 1 and threading.current_thread() not in read.seen
