"""A store is as old as its backup, and its clients know what came after that."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from maild.commands.backup import back_up
from storage.data_folder import DataFolder
from tests.conftest import Start
from tests.support.clients.event_stream import EventStream
from tests.support.running import Running, Template
from tests.support.worlds.store import ManualClock

LATER_S = 3600


class Restored(NamedTuple):
    """A daemon on a backup. Its bot had a mail before that was made, and another one afterwards; `events` and
    `messages` are the ids of both."""

    maild: Running
    clock: ManualClock
    address: str
    events: list[str]
    messages: list[str]


@pytest.fixture
async def restored(start: Start, template: Template, tmp_path: Path) -> AsyncIterator[Restored]:
    clock, backup = ManualClock(), tmp_path / "backup"
    before = await start(clock=clock)
    bot = await before.inbox("bot")
    messages = [(await before.received(bot, "Subject: before\n\n"))["id"]]
    back_up(DataFolder(before.settings.data_path), backup)
    clock.forward(LATER_S)
    messages.append((await before.received(bot, "Subject: lost\n\n"))["id"])
    events = [one["id"] for one in (await before.api.get("/v1/events")).data]
    await before.stop()
    shutil.copy(template.folder / "master.key", backup)
    clock.forward(LATER_S)
    maild = await Running.start(replace(template, folder=backup), tmp_path / "restored", clock)
    yield Restored(maild, clock, bot["address"], events, messages)
    await maild.stop()


async def test_a_reader_of_events_hears_that_its_position_is_not_in_the_store(restored: Restored) -> None:
    maild, _, address, (kept, lost), _ = restored
    for is_known, position in ((True, kept), (False, lost)):
        answer = await maild.api.get("/v1/events", after=position)
        assert ("X-Events-Gap" in answer.headers) is not is_known
    await maild.deliver(address, "Subject: after\n\n")
    for gaps, position in enumerate((kept, lost)):
        async with EventStream(maild.api, position) as stream:
            assert (await stream.next()).event["data"]["subject"] == "after" and stream.gaps == gaps
            there = stream.last_event_id
        async with EventStream(maild.api, there) as stream:
            assert "X-Events-Gap" not in stream.response.headers


async def test_who_waits_behind_a_message_that_the_clock_has_not_come_to_hears_of_new_mail(
    restored: Restored,
) -> None:
    """The clock was restored with its machine."""
    maild, clock, address, _, (_, lost) = restored
    clock.set_back(LATER_S + LATER_S // 2)
    await maild.deliver(address, "Subject: after\n\n")
    waited = (await maild.api.get("/v1/messages/wait", after=lost, timeoutSeconds="0")).data
    assert waited["message"]["subject"] == "after"
    again = (await maild.api.get("/v1/messages/wait", after=waited["cursor"], timeoutSeconds="0")).data
    assert again["message"] is None
    await maild.deliver(address, "Subject: next\n\n")
    waited = (await maild.api.get("/v1/messages/wait", after=again["cursor"], timeoutSeconds="0")).data
    assert waited["message"]["subject"] == "next"
