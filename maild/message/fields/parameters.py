"""Content-Type and Content-Disposition values: RFC 2045 §5.1 with RFC 2231 parameters.

Values come as octet text (`Headers.octets`: one character an octet), names in lower case.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from maild.message.characters.decode import decode_charset
from maild.message.characters.encoded_words import decode_words
from maild.message.characters.guessing import Guesser
from maild.message.fields.comments import without_comments
from maild.message.fields.headers import escape_octets
from maild.message.fields.mailboxes import end_of_quoted, unescape

MAX_PARAMETERS = 1000

# Every attempt begins at a ";", or at the first of the blanks where programs forget it, and ends at the next: linear.
# A comment may stand in front of a name (RFC 2045 §5.1). Programs quote what has its quotes already.
_PARAMETER = re.compile(
    r"""(?:;|(?<!\s)\s)\s*+(?>\([^();"]*+\)\s*+|)([^=;\s"]++)\s*+=\s*+("(?>"(?=[^\s;"])|)|)"""
)
# What is not quoted ends there, or with the value.
_NEXT = re.compile(r'(?=;)|(?<!\s)(?=\s++[^=;\s"]++=)')
_FIRST_WORD = re.compile(r"\s*+([^\s/]*+)(?>\s*+(/)\s*+(\S*+)|)")
_NAME = r"[!#$%&'*+.^_`{|}~0-9a-z-]{1,127}"
_MEDIA_TYPE = re.compile(rf"{_NAME}/{_NAME}")
_CHARSET = re.compile(r"[!-~]{1,64}")
# Programs that know of no quoted pairs write paths; nobody has to escape a letter or a digit.
_PAIR_IN_A_NAME = re.compile(r"\\([^0-9A-Za-z\x80-\xff])", re.DOTALL)
_MARKS_AROUND = "\"'<>"

OCTET_STREAM = "application/octet-stream"
NO_TYPE = ""
_TURNED_ROUND = {"plain/text": "text/plain", "html/text": "text/html"}


def read_value(value: str) -> tuple[str, dict[str, str]]:
    """(first word in lower case, raw parameters; of a repeated one the first)."""
    head, semicolon, _ = value.partition(";")
    first = _FIRST_WORD.match(without_comments(head).lower())
    assert first is not None  # it takes no word as well
    kind, slash, subtype = first.groups()
    word = (f"{kind}/{subtype}" if slash else kind).partition(",")[0]
    word = word.strip(_MARKS_AROUND)  # as scripts write it
    if "(" in word:  # a comment that never ends
        word = word.partition("(")[0]
    if not semicolon and "=" not in head:
        return word, {}
    if "=" in head:  # programs that forget the first ";", or the word before it
        return word, _read_parameters(f";{value}", 0)
    return word, _read_parameters(value, len(head))


def _read_parameters(value: str, position: int) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for _ in range(MAX_PARAMETERS):
        match = _PARAMETER.search(value, position)
        if match is None:
            break
        name, quote = match[1].lower(), match[2]
        start = match.end()
        is_filename = name.startswith(("name", "filename"))
        if quote:
            position = end_of_quoted(value, start)
            quoted = value[start:position]
            found = _PAIR_IN_A_NAME.sub(r"\1", quoted) if is_filename else unescape(quoted)
            position += value.startswith('"', position)
        elif is_filename:
            # Names of files that programs forget to quote have blanks, and parentheses as `report (1).pdf` has.
            end = value.find(";", start)
            position = len(value) if end < 0 else end
            found = value[start:position].strip()
        else:
            following = _NEXT.search(value, start)
            position = following.start() if following else len(value)
            found = _token(value[start:position])
        parameters.setdefault(name, found)
    return parameters


def _token(plain: str) -> str:
    """A value without quotes, and without a comment behind it."""
    value = plain.strip()
    if value.endswith(")"):
        words = value.split(None, 1)
        return words[0] if len(words) > 1 and words[1].startswith("(") else value
    return value


def media_type(word: str) -> str:
    """`type/subtype`, or what is surely meant instead; NO_TYPE where that depends on what else is said of a part."""
    found = _MEDIA_TYPE.match(word)
    if found is not None:
        return _TURNED_ROUND.get(found[0], found[0])
    if word.startswith("multipart"):
        return "multipart/mixed"
    if "html" in word and "=" not in word:
        return "text/html"
    return "text/plain" if word in ("", "text", "text/") else NO_TYPE


def charset_of(parameters: dict[str, str]) -> str | None:
    """The declared charset in lower case, or None when it is absent or no word."""
    declared = parameters.get("charset")
    if declared is None or not _CHARSET.fullmatch(declared):
        return None
    return declared.lower()


def text_parameter(parameters: dict[str, str], name: str, guesser: Guesser | None = None) -> str | None:
    """A parameter for readers, however it was encoded; None when absent."""
    if not parameters:
        return None
    encoded = _encoded_parameter(parameters, name)
    if encoded is not None:  # RFC 2231 §4; it is the better one where both stand (RFC 6266 §4.3)
        charset, octets = encoded
        text = decode_charset(octets, charset, guesser)
        return decode_words(text, guesser) if charset is None else text
    plain = parameters.get(name)
    # RFC 2047 §5 forbids encoded words here, and half the world sends them.
    return None if plain is None else decode_words(escape_octets(plain), guesser)


def octets_parameter(parameters: dict[str, str], name: str) -> bytes:
    """A parameter that is compared octet by octet: a boundary; b"" when absent."""
    plain = parameters.get(name)
    if plain is not None:
        return plain.encode("latin-1", "replace")
    encoded = _encoded_parameter(parameters, name) if parameters else None
    return b"" if encoded is None else encoded[1]


def _encoded_parameter(parameters: dict[str, str], name: str) -> tuple[str | None, bytes] | None:
    """(charset, octets) of a parameter in one of the forms of RFC 2231 §3 and §4; None when there is none."""
    extended = parameters.get(name + "*")
    if extended is not None:
        return _read_extended(extended)
    if name + "*0" in parameters or name + "*0*" in parameters:
        return _join_sections(parameters, name)
    return None


def _join_sections(parameters: dict[str, str], name: str) -> tuple[str | None, bytes]:
    """RFC 2231 §3 continuations, up to the first gap. Mailers that count characters cut within `%C3`."""
    charset = None
    escaped: list[str] = []
    pieces: list[bytes] = []
    for number in range(len(parameters)):
        encoded = parameters.get(f"{name}*{number}*")
        plain = parameters.get(f"{name}*{number}")
        if encoded is not None and number == 0:
            charset, encoded = _split_extended(encoded)
        if encoded is not None:
            escaped.append(encoded)
        elif plain is not None:
            pieces += [_unescaped("".join(escaped)), plain.encode("latin-1", "replace")]
            escaped.clear()
        else:
            break
    return charset, b"".join([*pieces, _unescaped("".join(escaped))])


def _read_extended(value: str) -> tuple[str | None, bytes]:
    charset, escaped = _split_extended(value)
    return charset, _unescaped(escaped)


def _split_extended(value: str) -> tuple[str | None, str]:
    """charset'language'%XX… as (charset, %XX…)."""
    fields = value.split("'", 2)
    return fields[0] if len(fields) == 3 and fields[0] else None, fields[-1]


def _unescaped(value: str) -> bytes:
    return unquote_to_bytes(value.encode("latin-1", "replace"))
