"""Inboxes that are closed, and keys that are revoked with their mail, while mail of theirs is on its way: from the
opening of a connection to MAIL FROM it may be minutes, and nothing of them begins to leave once their end was answered.

The store is asked again only where some were closed since the delivery began; a commit tells that before whoever made
it goes on.
"""

from storage.engine.database import Database
from storage.mail import withdrawal
from storage.sending import leases
from storage.sending.leases import Due


class SenderClosed(Exception):
    """The row's inbox, or its key, sends no more, and no host was told of the message."""


class Closings:
    """`count`: of commits that closed some, since the start."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.count = 0
        db.listen(withdrawal.CLOSED, self._note)

    def _note(self) -> None:
        self.count += 1

    async def refuse_closed(self, row: Due, since: int) -> None:
        """SenderClosed. `since`: the count when the row's inbox and key were last seen."""
        if self.count != since and not await self._db.peek(leases.may_send, row):
            raise SenderClosed(row.message_id)
