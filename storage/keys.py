"""API keys. The raw key is shown once and never stored: a row holds its SHA-256."""

import hashlib
from collections.abc import Callable, Sequence

from storage.database import Tx
from storage.records import Key, columns, dump

PREFIX_CHARACTERS = 16
_SELECT = f"SELECT {columns(Key)} FROM api_keys"


def hash_of(raw_key: str) -> bytes:
    return hashlib.sha256(raw_key.encode()).digest()


def create(
    tx: Tx,
    key_id: str,
    raw_key: str,
    now_ms: int,
    *,
    organization_id: str,
    name: str,
    scopes: Sequence[str],
    mode: str,
    inbox_id: str | None = None,
) -> None:
    tx.run(
        """INSERT INTO api_keys
           (id, organization_id, inbox_id, name, key_prefix, key_hash, mode, scopes, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            key_id,
            organization_id,
            inbox_id,
            name,
            raw_key[:PREFIX_CHARACTERS],
            hash_of(raw_key),
            mode,
            dump(list(scopes)),
            now_ms,
        ),
    )


def by_hash(tx: Tx, key_hash: bytes) -> Key | None:
    """The active key with that hash."""
    row = tx.one(f"{_SELECT} WHERE key_hash = ? AND is_active = 1", (key_hash,))
    return Key(*row) if row else None


def touch(tx: Tx, key_id: str, now_ms: int) -> None:
    """Note that the key was used."""
    tx.run(
        "UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?", (now_ms, key_id)
    )


def make(mode: str, entropy: Callable[[int], bytes]) -> str:
    """A fresh raw key: `svc_live_` or `svc_test_` and 48 hex digits."""
    return f"svc_{mode}_{entropy(24).hex()}"
