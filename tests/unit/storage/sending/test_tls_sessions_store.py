"""What sessions were like: counted, bounded, and forgotten once it is told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.engine.tx import Tx
from storage.sending import tls_sessions
from storage.sending.tls_sessions import ROWS_MAX, TlsSession
from tests.support.worlds.store import Store

GOOD = TlsSession("no-policy-found", '[["a"],[]]')
BAD = TlsSession("sts", '[["b"],[]]', "certificate-expired", "mx.a.test", "192.0.2.1", "192.0.2.2", "why")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def test_what_is_alike_is_one_row(store: Store) -> None:
    for day, domain, session in (
        (1, "a.test", GOOD),
        (1, "a.test", BAD),
        (1, "a.test", GOOD),
        (2, "a.test", GOOD),
    ):
        await store.db.write(tls_sessions.note, day, domain, session)
    assert await store.db.read(tls_sessions.of, 1, "a.test") == [(GOOD, 2), (BAD, 1)]
    assert await store.db.read(tls_sessions.of, 2, "a.test") == [(GOOD, 1)]
    assert await store.db.read(tls_sessions.of, 1, "b.test") == []


async def test_a_session_costs_two_statements_at_most(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    run = Tx.run

    def counting(self: Tx, sql: str, *values: object) -> int:
        ran.append(sql)
        return run(self, sql, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(Tx, "run", counting)
    await store.db.write(tls_sessions.note, 1, "a.test", GOOD)
    first, ran[:] = len(ran), []
    await store.db.write(tls_sessions.note, 1, "a.test", GOOD)
    assert (first, len(ran)) == (2, 1)


async def test_a_host_that_is_another_each_time_fills_no_table(store: Store) -> None:
    def many(tx: Tx) -> None:
        for number in range(3 * ROWS_MAX):
            tls_sessions.note(tx, 1, "a.test", BAD._replace(receiving_ip=f"2001:db8::{number:x}"))
        tls_sessions.note(tx, 1, "a.test", GOOD)
        tls_sessions.note(tx, 1, "b.test", GOOD)

    await store.db.write(many)
    rows = await store.db.read(tls_sessions.of, 1, "a.test")
    assert len(rows) == ROWS_MAX + 2
    assert sum(count for _, count in rows) == 3 * ROWS_MAX + 1
    folded = dict(rows)
    assert folded[TlsSession("sts", "", "certificate-expired")] == 2 * ROWS_MAX
    assert folded[TlsSession("no-policy-found", "")] == 1
    assert await store.db.read(tls_sessions.of, 1, "b.test") == [(GOOD, 1)]


async def test_days_that_are_over_are_listed_page_by_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_sessions, "_PAGE", 2)
    for day, domain in ((1, "b.test"), (1, "a.test"), (2, "a.test"), (3, "a.test")):
        await store.db.write(tls_sessions.note, day, domain, GOOD)
        await store.db.write(tls_sessions.note, day, domain, BAD)
    first = await store.db.read(tls_sessions.unreported, 3)
    assert first == [(1, "a.test"), (1, "b.test")]
    assert await store.db.read(tls_sessions.unreported, 3, first[-1]) == [(2, "a.test")]
    assert await store.db.read(tls_sessions.unreported, 3, (2, "a.test")) == []


async def test_what_was_told_is_forgotten_and_is_not_told_again(store: Store) -> None:
    for day in (1, 2):
        await store.db.write(tls_sessions.note, day, "a.test", GOOD)
        assert await store.db.write(tls_sessions.mark_sent, day, "a.test", "mailto:x@a.test", "msg_1")
        assert not await store.db.write(tls_sessions.mark_sent, day, "a.test", "mailto:x@a.test", "msg_2")
    await store.db.write(tls_sessions.forget, 2, "a.test")
    assert await store.db.read(tls_sessions.unreported, 9) == [(1, "a.test")]
    assert await store.db.read(tls_sessions.sent, 2, "a.test") == ["mailto:x@a.test"]
