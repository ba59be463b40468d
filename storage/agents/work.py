"""Mail as a queue of work: what is offered, in which order.

Of each conversation one message is the head: offered (`ready`), worked on (`claimed`) or put off (`delayed`); all
others wait `behind` it, and the oldest of them follows when the head is done, dead or deleted. So a conversation has
one worker at a time and is answered in its order, and whoever takes the oldest of an inbox reads the index of what is
offered, and nothing that is blocked. Live and test mail are two queues: what a test key does is nothing to live ones.

`WORK` is the topic of commits after which more, or less, may be offered.
"""

from collections.abc import Sequence
from typing import NamedTuple

from storage.engine.dialect import elements
from storage.engine.tx import Tx
from storage.records import MessageRow, dump

WORK = "work"

_HEAD = "status IN ('ready', 'claimed', 'delayed')"
_PLACE = f"""CASE WHEN EXISTS (SELECT 1 FROM work_items WHERE thread_id = :thread AND mode = :mode AND {_HEAD})
    THEN 'behind' ELSE 'ready' END"""
_PUT = f"""INSERT INTO work_items (message_id, organization_id, inbox_id, thread_id, mode, status)
    SELECT :message, :organization, :inbox, :thread, :mode, {_PLACE}"""
_PROMOTE = """UPDATE work_items SET status = 'ready' WHERE status = 'behind' AND seq =
    (SELECT seq FROM work_items WHERE thread_id = ? AND mode = ? AND status = 'behind' ORDER BY seq LIMIT 1)"""
_TAKE = """UPDATE work_items SET status = 'claimed', attempts = attempts + 1 WHERE status = 'ready' AND seq IN
    (SELECT seq FROM work_items WHERE inbox_id = ? AND mode = ? AND status = 'ready' ORDER BY seq LIMIT ?)
    RETURNING seq, message_id, thread_id, attempts"""
_READY = "SELECT 1 FROM work_items WHERE inbox_id = ? AND mode = ? AND status = 'ready' LIMIT 1"


class Taken(NamedTuple):
    """A message that is claimed from now on, for the `attempts`-th time."""

    message_id: str
    thread_id: str
    attempts: int


def put(tx: Tx, message: MessageRow) -> None:
    """Take a message that came in into the queue of its inbox, unless no answer is wanted: automatic answers and
    reports, and what its author's domain disowns."""
    if not message.is_auto_reply and not message.is_spam:
        tx.run(_PUT, _of(message))


def put_again(tx: Tx, message: MessageRow) -> None:
    """Offer the message, whatever it came to, with all attempts before it; one that is claimed stays so."""
    tx.notify(WORK)
    row = tx.one("SELECT seq, status FROM work_items WHERE message_id = ?", (message.id,))
    if row is None:
        tx.run(_PUT, _of(message))
        return
    seq, status = row
    if status in ("ready", "delayed"):
        tx.run("UPDATE work_items SET status = 'ready', attempts = 0, ready_at = NULL WHERE seq = ?", (seq,))
    elif status == "dead":
        tx.run(
            f"UPDATE work_items SET status = {_PLACE}, attempts = 0 WHERE seq = :seq",
            {**_of(message), "seq": seq},
        )


def take(tx: Tx, inbox_id: str, mode: str, limit: int) -> list[Taken]:
    """Claim up to `limit` messages of so many conversations, the oldest first."""
    rows = tx.all(_TAKE, (inbox_id, mode, limit))
    return [Taken(*row[1:]) for row in sorted(rows)]


def is_ready(tx: Tx, inbox_id: str, mode: str) -> bool:
    """Is anything offered?"""
    return tx.one(_READY, (inbox_id, mode)) is not None


def ready_among(tx: Tx, inbox_ids: Sequence[str]) -> set[str]:
    """Those of these inboxes in which something is offered, in whatever mode."""
    rows = tx.all(
        f"""SELECT one.value FROM {elements("?")} one WHERE EXISTS
              (SELECT 1 FROM work_items WHERE inbox_id = one.value AND mode IN ('live', 'test')
                 AND status = 'ready')""",
        (dump(list(inbox_ids)),),
    )
    return {row[0] for row in rows}


def finish(tx: Tx, message_id: str) -> bool:
    """Take the message out of the queue, and let the next of its conversation follow; False where it was not in it."""
    row = tx.one(
        f"DELETE FROM work_items WHERE message_id = ? RETURNING thread_id, mode, {_HEAD}", (message_id,)
    )
    if row is None:
        return False
    if row[2]:
        _promote(tx, row[0], row[1])
    return True


def give_back(tx: Tx, message_id: str, ready_at_ms: int | None) -> None:
    """Offer a claimed message again, at that time (None: now)."""
    tx.notify(WORK)
    tx.run(
        """UPDATE work_items SET status = CASE WHEN :at IS NULL THEN 'ready' ELSE 'delayed' END, ready_at = :at
           WHERE message_id = :message AND status = 'claimed'""",
        {"at": ready_at_ms, "message": message_id},
    )


def bury(tx: Tx, message_id: str) -> None:
    """A claimed message is not offered any more; the next of its conversation follows."""
    row = tx.one(
        """UPDATE work_items SET status = 'dead' WHERE message_id = ? AND status = 'claimed'
           RETURNING thread_id, mode""",
        (message_id,),
    )
    if row is not None:
        _promote(tx, *row)


def end_delays(tx: Tx, now_ms: int, limit: int) -> int:
    """Offer what was put off until now or before, up to `limit` of it; how many."""
    return tx.run(
        """UPDATE work_items SET status = 'ready', ready_at = NULL WHERE status = 'delayed' AND seq IN
           (SELECT seq FROM work_items WHERE status = 'delayed' AND ready_at <= ? ORDER BY ready_at LIMIT ?)""",
        (now_ms, limit),
    )


def is_delay_behind(tx: Tx, at_ms: int) -> bool:
    """Is something put off until after that time?"""
    return (
        tx.one("SELECT 1 FROM work_items WHERE status = 'delayed' AND ready_at > ? LIMIT 1", (at_ms,))
        is not None
    )


def next_delay_ends_at(tx: Tx) -> int | None:
    """When the next one is offered again (Unix ms, perhaps past already); None: nothing is put off."""
    found: int | None = tx.value("SELECT min(ready_at) FROM work_items WHERE status = 'delayed'")
    return found


def end_delays_behind(tx: Tx, at_ms: int, now_ms: int, limit: int) -> None:
    """What is put off until after that time is put off until now, up to `limit` of it."""
    tx.run(
        """UPDATE work_items SET ready_at = ? WHERE status = 'delayed' AND seq IN
           (SELECT seq FROM work_items WHERE status = 'delayed' AND ready_at > ? LIMIT ?)""",
        (now_ms, at_ms, limit),
    )


def _promote(tx: Tx, thread_id: str, mode: str) -> None:
    tx.notify(WORK)
    tx.run(_PROMOTE, (thread_id, mode))


def _of(message: MessageRow) -> dict[str, str]:
    return {
        "message": message.id, "organization": message.organization_id, "inbox": message.inbox_id,
        "thread": message.thread_id, "mode": message.mode,
    }  # fmt: skip
