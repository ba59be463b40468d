"""Commands that change nothing: nobody waits for them before he writes, however much there is to be shown."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conf.loading import load
from maild.commands.operator_commands import OperatorCommands
from storage.data_folder import DataFolder
from storage.engine import connections
from tests.unit.maild.test_cli import answer, config

__all__ = ["config"]  # the fixture


@pytest.fixture
def org(config: Path) -> str:
    made: str = answer("init", "--config", config)["organizationId"]
    return made


@pytest.fixture
def store(config: Path, org: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[OperatorCommands]:
    """While somebody else writes."""
    settings = load(config)
    monkeypatch.setattr(connections, "BUSY_TIMEOUT_MS", 1)
    with closing(sqlite3.connect(DataFolder(settings.data_path).database)) as daemon:
        daemon.execute("BEGIN IMMEDIATE")
        yield OperatorCommands(settings)


def test_they_show_what_there_is(store: OperatorCommands, org: str) -> None:
    assert [one["isActive"] for one in store.keys.list(org)] == [True, True]
    (listed,) = store.organizations.list()
    assert store.organizations.show(org) == listed
    assert store.policies.show(org, None)["version"] == 0
    assert store.rules.list(org) == store.members.list(org) == store.reviews.list(None, None, 10) == []


def test_they_know_what_there_is_not(store: OperatorCommands) -> None:
    for look in (store.reviews.show, store.reviews.raw):
        with pytest.raises(KeyError):
            look("rev_1")
