"""Words as the search index is told them: each three characters in a row are a term, one code point beyond the BMP.

FTS5 would find trigrams by itself, and pays for it: it looks one up for every character of a text, in a table where
those of ASCII share some 3,000 places. Here they are found for many texts at once by numpy, which mostly works without
the interpreter; each is put in once a text, as a rule, and they are spread evenly. Two trigrams may be one term, and a
cut in a long text makes one that it does not have: the index only proposes.

Which trigrams a text has: those with a blank in the middle are left out, and nobody asks for them (`trigrams_of`), so
neither the order of words nor what lies between them costs anything. Blanks are all one, and stand before and behind
a text. Of Han, Kana and Hangul, where most words have two characters, each pair is a term as well: a trigram of which
`NO_THIRD` is the last. Pairs of letters would cost every mail more than questions for two letters are worth.

`TERMS_FORM` goes up whenever the same words would become other terms, also by `storage.searching.folding`.
"""

import os
from collections.abc import Iterator, Sequence

from storage.unfit_processor import UnfitProcessor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy begins a thread for each core, to do nothing

try:
    import numpy as np
    from numpy.typing import NDArray
except RuntimeError as error:  # it looks at the processor as it is imported
    raise UnfitProcessor(
        "this processor lacks instructions that maild needs; give the virtual machine a newer one (its CPU type), such"
        f" as the host's own: {' '.join(str(error).split())}"
    ) from error

TERMS_FORM = 6

TRIGRAM = 3
PIECE = 64 * 1024  # characters at once, with blanks: arrays that fit the processor's cache
PARTS = 2048  # at once: with its number and a bit a term is 32 bits
NO_THIRD = "\uffff"  # a noncharacter: what has it in a text is proposed once too often, and confirmed no less
WIDE = 0x2E80  # from here on: Han, Kana and Hangul, and little else
_BLANK = " "
_FIRST = 0x10000  # and 2^20 terms from there on: 4 octets in UTF-8, each above ASCII, so FTS5 cuts none of them apart
_TERM_BITS = 20
_ENCODED = 5  # octets, with the blank
_FACTORS = tuple(map(np.uint32, (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)))  # odd, and unlike each other
_MIXED_BITS = np.uint32(15)
_COUNTS = np.uint32(1 << 31)
_PLACES_BITS = 17


def _is_blank(character: str) -> bool:
    return character <= _BLANK or character.isspace()


def _is_wide(character: str) -> bool:
    return ord(character) >= WIDE


_IS_BLANK = np.array([_is_blank(chr(code)) for code in range(0x3002)])  # none is behind the ideographic space

Numbers = NDArray[np.uint32]

_NONE: Numbers = np.array([ord(NO_THIRD)], np.uint32)  # each of as many as there are of others


def trigrams_of(part: str) -> list[str]:
    """Those that the index has of every text that holds `part`; none when it is too short."""
    spaced = "".join(_BLANK if _is_blank(one) else one for one in part)
    if len(spaced) == TRIGRAM - 1 and all(_is_wide(one) for one in spaced):
        return [spaced + NO_THIRD]
    every = dict.fromkeys(spaced[at : at + TRIGRAM] for at in range(len(spaced) - TRIGRAM + 1))
    return [one for one in every if one[1] != _BLANK]


def terms_of_trigrams(trigrams: Sequence[str]) -> list[str]:
    """What stands in the index for each."""
    if not trigrams:
        return []
    codes = _codes("".join(trigrams))
    terms = _hashed(codes[::TRIGRAM], codes[1::TRIGRAM], codes[2::TRIGRAM])
    return [chr(_FIRST + term) for term in terms.tolist()]


def terms_of_texts(texts: Sequence[str]) -> list[bytes]:
    """For each text its terms in UTF-8, a blank behind each; the same twice now and then, which does no harm."""
    said: list[list[bytes]] = [[] for _ in texts]
    workspace = _Workspace(min(PIECE, sum(map(_room, texts))))
    for piece in _pieces(texts):
        found = workspace.terms([part for _, part in piece])
        for (number, _), terms in zip(piece, found, strict=True):
            said[number].append(terms)
    return [b"".join(one) for one in said]


def _room(part: str) -> int:
    return len(part) + 2  # a blank before and behind


def _pieces(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Several short texts, or a part of a long one: it overlaps the next, so that no trigram is lost."""
    piece: list[tuple[int, str]] = []
    size = 0
    step = PIECE - TRIGRAM - 1
    for number, text in enumerate(texts):
        for at in range(0, len(text), step):
            part = text[at : at + step + TRIGRAM - 1]
            if size + _room(part) > PIECE or len(piece) == PARTS:
                yield piece
                piece, size = [], 0
            piece.append((number, part))
            size += _room(part)
    if piece:
        yield piece


class _Workspace:
    """Arrays that are used again for each piece: the allocator has new ones from the kernel, page by page."""

    def __init__(self, size: int) -> None:
        self._terms = np.empty(size, np.uint32)
        self._owners = np.empty(size, np.uint32)
        self._spare = np.empty(size, np.uint32)
        self._here = np.arange(size)
        self._places = np.empty(size, np.intp)
        self._there = np.empty(size, np.intp)
        self._last = np.empty(1 << _PLACES_BITS, np.intp)

    def terms(self, parts: Sequence[str]) -> list[bytes]:
        text = "".join([f"{_BLANK}{part}{_BLANK}" for part in parts])
        codes = _codes(text)
        ends = np.cumsum([_room(part) for part in parts])
        first, second, third = codes[:-2], codes[1:-1], codes[2:]
        found = self._distinct(first, second, third, second != ord(_BLANK), ends)
        if not text.isascii():
            are_pairs = first >= WIDE  # none is lost: a blank is behind the last character
            are_pairs &= second >= WIDE
            if are_pairs.any():
                pairs = self._distinct(first, second, _NONE, are_pairs, ends)
                found = [trigrams + two for trigrams, two in zip(found, pairs, strict=True)]
        return found

    def _distinct(
        self,
        first: Numbers,
        second: Numbers,
        third: Numbers,
        is_wanted: NDArray[np.bool_],
        ends: NDArray[np.intp],
    ) -> list[bytes]:
        """Of each part the terms of those that are wanted (which those of two parts are not). `ends`: of the parts."""
        size = len(first)
        terms = _hashed(first, second, third, self._terms[:size], self._spare[:size])
        is_kept = is_wanted & self._is_last(self._told_apart(terms, ends, is_wanted))
        kept = np.flatnonzero(is_kept)
        encoded = _encoded(terms.take(kept)).tobytes()
        cuts = (kept.searchsorted(ends) * _ENCODED).tolist()
        return [encoded[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]

    def _told_apart(self, terms: Numbers, ends: NDArray[np.intp], is_kept: NDArray[np.bool_]) -> Numbers:
        """With the number of the part, and whether it counts."""
        size = len(terms)
        owners = self._owners[:size]
        start = 0
        for number, end in enumerate(ends.tolist()):
            owners[start:end] = number << _TERM_BITS
            start = end
        owners |= terms
        owners |= np.multiply(is_kept, _COUNTS, out=self._spare[:size])
        return owners

    def _is_last(self, pairs: Numbers) -> NDArray[np.bool_]:
        """Which are the last of their equals, as far as a small table tells: of those that share a place in it one may
        be taken for the last more than once."""
        size = len(pairs)
        here, places, there = self._here[:size], self._places[:size], self._there[:size]
        mixed = np.multiply(pairs, _FACTORS[0], out=self._spare[:size])
        np.right_shift(mixed, 32 - _PLACES_BITS, out=places, casting="unsafe")
        self._last[places] = here  # of several the last stays
        self._last.take(places, out=there, mode="clip")
        is_last: NDArray[np.bool_] = there == here
        is_last |= pairs.take(there, out=mixed, mode="clip") != pairs
        return is_last


def _hashed(
    first: Numbers, second: Numbers, third: Numbers, into: Numbers | None = None, spare: Numbers | None = None
) -> Numbers:
    terms = np.multiply(first, _FACTORS[0], out=into)
    terms += np.multiply(second, _FACTORS[1], out=spare)
    terms += np.multiply(third, _FACTORS[2], out=spare)
    terms ^= np.right_shift(terms, _MIXED_BITS, out=spare)
    terms *= _FACTORS[0]
    terms >>= np.uint32(32 - _TERM_BITS)
    return terms


def _codes(text: str) -> Numbers:
    """Of its characters, all blanks being one."""
    if text.isascii():
        return np.maximum(np.frombuffer(text.encode("ascii"), np.uint8), ord(_BLANK)).astype(np.uint32)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    codes[_IS_BLANK.take(codes, mode="clip")] = ord(_BLANK)
    return codes


def _encoded(terms: Numbers) -> NDArray[np.uint8]:
    codes = terms + np.uint32(_FIRST)
    encoded = np.empty((len(codes), _ENCODED), np.uint8)
    encoded[:, 0] = 0xF0 | codes >> 18
    encoded[:, 1] = 0x80 | codes >> 12 & 0x3F
    encoded[:, 2] = 0x80 | codes >> 6 & 0x3F
    encoded[:, 3] = 0x80 | codes & 0x3F
    encoded[:, 4] = ord(_BLANK)
    return encoded
