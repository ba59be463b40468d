"""Inboxes that are closed while mail of theirs is on its way: from the opening of a connection to MAIL FROM it may be
minutes, and nothing of an inbox begins to leave once its end was answered.

The store is asked again only where some inbox was closed since the delivery began; a commit tells that before whoever
made it goes on.
"""

from storage.engine.database import Database
from storage.mail import withdrawal
from storage.sending import leases
from storage.sending.leases import Due


class InboxClosed(Exception):
    """The row's inbox sends no more, and no host was told of the message."""


class Closings:
    """`count`: of commits that closed inboxes, since the start."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.count = 0
        db.listen(withdrawal.CLOSED, self._note)

    def _note(self) -> None:
        self.count += 1

    async def refuse_closed(self, row: Due, since: int) -> None:
        """InboxClosed. `since`: the count when the row's inbox was last seen."""
        if self.count != since and not await self._db.peek(leases.is_open, row.inbox_id):
            raise InboxClosed(row.inbox_id)
