"""What a plan allows (storage/tenants/allowances.py): up to its numbers, from the moment they are reached on no
more."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage import usage
from storage.clock import DAY_MS, day_of, month_of, next_day_ms, next_month_ms
from storage.tenants import allowances
from storage.tenants.allowances import UsedUp
from tests.support.worlds.store import INBOX, ORGANIZATION, Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def sent(store: Store, count: int) -> int:
    """So many messages were counted now; when that is."""
    now_ms = store.clock.now_ms()
    for period in (day_of(now_ms), month_of(now_ms)):
        await store.db.write(usage.add, ORGANIZATION, period, "messages", count)
    return now_ms


async def test_of_the_allowances_of_day_and_month_the_one_that_lasts_longer_is_told(store: Store) -> None:
    now_ms = await sent(store, 2)
    await store.db.read(allowances.message, ORGANIZATION, 3, 3, now_ms)
    for daily, monthly, resource, resets_at in (
        (2, 3, "messagesDaily", next_day_ms(now_ms)),
        (2, 2, "messagesMonthly", next_month_ms(now_ms)),
        (3, 1, "messagesMonthly", next_month_ms(now_ms)),
        (None, 2, "messagesMonthly", next_month_ms(now_ms)),
    ):
        with pytest.raises(UsedUp) as reached:
            await store.db.read(allowances.message, ORGANIZATION, daily, monthly, now_ms)
        found = reached.value
        assert (found.resource, found.used, found.resets_at) == (resource, 2, resets_at)
        assert found.limit == (monthly if resource == "messagesMonthly" else daily)


async def test_a_message_counts_for_the_day_that_it_leaves_on(store: Store) -> None:
    now_ms = await sent(store, 2)
    await store.db.read(allowances.message, ORGANIZATION, 2, None, now_ms + DAY_MS)


async def test_what_no_day_gives_has_no_time_at_which_it_is_there(store: Store) -> None:
    refused = (
        lambda tx: allowances.message(tx, ORGANIZATION, 0, None, 0),
        lambda tx: allowances.message(tx, ORGANIZATION, None, 0, 0),
        lambda tx: allowances.spend(tx, ORGANIZATION, 0, 0),
        lambda tx: allowances.first_time_recipients(tx, INBOX, ["a@new.test"], 0, 0),
        lambda tx: allowances.first_time_recipients(tx, INBOX, ["a@new.test", "b@new.test"], 1, 0),
    )
    for check in refused:
        with pytest.raises(UsedUp) as reached:
            await store.db.read(check)
        assert reached.value.resets_at is None


async def test_spending_pauses_at_its_threshold(store: Store) -> None:
    now_ms = await sent(store, 5)
    await store.db.read(allowances.spend, ORGANIZATION, 6, now_ms)
    with pytest.raises(UsedUp) as reached:
        await store.db.read(allowances.spend, ORGANIZATION, 5, now_ms)
    assert (reached.value.resource, reached.value.resets_at) == ("spend", next_month_ms(now_ms))


async def test_nothing_is_the_limit_of_nothing_and_none_is_no_limit(store: Store) -> None:
    checks = (
        allowances.inbox,
        allowances.open_draft,
        allowances.webhook,
        allowances.domain,
        allowances.stored_bytes,
    )
    for check in checks:
        await store.db.read(check, ORGANIZATION, None)
        with pytest.raises(UsedUp) as reached:
            await store.db.read(check, ORGANIZATION, 0)
        assert reached.value.resets_at is None
    await store.db.read(allowances.message, ORGANIZATION, None, None, 0)
    await store.db.read(allowances.spend, ORGANIZATION, None, 0)


async def test_who_receives_is_full_at_the_bytes_of_the_plan(store: Store) -> None:
    await store.send("a@there.test")
    kept = await store.db.read(usage.kept_bytes, ORGANIZATION)
    assert kept > 0
    for limit, is_full in ((kept, True), (kept + 1, False), (None, False)):
        limits = {"selfhost": limit}
        assert await store.db.read(allowances.is_full, ORGANIZATION, limits.__getitem__) is is_full
    await store.db.read(allowances.stored_bytes, ORGANIZATION, kept + 1)
    with pytest.raises(UsedUp, match="storageBytes"):
        await store.db.read(allowances.stored_bytes, ORGANIZATION, kept)
