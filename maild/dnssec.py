"""Do the nameservers validate DNSSEC? DANE rests on their word (RFC 7672 §2.1), and `dns.trust_ad` only says that it is
to be taken. The start and `maild doctor` ask for what is surely signed."""

import asyncio
from dataclasses import replace

import structlog

from conf.log_events import LogEvent, tell
from conf.settings import Dns
from maild.resolver import DnsError, Resolver
from storage.clock import Clock
from storage.service import LoopService

SIGNED = ("org", "net")  # zones that were signed in 2009 and 2010

log = structlog.get_logger("maild.outbound")


async def validates(settings: Dns, clock: Clock) -> bool | None:
    """Does each answer about a zone that is signed say that it was validated? None: no nameserver answers."""
    resolver = Resolver(replace(settings, trust_ad=True), clock)
    try:
        found = await asyncio.gather(*(resolver.is_authentic(zone, "MX") for zone in SIGNED))
    except DnsError:
        return None
    finally:
        await resolver.close()
    return all(found)


class DnssecCheck(LoopService):
    """Tells once, after the start, whether there is DANE, and why not."""

    name = "dnssec_check"

    def __init__(self, settings: Dns, nameservers_are_near: bool, clock: Clock) -> None:
        super().__init__()
        self._settings = settings
        self._nameservers_are_near = nameservers_are_near
        self._clock = clock

    def died(self) -> None:
        """It ends once it has told."""

    async def run(self) -> None:
        found = await validates(self._settings, self._clock)
        if not self._settings.trust_ad:
            tell(log, LogEvent.DANE_OFF, resolver_validates=found)
            return
        if not self._nameservers_are_near:
            tell(log, LogEvent.DANE_FORGEABLE)
        if found is False:
            tell(log, LogEvent.DANE_NOT_VALIDATED)
