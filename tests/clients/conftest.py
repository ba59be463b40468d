"""What tests of the clients share."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients.typescript_world import Driver, installed


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the TypeScript client is installed; made once."""
    folder = tmp_path_factory.mktemp("typescript")
    with ThreadPoolExecutor(1) as apart:  # from the tests' loop
        return apart.submit(asyncio.run, installed(folder)).result()


@pytest.fixture(scope="session")
def driver(package: Path) -> Iterator[Driver]:
    driver = Driver(package)
    yield driver
    driver.close()
