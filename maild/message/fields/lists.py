"""What mail says of the mailing list that it comes by (RFC 2369, RFC 2919, RFC 8058). Anybody may write such fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

from maild.message.characters.encoded_words import readable
from maild.message.fields.headers import Headers

MAX_LINKS: Final = 5
MAX_LINK_CHARS: Final = 2000
_LINK = re.compile(rf"<\s*((?:mailto|https?):[^<>]{{1,{MAX_LINK_CHARS}}})>", re.IGNORECASE)
# What senders write that forget the brackets; a comma may stand in a link, but parts it from another.
_BARE_LINK = re.compile(
    r"(?:\A|[\s,])((?:mailto:\s?|https?:)"
    rf"(?:[^\s<>,]|,(?!mailto:|https?:)(?=[^\s<>,])){{1,{MAX_LINK_CHARS}}})",
    re.IGNORECASE,
)
_ID = re.compile(r"<\s*([^\s<>]{1,255})\s*>")  # RFC 2919 §3
_ONE_CLICK: Final = "list-unsubscribe=one-click"  # RFC 8058 §3.1
_BLANKS = re.compile(r"\s+")


class MailingList(NamedTuple):
    """`post`: the address by which one writes to all of its members. `unsubscribe`: URLs, mailto: among them;
    `oneClick`: a POST of RFC 8058 to the one of https unsubscribes."""

    id: str | None
    post: str | None
    unsubscribe: tuple[str, ...]
    oneClick: bool


def read_list(headers: Headers) -> MailingList | None:
    """None where the mail names none."""
    named = _ID.findall(_value(headers, "list-id"))
    # RFC 2369 §3.4: NO of a list to which nobody posts.
    post = next((_address(link) for link in _links(headers, "list-post") if _is_mailto(link)), None)
    unsubscribe = tuple(_links(headers, "list-unsubscribe"))
    if not named and post is None and not unsubscribe:
        return None
    says_one_click = (headers.get("list-unsubscribe-post") or "").strip().lower() == _ONE_CLICK
    has_https = any(link[:6].lower() == "https:" for link in unsubscribe)
    return MailingList(named[-1] if named else None, post, unsubscribe, says_one_click and has_https)


def _links(headers: Headers, name: str) -> Iterator[str]:
    """RFC 2369 §2: URLs in angle brackets, in which blanks mean nothing."""
    value = _value(headers, name)
    found = (_LINK if "<" in value else _BARE_LINK).findall(value)
    return (_BLANKS.sub("", link) for link in found[:MAX_LINKS])


def _value(headers: Headers, name: str) -> str:
    """Python's email library takes links that fit no line for words of a text, and encodes them."""
    return readable(headers.get(name) or "")


def _is_mailto(link: str) -> bool:
    return link[:7].lower() == "mailto:"


def _address(link: str) -> str:
    return unquote(link[7:].partition("?")[0])
