"""Inboxes that are closed, keys that are revoked with their mail, and messages that are deleted, while mail of theirs
is on its way: from the opening of a connection to MAIL FROM it may be minutes, and nothing of them begins to leave once
their end was answered, by this process or by a command beside it."""

from storage.engine.database import Database
from storage.sending import leases
from storage.sending.leases import Due


class SenderClosed(Exception):
    """The row's message is gone, or its inbox or its key sends no more, and no host was told of the message."""


class Closings:
    """Asked last before a host is told."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def refuse_closed(self, row: Due) -> None:
        """SenderClosed."""
        if not await self._db.peek(leases.still_goes, row):
            raise SenderClosed(row.message_id)
