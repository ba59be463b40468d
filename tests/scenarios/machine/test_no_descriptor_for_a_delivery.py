"""There is no descriptor, port or memory at one step of a delivery: no host is at fault, and that is no attempt."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from maild.outbound import queue
from maild.outbound.sessions.smtp_client import NextHopSession
from maild.outbound.signing import content
from maild.resolver import DnsNotAsked, Resolver
from storage import exhaustion
from storage.mail.blobs import Blobs
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import RAW

LARGE = RAW + (b"y" * 76 + b"\r\n") * 60_000
STEPS: dict[str, tuple[type, str, int]] = {
    "the MX is asked for": (Resolver, "mx", 1),
    "its address is asked for": (Resolver, "addresses", 1),
    "it is connected to": (NextHopSession, "connect", 1),
    "the message is read to be signed": (Blobs, "load", 1),
    "the message is read as it is sent": (Blobs, "load", 3),
}


def failing(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, at: int, error: Exception) -> list[int]:
    """Its `at`th call raises the error."""
    whole: Callable[..., Any] = getattr(owner, name)
    calls: list[int] = []

    async def step(*arguments: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == at:
            raise error
        return await whole(*arguments, **more)

    monkeypatch.setattr(owner, name, step)
    return calls


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, os.strerror(errno.EMFILE)), MemoryError()], ids=repr)
@pytest.mark.parametrize("step", STEPS)
async def test_it_is_delivered_when_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: Exception
) -> None:
    owner, name, at = STEPS[step]
    monkeypatch.setattr(queue, "EXHAUSTED_S", 0)
    monkeypatch.setattr(queue, "want", exhaustion.WantLog("deliveries"))
    monkeypatch.setattr(content, "PIECE_BYTES", 1_000_000)
    monkeypatch.setattr(
        content.MessageRoom, "stays", False
    )  # so it is read again, piece by piece, as it is sent
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        calls = failing(monkeypatch, owner, name, at, DnsNotAsked("x") if owner is Resolver else error)
        await sending.queue.start()
        with capture_logs() as told:
            message_id = await sending.send("you@there.test", raw=LARGE)
            await sending.until(message_id, "delivered")
        (row,) = await sending.store.recipients(message_id)
        (message,) = sending.mx.received
        assert row.attempts == 1 and len(calls) > at
        assert message.raw.endswith(LARGE)
    events = [one["event"] for one in told]
    assert events.count("exhausted") == 1
    assert not {"deferred", "backed_off", "blob_damaged", "delivery_failed"} & set(events)


async def test_it_is_delivered_when_there_is_a_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "EXHAUSTED_S", 0)
    monkeypatch.setattr(queue, "want", exhaustion.WantLog("deliveries"))
    monkeypatch.setattr(exhaustion, "is_out_of_ports", lambda: True)
    error = OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        failing(monkeypatch, NextHopSession, "connect", 1, error)
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "delivered")
        (row,) = await sending.store.recipients(message_id)
    assert row.attempts == 1


async def test_at_the_end_of_its_time_it_waits_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the queue does nothing but try it."""
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async def connect(*_: Any, **__: Any) -> None:
        raise error

    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        monkeypatch.setattr(NextHopSession, "connect", connect)
        await sending.store.send("you@there.test", expires_in_ms=1000)
        sending.clock.forward(1)
        await sending.queue.start()
        waits = "SELECT lease IS NULL AND attempts = 0 AND next_attempt_at > ? FROM recipients"
        await sending.until_true(waits, (sending.clock.now_ms(),))
