"""What mail systems say about mail of ours: delivery reports and complaints. Pure, tolerant, bounded.

`read_report` takes any message and never raises. It says what is written, and nothing about whether it is
true: who may report what is decided by `maild/inbound/reports.py`, what a status means by `bounces.py`.

Delivery reports are RFC 3464 in `multipart/report` (RFC 6522), also in UTF-8 (RFC 6533); and the two older
forms that are still met, qmail's text and Exim's header. Complaints are RFC 5965.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from maild.message.address import normalize
from maild.message.bounces import ENHANCED_STATUS, is_unspecific
from maild.message.decode import decode_slice
from maild.message.guessing import Guesser
from maild.message.headers import Headers, read_headers
from maild.message.model import ParsedMessage, Slice
from maild.message.octets import RawMessage
from maild.message.parameters import media_type, read_value
from maild.message.parse import read_text
from maild.message.text import snippet

MAX_FATES: Final = 200  # a message of ours has 150 recipients at most
MAX_STATUS_BYTES: Final = 256 * 1024
MAX_ORIGINAL_BYTES: Final = 64 * 1024  # of the returned message, for its header
MAX_TEXT_CHARS: Final = 64 * 1024
DIAGNOSTIC_CHARS: Final = 1000
HOST_CHARS: Final = 255
_MAX_PARTS = 10
_ADDRESS_CHARS = 400  # RFC 5321 §4.5.3.1.3 has 256 octets; escapes take more

_STATUS_TYPES = ("message/delivery-status", "message/global-delivery-status")
_FEEDBACK_TYPE = "message/feedback-report"
_ORIGINAL_TYPES = (
    "message/rfc822", "text/rfc822-headers", "message/rfc822-headers", "message/global",
    "message/global-headers",
)  # fmt: skip

_BLANK_LINES = re.compile(rb"\n[ \t]*+\n")
_ENHANCED = re.compile(rf"(?<![\d.])({ENHANCED_STATUS})(?![\d.])")
_CODE = re.compile(r"(?<![\w.#])([245]\d\d)(?=[ \t\-#;:]|$)")
_UNITEXT = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,996}>")
_QMAIL_START = re.compile(r"\s*Hi\. This is ")
_QMAIL_ADDRESS = re.compile(r"<([^<>\n]{1,998})>:[ \t]*\n?")
_PARAGRAPHS = re.compile(r"\n[ \t]*+\n\s*+")
_EXIM_COPY = re.compile(r"^-{3,} This is a copy of (?:the|your) message[^\n]*+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fate:
    """What a delivery report says of one recipient.

    `addresses`: the comparison keys of what it is called there (final, original); empty when it is not
    named. `action` is RFC
    3464's word in lower case, "" for none. `enhanced` is the more telling of status and diagnostic.
    """

    addresses: tuple[str, ...]
    action: str
    code: int | None
    enhanced: str | None
    diagnostic: str
    host: str | None


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """`message_ids`: those of the message that came back, with their brackets."""

    fates: tuple[Fate, ...]
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Complaint:
    """`addresses`: who complained, if the report says; `senders`: envelope senders of the message. Both are
    comparison keys."""

    feedback_type: str
    addresses: tuple[str, ...]
    senders: tuple[str, ...]
    message_ids: tuple[str, ...]


Report = DeliveryReport | Complaint


def read_report(raw: RawMessage, parsed: ParsedMessage, guesser: Guesser | None = None) -> Report | None:
    """The report that this message is, or None when it is another kind of mail."""
    word, _ = read_value(parsed.headers.octets("content-type") or "")
    if media_type(word) == "multipart/report":
        return _read_complaint(raw, parsed) or _read_delivery_report(raw, parsed)
    text, _ = read_text(raw, parsed.text[:1], MAX_TEXT_CHARS, guesser)
    if _QMAIL_START.match(text):
        return _read_qmail(text)
    failed = parsed.headers.get("x-failed-recipients")
    return _read_exim(failed, text) if failed else None


# multipart/report ---------------------------------------------------------------------------------


def _read_delivery_report(raw: RawMessage, parsed: ParsedMessage) -> DeliveryReport | None:
    parts = _parts(parsed, _STATUS_TYPES)
    if not parts:
        return None
    fates = [fate for part in parts for fate in _read_status(_content(raw, part, MAX_STATUS_BYTES))]
    return DeliveryReport(tuple(fates[:MAX_FATES]), _original_ids(_originals(raw, parsed)))


def _read_complaint(raw: RawMessage, parsed: ParsedMessage) -> Complaint | None:
    parts = _parts(parsed, (_FEEDBACK_TYPE,))
    if not parts:
        return None
    fields = read_headers(_content(raw, parts[0], MAX_STATUS_BYTES))
    originals = _originals(raw, parsed)
    senders = [
        *fields.get_all("original-mail-from")[:1],
        *(one.get("return-path") or "" for one in originals),
    ]
    return Complaint(
        feedback_type=(fields.get("feedback-type") or "").split(";")[0].strip().lower()[:100],
        addresses=_addresses(fields.get_all("original-rcpt-to")[:MAX_FATES]),
        senders=_addresses(senders),
        message_ids=_original_ids(originals),
    )


def _parts(parsed: ParsedMessage, types: tuple[str, ...]) -> list[Slice]:
    found = (one.slice for one in parsed.attachments if one.content_type in types)
    return [part for part, _ in zip(found, range(_MAX_PARTS), strict=False)]


def _content(raw: RawMessage, part: Slice, limit: int) -> bytes:
    octets = bytes(raw[part.offset : part.offset + min(part.length, limit * 4)])
    return decode_slice(octets, part.encoding)[:limit]


def _originals(raw: RawMessage, parsed: ParsedMessage) -> list[Headers]:
    """The header sections of what came back."""
    found = []
    for part in _parts(parsed, _ORIGINAL_TYPES):
        octets = _content(raw, part, MAX_ORIGINAL_BYTES).replace(b"\r\n", b"\n")
        found.append(read_headers(octets.lstrip(b"\n").partition(b"\n\n")[0]))
    return found


def _original_ids(originals: list[Headers]) -> tuple[str, ...]:
    values = (one.get("message-id") or "" for one in originals)
    return tuple(found[0] for value in values if (found := _MESSAGE_ID.search(value)))


# RFC 3464 §2: groups of fields, the first about the message, each other about a recipient --------------


def _read_status(octets: bytes) -> Iterator[Fate]:
    groups = _BLANK_LINES.split(octets.replace(b"\r\n", b"\n"), MAX_FATES + 2)[: MAX_FATES + 2]
    reporter: str | None = None
    for group in groups:
        fields = read_headers(group)
        reporter = reporter or _typed(fields.get("reporting-mta"))
        # Some write no blank line behind the fields of the message.
        if any(name in fields for name in ("final-recipient", "original-recipient", "action", "status")):
            yield _read_fate(fields, reporter)


def _read_fate(fields: Headers, reporter: str | None) -> Fate:
    diagnostic = _typed(fields.get("diagnostic-code")) or ""
    enhanced = _enhanced(fields.get("status") or "", diagnostic)
    action = (fields.get("action") or "").strip().lower().split(" ")[0][:20]
    if not action and enhanced is not None and enhanced[0] == "5":
        action = "failed"  # required by §2.3.3, and left out by some
    named = [fields.get("final-recipient"), fields.get("original-recipient")]
    return Fate(
        addresses=_addresses([_typed(one) or "" for one in named]),
        action=action,
        code=_code(diagnostic),
        enhanced=enhanced,
        diagnostic=snippet(diagnostic, DIAGNOSTIC_CHARS),
        host=snippet(_typed(fields.get("remote-mta")) or reporter or "", HOST_CHARS) or None,
    )


def _typed(value: str | None) -> str | None:
    """What follows the type in `type; value`; the whole where there is no type."""
    if value is None:
        return None
    kind, semicolon, rest = value.partition(";")
    # A diagnostic may hold a semicolon and no type.
    return (rest if semicolon and " " not in kind.strip() else value).strip()[:MAX_TEXT_CHARS] or None


def _addresses(values: Sequence[str]) -> tuple[str, ...]:
    """Their comparison keys, each once; what is not an address is left out."""
    found: dict[str, None] = {}
    for value in values:
        address = _address(value)
        if "@" in address and len(address) <= _ADDRESS_CHARS and not any(char.isspace() for char in address):
            found[normalize(address)] = None
    return tuple(found)


def _address(value: str) -> str:
    """What stands in brackets, if some do, less a comment; plain finds, for a value may be anything."""
    value = value[: _ADDRESS_CHARS * 2]
    opening = value.find("<")
    closing = value.find(">", opening)
    if 0 <= opening < closing:
        value = value[opening + 1 : closing]
    elif value.endswith(")"):
        value = value[: max(value.rfind("("), 0)]
    return _UNITEXT.sub(_character, value.strip())  # RFC 6533 §3: utf-8-addr-unitext


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1], 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else escape[0]


def _enhanced(status: str, diagnostic: str) -> str | None:
    """The status, unless it says nothing (x.0.0) where the host's own words say more."""
    said = _ENHANCED.search(status)
    told = _ENHANCED.search(diagnostic)
    if said is None:
        return told[1] if told else None
    if is_unspecific(said[1]) and told is not None and told[1][0] == said[1][0]:
        return told[1]
    return said[1]


def _code(diagnostic: str) -> int | None:
    found = _CODE.search(diagnostic)
    return int(found[1]) if found else None


# Older forms --------------------------------------------------------------------------------------


def _read_qmail(text: str) -> DeliveryReport:
    """QSBMF: a paragraph for each recipient up to the one that begins with a dash; then the message."""
    paragraphs = _PARAGRAPHS.split(text, MAX_FATES + 2)
    fates: list[Fate] = []
    for number, paragraph in enumerate(paragraphs):
        if paragraph.startswith("-"):
            original = read_headers("\n".join(paragraphs[number + 1 : number + 2]).encode("utf-8", "replace"))
            return DeliveryReport(tuple(fates), _original_ids([original]))
        named = _QMAIL_ADDRESS.match(paragraph)
        if named is not None and len(fates) < MAX_FATES:
            fates.append(_worded_fate(named[1], paragraph[named.end() :]))
    return DeliveryReport(tuple(fates), ())


def _read_exim(failed: str, text: str) -> DeliveryReport:
    """The header names who failed; the lines below each name say why."""
    words, copy = text, ""
    marker = _EXIM_COPY.search(text)
    if marker is not None:
        words, copy = text[: marker.start()], text[marker.end() :]
    reasons: dict[str, str] = {}
    for paragraph in _PARAGRAPHS.split(words, MAX_FATES):
        name, _, why = paragraph.strip().partition("\n")
        reasons.setdefault(name.strip(), why)
    addresses = _addresses(failed[:MAX_TEXT_CHARS].split(",")[:MAX_FATES])
    fates = tuple(_worded_fate(address, reasons.get(address, "")) for address in addresses)
    header = _PARAGRAPHS.split(copy.lstrip(), 1)[0]
    return DeliveryReport(fates, _original_ids([read_headers(header.encode("utf-8", "replace"))]))


def _worded_fate(address: str, words: str) -> Fate:
    enhanced = _enhanced("", words.replace("#", " "))
    diagnostic = snippet(words, DIAGNOSTIC_CHARS)
    return Fate(_addresses([address]), "failed", _code(words), enhanced, diagnostic, None)
