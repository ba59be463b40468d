"""What checks do to a domain's status, and when."""

from collections.abc import Mapping
from typing import Any

import pytest

from controlplane.domains.lifecycle import WINDOW_MS, after_check, is_overdue
from storage.clock import DAY_MS
from storage.domains.domains import DomainRow

NOW = 1_790_000_000_000
HOUR_MS = 3_600_000
ALL: dict[str, bool | None] = {"ownership": True, "mx": True, "spf": True, "dkim": True, "dmarc": False}
FAILING = ALL | {"mx": False}
NOTHING: dict[str, bool | None] = dict.fromkeys(ALL, None)


def domain(status: str = "pending", failing_since: int | None = NOW) -> DomainRow:
    return DomainRow(
        id="dom_1",
        organization_id="org_1",
        domain_name="acme.test",
        status=status,
        challenge="abc",
        ownership_status=0,
        mx_status=0,
        spf_status=0,
        dkim_status=0,
        dmarc_status=0,
        observed="{}",
        daily_cap=None,
        verified_at=NOW - 5 if status == "verified" else None,
        last_checked_at=None,
        failing_since=failing_since,
        created_at=NOW,
    )


@pytest.mark.parametrize("status", ["pending", "failed"])
@pytest.mark.parametrize("on_request", [True, False])
def test_all_that_is_required_verifies(status: str, on_request: bool) -> None:
    after = after_check(domain(status), ALL, NOW + 1, on_request=on_request)
    assert (after.status, after.verified_at, after.failing_since) == ("verified", NOW + 1, None)
    assert (after.mx_status, after.dmarc_status, after.last_checked_at) == (1, 0, NOW + 1)


@pytest.mark.parametrize("purpose", ["ownership", "mx", "spf", "dkim"])
@pytest.mark.parametrize("outcome", [False, None])
def test_one_that_is_missing_or_unknown_does_not(purpose: str, outcome: bool | None) -> None:
    known: dict[str, Any] = {f"{purpose}_status": 1}
    before = domain()._replace(**known)
    after = after_check(before, ALL | {purpose: outcome}, NOW + 1, on_request=True)
    assert (after.status, after.verified_at) == ("pending", None)
    # What nobody knows stays as it was last seen.
    assert getattr(after, f"{purpose}_status") == (1 if outcome is None else 0)


def test_a_verified_domain_keeps_its_date() -> None:
    after = after_check(domain("verified", NOW - 5), ALL, NOW, on_request=False)
    assert (after.status, after.verified_at, after.failing_since) == ("verified", NOW - 5, None)


def hourly(
    row: DomainRow, begin_ms: int, end_ms: int, found: Mapping[str, bool | None] = FAILING
) -> DomainRow:
    """After checks from `begin_ms` on, before `end_ms`, which it fails."""
    for at_ms in range(begin_ms, end_ms, HOUR_MS):
        row = after_check(row, found, at_ms, on_request=False)
    return row


def test_a_verified_domain_fails_after_72_hours_of_failing() -> None:
    row = hourly(domain("verified", None), NOW, NOW + WINDOW_MS)
    assert (row.status, row.mx_status, row.failing_since) == ("verified", 0, NOW)
    row = after_check(row, FAILING, NOW + WINDOW_MS - 1, on_request=False)
    assert (row.status, row.failing_since) == ("verified", NOW)
    row = after_check(row, FAILING, NOW + WINDOW_MS, on_request=False)
    assert (row.status, row.verified_at) == ("failed", None)


@pytest.mark.parametrize("failed_hours", [1, 60])
def test_hours_in_which_nobody_looked_are_none_of_them(failed_hours: int) -> None:
    """The host was off for six days, and DNS may be as little up as it is when it comes back."""
    off_at, on_at = NOW + failed_hours * HOUR_MS, NOW + 6 * DAY_MS
    row = hourly(domain("verified", None), NOW, off_at)
    soon_over_at = on_at + (70 - failed_hours) * HOUR_MS
    row = hourly(row, on_at, soon_over_at)
    assert row.status == "verified"
    assert hourly(row, soon_over_at, on_at + 73 * HOUR_MS).status == "failed"


@pytest.mark.parametrize("failed_hours", [1, 60])
def test_hours_in_which_no_resolver_answered_are_none_of_them(failed_hours: int) -> None:
    """The host's network was away for six days, and what failed before still does."""
    away_at, back_at = NOW + failed_hours * HOUR_MS, NOW + 6 * DAY_MS
    row = hourly(domain("verified", None), NOW, away_at)
    row = hourly(row, away_at, back_at, NOTHING)
    soon_over_at = back_at + (70 - failed_hours) * HOUR_MS
    row = hourly(row, back_at, soon_over_at)
    assert row.status == "verified"
    assert hourly(row, soon_over_at, back_at + 73 * HOUR_MS).status == "failed"


def test_one_good_check_starts_the_72_hours_anew() -> None:
    row = after_check(domain("verified", NOW - WINDOW_MS), ALL, NOW, on_request=False)
    row = after_check(row, ALL | {"spf": False}, NOW + 1, on_request=False)
    assert (row.status, row.failing_since) == ("verified", NOW + 1)


def test_dead_resolvers_take_no_domain_away() -> None:
    before = domain("verified", NOW - 2 * WINDOW_MS)._replace(mx_status=1)
    after = after_check(before, NOTHING, NOW, on_request=False)
    assert after == before._replace(last_checked_at=NOW)


def test_dmarc_decides_nothing() -> None:
    after = after_check(domain("verified", None), ALL | {"dmarc": False}, NOW, on_request=False)
    assert (after.status, after.failing_since) == ("verified", None)


def test_a_request_re_opens_a_failed_domain_and_time_starts_anew() -> None:
    late = NOW + WINDOW_MS * 3
    after = after_check(domain("failed"), ALL | {"mx": False}, late, on_request=True)
    assert (after.status, after.failing_since) == ("pending", late)
    assert not is_overdue(after, late + WINDOW_MS - 1)
    assert is_overdue(after, late + WINDOW_MS)


def test_only_pending_domains_are_overdue() -> None:
    assert is_overdue(domain(failing_since=None), NOW + WINDOW_MS)
    assert not is_overdue(domain("verified"), NOW + WINDOW_MS)
    assert not is_overdue(domain("failed"), NOW + WINDOW_MS)
