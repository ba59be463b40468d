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

from controlplane.console.page import PageCall
from maild.message.evidence.page import read_page
from maild.message.fences import unseen

TEXT_CHARS = 16_000  # of one message on a page
HTML_CHARS = 256 * 1024  # of it, that are read
PIECES_MAX = 400
WHYS_MAX = 4  # that are told of one piece
_HIDING = frozenset(["hidden_text", "comment_text", "zero_width", "bidi_control", "tag_characters"])
# From, to, what hides it, does it begin a block, its words where they are not what stands there.
Part = tuple[int, int, str | None, bool, str | None]
_BLANKS = re.compile(r"\s+")


class Piece(NamedTuple):
    """`why`: what evidence says of it, in words; empty: nothing. `is_hidden`: a person would not see it."""

    text: str
    why: str = ""
    is_hidden: bool = False


class Marked(NamedTuple):
    """A text in pieces. `is_cut`: there is more of it. `has_hidden`: not all of it is seen."""

    pieces: Sequence[Piece]
    is_cut: bool = False
    has_hidden: bool = False


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
    return f"{kind} ({item['why']})" if item["why"] else kind


def marks_of_warnings(warnings: Iterable[Mapping[str, Any]], view: str = "text") -> list[TextMark]:
    """Of what looked wrong in a message of ours, where it says a place in it."""
    return [
        TextMark(one["start"], one["end"], one["code"].replace("_", " "), False)
        for one in warnings
        if one["view"] == view and one["start"] is not None and one["messageId"] is None
    ]


def marked_text(text: str | None, marks: Sequence[TextMark]) -> Marked | None:
    """The text with these marks, and with characters that nobody sees as escapes; None: there is no text."""
    if text is None:
        return None
    shown = text[:TEXT_CHARS]
    every = [*marks, *(TextMark(at, at + 1, "invisible", True) for at, _ in unseen(shown))]
    pieces = _bounded(
        Piece(_told(piece.text) if piece.is_hidden else piece.text, piece.why, piece.is_hidden)
        for piece in _split(shown, 0, len(shown), every)
    )
    return Marked(pieces, len(text) > len(shown), any(one.is_hidden for one in pieces))


async def reading_of(call: PageCall, html: str | None, items: Sequence[Mapping[str, Any]]) -> Marked | None:
    """HTML as a program reads it: its words in their order, those that its style hides among them. None: there is no
    HTML."""
    if html is None:
        return None
    owner = call.signed_in.principal.organization_id
    return await call.cpu.run(owner, partial(marked_html, html, marks_of_evidence(items)))


def marked_html(html: str, marks: Sequence[TextMark]) -> Marked:
    """The same, where it is computed."""
    read = html[:HTML_CHARS]
    page = read_page(read)
    parts: list[Part] = [(run.start, run.end, run.why, run.breaks, None) for run in page.runs]
    parts += [
        (one.start, one.end, one.where, True, one.words)
        for one in page.unseen
        if any(mark.start < one.end and one.start < mark.end for mark in marks)
    ]
    pieces: list[Piece] = []
    length = 0
    for start, end, why, breaks, words in sorted(parts, key=lambda part: part[:2]):
        if length > TEXT_CHARS or len(pieces) > PIECES_MAX:
            return Marked(_bounded(pieces), True, any(one.is_hidden for one in pieces))
        if breaks and pieces:
            pieces.append(Piece("\n"))
        if words is not None:
            pieces.append(Piece(_told(words), why or "", True))
            continue
        for piece in _split(read, start, end, marks):
            text = _told(_BLANKS.sub(" ", entities.unescape(piece.text)))
            length += len(text)
            hidden = bool(why) or piece.is_hidden
            pieces.append(Piece(text, piece.why or why or "", hidden))
    return Marked(
        _bounded(pieces), page.is_cut or len(html) > len(read), any(one.is_hidden for one in pieces)
    )


def _split(text: str, start: int, end: int, marks: Sequence[TextMark]) -> Iterator[Piece]:
    """`text[start:end]` cut where a mark begins or ends."""
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
        yield Piece(text[left:right], why, any(one.is_hidden for one in live))


def _bounded(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbours that say the same are one; of what is too much, the rest is one piece without marks."""
    made: list[tuple[list[str], str, bool]] = []
    for piece in pieces:
        if not piece.text:
            continue
        is_like = bool(made) and made[-1][1:] == piece[1:]
        if is_like or len(made) > PIECES_MAX:
            made[-1][0].append(piece.text)
        elif len(made) == PIECES_MAX:
            made.append(([piece.text], "", False))
        else:
            made.append(([piece.text], piece.why, piece.is_hidden))
    return [Piece("".join(texts), why, is_hidden) for texts, why, is_hidden in made]


def _told(text: str) -> str:
    """With what can't be seen as escapes."""
    parts, at = [], 0
    for place, shown in unseen(text):
        parts += [text[at:place], shown]
        at = place + 1
    return "".join([*parts, text[at:]])
