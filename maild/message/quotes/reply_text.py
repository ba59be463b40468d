"""The new words of a reply.

Line by line, each line looked at a bounded number of times and only its first and last characters, so that
no text takes long. Interleaved answers stay; forwarded messages stay; when nothing is left, the
author wrote nothing else, and the whole text is the answer. In doubt a line stays: words too many are read over, words
that are missing are not.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, NamedTuple

from maild.message.quotes.attributions import (
    Attribution,
    Certainty,
    ends_quoted_one,
    find_attribution,
    may_end_one,
    may_run_on,
    runs_on,
)
from maild.message.quotes.clear_signed import signed_words
from maild.message.quotes.closing_lines import GROUPS_IO_MARK, list_footer_end, without_closing
from maild.message.quotes.copied_headers import (
    attributing_end,
    begins_copy,
    fields_above,
    has_unknown_title,
    mark_above,
    may_begin_copy,
)
from maild.message.quotes.excerpts import UnattributedQuotes
from maild.message.quotes.forward_marks import FORWARD_MARK
from maild.message.quotes.inline_answers import announces_inline_answers

MAX_LINES: Final = 20_000
_LINE_CHARS = 300
# Lines that are looked at with their neighbours, at up to 75 µs each. No honest reply has nearly so many.
_MAX_DOUBTS = 100

_SIGNATURE = re.compile(r"--\s?\Z")
_BARE_SIGNATURE = "--"  # many clients leave the blank out
_FIRSTS = frozenset(">|_=*#-—–‐―━2 \t\xa0\u200e\u200f\ufeff")
_RULED = frozenset(["--", "__"])
_RULES = _RULED | {"**", "==", "-=", "##", GROUPS_IO_MARK[:2]}
_DIFF_COMMAND = re.compile(r"\d+(?:,\d+)?[acd]\d+(?:,\d+)?\Z")
_LEFT_OUT = re.compile(r"[\[<({]?\s?(?:\.{2,4}|…|snip(?:ped)?|cut|skip(?:ped)?)\s?[\])}>]?\Z", re.IGNORECASE)
_QUOTE = re.compile(r">(?!>)|>{1,20} >(?!>)")  # no prompt has a blank between marks
_SUPERCITE = ">>>>> "
_ODD_QUOTE = re.compile(r"[A-Z][A-Za-z]{0,3}>|\|")
_PLAIN = ">"
_TAB = "\t"  # s-nail's, below "Ann <ann@example.org> wrote:"; authors indent lists and code with it


class QuotedWords(Enum):
    """Whose words `>` lines without an attribution above them are."""

    OF_OTHERS = auto()
    OF_THE_AUTHOR_ABOVE = auto()  # if an attribution follows, which has a quote of its own: else, of others
    OF_THE_AUTHOR = auto()


def extract_reply(
    text: str,
    *,
    is_forward: bool = False,
    is_answer: bool = True,
    quoted: QuotedWords = QuotedWords.OF_OTHERS,
) -> str:
    """What the author wrote: without quotes, attribution lines, copied headers and signature, also OpenPGP's.

    `is_forward` (from the subject) keeps what Outlook copies below, which looks like a reply's quote. `is_answer`
    False: neither the subject nor ids say that it answers something, so that only what surely is an original's is taken
    off; a form that was filled in has fields of From and Subject too. Quotes that nobody is named for go, unless an
    original stands below that does not say the same. `quoted`: text of HTML has `>` before blockquotes, in which
    authors set words of their own. Returns the whole text, trimmed, when nothing else would remain, or when the author
    says that the answers stand within the quote and none stands outside of it.
    """
    text = signed_words(text)
    lines = text.split("\n", MAX_LINES)
    candidates = _candidates(text, lines)
    if not candidates:
        return without_closing(text) or text.strip()
    if not is_answer and _is_digest(text):
        return text.strip()  # its fields say whose words stand below
    if not is_answer and quoted is QuotedWords.OF_OTHERS:
        quoted = QuotedWords.OF_THE_AUTHOR
    keeps_quotes = quoted is not QuotedWords.OF_OTHERS
    found = _ReplyLines(lines, candidates, is_forward, is_answer, keeps_quotes=keeps_quotes)
    reply = found.reply()
    if quoted is QuotedWords.OF_THE_AUTHOR_ABOVE and not found.has_original:
        found = _ReplyLines(lines, candidates, is_forward, is_answer, keeps_quotes=False, doubts=_MAX_DOUBTS)
        reply = found.reply()
    has_all_above = found.has_original and text.lstrip().startswith(reply)
    if has_all_above and announces_inline_answers(reply):
        return without_closing(text)
    return reply or text.strip()


def _is_digest(text: str) -> bool:
    """Are they many messages in one text (RFC 1153 §2)?"""
    return f"\n{'-' * 70}\n" in text and f"\n{'-' * 30}\n" in text


def _candidates(text: str, lines: list[str]) -> list[int]:
    """The numbers of the lines that anything to be taken off may begin or end at."""
    if "：" in text:
        found = [n for n, line in enumerate(lines) if ":" in line or "：" in line or line[:1] in _FIRSTS]
    else:
        found = [n for n, line in enumerate(lines) if ":" in line or line[:1] in _FIRSTS]
    return found if len(lines) <= MAX_LINES else [n for n in found if n < MAX_LINES]


class _QuoteBeginning(NamedTuple):
    """The first line of a quote, and what its lines begin with."""

    start: int
    mark: str


class _ReplyLines:
    """One walk over the lines that may matter. Each step takes lines off, keeps them, or leaves them to the next."""

    def __init__(
        self,
        lines: list[str],
        candidates: list[int],
        is_forward: bool,
        is_answer: bool,
        *,
        keeps_quotes: bool,
        doubts: int = 0,
    ) -> None:
        self._lines = lines
        self._candidates = candidates
        self._is_forward = is_forward
        self._is_answer = is_answer
        self._keeps_quotes = keeps_quotes
        self._kept: list[str] = []
        self._position = 0
        self._odd_mark = ""
        self._has_plain_quotes: bool | None = None
        self._diff_end = -1  # where lines went on to be those of a diff
        self._doubts = doubts
        self._separators: int | None = None
        self._original: int | None = None  # where it begins
        self._unattributed = UnattributedQuotes()
        self._is_in_signature = False

    @property
    def has_original(self) -> bool:
        return self._original is not None

    def reply(self) -> str:
        for number in self._candidates:
            if number < self._position:
                continue
            line = self._lines[number]
            if line[:1] == ">" and self.has_original and line[-1] != ":":  # most lines of most replies
                self._take_off(number, number + 1)
            else:
                self._look_at(number)
            if self._odd_mark:
                break
        for number in range(self._position, len(self._lines)) if self._odd_mark else ():
            if number >= self._position:
                self._look_at(number)
        if self._original is not None:
            self._kept = self._unattributed.put_back(self._kept, self._lines[self._original :])
        if not self._is_in_signature:
            self._kept += self._lines[self._position :]
        return without_closing("\n".join(self._kept))

    def _begin_original(self, at: int) -> None:
        self._end_signature(at)
        if self._original is None:
            self._original = at

    def _end_signature(self, at: int) -> None:
        """Programs for phones put it above the original, in which answers may stand, and above what is passed on."""
        if self._is_in_signature:
            self._position, self._is_in_signature = at, False

    def _look_at(self, number: int) -> None:
        line = self._lines[number][:_LINE_CHARS]
        head = line.strip()
        if self._odd_mark and (line if self._odd_mark == _TAB else head).startswith(self._odd_mark):
            self._take_off(number, number + 1)
        elif not head:
            return
        elif head[0] == ">":
            self._quote(number, head)
        elif (head[:2] in _RULED or head[-1] in ":：") and FORWARD_MARK.match(head):
            self._keep_to_the_end(number)
        elif head[:2] == "--" and self._is_signature(number):
            self._take_off(number, number + 1)
            self._is_in_signature = True
        elif (may_begin_copy(head) and self._copy(number)) or (head[:2] in _RULES and self._footer(number)):
            pass
        else:
            self._attribution(number)

    def _is_signature(self, number: int) -> bool:
        """Two lines of `--` alone are rules between paragraphs."""
        line = self._lines[number][:_LINE_CHARS]
        if line == _BARE_SIGNATURE and self._separators is None:
            self._separators = self._last_separator(number)
        return _SIGNATURE.match(line) is not None and number > (self._separators or -1)

    def _last_separator(self, number: int) -> int:
        """The last line of `--` alone below that one, before anything that may be another's; -1: there is none."""
        found = -1
        for below in (n for n in self._candidates if n > number):
            line = self._lines[below]
            if line == _BARE_SIGNATURE:
                found = below
            elif line[:1] == ">" or may_begin_copy(line[:_LINE_CHARS].strip()) or may_end_one(line):
                break
        return found

    def _footer(self, number: int) -> bool:
        end = list_footer_end(self._lines, number)
        if end == number:
            return False
        self._take_off(number, end)
        return True

    def _copy(self, number: int) -> bool:
        if self._doubts == _MAX_DOUBTS:
            return False
        self._doubts += 1
        if not begins_copy(self._lines, number, of_answer=self._is_answer):
            return False
        self._begin_original(number)
        # Who passes on titles it in his language; in an answer the same is the original.
        if self._is_forward or (not self._is_answer and has_unknown_title(self._lines[number])):
            self._keep_to_the_end(number)
            return True
        end = attributing_end(self._lines, number)
        self._take_off(
            mark_above(self._lines, number, self._position), end if end > number else len(self._lines)
        )
        return True

    def _quote(self, number: int, head: str) -> None:
        is_marked = len(head) < 40 or head.startswith(_SUPERCITE)
        may_attribute = (is_marked and head[-1] in ":：") or head[-3:] == ">>>"
        if may_attribute and self._attribution(number):
            return
        if not self.has_original and self._is_own_quote(number, head):
            return
        if head[:2] == ">>" and not self._is_quoting():
            return  # a prompt, an arrow: nobody is quoted twice who was not quoted once
        if (self._keeps_quotes or self._is_in_signature) and not self.has_original:
            if self._begins_quoted_original(number, head):
                self._begin_original(number)
            elif self._keeps_quotes:
                return
        self._take_off(number, number + 1)
        if not (self.has_original or self._is_in_signature):
            self._unattributed.add(len(self._kept), self._lines[number])

    def _is_own_quote(self, number: int, head: str) -> bool:
        """Whether it is the author who shows it: a forward, which Apple Mail quotes, or the new lines of a diff."""
        above = self._lines[number - 1][:_LINE_CHARS].strip() if number else ""
        if not (above[:1] == ">" and above.strip("> ")) and FORWARD_MARK.match(head.lstrip("> ")):
            self._keep_to_the_end(number)
            return True
        # Mailboxes write ">" before a line of the author's that begins so.
        if head.startswith(">From ") and not self._is_among_quotes(number):
            return True
        is_changed = above == "---" and number > 1 and self._lines[number - 2][:2] == "< "
        if number == self._diff_end or is_changed or _DIFF_COMMAND.match(above):
            self._diff_end = number + 1
            return True
        return False

    def _is_among_quotes(self, number: int) -> bool:
        about = self._lines[max(0, number - 1) : number] + self._lines[number + 1 : number + 2]
        return any(line[:_LINE_CHARS].lstrip()[:1] == ">" for line in about)

    def _begins_quoted_original(self, number: int, head: str) -> bool:
        """Whether the quote begins here, and with its attribution."""
        if number and self._lines[number - 1][:_LINE_CHARS].lstrip()[:1] == ">":
            return False
        head = head.lstrip("> ")
        if self._doubts == _MAX_DOUBTS or not may_end_one(head):
            return False
        self._doubts += 1
        inner = find_attribution([head], 0, 0)
        return inner is not None and inner.certainty is Certainty.ALWAYS

    def _is_quoting(self) -> bool:
        if self._has_plain_quotes is None:
            heads = (self._lines[number][:_LINE_CHARS].lstrip() for number in self._candidates)
            self._has_plain_quotes = any(_QUOTE.match(head) for head in heads)
        return self._has_plain_quotes or self.has_original

    def _attribution(self, number: int) -> bool:
        if self._doubts == _MAX_DOUBTS:
            return False
        if not may_end_one(self._lines[number]):
            return may_run_on(self._lines[number]) and self._run_on(number)
        self._doubts += 1
        if self._ends_quoted_attribution(number):
            self._take_off(number, number + 1)
            return True
        found = find_attribution(self._lines, number, self._position)
        if found is None:
            return False
        quote = self._find_quote(found)
        if not self._may_go(found.certainty, is_quoting=quote is not None):
            return False
        words = "" if self._is_in_signature else found.words
        self._begin_original(found.start)
        if quote is not None and quote.mark != _PLAIN:
            self._odd_mark = quote.mark
        start = fields_above(self._lines, found.start, self._position)
        self._take_off(start, len(self._lines) if quote is None else quote.start)
        if words:
            self._kept.append(words)
        return True

    def _may_go(self, certainty: Certainty, *, is_quoting: bool) -> bool:
        if is_quoting and certainty is not Certainty.IN_AN_ANSWER:
            return True
        return self._is_answer and (is_quoting or certainty is Certainty.ALWAYS)

    def _ends_quoted_attribution(self, number: int) -> bool:
        if not number or self._position < number:  # what stands above stays
            return False
        above = self._lines[number - 1][:_LINE_CHARS]
        return above[:1] == ">" and ends_quoted_one(above, self._lines[number])

    def _run_on(self, number: int) -> bool:
        self._doubts += 1
        if not runs_on(self._lines[number]):
            return False
        self._begin_original(number)
        self._take_off(number, len(self._lines))
        return True

    def _find_quote(self, found: Attribution) -> _QuoteBeginning | None:
        """The next words, if they are a quote: then an answer may stand below it. A mark that something was left out
        may stand before it."""
        position = found.end
        while position < len(self._lines):
            line = self._lines[position][:_LINE_CHARS]
            head = line.strip()
            if head and not _LEFT_OUT.match(head):
                break
            position += 1
        else:
            return None
        mark = self._quote_mark(found, line)
        return _QuoteBeginning(position, mark) if mark else None

    def _quote_mark(self, found: Attribution, line: str) -> str:
        """What lines of the quote begin with whose first line this is; "": it is none."""
        head = line.strip()
        odd = _ODD_QUOTE.match(head)
        if odd is not None:
            return odd[0]
        if head[0] == _PLAIN:
            return _PLAIN
        words = ["", *self._lines[found.end - 1][-_LINE_CHARS:].split()]
        is_of_s_nail = self._is_answer and words[-1] == "wrote:" and "@" in words[-2]
        is_tabbed = line[0] == _TAB and found.certainty is Certainty.ABOVE_A_QUOTE
        return _TAB if is_tabbed and is_of_s_nail else ""

    def _take_off(self, start: int, end: int) -> None:
        if not self._is_in_signature:
            self._kept += self._lines[self._position : start]
        self._position = end

    def _keep_to_the_end(self, number: int) -> None:
        """What begins there is passed on."""
        self._end_signature(number)
        self._kept += self._lines[self._position :]
        self._position = len(self._lines)
