"""Fetched TLS policies: one a domain, and no more than there is room for."""

from pathlib import Path

from storage.sending import sts_policies
from storage.sending.sts_policies import StsPolicyRow
from tests.support.worlds.store import EPOCH_MS, Store


def row(domain: str, at: int, policy_id: str = "1", age_s: int = 1000) -> StsPolicyRow:
    now = EPOCH_MS + at
    return StsPolicyRow(domain, policy_id, "enforce", f"mx.{domain}", age_s, now, now + age_s * 1000)


async def test_the_last_one_of_a_domain_counts(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    try:
        assert await store.db.read(sts_policies.find, "a.test") is None
        await store.db.write(sts_policies.keep, row("a.test", 0))
        await store.db.write(sts_policies.keep, row("a.test", 1, policy_id="2"))
        assert await store.db.read(sts_policies.find, "a.test") == row("a.test", 1, policy_id="2")
    finally:
        await store.close()


async def test_the_oldest_and_those_that_ended_make_room(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    try:
        for number in range(5):
            await store.db.write(sts_policies.keep, row(f"d{number}.test", number), kept=3)
        found = [await store.db.read(sts_policies.find, f"d{number}.test") is not None for number in range(5)]
        assert found == [False, False, True, True, True]
        await store.db.write(sts_policies.keep, row("late.test", 1_000_003), kept=10)
        found = [await store.db.read(sts_policies.find, f"d{number}.test") is not None for number in range(5)]
        assert found == [False, False, False, False, True]
    finally:
        await store.close()


async def test_all_are_seen_once_by_their_age_also_those_of_one_moment(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    try:
        for number, fetched_at in enumerate((7, 5, 5, 5, 9)):
            await store.db.write(sts_policies.keep, row(f"d{number}.test", fetched_at))
        seen: list[str] = []
        after = (-1, "")
        while page := await store.db.read(sts_policies.by_age, after, EPOCH_MS + 8, 2):
            after = page[-1].fetched_at, page[-1].domain
            seen += [one.domain for one in page]
        assert seen == ["d1.test", "d2.test", "d3.test", "d0.test"]
    finally:
        await store.close()
