"""Recipients that are dropped together leave the same tables as message after message."""

import random
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pytest

from maild.outcomes import attempted, dropped
from maild.outcomes.dropped import DROPPED
from maild.outcomes.outcome_context import OutcomeContext
from storage import usage
from storage.clock import day_of, month_of
from storage.engine.tx import Tx
from storage.sending import queue_selection
from storage.sending.leases import Due
from storage.sending.queue_selection import QueueSelection
from tests.support.worlds.store import DOMAIN, ORGANIZATION, Store
from tests.unit.maild.outcomes.test_accepted import opened, tables

MESSAGES = 9
ATTEMPT = """INSERT INTO delivery_attempts (message_id, position, attempt, outcome, response, duration_ms, created_at,
      has_left) VALUES (?, 0, 1, 'deferred', '', 1, 1, ?)"""
FIRST = "UPDATE recipients SET {} WHERE message_id = ? AND position = 0"


async def waiting(store: Store, chance: random.Random) -> None:
    """Messages of one to three recipients, live ones and tests, that were counted: some were tried before, and some of
    those left the host; of some a recipient has it already, or is at another destination."""
    for _ in range(MESSAGES):
        recipients = [
            f"u{at}@{chance.choice(['many', 'many', 'one'])}.test" for at in range(chance.randint(1, 3))
        ]
        message_id = await store.send(*recipients, mode=chance.choice(["live", "live", "test"]))
        await store.db.write(_go_on, store, message_id, chance.randrange(6))
        store.clock.forward(1)  # type: ignore[attr-defined]


def _go_on(tx: Tx, store: Store, message_id: str, case: int) -> None:
    now_ms = store.clock.now_ms()
    usage.add_message(tx, ORGANIZATION, (day_of(now_ms), month_of(now_ms)), DOMAIN)
    if case in (0, 1):
        tx.run(ATTEMPT, (message_id, case))
        tx.run(FIRST.format("status = 'deferred', attempts = 1"), (message_id,))
    elif case in (2, 3):
        tx.run(FIRST.format("status = 'delivered', next_attempt_at = NULL"), (message_id,))
    if case == 3:
        tx.run("UPDATE messages SET status = 'delivered', sent_at = 1 WHERE id = ?", (message_id,))


def by_message(tx: Tx, rows: Sequence[Due], store: Store) -> None:
    context = OutcomeContext(store.ids.new, store.audit, store.clock.now_ms())
    for _, group in groupby(sorted(rows, key=lambda row: row.message_id), key=lambda row: row.message_id):
        of_message = [row._replace(attempts=row.attempts + 1) for row in group]
        attempted.record(
            tx, of_message, {row.position: DROPPED for row in of_message}, context, duration_ms=0
        )


def together(tx: Tx, rows: Sequence[Due], store: Store) -> None:
    dropped.record(tx, rows, store.ids.new, store.clock.now_ms())


@pytest.mark.parametrize("seed", range(12))
async def test_together_is_as_message_after_message(tmp_path: Path, seed: int) -> None:
    found = []
    for name, way in (("one", by_message), ("all", together)):
        store = await opened(tmp_path / name)
        await waiting(store, random.Random(seed))
        store.clock.forward(7)  # type: ignore[attr-defined]
        rows = await store.db.read(queue_selection.some, QueueSelection(destination="many.test"))
        await store.db.write(way, rows, store)
        found.append(await tables(store))
        await store.close()
    assert found[0] == found[1]
    types = {row[5] for row in found[0]["events"]}
    assert types >= {"email.bounced", "email.failed"} and found[0]["webhook_deliveries"]
