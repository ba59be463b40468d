"""Header fields for the wire: ASCII, folded, and unable to carry anything but their own value.

Lines aim at 78 octets (RFC 5322 §2.1.1) and never pass 998. Encoded words (RFC 2047) are utf-8, B
or Q, whichever is shorter, and split between code points; what is ASCII before them stays as it is.
Each `write_*` returns one whole field with its CRLF; each raises ComposeError rather than guess.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Sequence
from typing import Final

from maild.message.characters.surrogates import replace_surrogates
from maild.message.fields.address import MAX_PATH_OCTETS
from maild.message.fields.idn import ascii_domain
from maild.message.fields.mailboxes import read_mailboxes
from maild.message.model import Mailbox

MAX_LINE_OCTETS: Final = 998  # RFC 5322 §2.1.1
FOLD_OCTETS: Final = 78
# Of the header section of what is sent: Postfix keeps 100 KiB; 150 recipients take a tenth of it.
MAX_SENT_HEADER_BYTES: Final = 64 * 1024
_ENCODED_LINE_OCTETS = 76  # RFC 2047 §2: a line that holds an encoded word
_WORD_OCTETS = 75
_WORD_FRAME = len("=?utf-8?q??=")
# Longer than lines should be, but filters hold it against mail when ASCII is encoded (rspamd: FROM_EXCESS_QP).
_PLAIN_OCTETS = 200
_INDENT_MAX = 40  # an encoded word that would begin behind it begins the next line

_FIELD_NAME = re.compile(r"[!-9;-~]{1,76}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PLAIN_TEXT = re.compile(r"[ -~]*")
_PLAIN_BEGINNING = re.compile(r"(?:[!-~]{1,60} (?! ))*")
# A fold goes before a single blank, so that unfolding gives the very value back.
_FOLD = re.compile(r"(?<! ) (?=[^ ])")
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_VALUE = re.compile(r"[\t -~\u00a0-\u2027\u202a-\U0010ffff]*")
_MSG_ID = re.compile(r"<[!-;=?-~]{1,900}>")
_SIMPLE_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++(?>(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++)*)@[A-Za-z0-9._-]++"
)
_ADDRESS = re.compile(
    "(?P<local>[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\u00a1-\u1fff\u2030-\ud7ff\uf900-\U0010ffff-]++"
    r'|"(?>(?:[ !#-\[\]-~\u00a1-\u1fff]++|\\[ -~])*)")'
    "@(?P<domain>[\\w\u3002\uff0e\uff61.-]++|\\[[!-Z^-~]++\\])"
)
# Fields of one's own that name mailboxes: encoded as a whole they would name nobody.
ADDRESS_FIELDS: Final = frozenset(
    "reply-to mail-reply-to mail-followup-to disposition-notification-to return-receipt-to".split()
)
# RFC 2047 §5 (3): what Q may leave as it is inside a phrase; elsewhere that is enough too.
_Q_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")
_Q_OCTET = [chr(c) if c in _Q_PLAIN else "_" if c == 32 else f"={c:02X}" for c in range(256)]
_Q_COST = [len(text) for text in _Q_OCTET]


class ComposeError(ValueError):
    """A value that cannot be written safely; the text is short, public, and quotes no value."""


def write_text(name: str, value: str) -> str:
    """A field of human text (Subject): control characters become blanks, the rest comes through."""
    value = clean_text(value)
    if len(name) + 2 + len(value) <= FOLD_OCTETS and _is_plain(value):
        return _field(name, value)
    if _is_plain(value) and max(map(len, words := _FOLD.split(value))) <= _PLAIN_OCTETS:
        return _fold(name, words)
    return _encoded_text(name, value)


def write_extra(name: str, value: str) -> str:
    """A caller's own field. ASCII is folded at its blanks and never encoded; of the rest, mailboxes are written as such
    (ADDRESS_FIELDS), and what else is beyond ASCII is encoded."""
    if not _FIELD_NAME.fullmatch(name):
        raise ComposeError("header name is not a token")
    if not _VALUE.fullmatch(value):
        raise ComposeError("header value has control characters")
    value = value.replace("\t", " ").strip(" ")
    if name.lower() in ADDRESS_FIELDS:
        mailboxes = _mailboxes(name, value)
        if not value.isascii():
            return write_mailboxes(name, mailboxes)
    if not value.isascii():
        if name.lower().startswith("list-"):  # RFC 8058 §3.1: URLs; an encoded word breaks one-click
            raise ComposeError("list header value must be ASCII")
        return _encoded_text(name, clean_text(value))
    if len(name) + 2 + len(value) <= FOLD_OCTETS:
        return _field(name, value)
    return _fold(name, _FOLD.split(value))


def _field(name: str, value: str) -> str:
    return f"{name}: {value}\r\n" if value else f"{name}:\r\n"


def _encoded_text(name: str, value: str) -> str:
    """As encoded words from the first on that needs it; filters and threads look for a plain `Re:`."""
    plain = _PLAIN_BEGINNING.match(value.partition("=?")[0] if "=?" in value else value)
    assert plain is not None
    beginning = plain[0].split(" ")[:-1]
    indent = len(name) + 2 + plain.end()
    words = encode_words(value[plain.end() :], indent if indent <= _INDENT_MAX else 1)
    return _fold(name, [*beginning, *words], _ENCODED_LINE_OCTETS)


def _mailboxes(name: str, value: str) -> Sequence[Mailbox]:
    found = read_mailboxes(value)
    is_certain = not found.names_another and (value.isascii() or not found.is_irregular)
    if not found.mailboxes or not is_certain:
        raise ComposeError(
            f"{name} must be addresses, such as 'Ada <ada@example.org>', '\"Doe, Ada\" <ada@…>'"
        )
    return found.mailboxes


def write_mailboxes(name: str, mailboxes: Iterable[Mailbox]) -> str:
    """From, To, Cc, Reply-To. Non-ASCII local parts stay UTF-8 (RFC 6532), domains are A-labels."""
    words: list[str] = []
    is_encoded = False
    for mailbox in mailboxes:
        if words:
            words[-1] += ","
        address = safe_address(mailbox.address)
        phrase = _phrase(mailbox.name, len(name) + 2 if not words else 1) if mailbox.name else []
        is_encoded = is_encoded or (bool(phrase) and phrase[0].startswith("=?"))
        words += [*phrase, f"<{address}>"] if phrase else [address]
    return _fold(name, words, _ENCODED_LINE_OCTETS if is_encoded else FOLD_OCTETS)


def write_ids(name: str, ids: Sequence[str]) -> str:
    """Message-ID, In-Reply-To, References: never encoded, folded between the ids alone."""
    if not all(map(is_id, ids)):
        raise ComposeError(f"{name} is not <id>")
    return _fold(name, ids)


def is_id(value: str) -> bool:
    """Is it `<id>`, as a field of ids can have it?"""
    return _MSG_ID.fullmatch(value) is not None


def safe_address(address: str) -> str:
    """The address as it may stand in a field; raises ComposeError when it is none."""
    if len(address) <= MAX_PATH_OCTETS and _SIMPLE_ADDRESS.fullmatch(address):
        return address
    match = _ADDRESS.fullmatch(address) if len(address) <= MAX_PATH_OCTETS else None
    if match is None or ".." in match["local"].partition('"')[0] or match["local"][0] == ".":
        raise ComposeError("address is not valid")
    domain = match["domain"]
    if not domain.startswith("["):
        try:
            domain = ascii_domain(domain)
        except ValueError:
            raise ComposeError("address is not valid") from None
    return f"{match['local']}@{domain}"


def clean_text(value: str) -> str:
    """One line of real characters: controls become blanks, lone surrogates U+FFFD, ends trimmed."""
    if not value.isprintable():
        value = replace_surrogates(_CONTROLS.sub(" ", value))
    return value.strip(" ")


def encode_words(value: str, first_indent: int = 0) -> list[str]:
    """`value` as RFC 2047 §2 encoded words of at most 75 octets.

    The first word leaves `first_indent` octets of its line to what stands before it. Only the last word has padding:
    some readers (GMime 3.2, so notmuch and mu) join the base64 of neighbours before they decode it, and stop there.
    """
    characters = [character.encode("utf-8") for character in value]
    length = sum(map(len, characters))
    use_q = sum(_Q_COST[c] for one in characters for c in one) <= (length + 2) // 3 * 4
    words: list[str] = []
    room = min(_WORD_OCTETS, _ENCODED_LINE_OCTETS - first_indent) - _WORD_FRAME
    start = 0
    while start < len(characters) or not words:
        end, is_q = _fitting(characters, start, room, use_q), use_q
        if not use_q and end < len(characters):
            whole = _whole_groups(characters, start, end)
            end, is_q = (whole, False) if whole > start else (_fitting(characters, start, room, True), True)
        words.append(_encoded_word(b"".join(characters[start:end]), is_q))
        room = _WORD_OCTETS - 1 - _WORD_FRAME
        start = end
    return words


def _fitting(characters: Sequence[bytes], start: int, room: int, is_q: bool) -> int:
    """Where a word of so many octets of text ends that begins at `start`; it has a character at least."""
    used = 0
    for end in range(start, len(characters)):
        used += sum(_Q_COST[c] for c in characters[end]) if is_q else len(characters[end])
        if used > (room if is_q else room // 4 * 3) and end > start:
            return end
    return len(characters)


def _whole_groups(characters: Sequence[bytes], start: int, end: int) -> int:
    """The last place up to `end` behind which base64 has no padding; `start` where there is none."""
    length, last = 0, start
    for at in range(start, end):
        length += len(characters[at])
        last = at + 1 if length % 3 == 0 else last
    return last


def _encoded_word(octets: bytes, use_q: bool) -> str:
    if use_q:
        return "=?utf-8?q?" + "".join([_Q_OCTET[c] for c in octets]) + "?="
    return "=?utf-8?b?" + binascii.b2a_base64(octets, newline=False).decode("ascii") + "?="


def _is_plain(value: str) -> bool:
    # A literal "=?" must not be read as an encoded word that the author never wrote.
    return value.isascii() and "=?" not in value and _PLAIN_TEXT.fullmatch(value) is not None


def _phrase(name: str, indent: int) -> list[str]:
    """A display name as words that may be folded between: plain ones as one, since GMime 3.2 shows their fold."""
    name = clean_text(name)
    if not name:
        return []
    if name.isascii() and "=?" not in name and len(name) <= _PLAIN_OCTETS:
        if _ATOMS.fullmatch(name):
            return [name]
        return ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"']
    return encode_words(name, indent)


def _fold(name: str, words: Sequence[str], limit: int = FOLD_OCTETS) -> str:
    """`name: word word …`, broken before the blank of a word that would pass `limit`."""
    pieces = [name, ":"]
    column = len(name) + 1
    is_first = True
    for word in words:
        width = len(word) if word.isascii() else len(word.encode("utf-8"))
        if width > MAX_LINE_OCTETS - 1 - (len(name) + 1 if is_first else 0):
            raise ComposeError(f"{name} has a word too long for a line")
        if column + 1 + width > limit and not is_first:
            pieces.append("\r\n")
            column = 0
        pieces.append(" ")
        pieces.append(word)
        column += 1 + width
        is_first = False
    pieces.append("\r\n")
    return "".join(pieces)
