"""storage.publishing.webhooks: registrations and their tenancy, the scan of what waits, the log."""

from functools import partial

import pytest

from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.publishing.webhooks import AttemptSettlement, Found, LeasedDelivery
from storage.records import WebhookAttempt, load
from storage.tenants import allowances
from storage.tenants.allowances import UsedUp
from tests.support.worlds.webhook_world import START_MS, WebhookWorld


async def test_a_registration_belongs_to_its_organization(world: WebhookWorld) -> None:
    await world.organization("org_2")
    webhook = await world.webhook("https://a.test/")
    assert await world.db.read(webhooks.get, "org_1", webhook.id) == webhook
    assert await world.db.read(webhooks.get, "org_2", webhook.id) is None
    assert await world.db.read(webhooks.list_webhooks, "org_2") == []
    assert await world.db.write(webhooks.update, "org_2", webhook.id, 1, is_active=False) is None
    assert not await world.db.write(webhooks.delete, "org_2", webhook.id, 1)
    assert (
        await world.db.write(webhooks.rotate, "org_2", webhook.id, 1, secret=b"", previous_until_ms=0) is None
    )


async def test_update_changes_what_is_given(world: WebhookWorld) -> None:
    webhook = await world.webhook("https://a.test/")
    changed = await world.db.write(
        webhooks.update, "org_1", webhook.id, START_MS + 1, subscribed_events=["email.sent"]
    )
    assert changed is not None
    assert load(changed.subscribed_events) == ["email.sent"]
    assert (changed.url, changed.is_active, changed.updated_at) == ("https://a.test/", 1, START_MS + 1)
    off = await world.db.write(
        webhooks.update, "org_1", webhook.id, START_MS, url="https://b.test/", is_active=False
    )
    assert off is not None and (off.url, off.is_active) == ("https://b.test/", 0)


async def test_a_change_is_of_one_webhook(world: WebhookWorld) -> None:
    other = await world.webhook("https://a.test/")
    webhook = await world.webhook("https://b.test/")
    assert await world.db.read(webhooks.get, "org_1", webhook.id) == webhook
    await world.db.write(webhooks.update, "org_1", webhook.id, START_MS + 1, is_active=False)
    rotated = await world.db.write(
        webhooks.rotate, "org_1", webhook.id, START_MS + 2, secret=b"new", previous_until_ms=START_MS + 9
    )
    assert rotated is not None
    assert (rotated.id, rotated.secret, rotated.updated_at) == (webhook.id, b"new", START_MS + 2)
    assert (rotated.previous_secret, rotated.previous_secret_until) == (webhook.secret, START_MS + 9)
    await world.db.write(webhooks.delete, "org_1", webhook.id, START_MS + 3)
    assert await world.db.read(webhooks.list_webhooks, "org_1") == [other]


async def test_a_deleted_one_is_gone(world: WebhookWorld) -> None:
    webhook = await world.webhook("https://a.test/")
    assert await world.db.write(webhooks.delete, "org_1", webhook.id, START_MS)
    assert not await world.db.write(webhooks.delete, "org_1", webhook.id, START_MS)
    assert await world.db.read(webhooks.get, "org_1", webhook.id) is None
    assert await world.db.read(webhooks.count, "org_1") == 0


async def test_the_plan_s_limit_is_checked_where_the_row_is_written(world: WebhookWorld) -> None:
    def create(tx: Tx, number: int) -> None:
        allowances.webhook(tx, "org_1", 2)
        webhooks.create(
            tx,
            f"whk_{number}",
            START_MS,
            organization_id="org_1",
            url="https://a.test/",
            subscribed_events=["email.sent"],
            secret=b"",
        )

    for number in range(2):
        await world.db.write(create, number)
    with pytest.raises(UsedUp) as reached:
        await world.db.write(create, 2)
    assert (reached.value.limit, reached.value.used) == (2, 2)


async def test_list_is_newest_first(world: WebhookWorld) -> None:
    first, second = await world.webhook("https://a.test/"), await world.webhook("https://b.test/")
    assert [one.id for one in await world.db.read(webhooks.list_webhooks, "org_1")] == [second.id, first.id]


async def test_settle_without_the_lease_changes_nothing(world: WebhookWorld) -> None:
    webhook = await world.webhook("https://a.test/")
    await world.event()
    (delivery,) = await world.db.write(
        webhooks.take, webhook.id, START_MS, limit=5, lease="run_1", until_ms=START_MS + 10_000
    )
    assert await world.states() == [("pending", 1, START_MS + 10_000, "run_1")]
    assert await world.db.write(webhooks.give_back, "run_2", START_MS) == 0
    assert await world.db.write(webhooks.free_leases) == 1
    assert await world.states() == [("pending", 0, START_MS + 10_000, None)]
    record = WebhookAttempt(
        "del_1", webhook.id, "org_1", None, "email.received", 1, "{}", 200, "", 1, None, 1, None, START_MS
    )
    settlement = AttemptSettlement(delivery, "succeeded", None, record)
    assert await world.db.write(webhooks.settle, "run_1", [settlement]) == [False]
    assert await world.attempts() == []


UNTIL_MS = START_MS + 10_000


async def taken(world: WebhookWorld, webhook_id: str, lease: str = "run_1") -> list[LeasedDelivery]:
    return await world.db.write(webhooks.take, webhook_id, START_MS, limit=5, lease=lease, until_ms=UNTIL_MS)


async def test_what_is_taken_is_what_waits_and_is_due(world: WebhookWorld) -> None:
    webhook, other = await world.webhook("https://a.test/"), await world.webhook("https://b.test/")
    for _ in range(4):
        await world.event()
    changed = {2: "lease = 'run_0'", 3: "status = 'failed'", 4: f"next_attempt_at = {START_MS + 1}"}
    for seq, change in changed.items():
        await world.db.write(
            lambda tx, seq, change: tx.run(
                f"UPDATE webhook_deliveries SET {change} WHERE webhook_id = ? AND event_seq = ?",
                (webhook.id, seq),
            ),
            seq,
            change,
        )
    assert await taken(world, webhook.id) == [LeasedDelivery(webhook.id, 1, 1)]
    assert await taken(world, webhook.id) == []
    assert [one.event_seq for one in await taken(world, other.id)] == [1, 2, 3, 4]
    await world.db.write(webhooks.give_back, "run_1", START_MS)
    await world.db.write(webhooks.update, "org_1", webhook.id, START_MS, is_active=False)
    assert await taken(world, webhook.id) == []


async def test_what_is_halted_waits_for_a_webhook_that_went_and_is_in_nobodys_hands(
    world: WebhookWorld,
) -> None:
    webhook, other = await world.webhook("https://a.test/"), await world.webhook("https://b.test/")
    for _ in range(3):
        await world.event()
    (leased, *_) = await taken(world, webhook.id)
    await world.db.write(webhooks.give_back, "run_1", START_MS)
    await world.db.write(
        lambda tx: tx.run(
            "UPDATE webhook_deliveries SET lease = 'run_1' WHERE event_seq = ?", (leased.event_seq,)
        )
    )

    async def to_halt(webhook_id: str) -> list[tuple[int, int, bool]]:
        found = await world.db.read(webhooks.to_halt, webhook_id, 10)
        return [(one.delivery.event_seq, one.delivery.attempt, one.is_deleted) for one in found]

    assert await to_halt(webhook.id) == []
    await world.db.write(webhooks.update, "org_1", webhook.id, START_MS, is_active=False)
    assert await to_halt(webhook.id) == [(2, 1, False), (3, 1, False)]
    await world.db.write(webhooks.delete, "org_1", webhook.id, START_MS)
    assert await to_halt(webhook.id) == [(2, 1, True), (3, 1, True)]
    assert await to_halt(other.id) == []


async def test_settling_one_delivery_settles_no_other(world: WebhookWorld) -> None:
    webhook, other = await world.webhook("https://a.test/"), await world.webhook("https://b.test/")
    for _ in range(2):
        await world.event()
    first, _ = await taken(world, webhook.id)
    await taken(world, other.id)
    record = WebhookAttempt(
        "del_1", webhook.id, "org_1", None, "email.received", 1, "{}", 200, "", 1, None, 1, None, START_MS
    )
    settlement = AttemptSettlement(first, "succeeded", None, record)
    assert await world.db.write(webhooks.settle, "run_1", [settlement, settlement]) == [True, False]
    leased = ("pending", 1, UNTIL_MS, "run_1")
    assert await world.states() == [("succeeded", 1, None, None), leased, leased, leased]


async def test_a_delivery_that_is_asked_for_again_is_taken_alone(world: WebhookWorld) -> None:
    webhook, other = await world.webhook("https://a.test/"), await world.webhook("https://b.test/")
    await world.event()
    event_id = await world.event()
    await world.organization("org_2")
    find = webhooks.find
    assert await world.db.read(find, "org_2", webhook.id, event_id) is None
    assert await world.db.read(find, "org_1", "whk_none", event_id) is None
    found = await world.db.read(find, "org_1", webhook.id, event_id)
    assert found == Found(webhook.id, 2, "pending", is_in_flight=False)
    again = partial(webhooks.take_again, lease="run_1", until_ms=UNTIL_MS)
    assert await world.db.write(again, found) == LeasedDelivery(webhook.id, 2, 1)
    waits = ("pending", 0, START_MS, None)
    assert webhook.id < other.id
    assert await world.states() == [waits, ("pending", 1, UNTIL_MS, "run_1"), waits, waits]
    assert await world.db.read(find, "org_1", webhook.id, event_id) == found._replace(is_in_flight=True)


@pytest.mark.parametrize("let_go", ["give_back", "free_leases"])
async def test_what_was_taken_and_not_settled_counts_for_no_attempt(world: WebhookWorld, let_go: str) -> None:
    webhook = await world.webhook("https://a.test/")
    await world.event()
    await taken(world, webhook.id)
    if let_go == "give_back":
        await world.db.write(webhooks.give_back, "run_1", START_MS)
        assert await world.states() == [("pending", 0, START_MS, None)]
    else:
        await world.db.write(webhooks.free_leases)
        assert await world.states() == [("pending", 0, UNTIL_MS, None)]


async def test_what_waits_too_long_is_brought_back_and_nothing_else(world: WebhookWorld) -> None:
    """A clock that was set back: deliveries look as if they were due in hours."""
    webhook, other = await world.webhook("https://a.test/"), await world.webhook("https://b.test/")
    for _ in range(4):
        await world.event()
    await world.db.write(
        lambda tx: [
            tx.run("UPDATE webhook_deliveries SET next_attempt_at = ?", (UNTIL_MS,)),
            tx.run("UPDATE webhook_deliveries SET lease = 'run_0' WHERE event_seq = 2"),
            tx.run("UPDATE webhook_deliveries SET status = 'failed' WHERE event_seq = 3"),
        ]
    )
    both = [(webhook.id, 1), (webhook.id, 4), (other.id, 1), (other.id, 4)]
    assert sorted(await world.db.read(webhooks.ahead, START_MS)) == both
    assert await world.db.read(webhooks.ahead, UNTIL_MS) == []
    named = [(webhook.id, seq) for seq in (1, 2, 3)]
    await world.db.write(webhooks.bring_back, named, START_MS)
    assert sorted(await world.db.read(webhooks.ahead, START_MS)) == [key for key in both if key not in named]
    late = await world.db.read(
        lambda tx: tx.value("SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at = ?", (UNTIL_MS,))
    )
    assert late == 7


async def test_who_has_work_that_nobody_does_is_looked_at(world: WebhookWorld) -> None:
    """`_HEADS` hops from webhook to webhook, and lands on none all of whose deliveries are leased or over."""
    made = [await world.webhook(f"https://{number}.test/") for number in range(4)]
    await world.event()
    first, leased, over, last = made
    await world.db.write(webhooks.take, leased.id, START_MS, limit=5, lease="run_1", until_ms=START_MS)
    await world.db.write(
        lambda tx: tx.run(
            "UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL WHERE webhook_id = ?",
            (over.id,),
        )
    )
    heads, _ = await world.db.read(webhooks.heads, START_MS)
    assert [(one.webhook_id, one.due_ms) for one in heads] == [(first.id, START_MS), (last.id, START_MS)]
    assert await world.db.read(webhooks.ahead, START_MS) == []
    assert [webhook_id for webhook_id, _ in await world.db.read(webhooks.ahead, START_MS - 1)] == [
        first.id,
        last.id,
    ]


async def test_of_those_that_wait_for_their_time_the_next_is_enough(world: WebhookWorld) -> None:
    """Thousands of endpoints that are down have a retry each that is due in an hour."""
    made = [await world.webhook(f"https://{number}.test/") for number in range(4)]
    await world.event()
    dues = [START_MS + 9, START_MS, START_MS + 7, START_MS + 8]
    due = "UPDATE webhook_deliveries SET next_attempt_at = ? WHERE webhook_id = ?"
    for one, due_ms in zip(made, dues, strict=True):
        await world.db.write(lambda tx, *values: tx.run(due, values), due_ms, one.id)
    heads, next_due_ms = await world.db.read(webhooks.heads, START_MS)
    assert ([one.webhook_id for one in heads], next_due_ms) == ([made[1].id], START_MS + 7)
    assert await world.db.read(webhooks.heads, START_MS - 1) == ([], START_MS)
    heads, next_due_ms = await world.db.read(webhooks.heads, START_MS + 9)
    assert (len(heads), next_due_ms) == (4, None)


async def test_looking_for_work_does_not_read_the_backlog(world: WebhookWorld) -> None:
    """100,000 pending deliveries of one endpoint must not slow down its neighbours (W5)."""
    busy, other = (
        await world.webhook("https://a.test/"),
        await world.webhook("https://b.test/", ("email.sent",)),
    )
    await world.db.write(
        lambda tx: [
            tx.run(
                """WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
                   INSERT INTO events (id, organization_id, type, mode, data, created_at)
                   SELECT 'evt_' || i, 'org_1', 'email.received', 'live', '{}', 1 FROM n"""
            ),
            tx.run(
                """INSERT INTO webhook_deliveries (webhook_id, event_seq, status, next_attempt_at)
                   SELECT ?, seq, 'pending', seq FROM events""",
                (busy.id,),
            ),
        ]
    )
    await world.event(type="email.sent")
    heads, _ = await world.db.read(webhooks.heads, START_MS)
    taken = await world.db.write(webhooks.take, busy.id, START_MS, limit=5, lease="run_1", until_ms=START_MS)
    assert {head.webhook_id: head.due_ms for head in heads} == {busy.id: 1, other.id: START_MS}
    assert [one.event_seq for one in taken] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("statement", [webhooks._HEADS, webhooks._DUE])
async def test_the_index_serves_the_search_and_the_order(world: WebhookWorld, statement: str) -> None:
    names = ("webhook_id", "now_ms", "limit")
    plan = await world.db.read(
        lambda tx: [row[3] for row in tx.all(f"EXPLAIN QUERY PLAN {statement}", dict.fromkeys(names, 1))]
    )
    assert any("webhook_deliveries_waiting" in step for step in plan)
    assert not [step for step in plan if "SCAN webhook_deliveries" in step or "TEMP B-TREE" in step], plan
    if statement == webhooks._DUE:
        assert any("next_attempt_at<?" in step for step in plan), plan
