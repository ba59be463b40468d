"""What keys of the configuration say against each other, each of them sound by itself."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from conf.settings import Outbound, Settings


def contradictions(settings: Settings) -> list[str]:
    """Each with the keys that it is about."""
    faults = []
    for name, pair in (("smtp", settings.smtp), ("outbound", settings.outbound)):
        if bool(pair.tls_cert) != bool(pair.tls_key):
            faults.append(f"{name}.tls_cert, {name}.tls_key: give both files or neither")
    for key in ("submission_listen", "submission_listen_tls"):
        if getattr(settings.smtp, key) and not settings.smtp.tls_cert:
            faults.append(
                f"smtp.{key}: mail programs refuse a self-signed certificate; give smtp.tls_cert and smtp.tls_key"
            )
    if settings.http.console and urlsplit(settings.server.public_url).path:
        faults.append(
            "server.public_url, http.console: the console has a host of its own; give an address without a path,"
            " or console = false"
        )
    if settings.server.apex_domain in settings.server.shared_domains:
        faults.append("server.apex_domain: must not be one of server.shared_domains")
    faults += _outbound_faults(settings.outbound)
    for number, url in enumerate(settings.dns.doh):
        if not url.startswith("https://"):
            faults.append(f"dns.doh.{number}: must be an https:// address (is {url!r})")
    return faults


def _outbound_faults(outbound: Outbound) -> list[str]:
    named_twice = _named_twice("outbound.tls", "domains", {k: v.domains for k, v in outbound.tls.items()})
    return [
        *_relay_faults(outbound),
        *_source_faults(outbound),
        *named_twice,
        *_pace_faults(outbound),
        *_warm_up_faults(outbound),
    ]


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
    return faults


def _source_faults(outbound: Outbound) -> list[str]:
    return [
        f"outbound.sources.{name}.addresses: one of IPv4 and one of IPv6 at most"
        for name, source in outbound.sources.items()
        if len({":" in address for address in source.addresses}) != len(source.addresses)
    ] + _named_twice("outbound.sources", "senders", {k: v.senders for k, v in outbound.sources.items()})


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
