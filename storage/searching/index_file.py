"""The index's file as SQLite has it: connections to it, and which errors mean damage."""

import sqlite3
from pathlib import Path

from storage.engine.connections import BUSY_TIMEOUT_MS
from storage.engine.failures import tells_of_damage
from storage.engine.shared_memory import share_in_place

WRITER_CACHE_KIB = 8 * 1024
READER_CACHE_KIB = 4 * 1024
CHECKPOINT_PAGES = 4096


class IndexLost(Exception):
    """There is no index that could be asked; it is made (anew)."""


def connect(path: Path, mode: str) -> sqlite3.Connection:
    if mode == "rw":  # who only reads comes later
        share_in_place(path)
    conn = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        conn.execute("PRAGMA synchronous = FULL")
        conn.execute("PRAGMA secure_delete = OFF")  # numbers of trigrams: a merge frees what it has rewritten
        conn.execute("PRAGMA temp_store = MEMORY")
        conn.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB if mode == 'rw' else READER_CACHE_KIB}")
        conn.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES if mode == 'rw' else 0}")
    except BaseException:
        conn.close()
        raise
    return conn


def is_damage(error: sqlite3.Error) -> bool:
    """Is it the file that is at fault, and not the moment (a full disk, no memory)?"""
    is_cut = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHORT_READ
    return is_cut or tells_of_damage(error)
