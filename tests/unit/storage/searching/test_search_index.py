"""The file of the index (storage/searching/search_index.py): whose it is, what is put in twice or taken out, and
damage."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storage.records import load
from storage.searching import index_schema, search_index
from storage.searching.index_batches import Entry, Gone
from storage.searching.index_file import IndexLost
from storage.searching.search_index import SearchIndex, Walked

ONE = Entry("org_1", "msg_1", "inb_1", "some words")
TWO = Entry("org_1", "msg_2", "inb_2", "other words")
THREE = Entry("org_1", "msg_3", "inb_1", "more words")
FOREIGN = Entry("org_2", "msg_4", "inb_3", "foreign words")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    opened = SearchIndex(tmp_path / "search.sqlite3")
    opened.make()
    opened.complete()
    yield opened
    opened.close()


def found(index: SearchIndex, *trigrams: str, inbox_id: str | None = None, rows: int = 10) -> list[Any]:
    with index.reading() as proposals:
        span = proposals.span("org_1")
        match = proposals.match(trigrams, inbox_id)
        if span is None or match is None:
            return []
        by_age = [one for _, one in load(proposals.by_age(match, span, "", "~", rows))]
        by_number = [one for _, one in load(proposals.by_number(match, span.low, span.end, rows))]
        if span.is_ordered and None not in by_number:
            assert by_age == [one for one in by_number if one is not None]
        return by_number if span.is_ordered else by_age


def sql(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        return conn.execute(statement).fetchall()


def test_what_is_proposed(index: SearchIndex) -> None:
    index.change(None, [THREE, FOREIGN, ONE, TWO], [], None)
    assert found(index, "wor") == ["msg_3", "msg_2", "msg_1"]
    assert found(index, "wor", rows=2) == ["msg_3", "msg_2"]
    assert found(index, "oth", "wor") == ["msg_2"]
    assert found(index, "wor", inbox_id="inb_1") == ["msg_3", "msg_1"]
    assert found(index, "wor", inbox_id="inb_absent") == found(index, "for") == []


def test_what_is_put_in_twice_is_there_once_and_what_is_taken_out_twice_is_gone(index: SearchIndex) -> None:
    for _ in range(2):
        index.change(None, [ONE, TWO], [], None)
    assert found(index, "wor") == ["msg_2", "msg_1"]
    for _ in range(2):
        index.change(
            None, [], [Gone("msg_2", "inb_2", TWO.words), Gone("msg_9", "inb_9", "never there")], None
        )
    assert found(index, "wor") == ["msg_1"] and found(index, "oth") == []


def test_a_trigram_that_was_not_taken_out_hides_nothing_behind_it(index: SearchIndex) -> None:
    index.change(None, [ONE, TWO, THREE], [], None)
    index.change(None, [], [Gone("msg_3", "inb_1", "folded by another Unicode")], None)
    assert found(index, "wor", rows=2) == [None, "msg_2"]


def test_numbers_that_are_not_in_the_order_of_age_are_told(index: SearchIndex) -> None:
    index.change(None, [TWO], [], None)
    index.change(None, [ONE], [], None)
    with index.reading() as proposals:
        span = proposals.span("org_1")
    assert span is not None and not span.is_ordered
    assert found(index, "wor") == ["msg_2", "msg_1"]


def test_it_belongs_to_the_store_that_names_its_last_mark_or_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "search.sqlite3"
    index = SearchIndex(path)
    assert index.open(None) == "missing"
    begun = index.make()
    first = index.change(begun, [ONE], [], None)
    second = index.change(first, [TWO], [], None)
    index.complete()
    index.close()
    for mark in (first, second):
        assert index.open(mark) is None and index.is_complete
        assert found(index, "wor") == ["msg_2", "msg_1"]
    for foreign in (None, begun, "another"):
        assert index.open(foreign) == "of another store or another time" and not index.is_complete
    assert index.open(second) is None
    index.change(second, [], [Gone("msg_1", "inb_1", ONE.words)], None)
    assert index.open(second) == "of another store or another time"  # where the message may be there again
    index.close()


def test_what_was_folded_by_another_unicode_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = SearchIndex(tmp_path / "search.sqlite3")
    mark = index.make()
    monkeypatch.setattr(index_schema, "FORM", "1, Unicode 99.0.0")
    assert index.open(mark) == "of another version"
    index.close()


def test_a_walk_goes_on_where_it_was(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / "search.sqlite3")
    mark = index.make()
    assert index.walked() == Walked()
    mark = index.change(mark, [ONE], [], Walked("org_1", "msg_1"))
    mark = index.change(mark, [], [Gone("msg_9", "inb_9", "")], None)
    index.close()
    assert index.open(mark) is None and not index.is_complete
    assert index.walked() == Walked("org_1", "msg_1")
    with pytest.raises(IndexLost), index.reading():
        raise AssertionError("it can't be read")
    index.complete()
    assert index.walked() is None and found(index, "wor") == ["msg_1"]
    index.close()


def half(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // 4096 * 4096)


def zeroed(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(path.stat().st_size - 4096))


@pytest.mark.parametrize(
    "harm",
    [
        Path.unlink, half, zeroed,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no database " * 1000),
        lambda path: sql(path, "PRAGMA application_id = 7"),
        lambda path: sql(path, "DROP TABLE index_state"),
        lambda path: sql(path, "DROP TABLE trigrams"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_whole_index_of_ours_is_not_opened(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    path = tmp_path / "search.sqlite3"
    index = SearchIndex(path)
    mark = index.change(index.make(), [ONE], [], None)
    index.complete()
    index.close()
    harm(path)
    assert index.open(mark) is not None
    assert not index.is_complete
    index.make()  # in the place of whatever is there
    index.complete()
    assert found(index, "wor") == []
    index.close()


@pytest.mark.parametrize(
    ("code", "is_short", "why"),
    [
        (sqlite3.SQLITE_CANTOPEN, True, None),
        (sqlite3.SQLITE_NOMEM, False, None),
        (sqlite3.SQLITE_IOERR, False, None),
        (sqlite3.SQLITE_BUSY, False, None),
        (sqlite3.SQLITE_CANTOPEN, False, "so it is"),  # its owner is another, say
        (sqlite3.SQLITE_IOERR_SHORT_READ, True, "so it is"),
        (sqlite3.SQLITE_NOTADB, True, "so it is"),
    ],
)
def test_a_want_of_the_moment_is_no_reason_to_make_it_anew(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, code: int, is_short: bool, why: str | None
) -> None:
    """The index of a large store is hours of work, and a start with too few descriptors a moment."""

    def failing(*args: Any) -> sqlite3.Connection:
        error = sqlite3.OperationalError("so it is")
        error.sqlite_errorcode = code
        raise error

    index.change(None, [ONE], [], None)
    monkeypatch.setattr(search_index, "connect", failing)
    monkeypatch.setattr(search_index, "is_short_of_descriptors", lambda: is_short)
    if why is not None:
        assert index.open("a mark") == why
    else:
        with pytest.raises(sqlite3.OperationalError):
            index.open("a mark")


def test_damage_that_a_search_meets_ends_the_index(index: SearchIndex, tmp_path: Path) -> None:
    index.change(
        None, [Entry("org_1", f"msg_{at:04}", "inb_1", f"words {at}") for at in range(3000)], [], None
    )
    index.close()
    (mark,) = sql(tmp_path / "search.sqlite3", "SELECT mark FROM index_state")[0]
    assert index.open(mark) is None
    (first,) = sql(
        tmp_path / "search.sqlite3", "SELECT rootpage FROM sqlite_master WHERE name = 'documents'"
    )[0]
    with (tmp_path / "search.sqlite3").open("r+b") as file:
        file.seek((first - 1) * 4096)
        file.write(bytes(4096))
    with pytest.raises(IndexLost):
        found(index, "wor")
    assert not index.is_complete
    index.make()
    index.complete()
    assert found(index, "wor") == []


def another(path: Path) -> None:
    """As `mv` and rsync put a file in the place of one, of which the log goes as well."""
    other = SearchIndex(path.with_name("other.sqlite3"))
    other.make()
    other.complete()
    other.close()
    other.path.replace(path)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink()


@pytest.mark.parametrize("harm", [Path.unlink, another])
def test_a_file_that_is_taken_away_beneath_it_ends_the_index(
    index: SearchIndex, harm: Callable[[Path], object]
) -> None:
    """What another file proposes is no answer, and without any each search would read all messages from then on."""
    index.change(None, [ONE], [], None)
    with index.reading():  # has the file that it opened
        harm(index.path)
        with pytest.raises(IndexLost):
            found(index, "wor")
    assert not index.is_complete
    index.make()
    index.complete()
    assert found(index, "wor") == []


@pytest.mark.parametrize("harm", [Path.unlink, another])
def test_nothing_is_written_where_its_file_was_taken_away(
    index: SearchIndex, harm: Callable[[Path], object]
) -> None:
    harm(index.path)
    with pytest.raises(IndexLost):
        index.change(None, [ONE], [], None)
    assert not index.is_complete


def test_a_fault_of_the_caller_condemns_nothing(index: SearchIndex) -> None:
    index.change(None, [ONE], [], None)
    with pytest.raises(KeyError), index.reading():
        raise KeyError
    assert found(index, "wor") == ["msg_1"]


def test_who_reads_while_it_is_made_anew_reads_to_the_end(index: SearchIndex) -> None:
    index.change(None, [ONE], [], None)
    with index.reading() as proposals:
        index.make()
        span, match = proposals.span("org_1"), proposals.match(["wor"], None)
        assert span is not None and match is not None
        assert load(proposals.by_age(match, span, "", "~", 5)) == [["msg_1", "msg_1"]]
    index.complete()
    assert found(index, "wor") == []


def test_tidying_up_ends_and_changes_nothing(index: SearchIndex) -> None:
    for at in range(40):
        index.change(None, [Entry("org_1", f"msg_{at:02}", "inb_1", f"words {at}")], [], None)
    while index.merge():
        pass
    assert found(index, "wor", rows=100) == [f"msg_{at:02}" for at in reversed(range(40))]
