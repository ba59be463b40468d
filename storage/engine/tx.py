"""What a unit of work sees of the store."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

NO_TOPICS: frozenset[str] = frozenset()


class Tx:
    """What a unit of work sees: statements on one connection, inside one transaction."""

    __slots__ = ("_execute", "_execute_many", "topics")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.topics = NO_TOPICS
        self._execute = connection.execute
        self._execute_many = connection.executemany

    def notify(self, topic: str) -> None:
        """Once this is committed, call the listeners of the topic (`Database.listen`)."""
        if topic not in self.topics:
            self.topics |= {topic}

    def run(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> int:
        """Execute; the number of rows changed. StoreFailure (storage.engine.failures), as for every statement."""
        return self._execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Execute once for each row of parameters."""
        self._execute_many(sql, rows)

    def one(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        row: tuple[Any, ...] | None = self._execute(sql, parameters).fetchone()
        return row

    def all(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Every row, in the order of the statement."""
        return self._execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> Any:
        """The first column of the first row, or None."""
        row = self._execute(sql, parameters).fetchone()
        return None if row is None else row[0]
