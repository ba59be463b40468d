"""How much the store is asked."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from storage.engine.tx import Tx


class Counted:
    """Statements that read, of every Tx from now on.

    What other parts ask meanwhile differs from run to run, and how much in all with it. No part asks one statement
    often, so who does is seen by `most`.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._asked: Counter[str] = Counter()
        for name in ("one", "all", "value"):
            self._watch(monkeypatch, name)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        ask = getattr(Tx, name)

        def asked(tx: Tx, sql: str, *parameters: Any) -> Any:
            self._asked[sql] += 1
            return ask(tx, sql, *parameters)

        monkeypatch.setattr(Tx, name, asked)

    def begin(self) -> None:
        self._asked.clear()

    def most(self) -> int:
        """How often one statement was asked, at most."""
        return max(self._asked.values(), default=0)

    async def is_quiet(self) -> bool | None:
        """Has nobody asked anything for a while?"""
        before = self._asked.total()
        await asyncio.sleep(0.1)
        return self._asked.total() == before or None
