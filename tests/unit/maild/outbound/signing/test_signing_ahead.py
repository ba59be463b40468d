"""What stands in a line is signed ahead, once, several in a hand-over, and again where that does not hold any more."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from maild.outbound.signing import kept_signatures
from maild.outbound.signing.content import LARGE_BYTES_SIGNED, SMALL_BYTES, Content, Contents
from maild.outbound.signing.dkim import DkimKeys, generate_key, sign
from maild.outbound.signing.kept_signatures import KEPT_MAX, KEPT_S
from maild.outbound.signing.recipient_headers import RecipientHeaders
from maild.outbound.signing.signing_threads import BATCH, THREADS, SigningJob, SigningThreads
from maild.outbound.signing.wire import KeptWire, StoredWire
from storage.domains import dkim_keys
from storage.domains.dkim_keys import DkimKey
from storage.mail.blobs import BlobDamaged
from storage.sending import leases
from storage.sending.leases import Due
from storage.turns.cpu_threads import CpuThreads
from tests.support.worlds.store import DOMAIN, Store


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
async def contents(store: Store) -> Any:
    keys = DkimKeys(store.db, store.sealer, store.clock)
    headers = RecipientHeaders(b"k" * 32, "https://api.ours.test")
    made = Contents(store.db, store.blobs, keys, headers, store.clock, CpuThreads())
    await keys.active(DOMAIN)
    yield made
    made.close()


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The times of all signatures that are made."""
    times: list[int] = []

    def counting(raw: bytes, key: Any, at_s: int, digest: bytes | None = None) -> tuple[bytes, bytes]:
        times.append(at_s)
        return sign(raw, key, at_s, digest)

    monkeypatch.setattr("maild.outbound.signing.content.sign", counting)
    return times


async def leased(store: Store, count: int = 1) -> list[Due]:
    for number in range(count):
        await store.send(f"u{number}@there.test")
    now_ms = store.clock.now_ms()
    return (await store.db.write(leases.lease, "run", now_ms, count, lambda n, at: now_ms)).rows


def octets(small: Content) -> bytes:
    assert isinstance(small.wire, bytes)
    return small.wire


async def test_a_message_is_signed_once(store: Store, contents: Contents, signed: list[int]) -> None:
    (row,) = await leased(store)
    contents.sign_ahead(row)
    contents.sign_ahead(row)
    first = await contents.load(row)
    assert octets(await contents.load(row)) == octets(first)
    assert len(signed) == 1


async def test_what_is_tried_again_is_signed_once(
    store: Store, contents: Contents, signed: list[int]
) -> None:
    (row,) = await leased(store)
    first = await contents.load(row)
    store.clock.forward(KEPT_S - 1)  # type: ignore[attr-defined]
    assert octets(await contents.load(row)) == octets(first)
    assert len(signed) == 1
    contents.forget(row)
    await contents.load(row)
    assert len(signed) == 2


async def test_a_signature_of_the_future_does_not_count(
    store: Store, contents: Contents, signed: list[int]
) -> None:
    """The clock was set back: receivers may ignore such a one (RFC 6376 §3.5)."""
    (row,) = await leased(store)
    await contents.load(row)
    store.clock.forward(-1)  # type: ignore[attr-defined]
    await contents.load(row)
    assert signed == [signed[0], signed[0] - 1]


async def test_octets_that_changed_are_not_sent_with_the_signature_of_before(
    store: Store, contents: Contents
) -> None:
    (row,) = await leased(store)
    await contents.load(row)
    assert row.data is not None
    with pytest.raises(BlobDamaged):
        await contents.load(row._replace(data=row.data + b"x"))
    assert b"DKIM-Signature" in octets(await contents.load(row))


async def test_what_could_not_be_signed_is_signed_when_it_can_be(store: Store, contents: Contents) -> None:
    (row,) = await leased(store)
    assert row.data is not None
    for _ in range(2):
        with pytest.raises(BlobDamaged):
            await contents.load(row._replace(data=row.data + b"x"))
    assert b"DKIM-Signature" in octets(await contents.load(row))


async def test_an_old_signature_is_made_again(store: Store, contents: Contents, signed: list[int]) -> None:
    (row,) = await leased(store)
    contents.sign_ahead(row)
    await contents.load(row)
    store.clock.forward(KEPT_S - 1)  # type: ignore[attr-defined]
    await contents.load(row)
    assert len(signed) == 1
    store.clock.forward(1)  # type: ignore[attr-defined]
    await contents.load(row)
    assert signed == [signed[0], signed[0] + KEPT_S]


async def test_a_key_that_was_rotated_meanwhile_signs_again(store: Store, contents: Contents) -> None:
    (row,) = await leased(store)
    contents.sign_ahead(row)
    assert b" s=s2;" not in octets(await contents.load(row))
    der, public = generate_key()
    sealed = store.sealer.seal(der, dkim_keys.context(DOMAIN, "s2"))
    await store.db.write(lambda tx: tx.run("UPDATE dkim_keys SET status = 'retired'"))
    key = DkimKey(DOMAIN, "s2", "active", sealed, public, store.clock.now_ms())
    await store.db.write(dkim_keys.insert, key)
    contents._keys._keys.clear()  # as after dkim.KEY_CACHE_S
    assert b" s=s2;" in octets(await contents.load(row))


async def test_the_oldest_signature_gives_way(
    store: Store, contents: Contents, signed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_signatures, "KEPT_MAX", 2)
    assert KEPT_MAX > 2
    first, second, third = await leased(store, 3)
    for row in (first, second, third):
        await contents.load(row)
    assert len(contents._signatures) == 2
    await contents.load(second)
    await contents.load(third)
    assert len(signed) == 3
    await contents.load(first)
    assert len(signed) == 4


async def test_who_is_alone_waits_for_no_thread(store: Store, contents: Contents) -> None:
    (row,) = await leased(store)
    contents._threads.close()
    assert b"DKIM-Signature" in octets(await contents.load(row, is_alone=True))


async def test_many_go_over_together_and_what_is_asked_for_goes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handed: list[list[Any]] = []
    take = SigningThreads._take

    def counting(threads: SigningThreads) -> list[SigningJob[Any]]:
        batch = take(threads)
        if batch:
            handed.append([job._work for job in batch])
        return batch

    monkeypatch.setattr(SigningThreads, "_take", counting)
    threads = SigningThreads()
    jobs = [SigningJob(partial(int, number)) for number in range(40)]
    last = jobs[39]._work
    for job in jobs:
        threads.ahead(job)
    assert await threads.now(jobs[39]) == 39
    assert await threads.now(SigningJob(lambda: 7)) == 7
    assert await asyncio.gather(*(job.done for job in jobs)) == list(range(40))
    assert sum(map(len, handed)) == 41
    assert all(len(batch) <= BATCH for batch in handed)
    assert len(handed) <= 41 // BATCH + 3 * THREADS
    assert any(last in batch for batch in handed[:THREADS])
    threads.close()


async def test_what_fails_fails_alone() -> None:
    threads = SigningThreads()
    bad, good = SigningJob(lambda: 1 // 0), SigningJob(lambda: 2)
    threads.ahead(bad)
    threads.ahead(good)
    assert await threads.now(good) == 2
    with pytest.raises(ZeroDivisionError):
        await threads.now(bad)
    threads.close()


async def test_who_stops_waiting_takes_it_from_nobody_else() -> None:
    threads = SigningThreads()
    job = SigningJob(lambda: 7)
    first = asyncio.create_task(threads.now(job))
    second = asyncio.create_task(threads.now(job))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 7
    threads.close()


async def large(store: Store, number: int) -> Due:
    raw = b"Subject: hi\r\n\r\n" + b".dots begin its lines\r\n" * (SMALL_BYTES // 20)
    await store.send(f"large{number}@there.test", raw=raw)
    now_ms = store.clock.now_ms()
    (row,) = (await store.db.write(leases.lease, "run", now_ms, 1, lambda n, at: now_ms)).rows
    return row


async def sent(content: Content) -> bytes:
    assert not isinstance(content.wire, bytes)
    pieces = [piece async for piece in content.wire.pieces()]
    return b"".join(pieces)


async def test_a_large_message_stays_in_memory_where_there_is_room_to_spare(
    store: Store, contents: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await large(store, 1)
    first = await contents.room_for(row, is_doubtful=False)
    kept = await contents.load(row, first.stays)
    first.signed()
    assert isinstance(kept.wire, KeptWire)
    contents._spare._free = row.size_bytes - 1
    second = await contents.room_for(row, is_doubtful=False)
    stored = await contents.load(row, second.stays)
    second.signed()
    assert isinstance(stored.wire, StoredWire)
    assert len(kept.wire) == len(stored.wire)
    assert (await sent(stored)).partition(b"\r\n\r\n")[2] == (await sent(kept)).partition(b"\r\n\r\n")[2]
    first.give()
    second.give()
    assert contents._spare._free == 2 * row.size_bytes - 1
    assert contents._large._free == LARGE_BYTES_SIGNED


async def test_a_host_that_has_not_answered_lately_keeps_no_large_message_in_memory(
    store: Store, contents: Contents
) -> None:
    row = await large(store, 1)
    room = await contents.room_for(row, is_doubtful=True)
    assert not room.stays
    room.give()
