"""What a check does to a domain's status (docs/contract.md, section 3). Pure.

pending → verified when all that is required passes, → failed after 72 h without it; verified → failed after
72 h of failing checks; a request to verify re-opens a failed one. What could not be looked up changes
nothing: an outage of the resolvers must not take a domain away, and its hours are none of the 72. Nor are those in
which nobody looked, because the host was off.
"""

from collections.abc import Mapping
from typing import Any

from controlplane.domains.checks import PURPOSES, REQUIRED
from storage.domains.domains import DomainRow

WINDOW_MS = 72 * 3_600_000
LOOKED_MS = 2 * 3_600_000  # between two hourly checks, at most


def after_check(
    row: DomainRow, passed: Mapping[str, bool | None], now_ms: int, *, on_request: bool
) -> DomainRow:
    """`passed`: by purpose, None where it is not known. `on_request`: the owner asked, not the hourly check."""
    known: dict[str, Any] = {
        f"{name}_status": int(value) for name in PURPOSES if (value := passed.get(name)) is not None
    }
    looked_at = row.last_checked_at
    row = row._replace(**known, last_checked_at=now_ms)
    if all(passed.get(name) for name in REQUIRED):
        verified_at = row.verified_at if row.status == "verified" else now_ms
        return row._replace(status="verified", verified_at=verified_at, failing_since=None)
    if row.status == "verified":
        is_failing = any(passed.get(name) is False for name in REQUIRED)
        return _still_verified(row, is_failing, now_ms, _unseen_ms(looked_at, now_ms, is_failing))
    if on_request and (row.status == "failed" or is_overdue(row, now_ms)):
        return row._replace(status="pending", failing_since=now_ms)
    return row


def is_overdue(row: DomainRow, now_ms: int) -> bool:
    """Has it been pending for too long?"""
    since = row.created_at if row.failing_since is None else row.failing_since
    return row.status == "pending" and now_ms - since >= WINDOW_MS


def _unseen_ms(looked_at: int | None, now_ms: int, is_failing: bool) -> int:
    """How much of the time since the last look is none of failing: all where nobody knows whether it fails, else that
    in which nobody has looked who should have."""
    seen_ms = LOOKED_MS if is_failing else 0
    return 0 if looked_at is None else max(0, now_ms - looked_at - seen_ms)


def _still_verified(row: DomainRow, is_failing: bool, now_ms: int, unseen_ms: int) -> DomainRow:
    if row.failing_since is None:
        return row._replace(failing_since=now_ms) if is_failing else row
    since = min(row.failing_since + unseen_ms, now_ms)  # of a clock set back
    if not is_failing or now_ms - since < WINDOW_MS:
        return row._replace(failing_since=since)
    return row._replace(status="failed", verified_at=None, failing_since=since)
