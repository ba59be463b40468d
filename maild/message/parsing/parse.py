"""Reading a message: `parse` gives the index, `read_text` a body of it.

`parse` accepts any octets. It never raises, recurses or does more than linear work, and every
offset it gives lies inside the message. It decodes header fields, and of one body
the beginning, where names in them need a charset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from maild.message.characters.decode import decode_charset, decode_prefix, decode_slice, decode_stream
from maild.message.characters.encoded_words import readable
from maild.message.characters.guessing import SAMPLE_OCTETS, Guesser
from maild.message.characters.line_ends import with_lf
from maild.message.fields.author import find_author, named_authors
from maild.message.fields.auto_reply import is_auto_reply
from maild.message.fields.comments import without_comments
from maild.message.fields.headers import (
    MAX_HEADER_BYTES,
    MAX_HEADER_FIELDS,
    Headers,
    find_body,
    header_start,
    read_headers,
)
from maild.message.fields.mailboxes import parse_mailboxes
from maild.message.fields.thread_headers import base_subject, is_forward, root_and_newest
from maild.message.model import AttachmentPart, Mailbox, ParsedMessage, Slice
from maild.message.octets import Buffer, RawMessage
from maild.message.parsing.enriched import ENRICHED, without_commands
from maild.message.parsing.flowed import unflow
from maild.message.parsing.mime import MAX_DEPTH, MAX_PARTS, Indexer
from maild.message.parsing.shown_files import with_shown

__all__ = [
    "MAX_ANSWERED",
    "MAX_DEPTH",
    "MAX_HEADER_BYTES",
    "MAX_PARTS",
    "MAX_REFERENCES",
    "AttachmentPart",
    "Headers",
    "Mailbox",
    "ParsedMessage",
    "RawMessage",
    "Slice",
    "decode_charset",
    "decode_slice",
    "decode_stream",
    "parse",
    "read_text",
]

MAX_ANSWERED: Final = 10  # RFC 5322 §3.6.4: ids of In-Reply-To
MAX_REFERENCES: Final = 100
_OCTETS_PER_CHAR = 12  # the longest: four octets of UTF-8, three of quoted-printable each
_OCTETS_PER_CHAR_MOSTLY = 2  # so much is tried first

_NOTICE_TYPES = ("message/disposition-notification", "message/delivery-status")
_NOTICE_OCTETS = 4096
_MAX_NOTICES = 10
_AUTOMATIC = re.compile(
    rb"^disposition:[ \t]*+(?:automatic-action[ \t]*+/|manual-action[ \t]*+/[ \t]*+mdn-sent-automatically\b)",
    re.IGNORECASE | re.MULTILINE,
)
_MSG_ID = re.compile(r"<([^<>]{1,996})>")
_BARE_ID = re.compile(r"[^<>\s]{1,996}")


def parse(raw: RawMessage, guesser: Guesser | None = None) -> ParsedMessage:
    """The index of a message: addresses, subject, ids, body slices, attachments, defects."""
    guesser = guesser or Guesser()
    buffer: Buffer = raw.tobytes() if isinstance(raw, memoryview) else raw
    end = len(buffer)
    start = header_start(buffer, end)
    section_end, body = find_body(buffer, start, end)
    fields_end = _read_up_to(buffer, start, section_end)
    section = bytes(buffer[start:fields_end])
    headers = read_headers(section)
    defects = ["header-too-large"] if fields_end < section_end else []
    if len(headers) >= MAX_HEADER_FIELDS:
        defects.append("too-many-fields")
    indexer = Indexer(buffer, guesser)
    indexer.run(headers, body, end)
    texts = indexer.text or indexer.html
    if texts and not section.isascii():
        guesser.learn_between(section, _beginning(buffer, texts[0]))
    author, defect = find_author(headers, section, (buffer, fields_end, section_end), guesser)
    if defect is not None:
        defects.append(defect)
    authors = (author,) if author is not None else named_authors(headers, section, defect, guesser)
    subject = readable("".join(headers.escaped("subject")[:1]), guesser)
    return ParsedMessage(
        headers=headers,
        header_start=start,
        header_length=body,
        from_=author,
        authors=authors,
        to=_mailboxes(headers, "to", guesser),
        cc=_mailboxes(headers, "cc", guesser),
        reply_to=_mailboxes(headers, "reply-to", guesser),
        subject=subject,
        message_id=next(iter(_ids(_all(headers, "message-id"))), None),
        answered=tuple(dict.fromkeys(_ids(_all(headers, "in-reply-to"))))[:MAX_ANSWERED],
        references=_references(_all(headers, "references")),
        text=tuple(indexer.text),
        html=tuple(indexer.html),
        html_alone=tuple(indexer.html_alone),
        attachments=with_shown(buffer, indexer.html, indexer.attachments),
        is_auto_reply=is_auto_reply(headers, subject) or _tells_of_a_program(buffer, subject, indexer),
        defects=(*defects, *indexer.defects),
    )


def _read_up_to(buffer: Buffer, start: int, section_end: int) -> int:
    """The end of the header fields that are read: of a section that is too large, the last whole line within bounds."""
    if section_end - start <= MAX_HEADER_BYTES:
        return section_end
    limit = start + MAX_HEADER_BYTES
    return buffer.rfind(b"\n", start, limit) + 1 or limit


def _beginning(raw: Buffer, part: Slice, octets: int = SAMPLE_OCTETS) -> bytes:
    length = min(part.length, octets)
    return decode_slice(bytes(raw[part.offset : part.offset + length]), part.encoding)


def read_text(
    raw: RawMessage, slices: Sequence[Slice], limit_chars: int | None = None, guesser: Guesser | None = None
) -> tuple[str, bool]:
    """(the slices as one text with LF line ends and no NUL, whether it was cut to `limit_chars`)."""
    guesser = guesser or Guesser()
    pieces: list[str] = []
    remaining = limit_chars
    for part in slices:
        if remaining is not None and remaining <= 0:
            return "".join(pieces), True
        piece, is_cut = _read_slice(raw, part, remaining, guesser)
        if pieces and piece and not pieces[-1].endswith("\n"):
            piece = "\n" + piece
        if remaining is not None:
            is_cut = is_cut or len(piece) > remaining
            piece = piece[:remaining]
            remaining -= len(piece)
        pieces.append(piece)
        if is_cut:
            return "".join(pieces), True
    return "".join(pieces), False


def _read_slice(raw: RawMessage, part: Slice, limit_chars: int | None, guesser: Guesser) -> tuple[str, bool]:
    if limit_chars is not None and part.length > limit_chars * _OCTETS_PER_CHAR_MOSTLY:
        for octets_per_char in (_OCTETS_PER_CHAR_MOSTLY, _OCTETS_PER_CHAR):
            text, is_cut = _decode(raw, part, min(part.length, limit_chars * octets_per_char + 80), guesser)
            if len(text) >= limit_chars:
                break
        return text, is_cut
    return _decode(raw, part, part.length, guesser)


def _decode(raw: RawMessage, part: Slice, length: int, guesser: Guesser) -> tuple[str, bool]:
    octets = decode_slice(bytes(raw[part.offset : part.offset + length]), part.encoding)
    is_cut = length < part.length
    text = with_lf((decode_prefix if is_cut else decode_charset)(octets, part.charset, guesser))
    if part.flow == ENRICHED:
        guesser.allow_lines(text.count("\n") + text.count("<"))
        text = without_commands(text)
    elif part.flow is not None:
        guesser.allow_lines(text.count("\n"))
        text = unflow(text, part.flow)
    return text, is_cut


def _tells_of_a_program(raw: Buffer, subject: str, index: Indexer) -> bool:
    """RFC 8098 §3.2.6: does a part say that a program, and no person, did something with a mail, or sent this? Not all
    who say so send a `multipart/report`, or it comes wrapped; people hand such parts on behind a prefix."""
    notices = [one.slice for one in index.attachments if one.content_type in _NOTICE_TYPES][:_MAX_NOTICES]
    if not notices or base_subject(subject)[1] or is_forward(subject):
        return False
    return any(_AUTOMATIC.search(_beginning(raw, one, _NOTICE_OCTETS)) for one in notices)


def _mailboxes(headers: Headers, name: str, guesser: Guesser) -> tuple[Mailbox, ...]:
    values = headers.escaped(name)
    if not values:
        return ()
    # RFC 5322 §3.6 allows one; what several say together is what a reader would be shown.
    return parse_mailboxes(values[0] if len(values) == 1 else ", ".join(values), guesser)


def _all(headers: Headers, name: str) -> str:
    """RFC 5322 §3.6 allows one; of two that a program writes, one is often empty."""
    return " ".join(headers.get_all(name))


def _ids(value: str) -> list[str]:
    """Each `<id>` that stands in no comment. Programs encode ids that fit no line, fold within them, write them as
    pages want them, or leave the brackets out."""
    value = without_comments(readable(value) if "=?" in value else value)
    if "<" not in value:
        value = value.replace("&lt;", "<").replace("&gt;", ">")
    found = ("".join(one.split()) for one in _MSG_ID.findall(value) if "@" in one or len(one.split()) == 1)
    if ids := [f"<{one}>" for one in found]:
        return ids
    words = value.replace(",", " ").split()
    are_ids = len(words) == 1 or all("@" in word for word in words)
    return [f"<{word}>" for word in words if _BARE_ID.fullmatch(word)] if are_ids else []


def _references(value: str) -> tuple[str, ...]:
    return root_and_newest(_ids(value), MAX_REFERENCES)
