"""The sections of the configuration, with the defaults of their keys, which conf/maild.toml documents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field

from conf.setting_kinds import (
    Address,
    Allowance,
    Called,
    DailyMessages,
    Domain,
    Folder,
    HostPattern,
    Listen,
    Network,
    OptionalCalled,
    OptionalDomain,
    OptionalFile,
    OptionalListen,
    OptionalMailbox,
    OptionalUrl,
    Origin,
    Positive,
    SignatureLifetime,
    Url,
    is_loopback,
)


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
    tls_cert: OptionalFile = ""
    tls_key: OptionalFile = ""
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
    """`[http]`: where the API listens, and what a connection may take.

    `proxy_from`: networks of proxies that are not on this host, and name their clients in X-Forwarded-For."""

    listen: Listen = "127.0.0.1:8025"
    proxy_from: tuple[Network, ...] = ()
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
    doh_ca_file: OptionalFile = ""
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
    password_file: OptionalFile = ""
    auth: Literal["plain", "login", "xoauth2"] = "plain"
    ca_file: OptionalFile = ""
    rewrites: tuple[Literal["date", "message-id"], ...] = ()
    dkim_ed25519: bool = True
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
    dkim_expires_after_s: SignatureLifetime = 7 * 86400
    ca_file: OptionalFile = ""
    tls_cert: OptionalFile = ""
    tls_key: OptionalFile = ""
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
    ca_file: OptionalFile = ""
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


def shipped_plans() -> Mapping[str, Plan]:
    """Those that are there whatever the file says."""
    return {
        "selfhost": Plan(open_drafts=1000, webhooks=50),
        "free": Plan(100, 3000, 3, 50, 2, single_recipient=True, retention_days=30),
        "pro": Plan(5000, 100_000, 100, 1000, 20),
    }


@dataclass(frozen=True, slots=True)
class Settings(_Section):
    """The whole configuration, valid in itself (`parse`); files that it names were readable, and are not read here."""

    data_dir: Folder = "/var/lib/maild"
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
    plans: Mapping[str, Plan] = field(default_factory=shipped_plans)

    @property
    def data_path(self) -> Path:
        """`data_dir` as a path; a relative one with the folder that it is looked for in."""
        return Path(self.data_dir).absolute()

    def plan(self, name: str) -> Plan:
        """The plan of that name, or the default plan where the configuration does not have it (any more)."""
        return self.plans.get(name) or self.plans[DEFAULT_PLAN]
