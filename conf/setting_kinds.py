"""Kinds of values that the configuration has: what is allowed, and what a value that is not hears."""

import ipaddress
import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

_HOST_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_PORT = re.compile(r"[0-9]{1,5}")
_LOCAL_PART = re.compile(r"(?!\.)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}(?<!\.)")


def _domain(value: str) -> str:
    name = value.lower().rstrip(".")
    if len(name) > 253 or not all(_HOST_LABEL.fullmatch(label) for label in name.split(".")):
        raise ValueError("must be a host name such as mx.example.org (IDN in its xn-- form)")
    return name


def _folder(value: str) -> str:
    if not value or "\0" in value:
        raise ValueError("must be the path of a folder such as /var/lib/maild")
    return value


def _file(value: str) -> str:
    if "\0" in value:
        raise ValueError("must be the path of a file such as /etc/maild/secret")
    return value


def _listen(value: str) -> str:
    if not _has_port(value, 0):
        raise ValueError("must be address:port, such as 127.0.0.1:8025 or [::1]:8025")
    return value


def _called(value: str) -> str:
    """Of a host that is called: port 0 is any free one to listen on, and none to call."""
    if not _has_port(value, 1):
        raise ValueError("must be host:port, such as smtp.example.org:587 or [2001:db8::1]:53")
    host, _, port = value.rpartition(":")
    # A certificate's name has no last dot, nor has SNI (RFC 6066 §3).
    return f"{host.removesuffix('.')}:{port}"


def _signature_lifetime(seconds: int) -> int:
    # A signature is an hour old at most when it leaves; clocks differ, and mail rests with those who pass it on.
    if seconds != 0 and not 86400 <= seconds <= 366 * 86400:
        raise ValueError(
            "must be from 86400 (a day) to 31622400 (a year), or 0 for signatures that do not expire"
        )
    return seconds


def _has_port(value: str, least: int) -> bool:
    host, separator, port = value.rpartition(":")
    if not separator or not _is_host(host) or not _PORT.fullmatch(port):
        return False
    return least <= int(port) <= 65535


def _is_host(host: str) -> bool:
    """A name or an address; of IPv6, which has colons of its own, in brackets."""
    if not host.startswith("["):
        return bool(host.strip(".")) and ":" not in host
    try:
        ipaddress.IPv6Address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return host.endswith("]")


def host_port(listen: str) -> tuple[str, int]:
    """The two parts of an `address:port` of the settings; IPv6 without its brackets."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def address_port(address: str, port: int) -> str:
    """The way back from `host_port`."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def is_loopback(host: str) -> bool:
    """Is it a name or an address of this very host? Without brackets."""
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761 §6.3
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _network(value: str) -> str:
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        raise ValueError("must be a network such as 10.0.0.0/8 or fd00::/8, without bits behind it") from None
    _refuse_mapped(network.network_address)
    return str(network)


def _address(value: str) -> str:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        raise ValueError("must be an IP address such as 192.0.2.1 or 2001:db8::1") from None
    _refuse_mapped(address)
    return str(address)


def _refuse_mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    """No peer has such an address, and no packet leaves from it: it would be a rule that never holds."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise ValueError(f"must be written as IPv4 ({address.ipv4_mapped})")


def _host_pattern(value: str) -> str:
    wildcard = "*." if value.startswith("*.") else ""
    try:
        return wildcard + _domain(value.removeprefix("*."))
    except ValueError:
        raise ValueError(
            "must be a host name such as mx.example.org, or *.example.org for all below it"
        ) from None


def _optional(check: Any) -> AfterValidator:
    return AfterValidator(lambda value: check(value) if value else value)


def _url(value: str) -> str:
    if not re.fullmatch(r"https?://[^/\s?#]+(/[^\s?#]*)?", value) or not _has_authority(value):
        raise ValueError("must be an http:// or https:// address without a query")
    return value.rstrip("/")


def _has_authority(url: str) -> bool:
    """RFC 3986 §3.2: a host, with an address of IPv6 in brackets, and perhaps a port."""
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return _is_host(host) or _has_port(host, 1)


def _origin(value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s?#]+", value.lower()) or not _has_authority(value):
        raise ValueError("must be an origin such as https://tools.example.org, without a path")
    return value.lower()


def _mailbox(value: str) -> str:
    local, _, domain = value.rpartition("@")
    if not _LOCAL_PART.fullmatch(local):
        raise ValueError("must be an address such as postmaster@example.org")
    return f"{local}@{_domain(domain)}"


Domain = Annotated[str, AfterValidator(_domain)]
OptionalMailbox = Annotated[str, _optional(_mailbox)]
HostPattern = Annotated[str, AfterValidator(_host_pattern)]
OptionalDomain = Annotated[str, _optional(_domain)]
Folder = Annotated[str, AfterValidator(_folder)]
OptionalFile = Annotated[str, _optional(_file)]
Listen = Annotated[str, AfterValidator(_listen)]
OptionalListen = Annotated[str, _optional(_listen)]
Address = Annotated[str, AfterValidator(_address)]
Called = Annotated[str, AfterValidator(_called)]
OptionalCalled = Annotated[str, _optional(_called)]
Network = Annotated[str, AfterValidator(_network)]
Url = Annotated[str, AfterValidator(_url)]
OptionalUrl = Annotated[str, _optional(_url)]
Origin = Annotated[str, AfterValidator(_origin)]
Positive = Annotated[int, Field(ge=1)]
Allowance = Annotated[int, Field(ge=0)]
SignatureLifetime = Annotated[int, AfterValidator(_signature_lifetime)]
DailyMessages = Annotated[int, Field(ge=1, le=1_000_000_000)]
