"""How the lines of a message end, and how many there are (maild/message/octets.py)."""

import re
from itertools import product

from maild.message.octets import has_bare_line_end, has_more_than

BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)")


def test_a_line_end_that_stands_alone_is_seen_wherever_it_stands() -> None:
    for length in range(7):
        for octets in map(bytes, product(b"\r\nx", repeat=length)):
            assert has_bare_line_end(octets) == bool(BARE.search(octets)), octets


def test_an_octet_is_counted_wherever_it_stands() -> None:
    for length in range(7):
        for octets in map(bytes, product(b"\nx", repeat=length)):
            for limit in range(length + 1):
                assert has_more_than(limit, b"\n", octets) == (octets.count(b"\n") > limit), octets
