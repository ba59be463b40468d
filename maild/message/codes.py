"""The code that a mail asks its reader to type, found without guessing.

A code is what stands beside a word for one (`code_words`). What stands beside another word is none: the number of an
order, a price, a year, a discount. Where two could be meant nobody is told either.

Pure and linear: each number is looked at with so many characters around it, and of a text with more than
CANDIDATES_MAX numbers nothing is said. Offsets are code points of the text that was handed in.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal, NamedTuple

from maild.message.code_words import (
    code_words,
    names_something_else,
    speaks_of_shopping,
    speaks_of_signing_in,
)

CANDIDATES_MAX: Final = 150
CANDIDATES_TOLD: Final = 10
TEXT_CHARS: Final = 64 * 1024
_NEAR_BEFORE: Final = 60
_NEAR_BEHIND: Final = 25
_DIRECT: Final = 45  # so much may stand between a word for a code and what it introduces
_LABEL_CHARS: Final = 24
_LINE_CHARS: Final = 160
_YEARS: Final = range(1900, 2100)

View = Literal["subject", "text"]
Confidence = Literal["labelled", "unlabelled", "ambiguous"]

_NARROW: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x3000: 0x20,
    0xA0: 0x20,
    0x202F: 0x20,
}
_URL = re.compile(r"""[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s<>"]+""")
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,255}")
_CANDIDATE = re.compile(
    r"(?<![0-9A-Za-z_@#+&=*•×])(?<![0-9A-Za-z][.,:/-])(?:"
    r"(?P<prefixed>[A-Z]-[0-9]{4,9})"
    r"|(?P<spread>[0-9](?: [0-9]){3,9})"
    r"|(?P<split>[0-9]{2,5}[ -][0-9]{2,5})"
    r"|(?P<digits>[0-9]{4,10})"
    r"|(?P<letters>(?=[A-Z -]{0,9}[0-9])[A-Z0-9]{2,10}(?:[ -](?=[A-Z]{0,7}[0-9])[A-Z0-9]{2,8})?)"
    r")(?![0-9A-Za-z_@=]|[.,:/-][0-9A-Za-z])"
)
_DIGIT = re.compile(r"[0-9]")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]")
_CURRENCY: Final = r"[$€£¥₹₺₽₴]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RUB|UAH|TRY|TL|PLN|SEK|BRL|kr|zł|Rs)\b"
_MONEY_BEFORE = re.compile(rf"(?:{_CURRENCY})\s?$")
_MEASURE_BEHIND = re.compile(
    rf"\s?(?:{_CURRENCY}|[%‰°]|zł|руб|грн|[円元年月日点人]|(?:GB|MB|kB|TB|km|kg|px|kWh|mAh|m²)\b)"
)
_TELEPHONE_BEFORE = re.compile(r"(?:\+\s?[0-9 ()/.-]{1,14}|[0-9)][ ./()-]{1,2}|\(0?)$")
_TELEPHONE_BEHIND = re.compile(r"[ /.-]{1,2}\(?[0-9]|\)")
_STATE_BEFORE = re.compile(r",\s?[A-Z]{2} $")
_RIGHTS_BEFORE = re.compile(r"(?:©|\([cC]\)|[cC]opyright)\s?(?:[0-9]{4}\s?[-–]\s?)?$")


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
    is_alone: bool

    @property
    def value(self) -> str:
        """What is to be typed: without blanks, dashes and a prefix such as `G-`."""
        narrow = self.shown.translate(_NARROW)
        return re.sub(r"[ -]", "", narrow[2:] if re.fullmatch("[A-Z]-[0-9]+", narrow) else narrow)


def find_code(subject: str, words: str) -> FoundValue | None:
    """The code of a mail with this subject and these (new) words; None where there is none."""
    found: list[_Candidate] = []
    views: tuple[tuple[View, str], ...] = (("subject", subject), ("text", words[:TEXT_CHARS]))
    for view, text in views:
        plain = _without_addresses(text.translate(_NARROW))
        numbers = list(islice(_CANDIDATE.finditer(plain), CANDIDATES_MAX + 1))
        if len(numbers) > CANDIDATES_MAX:
            return None
        judged = (
            _judged(view, text, plain, match) for match in numbers if not _is_something_else(plain, match)
        )
        found += filter(None, judged)
    # What a word for a code introduces is meant, whatever else stands near.
    labelled = [one for one in found if one.is_direct] or [one for one in found if one.is_labelled]
    if labelled:
        return _only(labelled, "labelled")
    is_single = len({one.value for one in found}) == 1 and any(one.is_alone for one in found)
    if is_single and any(speaks_of_signing_in(text) for _, text in views):
        return _only(found, "unlabelled")
    return None


def _only(candidates: Sequence[_Candidate], confidence: Confidence) -> FoundValue:
    values = list(dict.fromkeys(one.value for one in candidates))
    if len(values) > 1:
        return FoundValue("ambiguous", None, None, None, 0, 0, values[:CANDIDATES_TOLD])
    # The text is where a reader looks; a subject may repeat it.
    best = next((one for one in candidates if one.view == "text"), candidates[0])
    return FoundValue(confidence, best.value, best.shown, best.view, best.start, best.end)


def _judged(view: View, text: str, plain: str, match: re.Match[str]) -> _Candidate | None:
    start, end = match.span()
    is_direct = _is_direct(plain, start, end)
    is_plain_digits = match["digits"] is not None
    if not is_direct:
        if match["letters"] is not None:  # beside a word for a code stand names too: WIN10, SHA256
            return None
        if is_plain_digits and len(match[0]) == 4 and int(match[0]) in _YEARS:
            return None
    is_labelled = is_direct or _is_near(plain, start, end)
    if match["spread"] is not None and not is_labelled:
        return None
    is_alone = _line_around(plain, start, end).strip() == match[0]
    return _Candidate(view, text[start:end], start, end, is_direct, is_labelled, is_alone)


def _without_addresses(text: str) -> str:
    """The text with URLs and mail addresses blanked out, in as many characters."""
    return _ADDRESS.sub(_blank, _URL.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_something_else(text: str, match: re.Match[str]) -> bool:
    """A price, a telephone number, a year beside a right, the number of an order."""
    start, end = match.span()
    before, behind = text[max(0, start - 40) : start], text[end : end + 12]
    return (
        _MONEY_BEFORE.search(before) is not None
        or _MEASURE_BEHIND.match(behind) is not None
        or _RIGHTS_BEFORE.search(before) is not None
        or _TELEPHONE_BEFORE.search(before) is not None
        or _TELEPHONE_BEHIND.match(behind) is not None
        or (
            len(match[0]) == 5 and _STATE_BEFORE.search(before) is not None
        )  # a postal code of the United States
        or names_something_else(before)
        or (match["letters"] is not None and speaks_of_shopping(_sentence_around(text, start, end)))
    )


def _is_near(text: str, start: int, end: int) -> bool:
    """Is a word for a code within so many characters before it, or behind it?"""
    before, behind = _spans(text, start - _NEAR_BEFORE, start), _spans(text, end, end + _NEAR_BEHIND)
    return next(before, None) is not None or next(behind, None) is not None


def _is_direct(text: str, start: int, end: int) -> bool:
    """Does a word for a code introduce it, or say of it that it is one, with nothing else between?"""
    for _, label_end in _spans(text, start - _DIRECT - _LABEL_CHARS, start):
        between = text[label_end:start]
        if len(between) <= _DIRECT and not _DIGIT.search(between) and not _SENTENCE_END.search(between):
            return True
    for label_start, _ in _spans(text, end, end + _DIRECT):
        between = text[end:label_start]
        if "\n" not in between and not _DIGIT.search(between) and not _SENTENCE_END.search(between):
            return True
    if _line_around(text, start, end).strip() != text[start:end]:
        return False
    above = text[max(0, start - _LINE_CHARS) : start].rstrip().rpartition("\n")[2]
    return next(code_words(above), None) is not None


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The words for codes that begin between these places, whole."""
    first = max(0, start - _LABEL_CHARS)
    for word_start, word_end in code_words(text[first : end + _LABEL_CHARS]):
        if max(0, start) <= first + word_start < end:
            yield first + word_start, first + word_end


def _line_around(text: str, start: int, end: int) -> str:
    """The line that it stands on, as far as it matters."""
    head = text[max(0, start - _LINE_CHARS) : start].rpartition("\n")[2]
    return head + text[start : end + _LINE_CHARS].partition("\n")[0]


def _sentence_around(text: str, start: int, end: int) -> str:
    """The sentence, or the line, that it stands in, as far as it matters."""
    head = _SENTENCE_END.split(text[max(0, start - _LINE_CHARS) : start].rpartition("\n")[2])[-1]
    tail = _SENTENCE_END.split(text[end : end + _LINE_CHARS].partition("\n")[0])[0]
    return head + text[start:end] + tail
