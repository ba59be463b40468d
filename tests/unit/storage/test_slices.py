"""How many rows each statement of a slice takes (storage/slices.py)."""

from itertools import chain, repeat

from storage.slices import PIECE_MAX, pieces


def test_pieces_grow_until_all_is_taken() -> None:
    assert list(pieces(10, lambda: False)) == [1, 2, 4, 3]
    taken = list(pieces(1000, lambda: False))
    assert sum(taken) == 1000
    assert max(taken) == PIECE_MAX
    assert list(pieces(0, lambda: False)) == []


def test_one_is_taken_however_little_time_there_is() -> None:
    assert list(pieces(10, lambda: True)) == [1]


def test_none_is_taken_once_the_slice_is_over() -> None:
    looks = chain([False, False], repeat(True))
    assert list(pieces(1000, lambda: next(looks))) == [1, 2, 4]
