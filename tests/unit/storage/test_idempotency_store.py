"""Kept answers belong to one organization, one endpoint and one key, for as long as they count."""

import pytest

from storage import idempotency
from storage.engine.tx import Tx
from storage.idempotency import Kept, KeptWhen
from tests.support.worlds import memory_store

OURS, THEIRS = "org_1", "org_2"
AT_MS = 1000


@pytest.fixture
def tx() -> Tx:
    tx = memory_store.with_organizations(OURS, THEIRS)
    for owner, endpoint, key in (
        (OURS, "send", "key"),
        (OURS, "send", "other"),
        (OURS, "reply", "key"),
        (THEIRS, "send", "key"),
    ):
        request = f"{owner} {endpoint} {key}"
        idempotency.keep(tx, owner, endpoint, key, request.encode(), f'"{request}"', None, AT_MS)
    return tx


def test_an_answer_is_found_where_it_was_given(tx: Tx) -> None:
    found = idempotency.find(tx, OURS, "send", "key")
    assert found == Kept(b"org_1 send key", '"org_1 send key"', None)
    for owner, endpoint, key in ((OURS, "forward", "key"), ("org_3", "send", "key"), (OURS, "send", "k")):
        assert idempotency.find(tx, owner, endpoint, key) is None


def test_an_answer_counts_from_the_very_moment_on(tx: Tx) -> None:
    assert idempotency.find(tx, OURS, "send", "key", KeptWhen(AT_MS, AT_MS + 1)) is not None
    assert idempotency.find(tx, OURS, "send", "key", KeptWhen(AT_MS + 1, AT_MS + 2)) is None
    assert idempotency.find(tx, OURS, "send", "key", KeptWhen(AT_MS - 1, AT_MS)) is None


def test_one_answer_is_forgotten_and_no_other(tx: Tx) -> None:
    idempotency.forget(tx, OURS, "send", "key", KeptWhen(AT_MS, AT_MS + 1))  # in that very moment: it counts
    assert tx.value("SELECT count(*) FROM idempotency") == 4
    idempotency.forget(tx, OURS, "send", "key", KeptWhen(AT_MS + 1, AT_MS + 2))
    left = tx.all("SELECT organization_id, endpoint, key FROM idempotency ORDER BY 1, 2, 3")
    assert left == [(OURS, "reply", "key"), (OURS, "send", "other"), (THEIRS, "send", "key")]


@pytest.mark.parametrize(
    ("owner", "endpoint", "prefix", "request_hash", "has_another"),
    [
        (OURS, "send", "ke", b"another", True),
        (OURS, "send", "ke", b"org_1 send key", False),
        (OURS, "send", "kf", b"another", False),
        (OURS, "send", "ka", b"another", False),
        (OURS, "forward", "ke", b"another", False),
        ("org_3", "send", "ke", b"another", False),
    ],
)
def test_who_has_another_key_of_the_prefix_is_told(
    tx: Tx, owner: str, endpoint: str, prefix: str, request_hash: bytes, has_another: bool
) -> None:
    assert idempotency.has_another(tx, owner, endpoint, prefix, request_hash) is has_another
