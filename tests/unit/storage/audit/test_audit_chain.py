"""A chain that was touched is found broken, wherever and however it was touched (storage/audit/chain.py)."""

import hmac
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.audit.acts import Act
from storage.audit.chain import (
    GENESIS,
    AuditRow,
    Broken,
    canonical,
    chain_key,
    check,
    details_text,
    hash_of,
    mac_of,
    seal_details,
)
from storage.clock import iso

Told = tuple[Any, ...]
KEY = chain_key(b"k" * 32, "org_1")

texts = st.text(max_size=12)
details = st.dictionaries(
    texts, st.none() | st.booleans() | st.integers() | texts | st.lists(texts, max_size=3)
)
acts = st.tuples(
    st.integers(0, 253_402_300_799_999), texts, texts, st.none() | texts, st.none() | texts, details
)


def chain(
    given_acts: Sequence[Told], key: bytes = KEY, start: int = 1, previous: bytes = GENESIS
) -> list[AuditRow]:
    rows = []
    for seq, (at, type, actor, subject, request_id, said) in enumerate(given_acts, start):
        row = AuditRow("org_1", seq, at, type, actor, subject, request_id, details_text(said), b"")
        previous = hash_of(mac_of(key), previous, row)
        rows.append(row._replace(hash=previous))
    return rows


PLAIN = [(1_700_000_000_000 + n, "key.minted", "operator", f"key_{n}", None, {"n": n}) for n in range(8)]


@given(st.lists(acts, min_size=1, max_size=12))
def test_a_chain_as_it_was_written_is_whole(given_acts: list[Told]) -> None:
    rows = chain(given_acts)
    report = check(KEY, rows)
    assert report == (len(rows), 1, len(rows), rows[-1].hash, None)


@given(acts)
def test_the_canonical_form_is_that_of_json_dumps(act: Told) -> None:
    (row,) = chain([act])
    shown = {
        "organizationId": "org_1",
        "seq": 1,
        "at": iso(row.created_at),
        "type": row.type,
        "actor": row.actor,
        "subject": row.subject,
        "requestId": row.request_id,
        "details": json.loads(row.details),
    }
    text = json.dumps(shown, sort_keys=True, separators=(",", ":"))
    assert canonical(row) == text.encode()
    assert hmac.new(KEY, GENESIS + text.encode(), "sha256").digest() == row.hash


def _touched(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return "x" if value is None else f"{value}x"


@given(st.lists(acts, min_size=1, max_size=12), st.data())
def test_a_changed_column_is_found_in_its_row(given_acts: list[Told], data: st.DataObject) -> None:
    rows = chain(given_acts)
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.sampled_from(AuditRow._fields))
    rows[at] = rows[at]._replace(**{column: _touched(getattr(rows[at], column))})
    broken = check(KEY, rows).broken
    assert broken is not None
    # A chain that begins with a higher number misses what is before it.
    assert broken.seq == (2 if column == "seq" and at == 0 else at + 1)


@given(st.lists(acts, min_size=2, max_size=12), st.data())
def test_what_was_taken_out_is_found(given_acts: list[Told], data: st.DataObject) -> None:
    rows = chain(given_acts)
    at = data.draw(st.integers(0, len(rows) - 2))
    for renumbered in (False, True):
        left = rows[:at] + [row._replace(seq=row.seq - 1) if renumbered else row for row in rows[at + 1 :]]
        broken = check(KEY, left).broken
        assert broken is not None
        assert broken.seq in (at + 1, at + 2)  # of the first rows nothing is left but the next one


@given(st.lists(acts, min_size=2, max_size=12), st.data())
def test_rows_in_another_order_are_found(given_acts: list[Told], data: st.DataObject) -> None:
    rows = chain(given_acts)
    one, other = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2, unique=True))
    rows[one], rows[other] = rows[other]._replace(seq=one + 1), rows[one]._replace(seq=other + 1)
    broken = check(KEY, rows).broken
    assert broken is not None
    assert broken.seq == min(one, other) + 1


@given(st.lists(acts, min_size=1, max_size=12), acts, st.data())
def test_what_was_put_in_is_found(given_acts: list[Told], act: Told, data: st.DataObject) -> None:
    rows = chain(given_acts)
    at = data.draw(st.integers(0, len(rows)))
    previous = rows[at - 1].hash if at else GENESIS
    (forged,) = chain([act], b"another key", at + 1, previous)
    touched = [*rows[:at], forged, *(row._replace(seq=row.seq + 1) for row in rows[at:])]
    assert check(KEY, touched).broken == Broken(at + 1, check(KEY, touched).broken.fault)  # type: ignore[union-attr]


@given(st.lists(acts, min_size=1, max_size=12))
def test_a_chain_of_another_key_is_found_at_once(given_acts: list[Told]) -> None:
    broken = check(KEY, chain(given_acts, chain_key(b"k" * 32, "org_2"))).broken
    assert broken is not None
    assert broken.seq == 1


@given(st.lists(acts, min_size=2, max_size=12), st.data())
def test_a_tail_that_was_cut_off_shows_in_the_head_alone(given_acts: list[Told], data: st.DataObject) -> None:
    rows = chain(given_acts)
    left = rows[: data.draw(st.integers(1, len(rows) - 1))]
    report = check(KEY, left)
    assert report.broken is None
    assert report.head != rows[-1].hash


# Seals ---------------------------------------------------------------------------------------------


def sealed(removed: int, more: Callable[[list[Told]], None] = lambda _: None) -> list[AuditRow]:
    """PLAIN without its first rows, and a seal of them at the end."""
    whole = chain(PLAIN)
    told = seal_details(removed, whole[removed - 1].hash, removed)
    given_acts = [*PLAIN, (1_700_000_001_000, Act.AUDIT_SEALED.value, "system:retention", None, None, told)]
    more(given_acts)
    return chain(given_acts)[removed:]


@pytest.mark.parametrize("removed", [1, 3, len(PLAIN)])
def test_a_chain_is_whole_behind_its_seal(removed: int) -> None:
    rows = sealed(removed)
    assert check(KEY, rows) == (len(PLAIN) + 1 - removed, removed + 1, len(PLAIN) + 1, rows[-1].hash, None)


def test_a_front_that_was_removed_without_a_seal_is_found() -> None:
    assert check(KEY, chain(PLAIN)[2:]).broken == Broken(3, "no seal tells of the rows before it")


def test_more_than_a_seal_tells_of_is_found() -> None:
    assert check(KEY, sealed(2)[1:]).broken == Broken(4, "no seal tells of the rows before it")


def test_a_seal_that_was_cut_off_is_missed() -> None:
    broken = check(KEY, sealed(2)[:-1]).broken
    assert broken == Broken(3, "no seal tells of the rows before it")


def test_a_seal_that_was_made_without_the_key_is_found() -> None:
    rows = sealed(2)
    whole = chain(PLAIN)
    told = details_text(seal_details(3, whole[2].hash, 3))
    assert check(KEY, [*rows[1:-1], rows[-1]._replace(details=told)]).broken is not None


@pytest.mark.parametrize(
    "nonsense",
    ["", "[]", "{", '{"through":2}', '{"through":"x","hash":7}', '{"through":2,"hash":"zz"}', "null"],
)
def test_a_seal_may_say_anything(nonsense: str) -> None:
    rows = sealed(2)
    assert check(KEY, [*rows[:-1], rows[-1]._replace(details=nonsense)]).broken is not None


@given(st.lists(st.builds(AuditRow, texts, st.integers(), st.integers(), st.sampled_from(["", "audit.sealed"]), texts,
                          st.none() | texts, st.none() | texts, st.text(), st.binary(max_size=40))))  # fmt: skip
def test_rows_may_be_anything(rows: list[AuditRow]) -> None:
    report = check(KEY, rows)
    assert (report.broken is None) == (not rows)
