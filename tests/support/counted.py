"""How much the store is asked."""

import asyncio
from typing import Any

import pytest

from storage.database import Tx


class Counted:
    """Statements that read; of every Tx from now on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for name in ("one", "all", "value"):
            self._watch(monkeypatch, name)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        ask = getattr(Tx, name)

        def asked(tx: Tx, sql: str, *parameters: Any) -> Any:
            self.count += 1
            return ask(tx, sql, *parameters)

        monkeypatch.setattr(Tx, name, asked)

    async def is_quiet(self) -> bool | None:
        """Has nobody asked anything for a while?"""
        before = self.count
        await asyncio.sleep(0.1)
        return self.count == before or None
