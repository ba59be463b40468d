"""Does mail leave, and can it reach others?"""

import asyncio
from datetime import UTC, datetime

from conf.log_events import clean
from maild.commands.doctor.patient import SHOWN_CHARACTERS, Diagnosis, Patient, why
from maild.outbound.routing.relays import Relays
from maild.resolver import DnsError
from maild.ways import ANYWHERE_V4, ANYWHERE_V6

CONNECT_S = 10
GREETING_OCTETS = 512
HOSTS_TRIED = 2
DUE_TOO_LONG_S = 15 * 60  # as the alert MaildQueueStands


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
                tried.append(f"{host} [{address}]: {why(error)}")
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
