"""Words of strangers in pieces, for a template to mark: what evidence found, and what a person would not see.

Pieces are text, which the template escapes. What is hidden is in its place, so that a person sees what a program that
reads the message is told. Work and number of pieces are bounded, whatever a mail holds.
"""

import html as entities
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from controlplane.console.budget import cut
from controlplane.console.mail_html import MailLink, link_to, part_of_html
from controlplane.console.page import PageCall
from maild.message.context.fences import unseen
from maild.message.evidence.page import Page, read_page

TEXT_CHARS = 20_000  # of one message on a page
PIECE_CHARS = 500
PIECES_MAX = 400
WHYS_MAX = 4  # that are told of one piece
WHY_CHARS = 100
_HIDING = frozenset(["hidden_text", "comment_text", "zero_width", "bidi_control", "tag_characters"])
# From, to, what hides it, does it begin a block, its words where they are not what stands there.
Part = tuple[int, int, str | None, bool, str | None]
_BLANKS = re.compile(r"\s+")


class Piece(NamedTuple):
    """`why`: what evidence says of it, in words; empty: nothing. `is_hidden`: a person would not see it. `at`: where it
    begins in the text that it is of."""

    text: str
    why: str = ""
    is_hidden: bool = False
    at: int = 0


class Marked(NamedTuple):
    """A part of a text, in pieces. `next`: where the text goes on behind it; None: it ends here. `has_hidden`: not all
    of it is seen."""

    pieces: Sequence[Piece]
    next: int | None = None
    has_hidden: bool = False


class Reading(NamedTuple):
    """A part of HTML as a program reads it, and the links that are in it."""

    marked: Marked
    links: list[MailLink]


class TextMark(NamedTuple):
    """`start:end` of the text. `why`: in words."""

    start: int
    end: int
    why: str
    is_hidden: bool


def marks_of_evidence(items: Iterable[Mapping[str, Any]]) -> list[TextMark]:
    """Of items of `getEvidence`, of one view."""
    return [
        TextMark(one["start"], one["end"], _why(one), one["kind"] in _HIDING or one["kind"] == "preheader")
        for one in items
    ]


def _why(item: Mapping[str, Any]) -> str:
    kind: str = item["kind"].replace("_", " ")
    return f"{kind} ({cut(item['why'], WHY_CHARS)})" if item["why"] else kind


def marks_of_warnings(warnings: Iterable[Mapping[str, Any]], view: str = "text") -> list[TextMark]:
    """Of what looked wrong in a message of ours, where it says a place in it."""
    return [
        TextMark(one["start"], one["end"], one["code"].replace("_", " "), False)
        for one in warnings
        if one["view"] == view and one["start"] is not None and one["messageId"] is None
    ]


def marked_text(text: str | None, marks: Sequence[TextMark], start: int = 0) -> Marked | None:
    """The text from `start` on, with these marks, and with characters that nobody sees as escapes; None: there is no
    text."""
    if text is None:
        return None
    invisible, end = _invisible(text, start, min(len(text), start + TEXT_CHARS))
    pieces, stop = _bounded(_split(text, start, end, [*marks, *invisible]))
    following = stop if stop is not None else end
    return Marked(pieces, following if following < len(text) else None, any(one.is_hidden for one in pieces))


def _invisible(text: str, start: int, end: int) -> tuple[list[TextMark], int]:
    """Characters of `text[start:end]` that nobody sees, those side by side as one, and up to where they are looked for:
    no further than a page has pieces."""
    found: list[TextMark] = []
    for at, _ in unseen(text[start:end]):
        if found and found[-1].end == start + at:
            found[-1] = found[-1]._replace(end=start + at + 1)
        elif len(found) == PIECES_MAX:
            return found, start + at
        else:
            found.append(TextMark(start + at, start + at + 1, "invisible", True))
    return found, end


async def reading_of(
    call: PageCall, html: str | None, items: Sequence[Mapping[str, Any]], start: int = 0
) -> Reading | None:
    """HTML from `start` on as a program reads it: its words in their order, also those that its style hides. None:
    there is no HTML."""
    if html is None:
        return None
    owner = call.signed_in.principal.organization_id
    return await call.cpu.run(owner, partial(read_html, html, marks_of_evidence(items), start))


def read_html(html: str, marks: Sequence[TextMark], start: int = 0) -> Reading:
    """The same, where it is computed."""
    read, following = part_of_html(html, start)
    page = read_page(read)
    here = [TextMark(one.start - start, one.end - start, one.why, one.is_hidden) for one in marks]
    parts: list[Part] = [(run.start, run.end, run.why, run.breaks, None) for run in page.runs]
    parts += [
        (one.start, one.end, one.where, True, one.words)
        for one in page.unseen
        if any(mark.start < one.end and one.start < mark.end for mark in here)
    ]
    pieces, stop = _bounded(_of_html(read, sorted(parts, key=lambda part: part[:2]), here))
    if stop is None and page.is_cut:
        stop = max((run.end for run in page.runs), default=0) or None
    marked = Marked(
        [piece._replace(at=piece.at + start) for piece in pieces],
        start + stop if stop else following,
        any(part[2] for part in parts) or any(one.is_hidden for one in pieces),
    )
    return Reading(marked, list(_links(read, page)))


def _of_html(read: str, parts: Sequence[Part], marks: Sequence[TextMark]) -> Iterator[Piece]:
    waiting = sorted(marks, key=lambda one: -one.start)
    near: list[TextMark] = []
    has_begun = False
    for start, end, why, breaks, words in parts:
        while waiting and waiting[-1].start < end:
            near.append(waiting.pop())
        near = [one for one in near if one.end > start]
        if breaks and has_begun:
            yield Piece("\n", at=start)
        has_begun = True
        if words is not None:
            yield Piece(_told(cut(words, PIECE_CHARS)), why or "", True, start)
            continue
        for piece in _split(read, start, end, near):
            text = _told(_BLANKS.sub(" ", entities.unescape(piece.text)))
            yield Piece(text, piece.why or why or "", bool(why) or piece.is_hidden, piece.at)


def _links(read: str, page: Page) -> Iterator[MailLink]:
    for link in page.links:
        words = (entities.unescape(read[run.start : run.end]) for run in page.runs[link.first : link.last])
        made = link_to(link.href, " ".join(words))
        if made is not None:
            yield made


def _split(text: str, start: int, end: int, marks: Sequence[TextMark]) -> Iterator[Piece]:
    """`text[start:end]` cut where a mark begins or ends. What is hidden is told by its escapes."""
    here = [one for one in marks if one.start < end and start < one.end]
    edges = {start, end, *(at for one in here for at in (one.start, one.end) if start < at < end)}
    places = sorted(edges)
    begins = sorted(here, key=lambda one: one.start)
    live: list[TextMark] = []
    following = 0
    for left, right in pairwise(places):
        while following < len(begins) and begins[following].start <= left:
            live.append(begins[following])
            following += 1
        live = [one for one in live if one.end > left]
        why = ", ".join(dict.fromkeys(one.why for one in live[:WHYS_MAX]))
        is_hidden = any(one.is_hidden for one in live)
        for at in range(left, right, PIECE_CHARS):
            piece = text[at : min(at + PIECE_CHARS, right)]
            yield Piece(_told(piece) if is_hidden else piece, why, is_hidden, at)


def _bounded(pieces: Iterable[Piece]) -> tuple[list[Piece], int | None]:
    """As many as a page shows, and where those begin that are left out. Neighbours that say the same are one."""
    made: list[tuple[list[str], Piece]] = []
    length = size = 0
    for piece in pieces:
        if not piece.text:
            continue
        size += len(piece.text)
        if made and size > TEXT_CHARS:
            return _joined(made), piece.at
        if made and made[-1][1][1:3] == piece[1:3] and length + len(piece.text) <= PIECE_CHARS:
            made[-1][0].append(piece.text)
            length += len(piece.text)
        elif len(made) == PIECES_MAX:
            return _joined(made), piece.at
        else:
            made.append(([piece.text], piece))
            length = len(piece.text)
    return _joined(made), None


def _joined(made: Sequence[tuple[list[str], Piece]]) -> list[Piece]:
    return [piece._replace(text="".join(texts)) for texts, piece in made]


def _told(text: str) -> str:
    """With what can't be seen as escapes."""
    parts, at = [], 0
    for place, shown in unseen(text):
        parts += [text[at:place], shown]
        at = place + 1
    return "".join([*parts, text[at:]])
