"""Which URLs we call on a customer's word. Pure.

A webhook's URL is chosen by a customer and called from inside our network, so both its form and every
address that its host resolves to (conf/addresses.py) are checked (OWASP "server-side request forgery").
Whatever could be read in two ways is refused rather than interpreted: an address must be written in its
one canonical form, and what is dialled is what the parser (yarl) read when it was checked.
"""

import ipaddress
import re
from typing import NamedTuple

from yarl import URL

URL_CHARACTERS_MAX = 2048

_TWO_READINGS = re.compile(r"[\x00-\x20\x7f\\]|[\ud800-\udfff]")
_PORT = re.compile(r"[0-9]*")
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# https://url.spec.whatwg.org/#ends-in-a-number-checker: such a host is an IPv4 address, or a mistake.
_ENDS_IN_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")


class EgressRefused(Exception):
    """We don't call this target. `reason` may be shown to the caller that gave the URL."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Endpoint(NamedTuple):
    """Where a connection leads: a host, in lower case and without brackets or a last dot, and a port."""

    host: str
    port: int


class Target(NamedTuple):
    """A URL of an acceptable form.

    `address`: set when its host is an IP address. `authority`: for the Host field. `path`: with the query, encoded.
    """

    endpoint: Endpoint
    address: str | None
    authority: str
    path: str


def parse(text: str) -> Target:
    """Check the form of a URL; EgressRefused says what is wrong. Addresses are not judged here."""
    if not text.startswith("https://"):
        raise EgressRefused("must begin with https://")
    if len(text) > URL_CHARACTERS_MAX:
        raise EgressRefused(f"must have at most {URL_CHARACTERS_MAX} characters")
    # yarl drops tabs, line ends and lone surrogates; backslashes are read in two ways.
    if _TWO_READINGS.search(text):
        raise EgressRefused("must contain no spaces, backslashes or control characters")
    authority = re.split(r"[/?#]", text.removeprefix("https://"), maxsplit=1)[0]
    if "@" in authority:
        raise EgressRefused("must contain no user name or password")
    # RFC 3986 §3.2.3; int() would take a sign and the digits of every script.
    if not _PORT.fullmatch(authority.rpartition("]")[2].partition(":")[2]):
        raise EgressRefused("must have a port between 1 and 65535")
    try:
        url = URL(text)
        host, port = url.raw_host or "", url.port
    except ValueError as error:
        raise EgressRefused("is not a valid URL") from error
    if not port:
        raise EgressRefused("must have a port between 1 and 65535")
    if "[" in authority and ":" not in host:  # RFC 3986 §3.2.2, IPvFuture: loses its brackets here
        raise EgressRefused("must have a valid host name")
    name, address = _checked_host(host)
    return Target(Endpoint(name, port), address, url.host_port_subcomponent or name, url.raw_path_qs)


def _checked_host(host: str) -> tuple[str, str | None]:
    """The host as it is resolved, and again if it is an address."""
    if ":" in host:
        if not _is_address(ipaddress.IPv6Address, host):
            raise EgressRefused("must have a host name or an address without a zone")
        return host, host
    if _ENDS_IN_NUMBER.fullmatch(host.removesuffix(".")):
        if not _is_address(ipaddress.IPv4Address, host):
            raise EgressRefused("must write an IPv4 address as four decimal numbers")
        return host, host
    name = host.removesuffix(".")
    if len(name) > 253 or not _HOST.fullmatch(name):
        raise EgressRefused("must have a valid host name")
    return name, None


def _is_address(kind: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address], text: str) -> bool:
    try:
        return "%" not in text and bool(kind(text))
    except ValueError:
        return False


def is_local_name(host: str) -> bool:
    """RFC 6761 §6.3: `localhost` and names below it are loopback, whatever DNS says."""
    return host == "localhost" or host.endswith(".localhost")
