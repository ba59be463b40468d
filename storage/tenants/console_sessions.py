"""How a member comes into the console: by a link that works once, into a session that ends.

Neither the link's secret nor the session's is stored: rows hold their SHA-256. Both are 256 random bits, so nobody
finds one by trying, and who reads the store can't use it.

A session ends when it was not used for IDLE_MS, at `expires_at`, or at the commit that revokes it. All that it does in
a writing unit asks for it again (`is_open`). A member has at most SESSIONS_MAX, and as many links that work as
LINKS_MAX; the oldest go.

What was made or used by a clock that was ahead, and has been set back since, would stay good until then: what lies
ahead by as much as it is good for (LINK_MS, IDLE_MS) opens nothing, and goes when the member signs in anew.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Collection
from typing import NamedTuple

from storage.clock import DAY_MS
from storage.engine.dialect import elements, unindexed
from storage.engine.tx import Tx
from storage.records import columns, dump

SECRET_BYTES = 32
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
LINK_MS = 15 * MINUTE_MS
IDLE_MS = 12 * HOUR_MS
SESSION_MS = 7 * DAY_MS
LINKS_MAX = 5
SESSIONS_MAX = 20
PREFIX = "ses_"
ENDED_AT_ONCE = 100  # rows whose time is over, that go with one that comes


class LinkRow(NamedTuple):
    """A link that lets a member in once. `used_at` None: not yet."""

    token_hash: bytes
    organization_id: str
    member_id: str
    created_at: int
    expires_at: int
    used_at: int | None


class SessionRow(NamedTuple):
    """A browser that a member signed in with. `address`, `user_agent`: of the request that did."""

    id: str
    organization_id: str
    member_id: str
    token_hash: bytes
    created_at: int
    last_used_at: int
    expires_at: int
    address: str
    user_agent: str


class OpenSession(NamedTuple):
    """A session that is open, and whose it is. `organization`: its name."""

    id: str
    organization_id: str
    organization: str
    member_id: str
    email: str
    name: str | None
    role: str
    last_used_at: int


class ListedSession(NamedTuple):
    """A session of an organization, for a list."""

    id: str
    member_id: str
    email: str
    created_at: int
    last_used_at: int
    expires_at: int
    address: str
    user_agent: str


_LINKS = f"SELECT {columns(LinkRow)} FROM console_links"
_FORGET_LINKS = """DELETE FROM console_links WHERE token_hash IN
    (SELECT token_hash FROM console_links WHERE expires_at < ? ORDER BY expires_at LIMIT ?)"""
_FORGET_SESSIONS = """DELETE FROM console_sessions WHERE id IN
    (SELECT id FROM console_sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)"""
_OPEN = """s.expires_at > :now_ms
    AND s.last_used_at > :now_ms - :idle_ms AND s.last_used_at < :now_ms + :idle_ms"""


def secret_of(chance: bytes) -> str:
    """What a link or a cookie holds: 43 characters of URL-safe base 64."""
    return urlsafe_b64encode(chance).rstrip(b"=").decode()


def hash_of(secret: str) -> bytes:
    """What stands in the row: 32 bytes."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


# Links -----------------------------------------------------------------------------------------------


def add_link(tx: Tx, secret: str, organization_id: str, member_id: str, now_ms: int) -> LinkRow:
    """Make a link that works for LINK_MS; of the member's others the newest few go on working."""
    tx.run(_FORGET_LINKS, (now_ms - DAY_MS, ENDED_AT_ONCE))
    row = LinkRow(hash_of(secret), organization_id, member_id, now_ms, now_ms + LINK_MS, None)
    tx.run(f"INSERT INTO console_links ({columns(LinkRow)}) VALUES (?, ?, ?, ?, ?, ?)", tuple(row))
    tx.run(
        """DELETE FROM console_links WHERE member_id = :member AND token_hash NOT IN (
             SELECT token_hash FROM console_links WHERE member_id = :member AND created_at < :ahead
             ORDER BY created_at DESC LIMIT :most)""",
        {"member": member_id, "ahead": now_ms + LINK_MS, "most": LINKS_MAX},
    )
    return row


def link(tx: Tx, token_hash: bytes) -> LinkRow | None:
    """The link with that hash, used or not, or None. No organization is known before: the secret names it."""
    row = tx.one(f"{_LINKS} WHERE token_hash = ?", (token_hash,))
    return LinkRow(*row) if row else None


def links_within(tx: Tx, member_id: str, now_ms: int, span_ms: int) -> int:
    """How many links were made for the member in the last `span_ms` (see clock.is_recent)."""
    found: int = tx.value(
        "SELECT count(*) FROM console_links WHERE member_id = ? AND created_at > ? AND created_at < ?",
        (member_id, now_ms - span_ms, now_ms + span_ms),
    )
    return found


def use_link(tx: Tx, row: LinkRow, now_ms: int) -> bool:
    """Use it up; False where somebody was first, or its time is over."""
    return (
        tx.run(
            """UPDATE console_links SET used_at = ?
               WHERE token_hash = ? AND used_at IS NULL AND expires_at > ? AND created_at < ?""",
            (now_ms, row.token_hash, now_ms, now_ms + LINK_MS),
        )
        == 1
    )


# Sessions --------------------------------------------------------------------------------------------


def open_(tx: Tx, row: SessionRow) -> None:
    """Begin a session; some whose time is over, and the member's oldest beyond SESSIONS_MAX, go."""
    tx.run(_FORGET_SESSIONS, (row.created_at, ENDED_AT_ONCE))
    tx.run(
        f"INSERT INTO console_sessions ({columns(SessionRow)}) VALUES ({', '.join('?' for _ in row)})",
        tuple(row),
    )
    tx.run(
        """DELETE FROM console_sessions WHERE member_id = :member AND id NOT IN (
             SELECT id FROM console_sessions WHERE member_id = :member AND last_used_at < :ahead
             ORDER BY id DESC LIMIT :most)""",
        {"member": row.member_id, "ahead": row.created_at + IDLE_MS, "most": SESSIONS_MAX},
    )


def by_hash(tx: Tx, token_hash: bytes, now_ms: int) -> OpenSession | None:
    """The open session with that hash, and whose it is; None: there is none, or its time is over."""
    row = tx.one(
        f"""SELECT s.id, s.organization_id, o.name, m.id, m.email, m.name, m.role, s.last_used_at
            FROM console_sessions s JOIN members m ON m.id = s.member_id AND m.organization_id = s.organization_id
              JOIN organizations o ON o.id = s.organization_id
            WHERE s.token_hash = :hash AND {_OPEN}""",
        {"hash": token_hash, "now_ms": now_ms, "idle_ms": IDLE_MS},
    )
    return OpenSession(*row) if row else None


def touch(tx: Tx, session_id: str, now_ms: int) -> None:
    """Note that the session was used."""
    tx.run("UPDATE console_sessions SET last_used_at = ? WHERE id = ?", (now_ms, session_id))


def is_open(tx: Tx, session_id: str) -> bool:
    """False when it was revoked. Its time is asked for where it comes in (`by_hash`)."""
    return tx.one("SELECT 1 FROM console_sessions WHERE id = ?", (session_id,)) is not None


def ended_among(tx: Tx, session_ids: Collection[str]) -> set[str]:
    """Those of these sessions that were revoked."""
    rows = tx.all(
        f"""SELECT one.value FROM {elements("?")} one
            WHERE NOT EXISTS (SELECT 1 FROM console_sessions WHERE id = one.value)""",
        (dump(sorted(session_ids)),),
    )
    return {row[0] for row in rows}


def list_sessions(
    tx: Tx, organization_id: str, now_ms: int, limit: int, member_id: str | None = None
) -> list[ListedSession]:
    """The open sessions of the member (None: of all), newest first."""
    owner = "s.organization_id = :organization"
    if member_id is not None:
        owner = f"s.member_id = :member AND {unindexed('s.organization_id')} = :organization"
    rows = tx.all(
        f"""SELECT s.id, s.member_id, m.email, s.created_at, s.last_used_at, s.expires_at, s.address, s.user_agent
            FROM console_sessions s JOIN members m ON m.id = s.member_id
            WHERE {owner} AND {_OPEN} ORDER BY s.id DESC LIMIT :limit""",
        {
            "organization": organization_id,
            "member": member_id,
            "now_ms": now_ms,
            "idle_ms": IDLE_MS,
            "limit": limit,
        },
    )
    return [ListedSession(*row) for row in rows]


def end(tx: Tx, organization_id: str, session_id: str, member_id: str | None = None) -> str | None:
    """Revoke it: from this commit on it opens nothing. Whose it was; None where the organization, or the member (where
    one is named), does not have it."""
    row = tx.one(
        """DELETE FROM console_sessions
           WHERE id = :id AND organization_id = :organization AND (:member IS NULL OR member_id = :member)
           RETURNING member_id""",
        {"id": session_id, "organization": organization_id, "member": member_id},
    )
    return row[0] if row else None


def end_all(tx: Tx, member_id: str) -> None:
    """Revoke all sessions of the member, and all links."""
    tx.run("DELETE FROM console_sessions WHERE member_id = ?", (member_id,))
    tx.run("DELETE FROM console_links WHERE member_id = ?", (member_id,))
