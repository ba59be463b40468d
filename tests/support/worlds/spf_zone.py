"""A zone in memory that answers what SPF asks, and counts the questions; and the RFC 7208 suite."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, NamedTuple

from maild.resolver import DnsTemporary, Mx, NoAnswer, NxDomain

SUITE = Path(__file__).parents[2] / "vectors" / "rfc7208" / "rfc7208-tests.json"
TYPES = ("A", "AAAA", "MX", "PTR", "TXT")

Records = dict[tuple[str, str], list[Any]]  # by name and type: bytes of TXT, Mx, else text


@dataclass
class SpfZone:
    records: Records = field(default_factory=dict)
    silent: set[tuple[str, str]] = field(default_factory=set)
    questions: Counter[str] = field(default_factory=Counter)  # by type

    def add(self, name: str, rdtype: str, *values: Any) -> None:
        self.records.setdefault((name.lower(), rdtype), []).extend(values)

    async def txt(self, name: str) -> list[bytes]:
        return self._answer(name, "TXT")

    async def mx(self, domain: str) -> list[Mx]:
        return self._answer(domain, "MX")

    async def ipv4(self, host: str) -> list[str]:
        return self._answer(host, "A")

    async def ipv6(self, host: str) -> list[str]:
        return self._answer(host, "AAAA")

    async def ptr(self, address: IPv4Address | IPv6Address) -> list[str]:
        return self._answer(address.reverse_pointer, "PTR")

    def _answer(self, name: str, rdtype: str) -> list[Any]:
        self.questions[rdtype] += 1
        name = name.lower()
        for _ in range(10):
            if (name, rdtype) in self.silent:
                raise DnsTemporary(name)
            if (name, rdtype) in self.records:
                return self.records[name, rdtype]
            if (name, "CNAME") not in self.records:
                break
            name = self.records[name, "CNAME"][0]
        raise (NoAnswer if any(owner == name for owner, _ in self.records) else NxDomain)(name)


class SuiteCase(NamedTuple):
    name: str
    scenario: str
    zone: dict[str, list[Any]]
    host: str
    helo: str
    mailfrom: str
    results: list[str]
    explanation: str | None


def suite() -> Iterator[SuiteCase]:
    """All cases of the RFC 7208 test suite, in its order."""
    for scenario in json.loads(SUITE.read_text("utf-8")):
        for name, test in scenario["tests"].items():
            result = test["result"]
            yield SuiteCase(
                name,
                scenario["description"],
                scenario["zonedata"],
                test["host"],
                test["helo"],
                test["mailfrom"],
                result if isinstance(result, list) else [result],
                None if test.get("explanation") == "DEFAULT" else test.get("explanation", "any"),
            )


def zone_of(zonedata: dict[str, list[Any]]) -> SpfZone:
    """The zone of a scenario, by the rules that tests/vectors/rfc7208/README.md has."""
    zone = SpfZone()
    for name, entries in zonedata.items():
        owner = name.lower().rstrip(".")
        pairs = [next(iter(entry.items())) for entry in entries if isinstance(entry, dict)]
        has_txt = any(kind == "TXT" for kind, _ in pairs)
        for kind, value in pairs:
            if kind != "SPF":
                _add(zone, owner, kind, value)
            elif not has_txt:
                _add(zone, owner, "TXT", value)
        if "TIMEOUT" in entries:
            zone.silent |= {(owner, kind) for kind in TYPES if (owner, kind) not in zone.records}
        zone.records.setdefault((owner, "none"), [])  # the name exists
    return zone


def _add(zone: SpfZone, owner: str, kind: str, value: Any) -> None:
    if kind == "TXT":
        if value != "NONE":
            strings = value if isinstance(value, list) else [value]
            zone.add(owner, kind, b"".join(string.encode() for string in strings))
    elif kind == "MX":
        zone.add(owner, kind, Mx(value[0], value[1].lower().rstrip(".")))
    else:
        zone.add(owner, kind, value.rstrip(".").lower() if kind in ("PTR", "CNAME") else value)
