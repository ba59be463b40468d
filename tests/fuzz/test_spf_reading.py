"""Any octets in SPF records, answers and the client's words: a result, and never more questions than the RFC allows."""

import asyncio
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from maild.authentication.known_records import KnownSpfRecords
from maild.authentication.spf import evaluate_spf
from maild.resolver import DnsTemporary, Mx, NoAnswer, NxDomain

RESULTS = {"none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"}
NAMES = [
    "x.test",
    "y.test",
    "%{d}",
    "%{ir}.%{v}.x.test",
    "%{l1r-}.%{h}",
    "%{p}",
    "%{S}.x.test",
    "a..b",
    "ü.test",
    "\\.test",
]
TERMS = [f"{kind}:{name}" for kind in ("a", "mx", "include", "exists", "ptr") for name in NAMES]
TERMS += [f"{kind}={name}" for kind in ("redirect", "exp", "m") for name in NAMES]
TERMS += [
    "a",
    "mx",
    "ptr",
    "a/0",
    "mx//0",
    "a:y.test/8//8",
    "ip4:192.0.2.0/24",
    "ip6:::/0",
    "all",
    "%",
    "/",
    ":",
    "é",
]

RECORDS = st.one_of(
    st.lists(st.sampled_from(TERMS), max_size=14).map(lambda terms: ("v=spf1 " + " ".join(terms)).encode()),
    st.lists(st.sampled_from(TERMS), max_size=14).map(lambda terms: ("v=spf1 -" + " ?".join(terms)).encode()),
    st.binary(max_size=60).map(lambda octets: b"v=spf1 " + octets),
    st.binary(max_size=60),
)
ANSWERS = {
    "TXT": st.lists(RECORDS, min_size=1, max_size=2),
    "A": st.lists(st.sampled_from(["192.0.2.1", "198.51.100.1"]), min_size=1, max_size=3),
    "AAAA": st.lists(st.sampled_from(["2001:db8::1", "::ffff:192.0.2.1"]), min_size=1, max_size=3),
    "MX": st.lists(
        st.sampled_from([Mx(1, "y.test"), Mx(0, ""), Mx(2, "\\000.test")]), min_size=1, max_size=11
    ),
    "PTR": st.lists(st.sampled_from(["x.test", "a.y.test", "", "\\255"]), min_size=1, max_size=12),
}
WORDS = st.one_of(
    st.sampled_from(["x.test", "a@x.test", "a.b-c@y.test", "", "[192.0.2.1]", "ü@x.test"]),
    st.text(max_size=20),
)


class AnyDns:
    """Answers whatever hypothesis thinks of, and counts what it is asked."""

    def __init__(self, data: st.DataObject) -> None:
        self.asked: list[str] = []
        self._data = data

    async def txt(self, name: str) -> list[bytes]:
        return self._answer("TXT")

    async def mx(self, domain: str) -> list[Mx]:
        return self._answer("MX")

    async def ipv4(self, host: str) -> list[str]:
        return self._answer("A")

    async def ipv6(self, host: str) -> list[str]:
        return self._answer("AAAA")

    async def ptr(self, address: IPv4Address | IPv6Address) -> list[str]:
        return self._answer("PTR")

    def _answer(self, kind: str) -> Any:
        self.asked.append(kind)
        error = self._data.draw(st.sampled_from([None] * 9 + [NxDomain, NoAnswer, DnsTemporary]))
        if error is not None:
            raise error
        return self._data.draw(ANSWERS[kind])


@given(
    st.data(),
    st.sampled_from(["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1%eth0", "?"]),
    WORDS,
    WORDS,
)
def test_any_dns_and_any_client(data: st.DataObject, peer: str, helo: str, sender: str) -> None:
    dns = AnyDns(data)
    found = asyncio.run(
        evaluate_spf(dns, peer, helo, sender, hostname="r.test", now_s=0, records=KnownSpfRecords())
    )
    assert found.result in RESULTS
    assert found.identity == ("mailfrom" if sender else "helo")
    assert found.domain.isascii()
    assert found.explanation is None or (found.explanation.isprintable() and found.result == "fail")
    assert dns.asked.count("TXT") <= 12
    assert dns.asked.count("PTR") <= 1
    assert dns.asked.count("MX") <= 10
    assert len(dns.asked) <= 1 + 110 + 11 + 1
