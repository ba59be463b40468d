"""Comments in structured fields: RFC 5322 §3.2.2."""

from __future__ import annotations

import pytest

from maild.message.fields.comments import without_comments
from tests.support.laws.work import Bomb, assert_proportional, bomb


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<a@x>", "<a@x>"),
        ("(from <j@x> at noon) <a@x>", "<a@x>"),
        ("<a@x> (one (in) another) <b@x>(end)", "<a@x>   <b@x>"),
        (r"(an escaped \) and \( too) <a@x>", "<a@x>"),
        ("(a lone < here) <a@x>", "<a@x>"),
        ("(a)b <c(d)@x>", "b <c(d)@x>"),
        ("never :( closed <a@x> (but this)", "never :( closed <a@x> (but this)"),
        ("closed :) never opened", "closed :) never opened"),
        ("", ""),
    ],
)
def test_comments_are_left_out(value: str, expected: str) -> None:
    assert without_comments(value).strip() == expected


@pytest.mark.parametrize(
    "text", [bomb("("), bomb("<"), bomb("(a)"), bomb("(<"), bomb("\\(", before="("), bomb("<(>")]
)
def test_comments_take_work_in_proportion(text: Bomb[str]) -> None:
    assert_proportional(without_comments, text)
    without_comments(text.whole())
