"""Pictures of figures, as geometry: templates draw what is measured here."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WIDTH, HEIGHT, GAP = 560, 96, 3


class ChartBar(NamedTuple):
    """One period: where it stands, how high, and what it counts. `tip`: in words."""

    x: float
    y: float
    width: float
    height: float
    told: int
    tip: str
    kind: str


class BarChart(NamedTuple):
    """`bars`: drawn in this order. `days`: when periods begin, as timestamps of the API."""

    title: str
    total: int
    most: int
    bars: Sequence[ChartBar]
    days: Sequence[str]
    lines: Sequence[tuple[str, str, Sequence[int]]]  # kind, name, a count for each day

    @property
    def width(self) -> int:
        return WIDTH

    @property
    def height(self) -> int:
        return HEIGHT


def bar_chart(
    title: str, series: Mapping[str, Mapping[str, Any]], kinds: Sequence[tuple[str, str, str]]
) -> BarChart:
    """Bars of these kinds (event type, name of the colour, name in words) side by side for each day. `series`: event
    type → as `getEventSeries` has it."""
    counts = {type: [point["count"] for point in series[type]["points"]] for type, _, _ in kinds}
    days = [point["at"] for point in series[kinds[0][0]]["points"]]
    most = max((count for several in counts.values() for count in several), default=0)
    slot = WIDTH / max(1, len(days))
    width = (slot - GAP) / len(kinds)
    bars = [
        _bar(number * slot + place * width, width, counts[type][number], most, name, kind)
        for number in range(len(days))
        for place, (type, kind, name) in enumerate(kinds)
    ]
    lines = [(kind, name, counts[type]) for type, kind, name in kinds]
    return BarChart(title, sum(map(sum, counts.values())), most, bars, days, lines)


def _bar(x: float, width: float, count: int, most: int, name: str, kind: str) -> ChartBar:
    height = 0.0 if not count else max(2.0, HEIGHT * count / most)
    return ChartBar(
        round(x, 1), round(HEIGHT - height, 1), round(width, 1), round(height, 1), count, name, kind
    )


class ShareOfBar(NamedTuple):
    """A part of a whole, as a piece of a bar."""

    x: float
    width: float
    kind: str


def shares(parts: Sequence[tuple[str, int]], whole: int, width: int = 120) -> list[ShareOfBar]:
    """(kind, count) of a whole, side by side."""
    made, x = [], 0.0
    for kind, count in parts:
        piece = width * count / whole if whole else 0.0
        if piece:
            made.append(ShareOfBar(round(x, 1), round(piece, 1), kind))
        x += piece
    return made
