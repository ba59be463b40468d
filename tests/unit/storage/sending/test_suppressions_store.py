"""Suppressions in the store: of one organization, one for each address, found and removed alone."""

import sqlite3
from collections.abc import Iterator

import pytest

from maild.message.fields.address import normalize
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.sending import suppressions
from storage.tenants import organizations
from tests.support.worlds import memory_store

OURS, THEIRS = "org_1", "org_2"
ADA, BOB = "ada@x.test", "bob@x.test"
STEP = 60  # storage/migrations/
# As keys were before: in quotes wherever the local part is no dot-atom.
OLD_KEYS = (
    ADA, '"a..b"@x.test', '".a+tag"@x.test', '"ä."@x.test', '"a b"@x.test', '"a@b"@x.test', '"a]b"@x.test',
    '"a\\\\b"@x.test', '"a\\"@b"@x.test', '""@x.test', '"a.,"@x.test', '"..!#$%&\'*+/=?^_`{|}~-"@x.test',
)  # fmt: skip


@pytest.fixture
def tx() -> Iterator[Tx]:
    conn = memory_store.empty()
    tx = Tx(conn)
    for one in (OURS, THEIRS):
        organizations.create(tx, one, "Acme", "selfhost", 0)
    yield tx
    conn.close()


def add(tx: Tx, suppression_id: str, email: str, owner: str = OURS, reason: str = "manual") -> str:
    return suppressions.add(
        tx, suppression_id, 1, organization_id=owner, email=email, reason=reason, source="api"
    )


def listed(tx: Tx, owner: str = OURS) -> list[str]:
    return [one.id for one in suppressions.list_suppressions(tx, owner, limit=9)]


def test_an_address_has_one_suppression_in_each_organization(tx: Tx) -> None:
    assert [add(tx, "sup_1", ADA), add(tx, "sup_2", BOB), add(tx, "sup_3", BOB)] == [
        "sup_1",
        "sup_2",
        "sup_2",
    ]
    assert add(tx, "sup_4", BOB, THEIRS) == "sup_4"
    assert (listed(tx), listed(tx, THEIRS)) == (["sup_2", "sup_1"], ["sup_4"])
    assert [one.id for one in suppressions.find(tx, OURS, [BOB, ADA, "eve@x.test"])] == ["sup_1", "sup_2"]
    assert [one.id for one in suppressions.find(tx, THEIRS, [ADA, BOB])] == ["sup_4"]


def test_one_is_shown_and_removed_and_no_other(tx: Tx) -> None:
    for suppression_id, email, owner in (("sup_1", ADA, OURS), ("sup_2", BOB, OURS), ("sup_3", ADA, THEIRS)):
        add(tx, suppression_id, email, owner)
    found = suppressions.get(tx, OURS, "sup_2")
    assert found is not None and found.email == BOB
    assert suppressions.get(tx, THEIRS, "sup_2") is None
    assert not suppressions.remove(tx, THEIRS, "sup_2")
    assert suppressions.remove(tx, OURS, "sup_2")
    assert (listed(tx), listed(tx, THEIRS)) == (["sup_1"], ["sup_3"])


def test_who_unsubscribes_takes_back_any_consent(tx: Tx) -> None:
    add(tx, "sup_1", ADA, reason="hard_bounce")
    add(tx, "sup_2", ADA, THEIRS, reason="hard_bounce")
    told = [
        suppressions.withdraw_consent(tx, f"sup_{number}", 2, organization_id=OURS, email=email)
        for number, email in ((3, ADA), (4, ADA), (5, BOB))
    ]
    assert told == ["sup_1", None, "sup_5"]
    assert [one.reason for one in suppressions.find(tx, OURS, [ADA, BOB])] == ["unsubscribe", "unsubscribe"]
    (theirs,) = suppressions.find(tx, THEIRS, [ADA])
    assert theirs.reason == "hard_bounce"


def store_from_before() -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    for number, sql in enumerate(migrate.steps()[: STEP - 1], 1):
        migrate._take(conn, sql, number)
    return conn


def test_who_was_suppressed_by_the_key_of_before_stays_so() -> None:
    conn = store_from_before()
    tx = Tx(conn)
    organizations.create(tx, OURS, "Acme", "selfhost", 0)
    for number, key in enumerate(OLD_KEYS):
        add(tx, f"sup_{number}", key)
        conn.execute("INSERT INTO members VALUES (?, ?, ?, NULL, 'member', 1)", (f"mem_{number}", OURS, key))
        conn.execute("INSERT INTO correspondents VALUES ('inb_1', ?, 'live', 1)", (key,))
        conn.execute(
            "INSERT INTO rules VALUES (?, ?, NULL, 'outbound', 'block', ?, NULL, 1)",
            (f"rul_{number}", OURS, key),
        )
    add(tx, "sup_new", normalize(OLD_KEYS[1]))
    migrate._take(conn, migrate.steps()[STEP - 1], STEP)
    keys = sorted(map(normalize, OLD_KEYS))
    assert sorted(one.email for one in suppressions.list_suppressions(tx, OURS, limit=99)) == keys
    for table, column in (("members", "email"), ("correspondents", "address"), ("rules", "value")):
        assert sorted(key for (key,) in conn.execute(f"SELECT {column} FROM {table}")) == keys
    conn.close()
