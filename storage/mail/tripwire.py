"""What the bulk tripwire remembers: the addresses that an organization wrote to lately, and when the wire tripped."""

from collections.abc import Collection
from typing import Any

from storage.engine.dialect import by_index, each_of
from storage.engine.tx import Tx
from storage.mail import messages
from storage.records import dump
from storage.visibility import VISIBLE

_KEPT = "SELECT addresses FROM recent_recipient_counts WHERE organization_id = ?"
_LATELY = f"""SELECT count(*) FROM (SELECT 1 FROM recent_recipients {by_index("recent_recipients_by_age")}
    WHERE organization_id = :organization AND seen_at > :before AND seen_at < :ahead
      AND address NOT IN {each_of(":keys")} LIMIT :limit)"""
_FORGET = """DELETE FROM recent_recipients WHERE organization_id = :organization AND address IN
    (SELECT address FROM recent_recipients WHERE organization_id = :organization AND seen_at <= :before UNION ALL
     SELECT address FROM recent_recipients WHERE organization_id = :organization AND seen_at >= :ahead LIMIT :limit)"""
FORGOTTEN_AT_ONCE = 100  # by a send; others, and retention, forget the rest
_NOTE = """INSERT INTO recent_recipients (organization_id, address, seen_at) VALUES (?, ?, ?)
    ON CONFLICT (organization_id, address) DO UPDATE SET seen_at = excluded.seen_at"""


def trip(tx: Tx, organization_id: str, now_ms: int) -> None:
    """Note that the wire trips at `now_ms`; the guard decides how long that holds
    (controlplane.sending.admitting.guards)."""
    tx.run("UPDATE organizations SET tripwire_tripped_at = ? WHERE id = ?", (now_ms, organization_id))


def has_room(
    tx: Tx, organization_id: str, now_ms: int, span_ms: int, keys: Collection[str], limit: int
) -> bool:
    """Were fewer than `limit` addresses besides these written to in the last `span_ms` (see clock.is_recent)?

    A program writes to a hundred thousand in that time where its limit allows it, and they are kept for a while when it
    is over: so that many are kept in all is looked at first, and of those that count no more than `limit` are read.
    """
    if (tx.value(_KEPT, (organization_id,)) or 0) < limit:
        return True
    given = {**_span(organization_id, now_ms, span_ms), "keys": dump(list(keys)), "limit": max(0, limit)}
    found: int = tx.value(_LATELY, given)
    return found < limit


def note(tx: Tx, organization_id: str, keys: Collection[str], now_ms: int, span_ms: int) -> None:
    """Note that these addresses are written to now; forget some that were not in the last `span_ms`."""
    tx.run(_FORGET, {**_span(organization_id, now_ms, span_ms), "limit": FORGOTTEN_AT_ONCE})
    tx.run_many(_NOTE, [(organization_id, key, now_ms) for key in keys])


def forget(tx: Tx, organization_id: str, limit: int) -> int:
    """Forget addresses of the organization, however lately it wrote to them; how many, `limit` at most."""
    return tx.run(
        """DELETE FROM recent_recipients WHERE organization_id = :organization AND address IN
             (SELECT address FROM recent_recipients WHERE organization_id = :organization LIMIT :limit)""",
        {"organization": organization_id, "limit": limit},
    )


def _span(organization_id: str, now_ms: int, span_ms: int) -> dict[str, Any]:
    return {"organization": organization_id, "before": now_ms - span_ms, "ahead": now_ms + span_ms}


def correspondents(tx: Tx, inbox_id: str, thread_id: str) -> set[str]:
    """The addresses, as they wrote them, that have written to the inbox lately in the thread."""
    rows = tx.all(
        f"""SELECT DISTINCT from_address FROM
             (SELECT from_address, direction FROM messages WHERE thread_id = ? AND inbox_id = ? AND {VISIBLE}
              ORDER BY id DESC LIMIT ?) WHERE direction = 'inbound'""",
        (thread_id, inbox_id, messages.THREAD_LOOK),
    )
    return {address for (address,) in rows}
