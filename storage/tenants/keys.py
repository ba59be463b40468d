"""API keys. The raw key is shown once and never stored: a row holds its SHA-256."""

import hashlib
from collections.abc import Callable, Sequence

from storage.agents import claims
from storage.engine.dialect import THEN_JOIN, committed, each_of, elements, unindexed
from storage.engine.tx import Tx
from storage.records import KeyRow, columns, dump

PREFIX_CHARACTERS = 16
REVOKED_AT_ONCE = 100  # in a transaction that others wait for
_SELECT = f"SELECT {columns(KeyRow)} FROM api_keys"
_PLACE = committed("api_keys")
_MINTED_OF = "SELECT id, minted_by, is_active FROM api_keys WHERE minted_by IS NOT NULL"
_MINTED = f"{_MINTED_OF} AND organization_id = :organization"
_MINTED_BEHIND = f"{_MINTED_OF} AND {unindexed('organization_id')} = :organization AND {_PLACE} > :behind"
_BY_HASH = f"{_SELECT} WHERE key_hash = ? AND is_active = 1"
_DESCENDS = f"""WITH RECURSIVE minters (id) AS (
      SELECT minted_by FROM api_keys WHERE id = :key AND organization_id = :organization
      UNION
      SELECT k.minted_by FROM minters {THEN_JOIN} api_keys k
      ON k.id = minters.id WHERE k.organization_id = :organization)
    SELECT EXISTS (SELECT 1 FROM minters WHERE id = :ancestor)"""


def hash_of(raw_key: str) -> bytes:
    """The `key_hash` of a raw key: 32 bytes."""
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
    minted_by: str | None = None,
) -> KeyRow:
    """Write an active key and answer its row. `inbox_id`: the inbox that the key is bound to; None: to none.
    `minted_by`: the key that asked for it; None: the operator or a member did."""
    row = tx.one(
        f"""INSERT INTO api_keys
            (id, organization_id, inbox_id, name, key_prefix, key_hash, mode, scopes, created_at, minted_by)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING {columns(KeyRow)}""",
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
            minted_by,
        ),
    )
    assert row is not None
    return KeyRow(*row)


def list_keys(tx: Tx, organization_id: str, *, limit: int, before: str | None = None) -> list[KeyRow]:
    """Newest first, older than `before`; revoked ones too."""
    rows = tx.all(
        f"""{_SELECT} WHERE organization_id = :organization AND id < coalesce(:before, '~')
            ORDER BY id DESC LIMIT :limit""",
        {"organization": organization_id, "before": before, "limit": limit},
    )
    return [KeyRow(*row) for row in rows]


def revoke(tx: Tx, organization_id: str, key_id: str, now_ms: int) -> bool:
    """From this commit on the key opens nothing, and its claims live no more; False when the organization does not
    have it."""
    changed = tx.run(
        "UPDATE api_keys SET is_active = 0 WHERE id = ? AND organization_id = ?", (key_id, organization_id)
    )
    if changed:
        claims.end_leases_of_key(tx, key_id, now_ms)
    return changed == 1


def mode_of(tx: Tx, organization_id: str, key_id: str) -> str | None:
    """`live` or `test`, of a revoked key too; None when the organization does not have it."""
    mode: str | None = tx.value(
        "SELECT mode FROM api_keys WHERE id = ? AND organization_id = ?", (key_id, organization_id)
    )
    return mode


def organization_of(tx: Tx, key_id: str) -> str | None:
    """The organization of a key, or None. For the operator's commands alone: requests name their organization."""
    organization_id: str | None = tx.value("SELECT organization_id FROM api_keys WHERE id = ?", (key_id,))
    return organization_id


def is_active(tx: Tx, key_id: str) -> bool:
    """False when the key is revoked or does not exist."""
    return tx.one("SELECT 1 FROM api_keys WHERE id = ? AND is_active = 1", (key_id,)) is not None


def by_hash(tx: Tx, key_hash: bytes) -> KeyRow | None:
    """The active key with that hash, or None."""
    row = tx.one(_BY_HASH, (key_hash,))
    return KeyRow(*row) if row else None


def touch(tx: Tx, key_id: str, now_ms: int) -> None:
    """Note that the key was used at `now_ms`."""
    tx.run("UPDATE api_keys SET last_used_at = ? WHERE id = ?", (now_ms, key_id))


def descends_from(tx: Tx, organization_id: str, key_id: str, ancestor_id: str) -> bool:
    """Was the key minted by that other one, or by one that this had minted, and so on? Revoked ones count."""
    return bool(
        tx.value(_DESCENDS, {"key": key_id, "ancestor": ancestor_id, "organization": organization_id})
    )


def minted_with(tx: Tx, organization_id: str, key_id: str, behind: int = 0) -> dict[str, bool]:
    """Keys that this one minted, those that they minted, and so on: id → does it open something? It reads all keys of
    the organization, or those that came behind that place (`newest`): without one, not for a transaction that keeps
    others from writing."""
    rows = tx.all(_MINTED_BEHIND if behind else _MINTED, {"organization": organization_id, "behind": behind})
    children: dict[str, list[tuple[str, bool]]] = {}
    for child, minter, is_active in rows:
        children.setdefault(minter, []).append((child, bool(is_active)))
    found: dict[str, bool] = {}
    to_look = [key_id]
    while to_look:
        minted = children.pop(to_look.pop(), [])
        found.update(minted)
        to_look += [child for child, _ in minted]
    return found


def newest(tx: Tx) -> int:
    """The place, in the order of commits, of the key that was made last, of all organizations; 0 where there is none.
    Ids would not tell after a clock was set back."""
    found: int = tx.value(f"SELECT coalesce(max({_PLACE}), 0) FROM api_keys")
    return found


def make(mode: str, entropy: Callable[[int], bytes]) -> str:
    """A fresh raw key: `svc_live_` or `svc_test_` and 48 hex digits."""
    return f"svc_{mode}_{entropy(24).hex()}"


def names(tx: Tx, organization_id: str, key_ids: Sequence[str]) -> dict[str, str]:
    """Id → name of those of these keys that the organization has, revoked ones too."""
    rows = tx.all(
        f"""SELECT id, name FROM api_keys WHERE id IN {each_of("?")} AND {unindexed("organization_id")} = ?""",
        (dump(list(key_ids)), organization_id),
    )
    return dict(rows)


def revoked_among(tx: Tx, key_ids: Sequence[str]) -> set[str]:
    """Those of these keys that open nothing any more."""
    rows = tx.all(
        f"""SELECT one.value FROM {elements("?")} one
            WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE id = one.value AND is_active = 1)""",
        (dump(list(key_ids)),),
    )
    return {row[0] for row in rows}
