"""Addresses: the strict readers of SMTP paths and API input, and the key that compares them.

The tolerant reader of header fields is `mailboxes`; its `parse_mailboxes` is offered here too.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import email_validator
from email_validator.rfc_constants import CASE_INSENSITIVE_MAILBOX_NAMES

from maild.message.fields.idn import ascii_domain, has_fit_labels
from maild.message.fields.mailboxes import parse_mailboxes, quote_local, unescape
from maild.message.model import Mailbox

__all__ = [
    "BOUNCE_PREFIX",
    "AddressSyntaxError",
    "Mailbox",
    "ParameterSyntaxError",
    "Path",
    "normalize",
    "parse_mailboxes",
    "parse_path",
    "split",
    "strip_plus",
    "suppression_keys",
    "validate",
]

# Our envelope senders are `b+<token>@domain`: sending writes them, receiving recognises what comes back.
BOUNCE_PREFIX: Final = "b+"

MAX_LOCAL_OCTETS: Final = 64  # RFC 5321 §4.5.3.1.1
MAX_DOMAIN_OCTETS: Final = 255  # RFC 5321 §4.5.3.1.2
MAX_PATH_OCTETS: Final = 256  # RFC 5321 §4.5.3.1.3, the angle brackets included
MAX_ARGUMENT_OCTETS: Final = 2048
MAX_ADDRESS_OCTETS: Final = MAX_PATH_OCTETS - 2
DOMAINS_KEPT: Final = 1024

_UTF8 = "\u0080-\U0010ffff"  # RFC 6531 §3.3; refused where SMTPUTF8 was not asked for
# RFC 5321 §4.1.2 has dots between atoms alone, but carriers gave millions of people addresses with others.
_DOTTED = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~.{_UTF8}-]++"
# Underscores and a last dot are not in the grammar either, but hosts with either send mail.
_LABEL = rf"(?!-)[A-Za-z0-9_{_UTF8}-]++(?<!-)"
_DOMAIN_TEXT = rf"{_LABEL}(?>(?:\.{_LABEL})*)\.?"
_QUOTED = rf'"(?>(?:[ !#-\[\]-~{_UTF8}]++|\\[ -~])*)"'
_DOMAIN = re.compile(_DOMAIN_TEXT)
_ROUTE = re.compile(rf"@{_DOMAIN_TEXT}(?>(?:,@{_DOMAIN_TEXT})*):")
_UNQUOTED = re.compile(_DOTTED)
_LOCAL = re.compile(rf"(?:{_DOTTED}|{_QUOTED})")
_LITERAL = re.compile(r"\[[!-Z^-~]{1,253}\]")
_PARAMETER = re.compile(rf"([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~{_UTF8}]+))?")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LITERAL_TAG = re.compile(r"[A-Za-z0-9-]*[A-Za-z0-9]:[!-Z^-~]+")
_DOT_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++(?>(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++)*)")


_TOO_LONG = f"The email address is longer than {MAX_ADDRESS_OCTETS} octets."


class AddressSyntaxError(ValueError):
    """An address that the grammar refuses; the text is short, public, and quotes no input."""


class ParameterSyntaxError(AddressSyntaxError):
    """What follows the address of a command is at fault, and not the address."""


@dataclass(frozen=True, slots=True)
class Path:
    """What followed `MAIL FROM:` or `RCPT TO:`.

    `address` is "" for `<>` and has neither brackets nor source route; parameter names are upper
    case, values as given, None where there was no "=".
    """

    address: str
    parameters: dict[str, str | None]


def parse_path(argument: bytes, *, smtputf8: bool = False) -> Path:
    """Read RFC 5321 §4.1.2 `Reverse-path`/`Forward-path` with its parameters; blanks before it pass.

    UTF-8 needs `smtputf8` (the session's) or the parameter SMTPUTF8 beside it (RFC 6531 §3.4).
    `Postmaster` alone needs no domain (§4.1.1.3). Raises AddressSyntaxError for anything else.
    """
    text = _decode_argument(argument)
    if not text.startswith("<"):
        raise AddressSyntaxError("the path must stand in angle brackets")
    path, end = _read_path(text)
    parameters = _read_parameters(text[end:])
    if not text.isascii() and not smtputf8 and "SMTPUTF8" not in parameters:
        raise AddressSyntaxError("non-ASCII text needs SMTPUTF8")
    return Path(path, parameters)


def split(address: str) -> tuple[str, str]:
    """(local part, domain) at the last "@"; a text without one is all local part."""
    local, at, domain = address.rpartition("@")
    return (local, domain) if at else (address, "")


def is_within(domain: str, parent: str) -> bool:
    """Is the domain that one, or below it? Both in the same form and case."""
    return domain == parent or domain.endswith(f".{parent}")


def is_named(host: str, names: Container[str]) -> bool:
    """Is the host one of the names? Both in the same form and case. A wildcard stands for one label (RFC 6125 §6.4.3 of
    certificates, RFC 8461 §4.1 of policies)."""
    _, dot, rest = host.partition(".")
    return host in names or (bool(dot) and f"*.{rest}" in names)


def strip_plus(local: str) -> str:
    """The local part without its `+tag`; one that begins with "+" stays whole."""
    return local.partition("+")[0] or local


def normalize(address: str) -> str:
    """The key that decides whether two addresses are the same one.

    Local part: unquoted where that is legal but for its dots, NFC, folded case. Domain: lower-case A-label without
    a last dot. Total: what is not an address comes back folded.
    """
    if address.isascii() and '"' not in address:
        return address.lower().removesuffix(".")
    local, domain = split(address)
    if len(local) > 1 and local.startswith('"') and local.endswith('"'):
        content = unescape(local[1:-1])
        local = content if _UNQUOTED.fullmatch(content) else quote_local(content)
    local = unicodedata.normalize("NFC", unicodedata.normalize("NFC", local).casefold())
    try:
        domain = ascii_domain(domain)
    except ValueError:
        domain = unicodedata.normalize("NFC", domain).casefold().removesuffix(".")
    return f"{local}@{domain}" if "@" in address else local


def with_legal_dots(address: str) -> str:
    """The address with its local part in quotes where its dots need them (RFC 5321 §4.1.2)."""
    local, domain = split(address)
    return f"{quote_local(local)}@{domain}" if _UNQUOTED.fullmatch(local) else address


def with_ascii_domain(address: str) -> str:
    """The address with its domain as A-labels; unchanged where it is ASCII, or has none."""
    local, at, domain = address.rpartition("@")
    if domain.isascii():
        return address
    try:
        return local + at + ascii_domain(domain)
    except ValueError:
        return address


def suppression_keys(address: str) -> tuple[str, ...]:
    """The keys under which an address may be suppressed: its own, and that of the same mailbox without a tag.

    A person who asked for no more mail at `ada@` does not want it at `ada+news@` either.
    """
    key = normalize(address)
    local, domain = split(key)
    plain = strip_plus(local)
    return (key,) if plain == local else (key, f"{plain}@{domain}")


def validate(address: str) -> str:
    """An API address in the form to send to: local part kept, domain as A-label.

    Syntax alone, no DNS; special-use names (.test, .invalid, .local, …) pass. Raises
    AddressSyntaxError for everything else, display names among it.
    """
    local, domain = split(address)
    if _is_plain(local) and len(address) <= MAX_ADDRESS_OCTETS:
        known = _plain_domain(domain)
        if known is not None:
            return f"{local}@{known}"
    return _validate(address)


def _is_plain(local: str) -> bool:
    """Is it valid as it stands, before any domain? RFC 2142's names are not: they are folded."""
    return (
        len(local) <= MAX_LOCAL_OCTETS
        and _DOT_ATOM.fullmatch(local) is not None
        and local.lower() not in CASE_INSENSITIVE_MAILBOX_NAMES
    )


# Of mail to many people most is to few domains, and reading one costs 20 µs and more.
@lru_cache(DOMAINS_KEPT)
def _plain_domain(domain: str) -> str | None:
    """The domain as A-label; None where it is none, or where how it is written counts for the address's length."""
    if not domain.isascii() or "xn--" in domain.lower():
        return None
    try:
        return split(_validate(f"a@{domain}"))[1]
    except AddressSyntaxError:
        return None


def _validate(address: str) -> str:
    if len(address) > MAX_PATH_OCTETS * 4:
        raise AddressSyntaxError(_TOO_LONG)
    if _UNSAFE.search(address):
        raise AddressSyntaxError("Control characters are not allowed in an email address.")
    domain = split(address)[1]
    if not domain.isascii() and len(domain) <= MAX_DOMAIN_OCTETS and not has_fit_labels(domain):
        raise AddressSyntaxError("A label of the part after the @-sign is too long.")
    shown, special = _without_special_use(address)
    try:
        checked = email_validator.validate_email(
            shown,
            check_deliverability=False,
            strict=True,
            allow_display_name=False,
            allow_quoted_local=True,  # RFC 5321 §4.1.2
        )
    except (email_validator.EmailNotValidError, ValueError) as error:
        raise AddressSyntaxError(_fault_of(address, error)) from None
    domain = checked.ascii_domain
    if special:
        domain = domain.removesuffix(_STAND_IN) + special
    return _of_fit_length(checked.local_part, domain.lower())


def _of_fit_length(local: str, domain: str) -> str:
    """The address. The package counts characters of local parts, without their quotes; RFC 5321 §4.5.3.1 octets."""
    address = f"{local}@{domain}"
    if len(local.encode()) > MAX_LOCAL_OCTETS:
        raise AddressSyntaxError(f"The part before the @-sign is longer than {MAX_LOCAL_OCTETS} octets.")
    if len(address.encode()) > MAX_ADDRESS_OCTETS:
        raise AddressSyntaxError(_TOO_LONG)
    return address


# The package refuses special-use names by a process-wide list. Rather than change that for
# everybody, they are checked under a name of no special use.
_STAND_IN = "a.io"


def _fault_of(address: str, error: Exception) -> str:
    """What is wrong with it. Of a name or a second address the package says that a domain is reserved, or has a comma
    in it; surrogates make it fail below its own errors."""
    if address.endswith(">"):
        return "Give the bare address, without a name and angle brackets."
    if address.count("@") > 1 and '"' not in address:
        return "One address is expected; each other one is an item of its own."
    is_own = isinstance(error, email_validator.EmailNotValidError)
    return str(error) if is_own else "The email address is not valid."


def _without_special_use(address: str) -> tuple[str, str]:
    """(address with a stand-in for a special-use ending, that ending or "")."""
    local, domain = split(address)
    folded = domain.lower()
    for name in email_validator.SPECIAL_USE_DOMAIN_NAMES:
        if is_within(folded, name):
            return f"{local}@{folded.removesuffix(name)}{_STAND_IN}", name
    return address, ""


def _decode_argument(argument: bytes) -> str:
    if len(argument) > MAX_ARGUMENT_OCTETS:
        raise AddressSyntaxError("the path is too long")
    try:
        text = argument.decode("utf-8")
    except UnicodeDecodeError:
        raise AddressSyntaxError("the path is not UTF-8") from None
    text = text.strip(" \t\r\n")
    if _UNSAFE.search(text):
        raise AddressSyntaxError("control characters are not allowed")
    return text


def _read_path(text: str) -> tuple[str, int]:
    """(address, index behind the closing bracket)."""
    if text.startswith("<>"):
        return "", 2
    route = _ROUTE.match(text, 1)  # RFC 5321 §4.1.1.3: accepted and ignored
    start = 1 if route is None else route.end()
    local = _LOCAL.match(text, start)
    if local is None:
        raise AddressSyntaxError("the local part is not valid")
    end = local.end()
    if text.startswith("@", end):
        domain, end = _read_domain(text, end + 1)
    elif local[0].lower() == "postmaster":
        domain = ""
    else:
        raise AddressSyntaxError("the local part is not valid, or the domain is missing")
    if not text.startswith(">", end):
        raise AddressSyntaxError("the closing angle bracket is missing")
    # RFC 5321 §4.5.3.1: no limits where they can be avoided. Who forwards writes a sender (SRS) around another one.
    if len(domain.encode()) > MAX_DOMAIN_OCTETS or len(text[: end + 1].encode()) > MAX_PATH_OCTETS:
        raise AddressSyntaxError("the address is too long")
    return (f"{local[0]}@{domain.removesuffix('.')}" if domain else local[0]), end + 1


def _read_domain(text: str, start: int) -> tuple[str, int]:
    if text.startswith("[", start):
        literal = _LITERAL.match(text, start)
        if literal is None or not _is_literal(literal[0][1:-1]):
            raise AddressSyntaxError("the address literal is not valid")
        return literal[0], literal.end()
    domain = _DOMAIN.match(text, start)
    if domain is None:
        raise AddressSyntaxError("the domain is not valid")
    return domain[0], domain.end()


def _is_literal(content: str) -> bool:
    """RFC 5321 §4.1.3."""
    try:
        if content[:5].lower() == "ipv6:":
            ipaddress.IPv6Address(content[5:])
        elif ":" not in content:
            ipaddress.IPv4Address(content)
        else:
            return _LITERAL_TAG.fullmatch(content) is not None
    except ValueError:
        return False
    return True


def _read_parameters(text: str) -> dict[str, str | None]:
    """RFC 5321 §4.1.1.11 `SP esmtp-param` …"""
    if text and not text.startswith(" "):
        raise ParameterSyntaxError("something follows the closing angle bracket")
    parameters: dict[str, str | None] = {}
    for word in text.split(" "):
        if not word:
            continue
        parameter = _PARAMETER.fullmatch(word)
        if parameter is None:
            raise ParameterSyntaxError("a parameter is not valid")
        name = parameter[1].upper()
        if name in parameters:
            raise ParameterSyntaxError("a parameter is given twice")
        parameters[name] = parameter[2]
    return parameters
