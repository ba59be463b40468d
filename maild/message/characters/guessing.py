"""The likeliest charset of octets that declare none, or another than theirs: within a budget for one message.

A guess takes 0.3 ms for a name and 15 ms for 64 KiB, and the author of the message decides how many pieces want one. So
there is one Guesser for a message; when its budget is spent, what it learnt from the longest piece serves the
others, and Windows-1252 where that does not fit.
"""

from __future__ import annotations

from typing import Final

from maild.message.characters.charsets import CESU_8, beyond_ascii, codec_for, errors_of, is_damaged_utf8

MAX_NAMES: Final = 10  # subjects, names of people and files
MAX_TEXTS: Final = 10  # counted apart, so that names can't take the budget of the body
NAME_OCTETS: Final = 256
MAX_GUESSED_OCTETS: Final = 128 * 1024
SAMPLE_OCTETS: Final = 64 * 1024
MAX_REPAIRED_OCTETS: Final = 1024 * 1024  # in texts with characters that Python's tables lack
MAX_REPAIRED_AT_ONCE: Final = 8 * 1024
MAX_LINES_AT_ONCE: Final = 1000
MAX_SURROGATES_AT_ONCE: Final = 1000
LAST_RESORT = "cp1252"
_ASCII = bytes(range(128))


class TooMuchWork(Exception):
    """Reading this message takes longer than its reader has time."""


class Guesser:
    """Decodes the undeclared pieces of one message."""

    def __init__(self) -> None:
        self._guesses: dict[bytes, str] = {}
        self._names_left, self._texts_left = MAX_NAMES, MAX_TEXTS
        self._octets_left = MAX_GUESSED_OCTETS
        self._repaired = 0
        self._longest = b""
        self._of_texts: str | None = None

    def learn(self, charset: str | None) -> None:
        """What a text of the message declares, or is: the first that is more than ASCII serves its names as well."""
        if self._of_texts is not None or (codec := codec_for(charset)) in (None, "utf-8"):
            return
        if "a".encode(codec) == b"a":
            self._of_texts = codec

    def learn_between(self, names: bytes, text: bytes) -> None:
        """Where neither declares a charset and the text has more octets to guess by, its guess serves both."""
        if self._of_texts is not None or _is_utf8(names) or _is_utf8(text):
            return
        if len(text.translate(None, _ASCII)) > len(names.translate(None, _ASCII)):
            self.learn(self._codec(text))

    def may_repair(self, octets: int) -> bool:
        """Is there time to read what Python's tables lack in a text of so many octets as well (`charsets.has_more`)?"""
        self._repaired += octets
        return self._repaired <= MAX_REPAIRED_OCTETS

    def decode(self, data: bytes) -> str:
        """Total: what no codec reads is latin-1."""
        text = _decoded(data, "utf-8")
        if text is None:
            self.allow_surrogates(data)
            text = _decoded(data, CESU_8)
        if text is None:
            text = _damaged_utf8(data)
        if text is None and self._of_texts and len(data) <= NAME_OCTETS:  # too few to guess by
            text = _decoded(data, self._of_texts)
        if text is None:
            text = _decoded(data, self._codec(data))
        if text is None:
            text = _decoded(data, LAST_RESORT)
        return data.decode("latin-1") if text is None else text

    def allow_lines(self, count: int) -> None:
        """Lines that are read one by one. TooMuchWork where there is no time for so many."""

    def allow_surrogates(self, data: bytes) -> None:
        """Octets that may be CESU-8, each surrogate of which takes a while. TooMuchWork where there is no time."""

    def guess(self, data: bytes) -> str:
        """The likeliest codec of octets that are not UTF-8 (their first SAMPLE_OCTETS)."""
        return self._codec(data)

    def _codec(self, data: bytes) -> str:
        sample = data[:SAMPLE_OCTETS]
        known = self._guesses.get(sample)
        if known is not None:
            return known
        if not self._spend(len(sample)):
            return self._guesses.get(self._longest, LAST_RESORT)
        codec = self._guesses[sample] = codec_for(detect(sample)) or LAST_RESORT
        if len(sample) > len(self._longest):
            self._longest = sample
        return codec

    def _spend(self, octets: int) -> bool:
        is_name = octets <= NAME_OCTETS
        if octets > self._octets_left or not (self._names_left if is_name else self._texts_left):
            return False
        self._octets_left -= octets
        self._names_left -= is_name
        self._texts_left -= not is_name
        return True


class NoGuesser(Guesser):
    """For readers on the event loop: raises TooMuchWork where a guess would be, too many lines, or much to repair."""

    def may_repair(self, octets: int) -> bool:
        super().may_repair(octets)
        if self._repaired > MAX_REPAIRED_AT_ONCE:
            raise TooMuchWork
        return True

    def allow_lines(self, count: int) -> None:
        if count > MAX_LINES_AT_ONCE:
            raise TooMuchWork

    def allow_surrogates(self, data: bytes) -> None:
        if data.count(b"\xed") > MAX_SURROGATES_AT_ONCE:
            raise TooMuchWork

    def _codec(self, data: bytes) -> str:
        raise TooMuchWork


def _is_utf8(data: bytes) -> bool:
    return data.isascii() or _decoded(data, "utf-8") is not None


def _decoded(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec, errors_of(codec, has_time=len(data) <= SAMPLE_OCTETS))
    except UnicodeError:
        return None


def _damaged_utf8(data: bytes) -> str | None:
    text = data.decode("utf-8", "replace")
    return text if is_damaged_utf8(text.count("\ufffd"), beyond_ascii(text)) else None


def detect(sample: bytes) -> str | None:
    """The name of the likeliest charset. The first call loads the models: 0.1 s."""
    import chardet  # noqa: PLC0415

    # What writes mail in the charsets of DOS, mainframes and old Macs says so; but a few words of another are often
    # likelier in one of so many.
    era = chardet.EncodingEra
    eras = era.MODERN_WEB | era.LEGACY_ISO | era.LEGACY_REGIONAL
    return chardet.detect(sample, encoding_era=eras)["encoding"]


def load() -> None:
    """Load the models, so that no message has to wait for them."""
    detect("Grüße aus Köln, schöne Tage".encode("latin-1"))
