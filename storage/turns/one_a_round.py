"""Calls what it is given, one in a round of the event loop or one after each rest; owners take turns."""

from collections.abc import Callable

from storage.turns.fair_line import FairLine
from storage.turns.next_round import NextRound


class OneARound:
    """`rest_s`: how long until the next one, where that is not the next round. Called on the event loop alone."""

    def __init__(self, rest_s: float = 0) -> None:
        self._line: FairLine[Callable[[], object]] = FairLine()
        self._next_round = NextRound(self._call_one, rest_s)

    def put(self, owner: str, call: Callable[[], object]) -> None:
        self._line.put(owner, call)
        self._next_round.expect()

    def _call_one(self) -> None:
        call = self._line.take()
        if self._line:
            self._next_round.expect()
        call()
