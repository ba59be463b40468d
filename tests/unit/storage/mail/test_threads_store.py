"""What a conversation keeps and what finding one costs, however much strangers bring (storage/mail/threads.py)."""

import sqlite3
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path

import pytest

from storage.engine.tx import Tx
from storage.mail import threads
from storage.mail.threads import NAMES_MAX, PARTICIPANT_CHARS, PARTICIPANTS_MAX, SUBJECT_LOOK
from storage.records import dump, load
from tests.support.worlds.store import INBOX, ORGANIZATION, THREAD, Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def join(store: Store, *people: str) -> list[str]:
    """One more message of these people; the participants after it."""

    def unit(tx: Tx) -> list[str]:
        threads.join(tx, THREAD, store.clock.now_ms(), snippet="", participants=people, is_unread=True)
        return list(load(tx.value("SELECT participants FROM threads WHERE id = ?", (THREAD,))))

    return await store.db.write(unit)


def people(first: int, count: int) -> list[str]:
    return [f"p{number}@there.test" for number in range(first, first + count)]


async def test_participants_stand_in_the_order_in_which_they_came(store: Store) -> None:
    assert await join(store, "ada@a.test", "bot@b.test") == ["ada@a.test", "bot@b.test"]
    assert await join(store, "bot@b.test", "eve@c.test") == ["ada@a.test", "bot@b.test", "eve@c.test"]


async def test_the_latest_fifty_are_kept_and_those_of_this_message_among_them(store: Store) -> None:
    await join(store, "ada@a.test", *people(0, 30))
    assert len(await join(store, *people(30, 19))) == PARTICIPANTS_MAX
    kept = await join(store, "ada@a.test", *people(49, 10))
    assert kept == ["ada@a.test", *people(10, 49)]
    assert await join(store, *people(100, 80)) == people(100, PARTICIPANTS_MAX)


async def test_what_no_mail_can_reach_is_no_participant(store: Store) -> None:
    long = "x" * PARTICIPANT_CHARS + "@there.test"
    assert await join(store, long, "ada@a.test") == ["ada@a.test"]


async def test_a_conversation_keeps_the_names_that_it_got_first(store: Store) -> None:
    """Whoever writes chooses what the References begin with, and all of them go with their conversation at once."""

    def unit(tx: Tx) -> list[str]:
        for number in range(NAMES_MAX + 5):
            threads.name(tx, INBOX, THREAD, f"<{number:03}@desk.test>")
        return [row[0] for row in tx.all("SELECT name FROM thread_names WHERE thread_id = ?", (THREAD,))]

    assert await store.db.write(unit) == [f"<{number:03}@desk.test>" for number in range(NAMES_MAX)]


async def test_a_row_of_before_is_cut_when_it_is_touched(store: Store) -> None:
    await overfill(store)
    assert await join(store, "ada@a.test") == [*people(951, PARTICIPANTS_MAX - 1), "ada@a.test"]


async def test_the_migration_cuts_all_of_them(store: Store) -> None:
    await overfill(store)
    sql = (resources.files("storage") / "migrations" / "0010_participants.sql").read_text("utf-8")
    await store.db.write(lambda tx: tx.run(sql))
    kept = await store.db.read(
        lambda tx: tx.value("SELECT participants FROM threads WHERE id = ?", (THREAD,))
    )
    assert load(kept) == people(950, PARTICIPANTS_MAX)


async def overfill(store: Store) -> None:
    many = dump([*people(0, 1000), "x" * 900])
    await store.db.write(
        lambda tx: tx.run("UPDATE threads SET participants = ? WHERE id = ?", (many, THREAD))
    )


class Steps:
    """How many steps of SQLite's machine a unit takes."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self.taken = 0

    def _count(self) -> int:
        self.taken += 1
        return 0

    def of(self, *arguments: object) -> tuple[str | None, int]:
        self.taken = 0
        self._conn.set_progress_handler(self._count, 1)
        found = threads.by_subject(Tx(self._conn), *arguments)  # type: ignore[arg-type]
        self._conn.set_progress_handler(None, 1)
        return found, self.taken


async def test_only_the_newest_conversations_of_a_subject_are_looked_at(store: Store) -> None:
    now_ms = store.clock.now_ms()

    def begin(tx: Tx, first: int, count: int) -> None:
        for number in range(first, first + count):
            threads.begin(
                tx, f"thd_{number:05}", now_ms + number, organization_id=ORGANIZATION, inbox_id=INBOX,
                subject="Re: offer", base_subject="offer", snippet="", participants=[f"p{number}@there.test"],
                is_unread=False,
            )  # fmt: skip

    conn = store.db._local.raw
    steps = Steps(conn)
    await store.db.write(begin, 0, 2 * SUBJECT_LOOK)
    asked = (INBOX, "offer", "stranger@there.test", now_ms)
    steps.of(*asked)  # SQLite 3.41 and later counts preparing as well
    nobody, taken = steps.of(*asked)
    assert nobody is None
    await store.db.write(begin, 2 * SUBJECT_LOOK, 2 * SUBJECT_LOOK)
    assert steps.of(*asked) == (None, taken)
    newest = 4 * SUBJECT_LOOK - 1
    assert steps.of(INBOX, "offer", f"p{newest}@there.test", now_ms)[0] == f"thd_{newest:05}"
    assert steps.of(INBOX, "offer", f"p{newest - 99}@there.test", now_ms)[0] == f"thd_{newest - 99:05}"
    assert steps.of(INBOX, "offer", f"p{newest - 100}@there.test", now_ms)[0] is None
