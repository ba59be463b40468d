"""The code that a mail asks its reader to type, found without guessing.

A mail has one only when it speaks of signing in, verifying or opening something (`code_settings`). Then a code is what
stands beside a word for one (`code_words`). What stands beside another word is none: the number of an order, a price, a
year, a discount (`number_words`). Where two could be meant nobody is told either.

Pure and linear: each number is looked at with so many characters around it, and of a text with more than
CANDIDATES_MAX numbers nothing is said. Offsets are code points of the text that was handed in.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, Literal, NamedTuple

from maild.message.sign_in.code_settings import (
    speaks_of_meeting,
    speaks_of_receipt,
    speaks_of_shopping,
    speaks_of_signing_in,
)
from maild.message.sign_in.code_words import (
    CodeWords,
    asks_to_type,
    introduces,
    introduces_alone,
    is_numbered_word,
)
from maild.message.sign_in.number_words import means_something_else, names_something_else

CANDIDATES_MAX: Final = 30
CANDIDATES_TOLD: Final = 10
TEXT_CHARS: Final = 64 * 1024
_NEAR_BEFORE: Final = 60
_NEAR_BEHIND: Final = 25
_DIRECT: Final = 45  # so much may stand between a word for a code and what it introduces
_LINE_CHARS: Final = 160
_AROUND: Final = 40  # what tells that a number is no code stands right beside it
_VALUE_CHARS: Final = range(4, 11)
_DIGITS_THAT_TELL: Final = 6
_YEARS: Final = range(1900, 2100)

View = Literal["subject", "text"]
Confidence = Literal["labelled", "unlabelled", "ambiguous"]

_FULL_WIDTH_COMMA: Final = 0xFF0C  # it parts sentences, never the digits of an amount
_ARABIC_ZEROS: Final = (0x0660, 0x06F0)  # of Arabic and of Persian; both are typed as 0 to 9
_NARROW: Final = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if code != _FULL_WIDTH_COMMA}
    | {zero + digit: ord("0") + digit for zero in _ARABIC_ZEROS for digit in range(10)}
    | {0x3000: 0x20, 0xA0: 0x20, 0x202F: 0x20}
)
_NO_ROOM: Final = frozenset("\u00ad\u034f\u200b\u200c\u200d\u2060\ufeff")  # nobody sees, or types, them
_URL = re.compile(r"""(?<![a-zA-Z0-9+.-])[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[!#-;=?-~]+""")
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,255}")
_EMPHASIS = re.compile(
    r"(?=[*_])(?<![\w*])(?P<mark>\*{1,3}|_{1,3})(?P<code>[A-Z0-9][A-Z0-9 -]{2,18}[A-Z0-9])(?P=mark)(?![\w*])"
)
_PREFIX: Final = "(?:[A-Z]|FB)-"  # it stands before the field in which a code is typed
_CANDIDATE = re.compile(
    r"(?=[0-9A-Za-z])(?<![0-9A-Za-z_@#+&=*•×])(?<![0-9][.,:/-])(?<![A-Za-z][./-])(?:"
    rf"(?P<prefixed>{_PREFIX}[0-9]{{4,9}})"
    # Digits in boxes of their own come out as lines; those that count 1, 2, 3 number steps.
    r"|(?P<spread>(?!1\n{1,2}2\n{1,2}3)[0-9](?:(?: |\n{1,2})[0-9]){3,9})"
    # Dots and dashes part ranges too, and pairs telephone numbers and dates, so these must be introduced as one.
    r"|(?P<parted>[0-9]{3,4}[·‐‑‒–][0-9]{3,4}"
    r"|(?<![0-9][ ·])[0-9]{2}(?:(?: [0-9]{2}){2}|(?:·[0-9]{2}){2})(?![ ·]?[0-9]))"
    r"|(?P<split>[0-9]{2,5}[ -][0-9]{2,5})"
    r"|(?P<digits>[0-9]{4,10})"
    # Halves parted by a blank hold a digit each: "OTP 105824" and "LH 2481" are a word and a number. XX1245 is what
    # is shown of an account's number.
    r"|(?P<letters>(?!XX+[0-9]+(?![0-9A-Z-]))(?=[0-9 -]{0,9}[A-Z])(?=[A-Z-]{0,9}[0-9])"
    r"(?:[A-Z0-9]{2,8}-[A-Z0-9]{2,8}|(?=[A-Z]{0,7}[0-9])[A-Z0-9]{2,8} (?=[A-Z]{0,7}[0-9])[A-Z0-9]{2,8}|[A-Z0-9]{4,10}))"
    # The letters that RFC 8628 §6.1 draws codes from, since they spell no word; X stands for what is left out.
    r"|(?P<consonants>(?!XXX)(?:[B-DF-HJ-NP-TV-XZ]{3}-[B-DF-HJ-NP-TV-XZ]{3}|[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}"
    r"|[B-DF-HJ-NP-TV-XZ]{6}|[B-DF-HJ-NP-TV-XZ]{8}))"
    r"|(?:(?<=\n)|(?<=:)|(?<=: ))"
    r"(?P<mixed>(?=[A-Za-z]{0,9}[0-9])(?=[A-Z0-9]{0,9}[a-z])[A-Za-z0-9]{5,10})(?= *(?:\n|\Z))"
    r")(?![0-9A-Za-z_@=]|[,:][0-9]|\.(?![A-Z][a-z])[0-9A-Za-z]|[/-][0-9A-Za-z])"
)
_PREFIXED = re.compile(rf"\A{_PREFIX}(?=[0-9]+\Z)")
_WORD_AND_NUMBER = re.compile(r"[A-Z]{3,8}-?[0-9]{1,4}")
_DIGIT = re.compile(r"[0-9]")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]")
_HEADING = re.compile(r"\n|\A:")  # "SEC-1001: how codes get stolen"
_COLON = re.compile(r"\s{0,3}:")
_NEXT_NUMBER = re.compile(r"\s{0,3}:?\s{0,3}[0-9]{4}")
_BREAK = re.compile(rf"{_SENTENCE_END.pattern}|\n[ \t]*\n")  # of a sentence, or of a paragraph


class FoundValue(NamedTuple):
    """`value`: what is to be typed, None where it is ambiguous. `shown`: as it stands, from `start` to `end` in the
    `view`. `candidates`: what might be meant, where nobody can tell.

    `labelled`: it stands beside a word for a code. `unlabelled`: nothing else in the mail could be one.
    """

    confidence: Confidence
    value: str | None
    shown: str | None
    view: View | None
    start: int
    end: int
    candidates: Sequence[str] = ()


class _Candidate(NamedTuple):
    view: View
    shown: str
    start: int
    end: int
    is_direct: bool
    is_labelled: bool
    is_asked_for: bool

    @property
    def value(self) -> str:
        """What is to be typed: without blanks, dashes and a prefix such as `G-`."""
        narrow = _seen(self.shown)[0].translate(_NARROW)
        return re.sub(r"[ \n·‐‑‒–-]", "", _PREFIXED.sub("", narrow))


class _Page(NamedTuple):
    """A view as it is read: narrow letters, addresses and emphasis blanked out, and without what takes no room.
    `places`: where in the source each character of `plain` stands."""

    view: View
    source: str
    places: Sequence[int]
    plain: str
    words: CodeWords

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the source these characters of `plain` stand."""
        return self.places[start], self.places[end - 1] + 1


def find_code(subject: str, words: str) -> FoundValue | None:
    """The code of a mail with this subject and these (new) words; None where there is none."""
    views: tuple[tuple[View, str], ...] = (("subject", subject[:TEXT_CHARS]), ("text", words[:TEXT_CHARS]))
    seen = [(view, text, *_seen(text)) for view, text in views]
    if not any(speaks_of_signing_in(text) for _, _, text, _ in seen):
        return None
    found: list[_Candidate] = []
    for view, source, text, places in seen:
        plain = _without_emphasis(_without_addresses(text.translate(_NARROW)))
        numbers = list(islice(_CANDIDATE.finditer(plain), CANDIDATES_MAX + 1))
        if len(numbers) > CANDIDATES_MAX:
            return None
        if numbers:
            page = _Page(view, source, places, plain, CodeWords(plain))
            found += filter(None, (_judged(page, match) for match in numbers))
    # What a word for a code introduces is meant, whatever else stands near.
    near = [one for one in found if one.is_labelled]
    for labelled in ([one for one in near if one.is_direct], [one for one in near if one.is_asked_for], near):
        if labelled:
            return _only(labelled, "labelled")
    if len({one.value for one in found}) == 1 and any(one.is_asked_for for one in found):
        return _only(found, "unlabelled")
    return None


def _only(candidates: Sequence[_Candidate], confidence: Confidence) -> FoundValue:
    values = list(dict.fromkeys(one.value for one in candidates))
    if len(values) > 1:
        return FoundValue("ambiguous", None, None, None, 0, 0, values[:CANDIDATES_TOLD])
    # The text is where a reader looks; a subject may repeat it.
    best = next((one for one in candidates if one.view == "text"), candidates[0])
    return FoundValue(confidence, best.value, best.shown, best.view, best.start, best.end)


def _judged(page: _Page, match: re.Match[str]) -> _Candidate | None:
    start, end = match.span()
    if _is_something_else(page.plain, match):
        return None
    is_alone = _line_around(page.plain, start, end).strip() == match[0]
    is_asked_for = is_alone or asks_to_type(page.plain[max(0, start - _AROUND) : start])
    is_direct = _is_direct(page, match, is_alone=is_alone)
    if is_alone and not is_direct and names_something_else(_line_above(page.plain, start)[-_AROUND:] + " "):
        return None
    # Beside a word for a code stand years too, and names: WIN10, SHA256.
    if match["mixed"] is not None and not _is_introduced_alone(page, match):
        return None  # names of users look alike
    is_word_like = match["consonants"] is not None or (match["letters"] is not None and not is_asked_for)
    if not is_direct and (_is_year(match[0]) or is_word_like or match["parted"] is not None):
        return None
    is_labelled = is_direct or _is_near(page, match, is_alone=is_alone) or _is_told(page, match)
    if match["spread"] is not None and not is_labelled:
        return None
    start, end = page.span(start, end)
    candidate = _Candidate(
        page.view, page.source[start:end], start, end, is_direct, is_labelled, is_asked_for
    )
    return candidate if len(candidate.value) in _VALUE_CHARS else None


def _seen(text: str) -> tuple[str, Sequence[int]]:
    """The text without what takes no room, and where in it each character stood."""
    if _NO_ROOM.isdisjoint(text):
        return text, range(len(text))
    places = [place for place, one in enumerate(text) if one not in _NO_ROOM]
    return "".join(text[place] for place in places), places


def _is_year(shown: str) -> bool:
    return len(shown) == 4 and shown.isdecimal() and int(shown) in _YEARS


def _without_addresses(text: str) -> str:
    """The text with URLs and mail addresses blanked out, in as many characters."""
    return _ADDRESS.sub(_blank, _URL.sub(_blank, text))


def _without_emphasis(text: str) -> str:
    """The text with the stars of `*482913*` blanked out; those of `**** 4471` hide digits and stay."""
    return _EMPHASIS.sub(lambda found: found["code"].center(len(found[0])), text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_something_else(text: str, match: re.Match[str]) -> bool:
    """A price, a telephone number, a year beside a right, the number of an order."""
    start, end = match.span()
    before, behind = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return (
        means_something_else(before, match[0], behind)
        or is_numbered_word(match[0])
        or speaks_of_meeting(text[max(0, start - _LINE_CHARS) : start])
        or speaks_of_receipt(text[max(0, start - _LINE_CHARS) : start])
        or (not _has_digits_alone(match) and speaks_of_shopping(_offer_around(text, match)))
    )


def _has_digits_alone(match: re.Match[str]) -> bool:
    return match["letters"] is None and match["consonants"] is None and match["mixed"] is None


def _is_near(page: _Page, match: re.Match[str], *, is_alone: bool) -> bool:
    """Is a word for a code within so many characters before it, or behind it, and in the same sentence?"""
    (start, end), bare = match.span(), _may_be_bare(match)
    before = (
        page.plain[word_end:start]
        for _, word_end in page.words.between(start - _NEAR_BEFORE, start, bare=bare)
    )
    behind = (
        page.plain[end:word_start] for word_start, _ in page.words.between(end, end + _NEAR_BEHIND, bare=bare)
    )
    return any(is_alone or not _BREAK.search(between) for between in chain(before, behind))


def _is_told(page: _Page, match: re.Match[str]) -> bool:
    """Does its sentence name a code first, and then say that this is it: "the code for ... is 1234"?"""
    start, bare = match.start(), _may_be_bare(match)
    sentence = _BREAK.split(page.plain[max(0, start - _LINE_CHARS) : start])[-1]
    return introduces(sentence) and any(page.words.between(start - len(sentence), start, bare=bare))


def _is_direct(page: _Page, match: re.Match[str], *, is_alone: bool) -> bool:
    """Does a word for a code introduce it, or say of it that it is one, with nothing else between?"""
    start, end = match.span()
    if is_alone and (_is_below_a_word(page, start) or _is_above_a_word(page, end)):
        return True
    # "the code for 2026", "in 2026 enter the code", "The Code Report: 2026"
    if _is_year(match[0]) or match["parted"] is not None:
        return any(introduces_alone(between) for between in _introductions(page, match))
    return any(True for _ in _introductions(page, match)) or _is_called_one(page, match)


def _may_be_bare(match: re.Match[str]) -> bool:
    """Six digits are hardly anything else; of four a mere "code" says too little: "it failed with code 4013"."""
    return match["digits"] is None or len(match[0]) >= _DIGITS_THAT_TELL


def _introductions(page: _Page, match: re.Match[str]) -> Iterator[str]:
    """What stands between it and each word for a code that introduces it."""
    start = match.start()
    for _, word_end in page.words.between(start - _DIRECT - _AROUND, start, bare=_may_be_bare(match)):
        between = page.plain[word_end:start]
        if len(between) <= _DIRECT and not _DIGIT.search(between) and not _BREAK.search(between):
            yield between


def _is_called_one(page: _Page, match: re.Match[str]) -> bool:
    """Is it said to be one by a word behind it that does not introduce another: "sum 1533, OTP 641830"?"""
    end = match.end()
    for word_start, word_end in page.words.between(end, end + _DIRECT, bare=_may_be_bare(match)):
        between = page.plain[end:word_start]
        if _HEADING.search(between) or _DIGIT.search(between) or _BREAK.search(between):
            continue
        if not _NEXT_NUMBER.match(page.plain, word_end):
            return True
    return False


def _is_introduced_alone(page: _Page, match: re.Match[str]) -> bool:
    """Does the sentence on the line above, or on its own a word with a colon, say of nothing else that it comes now?"""
    if page.plain[match.start() - 1] == "\n":
        return _is_below_a_word(page, match.start(), in_last_sentence=True)
    return any(introduces_alone(between) for between in _introductions(page, match))


def _is_below_a_word(page: _Page, start: int, *, in_last_sentence: bool = False) -> bool:
    line = _line_above(page.plain, start)
    said = _SENTENCE_END.split(line)[-1] if in_last_sentence else line
    end = len(page.plain[:start].rstrip())
    return any(page.words.between(end - len(said), start))


def _is_above_a_word(page: _Page, end: int) -> bool:
    """Does the line below speak of it ("This code is good for ..."), and not of one that follows ("PIN: 1234")?"""
    return any(
        not _COLON.match(page.plain, word_end) for _, word_end in page.words.between(end, end + _NEAR_BEHIND)
    )


def _line_above(text: str, start: int) -> str:
    """The line above the one that begins at `start`, as far as it matters; empty lines do not count."""
    return text[max(0, start - _LINE_CHARS) : start].rstrip().rpartition("\n")[2]


def _line_around(text: str, start: int, end: int) -> str:
    """The line that it stands on, as far as it matters."""
    head = text[max(0, start - _LINE_CHARS) : start].rpartition("\n")[2]
    return head + text[start:end] + text[end : end + _LINE_CHARS].partition("\n")[0]


def _offer_around(text: str, match: re.Match[str]) -> str:
    """What may say that it makes something cheaper: its sentence, and of a word with a number (SAVE20) more."""
    start, end = match.span()
    if _WORD_AND_NUMBER.fullmatch(match[0]):
        return text[max(0, start - _LINE_CHARS) : end + _LINE_CHARS]
    return _sentence_around(text, start, end)


def _sentence_around(text: str, start: int, end: int) -> str:
    """The sentence, or the line, that it stands in, as far as it matters."""
    head = _SENTENCE_END.split(text[max(0, start - _LINE_CHARS) : start].rpartition("\n")[2])[-1]
    tail = _SENTENCE_END.split(text[end : end + _LINE_CHARS].partition("\n")[0])[0]
    return head + text[start:end] + tail
