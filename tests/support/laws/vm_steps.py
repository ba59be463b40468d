"""How much SQLite has to do for a unit of work: the steps of its virtual machine, and no clock."""

import sqlite3
from collections.abc import Callable
from itertools import count
from typing import Any


def steps_of(conn: sqlite3.Connection, unit: Callable[[], Any]) -> int:
    """In tens."""
    steps = count()
    conn.set_progress_handler(lambda: next(steps) < 0, 10)
    try:
        unit()
    finally:
        conn.set_progress_handler(None, 0)
    return next(steps)
