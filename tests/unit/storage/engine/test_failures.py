"""Which failures are the store's own (storage/engine/failures.py)."""

import errno
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storage.engine.failures import StoreFailure, in_words, is_full, is_outage, may_pass


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
    with closing(sqlite3.connect(":memory:")) as conn:
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
    for error in (caught.value, OSError(errno.ENOSPC, "No space left on device")):
        assert is_outage(error) and is_full(error)
        assert in_words(error).startswith("the disk is full")
    of_a_file = OSError(errno.ENOSPC, "No space left on device", "/data/blobs")
    assert in_words(of_a_file) == "the disk is full (/data/blobs: No space left on device); make room on it"
    assert not is_outage(ValueError()) and not is_full(ValueError())


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"), True),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), True),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), False),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), True),
        (OSError(errno.EADDRINUSE, "Address already in use"), False),
        (OSError(errno.EACCES, "Permission denied"), False),
        (sqlite3.OperationalError("of Python's own, without a code"), False),
        (ValueError(), False),
    ],
)
def test_what_may_pass_without_being_mended(error: Exception, expected: bool) -> None:
    assert may_pass(error) is expected


def test_a_store_that_another_process_has_may_pass_and_one_that_is_none_stays_none(tmp_path: Path) -> None:
    (tmp_path / "none").write_bytes(b"no database, long enough " * 1000)
    conn = sqlite3.connect(tmp_path / "none")
    with pytest.raises(StoreFailure) as foreign:
        conn.execute("PRAGMA user_version")
    conn.close()
    assert is_outage(foreign.value) and not may_pass(foreign.value)
    first, second = (sqlite3.connect(tmp_path / "store", timeout=0) for _ in range(2))
    first.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreFailure) as busy:
        second.execute("BEGIN EXCLUSIVE")
    first.close()
    second.close()
    assert is_outage(busy.value) and may_pass(busy.value)
