"""What a message has of what an attacker needs: the findings of each of its views, in places of that view.

The views are the fields that the API shows: `subject`, `fromName`, `text`, `html`, and `filename:att_…` of each
attachment. Words are looked for where a person reads them and where nobody does, apart: a directive that nobody sees is
the sign that costs the fewest false alarms. Then in both together, for an order may be hidden in part.

Total: any text is examined. The work is bounded by counts: MAX_TEXT_CHARS, MAX_HTML_CHARS, the tags of `page.py`,
MAX_WORDS_CHARS of seen, of hidden and of all words each, MAX_ITEMS findings; beyond them the evidence says `truncated`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from maild.message.evidence.chat_marks import fences, marked, role_markup
from maild.message.evidence.files import NamedFile, file_facts
from maild.message.evidence.finding import (
    VERSION,
    EvidenceFinding,
    EvidenceFound,
    Kind,
    finding,
    risk_of,
)
from maild.message.evidence.invisible import Mark, invisible_marks, tagged, variation_bytes
from maild.message.evidence.language import Hit, directing, folded_hits, hits
from maild.message.evidence.lexicon import DIRECTIVE, SECRET, SENDING
from maild.message.evidence.links import carries_data, link_facts, markdown_links, registered
from maild.message.evidence.page import Page, TextRun, Unseen, read_page
from maild.message.evidence.projection import Folded, Folding, Pieced
from maild.message.evidence.readings import (
    MAX_PIECES,
    MAX_WORDS_CHARS,
    TAG_LIKE,
    InHtml,
    Spans,
    fits_a_preheader,
    is_hidden,
    is_seen,
    stretches,
    top_end,
    ways_of,
    whole_ways,
)
from maild.message.evidence.senders import SenderFacts, domain_of, foreign_addresses, sender_facts
from maild.message.html.html_tokens import unescape

MAX_HTML_CHARS: Final = 256 * 1024
MAX_TEXT_CHARS: Final = 64 * 1024
MAX_FILES: Final = 100
MAX_ITEMS: Final = 100
MAX_LINKS: Final = 500
COMMENT_WORDS: Final = 8  # a comment of fewer is a note of whoever wrote the markup
SEND_LOOK: Final = 120  # characters between a verb of sending and the address

_WORDS = re.compile(r"[^\W\d_]{3,}")
_CONDITIONAL = re.compile(r"<!--\[if|<!\[if|<!\[endif|<!doctype|<\?xml", re.IGNORECASE)
_PART_WORDS = 25  # a part of fewer is a note ("this is an HTML mail"), and has nothing to differ in
_PART_ALIKE = 0.2
_FIRST_WORDS = 2000
_SAME_CHARS = 40  # by which words of one part are found in the other


_Span = tuple[int, int]  # of the markup


@dataclass(frozen=True, slots=True)
class Examined:
    """A message as the API shows it. `text` and `html` may be their beginnings alone: `is_cut` says that they are.

    `sender` None: nobody else wrote it.
    """

    subject: str
    from_name: str | None
    text: str | None
    html: str | None
    files: Sequence[NamedFile]
    sender: SenderFacts | None
    is_cut: bool = False


def examine(message: Examined) -> EvidenceFound:
    """All findings, concealment first. Never raises."""
    return _Examination(message).evidence()


class _Examination:
    def __init__(self, message: Examined) -> None:
        self._message = message
        self._folding = Folding()
        self._items: list[EvidenceFinding] = []
        self._hidden_chars = 0
        self._is_cut = message.is_cut
        sender = message.sender
        self._author_domain = sender.verified_domain if sender else None
        self._known = frozenset(
            registered(one)
            for one in (
                *(sender.own_domains if sender else ()),
                domain_of(sender.from_address) if sender else "",
            )
        )

    def evidence(self) -> EvidenceFound:
        message = self._message
        self._field("subject", message.subject)
        self._field("fromName", message.from_name or "")
        html = self._capped(message.html, MAX_HTML_CHARS)
        seen_words = self._html(html) if html else None
        text = self._capped(message.text, MAX_TEXT_CHARS)
        if text:
            self._text(text, seen_words)
        for file in message.files[:MAX_FILES]:
            self._file(file)
        self._is_cut = self._is_cut or len(message.files) > MAX_FILES
        self._sender()
        items = self._in_order()
        is_cut = self._is_cut or len(items) > MAX_ITEMS
        return EvidenceFound(
            VERSION, risk_of(items, is_cut), self._hidden_chars, is_cut, tuple(items[:MAX_ITEMS])
        )

    def _in_order(self) -> list[EvidenceFinding]:
        """The gravest first, so that none of them is what MAX_ITEMS leaves out; a fact is told once."""
        weights = {"high": 0, "medium": 1, "low": 2}
        return sorted(dict.fromkeys(self._items), key=lambda one: weights[one.severity])

    def _capped(self, words: str | None, limit: int) -> str | None:
        if words is not None and len(words) > limit:
            self._is_cut = True
        return words  # findings end where the limit does; excerpts are of the whole

    # Views of one piece --------------------------------------------------------------------------

    def _field(self, view: str, words: str) -> Folded:
        """A field of plain text; answers its words folded."""
        folded = self._folded(words[:MAX_TEXT_CHARS])
        found = folded_hits(folded)
        marks = invisible_marks(words[:MAX_TEXT_CHARS], folded.whole_characters)
        self._marks(view, words, marks, found)
        self._language(view, words, folded, found)
        return folded

    def _folded(self, words: str) -> Folded:
        folded = Folded(words, self._folding)
        self._is_cut = self._is_cut or folded.is_cut
        return folded

    def _text(self, text: str, seen_words: str | None) -> None:
        folded = self._field("text", text)
        self._markdown("text", text, text[:MAX_TEXT_CHARS])
        if seen_words is not None:
            self._compare(folded.text, seen_words, text)

    def _file(self, file: NamedFile) -> None:
        view = f"filename:{file.id}"
        for fact in file_facts(file):
            self._items.append(finding(fact.kind, view, file.filename, 0, len(file.filename), why=fact.why))
        self._field(view, file.filename)

    def _sender(self) -> None:
        if self._message.sender is None:
            return
        words = self._message.from_name or ""
        for fact in sender_facts(self._message.sender):
            one = finding(fact.kind, "fromName", words, 0, len(words), shown=fact.shown, target=fact.target)
            self._items.append(one._replace(severity="low") if fact.is_light else one)

    def _language(self, view: str, words: str, folded: Folded, found: Iterable[Hit]) -> None:
        """What is said where a person reads it."""
        found = list(found)
        is_sent = self._sends_away(folded, [one for one in found if one.group == SENDING])
        for hit in _merged(found, DIRECTIVE):
            self._items.append(
                finding(
                    "directive", view, words, hit.start, hit.end, directive=True, is_high=is_sent, why=hit.id
                )
            )
        for hit in _merged(found, SECRET):
            self._items.append(finding("secret_request", view, words, hit.start, hit.end))
        for start, end in role_markup(folded.text):
            self._items.append(finding("role_markup", view, words, *folded.span(start, end)))
        for start, end in fences(folded.text):
            self._items.append(finding("fence_spoof", view, words, *folded.span(start, end)))

    def _sends_away(self, folded: Folded, verbs: list[Hit]) -> bool:
        """Is something to be sent to an address that belongs to neither side?"""
        if not verbs or "@" not in folded.text:
            return False
        near = Spans((one.start - SEND_LOOK - 1, one.end + SEND_LOOK + 1) for one in verbs)
        return any(near.touch(*one) for one in foreign_addresses(folded.text, self._known))

    def _marks(self, view: str, words: str, marks: Iterable[Mark], found: Sequence[Hit]) -> None:
        """Invisible characters; those in words that tell a program what to do conceal them."""
        found = [one for one in found if one.group != SENDING]
        for mark in marks:
            if mark.kind in ("tag_characters", "variation_smuggling"):
                self._hidden_chars += mark.end - mark.start
            directive = self._is_telling(mark, words, found)
            self._items.append(
                finding(mark.kind, view, words, mark.start, mark.end, directive=directive, why=mark.why)
            )

    def _is_telling(self, mark: Mark, words: str, found: Sequence[Hit]) -> bool:
        if mark.kind == "tag_characters":
            return self._directs(tagged(words[mark.start : mark.end], 2000))
        if mark.kind == "variation_smuggling":
            return self._directs(variation_bytes(words[mark.start : mark.end]))
        reach = SEND_LOOK if mark.kind == "bidi_control" else 1
        return any(hit.start - reach <= mark.start and mark.end <= hit.end + reach for hit in found)

    def _directs(self, words: str) -> bool:
        folded = self._folding.fold(words[:MAX_WORDS_CHARS])
        return any(one.group != SENDING for one in hits(folded)) or any(role_markup(folded))

    def _markdown(self, view: str, words: str, read: str) -> None:
        for number, link in enumerate(markdown_links(read)):
            if number == MAX_LINKS:
                self._is_cut = True
                return
            if link.is_reference:
                why = "data" if carries_data(link.target) else None
                self._items.append(
                    finding(
                        "markdown_reference",
                        view,
                        words,
                        link.start,
                        link.end,
                        why=why,
                        target=link.target[:200],
                    )
                )
            for fact in link_facts(link.shown, link.target, self._author_domain):
                self._items.append(
                    finding(
                        fact.kind, view, words, link.start, link.end, shown=fact.shown, target=fact.target
                    )
                )

    # HTML ----------------------------------------------------------------------------------------

    def _html(self, html: str) -> str:
        """The findings of the HTML body; answers the words that a person sees of it, folded."""
        read = html[:MAX_HTML_CHARS]
        page = read_page(read)
        self._is_cut = self._is_cut or page.is_cut
        seen, told = self._seen(html, page.runs)
        if page.has_unread_styles:
            self._doubt_orders()
        self._hidden(html, page.runs, told)
        self._unseen(html, page.unseen)
        self._links(html, page)
        return seen

    def _doubt_orders(self) -> None:
        """Orders in sight are concealed, for all that we know: who wants to hide them can do it by what is not read."""
        self._items = [
            one._replace(severity="high") if one.view == "html" and one.kind == "directive" else one
            for one in self._items
        ]

    def _seen(self, html: str, runs: Sequence[TextRun]) -> tuple[str, set[_Span]]:
        """The words in sight, folded, and where they tell a program something."""
        first, *others = [self._reading(one) for one in ways_of(html, runs, is_seen)]
        self._html_marks(html, first)
        told: set[Hit] = set()
        for reading in (first, *others):
            placed = [reading.own.placed(one) for one in reading.found]
            self._language("html", html, reading.own, [one for one in placed if one not in told])
            told.update(one for one in placed if one.group != SENDING)
        for link in markdown_links(first.text):
            if link.is_reference:
                start, end = first.pieced.span(link.start, link.end)
                self._items.append(
                    finding("markdown_reference", "html", html, start, end, target=link.target[:200])
                )
        return first.folded.text, {span for one in (first, *others) for span in one.telling()}

    def _reading(self, pieced: Pieced) -> _WordsRead:
        text = self._limited(pieced)
        folded = self._folded(text)
        return _WordsRead(pieced, text, folded, InHtml(folded, pieced), folded_hits(folded))

    def _html_marks(self, html: str, reading: _WordsRead) -> None:
        found = [one for one in reading.found if one.group != SENDING]
        for mark in invisible_marks(reading.text, reading.folded.whole_characters):
            start, end = reading.pieced.span(mark.start, mark.end)
            if mark.kind in ("tag_characters", "variation_smuggling"):
                self._hidden_chars += mark.end - mark.start
            directive = self._is_telling(mark, reading.text, found)
            self._items.append(
                finding(mark.kind, "html", html, start, end, directive=directive, why=mark.why)
            )

    def _hidden(self, html: str, runs: Sequence[TextRun], seen: Set[_Span]) -> None:
        """Text that a style hides: each stretch of it, what all of it says together, and what it makes of the words in
        sight, which say `seen` by themselves."""
        hidden = [self._reading(one) for one in ways_of(html, runs, is_hidden)]
        text = hidden[0].text
        if not text:
            return
        self._hidden_chars += len("".join(text.split())) - text.count("\u034f")
        wholes = [self._reading(one) for one in whole_ways(html, runs)]
        for reading in (*hidden, *wholes):
            for start, end in fences(reading.folded.text):
                self._items.append(finding("fence_spoof", "html", html, *reading.own.span(start, end)))
        for mark in invisible_marks(text, hidden[0].folded.whole_characters):
            if mark.kind in ("tag_characters", "variation_smuggling"):
                span = hidden[0].pieced.span(mark.start, mark.end)
                self._items.append(finding(mark.kind, "html", html, *span, why=mark.why))
        told = {span for one in hidden for span in one.telling()}
        told |= {span for one in wholes for span in one.telling(is_mixed=True)} - seen
        self._stretches(html, runs, Spans(told))

    def _stretches(self, html: str, runs: Sequence[TextRun], told: Spans) -> None:
        end_of_top = top_end(html, runs)
        for start, end, why in stretches(html, runs):
            directive = told.touch(start, end)
            is_preheader = not directive and start < end_of_top and fits_a_preheader(html[start:end])
            kind: Kind = "preheader" if is_preheader else "hidden_text"
            self._items.append(finding(kind, "html", html, start, end, directive=directive, why=why))

    def _unseen(self, html: str, unseen: Sequence[Unseen]) -> None:
        """Words of comments, of elements that are not shown, and of attributes: told where they say something."""
        texts = [_said(html, one) for one in unseen]
        folded = [self._folding.fold(one[:MAX_WORDS_CHARS]) for one in texts]
        telling = directing(folded) | marked(folded)
        for number, (one, text) in enumerate(zip(unseen, texts, strict=True)):
            directs = number in telling
            if one.where == "comment":
                self._comment(html, one, text, directs)
            elif directs:
                self._items.append(
                    finding("hidden_text", "html", html, one.start, one.end, directive=True, why=one.where)
                )

    def _comment(self, html: str, comment: Unseen, text: str, directs: bool) -> None:
        is_prose = (
            not _CONDITIONAL.match(html, comment.start) and len(_WORDS.findall(text[:4000])) >= COMMENT_WORDS
        )
        if directs or is_prose:
            self._hidden_chars += len(text.strip())
            self._items.append(
                finding("comment_text", "html", html, comment.start, comment.end, directive=directs)
            )

    def _links(self, html: str, page: Page) -> None:
        self._is_cut = self._is_cut or len(page.links) > MAX_LINKS
        for link in page.links[:MAX_LINKS]:
            # Of mail programs some show SVG, and most do not.
            runs = [run for run in page.runs[link.first : link.last] if run.why in (None, "<svg>")]
            shown = "".join(html[run.start : run.end] for run in runs)[:600]
            for fact in link_facts(" ".join(unescape(shown).split()), link.href, self._author_domain):
                self._items.append(
                    finding(
                        fact.kind, "html", html, link.start, link.end, shown=fact.shown, target=fact.target
                    )
                )
        for image in page.images[:MAX_LINKS]:
            if carries_data(image.source):
                self._items.append(finding("remote_image_with_data", "html", html, image.start, image.end))

    def _limited(self, pieced: Pieced) -> str:
        if pieced.length > MAX_WORDS_CHARS or pieced.count > MAX_PIECES:
            self._is_cut = True
        return pieced.text[:MAX_WORDS_CHARS]

    # Both bodies ---------------------------------------------------------------------------------

    def _compare(self, folded: str, seen: str, whole: str) -> None:
        """The text part stands in for what a person sees: what it alone tells a program, nobody reads. Both folded."""
        seen_line = _on_one_line(seen)
        only_here = [
            one
            for one in self._items
            if one.view == "text"
            and one.kind in ("directive", "secret_request", "role_markup")
            and _on_one_line(self._folding.fold(one.excerpt))[:_SAME_CHARS] not in seen_line
        ]
        if only_here:
            first, last = min(one.start for one in only_here), max(one.end for one in only_here)
            self._items.append(finding("part_mismatch", "text", whole, first, last, directive=True))
            return
        if _differ(folded, seen):
            self._items.append(finding("part_mismatch", "text", whole, 0, len(whole[:MAX_TEXT_CHARS])))


def _differ(one: str, other: str) -> bool:
    """Have two texts of many words hardly any in common?"""
    mine = set(_WORDS.findall(one))
    some = {found[0] for found in islice(_WORDS.finditer(other), _FIRST_WORDS)}
    if len(mine & some) >= _PART_ALIKE * len(mine):  # most are alike, and that shows soon
        return False
    theirs = set(_WORDS.findall(other))
    fewer = min(len(mine), len(theirs))
    return fewer >= _PART_WORDS and len(mine & theirs) < _PART_ALIKE * fewer


def _on_one_line(words: str) -> str:
    return " ".join(words.split())


class _WordsRead(NamedTuple):
    """Words of the page, one way to read them. `found`: at the places of `text`."""

    pieced: Pieced
    text: str
    folded: Folded
    own: InHtml
    found: list[Hit]

    def telling(self, *, is_mixed: bool = False) -> Iterator[_Span]:
        """Where in the markup something is told to a program. `is_mixed`: words in sight and others, of which a secret
        is asked in one line alone: a preheader and the headline below it make up many a question."""
        for hit in self.found:
            is_one = not is_mixed or hit.group != SECRET or "\n" not in self.text[hit.start : hit.end]
            if hit.group != SENDING and is_one:
                yield self.pieced.span(hit.start, hit.end)
        for start, end in role_markup(self.folded.text):
            yield self.own.span(start, end)


def _said(html: str, unseen: Unseen) -> str:
    words = html[unseen.start : unseen.end] if unseen.words is None else unseen.words
    return TAG_LIKE.sub(" ", words[4:-3]) if unseen.where == "comment" else unescape(words)


def _merged(found: Iterable[Hit], group: str) -> list[Hit]:
    """Hits of a group, of which none overlaps another: the first one's id."""
    result: list[Hit] = []
    for hit in sorted((one for one in found if one.group == group), key=lambda one: (one.start, -one.end)):
        if result and hit.start < result[-1].end:
            result[-1] = result[-1]._replace(end=max(hit.end, result[-1].end))
        else:
            result.append(hit)
    return result
