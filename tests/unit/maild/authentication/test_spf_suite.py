"""The RFC 7208 test suite (tests/vectors/rfc7208): every case, in memory and by the real resolver."""

from itertools import groupby

import dns.name
import pytest

from maild.authentication.known_records import KnownSpfRecords
from maild.authentication.spf import SpfDns, evaluate_spf
from maild.resolver import Mx, Resolver
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.spf_zone import TYPES, SpfZone, SuiteCase, suite, zone_of
from tests.support.worlds.store import ManualClock

CASES = list(suite())
SCENARIOS = {name: list(cases) for name, cases in groupby(CASES, lambda case: case.scenario)}


def test_the_suite_is_whole() -> None:
    assert len(CASES) == 203
    assert len(SCENARIOS) == 16
    assert sum(case.explanation != "any" for case in CASES) == 22


async def misjudged(dns: SpfDns, case: SuiteCase) -> str:
    found = await evaluate_spf(
        dns,
        case.host,
        case.helo,
        case.mailfrom,
        hostname="receiver.test",
        now_s=1_000_000_000,
        records=KnownSpfRecords(),
    )
    explained = case.explanation in ("any", found.explanation)
    fits = (
        found.result in case.results
        and explained
        and found.identity == ("mailfrom" if case.mailfrom else "helo")
    )
    return "" if fits else f"{case.name}: {found}, not {case.results} {case.explanation}"


@pytest.mark.parametrize("case", CASES, ids=[f"{case.scenario}-{case.name}" for case in CASES])
async def test_a_case_of_the_suite(case: SuiteCase) -> None:
    assert await misjudged(zone_of(case.zone), case) == ""


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_scenario_by_the_real_resolver(scenario: str) -> None:
    cases = SCENARIOS[scenario]
    async with DnsServer() as server:
        publish(zone_of(cases[0].zone), server)
        resolver = Resolver(server.settings, ManualClock())
        wrong = [await misjudged(resolver, case) for case in cases]
    assert list(filter(None, wrong)) == []


def publish(zone: SpfZone, server: DnsServer) -> None:
    """All of the zone; what is silent there is SERVFAIL here, which comes at once."""
    for (name, kind), values in zone.records.items():
        owner = escaped(name)
        if kind in (*TYPES, "CNAME"):
            server.add(owner, kind, *[text(kind, value) for value in values])
        else:
            server.records.setdefault((owner, kind), [])  # the name exists
    server.servfail |= {(escaped(name), kind) for name, kind in zone.silent}


def escaped(name: str) -> str:
    labels = [label.encode() for label in name.split(".")]
    return dns.name.Name(labels).to_text(omit_final_dot=True)


def text(kind: str, value: object) -> str:
    """A record as a zone file has it."""
    match kind, value:
        case "TXT", bytes(octets):
            pieces = [octets[at : at + 255] for at in range(0, len(octets), 255)] or [b""]
            return " ".join('"' + "".join(f"\\{octet:03d}" for octet in piece) + '"' for piece in pieces)
        case "MX", Mx(preference, host):
            return f"{preference} {escaped(host) if host else ''}."
        case (("PTR" | "CNAME"), str(host)):
            return f"{escaped(host)}."
        case _:
            return str(value)
