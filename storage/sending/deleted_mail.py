"""What is left of a message that was deleted after a host took it: who sent it, and to whom.

Bounces come for days after that, and complaints later still. Were nothing left, whoever deletes what it sends would
hear of neither, and never be paused. No word of the message is in it; it goes KEEP_MS after the message.

All recipients are in it, for what a report may speak of depends on who else got the message. One counts for each of
those who had it, once.
"""

from collections.abc import Collection
from typing import NamedTuple

from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.records import MessageRow, columns, dump, load

KEEP_MS = 30 * DAY_MS  # as long as events name the recipients

# What is on its way may arrive yet.
_COUNTS = "complained_at IS NULL AND (status IN ('sent', 'delivered') OR lease IS NOT NULL)"


class DeletedSend(NamedTuple):
    """`recipients`: JSON, as `places` reads it."""

    bounce_token: str
    message_id: str
    organization_id: str
    inbox_id: str
    from_address: str
    envelope_from: str  # "": one for each destination
    sent_at: int  # when it was made, if no host had taken it yet
    recipients: str
    deleted_at: int

    def places(self) -> list["SentTo"]:
        return [SentTo(*one) for one in load(self.recipients)]


class SentTo(NamedTuple):
    """A recipient. `counts`: it had the message, and no report has counted for it yet."""

    position: int
    address: str
    domain: str
    counts: int


# What this host sends on its own is nobody's behaviour.
_PLACES = f"""SELECT position, address, domain, {_COUNTS} FROM recipients r
    WHERE message_id = ? AND NOT EXISTS (SELECT 1 FROM tls_reports_sent t WHERE t.message_id = r.message_id)
    ORDER BY position"""
_SELECT = f"SELECT {columns(DeletedSend)} FROM deleted_mail WHERE bounce_token = ?"
_INSERT = f"INSERT INTO deleted_mail ({columns(DeletedSend)}) VALUES ({', '.join('?' for _ in DeletedSend._fields)})"


def note(tx: Tx, message: MessageRow, now_ms: int) -> None:
    """The message is about to be deleted."""
    if message.direction != "outbound" or message.mode != "live" or message.bounce_token is None:
        return
    places = tx.all(_PLACES, (message.id,))
    if any(SentTo(*one).counts for one in places):
        left = DeletedSend(
            bounce_token=message.bounce_token,
            message_id=message.id,
            organization_id=message.organization_id,
            inbox_id=message.inbox_id,
            from_address=message.from_address,
            envelope_from=message.envelope_from,
            sent_at=message.created_at if message.sent_at is None else message.sent_at,
            recipients=dump(places),
            deleted_at=now_ms,
        )
        tx.run(_INSERT, left)


def find(tx: Tx, bounce_token: str | None) -> DeletedSend | None:
    """The message of the token; None where it is there still, was deleted long ago, or has none."""
    row = tx.one(_SELECT, (bounce_token,))
    return DeletedSend(*row) if row else None


def take(tx: Tx, message: DeletedSend, positions: Collection[int]) -> dict[int, str]:
    """Position → address of those recipients for whom a report counts now, and no other from now on. `message`: as
    `find` has it in the same unit."""
    places = message.places()
    taken = {one.position: one.address for one in places if one.counts and one.position in positions}
    if taken:
        left = [one._replace(counts=0) if one.position in taken else one for one in places]
        tx.run(
            "UPDATE deleted_mail SET recipients = ? WHERE bounce_token = ?",
            (dump(left), message.bounce_token),
        )
    return taken
