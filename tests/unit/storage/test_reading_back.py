"""The logs are read back in looks of bounded length, whatever their readers want (storage/publishing/events.py,
audit.py)."""

from collections.abc import Iterator

import pytest

from storage.audit import trail
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.publishing import events
from storage.publishing.events import Selection
from tests.support.worlds import memory_store

WALK = 10
WANTED = (1, 10, 11, 12, 35, 100)


@pytest.fixture
def tx(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tx]:
    for log in (events, trail):
        monkeypatch.setattr(log, "WALK", WALK)
    conn = memory_store.empty()
    yield Tx(conn)
    conn.close()


def publish(tx: Tx, number: int, organization_id: str, type: str) -> None:
    event_id = first_at("evt", number).ljust(30, "5")
    events.publish(tx, event_id, number, organization_id=organization_id, type=type, data={})


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_looking_back_finds_every_event_once(tx: Tx, limit: int) -> None:
    for number in range(1, 101):
        publish(tx, number, "org_1", "email.received" if number in WANTED else "email.sent")
        publish(tx, number + 1000, "org_2", "email.received")
    selection = Selection("org_1", None, ["email.received"])
    found, position, is_end = [], events.newest(tx) + 1, False
    while not is_end:
        page = events.list_back(tx, selection, before=position, limit=limit)
        assert len(page.rows) <= limit and all(one.organization_id == "org_1" for one in page.rows)
        assert page.is_end or page.position < position
        found += [one.created_at for one in page.rows]
        position, is_end = page.position, page.is_end
    assert found == sorted(WANTED, reverse=True)


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_looking_back_finds_every_act_once(tx: Tx, limit: int) -> None:
    insert = "INSERT INTO audit VALUES (?, ?, 0, ?, 'operator', NULL, NULL, '{}', x'00')"
    for number in range(1, 101):
        for organization_id in ("org_1", "org_2"):
            type = "key.minted" if number in WANTED else "key.revoked"
            tx.run(insert, (organization_id, number, type))
    found, position, is_end = [], 2**53, False
    while not is_end:
        page = trail.page_back(
            tx, "org_1", before=position, limit=limit, types=["key.minted"], actor="operator"
        )
        assert len(page.rows) <= limit and all(one.organization_id == "org_1" for one in page.rows)
        assert page.is_end or page.position < position
        found += [one.seq for one in page.rows]
        position, is_end = page.position, page.is_end
    assert found == sorted(WANTED, reverse=True)
