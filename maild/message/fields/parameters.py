"""Content-Type and Content-Disposition values: RFC 2045 §5.1 with RFC 2231 parameters.

Values come as octet text (`Headers.octets`: one character an octet), names in lower case.
"""

from __future__ import annotations

import re
from itertools import islice
from urllib.parse import unquote_to_bytes

from maild.message.characters.decode import decode_charset
from maild.message.characters.encoded_words import decode_words
from maild.message.characters.guessing import Guesser
from maild.message.fields.comments import without_comments
from maild.message.fields.headers import escape_octets
from maild.message.fields.mailboxes import unescape

MAX_PARAMETERS = 1000

# Every attempt begins at a ";" and, outside quotes, ends at the next: linear. A comment may stand in front of a name
# (RFC 2045 §5.1).
_PARAMETER = re.compile(
    r';\s*+(?>\([^();"]*+\)\s*+|)([^=;\s"]++)\s*+=\s*+(?:"((?>(?:[^"\\]++|\\.)*))"?|([^;]*+))', re.DOTALL
)
_NAME = r"[!#$%&'*+.^_`{|}~0-9a-z-]{1,127}"
_MEDIA_TYPE = re.compile(rf"{_NAME}/{_NAME}")
_CHARSET = re.compile(r"[!-~]{1,64}")

OCTET_STREAM = "application/octet-stream"


def read_value(value: str) -> tuple[str, dict[str, str]]:
    """(first word in lower case, raw parameters; of a repeated one the first)."""
    head, semicolon, _ = value.partition(";")
    words = without_comments(head).lower().split(None, 1)
    word = words[0].partition(",")[0].strip('"') if words else ""  # as scripts write it
    if "(" in word:  # a comment that never ends
        word = word.partition("(")[0]
    if not semicolon:
        return word, {}
    parameters: dict[str, str] = {}
    for match in islice(_PARAMETER.finditer(value, len(head)), MAX_PARAMETERS):
        name, quoted, plain = match.groups()
        name = name.lower()
        parameters.setdefault(name, _token(name, plain) if quoted is None else unescape(quoted))
    return word, parameters


def _token(name: str, plain: str) -> str:
    """A value without quotes, and without a comment behind it; the names of files that programs forget to quote have
    parentheses of their own, as has `report (1).pdf`."""
    value = plain.strip()
    if value.endswith(")") and not name.startswith(("name", "filename")):
        words = value.split(None, 1)
        return words[0] if len(words) > 1 and words[1].startswith("(") else value
    return value


def media_type(word: str) -> str:
    """`type/subtype`, or what RFC 2045 §5.2 and §6.4 would have us assume instead."""
    if _MEDIA_TYPE.fullmatch(word):
        return word
    return "text/plain" if word in ("", "text") else OCTET_STREAM


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
