"""The one author of a message, or nobody.

DMARC protects what one mailbox says, so that must be the one that people are shown. Mail readers differ: some take the
last of two From fields, some decode encoded words before they look for addresses, some drop controls or end a line at a
bare CR. Where one of them could show another address than the others there is no author, and a defect says why:

    no-author            no From field, or none that names a mailbox
    several-from-fields  RFC 5322 §3.6 allows one
    several-authors      one field that names several; `Sender` makes none of them the author
    ambiguous-author     a form that readers read differently
"""

from __future__ import annotations

from typing import Final

from maild.message.characters.encoded_words import decode_words, hides_controls
from maild.message.characters.guessing import Guesser
from maild.message.fields.headers import MAX_HEADER_FIELDS, Headers, has_field, is_read_alike
from maild.message.fields.mailboxes import AddressReading, read_mailboxes
from maild.message.model import Mailbox
from maild.message.octets import Buffer

NO_AUTHOR: Final = "no-author"
SEVERAL_FROM_FIELDS: Final = "several-from-fields"
SEVERAL_AUTHORS: Final = "several-authors"
AMBIGUOUS_AUTHOR: Final = "ambiguous-author"

MAX_DECODED_CHARS: Final = 2000  # of a From field that is read twice; honest ones have some hundred

_SPECIALS = frozenset('()<>[]:;@\\,"')  # RFC 5322 §3.2.3, but for the dot


def find_author(
    headers: Headers, section: bytes, rest: tuple[Buffer, int, int], guesser: Guesser
) -> tuple[Mailbox | None, str | None]:
    """(the author, None), or (None, a defect).

    `section`: what `headers` was read of. `rest`: (message, start, end) of what is over the limits of a header.
    """
    values = headers.escaped("from")
    if len(values) > 1 or (values and has_field(*rest, b"from")):
        return None, SEVERAL_FROM_FIELDS
    if len(headers) >= MAX_HEADER_FIELDS or not is_read_alike(section, "from", headers):
        return None, AMBIGUOUS_AUTHOR
    return read_author(values[0], guesser) if values else (None, NO_AUTHOR)


def named_authors(
    headers: Headers, section: bytes, defect: str | None, guesser: Guesser
) -> tuple[Mailbox, ...]:
    """Whom a From field names that has no one author: several, or the members of a group (RFC 6854 §2). Nobody, where
    readers could see others."""
    if defect not in (SEVERAL_AUTHORS, AMBIGUOUS_AUTHOR) or len(headers) >= MAX_HEADER_FIELDS:
        return ()
    if not is_read_alike(section, "from", headers):
        return ()
    (value,) = headers.escaped("from")
    reading = read_mailboxes(value, guesser)
    if reading.names_another:
        return ()
    if "=?" in value:
        if len(value) > MAX_DECODED_CHARS or hides_controls(value):
            return ()
        decoded = read_mailboxes(decode_words(value, guesser), guesser)
        if decoded.names_another or _addresses(decoded) != _addresses(reading):
            return ()
    return reading.mailboxes


def _addresses(reading: AddressReading) -> list[str]:
    return [one.address for one in reading.mailboxes]


def read_author(value: str, guesser: Guesser) -> tuple[Mailbox | None, str | None]:
    """(the one mailbox of a From field, None), or (None, a defect)."""
    reading = read_mailboxes(value, guesser)
    if len(reading.mailboxes) > 1:
        return None, SEVERAL_AUTHORS
    if not reading.mailboxes:
        return None, AMBIGUOUS_AUTHOR if reading.is_irregular else NO_AUTHOR
    if reading.is_irregular or not _is_alike_decoded(value, reading, guesser):
        return None, AMBIGUOUS_AUTHOR
    return reading.mailboxes[0], None


def _is_alike_decoded(value: str, reading: AddressReading, guesser: Guesser) -> bool:
    """Whether those who decode first, and look for addresses then, find the same one."""
    if "=?" not in value:
        return True
    author = reading.mailboxes[0]
    if "(" not in value and "=?" not in author.address and author.name and _SPECIALS.isdisjoint(author.name):
        return True  # as most names are
    if len(value) > MAX_DECODED_CHARS or hides_controls(value):
        return False
    decoded = read_mailboxes(decode_words(value, guesser), guesser)
    return _addresses(decoded) == [author.address] and not decoded.names_another
