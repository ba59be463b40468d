"""Inboxes that are closed, keys that are revoked with their mail, domains that go, and messages that are deleted, while
mail of theirs is on its way: from the opening of a connection to MAIL FROM it may be minutes, and nothing of them
begins to leave once their end was answered, by this process or by a command beside it."""

from maild.ports import MaySend
from storage.engine.database import Database
from storage.sending import leases
from storage.sending.leases import Due


class SenderClosed(Exception):
    """The row's message is gone, or its inbox, key or domain sends no more, and no host was told of the message."""


class Closings:
    """Asked last before a host is told."""

    def __init__(self, db: Database, may_send: MaySend) -> None:
        self._db = db
        self._may_send = may_send

    async def refuse_closed(self, row: Due) -> None:
        """SenderClosed."""
        goes = await self._db.peek(leases.still_goes, row)
        if not goes or not await self._may_send(row.organization_id, row.sender_domain):
            raise SenderClosed(row.message_id)
