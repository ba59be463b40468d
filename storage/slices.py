"""Slices of much work, between which others write.

A statement for many rows is cheaper than one for each, but no clock ends it, and one row may cost a thousand times as
much as another: a draft of a megabyte, or one whose page has to come from the disk.
"""

from collections.abc import Callable, Iterator

PIECE_MAX = 25  # rows of one statement


def pieces(rows: int, is_over: Callable[[], bool]) -> Iterator[int]:
    """Of so many rows, how many a statement takes: one, then twice as many each time, until the slice is over."""
    piece = 1
    while rows > 0:
        yield min(piece, rows)
        if is_over():
            return
        rows, piece = rows - piece, min(2 * piece, PIECE_MAX)
