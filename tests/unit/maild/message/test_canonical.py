"""The canonical forms of RFC 6376 §3.4, with dkimpy as the oracle."""

import hashlib

import dkim.canonicalization as canonical
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.canonical import RELAXED, SIMPLE, body_hash, header_line, read_fields
from maild.message.tags import MAX_TAGS, read_loosely, read_tags

WORDS = st.lists(st.sampled_from([b"word", b" ", b"\t", b"\r\n", b"."]), max_size=40)
ORACLES = {RELAXED: canonical.Relaxed, SIMPLE: canonical.Simple}


@pytest.mark.parametrize("form", [RELAXED, SIMPLE])
@given(words=WORDS, piece=st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_the_hash_of_a_body_is_that_of_its_pieces(form: bytes, words: list[bytes], piece: int) -> None:
    body = b"".join(words) + b"\r\n" if words else b""
    expected = ORACLES[form].canonicalize_body(body)
    assert body_hash(b"head" + body, 4, form, piece) == hashlib.sha256(expected).digest()


@pytest.mark.parametrize(
    ("form", "line"),
    [(RELAXED, b"subject:a b c\r\n"), (SIMPLE, b"SubJect : a  b\r\n\t c \r\n")],
)
def test_a_field_in_both_forms(form: bytes, line: bytes) -> None:
    (field,) = read_fields(b"SubJect : a  b\r\n\t c \r\n")
    assert header_line(field, form) == line


@given(
    words=st.lists(st.sampled_from([b"Word", b" ", b"\t", b"\r\n ", b"\n\t", b"\r", b"\xa0"]), max_size=20)
)
@settings(max_examples=300, deadline=None)
def test_a_relaxed_field_is_what_dkimpy_makes_of_it(words: list[bytes]) -> None:
    field = (b"SubJect \t", b"".join(words))
    ((name, value),) = canonical.Relaxed.canonicalize_headers([field])
    assert header_line(field, RELAXED) == name + b":" + value


@pytest.mark.parametrize(
    ("value", "relaxed"),
    [(b" \x0ca b\x0b ", b"\x0ca b\x0b"), (b"\x0b \t\r\n\x0c", b"\x0b \x0c"), (b" \x1c\r\n ", b"\x1c")],
)
def test_blanks_of_a_relaxed_field_are_the_space_and_the_tab(value: bytes, relaxed: bytes) -> None:
    """RFC 6376 §2.8. dkimpy takes off the ends whatever Python takes for a blank."""
    assert header_line((b"A", value), RELAXED) == b"a:" + relaxed + b"\r\n"


def test_lines_that_are_no_fields_are_left_out() -> None:
    section = b"\r\nno field\r\nA: 1\r\n folded\r\n\xff: 2\r\nB :3"
    assert read_fields(section) == [(b"A", b" 1\r\n folded"), (b"B ", b"3")]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("v=DKIM1; k = rsa ;p=", {"v": "DKIM1", "k": "rsa", "p": ""}),
        ("b=a\r\n\t b==;", {"b": "a\r\n\t b=="}),
        ("a=1; a=2", None),
        ("a", None),
        ("a=1;;b=2;", {"a": "1", "b": "2"}),
        ("1a=1", None),
        (" ; ", {}),
        ("", {}),
        (";".join(f"t{n}=" for n in range(MAX_TAGS)), {f"t{n}": "" for n in range(MAX_TAGS)}),
        (";".join(f"t{n}=" for n in range(MAX_TAGS + 2)), None),
    ],
)
def test_tag_lists(text: str, tags: dict[str, str] | None) -> None:
    assert read_tags(text) == tags


def test_what_can_not_be_read_of_a_policy_is_passed_over() -> None:
    assert read_loosely("v=DMARC1; p=reject; nonsense; p=none; sp = x;") == {
        "v": "DMARC1",
        "p": "reject",
        "sp": "x",
    }
