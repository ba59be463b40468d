"""What is held is nowhere until it is released, and then everywhere as if it had come then
(storage/mail/held_mail.py)."""

import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from storage import usage
from storage.agents import work
from storage.clock import day_of, iso
from storage.engine.tx import Tx
from storage.mail import arrivals, blobs, conversation, held_mail, inboxes, messages, threads
from storage.mail.arrivals import ConversationClues, ThreadEntry
from storage.records import AttachmentRow, MessageRow
from storage.searching import labels, search
from storage.searching.needle import IN_EVERYTHING
from storage.searching.search_scope import Scope
from storage.shown import message_json, thread_json
from storage.upkeep import integrity
from tests.support.worlds.memory_store import message_row
from tests.support.worlds.store import INBOX, ORGANIZATION, THREAD, ManualClock, Store

RAW = b"From: ada@there.test\r\nSubject: secret words\r\n\r\nhello\r\n"
HELD_S = 3600


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    await opened.db.write(lambda tx: tx.run("DELETE FROM threads"))
    yield opened
    await opened.close()


def came(store: Store, **fields: Any) -> MessageRow:
    given = {
        "id": store.ids.new("msg"), "created_at": store.clock.now_ms(), "from_address": "ada@there.test",
        "subject": "secret words", "snippet": "hello", "text_body": "hello", "size_bytes": len(RAW),
        "labels": '["unread"]', "thread_id": "", **fields,
    }  # fmt: skip
    return message_row(**given)


def clues_of(message: MessageRow) -> ConversationClues:
    references = [message.in_reply_to] if message.in_reply_to else []
    return ConversationClues(message.subject, False, "ada@there.test", references, ["ada@there.test"])


async def hold(store: Store, **fields: Any) -> str:
    stored = await store.blobs.store(RAW)
    message = came(store, blob_id=stored.id, **fields)
    attachment = AttachmentRow(
        store.ids.new("att"), message.id, 0, "a.txt", "text/plain", 2, None, 0, 0, 2, "identity"
    )

    def unit(tx: Tx) -> None:
        blobs.insert(tx, stored, message.created_at)
        held_mail.hold(tx, message, [attachment], None, clues_of(message), store.ids.new)

    await store.db.write(unit)
    return message.id


async def receive(store: Store, **fields: Any) -> MessageRow:
    message = came(store, **fields)
    now_ms = store.clock.now_ms()

    def unit(tx: Tx) -> MessageRow:
        is_work = inboxes.received(tx, INBOX, now_ms)
        known = arrivals.find_thread(tx, INBOX, clues_of(message), now_ms)
        entry = ThreadEntry(ORGANIZATION, INBOX, "live", message.subject, message.snippet)
        thread_id = arrivals.join_thread(tx, entry, clues_of(message), known, store.ids.new, now_ms)
        arrived = message._replace(thread_id=thread_id)
        messages.insert(tx, arrived)
        arrivals.announce(tx, arrived, [], bool(is_work), store.ids.new, now_ms)
        return arrived

    return await store.db.write(unit)


async def release(store: Store, message_id: str, organization_id: str = ORGANIZATION) -> bool:
    return await store.db.write(
        held_mail.release, organization_id, message_id, store.ids.new, store.clock.now_ms()
    )


async def reject(store: Store, message_id: str, organization_id: str = ORGANIZATION) -> bool:
    return await store.db.write(held_mail.reject, organization_id, message_id, store.clock.now_ms())


def forward(store: Store, seconds: float) -> None:
    assert isinstance(store.clock, ManualClock)
    store.clock.forward(seconds)


def what_there_is(tx: Tx) -> dict[str, Any]:
    """All that shows a message without being asked for it by id."""
    return {
        "list": message_json.list_messages(tx, Scope(ORGANIZATION), None, 9).json,
        "of the inbox": message_json.list_messages(tx, Scope(ORGANIZATION, INBOX), None, 9).json,
        "scan": search.scan(tx, Scope(ORGANIZATION), IN_EVERYTHING, None, None, 9).message_ids,
        "tail": search.tail(tx, Scope(ORGANIZATION), IN_EVERYTHING, None, None, 9).message_ids,
        "threads": thread_json.list_threads(tx, ORGANIZATION, limit=9, inbox_id=None).json,
        "unread": labels.count(tx, labels.Owner(ORGANIZATION), "unread"),
        "counters": tx.all("SELECT unread_count, last_message_at FROM inboxes"),
        "usage": tx.all("SELECT metric, value FROM usage"),
        "work": work.is_ready(tx, INBOX, "live"),
        "events": tx.all("SELECT type FROM events"),
        "damage": list(integrity.counters(tx)),
    }


async def test_what_is_held_is_nowhere(store: Store) -> None:
    before = await store.db.read(what_there_is)
    message_id = await hold(store)
    assert await store.db.read(what_there_is) == before
    assert await store.db.read(messages.get, ORGANIZATION, message_id) is None
    assert await store.db.read(message_json.get, ORGANIZATION, message_id) is None
    assert await store.db.read(inboxes.owner_of, "message", ORGANIZATION, message_id) is None
    attachment_id = await store.scalar("SELECT id FROM attachments")
    assert await store.db.read(messages.attachment, ORGANIZATION, attachment_id) is None
    assert await store.db.read(inboxes.owner_of, "attachment", ORGANIZATION, attachment_id) is None


async def test_its_bytes_count(store: Store) -> None:
    await hold(store)
    assert await store.db.read(usage.kept_bytes, ORGANIZATION) == len(RAW)


async def test_those_who_decide_see_it(store: Store) -> None:
    message_id = await hold(store)
    held = await store.db.read(held_mail.get, ORGANIZATION, message_id)
    assert held is not None and held.subject == "secret words" and held.held_at == store.clock.now_ms()
    shown = await store.db.read(message_json.get_held, ORGANIZATION, message_id)
    assert shown is not None and json.loads(shown.json)["threadId"].startswith("thd_")
    listed = await store.db.read(message_json.list_messages, Scope(ORGANIZATION, is_held=True), None, 9)
    assert listed.json == shown.json
    attachment_id = await store.scalar("SELECT id FROM attachments")
    assert await store.db.read(held_mail.attachment, ORGANIZATION, attachment_id) is not None
    for unit in (held_mail.get, message_json.get_held):
        assert await store.db.read(unit, "org_2", message_id) is None
    assert await store.db.read(held_mail.attachment, "org_2", attachment_id) is None


async def test_what_is_released_has_arrived_now(store: Store) -> None:
    message_id = await hold(store)
    forward(store, HELD_S)
    now_ms = store.clock.now_ms()
    assert await release(store, message_id)
    message = await store.message(message_id)
    assert message.labels == '["unread"]' and message.held_at is None
    thread = await store.db.read(threads.get, ORGANIZATION, message.thread_id)
    assert thread is not None
    assert (thread.subject, thread.message_count, thread.unread_count) == ("secret words", 1, 1)
    assert thread.last_message_at == thread.created_at == now_ms
    assert await store.scalar("SELECT unread_count FROM inboxes") == 1
    assert await store.scalar("SELECT last_message_at FROM inboxes") == now_ms
    assert await store.db.read(usage.get, ORGANIZATION, day_of(now_ms), "received") == 1
    (event,) = await store.events()
    assert event["messageId"] == message_id and event["threadId"] == message.thread_id
    assert event["receivedAt"] == iso(now_ms) > iso(message.created_at)
    assert len(event["attachments"]) == 1
    assert await store.db.read(integrity.counters) == []
    assert await store.scalar("SELECT count(*) FROM held_mail") == 0


async def test_it_is_released_once(store: Store) -> None:
    message_id = await hold(store)
    assert not await release(store, message_id, "org_2")
    assert await release(store, message_id)
    assert not await release(store, message_id)
    assert not await reject(store, message_id)
    assert len(await store.events()) == 1


async def test_what_is_rejected_is_never_released(store: Store) -> None:
    message_id = await hold(store)
    assert not await reject(store, message_id, "org_2")
    assert await reject(store, message_id)
    assert not await reject(store, message_id)
    assert not await release(store, message_id)
    assert await store.events() == []


async def test_it_is_work_where_the_inbox_wants_it(store: Store) -> None:
    message_id = await hold(store)
    await store.db.write(
        lambda tx: tx.run(
            """INSERT INTO policies (owner_id, organization_id, version, document, has_work, updated_at)
               VALUES (?, ?, 1, '{}', 1, 1)""",
            (INBOX, ORGANIZATION),
        )
    )
    assert await release(store, message_id)
    assert [one.message_id for one in await store.db.write(work.take, INBOX, "live", 9)] == [message_id]


async def test_an_inbox_that_was_closed_meanwhile_counts_it(store: Store) -> None:
    message_id = await hold(store)
    await store.db.write(inboxes.deactivate, ORGANIZATION, INBOX, store.ids.new, store.clock.now_ms())
    assert await release(store, message_id)
    assert await store.db.read(integrity.counters) == []


async def test_it_joins_the_conversation_that_it_answers(store: Store) -> None:
    first = await receive(store, message_id_header="<1@there.test>")
    message_id = await hold(store, in_reply_to="<1@there.test>")
    shown = await store.db.read(message_json.get_held, ORGANIZATION, message_id)
    assert shown is not None and json.loads(shown.json)["threadId"] == first.thread_id
    thread = await store.db.read(threads.get, ORGANIZATION, first.thread_id)
    assert thread is not None and thread.message_count == 1
    assert await release(store, message_id)
    assert (await store.message(message_id)).thread_id == first.thread_id


@pytest.mark.parametrize("is_first_first", [True, False])
async def test_held_ones_find_each_other(store: Store, is_first_first: bool) -> None:
    held = [await hold(store, message_id_header="<1@there.test>")]
    held.append(await hold(store, in_reply_to="<1@there.test>"))
    for message_id in held if is_first_first else reversed(held):
        assert await release(store, message_id)
    assert len({(await store.message(message_id)).thread_id for message_id in held}) == 1
    assert await store.db.read(integrity.counters) == []


async def test_visible_mail_never_joins_what_is_held(store: Store) -> None:
    message_id = await hold(store, message_id_header="<1@there.test>")
    visible = await receive(store, in_reply_to="<1@there.test>", subject="Re: mine")
    assert await release(store, message_id)
    assert (await store.message(message_id)).thread_id != visible.thread_id


async def test_a_conversation_that_went_meanwhile_is_begun_anew(store: Store) -> None:
    first = await receive(store, message_id_header="<1@there.test>")
    message_id = await hold(store, in_reply_to="<1@there.test>")
    await store.db.write(lambda tx: messages.delete(tx, first))
    assert await release(store, message_id)
    assert await store.db.read(integrity.counters) == []


async def test_what_is_released_is_newer_than_what_was_seen_meanwhile(store: Store) -> None:
    """An answer to what came later does not go out unseen (`ifLastMessageId`): the order is that of commits."""
    first = await receive(store, message_id_header="<1@there.test>")
    message_id = await hold(store, in_reply_to="<1@there.test>")
    forward(store, 1)
    seen = await receive(store, in_reply_to="<1@there.test>")
    assert await store.db.read(conversation.newest, ORGANIZATION, first.thread_id, "live") == seen.id
    assert await release(store, message_id)
    newer = await store.db.read(conversation.newer, ORGANIZATION, first.thread_id, seen.id, "live")
    assert [one.id for one in newer] == [message_id]
    assert await store.db.read(conversation.newest, ORGANIZATION, first.thread_id, "live") == message_id


async def test_what_is_deleted_leaves_nothing(store: Store) -> None:
    message_id, other = await hold(store), await hold(store)
    await reject(store, message_id)
    forward(store, 10)
    now_ms = store.clock.now_ms()
    assert await store.db.read(held_mail.rejected_before, now_ms - 20_000, 9) == []
    assert await store.db.read(held_mail.rejected_before, now_ms, 9) == [message_id]
    visible = await receive(store)
    await store.db.write(held_mail.delete, [message_id, visible.id, "msg_absent"])
    assert await store.db.read(held_mail.get, ORGANIZATION, message_id) is None
    assert await store.db.read(held_mail.get, ORGANIZATION, other) is not None
    assert await store.db.read(messages.get, ORGANIZATION, visible.id) is not None
    for table in ("held_mail", "attachments", "blobs"):
        assert await store.scalar(f"SELECT count(*) FROM {table}") == 1
    assert await store.db.read(integrity.counters) == []


async def test_what_was_visible_is_never_held(store: Store) -> None:
    visible = await receive(store)

    def change(tx: Tx, column: str, value: Any) -> None:
        tx.run(f"UPDATE messages SET {column} = ? WHERE id = ?", (value, visible.id))

    for column, value in (("held_at", 1), ("thread_id", None), ("thread_id", THREAD)):
        with pytest.raises(Exception, match=r"a message (that was visible is not held|stays in its thread)"):
            await store.db.write(change, column, value)


class Chance:
    """Does one thing after another to messages that answer each other. `held`, `seen`: which there are."""

    def __init__(self, store: Store, seed: int) -> None:
        self._random = random.Random(seed)
        self._store = store
        self._number = 0
        self.released = 0
        self.held: set[str] = set()
        self.seen: set[str] = set()

    async def act(self) -> None:
        acts = (self._hold, self._hold, self._receive, self._release, self._reject, self._read, self._delete)
        await self._random.choice(acts)()
        forward(self._store, 1)

    def _headers(self) -> dict[str, str | None]:
        self._number += 1
        answers = f"<{self._random.randrange(3)}@there.test>" if self._random.random() < 0.7 else None
        return {"in_reply_to": answers, "message_id_header": f"<{self._number}@there.test>"}

    def _one_of(self, ids: set[str]) -> list[str]:
        return [self._random.choice(sorted(ids))] if ids else []

    async def _hold(self) -> None:
        self.held.add(await hold(self._store, **self._headers()))

    async def _receive(self) -> None:
        self.seen.add((await receive(self._store, **self._headers())).id)

    async def _release(self) -> None:
        for message_id in self._one_of(self.held):
            if await release(self._store, message_id):
                self.released += 1
                self.held.remove(message_id)
                self.seen.add(message_id)

    async def _reject(self) -> None:
        for message_id in self._one_of(self.held):
            await reject(self._store, message_id)

    async def _read(self) -> None:
        for message_id in self._one_of(self.seen):
            await self._store.db.write(messages.set_labels, await self._store.message(message_id), ["x"])

    async def _delete(self) -> None:
        for message_id in self._one_of(self.seen):
            await self._store.db.write(messages.delete, await self._store.message(message_id))
            self.seen.remove(message_id)
        for message_id in self._one_of(self.held):
            await self._store.db.write(held_mail.delete, [message_id])
            self.held.remove(message_id)


@pytest.mark.parametrize("seed", range(5))
async def test_whatever_happens_to_it_all_counters_are_right(store: Store, seed: int) -> None:
    chance = Chance(store, seed)
    for _ in range(60):
        await chance.act()
    assert await store.db.read(integrity.counters) == []
    for ids, is_held in ((chance.seen, False), (chance.held, True)):
        scope = Scope(ORGANIZATION, is_held=is_held)
        listed = await store.db.read(search.scan, scope, IN_EVERYTHING, None, None, 100)
        assert listed.message_ids == sorted(ids, reverse=True)
    assert chance.released > 0
