"""Comments in the values of structured fields (RFC 5322 §3.2.2): they nest, and a backslash takes a parenthesis out."""

from __future__ import annotations

import re

# What stands in angle brackets is an id or an address: programs put parentheses into theirs.
_OUTSIDE = re.compile(r"<[^<>]*+>|\(")
_MARK = re.compile(r"\\.|[()]", re.DOTALL)


def without_comments(value: str) -> str:
    """The value with a blank for each comment. A parenthesis that is never closed is a word of a phrase."""
    if "(" not in value:
        return value
    kept: list[str] = []
    start = position = 0
    while (found := _OUTSIDE.search(value, position)) is not None:
        position = found.end()
        if found[0] != "(":
            continue
        end = _end_of_comment(value, position)
        if end is None:
            break
        kept.append(value[start : found.start()])
        start = position = end
    return " ".join([*kept, value[start:]])


def _end_of_comment(value: str, start: int) -> int | None:
    depth = 1
    for mark in _MARK.finditer(value, start):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return None
