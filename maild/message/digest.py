"""What is kept of a message beside its bytes: the words that lists, events and search show.

Pure. Bodies that are too large for a row stay slices of the raw message; HTML always does.
"""

from typing import NamedTuple

from maild.message.model import ParsedMessage, RawMessage, Slice
from maild.message.parse import parse, read_text
from maild.message.text import extract_reply, html_to_text, snippet
from maild.message.thread_headers import is_forward

TEXT_CHARS = 64 * 1024  # longer text stays in the blob; events carry as much (decisions.md, Webhook)
HTML_CHARS = 256 * 1024  # what is read of an HTML-only message to make its snippet

SliceFields = tuple[int, int, str, str | None]


class Digest(NamedTuple):
    """`text_body` is None when there is none, or when `text_slices` has to be read for it;
    `extracted_text` is None when it would equal `text_body`. `search_words` is what the body says (its
    first TEXT_CHARS) where neither of the two is that: quotes in HTML, text that is too large."""

    parsed: ParsedMessage
    text_body: str | None
    text_slices: list[SliceFields] | None
    html_slices: list[SliceFields] | None
    extracted_text: str | None
    snippet: str
    search_words: str | None

    def parts(self) -> list[tuple[str, str, int, str | None, bool, int, int, str]]:
        """The attachments as the store keeps them (`storage.messages.attachment_rows`)."""
        return [
            (
                one.filename,
                one.content_type,
                one.size_bytes,
                one.content_id,
                one.is_inline,
                one.slice.offset,
                one.slice.length,
                one.slice.encoding,
            )
            for one in self.parsed.attachments
        ]


def digest(raw: RawMessage) -> Digest:
    parsed = parse(raw)
    words, truncated = read_text(raw, parsed.text, TEXT_CHARS) if parsed.text else ("", False)
    if not parsed.text and parsed.html:
        html, _ = read_text(raw, parsed.html, HTML_CHARS)
        words = html_to_text(html)[:TEXT_CHARS]
    text_body = words if parsed.text and not truncated else None
    extracted = extract_reply(words, is_forward=is_forward(parsed.subject))
    return Digest(
        parsed=parsed,
        text_body=text_body,
        text_slices=_fields(parsed.text) if truncated else None,
        html_slices=_fields(parsed.html) if parsed.html else None,
        extracted_text=None if extracted == text_body or not (parsed.text or parsed.html) else extracted,
        snippet=snippet(extracted or words),
        search_words=None if text_body is not None or extracted == words else words,
    )


def _fields(slices: tuple[Slice, ...]) -> list[SliceFields]:
    return [(one.offset, one.length, one.encoding, one.charset) for one in slices]


def slices_from(fields: list[SliceFields]) -> tuple[Slice, ...]:
    """The slices back from their stored form."""
    return tuple(Slice(*one) for one in fields)
