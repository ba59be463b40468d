"""RFC 1896 `text/enriched`, and RFC 1341 `text/richtext` before it, as words: commands go, lines end where they say.

Piece by piece, wherever the pieces end; linear, and holds back no more than a command. What is no command, or one that
is never closed, stays as it is: other mail programs show the markup itself.
"""

from __future__ import annotations

import re
from typing import Final

ENRICHED: Final = "enriched"
ENRICHED_TYPES: Final = frozenset(["text/enriched", "text/richtext"])
_PARAMETER_CHARS = 200
_COMMAND_CHARS = 60  # RFC 1896
_PIECE = re.compile(
    rf"(?P<escaped><<)|(?P<parameter><param>[^<\n]{{0,{_PARAMETER_CHARS}}}</param>)"
    rf"|<(?P<end>/?)(?P<command>[a-z0-9-]{{1,{_COMMAND_CHARS}}})>|(?P<breaks>\n+)|[^<\n]++|<",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    rf"<(?:param>[^<\n]{{0,{_PARAMETER_CHARS}}}(?:</?[a-z]{{0,5}})?|/?[a-z0-9-]{{0,{_COMMAND_CHARS}}})?\Z",
    re.IGNORECASE,
)
_HELD_CHARS = _PARAMETER_CHARS + 20
# What stands on lines of its own.
_BLOCKS = frozenset(
    """center excerpt flushboth flushleft flushright footing heading indent indentright nofill np outdent paragraph
    paraindent signature""".split()
)
_LITERAL = {"lt": "<", "nl": "\n"}  # of richtext


def without_commands(text: str) -> str:
    """The whole text (with LF line ends) as words."""
    reader = Enriched()
    return reader.feed(text) + reader.flush()


class Enriched:
    """Feed it text with LF line ends."""

    def __init__(self) -> None:
        self._held = ""
        self._breaks = 0  # that wait for words: one is a blank, n are n - 1 ends of lines
        self._unfilled = 0  # open elements in which lines end as they stand
        self._is_begun = False

    def feed(self, text: str) -> str:
        """What is certain after this piece."""
        text = self._held + text
        end = _certain(text)
        self._held = text[end:]
        return self._read(text[:end])

    def flush(self) -> str:
        """What was held back; the text is complete."""
        held, self._held = self._held, ""
        return self._read(held) + "\n" * (self._breaks > 0)

    def _read(self, text: str) -> str:
        return "".join(map(self._said, _PIECE.finditer(text)))

    def _said(self, piece: re.Match[str]) -> str:
        if piece["breaks"]:
            if self._unfilled:
                return self._words(piece[0])
            self._breaks += len(piece[0])
            return ""
        if piece["parameter"]:
            return ""
        if (command := piece["command"]) is None:
            return self._words("<" if piece["escaped"] else piece[0])
        return self._commanded(command.lower(), is_end=bool(piece["end"]))

    def _commanded(self, command: str, *, is_end: bool) -> str:
        if command in _BLOCKS:
            self._breaks = max(self._breaks, 2)
        if command == "nofill":
            self._unfilled = max(0, self._unfilled + (-1 if is_end else 1))
        return "" if is_end or command not in _LITERAL else self._words(_LITERAL[command])

    def _words(self, text: str) -> str:
        breaks, self._breaks = self._breaks, 0
        is_begun, self._is_begun = self._is_begun, True
        if not breaks or not is_begun:
            return text
        return (" " if breaks == 1 else "\n" * (breaks - 1)) + text


def _certain(text: str) -> int:
    """How far it is certain: up to what may be a command that the next piece ends."""
    at = max(0, len(text) - _HELD_CHARS)
    while (unfinished := _UNFINISHED.search(text, at)) is not None:
        if not _is_escaped(text, unfinished.start()):
            return unfinished.start()
        at = unfinished.start() + 1  # another may stand within it
    return len(text)


def _is_escaped(text: str, at: int) -> bool:
    """Is the `<` that stands there the second of two?"""
    before = text[:at]
    return (at - len(before.rstrip("<"))) % 2 == 1
