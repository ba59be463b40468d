"""What a page says, read in more than one way, for who hides words hides them from one of the ways.

What a person sees and what nobody sees are read apart, and both together as a program gets them: an order may be half
in sight. Text in which only a tag stands between two letters is read as it stands (`Ig<b>nore</b>`) and with a line
end there (`a<wbr>Ignore`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from maild.message.evidence.language import Hit
from maild.message.evidence.lexicon import SENDING, SIGNS
from maild.message.evidence.page import TextRun
from maild.message.evidence.projection import Folded, Pieced
from maild.message.html.html_tokens import unescape

MAX_WORDS_CHARS: Final = 64 * 1024
MAX_PIECES: Final = 20_000  # of text between tags and character references
PREHEADER_CHARS: Final = 250
_PREHEADER_LOOK = 40  # of what a person sees may stand before it

_REFERENCE = re.compile(r"&#?\w{1,32};?")
_FILLING = re.compile(r"[\s\u00a0\u034f\u00ad\u200b-\u200d\u2007\u2060\ufeff]+")
TAG_LIKE: Final = re.compile(r"<[^<>]{0,2000}>")
_GLUES = re.compile(rf"[^\W_]|[^\x00-\x7f]|[&;{re.escape(SIGNS)}]")  # also a reference, to whatever
# What the text made of HTML leaves out (html_hidden.py).
_LEFT_OUT = ("display:none", "visibility:hidden", "visibility:collapse", "hidden")

Chosen = Callable[[TextRun], bool]


def is_seen(run: TextRun) -> bool:
    """A person sees it."""
    return run.why is None


def is_hidden(run: TextRun) -> bool:
    """A style hides it."""
    return run.why is not None


def whole_ways(html: str, runs: Sequence[TextRun]) -> list[Pieced]:
    """Seen and hidden words together, where there are both: all of them, and those that the text of the mail has."""
    chosen = [one for one in runs if one.why is None or not html[one.start : one.end].isspace()]
    if len({is_seen(one) for one in chosen}) < 2:
        return []
    ways = list(ways_of(html, runs, lambda _: True))
    if any(one.why in _LEFT_OUT for one in chosen):
        ways += ways_of(html, runs, lambda one: one.why not in _LEFT_OUT)
    return ways


def ways_of(html: str, runs: Sequence[TextRun], chosen: Chosen) -> Iterator[Pieced]:
    """The text of the chosen runs, each way to read it, as it stands first."""
    glued = _Piecing(html, chosen, is_apart=False)
    yield glued.pieced(runs)
    if glued.has_joints:
        yield _Piecing(html, chosen, is_apart=True).pieced(runs)


class _Piecing:
    """Puts chosen runs together, references decoded; a block begins on a line of its own. Where hidden runs alone are
    chosen, what stands in sight between two of them parts them. `has_joints`: a tag alone stands between two letters.
    """

    def __init__(self, html: str, chosen: Chosen, *, is_apart: bool) -> None:
        self.has_joints = False
        self._html = html
        self._chosen = chosen
        self._is_apart = is_apart
        self._pieced = Pieced()
        self._decoded: dict[str, str] = {}
        self._last_end = -1

    def pieced(self, runs: Iterable[TextRun]) -> Pieced:
        """Work ends with MAX_WORDS_CHARS and MAX_PIECES, each exceeded by one run at most."""
        made = self._pieced
        breaks = is_parted = False
        for run in runs:
            if made.length > MAX_WORDS_CHARS or made.count > MAX_PIECES:
                break
            breaks = breaks or run.breaks
            if run.start == run.end:
                continue
            if not self._chosen(run):
                is_parted = is_parted or run.why is None
                continue
            made.add(self._between(run, breaks, is_parted), run.start, run.start)
            self._add(run.start, run.end)
            breaks = is_parted = False
            self._last_end = run.end
        return made

    def _between(self, run: TextRun, breaks: bool, is_parted: bool) -> str:
        if breaks:
            return "\n"
        if is_parted:
            return " "
        if (
            run.start == self._last_end
            or self._last_end < 0
            or not self._joins(self._last_end - 1, run.start)
        ):
            return ""
        self.has_joints = True
        return "\n" if self._is_apart else ""

    def _joins(self, before: int, behind: int) -> bool:
        return bool(_GLUES.match(self._html, before) and _GLUES.match(self._html, behind))

    def _add(self, start: int, end: int) -> None:
        words = self._html[start:end].replace("\n", " ").replace("\r", " ").replace("\t", " ")
        at = 0
        for found in _REFERENCE.finditer(words) if "&" in words else ():
            decoded = self._decoded.get(found[0])
            if decoded is None:
                decoded = self._decoded[found[0]] = unescape(found[0])
            if decoded != found[0]:
                self._pieced.add(words[at : found.start()], start + at, start + found.start())
                self._pieced.add(decoded, start + found.start(), start + found.end())
                at = found.end()
                if self._pieced.count > MAX_PIECES:
                    return
        self._pieced.add(words[at:], start + at, end)


class InHtml(Folded):
    """A folded text whose places are those of the markup that it was pieced from."""

    def __init__(self, folded: Folded, pieced: Pieced) -> None:
        self.text = folded.text
        self._folded = folded
        self._pieced = pieced

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the markup `text[start:end]` stands."""
        return self._pieced.span(*self._folded.span(start, end))

    def placed(self, hit: Hit) -> Hit:
        """A hit with places of the pieced text, at those of the markup; one of SENDING stays (`folded_hits`)."""
        if hit.group == SENDING:
            return hit
        start, end = self._pieced.span(hit.start, hit.end)
        return hit._replace(start=start, end=end)


class Spans:
    """Ranges, of which any may lie in another: does one touch a given range?"""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._reach: list[int] = []  # the furthest end of those that begin until there
        for start, end in sorted(spans):
            self._starts.append(start)
            self._reach.append(max(end, self._reach[-1] if self._reach else 0))

    def touch(self, start: int, end: int) -> bool:
        """Is some of `start:end` in one of them?"""
        before = bisect_left(self._starts, end)
        return before > 0 and self._reach[before - 1] > start


def stretches(html: str, runs: Sequence[TextRun]) -> list[tuple[int, int, str]]:
    """(start, end, why) of text that is hidden without a break, for one reason, in order."""
    found: list[tuple[int, int, str]] = []
    is_going_on = False
    for run in runs:
        is_blank = not unescape(html[run.start : run.end]).strip()
        if run.why is None:
            is_going_on = is_going_on and is_blank
        elif is_going_on and found[-1][2] == run.why:
            if not is_blank:
                found[-1] = (found[-1][0], run.end, run.why)
        elif not is_blank:
            found.append((run.start, run.end, run.why))
            is_going_on = True
    return found


def top_end(html: str, runs: Sequence[TextRun]) -> int:
    """Where the top of a page ends: before what a person sees of it, but for the first few characters; those are fewer
    than what is seen below."""
    seen = [(run.start, len(unescape(html[run.start : run.end]).strip())) for run in runs if run.why is None]
    limit = min(_PREHEADER_LOOK, sum(chars for _, chars in seen) // 2)
    chars = 0
    for start, more in seen:
        chars += more
        if chars > limit:
            return start
    return len(html)


def fits_a_preheader(markup: str) -> bool:
    """The line that mail programs show beside the subject: so many characters, but for what fills it up."""
    words = TAG_LIKE.sub(" ", unescape(markup[: 20 * PREHEADER_CHARS]))
    return len(_FILLING.sub(" ", words).strip()) <= PREHEADER_CHARS
