"""What was written and answered in a conversation lately, for the brake on programs that answer each other."""

from collections.abc import Sequence
from typing import NamedTuple

from storage.engine.dialect import THEN_JOIN
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.visibility import VISIBLE

LOOK = 200  # messages, the newest: a program on the other side may go on writing while nobody answers it
PASSED = 1000  # with those that wait or were cancelled: any number may wait for its time


class ThreadLine(NamedTuple):
    """One message. `is_automatic`: it says of itself that a program wrote it, or came without an envelope sender, as
    bounces do. `answers`: the Message-ID that its In-Reply-To names, the message's own where that was a smarthost's.
    """

    is_inbound: bool
    created_at: int
    is_automatic: bool
    message_id_header: str | None
    answers: str | None


def newest(
    tx: Tx, organization_id: str, thread_id: str, mode: str, since_ms: int, at_least: int
) -> Sequence[ThreadLine]:
    """The newest messages of the thread (at most `LOOK`, of the newest `PASSED` of all), oldest first, without those
    that wait for their time or a decision, or were cancelled; for live keys without those of test keys, which reach
    nobody. Empty where fewer than `at_least` have ids of `since_ms` or later, which the index alone tells."""
    after = first_at("msg", since_ms)
    recent = tx.value(
        "SELECT count(*) FROM (SELECT 1 FROM messages WHERE thread_id = ? AND id > ? LIMIT ?)",
        (thread_id, after, at_least),
    )
    if recent < at_least:
        return ()
    rows = tx.all(
        f"""SELECT is_inbound, created_at, is_automatic, message_id_header, in_reply_to FROM
             (SELECT mode, status, direction = 'inbound' AS is_inbound, created_at, message_id_header,
                coalesce((SELECT ours.message_id_header FROM relay_message_ids given
                    {THEN_JOIN} messages ours ON ours.id = given.message_id
                  WHERE given.inbox_id = messages.inbox_id AND given.message_id_header = messages.in_reply_to
                    AND ours.{VISIBLE} LIMIT 1), in_reply_to) AS in_reply_to,
                direction = 'inbound' AND (is_auto_reply OR envelope_from = '') AS is_automatic
              FROM messages WHERE thread_id = ? AND organization_id = ? AND id > ? AND {VISIBLE}
              ORDER BY id DESC LIMIT ?)
           WHERE status NOT IN ('held', 'scheduled', 'cancelled') AND mode IN ('live', ?) LIMIT ?""",
        (thread_id, organization_id, after, PASSED, mode, LOOK),
    )
    return [ThreadLine(bool(row[0]), row[1], bool(row[2]), row[3], row[4]) for row in reversed(rows)]
