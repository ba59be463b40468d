"""Where quoted strings and unquoted values end, and what it takes to find that in a field of the largest size."""

import tracemalloc
from collections.abc import Callable

import pytest

from maild.message.fields.mailboxes import end_of_quoted, read_mailboxes
from maild.message.fields.parameters import read_value

SIZE = 128 * 1024


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ('"a" b', "a"),
        ('""', ""),
        (r'"a\"b" c', r"a\"b"),
        (r'"a\\" b"', r"a\\"),
        (r'"\\\"a"', r"\\\"a"),
        (r'"\"\"" "', r"\"\""),
        ('"a b', "a b"),
        (r'"a\"', r"a\""),
        ('"a\\', "a"),
        ('"a\\\\', r"a\\"),
        ('"', ""),
    ],
)
def test_a_quoted_string_ends_at_its_quote_or_with_the_value(value: str, content: str) -> None:
    assert value[1 : end_of_quoted(value, 1)] == content


@pytest.mark.parametrize(
    ("value", "parameters"),
    [
        ("x/y; a=b c d; e=f", {"a": "b c d", "e": "f"}),
        ("x/y; a=b  c=d", {"a": "b", "c": "d"}),
        ("x/y; a=b  c  ;d=e", {"a": "b  c", "d": "e"}),
        ("x/y; a= ;b=c", {"a": "", "b": "c"}),
        ('x/y; a="b" c=d', {"a": "b", "c": "d"}),
        ('x/y; a="b;c=d', {"a": "b;c=d"}),
        (r'x/y; a="b\"; c=d"; e=f', {"a": 'b"; c=d', "e": "f"}),
    ],
)
def test_a_parameter_ends_where_the_next_begins(value: str, parameters: dict[str, str]) -> None:
    assert read_value(value) == ("x/y", parameters)


@pytest.mark.parametrize("read", [read_value, read_mailboxes])
@pytest.mark.parametrize(
    "value",
    [
        'x/y; a="' + r"\a" * SIZE + '"',
        'x/y; a="' + r"\"" * SIZE,
        "x/y; a=" + "b " * SIZE,
        "x/y; name=" + "b " * SIZE,
    ],
    ids=["pairs", "open", "blanks", "name"],
)
def test_a_large_field_takes_little_memory(read: Callable[[str], object], value: str) -> None:
    """It was 100 to 200 octets for each pair or word."""
    tracemalloc.start()
    try:
        read(value)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 * len(value)
