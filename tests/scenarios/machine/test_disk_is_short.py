"""The disk fills up: mail and sends are refused, what is there is served, and `/health` says so until there is room."""

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from storage import disk
from tests.support.running import Running, Smtp

MIB = 1024 * 1024


async def asked(maild: Running) -> tuple[int, str, str]:
    answer = await maild.api.with_key(None).get("/health")
    return answer.status, answer.json["status"], answer.json["disk"]


async def said_to_mail(maild: Running, size_bytes: int = 1000) -> str:
    smtp: Smtp = await maild.smtp()
    await smtp.say("EHLO there.test")
    return (await smtp.say(f"MAIL FROM:<a@there.test> SIZE={size_bytes}"))[:9]


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """So many bytes of a gigabyte are free from then on."""
    now = SimpleNamespace(f_bavail=0, f_frsize=1, f_blocks=1024 * MIB, f_files=0, f_favail=0)
    monkeypatch.setattr(os, "statvfs", lambda _: now)
    monkeypatch.setattr(disk, "RECHECK_S", -1)

    def leave(octets: int) -> None:
        now.f_bavail = octets

    leave(1024 * MIB)
    return leave


async def test_health_tells_of_a_disk_that_has_no_room(
    maild: Running, bot: dict[str, Any], free: Callable[[int], None]
) -> None:
    await maild.deliver(bot["address"], "From: a@elsewhere.test\nSubject: before\n\nx\n")
    assert await asked(maild) == (200, "healthy", "ok")

    free(0)
    assert await asked(maild) == (200, "healthy", "short"), "before anybody is refused"
    free(-1)  # what is on its way in has the last of it
    assert await said_to_mail(maild) == "452 4.3.1"
    send = await maild.api.send(bot, to=["a@there.test"], subject="s", text="t")
    assert (send.status, await asked(maild)) == (503, (200, "healthy", "short"))
    (message,) = await maild.api.messages()
    assert message["subject"] == "before"

    free(1024 * MIB)
    assert await asked(maild) == (200, "healthy", "ok")
    assert await said_to_mail(maild) == "250 2.1.0"


async def test_the_disk_is_short_while_it_has_no_room_for_what_was_refused(
    maild: Running, free: Callable[[int], None]
) -> None:
    free(10 * MIB)
    assert await said_to_mail(maild, 1 * MIB) == "250 2.1.0"
    assert (await asked(maild))[2] == "ok"
    assert await said_to_mail(maild, 20 * MIB) == "452 4.3.1"
    assert (await asked(maild))[2] == "short"
    free(40 * MIB)
    assert (await asked(maild))[2] == "ok"
