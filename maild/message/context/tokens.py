"""How many tokens a language model makes of a text: an estimate that rather says too much than too little.

Tokenizers differ, and their vocabularies are megabytes. What they have in common is what a budget needs: a word of a
large language is one token or two, of a small one a token for each three letters, a letter of another script a part of
one. The weights come from texts in some forty languages, counted by o200k.

The cost of a text is the sum of its lines', so a budget can be spent line by line. Work is linear.
"""

import re
from collections.abc import Callable
from math import ceil

UNIT = 100  # costs are integers, in hundredths of a token, so that sums are exact
LINE = 70  # a line's end, with what its length rounds away
EMPTY_LINE = 50
CHARACTERS = 12  # a token of running text has no more

_ENCODED = re.compile(r"[!-~]{25,}")
_ENCODED_CHARACTER = 70
_WORD = re.compile(r"[A-Za-z]+")
# Words that most lines of a language have. Vocabularies know whole words of the first languages, stems of the second.
_OF_WHOLE_WORDS = re.compile(
    r"\b(?:the|and|of|to|is|you|we|it|for|que|el|los|las|por|con|una|para|do|da|os|um|com|les|et|des|est|le|la|de|du"
    r"|vous|nous|dans|su|al|se|no|pas)\b",
    re.IGNORECASE,
)
_OF_STEMS = re.compile(
    r"\b(?:der|die|das|und|ist|nicht|ein|eine|zu|den|von|mit|wir|sie|ich|auf|f\u00fcr|im|een|het|van|di|che|il)\b",
    re.IGNORECASE,
)
_WHOLE_WORDS = re.compile(r"[A-Z]?[a-z\u00e0-\u00ff]{1,7}|[A-Z]{1,3}")
_STEMS = re.compile(r"[A-Z]?[a-z\u00e0-\u00ff]{1,6}|[A-Z]{1,3}")
_PIECES = re.compile(r"[A-Z]?[a-z]{1,3}|[A-Z]{1,3}")
_MARKED = re.compile(r"[\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f]")  # Latin letters with marks
_MARKED_IN_A_WORD = 40
_MARKED_IN_PIECES = 75
_ASCII = (
    (re.compile(r"[0-9]{1,3}"), 100),
    (re.compile(r"[!-/:-@\[-`{-~]"), 80),
    (re.compile(r"[\t ]{2,80}"), 100),
)
# The scripts, each by what one letter costs.
_OTHERS = (
    (re.compile(r"[\u0370-\u03ff]"), 48),  # Greek
    (re.compile(r"[\u0400-\u052f]"), 43),  # Cyrillic
    (re.compile(r"[\u0590-\u05ff]"), 54),  # Hebrew
    (re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]"), 46),  # Arabic
    (
        re.compile(r"[\u0900-\u09ff\u0a80-\u0d7f]"),
        47,
    ),  # of India, but for those that vocabularies hardly know:
    (re.compile(r"[\u0a00-\u0a7f\u0d80-\u0dff]"), 66),  # Gurmukhi, Sinhala
    (re.compile(r"[\u0e00-\u0e7f]"), 50),  # Thai
    (re.compile(r"[\u0530-\u058f\u10a0-\u10ff]"), 42),  # Armenian, Georgian
    (re.compile(r"[\u1000-\u109f\u1780-\u17ff]"), 72),  # Burmese, Khmer
    (re.compile(r"[\u2e80-\u30ff\u3100-\u9fff\uf900-\ufaff\uff00-\uffef]"), 100),  # Chinese, Japanese
    (re.compile(r"[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7af]"), 93),  # Korean
    (re.compile(r"[\u0080-\u00bf\u2000-\u2bff\ufe00-\ufe1f]"), 110),  # punctuation, symbols
    (re.compile(r"[\u0700-\u074f\u0780-\u08ff\u0e80-\u0fff\u1200-\u177f\u1800-\u1dff\u1f00-\u1fff]"), 210),
    (re.compile(r"[\u2c00-\u2dff\ua000-\ua95f\ua980-\uabff\ud7b0-\uf8ff]"), 280),
    (re.compile(r"[\U00010000-\U0010ffff]"), 260),  # emoji; rare scripts cost as much
)


def estimated_tokens(text: str) -> int:
    """About how many tokens the text is; for what a budget has to hold, `cost` of its lines."""
    return tokens_of(cost(text))


def tokens_of(cost: int) -> int:
    """The tokens of a cost, rounded up."""
    return ceil(cost / UNIT)


def cost(text: str) -> int:
    """The text's cost, in UNITs of a token: the sum of its lines', split at line feeds."""
    return sum(map(_line_cost, text.split("\n")))


def _line_cost(line: str) -> int:
    if not line:
        return EMPTY_LINE
    encoded = _ENCODED.findall(line)
    if encoded:
        line = _ENCODED.sub(" ", line)
    letters = _letters(line)
    sum_ = LINE + _ENCODED_CHARACTER * sum(map(len, encoded)) + UNIT * len(letters.findall(line))
    for pattern, each in _ASCII:
        sum_ += each * len(pattern.findall(line))
    if not line.isascii():
        sum_ += (_MARKED_IN_PIECES if letters is _PIECES else _MARKED_IN_A_WORD) * len(_MARKED.findall(line))
        for pattern, each in _OTHERS:
            sum_ += each * len(pattern.findall(line))
    return sum_


def _letters(line: str) -> re.Pattern[str]:
    """How the line's words fall apart, by the language that its small words speak."""
    words = len(_WORD.findall(line))
    whole = len(_OF_WHOLE_WORDS.findall(line))
    if whole * 7 >= words:
        return _WHOLE_WORDS
    return _STEMS if (whole + len(_OF_STEMS.findall(line))) * 8 >= words else _PIECES


def beginning(line: str, budget: int) -> str:
    """About as much of the line's beginning as the cost `budget` holds, and no more."""
    return line[: _fitting(line, budget, slice)]


def end(line: str, budget: int) -> str:
    """About as much of the line's end as the cost `budget` holds, and no more."""
    size = _fitting(line, budget, lambda size: slice(len(line) - size, None))
    return line[len(line) - size :]


def _fitting(line: str, budget: int, part: Callable[[int], slice]) -> int:
    size = min(len(line), max(budget, 0) // UNIT * CHARACTERS)
    while size and (spent := cost(line[part(size)])) > budget:
        size = min(size - 1, size * budget // spent)
    return size
