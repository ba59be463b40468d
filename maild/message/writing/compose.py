"""Writing a message: one `Outgoing` to the exact octets that are stored, signed and sent.

Invariants that the serialiser keeps, whatever it is given:
  - CRLF is the only line end, no line passes 998 octets, everything is 7-bit but a UTF-8 local part;
  - a value never leaves its field: names are tokens, controls are removed or raise ComposeError;
  - Bcc does not exist here;
  - the same input gives the same octets: time, ids and boundary seed come from the caller.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from maild.message.model import Mailbox
from maild.message.writing.body_writer import WrittenText, write_attachment, write_body, write_words
from maild.message.writing.header_writer import (
    ComposeError,
    write_extra,
    write_ids,
    write_mailboxes,
    write_text,
)

__all__ = ["ComposeError", "Composed", "Outgoing", "OutgoingAttachment", "compose"]

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class OutgoingAttachment:
    """A file to send; `content_type` is `type/subtype` with parameters (RFC 2045 §5.1), of which a name and a boundary
    are dropped. `content_id`, without brackets: the HTML shows it (`cid:`)."""

    filename: str
    content_type: str
    content: bytes
    content_id: str | None = None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Everything that goes into one message.

    `to`, `cc`, `reply_to` are bare addresses; ids carry their angle brackets; `date` is aware;
    `headers` are extra fields whose names the caller has approved; `boundary_seed` is unguessable
    text, from which the boundaries derive.
    """

    from_: Mailbox
    to: tuple[str, ...]
    cc: tuple[str, ...]
    reply_to: str | None
    subject: str
    text: str | None
    html: str | None
    attachments: tuple[OutgoingAttachment, ...]
    message_id: str
    date: datetime
    in_reply_to: str | None
    references: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    boundary_seed: str


@dataclass(frozen=True, slots=True)
class Composed:
    """The exact octets; the body begins at `header_length`, behind the empty line. `words`: of a message that is plain
    text and nothing else, as its reader sees them; None for all others."""

    raw: bytes
    header_length: int
    words: str | None


def compose(outgoing: Outgoing) -> Composed:
    """One RFC 5322/MIME message. Raises ComposeError for what cannot be written safely."""
    fields = _write_fields(outgoing)
    text = None if outgoing.text is None and outgoing.html is not None else write_words(outgoing.text or "")
    entity_fields, body = _write_entity(outgoing, text)
    head = f"{fields}MIME-Version: 1.0\r\n{entity_fields}\r\n".encode()
    is_all = text is not None and outgoing.html is None and not outgoing.attachments
    return Composed(b"".join((head, *body)), len(head), text.words if text is not None and is_all else None)


def _write_fields(outgoing: Outgoing) -> str:
    fields = [
        f"Date: {_date(outgoing.date)}\r\n",
        write_mailboxes("From", (outgoing.from_,)),
        _write_recipients("To", outgoing.to) if outgoing.to or not outgoing.cc else "",
        _write_recipients("Cc", outgoing.cc) if outgoing.cc else "",
    ]
    if outgoing.reply_to is not None:
        fields.append(_write_recipients("Reply-To", (outgoing.reply_to,)))
    fields.append(write_text("Subject", outgoing.subject))
    fields.append(write_ids("Message-ID", (outgoing.message_id,)))
    if outgoing.in_reply_to is not None:
        fields.append(write_ids("In-Reply-To", (outgoing.in_reply_to,)))
    if outgoing.references:
        fields.append(write_ids("References", outgoing.references))
    fields.extend(write_extra(name, value) for name, value in outgoing.headers)
    return "".join(fields)


def _write_recipients(name: str, addresses: tuple[str, ...]) -> str:
    if not addresses:  # RFC 5322 §3.4: an empty group, for mail that goes to Bcc alone
        return f"{name}: undisclosed-recipients:;\r\n"
    return write_mailboxes(name, (Mailbox(None, address) for address in addresses))


def _date(moment: datetime) -> str:
    """RFC 5322 §3.3, in English whatever the locale."""
    offset = moment.utcoffset()
    if offset is None:
        raise ComposeError("date has no time zone")
    minutes = int(offset.total_seconds()) // 60
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return (
        f"{_DAYS[moment.weekday()]}, {moment.day:02} {_MONTHS[moment.month - 1]} {moment.year:04}"
        f" {moment.hour:02}:{moment.minute:02}:{moment.second:02} {sign}{minutes // 60:02}{minutes % 60:02}"
    )


def _write_entity(outgoing: Outgoing, text: WrittenText | None) -> tuple[str, list[bytes]]:
    """(Content-* fields of the message, its body in pieces)."""
    boundaries = _boundaries(outgoing.boundary_seed)
    shown = [one for one in outgoing.attachments if one.content_id is not None and outgoing.html is not None]
    others = [one for one in outgoing.attachments if one not in shown]
    bodies = [] if text is None else [write_body("plain", text)]
    if outgoing.html is not None:
        bodies.append(write_body("html", write_words(outgoing.html)))
    content = bodies[0]
    if len(bodies) > 1:  # RFC 2046 §5.1.4: the plainest first
        content = _write_multipart("alternative", next(boundaries), bodies)
    if shown:  # RFC 2387: the root first, then what it shows; §3.1: and what the root is
        root = "multipart/alternative" if len(bodies) > 1 else "text/html"
        kind = f'related; type="{root}"'
        content = _write_multipart(kind, next(boundaries), [content, *map(_write_file, shown)])
    if others:
        content = _write_multipart("mixed", next(boundaries), [content, *map(_write_file, others)])
    return content


def _write_file(one: OutgoingAttachment) -> tuple[str, list[bytes]]:
    return write_attachment(one.filename, one.content_type, one.content, one.content_id)


def _boundaries(seed: str) -> Iterator[str]:
    # "=_" occurs in no quoted-printable and no base64 text (RFC 2045 §6.7).
    octets = seed.encode("utf-8", "surrogatepass")
    return (f"=_{hashlib.sha256(b'%d:' % number + octets).hexdigest()[:40]}" for number in count())


def _write_multipart(
    kind: str, boundary: str, parts: list[tuple[str, list[bytes]]]
) -> tuple[str, list[bytes]]:
    body: list[bytes] = []
    for fields, pieces in parts:
        body.append(f"--{boundary}\r\n{fields}\r\n".encode())
        body.extend(pieces)
        body.append(b"\r\n")
    body.append(f"--{boundary}--\r\n".encode())
    return f'Content-Type: multipart/{kind};\r\n boundary="{boundary}"\r\n', body
