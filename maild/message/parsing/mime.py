"""The MIME structure of a message as body slices and attachments.

One stack of open multiparts, no recursion. A part lies between two delimiters of its multipart and
inside everything that encloses it, so a delimiter of an outer multipart ends all inner ones, as
RFC 2046 §5.1.2 asks. Each octet is searched once per level, and there are at most MAX_DEPTH levels:
linear whatever the boundaries are. Over a limit the rest stays one opaque attachment.

Which leaf is body:
  alternative   the first branch that has plain text gives the text, the first with text/html the html
  related       only below its root (named by `start`, else the first child that has any, and where that
                is plain text, the first html too); every other child is an attachment that is shown inline
  mixed & co    plain text and text/html join the body, unless they have a filename
  none of these the first plain text or text/html that is called no attachment is both body and file
  plain text    text/plain, every other type of text that people may read, and what is no type (RFC 2045
                §5.2), unless it is a file; uuencoded files in it are attachments, the words around them
                the text
  anywhere      `Content-Disposition: attachment` is an attachment, and so is every other type
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from maild.message.characters.decode import BASE64, IDENTITY, QUOTED_PRINTABLE, UUENCODE, decoded_size
from maild.message.characters.encoded_words import decode_words, read_octets
from maild.message.characters.guessing import Guesser
from maild.message.fields.comments import without_comments
from maild.message.fields.headers import Headers, escape_octets, find_body, read_headers
from maild.message.fields.parameters import (
    NO_TYPE,
    OCTET_STREAM,
    charset_of,
    media_type,
    octets_parameter,
    read_value,
    text_parameter,
)
from maild.message.model import AttachmentPart, Slice
from maild.message.octets import Buffer
from maild.message.parsing.enriched import ENRICHED, ENRICHED_TYPES
from maild.message.parsing.filenames import clean_filename, content_type_of, derived_filename
from maild.message.parsing.flowed import flow_of
from maild.message.parsing.uuencoded import find_block

MAX_PARTS: Final = 1000
MAX_DEPTH: Final = 100
MAX_PART_HEADER_BYTES: Final = 64 * 1024
MAX_BOUNDARY_OCTETS: Final = 998  # RFC 2046 §5.1.1 says 70, which some senders exceed; a line has no more
MAX_CONTENT_ID_CHARS: Final = 998
_FALSE_DELIMITERS = 64
_WINDOW_BYTES = 64 * 1024

_LINE_ABOVE_FIELDS = re.compile(
    rb"^(--[^\r\n]{0,%d}\S(?<!--))[ \t]*+\r?\n(?=content-[a-z-]{1,64}+[ \t]*+:)" % (MAX_BOUNDARY_OCTETS - 1),
    re.IGNORECASE | re.MULTILINE,
)
_DELIMITER_END = re.compile(rb"(--)?[ \t]*+(?:\r?\n|\r?\Z)")
# A parameter that scripts write below its field with no blank in front; with a colon in it, it seems another field.
_PARAMETER_NOT_FOLDED = re.compile(rb";[ \t]*+\r?\n(?=[A-Za-z]{1,16}+[*0-9]{0,8}+[ \t]*+=)")
_IN_BRACKETS = re.compile(r"<([^<>]++)>")
_WORD = re.compile(r"[A-Za-z0-9-]++")
_TOKEN = re.compile(r"[!#-'*+\-.0-9A-Z^-~]++")  # RFC 2045 §5.1
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]++")
_CHOICES = ("alternative", "related")
_WORDS = ("text/plain", "text/html")
_OF_BODIES = (None, "inline")  # RFC 2183 §2.8: an unknown disposition is attachment
_MAX_ENCODING_CHARS = 80
_FIRST_LINE_OCTETS = 1024  # that are looked at for it
_BASE64_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_FOOTER_OCTETS = 4096  # that are looked at for it
_FOOTER_START = re.compile(rb"(?<=\n)(?:[ \t]*+\r?\n|(?=[_*#-]{8}))")
_BASE64_LINE = re.compile(rb"^[A-Za-z0-9+/]{60,}+={0,2}\s*+$", re.MULTILINE)
_SIGNS_PER_ERROR = 16  # what was damaged on its way has fewer
# Data, and markup among which the words can't be read.
_TEXT_FOR_PROGRAMS = frozenset(
    f"text/{subtype}"
    for subtype in (
        *("calendar", "x-vcalendar", "vcard", "x-vcard", "directory", "csv", "tab-separated-values"),
        *("css", "javascript", "ecmascript", "json", "xml", "rtf", "x-amp-html", "watch-html"),
        *("rfc822-headers", "x-moz-deleted"),
    )
)
_UUENCODE = re.compile(r"(?:x-)?uue(?:ncode)?", re.IGNORECASE)
_LINE_FEED = 10

ENCODINGS = {
    "7bit": IDENTITY,
    "8bit": IDENTITY,
    "binary": IDENTITY,
    "base64": BASE64,
    "quoted-printable": QUOTED_PRINTABLE,
}
# What senders mean by `8 bit`, `7-bits` and `quoted -printable`.
_MISSPELT = {
    _NOT_ALPHANUMERIC.sub("", name) + ending: encoding
    for name, encoding in ENCODINGS.items()
    for ending in ("", "s")
}


@dataclass(slots=True)
class _Frame:
    """An open multipart: `position` is where its next part begins."""

    delimiter: bytes
    position: int
    end: int
    kind: str
    root_id: str | None
    is_done: bool = False
    shares_delimiter: bool = False  # with the multipart around it, which goes on where this one ends
    children: int = 0
    is_at_root: bool = True  # the open child may hold body text
    text_child: int = 0  # alternative, related: which child gave the text, the html; 0 is none
    html_child: int = 0

    def lists_files(self) -> bool:
        """Is a child with a filename a file, whatever its type is?"""
        return self.kind not in _CHOICES or (
            self.kind == "related" and self.text_child not in (0, self.children)
        )


@dataclass(slots=True)
class _Entity:
    """A leaf, its fields read."""

    start: int
    end: int
    content_type: str
    encoding: str
    charset: str | None
    disposition: str | None
    filename: str | None
    content_id: str | None
    flow: str | None = None


class Indexer:
    """Walks one message once; the results are its public attributes."""

    def __init__(self, raw: Buffer, guesser: Guesser) -> None:
        self.text: list[Slice] = []
        self.html: list[Slice] = []
        # Html, and the alternatives that it is a part of.
        self._choices: list[tuple[Slice, list[_Frame]]] = []
        self.attachments: list[AttachmentPart] = []
        self.defects: dict[str, None] = {}
        self._raw = raw
        self._guesser = guesser
        self._stack: list[_Frame] = []
        self._parts = 0
        self._spare: _Entity | None = None  # the first that is no body, and could be

    def run(self, headers: Headers, start: int, end: int) -> None:
        """Index the entity whose body is raw[start:end]."""
        self._open(headers, start, end, "text/plain")
        stack = self._stack
        while stack:
            frame = stack[-1]
            if frame.is_done:
                self._close(stack.pop())
            elif self._parts >= MAX_PARTS:
                self.defects["too-many-parts"] = None
                self._add_opaque(frame.position, end)
                stack.clear()
            else:
                self._next_part(frame)
        if self._spare is not None and not (self.text or self.html):  # as networks of phones send them
            self._add_body(self._spare, [])

    @property
    def html_alone(self) -> list[Slice]:
        """The html that no text in another branch stands for. RFC 2046 §5.1.3: other multiparts show all parts."""
        return [
            part
            for part, frames in self._choices
            if all(frame.text_child in (0, frame.html_child) for frame in frames)
        ]

    def _close(self, frame: _Frame) -> None:
        if not frame.shares_delimiter:
            return
        around = self._stack[-1]
        # What stands before the next delimiter is the epilogue of the one that ended.
        found = find_delimiter(self._raw, frame.delimiter, frame.position, frame.end)
        if found is None:
            around.position, around.is_done = frame.end, True
        else:
            _, around.position, around.is_done = found

    def _next_part(self, frame: _Frame) -> None:
        start = frame.position
        found = find_delimiter(self._raw, frame.delimiter, start, frame.end)
        if found is None:
            self.defects["missing-end"] = None
            frame.is_done = True
            end = frame.position = frame.end
        else:
            delimiter_start, frame.position, frame.is_done = found
            end = before_line_break(self._raw, start, delimiter_start)
        frame.children += 1
        self._parts += 1
        fields_end, body = find_body(self._raw, start, end)
        fields = bytes(self._raw[start : min(fields_end, start + MAX_PART_HEADER_BYTES)])
        headers = read_headers(_PARAMETER_NOT_FOLDED.sub(b"; ", fields))
        if frame.kind == "related":
            frame.is_at_root = _is_root(frame, headers)
        # RFC 2046 §5.1.5
        self._open(headers, body, end, "message/rfc822" if frame.kind == "digest" else "text/plain")

    def _open(self, headers: Headers, start: int, end: int, default_type: str) -> None:
        declared = headers.octets("content-type")
        word, parameters = (default_type, {}) if declared is None else read_value(declared)
        content_type = media_type(word)
        if not content_type.startswith("multipart/"):
            self._add_leaf(self._read_leaf(headers, start, end, content_type, parameters))
            return
        if len(self._stack) >= MAX_DEPTH:
            self.defects["too-deep"] = None
            self._add_opaque(start, end)
            return
        delimiter = delimiter_of(parameters)
        around = self._stack[-1] if self._stack else None
        # The delimiter that ended this part was its own first one: its end ends it, not what is around it.
        shares = around is not None and around.delimiter == delimiter and not around.is_done
        if shares and around is not None:
            position, end, is_done = around.position, around.end, False
        else:
            first = _first_part(self._raw, delimiter, start, end)
            if first is None:
                self.defects["missing-boundary"] = None
                delimiter = _delimiter_in_use(self._raw, start, end)
                first = _first_part(self._raw, delimiter, start, end)
            if first is None:
                self._add_leaf(self._read_leaf(headers, start, end, "text/plain", {}))
                return
            position, is_done = first, False
        root_id = (text_parameter(parameters, "start", self._guesser) or "").strip("<> \t") or None
        if root_id and self._raw.find(f"<{root_id}>".encode("utf-8", "replace"), position, end) < 0:
            root_id = None  # no part is called so
        frame = _Frame(delimiter, position, end, content_type[10:], root_id, is_done, shares)
        self._stack.append(frame)

    def _add_leaf(self, leaf: _Entity) -> None:
        # RFC 2046 §4.1.4: text of an unknown subtype is treated as plain.
        is_text = leaf.content_type.startswith("text/") and leaf.content_type not in _TEXT_FOR_PROGRAMS
        if is_text and self._is_body(leaf):
            self._add_body(leaf, self._open_choices())
            return
        if self._spare is None and _may_be_words(leaf):
            self._spare = leaf
        with memoryview(self._raw) as view:
            size = decoded_size(view[leaf.start : leaf.end], leaf.encoding)
        name = clean_filename(leaf.filename) if leaf.filename else ""
        self.attachments.append(
            AttachmentPart(
                Slice(leaf.start, leaf.end - leaf.start, leaf.encoding, leaf.charset),
                name or derived_filename(leaf.content_type, len(self.attachments) + 1),
                leaf.content_type,
                size,
                leaf.content_id,
                self._is_inline(leaf),
            )
        )

    def _add_body(self, leaf: _Entity, choices: list[_Frame]) -> None:
        if leaf.content_type != "text/html":
            self._add_words(leaf)
            return
        self._add_text(self.html, leaf, leaf.start, leaf.end)
        self._choices += ((part, choices) for part in self.html[len(self._choices) :])

    def _add_text(self, texts: list[Slice], leaf: _Entity, start: int, end: int) -> None:
        if end > start:
            self._guesser.learn(leaf.charset)
            flow = leaf.flow if texts is self.text else None
            texts.append(Slice(start, end - start, leaf.encoding, leaf.charset, flow))

    def _add_words(self, leaf: _Entity) -> None:
        """Plain text, and the files that stand in it."""
        at = leaf.start
        while leaf.encoding == IDENTITY and self._parts < MAX_PARTS:
            block = find_block(self._raw, at, leaf.end)
            if block is None:
                break
            self._parts += 1
            self._add_text(self.text, leaf, at, block.start)
            name = read_octets(escape_octets(block.name.decode("latin-1")), self._guesser)
            content_type = content_type_of(clean_filename(name))
            part = _Entity(
                block.lines_start,
                block.lines_end,
                content_type,
                block.encoding,
                None,
                "attachment",
                name,
                None,
            )
            self._add_leaf(part)
            at = block.end
        self._add_text(self.text, leaf, at, leaf.end)

    def _read_leaf(
        self, headers: Headers, start: int, end: int, content_type: str, parameters: dict[str, str]
    ) -> _Entity:
        encoding = self._encoding(headers)
        disposition, filename = self._disposition(headers, parameters)
        if not filename and not content_type.startswith("text/"):  # words with a name would be no body
            filename = text_parameter(parameters, "filename", self._guesser)
        if filename and "content-type" not in headers:
            named = content_type_of(clean_filename(filename))
            content_type = content_type if named == OCTET_STREAM else named
        if content_type == NO_TYPE:  # RFC 2045 §5.2: text it is, unless it is a file
            is_data = encoding in (BASE64, UUENCODE) and "charset" not in parameters
            is_file = filename or disposition not in _OF_BODIES or is_data
            content_type = OCTET_STREAM if is_file else "text/plain"
        if encoding == UUENCODE:
            block = find_block(self._raw, start, end)
            if block is None:
                encoding = None
            else:
                start, end, encoding = block.lines_start, block.lines_end, block.encoding
        if encoding == BASE64 and content_type.startswith("text/") and self._is_plain(start, end):
            encoding = IDENTITY
        if encoding == BASE64 and content_type.startswith("text/"):
            end = self._before_footer(start, end)
        if encoding is None:
            # RFC 2045 §6.4 hides text as well; every reader shows it, and it is seldom encoded at all.
            content_type = content_type if content_type.startswith("text/") else OCTET_STREAM
            encoding = IDENTITY
        charset = charset_of(parameters)
        flow = ENRICHED if content_type in ENRICHED_TYPES else flow_of(parameters) if parameters else None
        content_id = _content_id(headers)
        return _Entity(start, end, content_type, encoding, charset, disposition, filename, content_id, flow)

    def _disposition(self, headers: Headers, parameters: dict[str, str]) -> tuple[str | None, str | None]:
        """How a leaf is to be shown, and its filename. `parameters`: of its content type."""
        disposition: str | None = None
        details: dict[str, str] = {}
        declared = headers.octets("content-disposition")
        if declared is not None:
            word, details = read_value(declared)
            # RFC 2183 §2: what is no token names no type, not an unknown one.
            disposition = word if _TOKEN.fullmatch(word) else None
        filename = (
            text_parameter(details, "filename", self._guesser)
            or text_parameter(parameters, "name", self._guesser)
            or text_parameter(details, "name", self._guesser)
        )
        return disposition, filename

    def _encoding(self, headers: Headers) -> str | None:
        """The transfer encoding as declared, or as it was meant; None for one that nobody knows."""
        declared = headers.octets("content-transfer-encoding")
        if declared is None or (word := _WORD.search(declared)) is None:
            return IDENTITY
        known = ENCODINGS.get(word[0].lower())
        if known is None and _UUENCODE.fullmatch(word[0]):
            return UUENCODE
        if known is None:
            self.defects["unknown-encoding"] = None
            known = _MISSPELT.get(_NOT_ALPHANUMERIC.sub("", declared[:_MAX_ENCODING_CHARS].lower()))
        return known

    def _is_plain(self, start: int, end: int) -> bool:
        """Does text that declares base64 begin as none does, with blanks between words and signs that it has not?"""
        lines = bytes(self._raw[start : min(end, start + _FIRST_LINE_OCTETS)]).splitlines()
        first = next(filter(None, map(bytes.strip, lines)), b"")
        return _is_no_base64(first)

    def _before_footer(self, start: int, end: int) -> int:
        """Where base64 ends above what a list or a scanner has put below it as it is: its letters would be read as more
        of the text, and the whole as of another charset."""
        at = max(start, end - _FOOTER_OCTETS)
        tail = bytes(self._raw[at:end])
        for found in _FOOTER_START.finditer(tail):
            line_end = tail.find(b"\n", found.end())
            line = tail[found.end() : line_end if line_end >= 0 else len(tail)].strip()
            if _is_no_base64(line):
                return end if _BASE64_LINE.search(tail, found.end()) else at + found.end()
        return end

    def _is_body(self, leaf: _Entity) -> bool:
        if leaf.disposition not in _OF_BODIES:
            return False
        if leaf.filename and self._stack and self._stack[-1].lists_files():
            return False
        slot = "html_child" if leaf.content_type == "text/html" else "text_child"
        choices = self._open_choices()
        if any(getattr(frame, slot) not in (0, frame.children) for frame in choices):
            return False
        if not all(frame.is_at_root for frame in self._stack):
            return False
        for frame in choices:
            setattr(frame, slot, frame.children)
        return True

    def _open_choices(self) -> list[_Frame]:
        """Those of which the body has one text and one html."""
        return [frame for frame in self._stack if frame.kind in _CHOICES]

    def _is_inline(self, leaf: _Entity) -> bool:
        if leaf.disposition == "inline":
            return True
        if not any(frame.kind == "related" for frame in self._stack):
            return False
        # Outlook calls the pictures of its html attachments: what has an id there is shown there.
        return leaf.disposition is None or leaf.content_id is not None

    def _add_opaque(self, start: int, end: int) -> None:
        self._add_leaf(_Entity(start, end, OCTET_STREAM, IDENTITY, None, None, None, None))


def _may_be_words(leaf: _Entity) -> bool:
    """Does it call itself text for people, and no attachment, and has its name no other type?"""
    if leaf.content_type not in _WORDS or leaf.disposition not in _OF_BODIES:
        return False
    return not leaf.filename or content_type_of(clean_filename(leaf.filename)) in (*_WORDS, OCTET_STREAM)


def _is_no_base64(line: bytes) -> bool:
    return len(line.translate(None, _BASE64_SIGNS)) * _SIGNS_PER_ERROR > len(line)


def _first_part(raw: Buffer, delimiter: bytes, start: int, end: int) -> int | None:
    """Where the first part begins. What ends before it began says nothing of what stands around it."""
    found = find_delimiter(raw, delimiter, start, end) if delimiter else None
    while found is not None and found[2]:
        found = find_delimiter(raw, delimiter, found[1], end)
    return None if found is None else found[1]


def _delimiter_in_use(raw: Buffer, start: int, end: int) -> bytes:
    """What stands between the parts of a multipart that declares no boundary, as scripts write it that do not fold the
    line with it, or another: a line above the fields of a part, which ends nothing. b"" where there is none."""
    found = _LINE_ABOVE_FIELDS.search(raw, start, min(end, start + _WINDOW_BYTES))
    return found[1] if found else b""


def find_delimiter(raw: Buffer, delimiter: bytes, start: int, end: int) -> tuple[int, int, bool] | None:
    """(start of the line, start of the next line, closes the multipart) of the next delimiter line.

    `start` must be the beginning of a line. RFC 2046 §5.1.1: `--boundary`, perhaps `--`, blanks.
    """
    at = start
    for _ in range(_FALSE_DELIMITERS):
        at = raw.find(delimiter, at, end)
        if at < 0:
            return None
        line_end = _DELIMITER_END.match(raw, at + len(delimiter), end)
        if line_end is not None and (at == start or raw[at - 1] == _LINE_FEED):
            return at, line_end.end(), line_end[1] is not None
        at += len(delimiter)
    return _search_delimiter(raw, delimiter, at - 1, end)


def _search_delimiter(raw: Buffer, delimiter: bytes, start: int, end: int) -> tuple[int, int, bool] | None:
    """`find_delimiter` for a boundary that half the lines begin with: compiling it pays off.

    In windows, because one search of the whole would hold the interpreter for its whole time.
    """
    pattern = re.compile(rb"\n" + re.escape(delimiter) + _DELIMITER_END.pattern)
    overlap = len(delimiter) + 8
    while start < end:
        window_end = min(end, start + _WINDOW_BYTES)
        found = pattern.search(raw, start, window_end)
        if found is None:
            start = window_end if window_end == end else window_end - overlap
            continue
        at = found.start() + 1
        line_end = _DELIMITER_END.match(raw, at + len(delimiter), end)
        if line_end is not None:
            return at, line_end.end(), line_end[1] is not None
        start = at  # it only seemed to end where the window does
    return None


def _is_root(frame: _Frame, headers: Headers) -> bool:
    """RFC 2387 §3.2. Some senders put the pictures first and name no root: the first text is it then. Plain text, which
    shows none of the others, stands there as an alternative to html."""
    if frame.root_id is None:
        return not frame.html_child
    return frame.children == 1 or _content_id(headers) == frame.root_id


def _content_id(headers: Headers) -> str | None:
    """Content-ID without its brackets, as a `cid:` URL names it (RFC 2392 §2)."""
    value = headers.get("content-id")
    if value is None:
        return None
    value = decode_words(value)  # Python's email library encodes ids that fit no line
    # RFC 2045 §7: a msg-id, which comments may stand around (RFC 5322 §3.6.4).
    found = _IN_BRACKETS.search(without_comments(value))
    value = (found[1] if found else value).strip("<> \t")
    return value if value and value.isprintable() and len(value) <= MAX_CONTENT_ID_CHARS else None


def delimiter_of(parameters: dict[str, str]) -> bytes:
    """What lines between the parts begin with (RFC 2046 §5.1.1); nothing where the boundary is none."""
    boundary = octets_parameter(parameters, "boundary").rstrip()
    if not 0 < len(boundary) <= MAX_BOUNDARY_OCTETS or b"\n" in boundary:
        return b""
    return b"--" + boundary


def before_line_break(raw: Buffer, start: int, at: int) -> int:
    """RFC 2046 §5.1.1: the line break before a delimiter belongs to the delimiter."""
    if at > start and raw[at - 1] == _LINE_FEED:
        at -= 1
        if at > start and raw[at - 1] == 13:
            at -= 1
    return at
