"""From the Authorization header to the principal that a request acts for (docs/contract.md, section 5)."""

import hmac
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import structlog

from controlplane.contract.refusals import Refusal
from controlplane.contract.scopes import grants, mail_scopes_of
from storage import keys
from storage.clock import Clock
from storage.database import Database, Tx
from storage.records import KeyRow, load

log = structlog.get_logger("maild.api")

PREFIX = "svc_"
LIVE = "live"  # a mode of keys, named as the scope that a test key would need; none can be minted yet
NO_INBOX = ""  # an id that no inbox has
TOUCH_MS = 60_000  # lastUsedAt is as true as this, for one write a minute instead of one a request


class Principal(NamedTuple):
    """Who calls. `inbox_id`: the inbox that the key is bound to, or None."""

    key_id: str
    organization_id: str
    inbox_id: str | None
    scopes: Sequence[str]
    mode: str

    def require(self, scope: str) -> None:
        if not grants(self.scopes, scope):
            raise Refusal(
                "insufficient_scope",
                f"This key lacks the scope '{scope}'.",
                {"requiredScope": scope, "grantedScopes": list(self.scopes)},
            )

    def ask(self, tx: Tx) -> None:
        """Refusal 401 when the key was revoked since the request was admitted: its body may have taken minutes."""
        if not keys.is_active(tx, self.key_id):
            raise Refusal("invalid_api_key")

    def require_live(self) -> None:
        """Refuse a test key what would take from live ones something that both share."""
        if self.mode != LIVE:
            raise Refusal(
                "insufficient_scope",
                "A test key can't do this to what live keys use; use a live key.",
                {"requiredScope": LIVE, "grantedScopes": list(self.scopes)},
            )

    def confine(self, inbox_id: str) -> None:
        """Refuse another inbox than the one the key is bound to."""
        if self.inbox_id is not None and self.inbox_id != inbox_id:
            raise Refusal("inbox_access_denied")

    def listed_inbox(self, asked: str | None = None) -> str | None:
        """Of which inbox a list shows anything, where the query asks for that of `asked`; None: of all.

        A bound key that asks for another inbox is shown an empty list.
        """
        if self.inbox_id is None:
            return asked
        return self.inbox_id if asked in (None, self.inbox_id) else NO_INBOX


class Authenticator:
    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def principal(self, header: str | None) -> Principal:
        """The key's principal; Refusal 401 unless the key is known and active at this moment."""
        raw_key = bearer(header)
        key_hash = keys.hash_of(raw_key)
        key = await self._db.peek(keys.by_hash, key_hash)
        if key is None or not hmac.compare_digest(key.key_hash, key_hash):
            raise Refusal("invalid_api_key")
        await self._touch(key)
        return Principal(key.id, key.organization_id, key.inbox_id, _scopes_of(key), key.mode)

    async def _touch(self, key: KeyRow) -> None:
        now_ms = self._clock.now_ms()
        if key.last_used_at is None or now_ms - key.last_used_at >= TOUCH_MS:
            try:
                await self._db.write(keys.touch, key.id, now_ms)
            except sqlite3.Error as error:  # a store that can't be written can still be read
                log.error("last_use_not_noted", key=key.id, error=str(error))


def _scopes_of(key: KeyRow) -> tuple[str, ...]:
    """A key bound to an inbox holds mail scopes alone, whatever its row says (docs/contract.md, section 5)."""
    scopes = tuple(load(key.scopes))
    return scopes if key.inbox_id is None else mail_scopes_of(scopes)


def bearer(header: str | None) -> str:
    scheme, _, raw_key = (header or "").strip().partition(" ")
    raw_key = raw_key.strip()
    if scheme.lower() != "bearer" or not raw_key or " " in raw_key:
        raise Refusal("unauthorized")
    if not raw_key.startswith(PREFIX):
        raise Refusal("invalid_api_key_format")
    if not raw_key.isascii():  # octets that are no UTF-8 among them, which can't be hashed
        raise Refusal("invalid_api_key")
    return raw_key
