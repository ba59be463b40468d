"""What a daemon has kept of messages and threads, held to what its store renders: every daemon of the tests."""

import sqlite3
from pathlib import Path

from storage.engine import migrate
from storage.engine.tx import Tx
from storage.shown import message_json, thread_json
from storage.shown.kept_json import KeptJson
from storage.visibility import VISIBLE

LOOK = 500  # of each organization, the newest


class Stale(AssertionError):
    """A list would have shown what is not so."""


def check(store: Path, kept: KeptJson) -> None:
    """Stale unless its lists say what the store does."""
    conn = migrate.connect(store, read_only=True)
    try:
        _compare(conn, kept)
    except sqlite3.Error:  # a test may have taken the store apart
        return
    finally:
        conn.close()


def _compare(conn: sqlite3.Connection, kept: KeptJson) -> None:
    tx = Tx(conn)
    for (organization_id,) in conn.execute("SELECT id FROM organizations").fetchall():
        sql = f"SELECT id FROM messages WHERE organization_id = ? AND {VISIBLE} ORDER BY id DESC LIMIT ?"
        for (message_id,) in conn.execute(sql, (organization_id, LOOK)).fetchall():
            listed = message_json.of(tx, organization_id, [message_id], kept).json
            shown = message_json.get(tx, organization_id, message_id)
            if shown is None or listed != shown.json:
                raise Stale(f"{message_id} is kept as\n{listed!r}\nand is\n{shown and shown.json!r}")
        sql = "SELECT id, message_count FROM threads WHERE organization_id = ? ORDER BY id DESC LIMIT ?"
        for thread in conn.execute(sql, (organization_id, LOOK)).fetchall():
            listed = thread_json.some(tx, organization_id, [thread], kept).json
            whole = thread_json.get(tx, organization_id, thread[0])
            if whole is None or listed != whole.json:
                raise Stale(f"{thread[0]} is kept as\n{listed!r}\nand is\n{whole and whole.json!r}")
