"""What is kept of a message is shown only while it is so (storage/shown/kept_json.py, message_json.py)."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from storage.engine.tx import Tx
from storage.mail import messages
from storage.recent import Recent
from storage.records import AttachmentRow
from storage.searching.search_scope import Scope
from storage.shown import message_json, thread_json
from storage.shown.kept_json import ENTRY_BYTES, ENTRY_BYTES_MAX, KeptJson
from storage.visibility import VISIBLE
from tests.support.worlds import memory_store
from tests.support.worlds.store import ORGANIZATION, Store

SCOPE = Scope(ORGANIZATION)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path)
    yield store
    await store.close()


@pytest.fixture
def kept() -> KeptJson:
    return KeptJson()


def listed(tx: Tx, kept: KeptJson | None) -> Any:
    """The first page; of a reader, and of the event loop where it may have it."""
    json_of = message_json.list_messages(tx, SCOPE, None, 50, kept).json
    if kept is not None:
        assert message_json.newest(tx, SCOPE, 50, kept).json == json_of
        at_hand = message_json.newest_at_hand(tx, SCOPE, 50, kept)
        assert at_hand is not None and at_hand.json == json_of
    return json.loads(b"[" + json_of + b"]")


@pytest.mark.parametrize(
    "change",
    [
        *(f"UPDATE messages SET {column} = {value}" for column, value in (
            ("status", "'failed'"), ("labels", "'[\"read\"]'"), ("failure_reason", "'x'"), ("scheduled_at", "1"),
            ("sent_at", "2"),
        )),
        *(f"UPDATE recipients SET {column} = {value}" for column, value in (
            ("status", "'deferred'"), ("attempts", "7"), ("last_attempt_at", "3"), ("next_attempt_at", "4"),
            ("remote_host", "'h'"), ("smtp_code", "250"), ("enhanced_code", "'2.0.0'"), ("response", "'ok'"),
            ("tls", "'t'"),
        )),
        "DELETE FROM recipients",
        "DELETE FROM messages",
        """INSERT INTO message_evidence (message_id, version, risk, hidden_characters, is_truncated, items)
           SELECT id, 1, 'low', 0, 0, '[]' FROM messages""",
    ],
)  # fmt: skip
async def test_a_list_shows_every_change(store: Store, kept: KeptJson, change: str) -> None:
    await store.send("you@there.test")
    before = await store.db.read(listed, kept)
    await store.db.write(lambda tx: tx.run(change))
    after = await store.db.read(listed, kept)
    assert after != before
    assert after == await store.db.read(listed, None)


@pytest.mark.parametrize(
    "change",
    [
        *(f"UPDATE threads SET {column} = {value}" for column, value in (
            ("subject", "'s'"), ("snippet", "'s'"), ("participants", "'[\"a@b.test\"]'"), ("message_count", "7"),
            ("unread_count", "7"), ("last_message_at", "1"), ("is_archived", "1"), ("created_at", "2"),
        )),
        "UPDATE messages SET labels = '[\"new\"]'",
        "UPDATE messages SET labels = '[\"new\"]' WHERE id = (SELECT min(id) FROM messages)",
        "DELETE FROM messages WHERE id = (SELECT min(id) FROM messages)",
        "DELETE FROM threads WHERE NOT EXISTS (SELECT 1 FROM messages WHERE thread_id = threads.id)",
    ],
)  # fmt: skip
async def test_a_list_of_threads_shows_every_change(store: Store, kept: KeptJson, change: str) -> None:
    def page(tx: Tx, kept: KeptJson | None) -> bytes:
        return thread_json.list_threads(tx, ORGANIZATION, limit=50, inbox_id=None, kept=kept).json

    for label in ("old", "older"):
        message_id = await store.send("you@there.test")
        labels = f'["{label}"]'
        await store.db.write(lambda tx, *given: tx.run("UPDATE messages SET labels = ? WHERE id = ?", given),
                             labels, message_id)  # fmt: skip
    await store.db.write(lambda tx: tx.run(
        """INSERT INTO threads SELECT 'thd_empty', organization_id, inbox_id, '', '', '', '[]', 0, 0, 5, 0, 5
           FROM threads"""
    ))  # fmt: skip
    before = await store.db.read(page, kept)
    assert before == await store.db.read(page, kept) == await store.db.read(page, None)
    await store.db.write(lambda tx: tx.run(change))
    after = await store.db.read(page, kept)
    assert after != before
    assert after == await store.db.read(page, None)


async def test_what_came_in_meanwhile_is_listed(store: Store, kept: KeptJson) -> None:
    for count in (1, 2, 3):
        await store.send("you@there.test")
        assert len(await store.db.read(listed, kept)) == count


async def test_a_list_renders_each_message_once(store: Store, kept: KeptJson) -> None:
    rendered: list[int] = []
    await store.send("you@there.test")

    def unit(tx: Tx) -> None:
        ask = tx.all
        counted = [sql for sql in (message_json._RENDERED,)]

        class Counting(Tx):
            __slots__ = ()

            def all(self, sql: str, *given: Any) -> Any:
                rendered.append(sql in counted)
                return ask(sql, *given)

        counting = Counting.__new__(Counting)
        for _ in range(3):
            message_json.list_messages(counting, SCOPE, None, 50, kept)

    await store.db.read(unit)
    assert rendered == [False, True, False, False]


def test_what_is_shown_can_not_change_but_for_the_state() -> None:
    shown = set(re.findall(r"\bm\.(\w+)", message_json._RENDERED))
    shown = shown - {"extracted_text"} | {"extracted_apart", "extracted_length"}  # what it is made of
    (sql,) = (row[0] for row in memory_store.empty().execute(
        "SELECT sql FROM sqlite_master WHERE name = 'messages_are_as_they_came'"
    ))  # fmt: skip
    named = re.search(r"UPDATE OF(.*?)ON messages", sql, re.DOTALL)
    assert named is not None
    # Which change once, when what was held is released: what is visible is not held, and stays in its thread.
    once = {"held_at": "messages_stay_visible", "thread_id": "messages_stay_in_their_thread"}
    assert set(re.findall(r"\w+", named[1])) == shown - set(message_json.CHANGING) - once.keys()
    for column, trigger in once.items():
        (sql,) = (
            memory_store.empty()
            .execute("SELECT sql FROM sqlite_master WHERE name = ?", (trigger,))
            .fetchone()
        )
        assert f"BEFORE UPDATE OF {column} ON messages" in sql


def test_the_state_of_a_thread_is_all_that_is_shown_of_it() -> None:
    shown = set(re.findall(r"\bt\.(\w+)", thread_json._RENDERED))
    assert {"id", *thread_json.COLUMNS} == shown
    gathered = f"SELECT labels FROM messages WHERE thread_id = t.id AND {VISIBLE} ORDER BY id DESC"
    assert thread_json._LABELS.count(gathered) == thread_json._LABELLINGS.count(gathered) == 1


@pytest.mark.parametrize(
    "sql",
    [
        messages._INSERT,
        messages._INSERT_ATTACHMENT,
        "UPDATE messages SET status = ?, sent_at = ?, failure_reason = ? WHERE id = ? AND status = ?",
        "UPDATE messages SET labels = ? WHERE id = ?",
        "UPDATE messages SET blob_id = NULL WHERE id = ?",
    ],
)
def test_a_write_pays_nothing_for_the_triggers(sql: str) -> None:
    conn = memory_store.empty()
    explained = (f"EXPLAIN {sql}", (None,) * sql.count("?"))
    steps = conn.execute(*explained).fetchall()
    for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        conn.execute(f"DROP TRIGGER {name}")
    assert len(conn.execute(*explained).fetchall()) == len(steps)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET subject = 'other'",
        "UPDATE messages SET status = 'sent', text_body = 'other'",
        "UPDATE attachments SET filename = 'other'",
        "DELETE FROM attachments",
    ],
)
async def test_the_store_refuses_what_lists_would_not_see(store: Store, change: str) -> None:
    message_id = await store.send("you@there.test")
    row = AttachmentRow("att_1", message_id, 0, "a.txt", "text/plain", 1, None, 0, 0, 1, "base64")
    await store.db.write(lambda tx: tx.run_many(messages._INSERT_ATTACHMENT, [row]))
    with pytest.raises(sqlite3.IntegrityError, match=r"change|goes with"):
        await store.db.write(lambda tx: tx.run(change))
    await store.db.write(lambda tx: tx.run("DELETE FROM messages WHERE id = ?", (message_id,)))
    assert await store.scalar("SELECT count(*) FROM attachments") == 0


def test_attachments_are_inserted_with_their_message_alone() -> None:
    root = Path(__file__).parents[4]
    places = [
        path.relative_to(root).as_posix()
        for room in ("storage", "maild", "controlplane")
        for path in (root / room).rglob("*.py")
        if "INTO attachments" in path.read_text("utf-8")
    ]
    assert places == ["storage/mail/messages.py"]
    source = (root / "storage/mail/messages.py").read_text("utf-8")
    assert source.count("_INSERT_ATTACHMENT") == 2  # its text, and `insert`


async def test_the_loop_leaves_much_work_to_a_reader(store: Store, kept: KeptJson) -> None:
    async def at_hand() -> bool:
        return await store.db.read(message_json.newest_at_hand, SCOPE, 50, kept) is not None

    assert not await at_hand()  # nobody has read it: its rows may lie on the disk
    await store.send("you@there.test")
    await store.db.read(message_json.newest, SCOPE, 50, kept)
    assert await at_hand()
    for _ in range(message_json.NEW_MAX + 1):
        await store.send("you@there.test")
    assert not await at_hand()
    await store.db.read(message_json.newest, SCOPE, 50, kept)
    assert await at_hand()
    many = [f"{'x' * 60}{number}@there.test" for number in range(50)]
    for _ in range(3):
        await store.send(*many)
    assert await at_hand()  # once: then it is known
    assert not await at_hand()
    await store.db.read(message_json.newest, SCOPE, 50, kept)
    assert not await at_hand()


def test_what_is_kept_has_a_limit() -> None:
    recent: Recent[int] = Recent(1000)
    for number in range(1000):
        recent.put(number, number, 100)
        assert recent.get(0) == (0 if number < 900 else recent.get(0))
        assert len(recent._young) + len(recent._old) <= 12
    assert recent.get(0) == 0  # asked for again and again
    assert recent.get(500) is None
    recent.put(0, 1, 100)
    assert recent.get(0) == 1


def test_a_long_message_is_not_kept(kept: KeptJson) -> None:
    room = ENTRY_BYTES_MAX - ENTRY_BYTES
    kept.keep("msg_1", (), b"x" * (room + 1))
    kept.keep("msg_2", (), b"x" * room)
    kept.keep("msg_3", (None, "x" * room), b"x")
    assert [kept.find(one, ()) is not None for one in ("msg_1", "msg_2")] == [False, True]
    assert kept.find("msg_2", ("other",)) is None
    assert kept.find("msg_3", (None, "x" * room)) is None
