"""Whoever calls the API or the console, by what it shows: an API key, or a member's session in a browser."""

from collections.abc import Collection

from storage.engine.tx import Tx
from storage.tenants import console_sessions, keys


def is_active(tx: Tx, credential_id: str) -> bool:
    """False when the key or the session is revoked, or was never there."""
    if credential_id.startswith(console_sessions.PREFIX):
        return console_sessions.is_open(tx, credential_id)
    return keys.is_active(tx, credential_id)


def revoked_among(tx: Tx, credential_ids: Collection[str]) -> set[str]:
    """Those of these keys and sessions that open nothing any more."""
    sessions = {one for one in credential_ids if one.startswith(console_sessions.PREFIX)}
    ended = console_sessions.ended_among(tx, sessions) if sessions else set()
    return ended | keys.revoked_among(tx, sorted(set(credential_ids) - sessions))
