"""A page of the console has so many octets as it leaves, whatever is on it."""

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from controlplane.console.budget import FRAME_BYTES, PAGE_BYTES, Room, cut, drawn_within


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(4, 120))
def test_a_cut_holds_on_what_leaves(text: str, characters: int) -> None:
    told = cut(text, characters)
    assert len(told) <= characters and len(escape(told).encode()) <= 3 * characters
    if told != text:
        assert told.endswith("…") and text.startswith(told[:-1])


def test_words_in_any_script_are_cut_by_their_characters_alone() -> None:
    for word in ("a", "я", "漢"):
        assert cut(word * 200, 100) == word * 99 + "…" and cut(word * 100, 100) == word * 100
    assert len(cut("&" * 200, 100)) < 65


def walk(items: list[str], octets: int) -> list[list[str]]:
    """The pieces of each page."""
    pages, place = [], 0
    while True:
        drawn = Room(octets).rows(items, str, place)
        pages.append(drawn.pieces)
        if drawn.next is None:
            return pages
        assert drawn.next > place and drawn.last == items[drawn.next - 1]
        place = drawn.next


@given(st.lists(st.text("a&漢", max_size=30), max_size=30), st.integers(1, 200))
def test_rows_are_all_there_over_the_pages(items: list[str], octets: int) -> None:
    pages = walk(items, octets)
    assert [one for page in pages for one in page] == items
    assert all(len(page) == 1 or sum(len(one.encode()) for one in page) <= octets for page in pages if page)


def test_rows_of_a_page_share_its_room() -> None:
    room = Room(100)
    assert len(room.rows(["x" * 10] * 20, str, 0, 30).pieces) == 3
    assert len(room.rows(["x" * 10] * 20, str).pieces) == 7
    assert len(room.rows(["x" * 10] * 20, str).pieces) == 1, "one at least, so that whoever follows comes on"


def test_a_page_that_came_out_too_long_is_drawn_again() -> None:
    """Its frame takes more than is thought."""
    frame, rows, times = "f" * (FRAME_BYTES * 3), ["r" * 700] * 100, []

    def draw(room: Room) -> str:
        times.append(1)
        return frame + "".join(room.rows(rows, str).pieces)

    page = drawn_within(draw)
    assert PAGE_BYTES - 1400 < len(page) <= PAGE_BYTES and len(times) == 2
    assert len(drawn_within(lambda room: "short")) == 5


def test_a_page_is_drawn_a_few_times_at_most() -> None:
    times: list[Room] = []

    def draw(room: Room) -> str:
        times.append(room)
        return "x" * (PAGE_BYTES + 1)

    drawn_within(draw)
    assert 1 < len(times) <= 5
