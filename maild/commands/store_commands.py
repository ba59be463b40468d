"""What the commands about the store have in common: how they reach it, and what they write with."""

from collections.abc import Callable, Iterable
from time import sleep as rest
from typing import NamedTuple, Protocol, TypeVar

from conf.settings import Settings
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.ids import Ids

REST_MIN_S = 0.02  # who waits for SQLite's lock looks for it that often

T = TypeVar("T")


class RunUnit(Protocol):
    """Runs a unit of work in a transaction of its own."""

    def __call__(self, unit: Callable[[Tx], T]) -> T: ...


class CommandGround(NamedTuple):
    """What all of them stand on. `run`: whoever runs a unit of work for them; `look`: one that only reads, however
    long, and keeps nobody from writing."""

    settings: Settings
    clock: Clock
    ids: Ids
    audit: Records
    run: RunUnit
    look: RunUnit


class StoreCommands:
    """Commands about one kind of rows."""

    def __init__(self, ground: CommandGround) -> None:
        self._settings, self._clock, self._ids, self._audit, self._run, self._look = ground

    def _run_slices(self, units: Iterable[Callable[[Tx], object]]) -> None:
        """One after the other, each in a transaction of its own. The daemon writes in between: it has the store for at
        least as long as they have."""
        began: float | None = None
        for unit in units:
            if began is not None:
                self._rest_since(began)
            began = self._clock.monotonic()
            self._run(unit)

    def _rest_since(self, began: float) -> None:
        """For as long as it took since then, on the clock that only goes on."""
        rest(max(self._clock.monotonic() - began, REST_MIN_S))
