"""The words of another message below one's own: quoted in an answer, or passed on.

An answer has an attribution line and the original with `> `, which mail readers fold away and
`maild.message.quotes.reply_text` takes off again. What is passed on stands below a block of its header fields.
Names and subjects are strangers' words: they stay on their line.
"""

from __future__ import annotations

import html as entities
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from maild.message.parsing.text import snippet

QUOTED_OCTETS: Final = 64 * 1024
NAME_CHARS: Final = 100
LIST_CHARS: Final = 1000

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Original(NamedTuple):
    """The other message. `created_at`: Unix milliseconds; `text`: its words, of its HTML where it has no others, None
    where it says nothing; `html`: sanitised, None where it has none."""

    from_name: str | None
    from_address: str
    to: Sequence[str]
    cc: Sequence[str]
    subject: str
    created_at: int
    text: str | None
    html: str | None


def quoted_text(original: Original) -> str:
    """The attribution and the words with `> `; empty where there is nothing to quote."""
    words = _beginning(original.text or "").strip("\n")
    if not words.strip():
        return ""
    lines = (f"> {line}" if line and line[0] != ">" else f">{line}" for line in words.split("\n"))
    return f"{_attribution(original)}\n\n" + "\n".join(lines) + "\n"


def quoted_html(original: Original, *, as_text: bool = False) -> str:
    """The same as HTML; `as_text`: of its text, whatever HTML it has."""
    if not quoted_text(original):
        return ""
    words = as_html(_beginning(original.text or ""))
    if original.html is not None and not as_text:
        words = _whole_tags(_beginning(original.html))
    attribution = entities.escape(_attribution(original))
    return (
        f'<div class="gmail_quote"><p>{attribution}</p>'
        f'<blockquote class="gmail_quote">{words}</blockquote></div>'
    )


def forwarded_text(original: Original) -> str:
    """The header fields and the words that are passed on."""
    head = "\n".join(f"{name}: {value}" for name, value in _fields(original))
    return f"---------- Forwarded message ----------\n{head}\n\n{original.text or ''}"


def forwarded_html(original: Original) -> str:
    """The same as HTML."""
    head = "<br>".join(f"{name}: {entities.escape(value)}" for name, value in _fields(original))
    words = as_html(original.text or "") if original.html is None else original.html
    return f"<p>---------- Forwarded message ----------<br>{head}</p><div>{words}</div>"


def as_html(text: str) -> str:
    """Plain words as HTML: what has a meaning there is escaped, line ends are breaks."""
    return entities.escape(text, quote=False).replace("\n", "<br>\n")


def below(own: str | None, other: str, between: str) -> str:
    """One's own words, and the others below them."""
    if not other:
        return own or ""
    return f"{own.rstrip()}{between}{other}" if own and own.strip() else other


def _attribution(original: Original) -> str:
    moment = datetime.fromtimestamp(original.created_at / 1000, UTC)
    return f"On {_day(moment)} at {moment.hour:02}:{moment.minute:02} UTC, {_author(original)} wrote:"


def _fields(original: Original) -> list[tuple[str, str]]:
    moment = datetime.fromtimestamp(original.created_at / 1000, UTC)
    fields = [
        ("From", _author(original)),
        ("Date", f"{_day(moment)} {moment.hour:02}:{moment.minute:02}:{moment.second:02} +0000"),
        ("Subject", snippet(original.subject, LIST_CHARS)),
        ("To", snippet(", ".join(original.to), LIST_CHARS)),
    ]
    if original.cc:
        fields.append(("Cc", snippet(", ".join(original.cc), LIST_CHARS)))
    return fields


def _day(moment: datetime) -> str:
    return f"{_DAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def _author(original: Original) -> str:
    address = snippet(original.from_address, NAME_CHARS)
    name = snippet(original.from_name or "", NAME_CHARS)
    return f"{name} <{address}>" if name else address


def _beginning(text: str) -> str:
    """So much of it as is quoted, in whole lines where it has some."""
    octets = text.encode("utf-8", "replace")
    if len(octets) <= QUOTED_OCTETS:
        return text
    cut = octets[:QUOTED_OCTETS].decode("utf-8", "ignore")
    return cut[: cut.rfind("\n") + 1] or cut


def _whole_tags(html: str) -> str:
    """Without a last tag that is not closed. Sanitised HTML has no other `<`."""
    return html[: html.rfind("<")] if html.rfind("<") > html.rfind(">") else html
