"""How many requests of each route were answered, how, and how long that took, since the process began."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

# Seconds, each the upper end of a span; the last span has none.
BOUNDS_S = (0.005, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0)
NO_ROUTE = ("", "")  # of a path or a method that is not served: those are the caller's words


@dataclass(slots=True)
class AnsweredRoute:
    """`statuses`: answers by their status. `spans`: by the time that they took, one number for each of BOUNDS_S and one
    beyond them. `total_s`: of all together."""

    statuses: Counter[int] = field(default_factory=Counter)
    spans: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    total_s: float = 0.0


class RequestCounts:
    """By method and route, the pattern of the path. On the event loop alone."""

    def __init__(self) -> None:
        self.routes: dict[tuple[str, str], AnsweredRoute] = {}

    def note(self, method: str, route: str | None, status: int, took_s: float) -> None:
        """A request was answered. `route`: None for one that has none."""
        names = NO_ROUTE if route is None else (method, route)
        answered = self.routes.get(names)
        if answered is None:
            answered = self.routes[names] = AnsweredRoute()
        answered.statuses[status] += 1
        answered.spans[bisect_left(BOUNDS_S, took_s)] += 1
        answered.total_s += took_s
