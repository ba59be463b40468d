"""What is kept only for a time (storage/upkeep/retention.py), with a clock that is moved by hand."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from storage import idempotency, usage
from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.idempotency import KeptWhen
from storage.mail import blobs, messages, resting_addresses
from storage.publishing import events, webhooks
from storage.publishing.webhooks import Found
from storage.records import WebhookAttempt
from storage.sending import deleted_mail
from storage.tenants import organizations
from storage.upkeep import retention
from storage.upkeep.retention import ROWS, Retention, Rows, Slices, ages
from tests.support.worlds.store import ORGANIZATION, Store
from tests.unit.storage.mail import test_held_mail as held


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


def keeper(store: Store, raw_days: Mapping[str, int] | None = None, slices: Slices = Slices()) -> Retention:
    return Retention(
        store.db, store.blobs, store.clock, ages(30, 30), (raw_days or {}).get, store.audit, 400, slices
    )


async def count(store: Store, table: str) -> int:
    number: int = await store.db.read(lambda tx: tx.value(f"SELECT count(*) FROM {table}"))
    return number


async def publish(store: Store, number: int = 1) -> list[str]:
    def unit(tx: Tx) -> list[str]:
        ids = [store.ids.new("evt") for _ in range(number)]
        for event_id in ids:
            events.publish(
                tx,
                event_id,
                store.clock.now_ms(),
                organization_id=ORGANIZATION,
                type="email.sent",
                data={"subject": "x"},
            )
        return ids

    return await store.db.write(unit)


async def subscribe(store: Store, webhook_id: str = "whk_1") -> None:
    await store.db.write(
        webhooks.create,
        webhook_id,
        0,
        organization_id=ORGANIZATION,
        url="https://a.test/",
        subscribed_events=["email.sent"],
        secret=b"",
    )


def forward(store: Store, days: float) -> None:
    store.clock.at_ms += int(days * DAY_MS)  # type: ignore[attr-defined]


async def test_what_fails_for_one_kind_holds_up_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(store, 3)
    forward(store, 31)
    monkeypatch.setattr(retention, "ROWS", (Rows("claims", "a fault of the program", ""), *ROWS))
    with capture_logs() as lines:
        await keeper(store).round()
    assert await count(store, "events") == 1
    assert [line["kind"] for line in lines if line["event"] == "retention_failed"] == ["claims"]


async def test_what_fails_for_one_organization_holds_up_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[str] = []

    async def release(self: Retention, organization_id: str, until: str) -> int:
        released.append(organization_id)
        if len(released) == 1:
            raise ValueError("a fault of the program")
        return 1

    monkeypatch.setattr(Retention, "_release", release)
    await store.db.write(organizations.create, "org_2", "Other", "selfhost", 0)
    with capture_logs() as lines:
        await keeper(store, {"selfhost": 1}).round()
    assert len(set(released)) == 2
    (failed,) = [line for line in lines if line["event"] == "retention_failed"]
    assert (failed["kind"], failed["organization_id"]) == ("raw messages", released[0])


async def test_events_go_after_their_days_and_the_last_one_stays(store: Store) -> None:
    """Numbers go up from the last: a log that began anew would be passed over by whoever reads on."""
    await publish(store, 3)
    forward(store, 29.9)
    await keeper(store).round()
    assert await count(store, "events") == 3
    forward(store, 0.2)
    await keeper(store).round()
    assert await store.db.read(lambda tx: tx.all("SELECT seq FROM events")) == [(3,)]
    await publish(store)
    await keeper(store).round()
    assert await store.db.read(lambda tx: tx.all("SELECT seq FROM events")) == [(4,)]


async def test_more_than_a_slice_goes_in_one_round(store: Store) -> None:
    await publish(store, 40)
    forward(store, 31)
    await publish(store)
    await keeper(store, slices=Slices(rows=7)).round()
    assert await count(store, "events") == 1


async def test_deliveries_go_with_their_event_and_hold_it_while_they_wait(store: Store) -> None:
    await subscribe(store)
    await publish(store, 2)
    await store.db.write(
        lambda tx: tx.run("UPDATE webhook_deliveries SET status = 'succeeded' WHERE event_seq = 1")
    )
    forward(store, 31)
    await publish(store)
    await keeper(store).round()
    assert await store.db.read(lambda tx: tx.all("SELECT event_seq FROM webhook_deliveries")) == [(2,), (3,)]


async def test_deliveries_to_many_webhooks_go_in_slices(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five hundred events that went to a thousand webhooks each were half a million rows, and 5 s without a writer."""
    for number in range(5):
        await subscribe(store, f"whk_{number}")
    await publish(store, 8)
    await store.db.write(lambda tx: tx.run("UPDATE webhook_deliveries SET status = 'succeeded'"))
    forward(store, 31)
    await publish(store)
    removed: list[int] = []
    write_apart = store.db.write_apart

    async def counted(unit: Any, *args: Any) -> Any:
        before = await count(store, "webhook_deliveries")
        done = await write_apart(unit, *args)
        removed.append(before - await count(store, "webhook_deliveries"))
        return done

    monkeypatch.setattr(store.db, "write_apart", counted)
    await keeper(store, slices=Slices(rows=3, events=2)).round()
    assert (sum(removed), max(removed)) == (40, 3)
    assert await count(store, "events") == 1


async def test_an_event_that_is_sent_again_while_its_like_is_removed_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await subscribe(store)
    await publish(store, 3)
    await store.db.write(lambda tx: tx.run("UPDATE webhook_deliveries SET status = 'succeeded'"))
    forward(store, 31)
    write_apart = store.db.write_apart

    async def taken_meanwhile(*unit: Any) -> Any:
        found = Found("whk_1", 2, "succeeded", is_in_flight=False)
        await store.db.write(lambda tx: webhooks.take_again(tx, found, lease="run_1", until_ms=1))
        return await write_apart(*unit)

    monkeypatch.setattr(store.db, "write_apart", taken_meanwhile)
    await keeper(store).round()
    left = await store.db.read(
        lambda tx: tx.all("SELECT event_seq, lease FROM webhook_deliveries ORDER BY 1")
    )
    assert left == [(2, "run_1"), (3, None)]
    assert await store.db.read(lambda tx: tx.all("SELECT seq FROM events_gone")) == [(1,)]


async def test_records_of_attempts_go(store: Store) -> None:
    def unit(tx: Tx) -> None:
        for number in range(3):
            at = store.clock.now_ms() - number * 20 * DAY_MS
            webhooks.log_attempt(
                tx,
                WebhookAttempt(
                    f"del_{number}", "whk_1", ORGANIZATION, "evt_1", "email.sent", 1, "{}", 200, "", 1, None, 5,
                    None, at,
                ),
            )  # fmt: skip

    await store.db.write(unit)
    await keeper(store).round()
    log = await store.db.read(webhooks.attempts, ORGANIZATION, limit=10)
    assert [one.id for one in log] == ["del_0", "del_1"]


async def test_an_address_of_a_deleted_organization_is_free_when_its_time_is_over(store: Store) -> None:
    now_ms = store.clock.now_ms()
    await store.db.write(
        resting_addresses.rest, [("a@x.test", now_ms + DAY_MS), ("b@x.test", now_ms + 9 * DAY_MS)]
    )
    forward(store, 2)
    await keeper(store).round()
    assert await store.db.lookup(resting_addresses.until, "a@x.test") is None
    assert await store.db.lookup(resting_addresses.until, "b@x.test") == now_ms + 9 * DAY_MS


async def test_what_is_left_of_deleted_mail_goes_as_events_do(store: Store) -> None:
    message_id = await store.send("you@there.test")
    await store.db.write(lambda tx: tx.run("UPDATE recipients SET status = 'sent'"))
    message = await store.db.lookup(messages.get, ORGANIZATION, message_id)
    assert message is not None
    await store.db.write(deleted_mail.note, message, store.clock.now_ms())
    forward(store, 29)
    await keeper(store).round()
    assert await store.scalar("SELECT message_id FROM deleted_mail") == message_id
    forward(store, 2)
    await keeper(store).round()
    assert await store.scalar("SELECT count(*) FROM deleted_mail") == 0


async def test_windows_and_keys_go(store: Store) -> None:
    now_ms = store.clock.now_ms()

    def unit(tx: Tx) -> None:
        for minutes in (1, 3, 15):
            at = now_ms - minutes * 60_000
            tx.run("INSERT INTO rate_windows VALUES (?, ?, 1)", (ORGANIZATION, at // 1000))
            tx.run("INSERT INTO recent_recipients VALUES (?, ?, ?)", (ORGANIZATION, f"{minutes}@x", at))
        for hours in (23, 47, 49):
            tx.run(
                """INSERT INTO idempotency (organization_id, endpoint, key, request_hash, answer, created_at)
                   VALUES (?, 'send', ?, x'', '{}', ?)""",
                (ORGANIZATION, f"after {hours} h", now_ms - hours * 3_600_000),
            )

    await store.db.write(unit)
    await keeper(store).round()
    kept = store.db.lookup
    assert await kept(lambda tx: tx.all("SELECT second FROM rate_windows")) == [(now_ms // 1000 - 60,)]
    assert await kept(lambda tx: tx.all("SELECT address FROM recent_recipients ORDER BY 1")) == [
        ("1@x",),
        ("3@x",),
    ]
    assert await kept(lambda tx: tx.all("SELECT key FROM idempotency ORDER BY 1")) == [
        ("after 23 h",),
        ("after 47 h",),
    ]


async def test_a_key_that_is_used_again_while_its_old_answer_is_removed_is_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(tx: Tx, answer: str, at_ms: int) -> None:
        idempotency.forget(tx, ORGANIZATION, "send", "a key", KeptWhen(at_ms - DAY_MS, at_ms + DAY_MS))
        idempotency.keep(tx, ORGANIZATION, "send", "a key", b"", answer, None, at_ms)

    await store.db.write(keep, '"old"', store.clock.now_ms() - 3 * DAY_MS)
    write_apart = store.db.write_apart

    async def written_meanwhile(*unit: Any) -> Any:
        await store.db.write(keep, '"new"', store.clock.now_ms())
        return await write_apart(*unit)

    monkeypatch.setattr(store.db, "write_apart", written_meanwhile)
    await keeper(store).round()
    kept = await store.db.lookup(idempotency.find, ORGANIZATION, "send", "a key")
    assert kept is not None and kept.answer == '"new"'


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: str(rows.kind).replace(" ", "-"))
async def test_looking_costs_what_is_too_old_and_no_more(store: Store, rows: Any) -> None:
    def plan(tx: Tx) -> list[str]:
        sql = f"EXPLAIN QUERY PLAN {rows.find}"
        return [row[3] for row in tx.all(sql, {"before": 1, "limit": 5})]

    steps = await store.db.read(plan)
    may_scan = rows.kind in ("rate windows", "recent recipients")
    scans = [step for step in steps if step.startswith("SCAN")]
    assert may_scan or not scans, steps
    assert not any("TEMP B-TREE" in step for step in steps), steps


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: str(rows.kind).replace(" ", "-"))
async def test_removing_finds_its_rows_by_their_keys(store: Store, rows: Any) -> None:
    def plan(tx: Tx) -> list[str]:
        sql = f"EXPLAIN QUERY PLAN {rows.remove}"
        return [row[3] for row in tx.all(sql, {"before": 1, "keys": "[]"})]

    steps = await store.db.read(plan)
    assert steps[0].startswith("SEARCH") and "json_each" not in steps[0], steps


# Raw messages --------------------------------------------------------------------------------------


async def blobs_left(store: Store) -> list[tuple[Any, ...]]:
    return await store.db.read(lambda tx: tx.all("SELECT id, refs FROM blobs ORDER BY id"))


async def settle(store: Store, message_id: str) -> None:
    await store.db.write(
        lambda tx: tx.run("UPDATE recipients SET status = 'delivered' WHERE message_id = ?", (message_id,))
    )


async def test_raw_messages_go_when_the_plan_says_so(store: Store) -> None:
    sent = await store.send("you@there.test")
    await settle(store, sent)
    kept = await store.db.lookup(usage.kept_bytes, ORGANIZATION)
    size = (await store.message(sent)).size_bytes
    forward(store, 30.1)
    fresh = await store.send("you@there.test")
    await settle(store, fresh)
    await keeper(store, {"another": 30}).round()
    assert (await store.message(sent)).blob_id is not None
    await keeper(store, {"selfhost": 30}).round()
    assert (await store.message(sent)).blob_id is None
    assert (await store.message(sent)).text_body == (await store.message(fresh)).text_body
    assert (await store.message(fresh)).blob_id is not None
    assert len(await blobs_left(store)) == 1
    assert await store.db.lookup(usage.kept_bytes, ORGANIZATION) == kept
    assert kept == size


@pytest.mark.parametrize("status", ["queued", "deferred", "scheduled"])
async def test_what_waits_to_be_sent_keeps_its_bytes(store: Store, status: str) -> None:
    sent = await store.send("you@there.test")
    if status == "scheduled":
        await store.db.write(lambda tx: tx.run("DELETE FROM recipients"))
        await store.db.write(lambda tx: tx.run("UPDATE messages SET status = 'scheduled'"))
    else:
        await store.db.write(lambda tx: tx.run("UPDATE recipients SET status = ?", (status,)))
    forward(store, 40)
    service = keeper(store, {"selfhost": 30})
    await service.round()
    assert (await store.message(sent)).blob_id is not None
    await store.db.write(lambda tx: tx.run("UPDATE messages SET status = 'sent'"))
    await settle(store, sent)
    await service.round()  # it looks again at what it passed over
    assert (await store.message(sent)).blob_id is None


async def test_files_go_with_their_last_message(store: Store) -> None:
    large = b"x" * 100_000
    ids = [await store.send("you@there.test", raw=RAW_OF + large) for _ in range(5)]
    files = list((store.blobs._folder).glob("*/*"))
    assert len(files) == 5
    for message_id in ids:
        await settle(store, message_id)
    first = (await store.message(ids[0])).blob_id or ""
    forward(store, 31)
    copy = await store.send("you@there.test")
    await store.db.write(lambda tx: tx.run("UPDATE messages SET blob_id = ? WHERE id = ?", (first, copy)))
    await store.db.write(lambda tx: blobs.retain(tx, first))
    await keeper(store, {"selfhost": 30}, Slices(messages=1, looked_at=2)).round()
    assert [(await store.message(one)).blob_id for one in ids] == [None] * 5
    assert (first, 1) in await blobs_left(store)
    assert [file.name for file in store.blobs._folder.glob("*/*")] == [first]


RAW_OF = b"From: bot@ours.test\r\nSubject: large\r\n\r\n"


# Held mail -----------------------------------------------------------------------------------------


async def test_rejected_mail_goes_after_a_month_and_what_is_held_stays(store: Store) -> None:
    rejected = [await held.hold(store) for _ in range(5)]
    pending = await held.hold(store)
    for message_id in rejected:
        assert await held.reject(store, message_id)
    seen = await store.send("you@there.test")
    forward(store, 29.9)
    await keeper(store).round()
    assert await count(store, "held_mail") == 6
    forward(store, 0.2)
    await keeper(store, slices=Slices(messages=2)).round()
    left = await store.db.read(lambda tx: tx.all("SELECT id FROM messages ORDER BY id"))
    assert left == [(pending,), (seen,)]
    assert await count(store, "held_mail") == 1
    assert len(await blobs_left(store)) == 2


async def test_a_slice_of_rejected_mail_ends_when_its_time_is_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty with a thousand attachments each kept everybody from writing for 66 ms."""
    for _ in range(3):
        assert await held.reject(store, await held.hold(store))
    forward(store, 31)
    slices: list[int] = []
    delete_some = Retention._delete_some

    def noted(service: Retention, tx: Tx, ids: Sequence[str]) -> tuple[int, list[str]]:
        slices.append(len(ids))
        return delete_some(service, tx, ids)

    monkeypatch.setattr(Retention, "_delete_some", noted)
    monkeypatch.setattr(retention, "SLICE_S", 0)
    await keeper(store).round()
    assert slices == [3, 2, 1]
    assert await count(store, "held_mail") == 0


async def test_a_slice_of_rows_ends_when_its_time_is_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five hundred answers of 150 KB, or in as many pages of the disk, kept everybody from writing for half a
    second."""

    def keep_all(tx: Tx) -> None:
        for number in range(3):
            idempotency.keep(tx, ORGANIZATION, "POST /x", f"key {number}", b"", "{}", None, 0)

    await store.db.write(keep_all)
    removed: list[int] = []
    run = Tx.run

    def noted(tx: Tx, sql: str, *given: Any) -> int:
        changed = run(tx, sql, *given)
        removed.extend([changed] if sql.startswith("DELETE FROM idempotency") else [])
        return changed

    monkeypatch.setattr(Tx, "run", noted)
    monkeypatch.setattr(retention, "SLICE_S", 0)
    await keeper(store).round()
    assert removed == [1, 1, 1]
    assert await count(store, "idempotency") == 0


async def test_raw_bytes_of_what_is_held_stay(store: Store) -> None:
    await held.hold(store)
    forward(store, 40)
    await keeper(store, {"selfhost": 30}).round()
    assert len(await blobs_left(store)) == 1


async def test_what_was_held_loses_its_bytes_once_it_is_released(store: Store) -> None:
    """However many rounds passed it over, and however many of it there are."""
    late = [await held.hold(store) for _ in range(5)]
    seen = await store.send("you@there.test")
    await settle(store, seen)
    forward(store, 40)
    retention = keeper(store, {"selfhost": 30}, Slices(messages=2, looked_at=2))
    for released, left in ((late[:2], 5), (late[2:], 3), ([], 0)):
        await retention.round()
        assert len(await blobs_left(store)) == left
        for message_id in released:
            assert await held.release(store, message_id)
    assert [(await store.message(one)).blob_id for one in late] == [None] * 5
