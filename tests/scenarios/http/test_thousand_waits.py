"""A thousand requests that wait, of twenty organizations: who waits for nothing is served as ever, and an arrival asks
the store as much as beside none."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from conf.tuning import FeedTuning, Tuning
from tests.conftest import Start
from tests.support.laws.counted import Counted
from tests.support.running import Answer, Api, Running, until, until_true

ORGANIZATIONS = 20
WAITS_EACH = 50  # what one organization may have
PLACES = 500  # half of the connections
CONNECTIONS = {"max_connections": 2 * PLACES, "max_connections_per_address": 2 * PLACES}
A_FEW = 8  # times of one statement: far from those who wait
UNWOKEN = Tuning(feeds=FeedTuning(look_s=30, look_again_s=30))  # nobody looks without being woken


def places(maild: Running) -> int:
    return len(maild.daemon.operations._services.streams._waits)


async def wait(api: Api, **query: str) -> Answer:
    return await api.get("/v1/messages/wait", timeoutSeconds="55", **query)


async def hoard(maild: Running) -> list["asyncio.Task[Answer]"]:
    """The waits that have a place; the others are refused, each at once."""
    keys = [(await maild.organization()).api for _ in range(ORGANIZATIONS)]
    tasks = [asyncio.create_task(wait(key)) for key in keys for _ in range(WAITS_EACH)]

    await until_true(lambda: places(maild) == PLACES and sum(one.done() for one in tasks) == PLACES)
    refused = [task.result() for task in tasks if task.done()]
    assert Counter((one.status, one.code) for one in refused) == {(503, "provider_unavailable"): PLACES}
    assert all(int(one.headers["Retry-After"]) > 0 for one in refused)
    return [task for task in tasks if not task.done()]


async def test_who_waits_for_nothing_is_served_beside_a_thousand_waits(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    maild = await start(http=CONNECTIONS, tuning=UNWOKEN)
    bot = await maild.inbox()
    tasks = await hoard(maild)
    assert 0 < await asked_for_an_arrival(maild, bot, counted) <= A_FEW
    assert (await maild.api.send(bot, to=["a@simulator.test"])).status == 201
    assert (await maild.api.get("/v1/events")).status == 200
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()

    await until_true(lambda: places(maild) == 0)
    task = asyncio.create_task(wait(maild.api, inboxId=bot["id"], q="at last"))
    await maild.deliver(bot["address"], "From: ada@elsewhere.test\nSubject: at last\n\nhello\n")
    assert (await task).data["message"]["subject"] == "at last"


async def asked_for_an_arrival(maild: Running, bot: dict[str, Any], counted: Counted) -> int:
    await until(counted.is_quiet)
    counted.begin()
    await maild.deliver(bot["address"], "From: ada@elsewhere.test\nSubject: topic\n\nhello\n")
    await until(counted.is_quiet)
    return counted.most()
