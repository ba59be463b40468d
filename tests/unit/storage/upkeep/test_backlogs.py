"""What waits in the store, as the operator's monitoring is told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.engine.tx import Tx
from storage.publishing import events, webhooks
from storage.sending import leases, queue_selection
from storage.sending.leases import FullLines, QueuePlace
from storage.sending.outbound import QueueBacklog
from storage.sending.queue_selection import QueueSelection
from storage.upkeep.backlogs import Backlogs, backlogs
from tests.support.worlds.store import EPOCH_MS, ORGANIZATION, Store

LATER_MS = EPOCH_MS + 60_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def read(store: Store, now_ms: int = LATER_MS) -> Backlogs:
    return await store.db.read(backlogs, now_ms)


async def test_recipients_are_told_by_what_they_wait_for(store: Store) -> None:
    assert (await read(store)).queue == QueueBacklog(0, 0, 0, 0, None)
    await store.send("leased@there.test")
    await store.db.write(
        leases.lease, "run_1", EPOCH_MS, 1, lambda _n, _at: LATER_MS, FullLines(), QueuePlace()
    )
    held = await store.send("held@there.test")
    await store.db.write(queue_selection.hold, QueueSelection(message_id=held), EPOCH_MS)
    await store.send("you@there.test")
    await store.send("they@there.test")
    assert (await read(store)).queue == QueueBacklog(2, 0, 1, 1, EPOCH_MS)
    assert (await read(store, EPOCH_MS - 1)).queue == QueueBacklog(0, 2, 1, 1, None)


async def test_a_delivery_to_an_endpoint_is_late_from_when_it_was_due(store: Store) -> None:
    assert (await read(store)).webhook_due_at is None
    await store.db.write(subscribed_event, store)
    assert (await read(store)).webhook_due_at == EPOCH_MS
    assert (await read(store, EPOCH_MS - 1)).webhook_due_at is None


def subscribed_event(tx: Tx, store: Store) -> None:
    now_ms = store.clock.now_ms()
    webhooks.create(
        tx,
        store.ids.new("whk"),
        now_ms,
        organization_id=ORGANIZATION,
        url="https://there.test/",
        subscribed_events=["email.sent"],
        secret=b"sealed",
    )
    events.publish(tx, store.ids.new("evt"), now_ms, organization_id=ORGANIZATION, type="email.sent", data={})


async def test_a_message_waits_for_the_index_until_it_was_told(store: Store) -> None:
    await store.send("you@there.test")
    assert (await read(store)).unsearchable == 1
