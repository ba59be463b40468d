"""What tests of the running daemon share: `maild`, one with defaults, and `start`, to have one's own."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import Running, Template

Start = Callable[..., Awaitable[Running]]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.make(tmp_path_factory.mktemp("template") / "data")


@pytest.fixture
async def start(template: Template, tmp_path: Path) -> AsyncIterator[Start]:
    """`await start(section={…}, clock=…)`: a daemon with these settings; stopped when the test is over."""
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
