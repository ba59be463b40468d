"""What the outcomes of one unit of work are written with."""

from collections.abc import Callable
from typing import NamedTuple

from storage.audit.trail import Records

NewId = Callable[[str], str]  # a prefix → a fresh id


class OutcomeContext(NamedTuple):
    """What the outcomes of one unit of work are written with, at one moment."""

    new_id: NewId
    audit: Records
    now_ms: int
