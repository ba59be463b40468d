"""What attempts are made of (controlplane/webhooks/jobs.py), on a real store."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conf.tuning import WebhookTuning
from controlplane.webhooks.jobs import Jobs
from storage.engine.tx import Tx
from storage.publishing import events, webhooks
from storage.publishing.webhooks import LeasedDelivery
from tests.support.worlds.store import ORGANIZATION, Store


class Blob:
    """The text of large messages; counts who asks."""

    def __init__(self) -> None:
        self.loaded = 0

    async def __call__(self, _organization_id: str, _message_id: str) -> str:
        self.loaded += 1
        return "from the blob"


class World:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.blob = Blob()
        self.jobs = Jobs(store.db, self.blob, WebhookTuning().kept_bytes)

    async def event(self, is_sliced: bool = False) -> tuple[int, str]:
        """One that tells of a message: its number and the message's id."""
        message_id = await self.store.send("you@there.test", is_sliced=is_sliced)

        def unit(tx: Tx) -> int:
            events.publish(
                tx,
                self.store.ids.new("evt"),
                self.store.clock.now_ms(),
                organization_id=ORGANIZATION,
                type="email.received",
                data={"subject": "hello"},
                message_id=message_id,
            )
            return events.newest(tx)

        return await self.store.db.write(unit), message_id

    async def text(self, seq: int, webhook_id: str) -> str | None:
        """The words that the webhook would be told now."""
        job = await self.jobs.find(LeasedDelivery(webhook_id, seq, 1))
        assert job is not None and job.webhook is not None and job.webhook.id == webhook_id
        text: str | None = json.loads(await self.jobs.body(job))["data"]["text"]
        return text

    async def run(self, sql: str, *values: str) -> None:
        await self.store.db.write(lambda tx: tx.run(sql, values))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    store = await Store.open(tmp_path)
    for webhook_id in ("whk_a", "whk_b"):
        await store.db.write(
            webhooks.create,
            webhook_id,
            store.clock.now_ms(),
            organization_id=ORGANIZATION,
            url="https://a.test/",
            subscribed_events=["email.received"],
            secret=b"sealed",
        )
    yield World(store)
    await store.close()


async def test_an_event_is_rendered_once_for_all_who_hear_of_it(world: World) -> None:
    seq, _ = await world.event(is_sliced=True)
    assert [await world.text(seq, one) for one in ("whk_a", "whk_b", "whk_a")] == ["from the blob"] * 3
    assert world.blob.loaded == 1


async def test_words_of_a_message_that_was_deleted_meanwhile_are_told_to_nobody_more(world: World) -> None:
    seq, message_id = await world.event()
    assert await world.text(seq, "whk_a") == "hello"
    await world.run("DELETE FROM recipients WHERE message_id = ?", message_id)
    await world.run("DELETE FROM messages WHERE id = ?", message_id)
    assert await world.text(seq, "whk_b") is None
    assert await world.text(seq, "whk_a") is None


async def test_the_webhook_is_read_anew_each_time(world: World) -> None:
    seq, _ = await world.event()
    assert await world.text(seq, "whk_a") == "hello"
    await world.run("UPDATE webhooks SET url = 'https://b.test/' WHERE id = 'whk_a'")
    job = await world.jobs.find(LeasedDelivery("whk_a", seq, 2))
    assert job is not None and job.webhook is not None and job.webhook.url == "https://b.test/"
    await world.run("UPDATE webhooks SET deleted_at = 1 WHERE id = 'whk_a'")
    job = await world.jobs.find(LeasedDelivery("whk_a", seq, 2))
    assert job is not None and job.webhook is None


async def test_what_is_kept_has_a_limit(world: World) -> None:
    pairs = [await world.event(is_sliced=True) for _ in range(3)]
    await world.text(pairs[0][0], "whk_a")
    world.jobs._kept_bytes_max = world.jobs._kept_bytes * 2  # room for two
    for seq, _ in pairs:
        await world.text(seq, "whk_a")
    assert world.blob.loaded == 3
    for seq, _ in reversed(pairs):
        await world.text(seq, "whk_b")
    assert world.blob.loaded == 4  # the first had to go


async def test_an_event_that_is_gone_has_no_job(world: World) -> None:
    assert await world.jobs.find(LeasedDelivery("whk_a", 99, 1)) is None
