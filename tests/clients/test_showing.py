"""What reaches a terminal: nothing that it obeys, whatever strangers wrote; tables that fit; all there is to know."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild_client.cli import showing

HOSTILE = (
    "\x1b]0;owned\x07", "\x1b[2J\x1b[1;1H", "\x9b31m", "\x1bP+q544e\x1b\\", "\x07", "\x08\x08", "\r", "\x7f", "\x00",
    "\u202e", "\u2066", "\u200b", "\u200f", "\ufeff", "\u2028", "\u2029", "\x85", "\ud800", "\U000e0041", "\u00ad",
)  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.sampled_from(HOSTILE), st.tuples(st.text(), st.sampled_from(HOSTILE)).map("".join)
)
NAMES = st.one_of(
    TEXTS,
    st.sampled_from(["id", "fields", "message", "code", "details", "auth", "data", "subject", "textBody"]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


def obeyed(text: str) -> list[str]:
    """What a terminal would do something for, besides ending a line."""
    return [
        one
        for one in text
        if (one not in "\n\t" and unicodedata.category(one)[0] == "C") or one in "\u2028\u2029"
    ]


@given(OBJECTS, st.lists(OBJECTS, max_size=4), st.integers(1, 120))
def test_nothing_that_is_shown_is_obeyed(
    thing: dict[str, Any], rows: list[dict[str, Any]], width: int
) -> None:
    shown = [
        *showing.members(thing),
        *(showing.table(rows, (), width) if rows else ()),
        *(showing.table(rows, ("id", "a.b"), width) if rows else ()),
        showing.error_text(thing),
        showing.message_text(thing),
        showing.event_line(thing),
        showing.as_ascii(thing),
    ]
    assert obeyed("\n".join(shown)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_taken_apart_is_shown(text: str) -> None:
    assert "\\u{" in showing.safe(f"a{text}b") and showing.safe(f"a{text}b")[0] == "a"


def test_languages_and_emoji_stay() -> None:
    told = "Grüße, Ελλάδα, שלום, 日本語, \N{GRINNING FACE}, e\N{COMBINING ACUTE ACCENT}"
    assert showing.safe(told) == told


def test_line_ends_stay_in_texts_alone() -> None:
    assert showing.safe("a\r\nb\tc", keeps_lines=True) == "a\nb\tc"
    assert showing.safe("a\nb") == "a\\u{A}b"
    assert showing.safe("a\rb", keeps_lines=True) == "a\\u{D}b"


ROWS = [
    {"id": "msg_1", "subject": "Short", "unread": True, "to": ["a@x.test", "b@x.test"], "none": None},
    {"id": "msg_2", "subject": "日本語の件名はとても長いです" * 3, "unread": False, "to": [], "none": None},
]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_fits_and_its_columns_stand_below_each_other(width: int) -> None:
    lines = showing.table(ROWS, ("id", "unread", "to", "subject"), width)
    assert len(lines) == 3 and all(showing.columns_of(line) <= width for line in lines)
    assert lines[0].split() == ["ID", "UNREAD", "TO", "SUBJECT"]
    places = [
        showing.columns_of(line[: line.index(word)])
        for line, word in zip(lines, ("SUBJECT", "Short", "日"), strict=True)
    ]
    assert len({*places}) == 1
    assert lines[1].split()[1] == "yes" and ("…" in lines[2]) == (width < 120)


def test_a_table_without_columns_shows_what_has_one_value() -> None:
    assert showing.table([{"a": 1, "b": {"c": 2}, "d": "x"}], (), 80) == ["A  D", "1  x"]


def test_an_object_shows_all_of_it() -> None:
    thing = {
        "id": "msg_1",
        "auth": {"spf": "pass", "all": []},
        "files": [{"name": "a"}, {"name": "b"}],
        "textBody": "1\n2",
    }
    assert showing.members(thing) == [
        "id             msg_1",
        "auth.spf       pass",
        "files[0].name  a",
        "files[1].name  b",
        "",
        "textBody:",
        "  1",
        "  2",
    ]


def test_a_message_begins_with_what_we_know_of_it() -> None:
    message = {
        "id": "msg_1", "direction": "inbound", "status": "received", "auth": {"verifiedDomain": "x.test"},
        "risk": {"level": "high"}, "fromName": "Ada\x1b", "fromAddress": "ada@x.test", "toAddresses": ["bot@y.test"],
        "createdAt": "2026-01-02T03:04:05Z", "subject": "Hi\nFrom: me",
        "attachments": [{"id": "att_1", "filename": "a\r.pdf"}],
        "textBody": "one\ntwo\n",
    }  # fmt: skip
    assert showing.message_text(message).split("\n") == [
        "msg_1 · inbound · received · sender verified: x.test · risk high",
        "From: Ada\\u{1B} ada@x.test",
        "To: bot@y.test",
        "Date: 2026-01-02 03:04:05",
        "Subject: Hi\\u{A}From: me",
        "File: att_1 a\\u{D}.pdf",
        "",
        "one",
        "two",
    ]
    assert "sender not verified" in showing.message_text({**message, "auth": None})


def test_an_id_is_never_cut() -> None:
    id = "msg_" + "0" * 26
    lines = showing.table([{"id": id, "subject": "a long subject " * 9}], ("id", "subject"), 60)
    assert lines[1].startswith(f"{id}  a long") and showing.columns_of(lines[1]) == 60
    assert id in showing.table([{"id": id, "subject": "x"}], ("id", "subject"), 10)[1]
