"""SPF records without DNS: the grammar (RFC 7208 §12) and the macros (§7).

Both are written by strangers. Reading is one pass over the octets; what a macro string becomes is bounded while it
grows, not cut afterwards.
"""

import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

RECORD_OCTETS_MAX = 8 * 1024  # RFC 7208 §3.4 wants 512; reading this much takes some milliseconds
TERMS_AT_ONCE = 100  # a tenth of a millisecond
MACROS_MAX = 100  # of one string; names and texts that need more than ten are not in use
NAME_CHARS_MAX = 253  # RFC 7208 §7.3
EXPLANATION_CHARS_MAX = 500

_VERSION = b"v=spf1"
_RESULTS = {"+": "pass", "": "pass", "-": "fail", "~": "softfail", "?": "neutral"}
_MODIFIER = re.compile(r"([a-z][a-z0-9._-]*)=(.*)", re.IGNORECASE)
_DIRECTIVE = re.compile(r"([+?~-]?)([a-z][a-z0-9]*)(.*)", re.IGNORECASE)
_CIDR = re.compile(r"(?:/([0-9]{1,3}))?(?://([0-9]{1,3}))?\Z")
_NETWORK = re.compile(r":([0-9a-f.:]{1,45})(?:/([0-9]{1,3}))?", re.IGNORECASE)
_TOKEN = re.compile(r"%\{([slodiphcrtv])([0-9]*)(r?)([-.+,/_=]*)\}|%([%_-])|([!-$&-~]+)", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9-]+", re.IGNORECASE)
_SIGNS = {"%": "%", "_": " ", "-": "%20"}


class SpfSyntaxError(ValueError):
    """A record or a text that breaks the grammar: permerror (RFC 7208 §4.6)."""


class Macro(NamedTuple):
    """`%{letter parts r delimiters}` of RFC 7208 §7.1; upper case asks for URL escapes. Or `%%`, `%_`, `%-`."""

    letter: str
    parts: int  # of the right; 0: all
    reverse: bool
    delimiters: str


MacroString = tuple[str | Macro, ...]


class Mechanism(NamedTuple):
    """`result` is what a match means. `prefix4` and `prefix6` are in bits; `network` is of ip4 and ip6 alone."""

    result: str
    kind: str
    domain: MacroString | None = None
    prefix4: int = 32
    prefix6: int = 128
    network: bytes = b""


class SpfTerms(NamedTuple):
    """Some of a record's, in its order."""

    mechanisms: list[Mechanism]
    modifiers: list[tuple[str, MacroString]]


class SpfRecord(NamedTuple):
    mechanisms: tuple[Mechanism, ...]
    redirect: MacroString | None
    exp: MacroString | None


def is_spf(record: bytes) -> bool:
    """Whether a TXT record is of version 1 (RFC 7208 §4.5)."""
    return record[:6].lower() == _VERSION and record[6:7] in (b"", b" ")


def parse_record(record: bytes) -> SpfRecord:
    """All of it, before anything is evaluated (RFC 7208 §4.6). Raises SpfSyntaxError."""
    return joined_terms(list(map(parse_terms, terms_of(record))))


def terms_of(record: bytes) -> list[list[str]]:
    """Its terms, in pieces of TERMS_AT_ONCE. Raises SpfSyntaxError."""
    if len(record) > RECORD_OCTETS_MAX:
        raise SpfSyntaxError("too long")
    terms = list(filter(None, _ascii(record)[len(_VERSION) :].split(" ")))
    return [terms[at : at + TERMS_AT_ONCE] for at in range(0, len(terms), TERMS_AT_ONCE)]


def parse_terms(terms: Sequence[str]) -> SpfTerms:
    """Some of the terms of a record. Raises SpfSyntaxError."""
    mechanisms: list[Mechanism] = []
    modifiers: list[tuple[str, MacroString]] = []
    for term in terms:
        if "=" in term and (modifier := _MODIFIER.fullmatch(term)):
            name = modifier[1].lower()
            if name in ("redirect", "exp"):
                modifiers.append((name, _domain_spec(modifier[2])))
            else:
                _macro_string(modifier[2])  # of unknown ones the syntax alone counts (RFC 7208 §6)
        else:
            mechanisms.append(_mechanism(term))
    return SpfTerms(mechanisms, modifiers)


def joined_terms(pieces: Sequence[SpfTerms]) -> SpfRecord:
    """The record whose terms these are. Raises SpfSyntaxError."""
    given = [modifier for piece in pieces for modifier in piece.modifiers]
    modifiers = dict(given)
    if len(modifiers) < len(given):
        raise SpfSyntaxError("a modifier twice")  # RFC 7208 §6
    mechanisms = tuple(mechanism for piece in pieces for mechanism in piece.mechanisms)
    return SpfRecord(mechanisms, modifiers.get("redirect"), modifiers.get("exp"))


def parse_explanation(text: bytes) -> MacroString:
    """The text that an `exp` leads to (RFC 7208 §6.2). Raises SpfSyntaxError."""
    if len(text) > RECORD_OCTETS_MAX:
        raise SpfSyntaxError("too long")
    words = _ascii(text).split(" ")
    return _bounded([part for word in words for part in (*_tokens(word), " ")][:-1])


def expand_name(string: MacroString, values: Mapping[str, str]) -> str | None:
    """A domain name of 253 characters at most: labels beyond that fall off its left side (RFC 7208 §7.3).

    None when a value is not ASCII: such a term matches nothing (RFC 8616 §4).
    """
    if not all(_value(part, values).isascii() for part in string):
        return None
    pieces: list[str] = []
    size = 0
    for part in reversed(string):
        pieces.append(_expanded(part, values))
        size += len(pieces[-1])
        if size > NAME_CHARS_MAX + 1:  # the rest would fall off, also without a dot at the end
            break
    name = "".join(reversed(pieces)).removesuffix(".")
    if len(name) <= NAME_CHARS_MAX:
        return name
    return name[-NAME_CHARS_MAX - 1 :].partition(".")[2]


def expand_text(string: MacroString, values: Mapping[str, str]) -> str | None:
    """An explanation, cut at its bound; None when it has characters that no reply line can hold."""
    text = ""
    for part in string:
        text += _expanded(part, values)
        if len(text) > EXPLANATION_CHARS_MAX:
            break
    text = text[:EXPLANATION_CHARS_MAX]
    return text if text.isascii() and text.isprintable() else None


def uses(string: MacroString, letter: str) -> bool:
    """Whether a macro of this (lower-case) letter is in it."""
    return any(isinstance(part, Macro) and part.letter.lower() == letter for part in string)


def _expanded(part: str | Macro, values: Mapping[str, str]) -> str:
    value = _value(part, values)
    if isinstance(part, str):
        return value
    if part.parts or part.reverse or part.delimiters:
        split = value.translate(dict.fromkeys(map(ord, part.delimiters or "."), "\0")).split("\0")
        if part.reverse:
            split.reverse()
        value = ".".join(split[-part.parts :])
    if part.letter.isupper():
        value = quote(value, safe="-._~", errors="replace")  # RFC 7208 §7.3
    return value


def _value(part: str | Macro, values: Mapping[str, str]) -> str:
    if isinstance(part, str):
        return part
    return _SIGNS.get(part.letter) or values[part.letter.lower()]


def _ascii(octets: bytes) -> str:
    try:
        return octets.decode("ascii")
    except UnicodeDecodeError:
        raise SpfSyntaxError("not ASCII") from None


def _mechanism(term: str) -> Mechanism:
    directive = _DIRECTIVE.fullmatch(term)
    if directive is None or (kind := directive[2].lower()) not in _MECHANISMS:
        raise SpfSyntaxError("neither mechanism nor modifier")
    return _MECHANISMS[kind](_RESULTS[directive[1]], kind, directive[3])


def _all(result: str, kind: str, rest: str) -> Mechanism:
    if rest:
        raise SpfSyntaxError("all takes nothing")
    return Mechanism(result, kind)


def _with_domain(result: str, kind: str, rest: str) -> Mechanism:
    return Mechanism(result, kind, _domain_behind(kind, rest))


def _perhaps_with_domain(result: str, kind: str, rest: str) -> Mechanism:
    return Mechanism(result, kind, _domain_behind(kind, rest) if rest else None)


def _domain_behind(kind: str, rest: str) -> MacroString:
    if not rest.startswith(":"):
        raise SpfSyntaxError(f"{kind} without a domain")
    return _domain_spec(rest[1:])


def _with_prefixes(result: str, kind: str, rest: str) -> Mechanism:
    cidr = _CIDR.search(rest)
    if cidr is None:
        raise SpfSyntaxError("not a CIDR length")
    before = rest[: cidr.start()]
    domain = _domain_behind(kind, before) if before else None
    return Mechanism(result, kind, domain, _prefix(cidr[1], 32), _prefix(cidr[2], 128))


def _network4(result: str, kind: str, rest: str) -> Mechanism:
    network, prefix = _network(rest, socket.AF_INET)
    return Mechanism(result, kind, prefix4=_prefix(prefix, 32), network=network)


def _network6(result: str, kind: str, rest: str) -> Mechanism:
    network, prefix = _network(rest, socket.AF_INET6)
    return Mechanism(result, kind, prefix6=_prefix(prefix, 128), network=network)


def _network(rest: str, family: int) -> tuple[bytes, str | None]:
    network = _NETWORK.fullmatch(rest)
    if network is None:
        raise SpfSyntaxError("not a network")
    try:
        return socket.inet_pton(family, network[1]), network[2]
    except OSError:
        raise SpfSyntaxError("not a network") from None


def _prefix(digits: str | None, bits: int) -> int:
    if digits is None:
        return bits
    if (digits[0] == "0" and digits != "0") or int(digits) > bits:
        raise SpfSyntaxError("not a CIDR length")
    return int(digits)


# Of the result of a match, the kind, and what stands behind its name.
_MECHANISMS: dict[str, Callable[[str, str, str], Mechanism]] = {
    "all": _all,
    "include": _with_domain,
    "a": _with_prefixes,
    "mx": _with_prefixes,
    "ptr": _perhaps_with_domain,
    "ip4": _network4,
    "ip6": _network6,
    "exists": _with_domain,
}


def _domain_spec(text: str) -> MacroString:
    """`macro-string domain-end` of RFC 7208 §7.1."""
    string = _macro_string(text)
    if any(uses(string, letter) for letter in "crt"):
        raise SpfSyntaxError("a macro of explanations")  # RFC 7208 §7.2
    if not string or isinstance(string[-1], str):
        _check_top_label(text)
    return string


def _check_top_label(text: str) -> None:
    _, dot, label = text.removesuffix(".").rpartition(".")
    if not dot or not _LABEL.fullmatch(label) or label.isdigit() or "-" in (label[0], label[-1]):
        raise SpfSyntaxError("a domain without a top label")


def _macro_string(text: str) -> MacroString:
    return _bounded(list(_tokens(text)))


def _tokens(text: str) -> Iterator[str | Macro]:
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise SpfSyntaxError("not a macro string")
        place = token.end()
        letter, digits, reverse, delimiters, sign, literal = token.groups()
        yield literal or Macro(letter or sign, _parts(digits), bool(reverse), delimiters or "")


def _parts(digits: str | None) -> int:
    if not digits:
        return 0
    if not digits.strip("0"):
        raise SpfSyntaxError("no parts at all")  # RFC 7208 §7.1: DIGIT MUST be nonzero
    return int(digits.lstrip("0")[:4])  # no name has a thousand labels


def _bounded(parts: list[str | Macro]) -> MacroString:
    if sum(isinstance(part, Macro) for part in parts) > MACROS_MAX:
        raise SpfSyntaxError("too many macros")
    return tuple(parts)
