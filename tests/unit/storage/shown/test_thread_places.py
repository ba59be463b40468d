"""The order in which threads are looked at: whatever lies between those that are wanted, each comes once."""

from collections.abc import Sequence
from itertools import product

import pytest

from storage.engine.tx import Tx
from storage.searching.labels import Owner, ThreadPlace, WantedThreads
from storage.shown import thread_json
from tests.support.laws.vm_steps import steps_of
from tests.support.worlds import memory_store

THREADS = 40
KINDS = list(product((None, "inb_1"), (True, False), (None, True, False)))


def with_threads(count: int) -> Tx:
    """Every third is unread, but for the newest ten; every fourth archived, every fifth of another inbox. Two at a
    time share their moment."""
    tx = Tx(memory_store.with_inboxes())
    rows = [
        (
            f"thd_{n:05}",
            f"inb_{1 + (n % 5 == 0)}",
            int(n % 3 == 0 and n < count - 10),
            n // 2,
            int(n % 4 == 0),
        )
        for n in range(count)
    ]
    tx.run_many(
        """INSERT INTO threads (id, organization_id, inbox_id, subject, base_subject, snippet, participants,
             message_count, unread_count, last_message_at, is_archived, created_at)
           VALUES (?, 'org_1', ?, '', '', '', '[]', 1, ?, ?, ?, 0)""",
        rows,
    )
    return tx


def expected(tx: Tx, wanted: WantedThreads) -> list[ThreadPlace]:
    rows = tx.all("SELECT last_message_at, id, inbox_id, unread_count, is_archived FROM threads")
    return sorted(
        (
            ThreadPlace(at_ms, thread_id)
            for at_ms, thread_id, inbox_id, unread, archived in rows
            if wanted.owner.inbox_id in (None, inbox_id)
            and bool(unread) is wanted.is_unread
            and wanted.is_archived in (None, bool(archived))
        ),
        reverse=True,
    )


def all_places(tx: Tx, wanted: WantedThreads, size: int) -> Sequence[ThreadPlace]:
    found: list[ThreadPlace] = []
    at: ThreadPlace | None = thread_json.FIRST
    while at is not None:
        places, at = thread_json.places(tx, wanted, at, size)
        assert len(places) <= size
        found += places
    return found


@pytest.mark.parametrize("walked", [1, 3, 7, 1000])
@pytest.mark.parametrize("size", [1, 4])
def test_each_that_is_unread_or_is_not_comes_once(
    monkeypatch: pytest.MonkeyPatch, walked: int, size: int
) -> None:
    monkeypatch.setattr(thread_json, "WALKED", walked)
    tx = with_threads(THREADS)
    for inbox_id, is_unread, is_archived in KINDS:
        wanted = WantedThreads(Owner("org_1", inbox_id), (), is_unread, is_archived)
        assert all_places(tx, wanted, size) == expected(tx, wanted), wanted


def test_an_inbox_of_another_organization_has_none() -> None:
    tx = with_threads(THREADS)
    wanted = WantedThreads(Owner("org_2", "inb_1"), (), True)
    assert thread_json.places(tx, wanted, thread_json.FIRST, THREADS) == ([], None)


@pytest.mark.parametrize("inbox_id", [None, "inb_1"])
def test_one_look_passes_over_so_many_at_most(monkeypatch: pytest.MonkeyPatch, inbox_id: str | None) -> None:
    monkeypatch.setattr(thread_json, "WALKED", 10)
    wanted = WantedThreads(Owner("org_1", inbox_id), (), True)

    def steps(count: int) -> int:
        tx = with_threads(count)
        tx.run("UPDATE threads SET unread_count = 0")
        connection = tx._execute.__self__  # type: ignore[attr-defined]
        return steps_of(connection, lambda: thread_json.places(tx, wanted, thread_json.FIRST, 5))

    assert steps(2000) <= steps(200) + 10
