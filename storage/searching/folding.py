"""When two texts say the same to a search: case does not count, nor how characters are composed, nor, in words, what
mail programs put in that no reader sees.

A text is there as it is spelled, folded, and composed (NFC, Unicode Standard Annex 15) where that differs, as in what
macOS makes of names of files: `é` is found whether it is one character or two, here and there. `é` is not `e`.

Of words (`fold_words`, `holds_words`, `forms`) a line break or another blank is a space, each for itself; characters
without a width are not there; typographic apostrophes, quotes and hyphens are those of keyboards. What `fold_words`
made has none of them, so it need not be looked for in a form that has. In an address all of them count.
"""

import re
import unicodedata
from typing import Final

_FORM: Final = "NFC"
_AT_ONCE = 64 * 1024  # characters: folding keeps the interpreter to its end
_MARKS = 32  # that may stand between a letter and the mark that joins it
_COMPOSED_ASCII = re.compile("[;`]")  # all of ASCII that something else becomes: U+037E, U+1FEF
# What is composed at once: marks are sorted in the square of their number. It ends before ASCII, or before a letter,
# which joins nothing in front of it, as vowels and finals of Hangul do; where there is neither, anywhere.
_PIECE = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,249}(?![^\w\x00-\x7f]|[\u1160-\u11ff])|[^\x00-\x7f]{1,250}")
# What comes out of HTML and word processors: soft hyphens, joiners, directions, marks of order, shapes of emoji.
_WITHOUT_WIDTH = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
_TYPED = dict.fromkeys(_WITHOUT_WIDTH, "") | {
    "\u2010": "-",
    "\u2011": "-",
    "\u02bc": "'",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
}
_BLANK = re.compile(r"[\t-\r\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


def fold(part: str) -> str:
    """What is looked for in an address, as `holds` has it."""
    return _composed(part.casefold())


def fold_words(part: str) -> str:
    """What is looked for in words, as `holds_words` has it; of what no reader sees nothing is left."""
    return _spaced(_typed(fold(part)))


def forms(words: str) -> list[str]:
    """Where it is looked for: the words as they are spelled, and composed where that is another, but for blanks, which
    the index takes for one by itself."""
    spelled = _spelled(words)
    return [_typed(spelled)] if _is_composed(spelled) else [_typed(spelled), _typed(_composed(spelled))]


def holds(text: str, part: str) -> bool:
    """Is what `fold` made of a part in the text?"""
    spelled = _spelled(text)
    return part in spelled or (_may_be_composed(part, spelled) and part in _composed(spelled))


def holds_words(words: str, part: str) -> bool:
    """Is what `fold_words` made of a part in the words? As `forms` has it, and no form is made that cannot say more."""
    spelled = _spelled(words)
    if part in spelled or part in _shown(spelled, part):
        return True
    return _may_be_composed(part, spelled) and part in _shown(_composed(spelled), part)


def _may_be_composed(part: str, spelled: str) -> bool:
    if part.isascii() and not _COMPOSED_ASCII.search(part):
        return False
    return not _is_composed(spelled)


def _shown(spelled: str, part: str) -> str:
    """As readers see it, as far as the part is about that."""
    typed = _typed(spelled)
    return _spaced(typed) if " " in part else typed


def _typed(folded: str) -> str:
    if not folded.isascii():
        for odd, plain in _TYPED.items():  # each a quick look, where a pattern of all of them is a slow one
            folded = folded.replace(odd, plain)
    return folded


def _spaced(folded: str) -> str:
    return _BLANK.sub(" ", folded)


def _spelled(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join([text[at : at + _AT_ONCE].casefold() for at in range(0, len(text), _AT_ONCE)])


def _is_composed(text: str) -> bool:
    return text.isascii() or all(
        unicodedata.is_normalized(_FORM, text[max(0, at - _MARKS) : at + _AT_ONCE])
        for at in range(0, len(text), _AT_ONCE)
    )


def _composed(text: str) -> str:
    return _PIECE.sub(lambda piece: unicodedata.normalize(_FORM, piece[0]), text)
