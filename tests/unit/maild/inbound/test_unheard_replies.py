"""What is known of replies that nobody heard: for how long, how many, and by the next process."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from maild.inbound import unheard_replies
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.unheard_replies import KEPT_MS, UnheardReplies
from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs, messages
from storage.mail import unheard_replies as rows
from storage.mail.inboxes import RecipientInbox
from tests.support.running import until_true
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.memory_store import message_row
from tests.support.worlds.store import INBOX, ORGANIZATION, ManualClock, Store

ONE, TWO, THREE = b"1" * 32, b"2" * 32, b"3" * 32


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path, clock)
    yield opened
    await opened.close()


def replies(store: Store) -> UnheardReplies:
    return UnheardReplies(store.db, store.clock, store.ids, lately_s=0)


async def next_process(store: Store) -> UnheardReplies:
    """What it knows at its start."""
    found = replies(store)
    await found.start()
    return found


async def comes(store: Store, transaction_digest: bytes | None) -> str:
    """A message is committed; its id."""
    stored = await store.blobs.store(b"Subject: x\r\n\r\n")
    now_ms, message_id = store.clock.now_ms(), store.ids.new("msg")
    row = message_row(
        id=message_id,
        organization_id=ORGANIZATION,
        inbox_id=INBOX,
        thread_id="",
        blob_id=stored.id,
        created_at=now_ms,
    )

    def unit(tx: Tx) -> None:
        blobs.insert(tx, stored, now_ms, 1, transaction_digest)
        messages.insert(tx, row)

    await store.db.write(unit)
    return message_id


async def settled(store: Store) -> str:
    found: str = await store.db.read(lambda tx: tx.value("SELECT through FROM replies_settled"))
    return found


async def test_what_is_older_than_the_last_seconds_was_heard(store: Store, clock: ManualClock) -> None:
    of_now = await next_process(store)
    heard = await comes(store, ONE)
    before = await settled(store)
    clock.forward(1)
    of_now.committed()
    async with asyncio.timeout(GIVES_UP_S):
        while await settled(store) == before:
            await asyncio.sleep(0)
    assert heard < await settled(store)
    latest = await comes(store, TWO)
    await comes(store, None)
    after_a_kill = await next_process(store)
    assert (after_a_kill.find(ONE), after_a_kill.find(TWO)) == (None, latest)
    await after_a_kill.stop()
    await of_now.stop()


async def test_a_message_is_not_settled_before_its_reply_had_time_to_arrive(
    store: Store, clock: ManualClock
) -> None:
    found = UnheardReplies(store.db, clock, store.ids, lately_s=3600)
    await found.start()
    latest = await comes(store, ONE)
    clock.forward(1)
    found.committed()
    for _ in range(10):  # the store answers, so whoever wanted to write has written
        await store.db.write(lambda tx: None)
    after_a_kill = await next_process(store)
    assert after_a_kill.find(ONE) == latest
    await after_a_kill.stop()
    await found.stop()


@pytest.mark.parametrize("ahead_s", [1800, 400 * 86_400])
async def test_after_a_clock_that_was_ahead_the_last_seconds_count(
    store: Store, clock: ManualClock, ahead_s: int
) -> None:
    """It was set back: all would count as heard until it is there again."""
    clock.forward(ahead_s)
    ahead = await next_process(store)
    heard = await comes(store, ONE)
    clock.forward(1)
    await ahead.stop()
    clock.set_back(ahead_s)
    store.ids = Ids(clock)
    if ahead_s * 1000 < DAY_MS:
        store.ids.go_on_after(heard)
    of_now = await next_process(store)
    await of_now.stop()
    latest = await comes(store, TWO)
    after_a_kill = await next_process(store)
    assert (after_a_kill.find(ONE), after_a_kill.find(TWO)) == (None, latest)
    await after_a_kill.stop()


async def test_the_first_process_of_all_may_be_killed_before_it_settles(store: Store) -> None:
    await store.db.write(lambda tx: tx.run("DELETE FROM replies_settled"))
    killed = await next_process(store)
    latest = await comes(store, ONE)
    after_a_kill = await next_process(store)
    assert after_a_kill.find(ONE) == latest
    await after_a_kill.stop()
    await killed.stop()


async def test_what_was_heard_is_written_without_another_message(store: Store) -> None:
    found = await next_process(store)
    found.note_unheard(ONE, "msg_1")
    await until_true(lambda: not found._changed)
    found.note_heard(ONE)
    await until_true(lambda: not found._changed)
    after_a_kill = await next_process(store)
    assert after_a_kill.find(ONE) is None
    await after_a_kill.stop()
    await found.stop()


async def test_after_an_orderly_end_only_what_was_noted_is_unheard(store: Store, clock: ManualClock) -> None:
    first = await next_process(store)
    await comes(store, ONE)
    clock.forward(0.001)
    first.note_unheard(TWO, "msg_2")
    first.note_unheard(THREE, "msg_3")
    first.note_heard(THREE)
    await first.stop()
    second = await next_process(store)
    assert [second.find(one) for one in (ONE, TWO, THREE)] == [None, "msg_2", None]
    second.note_heard(TWO)
    await second.stop()
    third = await next_process(store)
    assert third.find(TWO) is None
    await third.stop()


async def test_several_inboxes_have_the_id_of_the_first(store: Store) -> None:
    first = await comes(store, ONE)
    second = await comes(store, ONE)
    await store.db.write(lambda tx: tx.run("INSERT INTO replies_settled VALUES (1, 'msg_0')"))
    found = await next_process(store)
    assert found.find(ONE) == first < second
    await found.stop()


async def test_a_store_from_before_has_none(store: Store) -> None:
    await comes(store, ONE)
    found = await next_process(store)
    assert found.find(ONE) is None
    await found.stop()


async def test_for_as_long_as_a_client_tries_again(store: Store, clock: ManualClock) -> None:
    found = await next_process(store)
    found.note_unheard(ONE, "msg_1")
    await found.stop()
    clock.at_ms += KEPT_MS - 1
    assert found.find(ONE) == "msg_1"
    later = await next_process(store)
    assert later.find(ONE) == "msg_1"
    clock.at_ms += 2
    assert later.find(ONE) is None
    much_later = await next_process(store)
    assert await store.db.read(lambda tx: tx.all("SELECT * FROM unheard_replies")) == []
    await much_later.stop()
    await later.stop()


async def test_the_oldest_give_way(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unheard_replies, "MAX_KEPT", 2)
    found = await next_process(store)
    for one in (ONE, TWO, ONE, THREE):
        found.note_unheard(one, f"msg_{one[:1].decode()}")
    assert [found.find(one) for one in (ONE, TWO, THREE)] == ["msg_1", None, "msg_3"]
    await found.stop()
    kept = await store.db.read(lambda tx: tx.all("SELECT message_id FROM unheard_replies ORDER BY 1"))
    assert kept == [("msg_1",), ("msg_3",)]


async def test_what_the_store_refused_is_written_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await next_process(store)
    refused = asyncio.Event()

    def refuse(*_: object) -> None:
        refused.set()
        raise OSError("disk full")

    with monkeypatch.context() as patch, capture_logs() as told:
        patch.setattr(rows, "settle", refuse)
        found.note_unheard(ONE, "msg_1")
        await refused.wait()
        await until_true(lambda: told)
    assert [one["event"] for one in told] == ["unheard_replies_failed"]
    await found.stop()
    assert await store.db.read(lambda tx: tx.value("SELECT message_id FROM unheard_replies")) == "msg_1"


BOX, OTHER_BOX = RecipientInbox("inb_1", "org_1", "bot@a"), RecipientInbox("inb_2", "org_1", "ann@a")
ENVELOPE = InboundEnvelope(
    "x@b.test", (("bot@a", BOX), ("ann@a", OTHER_BOX)), "h.test", "192.0.2.1", "ESMTP", None
)


@pytest.mark.parametrize(
    ("same", "is_same"),
    [
        (ENVELOPE._replace(helo="other.test", protocol="ESMTPS", tls="TLSv1.3"), True),
        (ENVELOPE._replace(recipients=ENVELOPE.recipients[::-1]), True),
        (ENVELOPE._replace(recipients=ENVELOPE.recipients[:1]), False),
        (ENVELOPE._replace(recipients=(("bot@a", OTHER_BOX), ("ann@a", OTHER_BOX))), False),
        (ENVELOPE._replace(recipients=(("Bot@a", BOX), ("ann@a", OTHER_BOX))), False),
        (ENVELOPE._replace(mail_from=""), False),
        (ENVELOPE._replace(peer="192.0.2.2"), False),
    ],
)
def test_client_sender_and_recipients_make_the_transaction(same: InboundEnvelope, is_same: bool) -> None:
    assert (same.transaction_digest(ONE) == ENVELOPE.transaction_digest(ONE)) is is_same
    assert ENVELOPE.transaction_digest(ONE) != ENVELOPE.transaction_digest(TWO)
