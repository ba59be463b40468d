"""What other hosts report about a domain of ours: the values that reading one yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from maild.message.parsing.text import snippet

MAX_ROWS: Final = 10_000  # of one report; the rest is counted as left out
TOP: Final = 20  # sources and kinds of failure that are shown
NAME_CHARS: Final = 200
_COUNT_MAX = 10**9
_TIME_MAX_S = 4_102_444_800  # the year 2100


@dataclass(frozen=True, slots=True)
class DomainReport:
    """One aggregate report. Of "dmarc" messages are counted, of "tls" sessions.

    `domain`: in lower case, as the report has it. `begin_s`, `end_s`: Unix seconds. `detail`: what is told besides, in
    the words of the API. `is_truncated`: it had more than MAX_ROWS rows, and the rest is not counted.
    """

    kind: Literal["dmarc", "tls"]
    domain: str
    reporter: str
    report_id: str
    begin_s: int
    end_s: int
    total: int
    passed: int
    detail: Mapping[str, Any]
    is_truncated: bool


class NoReport(Exception):
    """It is no report, or one beyond the bounds."""


def count_of(text: str) -> int:
    """The number that a report gives, 0 where it is none."""
    return min(int(text), _COUNT_MAX) if text.isascii() and text.isdigit() and len(text) <= 12 else 0


def name_of(text: str) -> str:
    """A name that a stranger gave, fit to be shown on one line."""
    return snippet(text[: NAME_CHARS * 4], NAME_CHARS)


def domain_of(text: str) -> str:
    """A domain as it is compared."""
    return text.strip().lower().rstrip(".")[:253]


def period(begin_s: int, end_s: int) -> tuple[int, int]:
    """NoReport where it is none."""
    if not 0 < begin_s <= end_s <= _TIME_MAX_S:
        raise NoReport
    return begin_s, end_s
