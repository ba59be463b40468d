"""SPF beside the suite: identities, families of addresses, and zones whose owner is hostile."""

import asyncio
from typing import Any

import pytest

from maild.authentication import spf
from maild.authentication.known_records import KnownSpfRecords
from maild.authentication.spf import SpfResult, evaluate_spf
from maild.resolver import Mx, NotAtHand
from tests.support.worlds.spf_zone import SpfZone

QUESTIONS_MAX = {"TXT": 12, "MX": 10, "PTR": 1}
ADDRESSES_MAX = 110


def zone_with(**records: str) -> SpfZone:
    """SPF records by name; `_` is a dot."""
    zone = SpfZone()
    for name, record in records.items():
        zone.add(name.replace("_", "."), "TXT", b"v=spf1 " + record.encode())
    return zone


async def evaluate(
    zone: SpfZone, sender: str = "a@x.test", peer: str = "192.0.2.1", helo: str = "mx.helo.test"
) -> SpfResult:
    zone.questions.clear()
    found = await evaluate_spf(
        zone, peer, helo, sender, hostname="r.test", now_s=1.5, records=KnownSpfRecords()
    )
    asked = zone.questions
    assert all(asked[kind] <= limit for kind, limit in QUESTIONS_MAX.items())
    assert asked["A"] + asked["AAAA"] <= ADDRESSES_MAX
    assert sum(asked.values()) <= 1 + 110 + 11 + 1
    return found


@pytest.mark.parametrize(
    ("sender", "helo", "expected"),
    [
        ("a@x.test", "mx.helo.test", ("pass", "x.test", "mailfrom")),
        ("a@X.Test.", "mx.helo.test", ("pass", "x.test", "mailfrom")),
        ("", "mx.helo.test", ("softfail", "mx.helo.test", "helo")),
        ("", "MX.Helo.test", ("softfail", "mx.helo.test", "helo")),
        ("", "[192.0.2.1]", ("none", "", "helo")),
        ("", "[IPv6:2001:db8::1]", ("none", "", "helo")),
        ("", "192.0.2.1", ("none", "", "helo")),
        ("", "localhost", ("none", "", "helo")),
        ("", "", ("none", "", "helo")),
        ("@x.test", "", ("pass", "x.test", "mailfrom")),
        ("x.test", "", ("pass", "x.test", "mailfrom")),
        ("a@[192.0.2.1]", "", ("none", "", "mailfrom")),
        ("a@nothing.test", "", ("none", "nothing.test", "mailfrom")),
        ("a@bücher.test", "", ("neutral", "xn--bcher-kva.test", "mailfrom")),
        ("a@" + "ü" * 300 + ".test", "", ("none", "", "mailfrom")),
        ("a@x\r\n.test", "", ("none", "", "mailfrom")),
        ("a@x .test", "", ("none", "", "mailfrom")),
        ("a@" + "x" * 64 + ".test", "", ("none", "", "mailfrom")),
        ("a@" + "x." * 127 + "test", "", ("none", "", "mailfrom")),
    ],
)
async def test_whose_domain_is_asked(sender: str, helo: str, expected: tuple[str, str, str]) -> None:
    zone = zone_with(x_test="ip4:192.0.2.1", mx_helo_test="~all")
    zone.add("xn--bcher-kva.test", "TXT", b"v=spf1 ?all")
    assert (await evaluate(zone, sender, helo=helo))[:3] == expected


@pytest.mark.parametrize(
    ("peer", "result"),
    [
        ("192.0.2.1", "pass"),
        ("::ffff:192.0.2.1", "pass"),
        ("::ffff:192.0.2.9", "fail"),
        ("2001:db8::7", "pass"),
        ("2001:db8::7%eth0", "pass"),
        ("2001:db9::7", "fail"),
        ("", "none"),
        ("unix:/run/socket", "none"),
        ("1.2.3", "none"),
    ],
)
async def test_the_clients_address(peer: str, result: str) -> None:
    zone = zone_with(x_test="ip4:192.0.2.0/30 ip6:2001:db8::/32 ip6:::ffff:192.0.2.9 -all")
    assert (await evaluate(zone, peer=peer)).result == result


async def test_a_scope_is_no_part_of_the_address_that_is_told() -> None:
    zone = zone_with(x_test="-all exp=why.test")
    zone.add("why.test", "TXT", b"%{c}")
    assert (await evaluate(zone, peer="FE80::1%eth0")).explanation == "fe80::1"


async def test_ip4_and_ip6_of_any_length() -> None:
    for bits in (0, 1, 31, 32):
        assert (await evaluate(zone_with(x_test=f"ip4:192.0.2.1/{bits} -all"))).result == "pass"
    near, far = zone_with(x_test="ip4:192.0.2.0/31 -all"), zone_with(x_test="ip4:192.0.2.2/31 -all")
    assert [(await evaluate(zone)).result for zone in (near, far)] == ["pass", "fail"]


async def test_includes_in_a_circle_and_a_redirect_to_itself() -> None:
    zone = zone_with(x_test="include:y.test -all", y_test="include:x.test -all")
    assert (await evaluate(zone)).result == "permerror"
    assert zone.questions["TXT"] == 11
    zone = zone_with(x_test="redirect=x.test")
    assert (await evaluate(zone)).result == "permerror"
    assert zone.questions["TXT"] == 11


async def test_ten_includes_of_ten_mx_of_ten_hosts_each() -> None:
    zone = zone_with(x_test=" ".join(f"include:i{number}.test" for number in range(10)))
    for number in range(10):
        owner = f"i{number}.test"
        zone.add(owner, "TXT", b"v=spf1 " + b" ".join(b"mx:m%d.%s" % (n, owner.encode()) for n in range(10)))
        for n in range(10):
            zone.add(f"m{n}.{owner}", "MX", *[Mx(1, f"h{host}.m{n}.{owner}") for host in range(10)])
            for host in range(10):
                zone.add(f"h{host}.m{n}.{owner}", "A", "198.51.100.1")
    assert (await evaluate(zone)).result == "permerror"
    assert zone.questions == {"TXT": 2, "MX": 9, "A": 90}


@pytest.mark.parametrize(("terms", "result"), [(10, "fail"), (11, "permerror")])
async def test_ten_terms_look_up(terms: int, result: str) -> None:
    zone = zone_with(x_test="a:h.test " * terms + "-all")
    zone.add("h.test", "A", "198.51.100.1")
    assert (await evaluate(zone)).result == result
    assert zone.questions["A"] == 10


@pytest.mark.parametrize(
    ("record", "result"),
    [
        ("a:n1.test exists:n2.test -all", "fail"),
        ("a:n1.test mx:n2.test exists:n3.test -all", "permerror"),
        ("ptr a:n1.test mx:n2.test -all", "permerror"),
        ("mx:three.test mx:three.test -all", "fail"),  # each is one term, whose hosts have no address at all
        ("mx:three.test mx:three.test a:n1.test -all", "permerror"),
        ("a:n1.test a:n2.test a:h.test", "pass"),
    ],
)
async def test_two_terms_may_find_nothing(record: str, result: str) -> None:
    zone = zone_with(x_test=record)
    zone.add("h.test", "A", "192.0.2.1")
    zone.add("three.test", "MX", *[Mx(1, f"m{number}.test") for number in range(3)])
    assert (await evaluate(zone)).result == result


async def test_hosts_without_an_address_of_the_clients_family_are_one_void_look_up() -> None:
    zone = zone_with(x_test="mx ip6:2001:db8::/32 -all")
    zone.add("x.test", "MX", *[Mx(1, f"m{number}.test") for number in range(5)])
    for number in range(5):
        zone.add(f"m{number}.test", "A", "198.51.100.1")
    assert (await evaluate(zone, peer="2001:db8::1")).result == "pass"
    assert zone.questions == {"TXT": 1, "MX": 1, "AAAA": 5}


async def test_a_null_mx_is_an_answer() -> None:
    """RFC 7505 §3: it says that there is no mail host, so a look-up that finds it is not void."""
    zone = zone_with(x_test="mx mx mx -all")
    zone.add("x.test", "MX", Mx(0, ""))
    assert (await evaluate(zone)).result == "fail"


@pytest.mark.parametrize(("hosts", "result"), [(10, "pass"), (11, "permerror")])
async def test_an_mx_has_ten_hosts(hosts: int, result: str) -> None:
    zone = zone_with(x_test="mx -all")
    zone.add("x.test", "MX", *[Mx(1, f"m{number}.test") for number in range(hosts)])
    zone.add("m9.test", "A", "192.0.2.1")
    assert (await evaluate(zone)).result == result
    assert zone.questions["A"] <= 10


REVERSE = "1.2.0.192.in-addr.arpa"


@pytest.mark.parametrize("silent", [None, ("n.y.test", "A"), (REVERSE, "PTR")])
async def test_names_of_the_client_that_lead_elsewhere_are_no_void_look_ups(
    silent: tuple[str, str] | None,
) -> None:
    """RFC 7208 §4.6.4: a void look-up has no answer, and whoever sends the mail chooses these names."""
    zone = zone_with(x_test="ptr ptr:y.test ptr:z.test -all")
    zone.add(REVERSE, "PTR", "n.y.test")
    zone.add("n.y.test", "A", "198.51.100.1")
    zone.silent |= {silent} if silent else set()
    assert (await evaluate(zone)).result == "fail"


async def test_the_first_ten_names_of_the_client_count_and_are_looked_up_once() -> None:
    zone = zone_with(x_test="ptr:other.test exists:%{p}.p.test ptr:y.test -all")
    zone.add("1.2.0.192.in-addr.arpa", "PTR", *[f"n{number}.y.test" for number in range(11)])
    zone.add("n10.y.test", "A", "192.0.2.1")
    assert (await evaluate(zone)).result == "permerror"  # three terms that find nothing
    assert zone.questions == {"TXT": 1, "PTR": 1, "A": 11}
    zone.add("n9.y.test", "A", "192.0.2.1")
    assert (await evaluate(zone)).result == "pass"


async def test_a_silent_dns_is_temporary_unless_it_was_not_needed() -> None:
    zone = zone_with(x_test="mx -all", z_test="a -all")
    zone.add("x.test", "MX", Mx(1, "m1.test"), Mx(2, "m2.test"))
    zone.add("m2.test", "A", "192.0.2.1")
    zone.silent = {("m1.test", "A"), ("z.test", "A")}
    assert (await evaluate(zone)).result == "pass"
    assert (await evaluate(zone, peer="192.0.2.2")).result == "temperror"
    assert (await evaluate(zone, "a@z.test")).result == "temperror"
    zone.silent = {("1.2.0.192.in-addr.arpa", "PTR")}
    zone.add("y.test", "TXT", b"v=spf1 ptr ?all")
    assert (await evaluate(zone, "a@y.test")).result == "neutral"  # RFC 7208 §5.5
    zone.silent = {("y.test", "TXT")}
    assert (await evaluate(zone, "a@y.test")).result == "temperror"


@pytest.mark.parametrize(
    "record",
    [
        b"v=spf1 " + b"a:" + b"x" * 65_000,
        b"v=spf1 " + b"ip4:192.0.2.9 " * 4700,
        b"v=spf1 \xff",
        b"v=spf1 +all \x00",
    ],
)
async def test_a_record_of_64_kib_or_of_any_octets_is_permerror(record: bytes) -> None:
    zone = SpfZone()
    zone.add("x.test", "TXT", record, b"other \xff\x00" * 9)
    assert (await evaluate(zone)).result == "permerror"
    zone.records.clear()
    zone.add("x.test", "TXT", b"v=spf1 +all", b"v=spf1 -all")
    assert (await evaluate(zone)).result == "permerror"


async def test_macros_that_blow_up_ask_for_a_name_of_253_at_most() -> None:
    class Recorder(SpfZone):
        def _answer(self, name: str, rdtype: str) -> list[Any]:
            names.append(name)
            return super()._answer(name, rdtype)

    names: list[str] = []
    zone = Recorder()
    zone.add("x.test", "TXT", b"v=spf1 " + (b"exists:" + b"%{s}.%{h}." * 49 + b"x.test ") * 2 + b"-all")
    local = ".".join(["a\\b"] * 16)
    assert (await evaluate(zone, f"{local}@x.test", helo="h" * 60 + ".test")).result == "fail"
    assert len(names) == 3
    assert all(len(name.replace("\\\\", "\\")) <= 253 for name in names)
    assert "a\\\\b" in names[1], "a backslash stands for itself"


@pytest.mark.parametrize("target", ["%{h}", "%{l}.x.test", "%{l}"])
async def test_what_a_client_says_makes_no_impossible_question(target: str) -> None:
    for helo, local in (("a..b.test", "a..b"), ("x" * 64 + ".test", "x" * 64), ("", '"."'), ("ü.test", "ü")):
        for term in ("a", "mx", "exists", "ptr"):
            zone = zone_with(x_test=f"{term}:{target} -all")
            assert (await evaluate(zone, f"{local}@x.test", helo=helo)).result == "fail"
            assert zone.questions["TXT"] == sum(zone.questions.values()) or '"' in local


@pytest.mark.parametrize(
    ("texts", "explanation"),
    [
        ([b"%{c} may not, says %{d}"], "192.0.2.1 may not, says x.test"),
        ([b"%{r} at %{t}"], "r.test at 1"),
        ([b"one", b"two"], None),
        ([b"\xff"], None),
        ([b"%{p}"], "unknown"),
        ([b"x" * 60_000], None),
        ([b"y" * 5000], "y" * 500),
        ([], None),
    ],
)
async def test_the_explanation_of_a_fail(texts: list[bytes], explanation: str | None) -> None:
    zone = zone_with(x_test="-all exp=why.test")
    zone.add("why.test", "TXT", *texts) if texts else None
    assert await evaluate(zone) == ("fail", "x.test", "mailfrom", explanation)
    silent = zone_with(x_test="-all exp=%{l}.test")
    silent.silent.add(("a.test", "TXT"))
    assert await evaluate(silent) == ("fail", "x.test", "mailfrom", None)


async def test_the_explanation_is_of_the_record_that_decided() -> None:
    zone = zone_with(
        x_test="include:i.test redirect=r.test exp=no.test",
        i_test="-all exp=no.test",
        r_test="-all exp=yes.test",
    )
    zone.add("no.test", "TXT", b"no")
    zone.add("yes.test", "TXT", b"yes")
    assert (await evaluate(zone)).explanation == "yes"


async def test_an_explanation_that_takes_its_time_does_not_put_the_result_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Hanging(SpfZone):
        async def txt(self, name: str) -> list[bytes]:
            if name == "why.test":
                await asyncio.Event().wait()
            return await super().txt(name)

    monkeypatch.setattr(spf, "EXPLANATION_S", 0)
    zone = Hanging(zone_with(x_test="-all exp=why.test").records)
    assert await evaluate(zone) == ("fail", "x.test", "mailfrom", None)


async def test_a_deadline_of_the_caller_ends_it() -> None:
    class Hanging(SpfZone):
        async def ipv4(self, host: str) -> list[str]:
            asked.set()
            await asyncio.Event().wait()
            return []

    asked = asyncio.Event()
    zone = Hanging(zone_with(x_test="mx -all").records)
    zone.add("x.test", "MX", Mx(1, "m1.test"), Mx(1, "m2.test"))
    task = asyncio.create_task(evaluate(zone))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}, "no look-up is left"


class ForgetfulZone(SpfZone):
    """A cache that has let go of the addresses of hosts, and has all else."""

    async def ipv4(self, host: str) -> list[str]:
        raise NotAtHand


@pytest.mark.parametrize("terms", ["ptr -all", "mx -all", "a -all", "exists:%{p}.x.test -all"])
async def test_an_address_that_is_not_at_hand_is_asked_for_and_not_passed_over(terms: str) -> None:
    zone = ForgetfulZone()
    zone.add("x.test", "TXT", b"v=spf1 " + terms.encode())
    zone.add("x.test", "MX", Mx(10, "mail.x.test"))
    zone.add("1.2.0.192.in-addr.arpa", "PTR", "mail.x.test")
    with pytest.raises(NotAtHand):
        await evaluate(zone)
