"""How commands reach the store: by whoever runs a unit of work for them."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from storage.engine.tx import Tx

T = TypeVar("T")


class RunUnit(Protocol):
    """Runs a unit of work in a transaction of its own."""

    def __call__(self, unit: Callable[[Tx], T]) -> T: ...
