"""`maild doctor`: is this host set up as mail hosts must be, as far as it can see by itself?

It changes nothing, and may run beside a daemon. Each of CHECKS looks at one thing, all of them at once, each within a
limit of time, and makes a diagnosis of whatever it finds. A fault keeps mail from coming in or from being taken; a
warning is worth knowing, and so is that something can't be told now.
"""

import asyncio
import os
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cryptography import x509

from conf.addresses import is_public
from conf.log_events import clean
from conf.setting_kinds import address_port, host_port
from conf.settings import Settings
from controlplane.domains import checks
from controlplane.domains.checks import Ours, Record
from maild.commands import signing_check
from maild.dns_client import RESOLV_CONF
from maild.dnssec import validates
from maild.inbound.wire import tls
from maild.message.fields.address import is_named
from maild.outbound.routing.relays import Relays
from maild.outbound.signing.dkim import SigningKey
from maild.resolver import DnsError, DnsTemporary, Resolver
from maild.ways import ANYWHERE_V4, ANYWHERE_V6, has_way
from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.disk import Disk

CONNECT_S = 10
LISTENS_S = 3
GREETING_OCTETS = 512
EXPIRES_SOON_DAYS = 14
HOSTS_TRIED = 2
DUE_TOO_LONG_S = 15 * 60  # as the alert MaildQueueStands
BACKUP_OLD_S = 2 * 24 * 3600  # as the alert MaildBackupOld
SHOWN_CHARACTERS = 200
NO_NAMESERVER = f"{RESOLV_CONF} is not there, or names none"
_VERSIONS = {"ipv4": ("IPv4", "0.0.0.0:25"), "ipv6": ("IPv6", "[::]:25")}
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (a name of it, not a binding)


class Diagnosis(NamedTuple):
    """`check`: what was looked at, of which `subject`; `advice`: what to do, "" where all is well."""

    check: str
    subject: str
    status: Literal["ok", "warning", "fault"]
    found: str
    advice: str = ""


class QueueMoves(NamedTuple):
    """Since when it is paused, and since when the recipient has been due that is due for longest; Unix milliseconds,
    None: it is not, and none is."""

    paused_since: int | None = None
    due_since: int | None = None


@dataclass(frozen=True)
class Patient:
    """`records`: what the shared domains are to publish, by domain; `signers`: the keys that sign for them, or why one
    can't be opened; `reach`: domains whose mail hosts are tried; `outside`: who says what others hear of this host
    (outside_view.py), None where nobody does."""

    settings: Settings
    folder: Path
    records: dict[str, list[Record]]
    resolver: Resolver
    outside: Resolver | None
    clock: Clock
    signers: Mapping[str, SigningKey | str]
    queue: QueueMoves
    reach: Sequence[str] = ()
    has_way: Callable[[str, str], bool] = has_way


Check = Callable[[Patient], Awaitable[Iterable[Diagnosis]]]


async def examine(patient: Patient) -> dict[str, Any]:
    """`{"ok", "diagnoses": [{"check", "subject", "status", "found", "advice"}]}`; `ok`: nothing is a fault."""
    found = await asyncio.gather(*(check(patient) for check in CHECKS))
    diagnoses = [one for some in found for one in some]
    return {
        "ok": all(one.status != "fault" for one in diagnoses),
        "diagnoses": [one._asdict() for one in diagnoses],
    }


# DNS ----------------------------------------------------------------------------------------------


async def nameservers(patient: Patient) -> list[Diagnosis]:
    """Do they answer, and is what they say of DNSSEC worth anything? RFC 7672 §2.1."""
    return [await _all_nameservers(patient), *await _silent_nameservers(patient)]


async def _silent_nameservers(patient: Patient) -> list[Diagnosis]:
    """Of several those that do not answer, which nothing else shows as long as another does."""
    named = patient.resolver.nameservers
    if len(named) < 2:
        return []
    alone = [replace(patient.settings.dns, nameservers=(address_port(*one),)) for one in named]
    answers = await asyncio.gather(*(validates(dns, patient.clock) for dns in alone))
    if not any(answer is not None for answer in answers):
        return []  # said already
    advice = "Mend it, or take it out of dns.nameservers (/etc/resolv.conf): with one less, fewer are left to fail."
    return [
        Diagnosis("nameservers", dns.nameservers[0], "warning", "it does not answer, others do", advice)
        for dns, answer in zip(alone, answers, strict=True)
        if answer is None
    ]


async def _all_nameservers(patient: Patient) -> Diagnosis:
    subject = ", ".join(patient.settings.dns.nameservers) or "of the system"
    if not patient.resolver.nameservers:
        advice = "Name one there, or in dns.nameservers: without, no mail leaves, and no sender is verified."
        return Diagnosis("nameservers", subject, "fault", NO_NAMESERVER, advice)
    does = await validates(patient.settings.dns, patient.clock)
    if does is None:
        advice = (
            "Name one that answers in dns.nameservers: without, no mail leaves, and no sender is verified."
        )
        return Diagnosis("nameservers", subject, "fault", "none answers", advice)
    is_near, is_trusted = patient.resolver.nameservers_are_near, patient.settings.dns.trust_ad
    match does, is_trusted:
        case True, True if is_near:
            return Diagnosis("nameservers", subject, "ok", "they validate DNSSEC; DANE is on")
        case True, True:
            found = "they validate DNSSEC, and are not on this host"
            advice = (
                "Run one here (unbound): on the way to these, DANE can be turned off by whoever is there."
            )
        case True, False:
            found = "they validate DNSSEC, and DANE is off"
            advice = "Set dns.trust_ad = true" + (
                "." if is_near else ", once one of your own runs on this host."
            )
        case False, True:
            found = "they validate nothing, though dns.trust_ad is true: DANE protects nobody"
            advice = (
                "Use a resolver that validates (unbound with its trust anchor), or set dns.trust_ad = false."
            )
            return Diagnosis("nameservers", subject, "fault", found, advice)
        case _:
            found = "they answer, and validate nothing: DANE is off"
            advice = "For DANE run a resolver that validates on this host, and set dns.trust_ad."
    return Diagnosis("nameservers", subject, "warning", found, advice)


async def names(patient: Patient) -> list[Diagnosis]:
    """Is each name that we say in EHLO ours, and does its address say so too? Many hosts refuse mail otherwise."""
    settings = patient.settings
    said = [settings.server.hostname]
    said += [one.hostname for one in settings.outbound.sources.values() if one.hostname]
    if not patient.resolver.nameservers:
        return []  # told by `nameservers`
    if patient.outside is None:
        found = "systemd-resolved answers by itself for this host's names: what others hear is not known here"
        advice = "Name a resolver in dns.nameservers, at best one of your own (unbound)."
        return [Diagnosis("name", ", ".join(dict.fromkeys(said)), "warning", found, advice)]
    names = (_name(patient, patient.outside, name) for name in dict.fromkeys(said))
    return [one for some in await asyncio.gather(*names) for one in some]


async def _name(patient: Patient, outside: Resolver, name: str) -> list[Diagnosis]:
    try:
        addresses = await outside.addresses(name)
    except DnsTemporary:
        return [Diagnosis("name", name, "warning", "DNS does not answer for it now", "Try again later.")]
    except DnsError:
        advice = f"Publish an A record (and AAAA) for {name}, or set server.hostname to a name that has one."
        return [Diagnosis("name", name, "fault", "it has no address", advice)]
    diagnoses = [Diagnosis("name", name, "ok", ", ".join(addresses))]
    is_open = not patient.settings.outbound.allow_private_networks
    hidden = [one for one in addresses if not is_public(one)] if is_open else []
    if hidden:
        advice = f"Let {name} name an address that others reach, or set outbound.allow_private_networks."
        diagnoses = [
            Diagnosis("name", name, "fault", f"{', '.join(hidden)}: nobody outside reaches it", advice)
        ]
    pointers = (_pointer(patient, outside, name, one) for one in addresses if one not in hidden)
    return diagnoses + list(await asyncio.gather(*pointers))


async def _pointer(patient: Patient, outside: Resolver, name: str, address: str) -> Diagnosis:
    version = _version(address)
    if patient.settings.outbound.ip_versions not in ("both", version):
        return Diagnosis("ptr", address, "ok", f"no mail leaves by it (outbound.ip_versions = {version})")
    try:
        found = await outside.ptr(ip_address(address))
    except DnsTemporary:
        return Diagnosis("ptr", address, "warning", "DNS does not answer for it now", "Try again later.")
    except DnsError:
        found = []
    if name in found:
        return Diagnosis("ptr", address, "ok", name)
    advice = f"Have whoever gave you {address} set its PTR record to {name}."
    status: Literal["warning", "fault"] = "fault" if _delivers(patient.settings) else "warning"
    if version == "ipv6":
        advice += ' Or let no mail leave by IPv6: outbound.ip_versions = "ipv4".'
    said = f"it names {', '.join(map(clean, found[:HOSTS_TRIED]))}" if found else "it has no PTR record"
    return Diagnosis("ptr", address, status, said, advice)


def _delivers(settings: Settings) -> bool:
    """Does mail of the first shared domain leave for other hosts by itself, and not by a smarthost?"""
    return Relays(settings.outbound).chosen(settings.server.shared_domains[0], "example.com") is None


async def published(patient: Patient) -> list[Diagnosis]:
    """Are the records of the shared domains there, which `maild init` asks for?"""
    server = patient.settings.server
    ours = Ours(server.hostname, frozenset({server.hostname, *server.shared_domains}))
    wanted = [record for records in patient.records.values() for record in records]
    unsigned = [
        domain
        for domain, records in patient.records.items()
        if "dkim" not in {one.purpose for one in records}
    ]
    return [
        *(
            Diagnosis("dkim", domain, "fault", "there is no key for it", "Run maild init.")
            for domain in unsigned
        ),
        *await asyncio.gather(*(_record(patient, record, ours) for record in wanted)),
    ]


async def _record(patient: Patient, record: Record, ours: Ours) -> Diagnosis:
    finding = checks.judge(record, [await _answer(patient.resolver, record)], 1, ours)
    if finding.status == checks.OK:
        return Diagnosis(record.purpose, record.name, "ok", "it is published")
    if finding.status == checks.UNAVAILABLE:
        return Diagnosis(
            record.purpose, record.name, "warning", "DNS does not answer now", "Try again later."
        )
    seen = clean("; ".join(finding.observed), SHOWN_CHARACTERS)
    priority = "" if record.priority is None else f"{record.priority} "
    return Diagnosis(
        record.purpose,
        record.name,
        "fault" if record.required else "warning",
        f"it is {seen}" if seen else "there is none",
        f"Publish: {record.name} {record.type} {priority}{record.value}",
    )


async def _answer(resolver: Resolver, record: Record) -> checks.Answer:
    try:
        if record.type == "MX":
            return [f"{mx.preference} {mx.host}" for mx in await resolver.mx(record.name)]
        return [text.decode("utf-8", "replace") for text in await resolver.txt(record.name)]
    except DnsTemporary:
        return None
    except DnsError:
        return []


async def signatures(patient: Patient) -> list[Diagnosis]:
    """Does what the shared domains' keys sign verify for others?"""
    found = await asyncio.gather(*(_signature(patient, *one) for one in patient.signers.items()))
    return [one for one in found if one is not None]


async def _signature(patient: Patient, domain: str, key: SigningKey | str) -> Diagnosis | None:
    if isinstance(key, str):
        advice = "Run this as root, with --key-file where systemd hands it over as a credential."
        return Diagnosis("signing", domain, "warning", f"not tried: {key}", advice)
    try:
        records = await patient.resolver.txt(f"{key.selector}._domainkey.{domain}")
    except DnsError:  # told by `published`
        return None
    if fault := signing_check.fault_of(key, records, patient.clock.now_ms() // 1000):
        advice = f"Publish what 'maild init' prints for {key.selector}._domainkey.{domain}, in one record."
        return Diagnosis("signing", domain, "fault", f"what it signs does not verify: {clean(fault)}", advice)
    return Diagnosis("signing", domain, "ok", f"dkimpy verifies what {key.selector} signs")


# This host ----------------------------------------------------------------------------------------


async def certificate(patient: Patient) -> list[Diagnosis]:
    """Is the certificate of SMTP one that its name is in, for a while yet?"""
    smtp, hostname = patient.settings.smtp, patient.settings.server.hostname
    if not smtp.tls_cert:
        found = "a self-signed one, which mail servers take"
        return [Diagnosis("certificate", "smtp.tls_cert", "ok", found)]
    try:
        with DataFolder(patient.folder).as_its_owner():  # what root may read the daemon may not
            tls.context(smtp.tls_cert, smtp.tls_key)
            shown = x509.load_pem_x509_certificate(Path(smtp.tls_cert).read_bytes())
    except (ssl.SSLError, OSError, ValueError) as error:
        advice = "Name a pair of PEM files that belong together and that the daemon's user can read."
        return [Diagnosis("certificate", smtp.tls_cert, "fault", f"no usable pair: {error}", advice)]
    left = shown.not_valid_after_utc - datetime.fromtimestamp(patient.clock.now_ms() / 1000, UTC)
    ends = f"it is valid until {shown.not_valid_after_utc:%Y-%m-%d}"
    if left.days < EXPIRES_SOON_DAYS:
        status: Literal["warning", "fault"] = "fault" if left.total_seconds() <= 0 else "warning"
        return [Diagnosis("certificate", smtp.tls_cert, status, ends, "Renew it; maild reads it by itself.")]
    # RFC 9525 §6.3: a wildcard is the whole first label.
    if not is_named(hostname, _names_of(shown)):
        found = f"it is not for {hostname}"
        advice = (
            f"Get one for {hostname}: programs that submit mail, and hosts under MTA-STS, check the name."
        )
        return [Diagnosis("certificate", smtp.tls_cert, "fault", found, advice)]
    return [Diagnosis("certificate", smtp.tls_cert, "ok", ends)]


def _names_of(shown: x509.Certificate) -> frozenset[str]:
    try:
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return frozenset()
    return frozenset(map(str.lower, names.get_values_for_type(x509.DNSName)))


async def listening(patient: Patient) -> list[Diagnosis]:
    """Does somebody answer where the daemon is to listen, and is that where DNS sends mail?"""
    smtp, http = patient.settings.smtp, patient.settings.http
    submission = (*smtp.submission_listen, *smtp.submission_listen_tls)
    places = [*smtp.listen, *smtp.listen_tls, *submission, http.listen]
    return [*await asyncio.gather(*map(_listens, places)), *await _unheard(patient)]


async def _unheard(patient: Patient) -> list[Diagnosis]:
    """Versions of IP by which hosts look for this one (RFC 5321 §5.2), and where it does not listen."""
    settings, name = patient.settings, patient.settings.server.hostname
    if settings.smtp.proxy_from:  # a balancer has the addresses that are published
        return []
    try:
        published = {_version(one) for one in await patient.resolver.addresses(name)}
    except DnsError:  # told by `names`
        return []
    heard = {_version(host_port(place)[0]) for place in settings.smtp.listen}
    return [
        Diagnosis(
            "listening",
            name,
            "fault" if version == "ipv4" else "warning",
            f"DNS has an address of {_VERSIONS[version][0]} for it, and smtp.listen none",
            f'Add "{_VERSIONS[version][1]}" to smtp.listen: hosts that come by it find nobody.',
        )
        for version in sorted(published - heard)
    ]


def _version(address: str) -> str:
    return "ipv6" if ":" in address else "ipv4"


async def _listens(place: str) -> Diagnosis:
    host, port = host_port(place)
    try:
        async with asyncio.timeout(LISTENS_S):
            _, writer = await asyncio.open_connection(_EVERYWHERE.get(host, host), port)
        writer.close()
    except OSError as error:  # a timeout is one
        advice = (
            "Start the daemon (systemctl start maild), or look why it does not run (journalctl -u maild)."
        )
        return Diagnosis("listening", place, "fault", _why(error), advice)
    return Diagnosis("listening", place, "ok", "somebody answers")


async def disk(patient: Patient) -> list[Diagnosis]:
    """Is there room beyond the reserve, and is it taken?"""
    place = str(patient.folder)
    if not Disk(patient.folder, patient.settings.storage.reserve_percent).has_room():
        advice = "Free some, or make the file system larger: until then no mail is accepted."
        return [Diagnosis("disk", place, "fault", "less is free than storage.reserve_percent", advice)]
    if (refusal := _refusal_to_write(patient.folder)) is not None:
        told = f"nothing can be written there: {refusal}"
        advice = (
            "Until it can no mail is accepted. Look at dmesg: a file system is made read-only after an error."
        )
        return [Diagnosis("disk", place, "fault", told, advice)]
    return [Diagnosis("disk", place, "ok", "there is room")]


def _refusal_to_write(folder: Path) -> str | None:
    """What the file system says to a file that leaves nothing behind; None: it takes it, or is not ours to ask."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"?")
            probe.flush()
            os.fsync(probe.fileno())
    except PermissionError:
        return None
    except OSError as error:
        return _why(error)
    return None


async def backup(patient: Patient) -> list[Diagnosis]:
    """How old is the last one? None is no fault: a snapshot of the file system leaves no note."""
    at = DataFolder(patient.folder).backed_up_at
    if at is None:
        return [Diagnosis("backup", str(patient.folder), "ok", "none by maild backup has ended well yet")]
    ended = f"the last one ended well at {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    if patient.clock.now_ms() / 1000 - at <= BACKUP_OLD_S:
        return [Diagnosis("backup", str(patient.folder), "ok", ended)]
    advice = "See that what runs maild backup does, and that it ends with exit code 0."
    return [Diagnosis("backup", str(patient.folder), "warning", ended, advice)]


async def queue(patient: Patient) -> list[Diagnosis]:
    """Does what is to leave leave?"""
    paused, due = patient.queue
    if paused is not None:
        found = f"paused since {datetime.fromtimestamp(paused / 1000, UTC):%Y-%m-%d %H:%M} UTC"
        advice = "maild queue resume: until then nothing leaves, and sends are refused."
        return [Diagnosis("queue", "outbound", "fault", found, advice)]
    waits_s = 0 if due is None else (patient.clock.now_ms() - due) // 1000
    if waits_s > DUE_TOO_LONG_S:
        advice = "Look for faults in the log, and at maild queue show: what is due leaves at once where all is well."
        return [
            Diagnosis("queue", "outbound", "fault", f"mail has been due for {waits_s // 60} minutes", advice)
        ]
    return [Diagnosis("queue", "outbound", "ok", "what is due leaves")]


# Others -------------------------------------------------------------------------------------------


async def ways(patient: Patient) -> list[Diagnosis]:
    """Is there a way from each source address, and one to the hosts that have IPv4 alone?"""
    sources = patient.settings.outbound.sources
    return [
        *(_way_from(patient, name, one) for name, section in sources.items() for one in section.addresses),
        *_way_to_ipv4(patient),
    ]


def _way_from(patient: Patient, name: str, source: str) -> Diagnosis:
    if patient.has_way(ANYWHERE_V6 if ":" in source else ANYWHERE_V4, source):
        return Diagnosis("ways", source, "ok", "mail leaves from it")
    advice = f"Give this host the address, and a way from it, or take it out of outbound.sources.{name}."
    return Diagnosis("ways", source, "fault", "this host has no such address, or no way from it", advice)


def _way_to_ipv4(patient: Patient) -> list[Diagnosis]:
    outbound = patient.settings.outbound
    has_smarthost = Relays(outbound).chosen("", "") is not None  # for all mail
    if has_smarthost or outbound.ip_versions == "ipv6" or patient.has_way(ANYWHERE_V4, ""):
        return []
    found = (
        "this host has no way to it: mail waits for hosts that have no address of IPv6, and fails in the end"
    )
    advice = (
        "Give this host an address of IPv4, or outbound.relay one that has both; or let such mail fail at once:"
        ' outbound.ip_versions = "ipv6".'
    )
    return [Diagnosis("ways", "IPv4", "fault", found, advice)]


async def reaching(patient: Patient) -> list[Diagnosis]:
    """Can mail hosts of others be connected to?"""
    return list(await asyncio.gather(*(_reach(patient, domain) for domain in patient.reach)))


async def _reach(patient: Patient, domain: str) -> Diagnosis:
    port, tried = patient.settings.outbound.port, []
    try:
        records = sorted(await patient.resolver.mx(domain))
        hosts = [(mx.host, await patient.resolver.addresses(mx.host)) for mx in records[:HOSTS_TRIED]]
    except DnsError as error:
        return Diagnosis("reach", domain, "warning", f"no mail host of it is in DNS: {error}", "Try another.")
    for host, addresses in hosts:
        ways = [one for one in addresses if patient.has_way(one, "")]
        tried += [] if ways else [f"{host} [{addresses[0]}]: no way to it from this host"]
        for address in ways[:HOSTS_TRIED]:
            try:
                return Diagnosis(
                    "reach", domain, "ok", f"{host} [{address}] says {await _greeting(address, port)}"
                )
            except (OSError, EOFError) as error:
                tried.append(f"{host} [{address}]: {_why(error)}")
    advice = (
        f"See that port {port} is open outwards (many clouds close it until asked), or set outbound.relay."
    )
    return Diagnosis("reach", domain, "fault", "; ".join(tried), advice)


async def _greeting(address: str, port: int) -> str:
    async with asyncio.timeout(CONNECT_S):
        reader, writer = await asyncio.open_connection(address, port)
        try:
            octets = await reader.read(GREETING_OCTETS)
        finally:
            writer.close()
    if not octets:
        raise EOFError
    return clean(octets.partition(b"\r\n")[0].decode("utf-8", "replace"), SHOWN_CHARACTERS)


def _why(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return "no answer" if number is None else os.strerror(number)


CHECKS: tuple[Check, ...] = (
    nameservers,
    names,
    published,
    signatures,
    certificate,
    listening,
    disk,
    backup,
    queue,
    ways,
    reaching,
)
