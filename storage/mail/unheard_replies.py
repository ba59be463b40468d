"""Messages that are in the store, and whose 250 the client has not heard: it will send them again (RFC 1047).

Each is known by the digest of its SMTP transaction: client, envelope and content. No message is written here when it
comes. What a session has found out is written some seconds later, many at once, together with how far that goes
(`settle`); what was committed after that when the process was killed counts as unheard at the next start (`begin`).

How far is told by an id, which follows the ids of the messages also where the clock was set back: then it goes back
with them at a start.
"""

from collections.abc import Collection
from typing import NamedTuple

from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.records import columns

_OF_THE_LAST_SECONDS = """INSERT INTO unheard_replies (transaction_digest, message_id, noted_at)
    SELECT b.transaction_digest, min(m.id), :now_ms FROM messages m JOIN blobs b ON b.id = m.blob_id
    WHERE m.id > (SELECT through FROM replies_settled WHERE is_one = 1) AND b.transaction_digest IS NOT NULL
      AND (m.id < :ahead OR (SELECT through FROM replies_settled WHERE is_one = 1) >= :ahead)
    GROUP BY b.transaction_digest
    ON CONFLICT (transaction_digest) DO NOTHING"""


class UnheardReply(NamedTuple):
    """`message_id`: what the 250 named."""

    transaction_digest: bytes
    message_id: str
    noted_at: int


def begin(tx: Tx, through: str, now_ms: int, kept_since_ms: int) -> list[UnheardReply]:
    """All that are known at a start, oldest first. Those noted before `kept_since_ms` are forgotten. `through`: an id
    that this process made before that of any message."""
    # What lies further ahead an earlier start has seen, and left behind.
    tx.run(_OF_THE_LAST_SECONDS, {"now_ms": now_ms, "ahead": first_at("msg", now_ms + DAY_MS)})
    _settle_through(tx, through)
    _forget_old(tx, kept_since_ms)
    rows = tx.all(f"SELECT {columns(UnheardReply)} FROM unheard_replies ORDER BY noted_at")
    return [UnheardReply(*row) for row in rows]


def settle(
    tx: Tx, through: str, unheard: Collection[UnheardReply], heard: Collection[bytes], kept_since_ms: int
) -> None:
    """Note what was found out, which is all there is to know of messages whose ids are below `through`. `heard`:
    digests of those that are not unheard any more."""
    tx.run_many("DELETE FROM unheard_replies WHERE transaction_digest = ?", [(one,) for one in heard])
    tx.run_many(
        f"""INSERT INTO unheard_replies ({columns(UnheardReply)}) VALUES (?, ?, ?)
            ON CONFLICT (transaction_digest) DO UPDATE SET
              message_id = excluded.message_id, noted_at = excluded.noted_at""",
        unheard,
    )
    _settle_through(tx, through)
    _forget_old(tx, kept_since_ms)


def _settle_through(tx: Tx, message_id: str) -> None:
    tx.run(
        """INSERT INTO replies_settled (is_one, through) VALUES (1, ?)
           ON CONFLICT (is_one) DO UPDATE SET through = excluded.through""",
        (message_id,),
    )


def _forget_old(tx: Tx, kept_since_ms: int) -> None:
    tx.run("DELETE FROM unheard_replies WHERE noted_at < ?", (kept_since_ms,))
