"""Header fields that one recipient's copy of a message has for itself: unsubscribe links (RFC 8058).

They stand in front of the stored bytes, inside the DKIM signature. The same recipient gets the same fields
at every attempt.
"""

from maild.message import unsubscribe
from maild.message.unsubscribe import Grant
from storage.sending.leases import Due


class RecipientHeaders:
    """`key`: what signs unsubscribe tokens; `public_url`: where the API is reached."""

    def __init__(self, key: bytes, public_url: str) -> None:
        self._key = key
        self._base = f"{public_url.rstrip('/')}/v1/unsubscribe?token="

    def of(self, row: Due) -> bytes:
        """Whole fields with CRLF; empty where the message has none."""
        if not row.unsubscribe:
            return b""
        grant = Grant(
            row.organization_id,
            row.inbox_id,
            row.message_id,
            row.address,
            row.created_at // 1000 + unsubscribe.VALID_FOR_S,
        )
        return unsubscribe.fields(self._base + unsubscribe.make(self._key, grant))
