"""From an API key to the principal that it acts for (docs/contract.md, section 5)."""

import asyncio
import hmac
from functools import lru_cache

import structlog

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.contract.scopes import mail_scopes_of
from storage.clock import Clock, is_recent
from storage.engine.database import Database
from storage.engine.failures import StoreFailure
from storage.engine.writer import DatabaseClosed
from storage.records import KeyRow, load
from storage.tenants import keys

log = structlog.get_logger("maild.api")

PREFIX = "svc_"
TOUCH_MS = 60_000  # lastUsedAt is as true as this, for one write a minute instead of one a request


class Authenticator:
    """Finds the principal of a key, at each request anew: a revoked key is refused from its commit on."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._touching: dict[str, asyncio.Task[None]] = {}

    async def principal(self, raw_key: str, request_id: str | None = None) -> Principal:
        """The key's principal; Refusal `invalid_api_key…` unless the key is known and active at this moment."""
        if not raw_key.startswith(PREFIX):
            raise Refusal("invalid_api_key_format")
        if not raw_key.isascii():  # octets that are not UTF-8 among them, which can't be hashed
            raise Refusal("invalid_api_key")
        key_hash = keys.hash_of(raw_key)
        key = await self._db.peek(keys.by_hash, key_hash)
        if key is None or not hmac.compare_digest(key.key_hash, key_hash):
            raise Refusal("invalid_api_key")
        self._touch(key)
        scopes = _scopes_of(key.scopes, key.inbox_id is not None)
        return Principal(key.id, key.organization_id, key.inbox_id, scopes, key.mode, request_id)

    def _touch(self, key: KeyRow) -> None:
        """Nobody waits for it: who only reads need not wait for the disk."""
        now_ms = self._clock.now_ms()
        is_due = key.last_used_at is None or not is_recent(key.last_used_at, now_ms, TOUCH_MS)
        if is_due and key.id not in self._touching:
            noting = self._touching[key.id] = asyncio.create_task(self._note_use(key.id, now_ms))
            noting.add_done_callback(lambda _: self._touching.pop(key.id))

    async def _note_use(self, key_id: str, now_ms: int) -> None:
        try:
            await self._db.write(keys.touch, key_id, now_ms)
        except (StoreFailure, DatabaseClosed) as error:
            log.error("last_use_not_noted", key=key_id, error=str(error))


@lru_cache(maxsize=1000)
def _scopes_of(listed: str, is_bound: bool) -> tuple[str, ...]:
    """A key bound to an inbox holds mail scopes alone, whatever its row says (docs/contract.md, section 5)."""
    scopes = tuple(load(listed))
    return mail_scopes_of(scopes) if is_bound else scopes


def bearer(header: str | None) -> str:
    """The key in an Authorization header (RFC 6750 §2.1); Refusal `unauthorized`."""
    scheme, _, raw_key = (header or "").strip().partition(" ")
    raw_key = raw_key.strip()
    if scheme.lower() != "bearer" or not raw_key or " " in raw_key:
        raise Refusal("unauthorized")
    return raw_key
