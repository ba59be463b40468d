"""What is kept of a message beside its bytes: the words that lists, events and search show.

Pure. Bodies that are too large for a row stay slices of the raw message; HTML always does.

Callers on the event loop ask `digest_at_once`, which does no more than some 5 ms of work. What is counted there costs
up to: 30 µs an address (IDN), 25 µs a part, 10 µs an encoded word, 4 µs a line, 3 µs a tag, 0.5 µs an attribute or a
character reference, 0.3 µs an octet of a header field; and 75 µs each of the first 100 lines that an original may begin
at (`maild.message.quotes.reply_text`).
"""

from __future__ import annotations

from typing import NamedTuple

from maild.message.characters.guessing import MAX_LINES_AT_ONCE, Guesser, NoGuesser, TooMuchWork
from maild.message.fields.headers import header_start
from maild.message.fields.thread_headers import base_subject, is_forward
from maild.message.model import ParsedMessage, Slice
from maild.message.octets import RawMessage, has_more_than
from maild.message.parsing.parse import parse, read_text
from maild.message.parsing.signed_data import signed_message
from maild.message.parsing.text import (
    QuotedWords,
    extract_reply,
    html_to_text,
    leaves_words_to_html,
    snippet,
    whose_quotes,
)
from maild.message.writing.compose import Composed, Outgoing

TEXT_CHARS = 64 * 1024  # longer text stays in the blob; events carry as much (docs/contract.md, section 6)
HTML_CHARS = 256 * 1024  # what is read of an HTML-only message to make its snippet

AT_ONCE_OCTETS = 128 * 1024
AT_ONCE_HEADER_OCTETS = 16 * 1024
AT_ONCE_ADDRESSES = 200
AT_ONCE_ENCODED_WORDS = 200
AT_ONCE_PARTS = 100
AT_ONCE_LINES = 2000
AT_ONCE_TEXT_LINES = MAX_LINES_AT_ONCE
AT_ONCE_TAGS = 1500
AT_ONCE_ATTRIBUTES = 5000
AT_ONCE_REFERENCES = 5000

_BYTE_ORDER_MARK = "\ufeff"
_UNSEEN = " \t\r\n\xa0\u200b\u2060" + _BYTE_ORDER_MARK

SliceFields = tuple[int, int, str, str | None] | tuple[int, int, str, str | None, str]


class KeptContent(NamedTuple):
    """What the row of a message that we send holds of it. `parts`: its attachments (Digest.parts); the rest as in
    Digest and ParsedMessage."""

    header_length: int
    message_id: str | None
    in_reply_to: str | None
    references: tuple[str, ...]
    reply_to: tuple[str, ...]
    parts: list[tuple[str, str, int, str | None, bool, int, int, str]]
    text_body: str | None
    text_slices: list[SliceFields] | None
    html_slices: list[SliceFields] | None
    extracted_text: str | None
    snippet: str
    search_words: str | None


class Digest(NamedTuple):
    """`text_body` is None when there is none, or when `text_slices` has to be read for it (of signed data it is the
    beginning);
    `extracted_text` is None when it would equal `text_body`. `search_words` is what the body says (its
    first TEXT_CHARS) where neither of the two is that: quotes in HTML, text that is too large."""

    parsed: ParsedMessage
    text_body: str | None
    text_slices: list[SliceFields] | None
    html_slices: list[SliceFields] | None
    extracted_text: str | None
    snippet: str
    search_words: str | None

    def kept(self) -> KeptContent:
        """What its row holds, where the row says nothing else of it."""
        parsed = self.parsed
        return KeptContent(
            header_length=parsed.header_length,
            message_id=parsed.message_id,
            in_reply_to=parsed.in_reply_to,
            references=parsed.references,
            reply_to=tuple(one.address for one in parsed.reply_to),
            parts=self.parts(),
            text_body=self.text_body,
            text_slices=self.text_slices,
            html_slices=self.html_slices,
            extracted_text=self.extracted_text,
            snippet=self.snippet,
            search_words=self.search_words,
        )

    def parts(self) -> list[tuple[str, str, int, str | None, bool, int, int, str]]:
        """The attachments as the store keeps them (`storage.mail.messages.attachment_rows`)."""
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
    """All that is read of a message, whatever it takes: for a thread. Never raises."""
    return _digest(raw, Guesser(), at_once=False)


def kept_of_composed(outgoing: Outgoing, composed: Composed) -> KeptContent:
    """What reading the message back would say. Most mail of programs is a short text and nothing else: there everything
    is known already, and nothing is read."""
    words = composed.words
    if not words or len(words) > TEXT_CHARS or _may_be_read_otherwise(outgoing, words):
        return digest(composed.raw).kept()
    extracted = extract_reply(
        words, is_forward=is_forward(outgoing.subject, words), is_answer=_is_answer(outgoing)
    )
    return KeptContent(
        header_length=composed.header_length,
        message_id=outgoing.message_id,
        in_reply_to=outgoing.in_reply_to,
        references=outgoing.references,
        reply_to=(),
        parts=[],
        text_body=words,
        text_slices=None,
        html_slices=None,
        extracted_text=None if extracted == words else extracted,
        snippet=snippet(extracted or words),
        search_words=None,
    )


def _may_be_read_otherwise(outgoing: Outgoing, words: str) -> bool:
    """Files may stand in the text (maild/message/parsing/uuencoded.py), and a caller's own fields may say where answers
    go."""
    return bool(
        "begin " in words
        or words[0] == _BYTE_ORDER_MARK
        or outgoing.reply_to
        or any(name.lower() == "reply-to" for name, _ in outgoing.headers)
    )


def digest_at_once(raw: bytes) -> Digest | None:
    """The digest of a message that is read in a moment; None where a thread should make it."""
    if not _is_light(raw):
        return None
    try:
        return _digest(raw, NoGuesser(), at_once=True)
    except TooMuchWork:
        return None


def _is_light(raw: bytes) -> bool:
    if len(raw) > AT_ONCE_OCTETS:
        return False
    header_end = raw.find(b"\r\n\r\n", header_start(raw, len(raw)))
    header_end = len(raw) if header_end < 0 else header_end
    return (
        header_end <= AT_ONCE_HEADER_OCTETS
        and raw.count(b"@", 0, header_end) <= AT_ONCE_ADDRESSES
        and _is_few(raw, b"=?", AT_ONCE_ENCODED_WORDS)
        and _is_few(raw, b"\n--", AT_ONCE_PARTS)
        and raw.count(b"\nbegin ") <= AT_ONCE_PARTS
        and not has_more_than(AT_ONCE_LINES, b"\n", raw)
    )


def _is_light_html(html: str) -> bool:
    return (
        html.count("<") <= AT_ONCE_TAGS
        and html.count("=") <= AT_ONCE_ATTRIBUTES
        and html.count("&") <= AT_ONCE_REFERENCES
    )


def _is_few(raw: bytes, mark: bytes, limit: int) -> bool:
    # One octet is counted in a tenth of the time, and most bodies have few of that already.
    return not has_more_than(limit, mark[-1:], raw) or raw.count(mark) <= limit


def _digest(raw: RawMessage, guesser: Guesser, *, at_once: bool) -> Digest:
    parsed = parse(raw, guesser)
    is_answer = _is_answer(parsed)
    said = _read_words(raw, parsed, guesser, is_answer=is_answer, at_once=at_once)
    words, body = said.words, said.body
    extracted = extract_reply(
        words, is_forward=is_forward(parsed.subject, words), is_answer=is_answer, quoted=said.quoted
    )
    shown = extracted if body is None else body  # by the row, without further words
    is_silent = body is None and not (parsed.text or parsed.html)
    return Digest(
        parsed=parsed,
        text_body=body,
        text_slices=_fields(parsed.text) if said.is_cut else None,
        html_slices=_fields(parsed.html) if parsed.html else None,
        extracted_text=None if extracted == body or is_silent else extracted,
        snippet=snippet(extracted or words),
        search_words=None if words == shown else words,
    )


class _Said(NamedTuple):
    """`body`: the text of a message; None where it has none, or it `is_cut`. `words`: its first TEXT_CHARS, and what
    its HTML says besides."""

    body: str | None
    is_cut: bool
    words: str
    quoted: QuotedWords


def _read_words(
    raw: RawMessage, parsed: ParsedMessage, guesser: Guesser, *, is_answer: bool, at_once: bool
) -> _Said:
    body, is_cut = None, False
    if parsed.text:
        body, is_cut = read_text(raw, parsed.text, TEXT_CHARS, guesser)
    elif not parsed.html:
        body = _signed_words(raw, parsed, guesser, at_once=at_once)
    text = words = body or ""
    quoted = QuotedWords.OF_OTHERS
    # Of several texts one may be no alternative: what a list or a person adds stands in no HTML.
    has_alternative = len(parsed.text) == 1 and parsed.html != parsed.html_alone
    is_elsewhere = has_alternative and leaves_words_to_html(text)
    html_parts = parsed.html_alone if text.strip(_UNSEEN) and not is_elsewhere else parsed.html
    if html_parts:
        html, _ = read_text(raw, html_parts, HTML_CHARS, guesser)
        if at_once and not _is_light_html(html):
            raise TooMuchWork
        of_html = html_to_text(html)
        if not _says(text, of_html):
            quoted = whose_quotes(html, answers=is_answer)
            has_all = (is_elsewhere and of_html.strip(_UNSEEN)) or _says(of_html, text)
            words = _in_order(parsed.text, "" if has_all else text, html_parts, of_html)
    if at_once and words.count("\n") > AT_ONCE_TEXT_LINES:  # they may have come in base64
        raise TooMuchWork
    return _Said(None if is_cut else body, is_cut, words, quoted)


def _signed_words(raw: RawMessage, parsed: ParsedMessage, guesser: Guesser, *, at_once: bool) -> str | None:
    """What a message says in plain text, its first TEXT_CHARS, that has all it says within signed data; no slices can
    tell where. HTML stays there: what it hides is looked for in bodies alone."""
    inner = signed_message(raw, parsed.attachments[0]) if parsed.attachments else None
    if inner is None:
        return None
    if at_once and not _is_light(inner):
        raise TooMuchWork
    inside = parse(inner, guesser)
    if not inside.header_length:  # a file that was signed
        return None
    text, _ = read_text(inner, inside.text, TEXT_CHARS, guesser)
    return text if text.strip(_UNSEEN) else None


def _says(said: str, words: str) -> bool:
    """Are the words among what is said, and half of it? Scripts put both forms of a text into a multipart/mixed; "No"
    is an answer above a footer that has it too."""
    said, words = " ".join(said.split()), " ".join(words.split())
    return len(words) * 2 >= len(said) and f" {words} " in f" {said} "


def _in_order(text_parts: tuple[Slice, ...], text: str, html_parts: tuple[Slice, ...], of_html: str) -> str:
    """What is said: a footer of one kind may follow, or precede, words of the other."""
    pieces = (
        [text, of_html] if text_parts and text_parts[0].offset < html_parts[0].offset else [of_html, text]
    )
    return "\n\n".join(piece for piece in pieces if piece.strip(_UNSEEN))[:TEXT_CHARS]


def _is_answer(message: ParsedMessage | Outgoing) -> bool:
    return bool(message.in_reply_to or message.references) or base_subject(message.subject)[1]


def _fields(slices: tuple[Slice, ...]) -> list[SliceFields]:
    plain = ((one.offset, one.length, one.encoding, one.charset) for one in slices)
    return [
        fields if one.flow is None else (*fields, one.flow) for fields, one in zip(plain, slices, strict=True)
    ]


def slices_from(fields: list[SliceFields]) -> tuple[Slice, ...]:
    """The slices back from their stored form."""
    return tuple(Slice(*one) for one in fields)
