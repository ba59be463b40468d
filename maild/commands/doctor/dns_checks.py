"""What DNS says of this host, and of the domains that it sends for."""

import asyncio
from dataclasses import replace
from ipaddress import ip_address
from typing import Literal

from conf.addresses import is_public
from conf.log_events import clean
from conf.setting_kinds import address_port
from conf.settings import Settings
from controlplane.domains import checks
from controlplane.domains.checks import Ours, Record
from maild.commands.doctor import signing_check
from maild.commands.doctor.patient import SHOWN_CHARACTERS, Diagnosis, Patient, ip_version
from maild.dns_client import RESOLV_CONF
from maild.dnssec import validates
from maild.outbound.routing.relays import Relays
from maild.outbound.signing.dkim import SigningKey
from maild.resolver import DnsError, DnsTemporary, Resolver

NAMES_SHOWN = 2
NO_NAMESERVER = f"{RESOLV_CONF} is not there or not readable, or names none"


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
    version = ip_version(address)
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
    said = f"it names {', '.join(map(clean, found[:NAMES_SHOWN]))}" if found else "it has no PTR record"
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
