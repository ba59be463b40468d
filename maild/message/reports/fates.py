"""What a report says of recipients, and how addresses and reasons are read in all forms. Pure, tolerant, bounded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from maild.message.fields.address import normalize
from maild.message.fields.headers import Headers, read_headers
from maild.message.parsing.text import snippet
from maild.message.reports.bounces import is_permanent, telling_status

MAX_FATES: Final = 200  # a message of ours has 150 recipients at most
MAX_TEXT_CHARS: Final = 64 * 1024
DIAGNOSTIC_CHARS: Final = 1000
_ADDRESS_CHARS = 400  # RFC 5321 §4.5.3.1.3 has 256 octets; escapes take more

_CODE = re.compile(r"(?<![\w.#])([245]\d\d)(?=[ \t\-#;:]|$)")
_FAILURE_CODE = re.compile(r"(?<![\w.])([45]\d\d)(?=[ \t\-#;:]|$)", re.MULTILINE)
_CODES_MAX = 10
_UNITEXT = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,996}>")


@dataclass(frozen=True, slots=True)
class Fate:
    """What a delivery report says of one recipient.

    `addresses`: the comparison keys of what it is called there (final, original); empty when it is not
    named. `action` is RFC
    3464's word in lower case, "" for none. `enhanced` is the more telling of status and diagnostic. `mailbox`: the
    comparison key of the one that it was delivered to, or failed at, where the report tells; "" else.
    """

    addresses: tuple[str, ...]
    action: str
    code: int | None
    enhanced: str | None
    diagnostic: str
    host: str | None
    mailbox: str = ""


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """`message_ids`: those of the message that came back, with their brackets. `is_worded`: it has no form, only words
    that say that an address can't receive mail."""

    fates: tuple[Fate, ...]
    message_ids: tuple[str, ...]
    is_worded: bool = False


def addresses_in_values(values: Sequence[str]) -> tuple[str, ...]:
    """Their comparison keys, each once; what is not an address is left out."""
    found: dict[str, None] = {}
    for value in values:
        address = _address(value)
        # `@host` names nobody.
        if address.find("@") > 0 and len(address) <= _ADDRESS_CHARS and not any(map(str.isspace, address)):
            found[normalize(address)] = None
    return tuple(found)


def _address(value: str) -> str:
    """What stands in brackets, if some do, less a comment; plain finds, for a value may be anything."""
    value = value[: _ADDRESS_CHARS * 2]
    opening = value.find("<")
    closing = value.find(">", opening)
    if 0 <= opening < closing:
        value = value[opening + 1 : closing]
    elif value.endswith(")"):
        value = value[: max(value.rfind("("), 0)]
    return _UNITEXT.sub(_character, value.strip())  # RFC 6533 §3: utf-8-addr-unitext


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1], 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else escape[0]


def reply_code(diagnostic: str) -> int | None:
    """The first basic code in a diagnostic text."""
    found = _CODE.search(diagnostic)
    return int(found[1]) if found else None


def failed_fate(addresses: Sequence[str], words: str) -> Fate:
    """A recipient that failed, as words say. `addresses`: comparison keys."""
    diagnostic = snippet(words, DIAGNOSTIC_CHARS)
    return Fate(tuple(addresses), "failed", failure_code(words), telling_status("", words), diagnostic, None)


def failure_code(words: str) -> int | None:
    """The first code that refuses for good, else the first that refuses: before them may stand what a host said when it
    was greeted, or at first."""
    codes = [int(found[1]) for found in islice(_FAILURE_CODE.finditer(words), _CODES_MAX)]
    return next((code for code in codes if is_permanent(code)), codes[0] if codes else None)


def original_ids(originals: Sequence[Headers]) -> tuple[str, ...]:
    """The message ids of what came back."""
    values = (one.get("message-id") or "" for one in originals)
    return tuple(found[0] for value in values if (found := _MESSAGE_ID.search(value)))


def ids_in_text(header: str) -> tuple[str, ...]:
    """The same, of a header that stands in a text."""
    return original_ids([read_headers(header.encode("utf-8", "replace"))])
