"""RFC 3464 §2: groups of fields, the first about the message, each other about a recipient. Pure, tolerant, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from maild.message.characters.charsets import escaped_codec
from maild.message.characters.decode import decode_charset
from maild.message.characters.encoded_words import decode_words
from maild.message.characters.guessing import NoGuesser, TooMuchWork
from maild.message.fields.headers import Headers, read_headers
from maild.message.parsing.text import snippet
from maild.message.reports.bounces import is_positive, is_unspecific, says_something, telling_status
from maild.message.reports.fates import (
    DIAGNOSTIC_CHARS,
    MAX_FATES,
    MAX_TEXT_CHARS,
    Fate,
    addresses_in_values,
    failure_code,
    reply_code,
)

HOST_CHARS: Final = 255
_OF_A_RECIPIENT: Final = ("final-recipient", "original-recipient", "action", "status")
_NAMES: Final = ("final-recipient", "original-recipient")
_MAILBOX: Final = "x-actual-recipient"  # sendmail's, whose Final-Recipient may be the alias
_DIAGNOSTIC: Final = "diagnostic-code"
_EXPIRED: Final = "expired"
_FAILURES: Final = ("failed", "failure", "error", "fail", _EXPIRED)  # what §2.3.3 calls `failed`
_TRIED_TOO_LONG: Final = "4.4.7"  # RFC 3463 §3.5
_COMMENT: Final = re.compile(r"\(([^()]{1,400})\)")
_BLANK_LINES: Final = re.compile(rb"\n[ \t]*+\n")
_MAX_FIELDS: Final = 12 * MAX_FATES


def read_status(octets: bytes) -> Iterator[Fate]:
    """The fates of the recipients, in order."""
    groups = _BLANK_LINES.split(octets.replace(b"\r\n", b"\n"), MAX_FATES + 2)[: MAX_FATES + 2]
    told = [read_headers(group) for group in groups]
    names_somebody = any(map(_names_somebody, told))
    reporter: str | None = None
    for fields in told:
        reporter = reporter or _typed(fields.get("reporting-mta"))
        # RFC 3464 §2.1: fields of the message stand first. Boxbe has an action among them, of nobody whom it names.
        if names_somebody and "reporting-mta" in fields and not _names_somebody(fields):
            continue
        # Some write no blank line behind the fields of the message, nor between recipients.
        if any(name in fields for name in _OF_A_RECIPIENT):
            for one in _recipients(fields):
                yield _read_fate(one, reporter)


def _names_somebody(fields: Headers) -> bool:
    return any(name in fields for name in _NAMES)


def _recipients(fields: Headers) -> Sequence[Headers]:
    """The fields of each recipient: one begins where a name comes again. Names that stand together share what
    follows."""
    groups: list[list[tuple[str, str]]] = [[]]
    for (name, value), _ in zip(fields.raw_items(), range(_MAX_FIELDS), strict=False):
        key = name.lower()
        if key in _NAMES and any(key == other.lower() for other, _ in groups[-1]):
            groups.append([])
        groups[-1].append((name, value))
    shared: list[tuple[str, str]] = []
    recipients = []
    for group in reversed(groups):
        said = [field for field in group if field[0].lower() not in _NAMES]
        if {name.lower() for name, _ in said} & {"action", "status"}:
            shared = said
        recipients.append(Headers([field for field in group if field not in said] + shared))
    return recipients[::-1]


def _read_fate(fields: Headers, reporter: str | None) -> Fate:
    diagnostic = _diagnostic(fields)
    told = telling_status(fields.get("status") or "", diagnostic)
    action = _action(fields, told)
    code = reply_code(diagnostic)
    enhanced = _TRIED_TOO_LONG if action == _EXPIRED and _says_no_more(told) else told
    if action in _FAILURES:  # beside which some tell how well it began
        action = "failed"
        code = failure_code(diagnostic) if code is not None and is_positive(code) else code
        enhanced = None if enhanced is not None and enhanced[0] == "2" else enhanced
    names = addresses_in_values([_typed(fields.get(name)) or "" for name in _NAMES])
    mailbox = addresses_in_values([_typed(fields.get(_MAILBOX)) or ""])
    return Fate(
        addresses=names,
        action=action,
        code=code,
        enhanced=enhanced,
        diagnostic=snippet(diagnostic, DIAGNOSTIC_CHARS),
        host=snippet(_typed(fields.get("remote-mta")) or reporter or "", HOST_CHARS) or None,
        mailbox=(mailbox or names or ("",))[0],
    )


def _action(fields: Headers, enhanced: str | None) -> str:
    action = (fields.get("action") or "").strip().lower().split(" ")[0][:20]
    if not action and enhanced is not None and enhanced[0] == "5":
        return "failed"  # required by §2.3.3, and left out by some
    return action


def _says_no_more(enhanced: str | None) -> bool:
    return enhanced is None or is_unspecific(enhanced)


def _diagnostic(fields: Headers) -> str:
    """ASCII by the RFC, or UTF-8; Domino writes its own language in encoded words, or by escape sequences. Oracle's
    Messaging Server writes what it found itself as a comment of the status."""
    value = (fields.get(_DIAGNOSTIC) or "")[:MAX_TEXT_CHARS]
    told = _typed(_decoded(value) if value.isascii() else value)
    comment = None if told else _COMMENT.search(fields.get("status") or "")
    return told or (comment[1] if comment is not None and says_something(comment[1]) else "")


def _decoded(value: str) -> str:
    try:
        if escaped_codec(value.encode("ascii")):
            return decode_charset(value.encode("ascii"), None, NoGuesser())
        return decode_words(value, NoGuesser())
    except TooMuchWork:
        return value


def _typed(value: str | None) -> str | None:
    """What follows the type in `type; value`; the whole where there is no type."""
    if value is None:
        return None
    kind, semicolon, rest = value.partition(";")
    # A diagnostic may hold a semicolon and no type.
    return (rest if semicolon and " " not in kind.strip() else value).strip()[:MAX_TEXT_CHARS] or None
