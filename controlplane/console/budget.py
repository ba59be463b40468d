"""How long a page is: PAGE_BYTES at most, as it leaves (escaped, in UTF-8), whatever it shows. What was typed into a
form that is refused comes back whole, however long: it is the member's own, and nowhere else.

What is long or many is drawn in rows, out of one room for the whole page: as many rows as fit, and a link to where it
goes on from the first that did not. A single value is cut to so many characters, and octets. What stands on a page
besides is known only when it is drawn: where a page came out too long it is drawn again, with less room for its rows.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple, TypeVar

PAGE_BYTES = 60_000
FRAME_BYTES = 10_000  # menu, forms, headings: what a page has besides its rows, as a rule
DRAWN_MAX = 5  # times that a page is drawn, each in less room

T = TypeVar("T")


class Drawn(NamedTuple):
    """Rows as a template drew them. `next`: the number of the first that had no room; None: there is none. `last`: the
    last that had some."""

    pieces: list[Any]
    next: int | None
    last: Any


class Room:
    """What is left of a page for its rows, in octets."""

    def __init__(self, octets: int) -> None:
        self.used = 0
        self._octets = octets

    def rows(
        self, items: Sequence[Any], draw: Callable[[Any], Any], start: int = 0, most: int = PAGE_BYTES
    ) -> Drawn:
        """As many of `items[start:]` as fit, in `most` octets of the room; one in any case, so that whoever follows
        the links comes to the end. `draw`: a macro."""
        left = min(most, self._octets - self.used)
        pieces: list[Any] = []
        for number, item in enumerate(items[start:], start):
            piece = draw(item)
            octets = len(piece.encode())
            if pieces and octets > left:
                return Drawn(pieces, number, items[number - 1])
            left -= octets
            self.used += octets
            pieces.append(piece)
        return Drawn(pieces, None, items[-1] if items else None)


def drawn_within(draw: Callable[[Room], str]) -> str:
    """The page that `draw` makes in the room that it is given, within PAGE_BYTES."""
    room = Room(PAGE_BYTES - FRAME_BYTES)
    for _ in range(DRAWN_MAX):
        page = draw(room)
        excess = len(page.encode()) - PAGE_BYTES
        if excess <= 0:
            break
        room = Room(room.used - excess)
    return page


def cut(text: str, characters: int, octets: int = 0) -> str:
    """The text's beginning, with an ellipsis where there is more: so many characters at most, and so many octets as
    they leave (0: three a character, which is plenty for words, and not for what has to be escaped)."""
    left = octets or 3 * characters
    if len(text) <= characters and octets_of(text) <= left:
        return text
    left -= len("…".encode())
    for number, sign in enumerate(text[: characters - 1]):
        left -= octets_of(sign)
        if left < 0:
            return f"{text[:number].rstrip()}…"
    return f"{text[: characters - 1].rstrip()}…"


def octets_of(text: str) -> int:
    """How long it is on a page, at most."""
    return len(escape(text).encode("utf-8", "replace"))
