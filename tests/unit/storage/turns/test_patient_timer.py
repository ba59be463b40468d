"""What came before a time was over is heard before it is over."""

import asyncio
import socket
import time
from functools import partial

import pytest
import uvloop

from storage.turns import patient_timer
from storage.turns.patient_timer import PatientTimer
from tests.support.running import until_true
from tests.support.waiting import GIVES_UP_S

SHORT_S = 0.01


async def what_is_heard_after_standing_still() -> list[str]:
    heard: list[str] = []
    late = asyncio.Event()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        loop.add_reader(ours, lambda: heard.append(ours.recv(9).decode()))
        PatientTimer(SHORT_S, late.set)
        theirs.send(b"answer")
        until = time.monotonic() + 2 * SHORT_S
        while time.monotonic() < until:
            pass
        await asyncio.wait_for(late.wait(), GIVES_UP_S)
        loop.remove_reader(ours)
    return heard


def test_an_answer_that_came_while_the_process_stood_still_is_heard_first() -> None:
    # It has timers before it reads; asyncio's own loop reads first.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(what_is_heard_after_standing_still()) == ["answer"]


@pytest.mark.parametrize("is_due", [False, True])
async def test_a_timer_that_is_cancelled_is_never_late(is_due: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_timer, "HEARD_S", GIVES_UP_S if is_due else 0)
    late: list[bool] = []
    timer = PatientTimer(0, partial(late.append, True))
    first = timer._handle
    if is_due:
        await until_true(lambda: timer._handle is not first)
    timer.cancel()
    assert timer._handle.cancelled()
    for _ in range(5):
        await asyncio.sleep(0)
    assert late == []
