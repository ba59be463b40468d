"""RFC 3676 `format=flowed`: lines that a mailer broke become paragraphs again, each behind its quote marks.

Piece by piece, wherever the pieces end; linear, and holds back no more than a line of MAX_LINE_CHARS. Longer lines,
which no generator of flowed text writes, stay as they are.
"""

from __future__ import annotations

from typing import Final

FLOWED: Final = "flowed"
FLOWED_DELSP: Final = "flowed-delsp"
MAX_LINE_CHARS: Final = 998  # RFC 5322 §2.1.1


def flow_of(parameters: dict[str, str]) -> str | None:
    """What the parameters of text/plain say of its lines: FLOWED, FLOWED_DELSP, or None."""
    if parameters.get("format", "").lower() != "flowed":
        return None
    return FLOWED_DELSP if parameters.get("delsp", "").lower() == "yes" else FLOWED


def unflow(text: str, flow: str) -> str:
    """The whole text (with LF line ends) in paragraphs."""
    reader = Unflowing(flow)
    return reader.feed(text) + reader.flush()


class Unflowing:
    """Feed it text with LF line ends. `flow`: FLOWED or FLOWED_DELSP."""

    def __init__(self, flow: str) -> None:
        self._blank = "" if flow == FLOWED_DELSP else " "
        self._held = ""
        self._is_begun = self._is_long = False
        self._soft_depth = -1  # of the line before, if the next one goes on with it

    def feed(self, text: str) -> str:
        """What is certain after this piece."""
        first, *others = text.split("\n")
        if not others:
            return self._hold(first)
        done = [self._hold(first), *self._end_line()]
        last = others.pop()
        done += [piece for line in others for piece in self._line(line)]
        done.append(self._hold(last))
        return "".join(done)

    def flush(self) -> str:
        """What was held back; the text is complete."""
        return "".join(self._end_line())

    def _hold(self, piece: str) -> str:
        """More of the line that has not ended yet."""
        if self._is_long:
            return piece
        self._held += piece
        if len(self._held) <= MAX_LINE_CHARS:
            return ""
        self._is_long = True
        return "".join(self._long_line())

    def _end_line(self) -> list[str]:
        if self._is_long:
            self._is_long = False
            return []
        held, self._held = self._held, ""
        return self._line(held)

    def _long_line(self) -> list[str]:
        held, self._held = self._held, ""
        return self._start(held)

    def _start(self, line: str) -> list[str]:
        """A line that does not go on with the one before."""
        mark = "\n" if self._is_begun else ""
        self._is_begun, self._soft_depth = True, -1
        return [mark, line]

    def _line(self, line: str) -> list[str]:
        if len(line) > MAX_LINE_CHARS:
            return self._start(line)
        words = line.lstrip(">")
        depth = len(line) - len(words)
        if words.startswith(" "):  # §4.4: space-stuffing
            words = words[1:]
        before = self._soft_depth
        is_soft = words.endswith(" ") and words != "-- "  # §4.3: the signature's line is fixed
        # §4.5: a paragraph has one depth. By §4.1 an empty line would go on with a soft one; people see it as a break.
        if not words or words == "-- " or depth != before:
            done = self._start(">" * depth + (" " if depth and words else ""))
        else:
            done = [self._blank]
        self._soft_depth = depth if is_soft else -1
        done.append(words[:-1] if is_soft else words)
        return done
