"""A host's replies: how they are read from the stream, and what each code means at each command.

A remote host is not trusted: a reply is bounded, every octet is looked at once however the stream is cut, and
`SmtpReply.text` is cleaned before it is stored. A code is judged by `meaning` alone, so that every reply of a host
is a verdict. Of too much text the beginning is kept, and the code counts: a message whose 250 were taken for no reply
would be sent again and again.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from aiosmtplib import SMTPException
from aiosmtplib.response import SMTPResponse

from maild.message.reports.bounces import ENHANCED_STATUS, is_permanent, is_transient

LINE_OCTETS_MAX = 8192  # RFC 5321 §4.5.3.1.5 has 512; some EHLO lines are longer
REPLY_OCTETS_KEPT = 32 * 1024
REPLY_OCTETS_MAX = 1024 * 1024
REPLY_LINES_MAX = 5_000  # some milliseconds of the event loop
REPLY_CHARACTERS = 500
SHOWN_CHARACTERS = 100
CLOSING = 421  # RFC 5321 §3.8: the host says no more
LEAST_REFUSAL = 400  # RFC 5321 §4.2.1
# A host says the same to each MAIL, RCPT and DATA: what short replies mean is read once.
SHORT_CHARACTERS = 100
SHORT_REPLIES_KEPT = 1_000

# RFC 5321 §4.2: three digits, of which the first is 2 to 5 (§4.2.1 has no other), and a client goes by them alone: some
# hosts leave out the blank. Nothing stands before them: a text may go on in a line that begins with " 250".
_LINE = re.compile(rb"([2-5][0-9]{2})(?![0-9])(-?)(.*)", re.DOTALL)
_ENHANCED = re.compile(rf"({ENHANCED_STATUS})(?:\s+|$)")
# What Stalwart, IONOS, IronPort and Exim say of a session that has had its messages, with codes of their own.
_SESSION_FULL = re.compile(
    r"\b(?:messages?|mails?|transactions?)\b.{0,20}\b(?:session|connection)\b", re.IGNORECASE
)
# What a refusal is about, where it is not the recipient.
IN_REPLY_TO_SENDER = "(in reply to MAIL FROM)"
IN_REPLY_TO_SEVERAL = "(in reply to a message of several recipients)"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class Malformed(SMTPException):
    """What the host sent is not an SMTP reply; the text says so, cleaned."""


class Step(Enum):
    """What a reply answers: its name, and the codes that let the client go on (RFC 5321 §4.3.2). Where the host takes
    something, the first digit decides (§4.2.1)."""

    CONNECTION = "the connection", range(220, 221)
    HELLO = "EHLO", range(250, 251)
    MAIL = "MAIL", range(250, 251)
    RECIPIENT = "RCPT", range(200, 300)
    DATA = "DATA", range(354, 355)
    MESSAGE = "the message", range(200, 300)

    def __init__(self, shown: str, goes_on: range) -> None:
        self.shown = shown
        self.goes_on = goes_on


class Meaning(Enum):
    """What a reply code means at a step: go on, transient or permanent negative (RFC 5321 §4.2.1), or none of them."""

    GO_ON = "the step is done"
    LATER = "not now"
    NEVER = "not ever"
    FAULT = "no answer to this step: the host speaks another protocol"


def meaning(step: Step, code: int) -> Meaning:
    """What a code means as the reply to the step."""
    if code in step.goes_on:
        return Meaning.GO_ON
    if is_transient(code):
        return Meaning.LATER
    return Meaning.NEVER if is_permanent(code) else Meaning.FAULT


@dataclass(frozen=True, slots=True)
class SmtpReply:
    """`enhanced`: the enhanced status code (RFC 2034), None without one. `text`: one clean line."""

    code: int
    enhanced: str | None
    text: str

    @staticmethod
    def of(code: int, message: str) -> "SmtpReply":
        """Clean text, one line; the enhanced code (RFC 2034) taken off it where it agrees with the code."""
        return (_short_reply if len(message) <= SHORT_CHARACTERS else _reply)(code, message)

    def at(self, step: Step) -> "SmtpReply":
        """The same, with words for a code that is not a reply to the step."""
        if meaning(step, self.code) is not Meaning.FAULT:
            return self
        fault = f"answered {step.shown} with {self.code}, which is no answer to it (RFC 5321 §4.3.2)"
        return SmtpReply(self.code, None, f"{fault}: {self.text}"[:REPLY_CHARACTERS])

    def remarked(self, remark: str) -> "SmtpReply":
        """The same, with one of these words behind its own. They blame nobody
        (`maild.message.reports.bounce_words`)."""
        return SmtpReply(
            self.code, self.enhanced, f"{self.text[: REPLY_CHARACTERS - len(remark) - 1]} {remark}"
        )


def says_session_is_full(reply: SmtpReply) -> bool:
    """Does the host take no more messages in this session? In doubt: a new one will tell."""
    return is_transient(reply.code) and _SESSION_FULL.search(reply.text) is not None


def _reply(code: int, message: str) -> SmtpReply:
    text = clean(message)
    match = _ENHANCED.match(text)
    if match is None or match[1][0] != str(code)[0]:
        return SmtpReply(code, None, text[:REPLY_CHARACTERS])
    # In a reply of several lines the code stands in each of them.
    shown = text.replace(match[0], "")[:REPLY_CHARACTERS] or text[:REPLY_CHARACTERS]
    return SmtpReply(code, match[1], shown)


_short_reply = lru_cache(SHORT_REPLIES_KEPT)(_reply)


def clean(text: str) -> str:
    """One line that is safe to store and to show."""
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode()).strip()


class ReplyReader:
    """Makes replies of octets, `feed` by `feed`."""

    def __init__(self) -> None:
        self._octets = bytearray()
        self._searched = 0  # no line ends before
        self._begin()

    def _begin(self) -> None:
        """The next reply."""
        self._lines: list[bytes] = []
        self._count = self._size = self._kept = 0

    @property
    def is_empty(self) -> bool:
        """Nothing was said beyond the replies that were taken."""
        return not self._octets and not self._count

    def feed(self, octets: bytes) -> None:
        self._octets += octets

    def clear(self) -> None:
        self._octets.clear()
        self._searched = 0
        self._begin()

    def take(self) -> SMTPResponse | None:
        """The next whole reply, if it is there; Malformed."""
        while (end := self._octets.find(b"\n", self._searched)) >= 0:
            line = bytes(self._octets[:end])
            del self._octets[: end + 1]
            self._searched = 0
            whole = None if self._size or end > SHORT_CHARACTERS else _whole_reply(line)
            reply = whole or self._add(line)
            if reply is not None:
                return reply
        self._drop_beyond_a_line()
        self._searched = len(self._octets)
        return None

    def _drop_beyond_a_line(self) -> None:
        """Of a line whose end is yet to come."""
        beyond = len(self._octets) - LINE_OCTETS_MAX
        if beyond <= 0:
            return
        if _LINE.match(self._octets) is None:
            raise _no_reply(self._octets)
        self._spend(beyond)
        del self._octets[LINE_OCTETS_MAX:]

    def _add(self, line: bytes) -> SMTPResponse | None:
        match = _LINE.fullmatch(line.rstrip(b"\r"))
        if match is None:
            raise _no_reply(line)
        self._count += 1
        self._spend(len(line) + 1)
        if self._kept < REPLY_OCTETS_KEPT:
            text = match[3].strip(b" \t\r")[: min(LINE_OCTETS_MAX, REPLY_OCTETS_KEPT - self._kept - 1)]
            self._lines.append(text)
            self._kept += len(text) + 1
        if match[2]:
            return None
        reply = _response(match[1], b"\n".join(self._lines))
        self._begin()
        return reply

    def _spend(self, octets: int) -> None:
        self._size += octets
        if self._size > REPLY_OCTETS_MAX or self._count > REPLY_LINES_MAX:
            raise Malformed("the host's reply has no end, which is no SMTP reply")


def _no_reply(line: bytes | bytearray) -> Malformed:
    shown = clean(line[:SHOWN_CHARACTERS].decode("utf-8", "replace"))
    return Malformed(f"the host said what is no SMTP reply: {shown}")


@lru_cache(SHORT_REPLIES_KEPT)
def _whole_reply(line: bytes) -> SMTPResponse | None:
    """The reply, if it is of this line alone."""
    match = _LINE.fullmatch(line.rstrip(b"\r"))
    if match is None or match[2]:
        return None
    return _response(match[1], match[3].strip(b" \t\r"))


def _response(code: bytes, text: bytes) -> SMTPResponse:
    return SMTPResponse(int(code), text.decode("utf-8", "surrogateescape"))
