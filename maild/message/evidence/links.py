"""Where links lead, against what they show, and images that carry something away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from maild.message.evidence.finding import Kind
from maild.message.evidence.gateway_links import behind_gateway
from maild.message.fields.idn import ascii_domain, unicode_domain

MAX_URL_CHARS: Final = 4000
DATA_CHARS: Final = 32  # of one value of a query
_SHOWN = re.compile(
    r"\s*(?:[a-z][a-z0-9+.-]{1,10}://)?(?:[\w.%+-]{1,64}@)?((?:[\w\u00a1-\uffff-]{1,63}\.){1,8}[a-z\u00a1-\uffff]{2,24})"
    r"(?::\d{1,5})?(?:[/?#]\S*)?\s*",
    re.IGNORECASE,
)
_SCHEMES = frozenset(["", "http", "https", "mailto", "tel", "cid", "sms", "callto", "webcal", "geo"])
_SCHEME = re.compile(r"[\s\x00-\x20]*([a-z][a-z0-9+.\s\x00-\x20-]{0,30}):", re.IGNORECASE)
_SECOND_LEVEL = frozenset("ac co com edu gob gov gouv ltd me mil ne net nhs nom or org plc sch".split())
_PLACEHOLDER = re.compile(
    r"\{[^{}]{1,60}\}|%7b|\[(?:data|secret|insert|base64)[^\]]{0,40}\]|<[a-z_ ]{2,40}>", re.IGNORECASE
)
_NUMERIC_HOST = re.compile(  # as browsers read addresses: one number, or up to four, also hexadecimal
    r"\d{1,10}|0x[0-9a-f]{1,8}|(?:(?:0x[0-9a-f]{1,2}|0?\d{1,3})\.){1,3}(?:0x[0-9a-f]{1,6}|\d{1,8})"
)
_MARKDOWN = re.compile(
    r"(!?)\[([^\[\]\n]{0,300}+)\]\(\s{0,3}+<?+([a-z][a-z0-9+.-]{1,10}:[^\s()<>]{1,2000}+)>?+[^()\n]{0,200}+\)"
    r"|^[ \t]{0,3}\[([^\[\]\n]{1,100}+)\]:[ \t]{0,3}+<?+([a-z][a-z0-9+.-]{1,10}://[^\s<>]{1,2000}+)>?+",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN_URL = re.compile(r"https?://([a-z0-9.-]+)(?=[/?#][\x21-\x7e]*\Z|\Z)", re.ASCII | re.IGNORECASE)
# Browsers take any number of slashes, also none, and either kind (URL Standard, "special authority slashes state").
_AUTHORITY = re.compile(r"(https?:)[/\\]*+|[/\\]{2,}+", re.IGNORECASE)
_ORIGIN = re.compile(rf"(?:{_AUTHORITY.pattern})[^/\\?#]*+", re.IGNORECASE)
_EXECUTABLE_NAMES = frozenset(
    ["zip", "py", "sh", "md", "rs", "mov", "pl", "ps", "so"]
)  # names of files, and domains


class LinkFact(NamedTuple):
    """One thing to tell of a link. `shown`, `target`: hosts, or the scheme."""

    kind: Kind
    shown: str | None = None
    target: str | None = None


def link_facts(shown: str, href: str, author_domain: str | None) -> list[LinkFact]:
    """Of a link with that text. `author_domain`: of who verifiably wrote: their own domain may lead through others'."""
    found: list[LinkFact] = []
    scheme = _scheme(href)
    if scheme not in _SCHEMES:
        return [LinkFact("link_scheme", target=scheme[:40])]
    parts = _split(behind_gateway(_without_blanks(href)))
    if parts is None or parts.host is None:
        return found
    if parts.is_address:
        found.append(LinkFact("link_ip", target=parts.host))
    if parts.has_user:
        found.append(LinkFact("link_userinfo", target=parts.host))
    if "xn--" in parts.host:
        found.append(LinkFact("link_punycode", shown=unicode_domain(parts.host)[:253], target=parts.host))
    named = shown_host(shown)
    if named is None or are_related(named, parts.host):
        return found
    if author_domain is None or not are_related(named, author_domain):
        found.append(LinkFact("link_text_mismatch", named, parts.host))
    return found


def resolved(href: str, base: str) -> str:
    """Where a link leads in a page whose `<base>` says so: a host, which a path alone leaves as it is."""
    if not base or _scheme(href) or _AUTHORITY.match(_without_blanks(href[:MAX_URL_CHARS])):
        return href
    origin = _ORIGIN.match(_without_blanks(base[:MAX_URL_CHARS]))
    return base if origin is None else origin[0]


def shown_host(text: str) -> str | None:
    """The host that a link's text shows, as an A-label; None where it shows none, or the name of a file."""
    if len(text) > 300 or "." not in text:
        return None
    found = _SHOWN.fullmatch(text)
    if found is None:
        return None
    name = found[1].lower()
    is_bare = name == text.strip().lower()
    if is_bare and name.rpartition(".")[2] in _EXECUTABLE_NAMES:
        return None
    try:
        return ascii_domain(name)
    except ValueError:
        return None


def are_related(one: str, other: str) -> bool:
    """One organization's by their names: equal, or alike up to what is registered (a guess without a list)."""
    return registered(one) == registered(other)


def registered(host: str) -> str:
    """The last two labels, three where the second is one that countries give out below (`co.uk`)."""
    labels = host.lower().rstrip(".").split(".")
    is_third = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3 if is_third else -2 :])


def carries_data(source: str) -> bool:
    """Would fetching this image tell its host something long, or something to be filled in?"""
    if len(source) > MAX_URL_CHARS or not re.match(r"\s*(?:https?:)?//", source, re.IGNORECASE):
        return False
    if _PLACEHOLDER.search(source):
        return True
    _, _, query = source.partition("?")
    return any(len(one.partition("=")[2]) >= DATA_CHARS for one in query.split("&"))


class MarkdownLink(NamedTuple):
    """A link, image or reference definition in `text[start:end]`."""

    start: int
    end: int
    shown: str
    target: str
    is_reference: bool  # an image or a definition: what a host may fetch or hide by itself


def markdown_links(text: str) -> Iterator[MarkdownLink]:
    """Links as Markdown writes them. Linear."""
    if "](" not in text and "]:" not in text:
        return
    for found in _MARKDOWN.finditer(text):
        is_definition = found[4] is not None
        shown, target = (found[4], found[5]) if is_definition else (found[2], found[3])
        yield MarkdownLink(found.start(), found.end(), shown, target, bool(found[1]) or is_definition)


class _Parts(NamedTuple):
    host: str | None
    has_user: bool
    is_address: bool


def _scheme(href: str) -> str:
    found = _SCHEME.match(href[:100])
    # A browser leaves out blanks and controls.
    return "" if found is None else re.sub(r"[\s\x00-\x20]", "", found[1]).lower()


def _without_blanks(href: str) -> str:
    return re.sub(r"[\t\r\n]", "", href).strip()


def _split(href: str) -> _Parts | None:
    if (plain := _PLAIN_URL.match(href)) is not None and len(href) <= MAX_URL_CHARS:
        host = plain[1].lower().rstrip(".")
        return _Parts(host, False, _is_address(host)) if host else None
    href = _without_blanks(href)
    lead = _AUTHORITY.match(href)
    if len(href) > MAX_URL_CHARS or lead is None:
        return None
    try:
        parts = urlsplit(f"{lead[1] or ''}//{href[lead.end() :]}".replace("\\", "/"))
        host = unquote(parts.hostname or "").lower().rstrip(".")
    except ValueError:
        return None
    if not host:
        return None
    try:
        name = ascii_domain(host)
    except ValueError:
        name = host[:253]
    return _Parts(name, "@" in parts.netloc, _is_address(name))


def _is_address(host: str) -> bool:
    if _NUMERIC_HOST.fullmatch(host):
        return True
    if ":" not in host:  # all but those of IPv6 are numbers
        return False
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
