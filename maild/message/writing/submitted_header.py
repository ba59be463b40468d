"""The header section of a message that a mail program submits: what it may say, and what the server says instead.

    refuse    what two readers could read differently: lines that are no fields, controls, fields given twice
    remove    who gets a blind copy; the way that the message took (RFC 5321 §4.4), which tells where its author is;
              judgements and signatures, which are ours to make; another sender than the author
    add       Date, Message-ID, To where they are missing (RFC 6409 §8); that a program wrote it, unless it says who did

Everything else stays octet for octet, in its order. Pure: time and ids come from the caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from maild.message.writing.header_writer import MAX_LINE_OCTETS

MAX_SUBMITTED_FIELDS: Final = 1000  # some milliseconds of work; mail programs write twenty

_FIELD = re.compile(rb"([!-9;-~]+):")
_NEXT_FIELD = re.compile(rb"\r\n(?![ \t])")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n")
_BLANK_LINE = re.compile(rb"\r\n[ \t]*\r\n")
_MESSAGE_ID = re.compile(rb"<[!-;=?-~]{1,900}>")

# RFC 5322 §3.6 and RFC 2045 §3: at most once. Readers choose differently among several.
_ONCE = frozenset(
    b"date from reply-to to cc message-id in-reply-to references subject"
    b" mime-version content-type content-transfer-encoding".split()
)
_REMOVED = frozenset(
    b"bcc resent-bcc return-path received received-spf authentication-results domainkey-signature sender"
    b" x-originating-ip".split()
)
_REMOVED_PREFIXES = (b"dkim-", b"arc-")


class SubmittedHeaderError(ValueError):
    """The header can't be sent as it is. The text is short, public, and quotes nothing but names of fields."""


class ServerFields(NamedTuple):
    """What the server writes where the author did not: the text of Date, and a Message-ID with its brackets."""

    date: str
    message_id: str


@dataclass(frozen=True, slots=True)
class SubmittedHeader:
    """`octets`: the section as it goes out, with the empty line; `own`: what of it its author wrote. `message_id`:
    the author's, None where it is the server's. `hops`: Received fields that were there."""

    octets: bytes
    own: bytes
    message_id: str | None
    hops: int


def edit_header(section: bytes, server: ServerFields) -> SubmittedHeader:
    """`section`: whole lines that end with CRLF, without the empty line. SubmittedHeaderError."""
    fields = _fields(section)
    kept: list[bytes] = []
    names: set[bytes] = set()
    hops = 0
    message_id: str | None = None
    for name, field in fields:
        if name in _ONCE and name in names:
            raise SubmittedHeaderError(f"the header has several {_shown(name)} fields")
        names.add(name)
        hops += name == b"received"
        if name == b"message-id":
            message_id = _message_id(field)
            if message_id is None:  # RFC 6409 §8.3: what is no Message-ID is replaced
                names.discard(name)
                continue
        if name not in _REMOVED and not name.startswith(_REMOVED_PREFIXES):
            kept.append(field)
    own = b"".join(kept)
    return SubmittedHeader(own + _added(names, server) + b"\r\n", own, message_id, hops)


def _fields(section: bytes) -> list[tuple[bytes, bytes]]:
    """(name in lower case, the whole field with its CRLF), in order."""
    if not section:
        return []
    if _CONTROLS.search(section):
        raise SubmittedHeaderError("the header has control characters")
    if _BLANK_LINE.search(section):  # RFC 5322 §3.2.2: some readers end the header there
        raise SubmittedHeaderError("the header has a line of blanks")
    if any(len(line) > MAX_LINE_OCTETS for line in section.split(b"\r\n")):
        raise SubmittedHeaderError(f"the header has a line of more than {MAX_LINE_OCTETS} octets; fold it")
    lines = _NEXT_FIELD.split(section.removesuffix(b"\r\n"))
    if len(lines) > MAX_SUBMITTED_FIELDS:
        raise SubmittedHeaderError(f"the header has more than {MAX_SUBMITTED_FIELDS} fields")
    found = []
    for line in lines:
        name = _FIELD.match(line)
        if name is None:
            raise SubmittedHeaderError("the header has a line that is no field; write 'Name: value'")
        found.append((name[1].lower(), line + b"\r\n"))
    return found


def _added(names: set[bytes], server: ServerFields) -> bytes:
    lines = []
    if b"date" not in names:
        lines.append(f"Date: {server.date}")
    if b"message-id" not in names:
        lines.append(f"Message-ID: {server.message_id}")
    # RFC 5322 §3.4: an empty group; some hosts write a field of their own else.
    if not names & {b"to", b"cc"}:
        lines.append("To: undisclosed-recipients:;")
    if b"auto-submitted" not in names:  # RFC 3834 §5
        is_reply = bool(names & {b"in-reply-to", b"references"})
        lines.append(f"Auto-Submitted: {'auto-replied' if is_reply else 'auto-generated'}")
        if b"x-auto-response-suppress" not in names:
            lines.append("X-Auto-Response-Suppress: All")
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def _message_id(field: bytes) -> str | None:
    value = field.partition(b":")[2].replace(b"\r\n", b"").strip(b" \t")
    return value.decode("ascii") if _MESSAGE_ID.fullmatch(value) else None


def _shown(name: bytes) -> str:
    return name.decode("ascii").title()
