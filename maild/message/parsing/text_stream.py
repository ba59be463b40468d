"""Bodies of any size as text, piece by piece: together what `parse.read_text` gives at once.

Which charset a body is in shows only at its end, so its octets are read once for each that is tried and once more
for the text. Nothing but a piece is ever held, and no step takes longer than a piece does: a step that gave no text
yet is None, so that its caller may let others go first.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from maild.message.characters.charsets import (
    CESU_8,
    ORDER_OCTETS,
    HiddenUtf8,
    beyond_ascii,
    codec_for,
    errors_of,
    escaped_codec,
    has_more,
    in_order,
    is_as_declared,
    is_damaged_utf8,
    may_be_of_windows,
    of_windows,
)
from maild.message.characters.decode import decode_stream, tidy
from maild.message.characters.guessing import LAST_RESORT, SAMPLE_OCTETS, Guesser
from maild.message.characters.line_ends import begun_line_end, with_lf
from maild.message.model import Slice
from maild.message.parsing.enriched import ENRICHED, Enriched
from maild.message.parsing.flowed import Unflowing

PIECE_OCTETS = 128 * 1024
_UTF_16, _UTF_32 = "utf_16", "utf_32"

Read = Callable[[int, int], bytes]  # offset, length → the octets of the message there
Octets = Callable[[], Iterator[bytes]]
Steps = Iterator[str | None]


def text_pieces(read: Read, slices: Sequence[Slice]) -> Steps:
    """The slices as one text with LF line ends and no NUL; None: a step without text."""
    guesser = Guesser()
    needs_break = False
    for part in slices:
        last = ""
        for piece in _slice_pieces(read, part, guesser):
            if piece and needs_break and not last:
                yield "\n"
            last = piece or last
            yield piece or None
        needs_break = not last.endswith("\n")


def _slice_pieces(read: Read, part: Slice, guesser: Guesser) -> Steps:
    def octets() -> Iterator[bytes]:
        decoder = decode_stream(part.encoding)
        end = part.offset + part.length
        for at in range(part.offset, end, PIECE_OCTETS):
            yield decoder.feed(read(at, min(PIECE_OCTETS, end - at)))
        yield decoder.flush()

    trial = _Trial("utf-8", "strict")
    for found in _tried(octets, part, guesser):
        if found is None:
            yield None
        else:
            trial = found
    decoder = _decoder(octets, trial)
    lines = _Lines()
    paragraphs = _paragraphs(part.flow)
    for data in octets():
        yield paragraphs.feed(lines.feed(decoder.decode(data)))
    yield paragraphs.feed(lines.feed(decoder.decode(b"", True)) + lines.flush())
    yield paragraphs.flush()


def _paragraphs(flow: str | None) -> _AsItIs | Enriched | Unflowing:
    if flow is None:
        return _AsItIs()
    return Enriched() if flow == ENRICHED else Unflowing(flow)


class _AsItIs:
    def feed(self, text: str) -> str:
        return text

    def flush(self) -> str:
        return ""


class _Trial(NamedTuple):
    codec: str
    errors: str


def _tried(octets: Octets, part: Slice, guesser: Guesser) -> Iterator[_Trial | None]:
    """How to decode these octets, as the last value: in the order of `decode.decode_charset`."""
    codec = codec_for(part.charset) or escaped_codec(_head(octets, SAMPLE_OCTETS))
    if codec is not None and may_be_of_windows(codec):
        for data in octets():
            codec = of_windows(codec, data)
            yield None
    has_time = codec is not None and has_more(codec) and guesser.may_repair(part.length)
    for one in dict.fromkeys([codec, "utf-8", CESU_8] if codec else ["utf-8", CESU_8]):
        hidden, trial = HiddenUtf8(one), _Trial(one, errors_of(one, has_time=has_time))
        if (yield from _reads(octets, trial, hidden)):
            yield _Trial("utf-8", "strict") if hidden.is_sure else trial
            return
    if codec is not None:
        trial = _Trial(codec, errors_of(codec, is_lenient=True, has_time=has_time))
        found = yield from _errors(octets, trial)
        if is_as_declared(codec, *found):
            yield trial
            return
    damaged = _Trial("utf-8", "replace")
    errors, beyond, _ = yield from _errors(octets, damaged)
    if is_damaged_utf8(errors, beyond):
        yield damaged
        return
    for one in (guesser.guess(_head(octets, SAMPLE_OCTETS)), LAST_RESORT):
        trial = _Trial(one, errors_of(one, has_time=part.length <= SAMPLE_OCTETS))
        if (yield from _reads(octets, trial, None)):
            yield trial
            return
    yield _Trial("latin-1", "strict")


def _reads(octets: Octets, trial: _Trial, hidden: HiddenUtf8 | None) -> Generator[None, None, bool]:
    decoder = _decoder(octets, trial)
    try:
        for data in chain(octets(), [None]):
            decoder.decode(data or b"", data is None)
            if hidden is not None and hidden.may_be:
                hidden.feed(data or b"", is_last=data is None)
            yield None
    except UnicodeError:
        return False
    return True


def _errors(octets: Octets, trial: _Trial) -> Generator[None, None, tuple[int, int, int]]:
    """How many could not be read, how many are beyond ASCII, and how many characters there are."""
    decoder = _decoder(octets, trial)
    errors = beyond = length = 0
    for data in chain(octets(), [None]):
        text = decoder.decode(b"", True) if data is None else decoder.decode(data)
        errors += text.count("\ufffd")
        beyond += beyond_ascii(text)
        length += len(text)
        yield None
    return errors, beyond, length


def _decoder(octets: Octets, trial: _Trial) -> codecs.IncrementalDecoder:
    codec = trial.codec
    if codec == _UTF_16:
        codec = in_order(codec, _head(octets, ORDER_OCTETS))
    # Without a byte order mark a stream of UTF-32 is an error, where `bytes.decode` takes the machine's order.
    elif codec == _UTF_32 and _head(octets, 4) not in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        codec += "_le" if sys.byteorder == "little" else "_be"
    return codecs.getincrementaldecoder(codec)(trial.errors)


def _head(octets: Octets, length: int) -> bytes:
    head = bytearray()
    for data in octets():
        head += data
        if len(head) >= length:
            break
    return bytes(head[:length])


class _Lines:
    """Tidies text and makes its line ends LF, across the borders of pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._is_begun = False

    def feed(self, text: str) -> str:
        tidied = tidy(text, is_begun=self._is_begun)
        self._is_begun = self._is_begun or bool(text.strip("\0"))
        text = self._held + tidied
        self._held = begun_line_end(text)
        return with_lf(text[: len(text) - len(self._held)])

    def flush(self) -> str:
        held, self._held = self._held, ""
        return with_lf(held)
