"""The queue's statements: what is leased, in which order, and what is stepped over."""

from pathlib import Path
from typing import Any

import pytest

from maild.message.fields.address import suppression_keys
from storage import usage
from storage.sending import leases, outbound, settlements, suppressions
from storage.sending.leases import FullLines, Leased, QueuePlace
from storage.sending.settlements import RecipientSettlement
from tests.support.worlds.store import ORGANIZATION, Store


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


BUSY = FullLines(destinations=frozenset({"busy.test"}))


async def lease(
    store: Store, limit: int = 100, full: FullLines = FullLines(), since: QueuePlace = QueuePlace()
) -> Leased:
    now_ms = store.clock.now_ms()
    return await store.db.write(
        leases.lease, "run_1", now_ms, limit, lambda n, at: now_ms + n * 1000, full, since
    )


async def test_a_row_is_leased_once_with_its_attempt_counted(store: Store) -> None:
    message_id = await store.send("You@There.TEST.")
    (due,) = (await lease(store)).rows
    assert (due.message_id, due.domain, due.attempts, due.status) == (message_id, "there.test", 1, "queued")
    assert due.next_attempt_at == store.clock.now_ms() + 1000
    assert due.data is not None and due.data.startswith(b"From: ")
    assert (await lease(store)).rows == []
    (row,) = await store.recipients(message_id)
    assert (row.attempts, row.next_attempt_at, row.last_attempt_at) == (
        1,
        due.next_attempt_at,
        store.clock.now_ms(),
    )


async def test_a_large_message_does_not_come_with_its_lease(store: Store) -> None:
    await store.send("you@there.test", raw=b"x" * (leases.LEASED_BLOB_BYTES + 1))
    assert (await lease(store)).rows[0].data is None


async def test_what_is_due_later_is_told(store: Store) -> None:
    await store.send("you@there.test")
    await lease(store)
    await store.db.write(leases.free_all)
    leased = await lease(store)
    assert (leased.rows, leased.next_due_at) == ([], store.clock.now_ms() + 1000)


async def stand_in_line(store: Store, rows: int, due_ms: int, apart_ms: int) -> None:
    """So many recipients more of one message to a destination that is busy."""
    sql = """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
        next_attempt_at, expires_at) VALUES (?, ?, ?, 'u@busy.test', 'busy.test', 'to', 'queued', ?, ?)"""
    message_id = await store.send("you@busy.test")

    def many(tx: Any) -> None:
        for number in range(rows):
            due = due_ms + number * apart_ms
            tx.run(sql, (message_id, number + 1, ORGANIZATION, due, due))

    await store.db.write(many)


@pytest.mark.parametrize("apart_ms", [1, 0])
async def test_full_lines_are_stepped_over_a_part_at_a_time(store: Store, apart_ms: int) -> None:
    """Also where all of them are due at one moment, as what an operator releases is."""
    early = store.clock.now_ms() - 100_000
    await stand_in_line(store, outbound.SCAN_ROWS + 5, early, apart_ms)
    other = await store.send("you@there.test")
    leased = await lease(store, full=BUSY)
    assert leased.rows == []
    assert leased.scanned_to is not None
    assert leased.scanned_to.due_at == early + (outbound.SCAN_ROWS - 1) * apart_ms
    leased = await lease(store, full=BUSY, since=leased.scanned_to)
    assert [due.message_id for due in leased.rows] == [other]
    assert leased.scanned_to is None


async def test_a_line_is_full_for_all_for_an_organization_or_for_one_at_a_destination(store: Store) -> None:
    await store.send("you@busy.test")
    await store.send("you@there.test")
    pairs = frozenset({(ORGANIZATION, "busy.test"), ("org_other", "there.test")})
    for full, found in (
        (FullLines(organizations=frozenset({ORGANIZATION})), []),
        (FullLines(organizations=frozenset({"org_other"}), pairs=pairs), ["there.test"]),
        (FullLines(destinations=frozenset({"there.test"})), ["busy.test"]),
    ):
        assert [due.domain for due in (await lease(store, full=full)).rows] == found


async def test_given_back_is_as_if_never_leased(store: Store) -> None:
    await store.send("you@there.test")
    (due,) = (await lease(store)).rows
    await store.db.write(leases.give_back, [(due.message_id, due.position)], store.clock.now_ms())
    (again,) = (await lease(store)).rows
    assert again == due
    assert await store.db.read(outbound.depth) == 1


async def test_no_status_changes_but_along_the_table(store: Store) -> None:
    await store.send("you@there.test")
    (due,) = (await lease(store)).rows
    facts = (None, 250, None, "ok", None, 1)
    backwards = RecipientSettlement(due.message_id, 0, "delivered", "queued", "x", 1, None, *facts)
    with pytest.raises(ValueError, match="can't go from delivered to queued"):
        await store.db.write(settlements.settle, backwards, 0)
    right = RecipientSettlement(due.message_id, 0, "queued", "delivered", "delivered", 1, None, *facts)
    assert await store.db.write(settlements.settle, right, 0)
    assert not await store.db.write(settlements.settle, right, 0)


@pytest.mark.parametrize(
    ("address", "domain"), [("a@B.test", "b.test"), ("é@bücher.TEST", "xn--bcher-kva.test"), ("a@x.", "x")]
)
def test_destinations_are_a_labels(address: str, domain: str) -> None:
    assert outbound.destination(address) == domain


@pytest.mark.parametrize(
    ("address", "suppressed"),
    [
        ("You@There.TEST", "you@there.test"),
        ("JOSÉ@bücher.test", "josé@xn--bcher-kva.test"),
        ("jose\u0301@bücher.test", "josé@xn--bcher-kva.test"),
        ("STRASSE.ß@x.test", "strasse.ss@x.test"),
        ('"you"@x.test', "you@x.test"),
        ("you@x.test.", "you@x.test"),
        ("You+tag@x.test", "you@x.test"),
    ],
)
async def test_an_address_is_suppressed_however_it_is_written(
    store: Store, address: str, suppressed: str
) -> None:
    assert suppressed in suppression_keys(address)
    await store.send(address, "another@there.test")
    await store.send(address, mode="test")
    await store.db.write(
        suppressions.add, "sup_1", 1, organization_id=ORGANIZATION, email=suppressed, reason="manual",
        source="api",
    )  # fmt: skip
    rows = (await lease(store)).rows
    now = await store.db.read(leases.look_again, rows, suppression_keys)
    assert [(due.address, due.mode) for due in now.suppressed] == [(address, "live")]
    assert {(due.address, due.mode) for due in now.willing} == {
        ("another@there.test", "live"),
        (address, "test"),
    }


async def test_suppressing_twice_keeps_the_first(store: Store) -> None:
    async def add(suppression_id: str, reason: str) -> str:
        return await store.db.write(
            suppressions.add,
            suppression_id,
            1,
            organization_id=ORGANIZATION,
            email="a@x.test",
            reason=reason,
            source="api",
        )

    assert await add("sup_1", "manual") == "sup_1"
    assert await add("sup_2", "complaint") == "sup_1"
    (found,) = await store.db.read(suppressions.find, ORGANIZATION, ["a@x.test", "b@x.test"])
    assert (found.id, found.reason) == ("sup_1", "manual")
    assert await store.db.read(suppressions.find, "org_2", ["a@x.test"]) == []


async def test_counters_add_up_and_never_fall_below_zero(store: Store) -> None:
    for _ in range(2):
        await store.db.write(usage.add, ORGANIZATION, "2026-11-21", "messages")
    await store.db.write(usage.give_back, ORGANIZATION, "2026-11-21", "messages", 5)
    await store.db.write(usage.give_back, ORGANIZATION, "2026-11-22", "messages")
    assert await store.db.read(usage.get, ORGANIZATION, "2026-11-21", "messages") == 0
    assert await store.scalar("SELECT count(*) FROM usage") == 1
