"""Messages that are in the store, and whose 250 the client has not heard: it will send them again (RFC 1047).

Each is known by the digest of its SMTP transaction: client, envelope and content. No message is written here when it
comes. What a session has found out is written some seconds later, many at once, together with how far that goes
(`settle`); what was committed after that when the process was killed counts as unheard at the next start (`begin`).
"""

from collections.abc import Collection
from typing import NamedTuple

from storage.engine.dialect import greatest
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.records import columns

_OF_THE_LAST_SECONDS = """INSERT INTO unheard_replies (transaction_digest, message_id, noted_at)
    SELECT b.transaction_digest, min(m.id), ? FROM messages m JOIN blobs b ON b.id = m.blob_id
    WHERE m.id > (SELECT through FROM replies_settled WHERE is_one = 1) AND b.transaction_digest IS NOT NULL
    GROUP BY b.transaction_digest
    ON CONFLICT (transaction_digest) DO NOTHING"""


class UnheardReply(NamedTuple):
    """`message_id`: what the 250 named."""

    transaction_digest: bytes
    message_id: str
    noted_at: int


def begin(tx: Tx, now_ms: int, kept_since_ms: int) -> list[UnheardReply]:
    """All that are known at a start, oldest first. Those noted before `kept_since_ms` are forgotten."""
    tx.run(_OF_THE_LAST_SECONDS, (now_ms,))
    _settle_until(tx, now_ms)
    _forget_old(tx, kept_since_ms)
    rows = tx.all(f"SELECT {columns(UnheardReply)} FROM unheard_replies ORDER BY noted_at")
    return [UnheardReply(*row) for row in rows]


def settle(
    tx: Tx, until_ms: int, unheard: Collection[UnheardReply], heard: Collection[bytes], kept_since_ms: int
) -> None:
    """Note what was found out, which is all there is to know of messages from before `until_ms`. `heard`: digests of
    those that are not unheard any more."""
    tx.run_many("DELETE FROM unheard_replies WHERE transaction_digest = ?", [(one,) for one in heard])
    tx.run_many(
        f"""INSERT INTO unheard_replies ({columns(UnheardReply)}) VALUES (?, ?, ?)
            ON CONFLICT (transaction_digest) DO UPDATE SET
              message_id = excluded.message_id, noted_at = excluded.noted_at""",
        unheard,
    )
    _settle_until(tx, until_ms)
    _forget_old(tx, kept_since_ms)


def _settle_until(tx: Tx, until_ms: int) -> None:
    tx.run(
        f"""INSERT INTO replies_settled (is_one, through) VALUES (1, ?)
            ON CONFLICT (is_one) DO UPDATE SET through = {greatest("through", "excluded.through")}""",
        (first_at("msg", until_ms),),
    )


def _forget_old(tx: Tx, kept_since_ms: int) -> None:
    tx.run("DELETE FROM unheard_replies WHERE noted_at < ?", (kept_since_ms,))
