"""A mail that came as a file, in words: lists wrap posts so, digests have several, and people forward so."""

from collections.abc import Sequence
from typing import Final

from maild.message.digest import AT_ONCE_OCTETS, digest_at_once
from maild.message.model import Mailbox

MAIL_BYTES_MAX: Final = AT_ONCE_OCTETS
_KINDS: Final = ("message/rfc822", "message/global")  # RFC 2046 §5.2.1, RFC 6532 §3.7


def is_mail(kind: str) -> bool:
    """Is it of such a media type, given in lower case without parameters?"""
    return kind in _KINDS


def words_of(octets: bytes) -> str | None:
    """Who wrote it to whom, and all its words; None where that would hold others up. Nobody checked who wrote it."""
    found = digest_at_once(octets)
    if found is None:
        return None
    parsed = found.parsed
    fields = (
        ("From", _names(parsed.authors)),
        ("To", _names(parsed.to)),
        ("Cc", _names(parsed.cc)),
        ("Reply-To", _names(parsed.reply_to)),
        ("Date", parsed.headers.get("date")),
        ("Subject", parsed.subject),
        ("Attachments", ", ".join(one.filename for one in parsed.attachments)),
    )
    head = [f"{name}: {' '.join(value.split())}" for name, value in fields if value]
    return "\n".join([*head, "", found.search_words or found.text_body or found.extracted_text or ""])


def _names(people: Sequence[Mailbox]) -> str:
    return ", ".join(f"{one.name} <{one.address}>" if one.name else one.address for one in people)
