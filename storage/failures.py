"""What a store says when it fails, in words that do not tell which store it is.

A unit of work raises what its own code raises, and a StoreFailure where a statement, BEGIN or COMMIT failed; either
way nothing of it was kept. `is_outage` tells two kinds of failure apart: a store that refuses every unit for now, and
a unit that would fail again (a broken constraint, a wrong statement). `storage.writer.DatabaseClosed` is not a
failure: the process is ending.
"""

import sqlite3

StoreFailure = sqlite3.Error  # to be named behind `except`

# What SQLite says when it can't write now. Every other code is about the statement, and would come again.
_OUTAGES = frozenset(
    {
        sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB,
    }
)  # fmt: skip


def is_outage(error: Exception) -> bool:
    """Does the store (or the disk under it) refuse every unit now, so that the same unit may succeed later?"""
    code = getattr(error, "sqlite_errorcode", None)  # an extended one: the low byte is the kind
    return isinstance(error, OSError) or (isinstance(error, StoreFailure) and (code or 0) & 0xFF in _OUTAGES)
