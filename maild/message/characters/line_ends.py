"""Line ends of texts that were decoded: LF, whatever they were. Pure, linear."""

from __future__ import annotations

import re
from typing import Final

_LINE_END: Final = re.compile(r"\r\r?\n|\r")
_HELD_MAX = 2


def with_lf(text: str) -> str:
    """The text with LF. CR CR LF is one line end: libraries encode the CR of CRLF (`=0D`, RFC 2045 §6.7 (4)) and let
    the line end besides."""
    if "\r\r\n" in text:
        return _LINE_END.sub("\n", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def begun_line_end(text: str) -> str:
    """What at the end of the text may be part of a line end that goes on."""
    return text[len(text) - min(len(text) - len(text.rstrip("\r")), _HELD_MAX) :]
