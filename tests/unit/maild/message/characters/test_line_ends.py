"""What counts as the end of a line in a text that was decoded."""

import pytest

from maild.message.characters.line_ends import with_lf


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb", "a\nb"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\r\r\nb\r\r\n", "a\nb\n"),  # Ruby's mail 2.7, in all that Rails sent with it
        ("a\r\r\n\r\r\nb", "a\n\nb"),
        ("a\r\n\r\nb\r\rc", "a\n\nb\n\nc"),
        ("a\r\r\r\nb", "a\n\nb"),
    ],
)
def test_line_ends(text: str, expected: str) -> None:
    assert with_lf(text) == expected
