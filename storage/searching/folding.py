"""When two texts say the same to a search: case does not count, nor does how characters are composed.

A text is there as it is spelled, folded, and composed (NFC, Unicode Standard Annex 15) where that differs, as in what
macOS makes of names of files: `é` is found whether it is one character or two, here and there. `é` is not `e`.
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


def fold(part: str) -> str:
    """What is looked for, as `forms` of a text have it."""
    return _composed(part.casefold())


def forms(text: str) -> list[str]:
    """Where it is looked for: the text as it is spelled, and composed where that is another."""
    spelled = _spelled(text)
    return [spelled] if _is_composed(spelled) else [spelled, _composed(spelled)]


def holds(text: str, part: str) -> bool:
    """Is what `fold` made of a part in the text? As `forms` has it, and no form is made that cannot say more."""
    spelled = _spelled(text)
    if part in spelled:
        return True
    if part.isascii() and not _COMPOSED_ASCII.search(part):
        return False
    return not _is_composed(spelled) and part in _composed(spelled)


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
