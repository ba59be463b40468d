"""Which failures are the store's own (storage/failures.py)."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from storage.failures import StoreFailure, is_outage


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (lambda conn: conn.execute("SELECT nothing FROM nowhere"), False),
        (lambda conn: conn.execute("SELECT ?", (1 << 70,)), False),
        (lambda conn: conn.execute("SELECT ?", ("\udcff",)), False),
        (lambda conn: conn.execute("INSERT INTO t VALUES (NULL)"), False),
        (
            lambda conn: conn.execute("PRAGMA query_only = 1") and conn.execute("INSERT INTO t VALUES (1)"),
            True,
        ),
    ],
)
def test_what_counts_as_the_stores_own_refusal(
    cause: Callable[[sqlite3.Connection], Any], expected: bool
) -> None:
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE TABLE t (a NOT NULL)")
    with pytest.raises(Exception) as caught:
        cause(conn)
    assert is_outage(caught.value) is expected


def test_a_full_disk_is_an_outage_whether_the_store_or_a_file_met_it() -> None:
    conn = sqlite3.connect(":memory:")
    conn.execute("PRAGMA max_page_count = 2")
    with pytest.raises(StoreFailure) as caught:
        conn.execute("CREATE TABLE t (a)")
        conn.execute("INSERT INTO t VALUES (zeroblob(100000))")
    conn.close()
    assert is_outage(caught.value)
    assert is_outage(OSError(28, "No space left on device"))
    assert not is_outage(ValueError())
