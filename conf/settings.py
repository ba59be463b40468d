"""`maild.toml` and the environment → frozen dataclasses, with every fault reported at once.

The file `conf/maild.toml` explains each key; a test holds it to the defaults below.
"""

import copy
import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

ENVIRONMENT_PREFIX = "MAILD_"
CLIENT_VARIABLES = frozenset(("MAILD_URL", "MAILD_API_KEY"))  # what clients read, often in the same shell

_HOST_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_PORT = re.compile(r"[0-9]{1,5}")
_LOCAL_PART = re.compile(r"(?!\.)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}(?<!\.)")


class SettingsError(Exception):
    """The configuration can't be used; `faults` has one line for each fault. `sound`: the settings that it would make
    without what is at fault, where they are known."""

    def __init__(self, faults: list[str], sound: "Settings | None" = None) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults
        self.sound = sound


def _domain(value: str) -> str:
    name = value.lower().rstrip(".")
    if len(name) > 253 or not all(_HOST_LABEL.fullmatch(label) for label in name.split(".")):
        raise ValueError("must be a host name such as mx.example.org (IDN in its xn-- form)")
    return name


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
    if address.version == 6 and address.ipv4_mapped is not None:
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
DailyMessages = Annotated[int, Field(ge=1, le=1_000_000_000)]


class _Section:
    """What all sections share: an unknown key is a fault."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Server(_Section):
    """`[server]`: names, and domains as lower-case A-labels. conf/maild.toml explains the keys of every section."""

    hostname: Domain = "localhost"
    public_url: Url = "http://127.0.0.1:8025"
    shared_domains: Annotated[tuple[Domain, ...], Field(min_length=1)] = ("agents.test",)
    apex_domain: OptionalDomain = ""
    reserved_usernames: tuple[str, ...] = ()

    @property
    def is_private_or_encrypted(self) -> bool:
        """Does nobody read along on the way to `public_url`: is it https, or this very host?"""
        parts = urlsplit(self.public_url)
        return parts.scheme == "https" or is_loopback(parts.hostname or "")


@dataclass(frozen=True, slots=True)
class Smtp(_Section):
    """`[smtp]`: where mail comes in, and what a session may take. Empty `tls_cert`: a self-signed pair is made.

    `submission_listen`, `submission_listen_tls`: where clients log in and submit mail, by STARTTLS or with TLS first.
    `proxy_from`: networks of balancers that begin with a PROXY header. `dnsbl`: zones of block lists.
    """

    listen: Annotated[tuple[Listen, ...], Field(min_length=1)] = ("0.0.0.0:25",)
    listen_tls: tuple[Listen, ...] = ()
    submission_listen: tuple[Listen, ...] = ()
    submission_listen_tls: tuple[Listen, ...] = ()
    proxy_from: tuple[Network, ...] = ()
    dnsbl: tuple[Domain, ...] = ()
    tls_cert: str = ""
    tls_key: str = ""
    max_message_bytes: Positive = 25 * 1024 * 1024
    max_sessions: Positive = 1000
    max_sessions_per_address: Positive = 50
    max_recipients: Annotated[int, Field(ge=100, le=1000)] = 100  # RFC 5321 §4.5.3.1.8
    max_unknown_recipients: Positive = 20
    max_junk_commands: Positive = 50
    max_errors: Positive = 20
    command_timeout_s: Positive = 60
    session_timeout_s: Positive = 1200
    data_min_bytes_per_s: Positive = 500
    data_min_average_bytes_per_s: Positive = 5000
    max_bytes_in_flight: Positive = 96 * 1024 * 1024
    bare_line_ends: Literal["rewrite", "refuse"] = "rewrite"


@dataclass(frozen=True, slots=True)
class Http(_Section):
    """`[http]`: where the API listens, and what a connection may take."""

    listen: Listen = "127.0.0.1:8025"
    keepalive_s: Positive = 75
    header_timeout_s: Positive = 10
    body_min_bytes_per_s: Positive = 1000
    body_timeout_s: Positive = 900
    max_bytes_in_flight: Annotated[int, Field(ge=64 * 1024 * 1024)] = 96 * 1024 * 1024
    max_connections: Positive = 1000
    max_connections_per_address: Positive = 100
    event_streams_per_organization: Positive = 10
    event_stream_heartbeat_s: Positive = 15
    waits_per_organization: Positive = 50
    console: bool = True
    mcp: bool = True
    mcp_origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsoleLogin(_Section):
    """`[console]`: the pages for people, which `http.console` serves."""

    login_by_mail: bool = False


@dataclass(frozen=True, slots=True)
class Dns(_Section):
    """`[dns]`: `nameservers` as address:port (empty: those of the system), `doh` as https:// URLs (empty: none).

    `trust_ad`: do the nameservers validate DNSSEC, and is the way to them safe?
    """

    nameservers: tuple[Called, ...] = ()
    trust_ad: bool = False
    doh: tuple[Url, ...] = ()
    doh_ca_file: str = ""
    timeout_s: Positive = 10


@dataclass(frozen=True, slots=True)
class Inbound(_Section):
    """`[inbound]`: what is done with mail that comes in."""

    dmarc: Literal["enforce", "report"] = "enforce"
    trusted_sealers: tuple[Domain, ...] = ()
    rspamd_url: OptionalUrl = ""


@dataclass(frozen=True, slots=True)
class Smarthost(_Section):
    """`[outbound.relays.NAME]`: a host that takes mail of some domains, or to some. No domains: all."""

    host: Called
    tls: Literal["starttls", "implicit", "opportunistic"] = "starttls"
    username: str = ""
    password_file: str = ""
    auth: Literal["plain", "login", "xoauth2"] = "plain"
    ca_file: str = ""
    senders: tuple[Domain, ...] = ()
    recipients: tuple[Domain, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceAddress(_Section):
    """`[outbound.sources.NAME]`: how this host shows itself to others for mail from some domains."""

    senders: Annotated[tuple[Domain, ...], Field(min_length=1)]
    addresses: Annotated[tuple[Address, ...], Field(max_length=2)] = ()
    hostname: OptionalDomain = ""


@dataclass(frozen=True, slots=True)
class TlsRule(_Section):
    """`[outbound.tls.NAME]`: what the operator demands of sessions with the MX of some domains."""

    domains: Annotated[tuple[Domain, ...], Field(min_length=1)]
    policy: Literal["verify", "encrypt", "opportunistic", "none"]


@dataclass(frozen=True, slots=True)
class PaceRule(_Section):
    """`[outbound.pace.NAME]`: what some destinations get at most, by recipients' domains or by mail hosts. Those of one
    section are one destination. None: no limit of its own."""

    domains: tuple[Domain, ...] = ()
    mx: tuple[HostPattern, ...] = ()
    messages_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_connections: Positive | None = None
    messages_per_connection: Positive | None = None


@dataclass(frozen=True, slots=True)
class WarmUp(_Section):
    """`[outbound.warmup.NAME]`: how many messages a day senders may send to each destination, from `begins` on: those
    of the list, or for so many days `start`, times `factor` each day. `sources`: senders of `[outbound.sources.NAME]`.
    """

    begins: date
    senders: tuple[Domain, ...] = ()
    sources: tuple[str, ...] = ()
    messages: Annotated[tuple[DailyMessages, ...], Field(max_length=366)] = ()
    start: DailyMessages | None = None
    factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    days: Annotated[int, Field(ge=1, le=366)] = 14


@dataclass(frozen=True, slots=True)
class Outbound(_Section):
    """`[outbound]`: delivery to other hosts. Empty `relay`: to the MX of each domain."""

    port: Annotated[int, Field(ge=1, le=65535)] = 25
    allow_private_networks: bool = False
    relay: OptionalCalled = ""
    attachments: bool = True
    first_retry_s: Positive = 60
    give_up_after_s: Positive = 5 * 86400
    max_queued: Positive = 100_000
    max_connections: Positive = 100
    max_connections_per_destination: Positive = 20
    connect_timeout_s: Positive = 30
    ip_versions: Literal["both", "ipv4", "ipv6"] = "both"
    mta_sts: bool = True
    tls_reports: bool = False
    tls_reports_contact: OptionalMailbox = ""
    dkim_ed25519: bool = False
    dkim_expires_after_s: Annotated[int, AfterValidator(_signature_lifetime)] = 7 * 86400
    ca_file: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    relays: Mapping[str, Smarthost] = field(default_factory=dict)
    sources: Mapping[str, SourceAddress] = field(default_factory=dict)
    tls: Mapping[str, TlsRule] = field(default_factory=dict)
    pace: Mapping[str, PaceRule] = field(default_factory=dict)
    warmup: Mapping[str, WarmUp] = field(default_factory=dict)

    def warmed_up(self, section: WarmUp) -> tuple[str, ...]:
        """The senders' domains of a section of `warmup`."""
        named = (self.sources[name].senders for name in section.sources if name in self.sources)
        return section.senders + tuple(domain for senders in named for domain in senders)


@dataclass(frozen=True, slots=True)
class Webhooks(_Section):
    """`[webhooks]`: calls of endpoints; these are rules of egress too (controlplane.egress.client.Rules)."""

    allow_private_networks: bool = False
    ca_file: str = ""
    retry_delays_s: Annotated[tuple[Positive, ...], Field(max_length=4)] = (30, 120, 600, 3600)
    timeout_s: Positive = 10
    max_concurrent: Positive = 50
    max_concurrent_per_endpoint: Positive = 5
    keep_records_days: Positive = 30


@dataclass(frozen=True, slots=True)
class Storage(_Section):
    """`[storage]`: what goes into files, what stays free on the disk, how long events and the audit log are kept."""

    inline_blob_bytes: Annotated[int, Field(ge=0, le=1024 * 1024)] = 128 * 1024
    reserve_percent: Annotated[int, Field(ge=0, le=50)] = 5
    keep_events_days: Positive = 30
    keep_audit_days: Positive = 400


@dataclass(frozen=True, slots=True)
class RequestLimits(_Section):
    """`[limits]`: what an organization may do, whatever its plan."""

    requests_per_minute: Positive = 240
    bulk_recipients: Annotated[int, Field(ge=2)] = 50


@dataclass(frozen=True, slots=True)
class Plan(_Section):
    """What an organization may do; None is unlimited."""

    messages_daily: Allowance | None = None
    messages_monthly: Allowance | None = None
    inboxes: Allowance | None = None
    open_drafts: Allowance | None = None
    webhooks: Allowance | None = None
    storage_bytes: Allowance | None = None
    single_recipient: bool = False
    spend_pause_threshold: Allowance | None = None
    retention_days: Positive | None = None


@dataclass(frozen=True, slots=True)
class Log(_Section):
    """`[log]`: the least level that is told, and the form of a line."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "console"] = "json"


@dataclass(frozen=True, slots=True)
class Metrics(_Section):
    """`[metrics]`: where what the daemon counts and measures is served; empty: nowhere."""

    listen: OptionalListen = ""


DEFAULT_PLAN = "selfhost"


def _shipped_plans() -> Mapping[str, Plan]:
    return {
        "selfhost": Plan(open_drafts=1000, webhooks=50),
        "free": Plan(100, 3000, 3, 50, 2, single_recipient=True, retention_days=30),
        "pro": Plan(5000, 100_000, 100, 1000, 20),
    }


@dataclass(frozen=True, slots=True)
class Settings(_Section):
    """The whole configuration, valid in itself (`parse`); files that it names were readable, and are not read here."""

    data_dir: Annotated[str, Field(min_length=1)] = "/var/lib/maild"
    server: Server = field(default_factory=Server)
    smtp: Smtp = field(default_factory=Smtp)
    http: Http = field(default_factory=Http)
    console: ConsoleLogin = field(default_factory=ConsoleLogin)
    dns: Dns = field(default_factory=Dns)
    inbound: Inbound = field(default_factory=Inbound)
    outbound: Outbound = field(default_factory=Outbound)
    webhooks: Webhooks = field(default_factory=Webhooks)
    storage: Storage = field(default_factory=Storage)
    limits: RequestLimits = field(default_factory=RequestLimits)
    log: Log = field(default_factory=Log)
    metrics: Metrics = field(default_factory=Metrics)
    plans: Mapping[str, Plan] = field(default_factory=_shipped_plans)

    @property
    def data_path(self) -> Path:
        """`data_dir` as a path."""
        return Path(self.data_dir)

    def plan(self, name: str) -> Plan:
        """The plan of that name, or the default plan where the configuration does not have it (any more)."""
        return self.plans.get(name) or self.plans[DEFAULT_PLAN]


_ADAPTER = TypeAdapter(Settings)
_IN_TOML = {
    "tuple_type": 'must be a list, such as ["a", "b"]',
    "string_type": "must be text in quotes",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "finite_number"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(
        ("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"),
        "must be a date such as 2026-12-01",
    ),
    **dict.fromkeys(("dict_type", "mapping_type", "dataclass_type"), "must be a section"),
}  # by pydantic's names of faults, whose own words are Python's


def load(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in `path` with the environment's on top; SettingsError names every fault but those of the files that
    they name (conf.named_files)."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except PermissionError as error:
        raise SettingsError(
            [f"{path}: this user may not read it; chmod 644 it, and 755 its folder"]
        ) from error
    except FileNotFoundError as error:
        raise SettingsError(
            [f"{path}: it is not there; 'maild init --domain DOMAIN' writes one, --config names another"]
        ) from error
    except OSError as error:
        raise SettingsError([f"{path}: {error.strerror or error}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path}: {error}"]) from error
    return parse(document, environment)


def parse(document: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of a TOML document, with those of `environment` on top; SettingsError names every fault."""
    merged = {key: dict(value) if isinstance(value, dict) else value for key, value in document.items()}
    for name, text in (environment or {}).items():
        if name.startswith(ENVIRONMENT_PREFIX) and name not in CLIENT_VARIABLES:
            _override(merged, name, text)
    if isinstance(merged.get("plans"), dict):
        # A file that names one plan changes that one; the shipped ones stay.
        merged["plans"] = {**_shipped_plans(), **merged["plans"]}
    try:
        settings = _ADAPTER.validate_python(merged)
    except ValidationError as error:
        sound, faulty = _sound(error, merged)
        raise SettingsError(_faults(error) + _beside(sound, faulty), sound) from error
    faults = _contradictions(settings)
    if faults:
        raise SettingsError(faults, settings)
    return settings


def _override(document: dict[str, Any], name: str, text: str) -> None:
    *sections, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
    target = document
    for section in sections:
        target = target.setdefault(section, {})
        if not isinstance(target, dict):
            raise SettingsError([f"{name}: {section} is not a section"])
    target[key] = _toml_value(text)


def _toml_value(text: str) -> Any:
    """`8025`, `true`, `["a"]` as TOML has them; anything else is text, quotes not needed."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _faults(error: ValidationError) -> list[str]:
    found = error.errors()
    # pydantic drops faulty items before it counts: a list is too short only if none of its items is a fault.
    inner = {one["loc"][:-1] for one in found}
    return [_fault(one) for one in found if one["type"] != "too_short" or one["loc"] not in inner]


def _sound(error: ValidationError, document: dict[str, Any]) -> tuple[Settings | None, list[str]]:
    """The settings without what is at fault, None where something that must be there has the fault; the names of what
    was left out."""
    rest = copy.deepcopy(document)
    faulty = [_without(rest, [str(step) for step in one["loc"]]) for one in error.errors()]
    try:
        return _ADAPTER.validate_python(rest), faulty
    except ValidationError:
        return None, faulty


def _beside(sound: Settings | None, faulty: list[str]) -> list[str]:
    """The contradictions of what has no fault of its own."""
    found = _contradictions(sound) if sound is not None else []
    return [one for one in found if not any(_is_about(one.partition(": ")[0], key) for key in faulty)]


def _is_about(keys: str, faulty: str) -> bool:
    """Whether a contradiction of these keys, or inside of this one, may come of the faulty one."""
    return faulty in keys or faulty.startswith(f"{keys}.")


def _without(document: dict[str, Any], steps: list[str]) -> str:
    """Take the key out that a fault is about, or is inside of, or is missing from; its name."""
    around, at = document, 0
    while at + 1 < len(steps) and isinstance(inner := around.get(steps[at]), dict):
        if at + 2 == len(steps) and steps[at + 1] not in inner:
            break
        around, at = inner, at + 1
    around.pop(steps[at], None)
    return ".".join(steps[: at + 1])


def _fault(error: Any) -> str:
    key = ".".join(str(step) for step in error["loc"])
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{key}: unknown key"
    message = _IN_TOML.get(error["type"]) or error["msg"].removeprefix("Value error, ")
    return f"{key}: {message[:1].lower()}{message[1:]} (is {error['input']!r})"


def _contradictions(settings: Settings) -> list[str]:
    faults = []
    for name, pair in (("smtp", settings.smtp), ("outbound", settings.outbound)):
        if bool(pair.tls_cert) != bool(pair.tls_key):
            faults.append(f"{name}.tls_cert, {name}.tls_key: give both files or neither")
    for key in ("submission_listen", "submission_listen_tls"):
        if getattr(settings.smtp, key) and not settings.smtp.tls_cert:
            faults.append(
                f"smtp.{key}: mail programs refuse a self-signed certificate; give smtp.tls_cert and smtp.tls_key"
            )
    if settings.server.apex_domain in settings.server.shared_domains:
        faults.append("server.apex_domain: must not be one of server.shared_domains")
    faults += _relay_faults(settings.outbound)
    for number, url in enumerate(settings.dns.doh):
        if not url.startswith("https://"):
            faults.append(f"dns.doh.{number}: must be an https:// address (is {url!r})")
    return faults


def _relay_faults(outbound: Outbound) -> list[str]:
    faults = []
    claimed: dict[tuple[str, str], str] = {}
    for name, one in outbound.relays.items():
        key = f"outbound.relays.{name}"
        if bool(one.username) != bool(one.password_file):
            faults.append(f"{key}: give both username and password_file, or neither")
        if one.username and one.tls == "opportunistic":
            faults.append(f'{key}.tls: a password needs "starttls" or "implicit"')
        for pair in ((sender, to) for sender in one.senders or ("",) for to in one.recipients or ("",)):
            other = claimed.setdefault(pair, name)
            if other != name:
                faults.append(f"{key}: takes the same mail as outbound.relays.{other}")
                break
    if outbound.relay and ("", "") in claimed:
        faults.append(f"outbound.relay: takes the same mail as outbound.relays.{claimed['', '']}")
    for name, source in outbound.sources.items():
        families = [":" in address for address in source.addresses]
        if len(families) != len(set(families)):
            faults.append(f"outbound.sources.{name}.addresses: one of IPv4 and one of IPv6 at most")
    faults += _named_twice("outbound.sources", "senders", {k: v.senders for k, v in outbound.sources.items()})
    faults += _named_twice("outbound.tls", "domains", {k: v.domains for k, v in outbound.tls.items()})
    return faults + _pace_faults(outbound) + _warm_up_faults(outbound)


def _warm_up_faults(outbound: Outbound) -> list[str]:
    faults = []
    for name, section in outbound.warmup.items():
        key = f"outbound.warmup.{name}"
        if bool(section.messages) == bool(section.start):
            faults.append(f"{key}: give messages (a list, one number a day) or start, one of them")
        if not section.senders and not section.sources:
            faults.append(f"{key}: give senders, sources, or both")
        faults += [
            f"{key}.sources: there is no outbound.sources.{source}"
            for source in section.sources
            if source not in outbound.sources
        ]
    domains = {name: outbound.warmed_up(section) for name, section in outbound.warmup.items()}
    return faults + _named_twice("outbound.warmup", "senders", domains)


def _pace_faults(outbound: Outbound) -> list[str]:
    faults = [
        f"outbound.pace.{name}: give domains, mx, or both"
        for name, rule in outbound.pace.items()
        if not rule.domains and not rule.mx
    ]
    most = outbound.max_connections_per_destination
    faults += [
        f"outbound.pace.{name}.max_connections: must be 1 to {most}, outbound.max_connections_per_destination"
        f" (is {rule.max_connections})"
        for name, rule in outbound.pace.items()
        if (rule.max_connections or 1) > most
    ]
    faults += _named_twice("outbound.pace", "domains", {k: v.domains for k, v in outbound.pace.items()})
    return faults + _named_twice("outbound.pace", "mx", {k: v.mx for k, v in outbound.pace.items()})


def _named_twice(section: str, key: str, domains: Mapping[str, tuple[str, ...]]) -> list[str]:
    owners: dict[str, str] = {}
    return [
        f"{section}.{name}.{key}: {domain} is named by {section}.{owners[domain]} too"
        for name, named in domains.items()
        for domain in named
        if owners.setdefault(domain, name) != name
    ]
