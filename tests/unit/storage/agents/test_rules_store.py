"""Rules as the store decides by them: who is named, and that the sternest rule wins, at whatever level it stands."""

import sqlite3
from itertools import count

import pytest

from storage.agents import rules
from storage.agents.rules import KEY_CHARS_MAX, LABELS_BELOW_MAX, RuleRow, Ruling, naming
from storage.engine.tx import Tx
from storage.ids import Ids
from tests.support.worlds.memory_store import with_inboxes
from tests.support.worlds.store import ManualClock

OURS, THEIRS = "org_1", "org_2"


class Rulebook:
    """The rules of two organizations, in memory."""

    def __init__(self) -> None:
        self.conn: sqlite3.Connection = with_inboxes()
        self.conn.execute(
            """INSERT INTO organizations (id, name, plan, sending_status, created_at)
               VALUES (?, '', '', 'approved', 1)""",
            (THEIRS,),
        )
        self.tx = Tx(self.conn)
        self._ids = Ids(ManualClock())

    def add(
        self,
        action: str,
        value: str,
        *,
        inbox_id: str | None = None,
        direction: str = "outbound",
        organization_id: str = OURS,
    ) -> str:
        row = RuleRow(self._ids.new("rul"), organization_id, inbox_id, direction, action, value, None, 1)
        return (rules.find_same(self.tx, row) or rules.add(self.tx, row)).id

    def decide(self, key: str, inbox_id: str = "inb_1", direction: str = "outbound") -> Ruling | None:
        return rules.decide(self.tx, OURS, inbox_id, direction, [key]).get(key)


@pytest.fixture
def book() -> Rulebook:
    return Rulebook()


@pytest.mark.parametrize(
    ("value", "named", "not_named"),
    [
        ("ada@x.org", ["ada@x.org", "ada+news@x.org"], ["bob@x.org", "ada@a.x.org", "ada+@y.org"]),
        ("x.org", ["ada@x.org", "bob+t@x.org"], ["ada@a.x.org", "ada@ax.org", "ada@org"]),
        ("*.x.org", ["ada@a.x.org", "ada@b.a.x.org"], ["ada@x.org", "ada@ax.org", "ada@x.org.evil.test"]),
        ("*.org", ["ada@x.org", "ada@a.x.org"], ["ada@org", "ada@x.test"]),
        ("+ada@x.org", ["+ada@x.org"], ["@x.org", "+bob@x.org"]),
        ("xn--mnchen-3ya.test", ["ada@xn--mnchen-3ya.test"], ["ada@munchen.test"]),
    ],
)
def test_whom_a_value_names(book: Rulebook, value: str, named: list[str], not_named: list[str]) -> None:
    book.add("block", value)
    assert [book.decide(key) is not None for key in named] == [True] * len(named)
    assert [book.decide(key) for key in not_named] == [None] * len(not_named)


@pytest.mark.parametrize("first", ["block", "hold", "allow"])
@pytest.mark.parametrize("second", ["block", "hold", "allow"])
@pytest.mark.parametrize("levels", [(None, None), (None, "inb_1"), ("inb_1", None), ("inb_1", "inb_1")])
@pytest.mark.parametrize("values", [("ada@x.org", "x.org"), ("x.org", "ada@x.org"), ("x.org", "*.org")])
def test_the_sternest_rule_wins_at_whatever_level(
    book: Rulebook, first: str, second: str, levels: tuple[str | None, str | None], values: tuple[str, str]
) -> None:
    ids: dict[str, str] = {}
    for action, inbox_id, value in zip((first, second), levels, values, strict=True):
        ids.setdefault(action, book.add(action, value, inbox_id=inbox_id))
    sternest = min(ids, key=rules.STERNEST_FIRST.index)
    assert book.decide("ada@x.org") == Ruling(sternest, ids[sternest])


def test_rules_of_others_say_nothing(book: Rulebook) -> None:
    book.add("block", "x.org", inbox_id="inb_2")
    book.add("block", "x.org", organization_id=THEIRS)
    book.add("block", "x.org", direction="inbound")
    assert book.decide("ada@x.org") is None
    assert book.decide("ada@x.org", direction="inbound") is not None


def test_the_same_rule_is_written_once(book: Rulebook) -> None:
    first = book.add("block", "x.org")
    assert book.add("block", "x.org") == first
    assert len({first, book.add("hold", "x.org"), book.add("block", "x.org", inbox_id="inb_1")}) == 3
    assert rules.count(book.tx, OURS) == 3


def test_what_a_stranger_writes_is_looked_for_within_bounds() -> None:
    for key in ("", "ada", "@", "ada@", "a" * KEY_CHARS_MAX + "@x.org", "ada@" + "a." * 200 + "org"):
        assert len(naming(key)) <= LABELS_BELOW_MAX + 2
    assert naming("ada@[192.0.2.1]") == ("ada@[192.0.2.1]", "[192.0.2.1]")
    ten = ".".join("abcdefghij")
    assert set(naming(f"x@{ten}")) == {f"x@{ten}", ten, *(f"*.{ten[place:]}" for place in range(2, 20, 2))}
    assert f"*.{ten}" in naming(f"x@y.{ten}") and f"*.{ten}" in naming(f"x@z.y.{ten}")


@pytest.mark.parametrize(
    "key",
    [
        "x" * KEY_CHARS_MAX + "@a.evil.test",
        "x@" + "a." * 400 + "evil.test",
        "x@" + "a" * 100_000 + ".evil.test",
        "x@" + "a" * 100_000 + "." + "b" * 1000 + ".a.evil.test",
    ],
)
def test_nobody_hides_behind_what_is_too_long(key: str) -> None:
    assert "*.evil.test" in naming(key)
    assert all(len(value) <= KEY_CHARS_MAX for value in naming(key))
    assert "evil.test" in naming("x" * KEY_CHARS_MAX + "@evil.test")


def test_a_decision_costs_as_much_with_few_rules_as_with_all_there_may_be(book: Rulebook) -> None:
    def steps() -> int:
        counted = count()
        book.conn.set_progress_handler(lambda: next(counted) < 0, 10)
        book.decide("ada@a.x.org")
        book.conn.set_progress_handler(None, 0)
        return next(counted)

    for number in range(10):
        book.add("allow", f"x{number}.org")
    few = steps()
    for number in range(10, 1000):
        book.add("allow", f"x{number}.org")
    assert steps() <= few + 2
