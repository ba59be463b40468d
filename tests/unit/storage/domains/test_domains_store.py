"""Registrations of domains in the store: whose they are, and which of them are looked at when."""

from collections.abc import Callable

import pytest

from storage.domains import domains
from storage.domains.domains import DomainRow
from storage.engine.tx import Tx
from tests.support.worlds import memory_store

OURS, THEIRS = "org_1", "org_2"
NOW_MS, HOUR_MS = 10_000_000, 3_600_000


@pytest.fixture
def tx() -> Tx:
    return memory_store.with_organizations(OURS, THEIRS)


def registered(tx: Tx, name: str, owner: str = OURS, at_ms: int = 0) -> DomainRow:
    return domains.register(
        tx, f"dom_{name}", at_ms, organization_id=owner, domain_name=f"{name}.test", challenge="c", daily_cap=None
    )  # fmt: skip


def verified(tx: Tx, name: str, checked_at: int | None) -> DomainRow:
    before = registered(tx, name)
    assert domains.update(
        tx, before, before._replace(status="verified", failing_since=None, last_checked_at=checked_at)
    )
    found = domains.get(tx, OURS, before.id)
    assert found is not None
    return found


def names(rows: list[DomainRow]) -> list[str]:
    return [row.domain_name.removesuffix(".test") for row in rows]


def test_one_that_was_deleted_counts_no_more(tx: Tx) -> None:
    kept, gone = registered(tx, "kept"), registered(tx, "gone")
    registered(tx, "theirs", THEIRS)
    assert domains.count(tx, OURS) == 2
    assert domains.delete(tx, OURS, gone.id, NOW_MS) is not None
    assert domains.count(tx, OURS) == 1
    assert domains.of_organization(tx, OURS) == [kept]
    assert domains.status_for(tx, OURS, gone.domain_name) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda tx, owner, id: domains.set_daily_cap(tx, owner, id, 5),
        lambda tx, owner, id: domains.delete(tx, owner, id, NOW_MS),
    ],
    ids=["cap", "delete"],
)
def test_a_change_is_of_one_domain_of_its_organization(
    tx: Tx, change: Callable[[Tx, str, str], DomainRow | None]
) -> None:
    one, other, theirs = registered(tx, "one"), registered(tx, "other"), registered(tx, "theirs", THEIRS)
    assert change(tx, THEIRS, one.id) is None
    changed = change(tx, OURS, one.id)
    assert changed is not None and changed.id == one.id and changed != one
    assert domains.get(tx, OURS, other.id) == other
    assert domains.get(tx, THEIRS, theirs.id) == theirs


def test_a_check_writes_over_no_status_but_the_one_it_saw(tx: Tx) -> None:
    before = registered(tx, "one")
    assert domains.delete(tx, OURS, before.id, NOW_MS) is not None
    assert not domains.update(tx, before, before._replace(status="verified"))
    assert domains.verified_by(tx, before.domain_name) is None


def test_verified_ones_are_due_an_hour_after_their_check_the_longest_unchecked_first(tx: Tx) -> None:
    for name, checked_at in (
        ("just", NOW_MS - HOUR_MS),
        ("lately", NOW_MS - HOUR_MS + 1),
        ("never", None),
        ("ahead", NOW_MS + HOUR_MS),  # of a clock that was set back
        ("long_ago", NOW_MS - 2 * HOUR_MS),
    ):
        verified(tx, name, checked_at)
    registered(tx, "pending")
    due = domains.due_for_check(tx, NOW_MS, HOUR_MS, limit=9)
    assert names(due) == ["never", "long_ago", "just", "ahead"]
    assert names(domains.due_for_check(tx, NOW_MS, HOUR_MS, 2, [due[0].id])) == ["long_ago", "just"]


def test_pending_ones_are_overdue_since_they_may_be_verified_again(tx: Tx) -> None:
    registered(tx, "young", at_ms=NOW_MS + 1)
    old = registered(tx, "old", at_ms=NOW_MS)
    verified(tx, "verified", 0)
    asked_again = registered(tx, "again", at_ms=0)
    assert domains.update(tx, asked_again, asked_again._replace(failing_since=NOW_MS + 1))
    never_asked = registered(tx, "never_asked", at_ms=NOW_MS)
    assert domains.update(tx, never_asked, never_asked._replace(failing_since=None))
    assert names(domains.pending_since(tx, NOW_MS, limit=9)) == ["old", "never_asked"]
    assert names(domains.pending_since(tx, NOW_MS, 9, [old.id])) == ["never_asked"]
