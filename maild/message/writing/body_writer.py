"""Leaf parts for the wire: text in the transfer encoding that suits it, files in base64.

Each writer returns (Content-* fields, body in pieces), CRLF throughout. The body has no line break
of its own at the end: the one before a boundary belongs to the boundary.
"""

from __future__ import annotations

import binascii
import codecs
import re
import struct
from typing import NamedTuple
from urllib.parse import quote

import pybase64

from maild.message.characters.surrogates import replace_surrogates
from maild.message.parsing.filenames import clean_filename, derived_filename
from maild.message.writing.header_writer import ComposeError, clean_text, write_ids

_LINE_CHARS = 76
# Blocks of 256 lines stay in the cache: three times as fast as cutting the whole.
_BLOCK_OCTETS = 57 * 256
_BLOCK_LINES = struct.Struct("76s" * 256)
_MAX_PLAIN_LINE = 78  # RFC 5322 §2.1.1

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"{_WORD}/{_WORD}")
_PARAMETER = re.compile(rf'[ \t]*;[ \t]*({_WORD})=({_WORD}|"[ !#-\[\]-~]*")[ \t]*')
# A file's name stands in `filename`, and a boundary is the writer's.
_WRITTEN_HERE = ("name", "boundary")
# In quotes, what some readers cut a name at, or read as more than it is.
_NOT_FALLBACK = re.compile(r'[^ -~]|["\\;]|(?<==)\?')
_WINDOW_OCTETS = 64 * 1024
_LONG_LINE = re.compile(rb"[^\n]{998}")
_PLAIN_OCTETS = bytes([*b"\t\n", *range(0x20, 0x7F)])
_READ_OTHERWISE = re.compile(rb"\n(?:From |\.\n)")
_GROWS = (b"From ", b"=20\r\n", b"=09\r\n")
# Up to where it is cut, which is not within an escape.
_QUOTED_TOO_LONG = re.compile(
    rb"^(?=From [^\r\n]{70}|[^\r\n]{77})([^\r\n]{69,71}(?<!=)(?<!=.))", re.MULTILINE
)
_MAX_UNFOLDED_CHARS = 60
_SECTION_CHARS = 54
_MAX_SECTIONS = 10  # Ruby's mail sorts them by their names as text, `*10*` before `*2*`

Part = tuple[str, list[bytes]]


class WrittenText(NamedTuple):
    """Text as it goes over the wire, in its transfer encoding. `words`: what its reader makes of it, with LF ends."""

    words: str
    charset: str
    encoding: str
    octets: bytes


def write_body(subtype: str, text: WrittenText) -> Part:
    """A `text/<subtype>` part."""
    return _text_fields(subtype, text.charset, text.encoding), [text.octets]


def write_words(text: str) -> WrittenText:
    """Any line end becomes CRLF, NUL goes, lone surrogates become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii() and _is_safe_as_it_is(octets := text.encode("ascii")):
        return WrittenText(text, "us-ascii", "7bit", octets.replace(b"\n", b"\r\n"))
    text = replace_surrogates(text)
    octets = text.replace("\n", "\r\n").encode("utf-8")
    encoded = write_quoted_printable(octets)
    if len(encoded) > (len(octets) + 2) // 3 * 4 * 78 // 76 and not text.isascii():
        return WrittenText(text, "utf-8", "base64", write_base64(octets))
    return WrittenText(text, "utf-8", "quoted-printable", encoded)


def write_attachment(filename: str, content_type: str, content: bytes, content_id: str | None = None) -> Part:
    """A file as attachment, or with a content id as what HTML shows; ComposeError for a content type that is none."""
    media_type, parameters = _read_content_type(content_type)
    name = clean_filename(clean_text(filename)) or derived_filename(media_type, 1)
    named, fallback = _filename_parameters(name)
    shown = "attachment" if content_id is None else "inline"
    disposition = f"Content-Disposition: {shown}{named}\r\n"
    if content_id is not None:
        disposition += write_ids("Content-ID", (f"<{content_id}>",))
    if media_type == "message/rfc822" and _is_seven_bit(content):
        # RFC 2046 §5.2.1: no encoding but 7bit, 8bit, binary
        return f"Content-Type: message/rfc822{fallback}\r\n{disposition}", [content]
    if media_type.startswith(("multipart/", "message/")):  # RFC 2045 §6.4
        media_type = "application/octet-stream"
        parameters = {}
    if "charset" not in parameters and media_type.startswith("text/") and _is_utf8_beyond_ascii(content):
        parameters["charset"] = "utf-8"  # RFC 2046 §4.1.2: it would be US-ASCII
    described = [media_type, *(f"{name}={value}" for name, value in parameters.items())]
    fits = sum(map(len, described)) <= _MAX_UNFOLDED_CHARS
    kind = ("; " if fits else ";\r\n ").join(described)
    fields = f"Content-Type: {kind}{fallback}\r\nContent-Transfer-Encoding: base64\r\n{disposition}"
    return fields, _base64_pieces(content)


def write_base64(octets: bytes) -> bytes:
    """RFC 2045 §6.8: lines of 76, CRLF between them, none behind the last."""
    return b"".join(_base64_pieces(octets))


def _base64_pieces(octets: bytes) -> list[bytes]:
    encode = pybase64.b64encode
    whole = len(octets) - len(octets) % _BLOCK_OCTETS
    pieces: list[bytes] = []
    for at in range(0, whole, _BLOCK_OCTETS):
        pieces += b"\r\n".join(_BLOCK_LINES.unpack(encode(octets[at : at + _BLOCK_OCTETS]))), b"\r\n"
    digits = encode(octets[whole:])
    if digits or not pieces:
        lines = [digits[at : at + _LINE_CHARS] for at in range(0, len(digits), _LINE_CHARS)]
        return [*pieces, b"\r\n".join(lines)]
    return pieces[:-1]


def write_quoted_printable(octets: bytes) -> bytes:
    """RFC 2045 §6.7 of CRLF text; no line is "." or begins with "From "."""
    encoded = binascii.b2a_qp(octets, istext=True)
    # b2a_qp breaks lines as the first line end of its input does, or by LF where there is none.
    encoded = encoded.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    # It lets a blank at the end of a line grow beyond 76 octets, and what is encoded below needs two more.
    if any(one in encoded for one in _GROWS):
        encoded = _QUOTED_TOO_LONG.sub(rb"\1=\r\n", encoded)
    encoded = encoded.replace(b"\r\nFrom ", b"\r\n=46rom ").replace(b"\r\n.\r\n", b"\r\n=2E\r\n")
    if encoded.startswith((b"From ", b".\r\n")) or encoded == b".":
        encoded = b"=%02X" % encoded[0] + encoded[1:]
    if encoded.endswith(b"\r\n."):
        encoded = encoded[:-1] + b"=2E"
    return encoded


def _is_safe_as_it_is(octets: bytes) -> bool:
    """Short lines, and none that is stripped, or read as its own by mbox or SMTP (RFC 5321 §4.5.2)."""
    framed = b"\n%b\n" % octets
    return (
        not octets.translate(None, _PLAIN_OCTETS)
        and max(map(len, octets.split(b"\n"))) <= _MAX_PLAIN_LINE
        and b" \n" not in framed
        and not (b"\t" in octets and b"\t\n" in framed)
        and _READ_OTHERWISE.search(framed) is None
    )


def _text_fields(subtype: str, charset: str, encoding: str) -> str:
    return f"Content-Type: text/{subtype}; charset={charset}\r\nContent-Transfer-Encoding: {encoding}\r\n"


def _read_content_type(content_type: str) -> tuple[str, dict[str, str]]:
    """(`type/subtype`, its parameters as they are written) by RFC 2045 §5.1; of one that is there twice, the first."""
    value = content_type.strip(" ")
    match = _MEDIA_TYPE.match(value)
    if match is None:
        raise ComposeError("content type is not valid")
    parameters: dict[str, str] = {}
    at = match.end()
    while at < len(value):
        parameter = _PARAMETER.match(value, at)
        if parameter is None:
            raise ComposeError("content type is not valid")
        if (name := parameter[1].lower()) not in _WRITTEN_HERE:
            parameters.setdefault(name, parameter[2])
        at = parameter.end()
    return match[0].lower(), parameters


def _filename_parameters(name: str) -> tuple[str, str]:
    """(of Content-Disposition, of Content-Type).

    A name that needs RFC 2231 stands there alone: beside a plain `filename`, Jakarta Mail, Horde and others take that
    one. Who knows no RFC 2231 finds a plain `name` in Content-Type.
    """
    plain = _NOT_FALLBACK.sub("_", name)
    if plain == name:
        return f';\r\n filename="{name}"', ""
    characters = [quote(one, safe="!#$&+-.^_`|~", encoding="utf-8", errors="replace") for one in name]
    extended = "".join(characters)
    fallback = f';\r\n name="{plain}"'
    if len(extended) <= _MAX_UNFOLDED_CHARS:
        return f";\r\n filename*=utf-8''{extended}", fallback
    # RFC 2231 §3: a value too long for a line
    sections = [f";\r\n filename*{number}*={piece}" for number, piece in enumerate(_sections(characters))]
    sections[0] = sections[0].replace("=", "=utf-8''", 1)
    return "".join(sections), fallback


def _sections(characters: list[str]) -> list[str]:
    """Whole characters in each: some readers decode a section before they join it to the next."""
    room = max(_SECTION_CHARS, sum(map(len, characters)) // _MAX_SECTIONS + max(map(len, characters)))
    sections = [""]
    for one in characters:
        if len(sections[-1]) + len(one) > room:
            sections.append("")
        sections[-1] += one
    return sections


def _is_seven_bit(content: bytes) -> bool:
    bare = content.replace(b"\r\n", b"")
    is_plain = content.isascii() and b"\0" not in content and b"\r" not in bare and b"\n" not in bare
    return is_plain and not _LONG_LINE.search(content)


def _is_utf8_beyond_ascii(content: bytes) -> bool:
    if content.isascii() or b"\0" in content:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(content), _WINDOW_OCTETS):  # each holds the interpreter
            decoder.decode(content[at : at + _WINDOW_OCTETS])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
