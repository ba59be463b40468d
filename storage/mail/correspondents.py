"""Whom an inbox has written to, by comparison keys: written in the transaction that puts a message into the queue, and
kept when the message is deleted.

What test keys send reaches nobody: it makes nobody a correspondent of live ones (`mode`).
"""

from collections.abc import Collection

from storage.engine.dialect import each_of
from storage.engine.tx import Tx
from storage.records import dump

_KNOWN = f"""SELECT address FROM correspondents
    WHERE inbox_id = :inbox AND address IN {each_of(":keys")} AND mode IN (:mode, 'live')"""
_NOTE = """INSERT INTO correspondents (inbox_id, address, mode, first_sent_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (inbox_id, address, mode) DO NOTHING"""


def unknown(tx: Tx, inbox_id: str, keys: Collection[str], mode: str = "live") -> frozenset[str]:
    """Which of these nobody has written to from the inbox, before this transaction; for a test key: neither live nor
    test keys have. The inbox is the caller's own."""
    known = tx.all(_KNOWN, {"inbox": inbox_id, "keys": dump(list(keys)), "mode": mode})
    return frozenset(keys) - {key for (key,) in known}


def note(tx: Tx, inbox_id: str, keys: Collection[str], now_ms: int, mode: str = "live") -> None:
    """Note that the inbox writes to these now, whatever was there."""
    tx.run_many(_NOTE, [(inbox_id, key, mode, now_ms) for key in keys])


def count_between(tx: Tx, inbox_id: str, since_ms: int, until_ms: int) -> int:
    """To how many the inbox has written for the first time from `since_ms` on and before `until_ms`, with live keys."""
    found: int = tx.value(
        """SELECT count(*) FROM correspondents
           WHERE inbox_id = ? AND mode = 'live' AND first_sent_at >= ? AND first_sent_at < ?""",
        (inbox_id, since_ms, until_ms),
    )
    return found
