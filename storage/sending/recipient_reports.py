"""What reports say of recipients after a host took their mail: it bounced, it arrived, it was complained of.

Each changes a row only from the statuses that it can be true of, and says whether it did: so a report that comes twice,
or of a recipient who never got the message, changes nothing.
"""

from collections.abc import Collection
from typing import NamedTuple

from storage.engine.tx import Tx
from storage.sending import deleted_mail
from storage.sending.deleted_mail import DeletedSend


class Reported(NamedTuple):
    """What judging a report needs of the message that it is about. `deleted`: what is left of it."""

    id: str
    inbox_id: str
    mode: str
    from_address: str
    envelope_from: str  # "": one for each destination
    sent_at: int  # when it was made, if no host took it yet
    deleted: DeletedSend | None = None


class ReportedRecipient(NamedTuple):
    """Whom a report may be about."""

    position: int
    address: str
    domain: str


def reported(tx: Tx, token: str) -> Reported | None:
    """The message whose envelope senders and Message-ID carry the token, deleted lately or not; None: there is none."""
    row = tx.one(
        """SELECT id, inbox_id, mode, from_address, envelope_from, coalesce(sent_at, created_at)
           FROM messages WHERE bounce_token = ?""",
        (token,),
    )
    if row:
        return Reported(*row)
    gone = deleted_mail.find(tx, token)
    if gone is None:
        return None
    return Reported(
        gone.message_id, gone.inbox_id, "live", gone.from_address, gone.envelope_from, gone.sent_at, gone
    )


def recipients(tx: Tx, message: Reported) -> list[ReportedRecipient]:
    """All of the message, in the order in which they were given."""
    if message.deleted is not None:
        return [ReportedRecipient(*one[:-1]) for one in message.deleted.places()]
    found = tx.all(
        "SELECT position, address, domain FROM recipients WHERE message_id = ? ORDER BY position",
        (message.id,),
    )
    return [ReportedRecipient(*one) for one in found]


def is_any_underway(tx: Tx, message_id: str, positions: Collection[int]) -> bool:
    """Is one of these recipients being delivered to: what a host did with the mail may not be written yet?"""
    leased = tx.all(
        "SELECT position FROM recipients WHERE message_id = ? AND lease IS NOT NULL", (message_id,)
    )
    return any(position in positions for (position,) in leased)


def bounce_later(
    tx: Tx, message_id: str, position: int, code: int | None, enhanced: str | None, response: str
) -> bool:
    """accepted → bounced, for a recipient whose bounce came by mail; False when it was not accepted."""
    return (
        tx.run(
            """UPDATE recipients SET status = 'bounced', smtp_code = ?, enhanced_code = ?, response = ?
           WHERE message_id = ? AND position = ? AND status IN ('sent', 'delivered')""",
            (code, enhanced, response, message_id, position),
        )
        == 1
    )


def deliver_later(tx: Tx, message_id: str, position: int) -> bool:
    """sent → delivered: what a smarthost took has arrived. False when the recipient is not `sent` (any more)."""
    return (
        tx.run(
            """UPDATE recipients SET status = 'delivered'
           WHERE message_id = ? AND position = ? AND status = 'sent'""",
            (message_id, position),
        )
        == 1
    )


def complain(tx: Tx, message_id: str, position: int, now_ms: int) -> bool:
    """Mark that the recipient complained; False when it never got the message, or had complained before."""
    return (
        tx.run(
            """UPDATE recipients SET complained_at = ?
           WHERE message_id = ? AND position = ? AND status IN ('sent', 'delivered') AND complained_at IS NULL""",
            (now_ms, message_id, position),
        )
        == 1
    )
