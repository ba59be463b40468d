"""Accepted recipients that are recorded together leave the same tables as one after the other."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from maild.outcomes import accepted, attempted
from maild.outcomes.accepted import AcceptedOutcome
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.verdict import Verdict
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail.blobs import Blobs
from storage.sending import attempts, leases
from storage.sending.attempts import FIRST_KEPT, LATEST_KEPT, OneAttempt
from storage.sending.leases import Due
from storage.usage import Counts
from tests.support.worlds.store import EPOCH_MS, ORGANIZATION, ManualClock, Store

TABLES = (
    "messages recipients delivery_attempts delivery_evidence relay_message_ids usage events webhook_deliveries"
).split()
VERDICTS = [
    Verdict.of(250, "2.0.0", "queued", "mx.there.test", "TLSv1.3"),
    Verdict.of(250, None, "ok", "relay.test", accepted="sent"),
    Verdict("sent", 250, None, "ok <1@relay.test>", "relay.test", known_as="<1@relay.test>"),
    Verdict("delivered", None, None, "", has_left=True),
]
WEBHOOK = """INSERT INTO webhooks (id, organization_id, url, subscribed_events, secret, created_at, updated_at)
    VALUES (?, ?, 'http://x.test', ?, x'00', 0, 0)"""


async def opened(folder: Path) -> Store:
    """A store that gives the same ids as every other."""
    folder.mkdir()
    clock = ManualClock()
    store = await Store.open(folder, clock)
    store.ids = Ids(clock, bytes)
    store.blobs = Blobs(folder / "blobs", store.ids, inline_bytes=64 * 1024)
    for name, types in (("whk_1", '["email.sent"]'), ("whk_2", '["email.bounced"]')):
        await store.db.write(lambda tx, *row: tx.run(WEBHOOK, row), name, ORGANIZATION, types)
    return store


async def leased(store: Store, chance: random.Random) -> list[Due]:
    """Messages of one to three recipients, live ones and tests; some were deferred before, some are gone by now."""
    for number in range(8):
        recipients = [f"u{number}.{at}@there.test" for at in range(chance.randint(1, 3))]
        await store.send(*recipients, mode=chance.choice(["live", "live", "test"]))
        store.clock.forward(1)  # type: ignore[attr-defined]
    now_ms = store.clock.now_ms()
    rows = (await store.db.write(leases.lease, "run", now_ms, 100, lambda n, at: now_ms + 60_000)).rows
    for row in rows:
        match chance.randrange(8):
            case 0:
                sql = "DELETE FROM recipients WHERE message_id = ? AND position = ?"
            case 1:
                sql = "UPDATE recipients SET status = 'failed' WHERE message_id = ? AND position = ?"
            case 2:
                sql = "UPDATE recipients SET status = 'deferred' WHERE message_id = ? AND position = ?"
            case _:
                continue
        await store.db.write(lambda tx, sql, *key: tx.run(sql, key), sql, row.message_id, row.position)
    chance.shuffle(rows)
    return rows


def one_after_the_other(tx: Tx, ended: Sequence[AcceptedOutcome], store: Store) -> list[bool]:
    told = []
    for row, verdict, duration_ms, evidence in ended:
        settled = attempted.record(
            tx,
            [row],
            {row.position: verdict},
            OutcomeContext(store.ids.new, store.audit, store.clock.now_ms()),
            duration_ms,
        )
        if settled and evidence is not None:
            attempts.keep_evidence(tx, row.message_id, [OneAttempt(row.position, row.attempts)], evidence)
        told.append(bool(settled))
    return told


def together(tx: Tx, ended: Sequence[AcceptedOutcome], store: Store) -> list[bool]:
    counts = Counts()
    told = accepted.record(tx, ended, store.ids.new, store.clock.now_ms(), counts)
    counts.write(tx)
    return [one is not None for one in told]


async def tables(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: sorted(
            await store.db.read(lambda tx, table: tx.all(f"SELECT * FROM {table}"), table), key=repr
        )
        for table in TABLES
    }


@pytest.mark.parametrize("seed", range(12))
async def test_together_is_as_one_after_the_other(tmp_path: Path, seed: int) -> None:
    found = []
    for name, way in (("one", one_after_the_other), ("all", together)):
        store, chance = await opened(tmp_path / name), random.Random(seed)
        rows = await leased(store, chance)
        ended = [
            AcceptedOutcome(
                row, chance.choice(VERDICTS), chance.randrange(99), chance.choice([None, '["not_tried"]'])
            )
            for row in rows
        ]
        store.clock.forward(7)  # type: ignore[attr-defined]
        told = await store.db.write(way, ended, store)
        found.append((told, await tables(store)))
        await store.close()
    assert found[0] == found[1]
    assert any(found[0][0]) and found[0][1]["events"] and found[0][1]["webhook_deliveries"]


async def test_of_many_attempts_the_first_and_the_latest_keep_their_evidence(tmp_path: Path) -> None:
    store = await opened(tmp_path / "store")
    message_id = await store.send("you@there.test")
    kept = FIRST_KEPT + LATEST_KEPT + 3
    for number in range(1, kept + 1):
        told = [(message_id, OneAttempt(0, number), "[]")]
        await store.db.write(attempts.keep_evidence_of_each, told)
    found = await store.db.read(lambda tx: tx.all("SELECT attempt FROM delivery_evidence ORDER BY attempt"))
    assert [attempt for (attempt,) in found] == [1, 2, 3, *range(kept - LATEST_KEPT + 1, kept + 1)]
    await store.close()


async def test_a_message_that_is_gone_takes_none_of_the_others_along(tmp_path: Path) -> None:
    store = await opened(tmp_path / "store")
    for name in ("a", "b"):
        await store.send(f"{name}@there.test")
    rows = (await store.db.write(leases.lease, "run", EPOCH_MS, 9, lambda n, at: EPOCH_MS)).rows
    await store.db.write(lambda tx: tx.run("DELETE FROM messages WHERE id = ?", (rows[0].message_id,)))
    ended = [AcceptedOutcome(row, VERDICTS[0], 1, "[]") for row in rows]
    assert await store.db.write(together, ended, store) == [False, True]
    assert await store.attempts(rows[1].message_id) == ["delivered"]
    await store.close()
