"""What tests of the running daemon share.

`maild` is a fresh one with defaults, `start` makes one with settings of one's own. `shared` lives as long as the
session, for the many small tests that leave nothing which another could see; they are marked `on_shared`.

Tests run on uvloop, as the daemon does: its transports are not asyncio's, and differ in what they promise.
"""

import asyncio
import gc
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvloop
from hypothesis import HealthCheck, settings

from tests.support.laws import query_plans
from tests.support.machine import crash_report, templates
from tests.support.running import Running, Template

query_plans.watch.begin()
templates.compile_once()
# No daemon of a test speaks with a host for which a public CA vouches, and reading them is a sixth of a daemon's start.
ssl.SSLContext.load_default_certs = lambda *_: None  # type: ignore[method-assign]
on_shared = pytest.mark.asyncio(loop_scope="session")
# No test asserts a time, and a busy machine takes it.
settings.register_profile("maild", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("maild")

Start = Callable[..., Awaitable[Running]]


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.hookimpl(trylast=True)  # after pytest's own, which has the stacks go to where no summary is
def pytest_configure(config: pytest.Config) -> None:
    crash_report.configure(config)


def pytest_collection_finish() -> None:
    # Modules and collected tests stay to the end: whoever looks for garbage passes over them, thousands of times.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    # A command narrows the umask of its process, which is ours in many tests: a Postfix that a later one starts
    # can't live so.
    umask = os.umask(0o022)
    os.umask(umask)
    yield
    os.umask(umask)


@pytest.fixture(autouse=True)
def _no_full_scan() -> Iterator[None]:
    yield
    found = query_plans.watch.faults()
    assert not found, "\n\n".join(found)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """What is let go must be in memory no more without Python's collector of cycles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.make(tmp_path_factory.mktemp("template") / "data")


@pytest.fixture
async def start(template: Template, tmp_path: Path) -> AsyncIterator[Start]:
    """`await start(section={…}, clock=…, tuning=…)`: a daemon with these settings; stopped when the test is over."""
    started: list[Running] = []

    async def begin(**options: Any) -> Running:
        started.append(await Running.start(template, tmp_path / f"data-{len(started)}", **options))
        return started[-1]

    yield begin
    for running in started:
        await running.stop()


@pytest.fixture
async def maild(start: Start) -> Running:
    return await start()


@pytest.fixture
async def bot(maild: Running) -> dict[str, Any]:
    """bot@agents.test, an inbox of the first organization."""
    return await maild.inbox("bot")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(template: Template, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    running = await Running.start(template, tmp_path_factory.mktemp("shared") / "data")
    yield running
    await running.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_bot(shared: Running) -> dict[str, Any]:
    return await shared.inbox("bot")
