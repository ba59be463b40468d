"""DANE: somebody strips TLS, or stands in with a certificate of his own, before a host that has TLSA records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog

from conf.settings import Dns
from maild.dnssec import DnssecCheck
from storage.records import RecipientRow
from tests.support.clients.attempts import shown_attempts
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.tlsa import tlsa_record
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import ManualClock
from tests.support.worlds.sts_world import StsWorld

DOMAIN, HOST = "there.test", "mx.there.test"


class DaneWorld:
    """A signed domain whose host shows a certificate of an unknown authority, and that authority's own."""

    def __init__(self, folder: Path, names: tuple[str, ...] = (HOST,), **dns: Any) -> None:
        (folder / "ca").mkdir()
        (folder / "data").mkdir()
        self.ca = ThrowawayCa(folder / "ca")
        self.mx = Mx(starttls="good", tls_context=self.ca.server_context(names, shows_ca=True))
        self.sending = Sending(folder / "data", mx=self.mx, dns_settings={"trust_ad": True, **dns})
        self.leaf = self.ca.certificate(names[0])

    async def __aenter__(self) -> "DaneWorld":
        await self.sending.__aenter__()
        self.dns = self.sending.dns
        self.dns.add_mx(DOMAIN, host=HOST)
        self.dns.signed.add(DOMAIN)
        await self.sending.queue.start()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.sending.__aexit__(*error)

    @property
    def tlsa_name(self) -> str:
        return f"_{self.mx.port}._tcp.{HOST}"

    def add(self, *records: str) -> None:
        self.dns.add(self.tlsa_name, "TLSA", *records)

    async def sent(self, status: str) -> RecipientRow:
        message_id = await self.sending.send(f"you@{DOMAIN}")
        await self.sending.until(message_id, status)
        (row,) = await self.sending.store.recipients(message_id)
        return row


def test_the_setting_is_off_by_default() -> None:
    assert Dns().trust_ad is False


@pytest.mark.parametrize("matching", [0, 1, 2])
@pytest.mark.parametrize("selector", [0, 1])
@pytest.mark.parametrize("usage", [2, 3])
async def test_a_record_vouches_for_a_host_that_no_authority_knows(
    tmp_path: Path, usage: int, selector: int, matching: int
) -> None:
    async with DaneWorld(tmp_path) as world:
        certificate = world.leaf if usage == 3 else world.ca.certificate("ca")
        world.add(
            tlsa_record(usage, selector, matching, certificate),
            tlsa_record(3, 1, 1, world.ca.certificate("ca")),
        )
        row = await world.sent("delivered")
        assert row.tls is not None and row.tls.endswith(" (dane)")
        assert world.mx.received[0].tls


@pytest.mark.parametrize("usage", [2, 3])
async def test_a_certificate_that_no_record_vouches_for_gets_nothing(tmp_path: Path, usage: int) -> None:
    async with DaneWorld(tmp_path) as world:
        (tmp_path / "other").mkdir()
        other = ThrowawayCa(tmp_path / "other")
        other.server_context([HOST])
        world.add(tlsa_record(usage, 1, 1, other.certificate(HOST if usage == 3 else "ca")))
        row = await world.sent("deferred")
        assert (row.enhanced_code, row.tls) == ("4.7.0", None)
        assert row.response == (
            f"TLS policy dane: {HOST} [127.0.0.1]: no TLSA record of the host vouches for its certificate"
        )
        assert not any(line.startswith("MAIL") for line in world.mx.commands)


@pytest.mark.parametrize("is_right", [True, False])
async def test_the_attempt_tells_who_vouched(tmp_path: Path, is_right: bool) -> None:
    async with DaneWorld(tmp_path) as world:
        certificate = world.leaf if is_right else world.ca.certificate("ca")
        world.add(tlsa_record(3, 1, 1, certificate))
        message_id = await world.sending.send(f"you@{DOMAIN}")
        await world.sending.until_attempts(message_id, 1)
        (attempt,) = await shown_attempts(world.sending.store, message_id)
        (host,) = attempt["evidence"]["hosts"]
        assert (host["tlsPolicy"], host["tlsLevel"]) == ("dane", "dane")
        expected = ("dane", None) if is_right else (None, "certificate-not-trusted")
        assert (host["verifiedBy"], host["tlsFailure"]) == expected


async def test_the_key_counts_and_not_the_name(tmp_path: Path) -> None:
    async with DaneWorld(tmp_path, names=("elsewhere.test",)) as world:
        world.add(tlsa_record(3, 1, 1, world.leaf))
        await world.sent("delivered")


@pytest.mark.parametrize(("name", "status"), [(DOMAIN, "delivered"), ("elsewhere.test", "deferred")])
async def test_below_an_authority_the_name_counts(tmp_path: Path, name: str, status: str) -> None:
    async with DaneWorld(tmp_path, names=(name,)) as world:
        world.add(tlsa_record(2, 0, 1, world.ca.certificate("ca")))
        await world.sent(status)


async def test_a_host_can_not_be_its_own_authority(tmp_path: Path) -> None:
    async with DaneWorld(tmp_path) as world:
        world.add(tlsa_record(2, 0, 1, world.leaf))
        await world.sent("deferred")


@pytest.mark.parametrize("starttls", ["", "broken"])
async def test_who_strips_tls_sees_nothing(tmp_path: Path, starttls: str) -> None:
    async with DaneWorld(tmp_path) as world:
        world.add(tlsa_record(3, 1, 1, world.leaf))
        world.mx.starttls = starttls
        row = await world.sent("deferred")
        assert row.enhanced_code == "4.7.0"
        assert row.response is not None and row.response.startswith("TLS policy dane: ")
        assert not any(line.startswith("MAIL") for line in world.mx.commands)


@pytest.mark.parametrize("unusable", ["0 1 1 " + "00" * 32, "3 1 9 " + "00" * 32, "3 7 0 00"])
async def test_records_that_can_not_be_used_demand_tls_alone(tmp_path: Path, unusable: str) -> None:
    async with DaneWorld(tmp_path) as world:
        world.add(unusable)
        row = await world.sent("delivered")
        assert row.tls is not None and row.tls.endswith(" (dane)")
        world.mx.starttls = ""
        world.sending.clock.forward(60)  # the kept-open session is too old now
        assert (await world.sent("deferred")).enhanced_code == "4.7.0"


@pytest.mark.parametrize("silent", ["SERVFAIL", "lost"])
async def test_a_host_whose_records_can_not_be_had_is_passed_over(tmp_path: Path, silent: str) -> None:
    async with DaneWorld(tmp_path, timeout_s=2) as world:
        (world.dns.servfail if silent == "SERVFAIL" else world.dns.drop).add(world.tlsa_name)
        row = await world.sent("deferred")
        assert row.response == f"TLS policy dane: DNS does not answer for the TLSA records of {HOST}"
        assert (row.enhanced_code, world.mx.connections) == ("4.7.0", 0)


async def test_of_two_hosts_the_one_that_can_be_proven_takes_it(tmp_path: Path) -> None:
    async with DaneWorld(tmp_path) as world:
        world.dns.add_mx(DOMAIN, host="first.there.test", preference=1)
        world.dns.servfail.add(f"_{world.mx.port}._tcp.first.there.test")
        world.add(tlsa_record(3, 1, 1, world.leaf))
        assert (await world.sent("delivered")).remote_host == HOST


async def test_silence_about_one_family_of_addresses_turns_nothing_off(tmp_path: Path) -> None:
    async with DaneWorld(tmp_path) as world:
        world.dns.servfail.add((HOST, "AAAA"))
        world.add(tlsa_record(3, 1, 1, world.ca.certificate("ca")))
        await world.sent("deferred")


@pytest.mark.parametrize("unsigned", ["MX", "host", "TLSA"])
async def test_what_is_not_signed_does_not_count(tmp_path: Path, unsigned: str) -> None:
    async with DaneWorld(tmp_path) as world:
        world.add(tlsa_record(3, 1, 1, world.ca.certificate("ca")))
        world.dns.signed = {
            "MX": {HOST},
            "host": set(),
            "TLSA": set(),
        }[unsigned]
        if unsigned != "MX":
            world.dns.signed_exactly = {DOMAIN} if unsigned == "host" else {DOMAIN, HOST}
        row = await world.sent("delivered")
        assert row.tls is not None and "(" not in row.tls
        if unsigned != "TLSA":
            assert (world.tlsa_name, "TLSA") not in world.dns.queries


@pytest.mark.parametrize(
    ("records", "asked_for"),
    [
        ({"host.there.test": "right"}, "host.there.test"),
        ({"host.there.test": "wrong"}, None),
        # RFC 7672 §2.1.3: the alias counts where its target has none.
        ({HOST: "right"}, HOST),
        ({HOST: "wrong"}, None),
        ({"host.there.test": "right", HOST: "wrong"}, "host.there.test"),
        ({"host.there.test": "wrong", HOST: "right"}, None),
    ],
)
async def test_behind_an_alias_the_records_of_its_target_count(
    tmp_path: Path, records: dict[str, str], asked_for: str | None
) -> None:
    asked: list[str | None] = []
    async with DaneWorld(tmp_path) as world:
        assert world.mx.tls_context is not None
        world.mx.tls_context.sni_callback = lambda _, name, __: asked.append(name)
        world.dns.records[HOST, "CNAME"] = ["host.there.test."]
        world.dns.ttls[HOST, "CNAME"] = 300
        world.dns.records["host.there.test", "A"] = world.dns.records.pop((HOST, "A"))
        world.dns.ttls["host.there.test", "A"] = 300
        for name, kind in records.items():
            shown = world.leaf if kind == "right" else world.ca.certificate("ca")
            world.dns.add(f"_{world.mx.port}._tcp.{name}", "TLSA", tlsa_record(3, 1, 1, shown))
        row = await world.sent("deferred" if asked_for is None else "delivered")
        if asked_for is None:
            assert row.response is not None and row.response.startswith("TLS policy dane: ")
        else:
            assert row.tls is not None and row.tls.endswith(" (dane)")
            assert asked == [asked_for]


async def test_without_trust_in_the_resolver_nobody_is_asked(tmp_path: Path) -> None:
    async with DaneWorld(tmp_path, trust_ad=False) as world:
        world.add(tlsa_record(3, 1, 1, world.ca.certificate("ca")))
        await world.sent("delivered")
        assert (world.tlsa_name, "TLSA") not in world.dns.queries


@pytest.mark.parametrize(
    ("signed", "trust_ad", "is_near", "told"),
    [
        ({"org", "net"}, True, True, []),
        ({"org", "net"}, True, False, ["dane_forgeable"]),
        ({"org"}, True, True, ["dane_not_validated"]),
        (set(), True, False, ["dane_forgeable", "dane_not_validated"]),
        ({"org", "net"}, False, True, ["dane_off True"]),
        (set(), False, True, ["dane_off False"]),
        (None, False, True, ["dane_off None"]),
        (None, True, True, []),
    ],
)
async def test_the_start_tells_whether_there_is_dane(
    signed: set[str] | None, trust_ad: bool, is_near: bool, told: list[str]
) -> None:
    async with DnsServer() as dns:
        for zone in ("org", "net"):
            dns.add(zone, "TXT", '"a zone"')
        dns.signed = signed or set()
        if signed is None:
            dns.servfail = {"org", "net"}
        check = DnssecCheck(replace(dns.settings, trust_ad=trust_ad), is_near, ManualClock())
        with structlog.testing.capture_logs() as lines:
            await check.run()
    seen = [" ".join(filter(None, [one["event"], str(one.get("resolver_validates", ""))])) for one in lines]
    assert seen == told


@pytest.mark.parametrize("is_ours", [True, False])
async def test_it_stands_before_mta_sts(tmp_path: Path, is_ours: bool) -> None:
    """RFC 8461 §2: what the policy says of the host counts neither for it nor against it."""
    async with StsWorld(tmp_path, trusts_resolver=True) as world:
        world.publish("enforce", "mx.elsewhere.test" if is_ours else HOST)
        shown = world.ca.certificate(HOST if is_ours else "ca")
        dns = world.sending.dns
        dns.add(f"_{world.mx.port}._tcp.{HOST}", "TLSA", tlsa_record(3, 1, 1, shown))
        dns.signed.add(DOMAIN)
        row = await world.sent("delivered" if is_ours else "deferred")
        if is_ours:
            assert row.tls is not None and row.tls.endswith(" (dane)")
        else:
            assert row.response is not None and row.response.startswith("TLS policy dane: ")


async def test_what_is_known_costs_no_look_up(tmp_path: Path) -> None:
    async with DaneWorld(tmp_path) as world:
        world.add(tlsa_record(3, 1, 1, world.leaf))
        for _ in range(5):
            await world.sent("delivered")
        assert set(world.dns.queries.values()) == {1}
        assert world.dns.queries[world.tlsa_name, "TLSA"] == 1
