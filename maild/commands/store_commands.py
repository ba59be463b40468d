"""What the commands about the store have in common: how they reach it, and what they write with."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from conf.settings import Settings
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.ids import Ids

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
