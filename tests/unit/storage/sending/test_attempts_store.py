"""What is kept of attempts: a row for all whom it is about, their organization's alone, no longer than the message."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.engine.tx import Tx
from storage.mail import messages
from storage.sending import attempts
from storage.sending.attempts import OneAttempt
from tests.support.worlds.store import ORGANIZATION, Store

NOTE = '["not_tried"]'


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def keep(store: Store, message_id: str, *about: tuple[int, int]) -> None:
    one = [OneAttempt(*each) for each in about]
    await store.db.write(attempts.keep_evidence, message_id, one, NOTE)


async def kept(store: Store, message_id: str, organization_id: str = ORGANIZATION) -> list[tuple[int, int]]:
    return sorted(await store.db.read(attempts.kept, organization_id, message_id))


async def test_all_whom_it_is_about_find_it(store: Store) -> None:
    message_id = await store.send("a@there.test", "b@there.test", "c@there.test")
    await keep(store, message_id, (0, 1), (2, 4))
    found = await store.db.read(attempts.kept, ORGANIZATION, message_id)
    first = OneAttempt(0, 1)
    assert found == {first: first, OneAttempt(2, 4): first}
    texts = await store.db.read(attempts.evidence, ORGANIZATION, message_id, found.values())
    assert texts == {first: NOTE}


async def test_another_organization_finds_nothing(store: Store) -> None:
    message_id = await store.send("a@there.test")
    await keep(store, message_id, (0, 1))
    await store.db.write(
        lambda tx: tx.run(
            """INSERT INTO delivery_attempts (message_id, position, attempt, outcome, duration_ms, created_at)
               VALUES (?, 0, 1, 'deferred', 1, 1)""",
            (message_id,),
        )
    )
    assert len(await store.db.read(attempts.listed, ORGANIZATION, message_id)) == 1
    assert await store.db.read(attempts.listed, "org_2", message_id) == []
    assert await kept(store, message_id, "org_2") == []
    assert await store.db.read(attempts.evidence, "org_2", message_id, [OneAttempt(0, 1)]) == {}


async def test_the_first_and_the_latest_are_kept_for_each_recipient(store: Store) -> None:
    message_id = await store.send("a@there.test", "b@there.test")
    for attempt in range(1, 31):
        await keep(store, message_id, (0, attempt))
        if attempt < 5:
            await keep(store, message_id, (1, attempt))
    assert [attempt for position, attempt in await kept(store, message_id) if position == 0] == [
        1, 2, 3, 24, 25, 26, 27, 28, 29, 30,
    ]  # fmt: skip
    assert [attempt for position, attempt in await kept(store, message_id) if position == 1] == [1, 2, 3, 4]


async def test_it_goes_with_the_message(store: Store) -> None:
    message_id, other = await store.send("a@there.test"), await store.send("a@there.test")
    await keep(store, message_id, (0, 1))
    await keep(store, other, (0, 1))
    await store.db.write(messages.delete, await store.message(message_id))
    assert await store.scalar("SELECT group_concat(message_id) FROM delivery_evidence") == other


async def test_it_goes_with_the_raw_bytes_that_retention_removes(store: Store) -> None:
    waiting, done = await store.send("a@there.test"), await store.send("a@there.test")
    for message_id in (waiting, done):
        await keep(store, message_id, (0, 1))

    def settle(tx: Tx) -> None:
        tx.run("UPDATE recipients SET status = 'delivered' WHERE message_id = ?", (done,))

    await store.db.write(settle)
    await store.db.write(messages.drop_bytes, ORGANIZATION, [waiting, done])
    assert await store.scalar("SELECT group_concat(message_id) FROM delivery_evidence") == waiting
