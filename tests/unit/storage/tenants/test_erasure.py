"""What an organization leaves behind (storage/tenants/erasure.py): every table of the schema has its place there."""

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from storage.engine.tx import Tx
from storage.sending import suppressions
from storage.tenants import erasure
from storage.tenants.erasure import FAMILIES, KEPT
from tests.support.worlds import memory_store
from tests.support.worlds.store import ORGANIZATION, Store

STEPS = (
    erasure.WITH_MESSAGES,
    erasure.WITH_THREADS,
    erasure.WITH_INBOXES,
    erasure.WITH_DOMAINS,
    erasure.WITH_MEMBERS,
    erasure.WITH_ORGANIZATION,
)


@pytest.fixture
def schema() -> sqlite3.Connection:
    return memory_store.empty()


def tables(schema: sqlite3.Connection) -> set[str]:
    return {name for (name,) in schema.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_every_table_is_erased_in_one_place_or_kept_for_a_reason(schema: sqlite3.Connection) -> None:
    placed = [family.table for family in FAMILIES] + [name for step in STEPS for name in step] + [*KEPT]
    assert sorted(placed) == sorted(tables(schema)), (
        "give a new table its place in storage/tenants/erasure.py"
    )
    assert all(KEPT.values())


def test_what_goes_with_a_message_or_a_thread_is_deleted_by_the_store(schema: sqlite3.Connection) -> None:
    with_them = {"messages": erasure.WITH_MESSAGES - {"messages", "blobs"}, "threads": erasure.WITH_THREADS}
    for of, table in ((of, table) for of, hanging in with_them.items() for table in hanging):
        keys = schema.execute(f"PRAGMA foreign_key_list({table})").fetchall()
        assert (of, "CASCADE") in {(key[2], key[6]) for key in keys}, table


def test_rows_that_would_go_with_others_go_before_them(schema: sqlite3.Connection) -> None:
    """A slice of events would take one delivery of each for every webhook with it."""
    order = [family.table for family in FAMILIES]
    hanging = {
        (table, key[2])
        for table in order
        for key in schema.execute(f"PRAGMA foreign_key_list({table})")
        if key[6] == "CASCADE" and key[2] in order
    }
    assert ("webhook_deliveries", "events") in hanging
    assert all(order.index(table) < order.index(parent) for table, parent in hanging)


def test_no_row_that_names_an_organization_is_kept_but_in_the_audit_log(schema: sqlite3.Connection) -> None:
    for table in KEPT:
        columns = {row[1] for row in schema.execute(f"PRAGMA table_info({table})")}
        assert "organization_id" not in columns or table in {"audit", "audit_waiting"}, table


def test_a_slice_of_inboxes_does_not_sort_all_of_them(schema: sqlite3.Connection) -> None:
    asked: list[str] = []
    schema.set_trace_callback(asked.append)
    erasure.remove_inboxes(Tx(schema), "org_1", 200)
    schema.set_trace_callback(None)
    (found,) = [one for one in asked if "FROM inboxes" in one]
    plan = [row[3] for row in schema.execute(f"EXPLAIN QUERY PLAN {found}")]
    assert len(plan) == 1 and "inboxes_by_organization" in plan[0]


async def test_a_slice_of_messages_ends_when_its_time_is_over_however_little_it_has_removed(
    tmp_path: Path,
) -> None:
    """Twenty with 150 recipients each, tried for days, kept everybody from writing for a tenth of a second."""
    store = await Store.open(tmp_path)
    for _ in range(4):
        await store.send("you@there.test")
    looks = iter([False, True, True])
    end = partial(erasure.remove_messages, is_over=lambda: next(looks))
    slices = [await store.db.write(end, ORGANIZATION) for _ in range(2)]
    assert [(done.rows, done.has_more) for done in slices] == [(2, True), (1, True)]
    assert await store.scalar("SELECT count(*) FROM messages") == 1
    slices = [await store.db.write(erasure.remove_messages, ORGANIZATION, lambda: True) for _ in range(2)]
    assert [(done.rows, done.has_more) for done in slices] == [(1, True), (0, False)]
    await store.close()


async def test_a_slice_of_rows_does(tmp_path: Path) -> None:
    """Five hundred drafts of a megabyte kept everybody from writing for seven seconds."""
    store = await Store.open(tmp_path)

    def suppress(tx: Tx) -> None:
        for number in range(4):
            suppressions.add(
                tx, f"sup_{number}", 0,
                organization_id=ORGANIZATION, email=f"{number}@there.test", reason="manual", source="api",
            )  # fmt: skip

    await store.db.write(suppress)
    (family,) = [one for one in FAMILIES if one.table == "suppressions"]
    looks = iter([False, True, True])
    slices = [
        await store.db.write(erasure.remove, ORGANIZATION, family, limit, lambda: next(looks))
        for limit in (500, 1)
    ]
    assert [(done.rows, done.has_more) for done in slices] == [(3, True), (1, True)]
    assert await store.db.write(erasure.remove, ORGANIZATION, family, 500, lambda: True) == (0, False, ())
    await store.close()
