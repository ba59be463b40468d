"""Which hosts are one destination, and that nobody gets among those of others with a host of his own."""

import pytest

from conf.settings import PaceRule
from maild.outbound.routing.host_groups import PROVIDERS, SHOWN_HOSTS, HostGroups

GROUPS = HostGroups(
    {
        "partner": PaceRule(domains=("partner.test",), mx=("*.partner-hosts.test", "mx.one.test")),
        "other": PaceRule(mx=("*.deep.partner-hosts.test",)),
    }
)


def group(host: str, *best: str, domain: str = "there.test") -> str:
    return GROUPS.of_host(domain, host, frozenset(best or (host,)))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("aspmx.l.google.com", "google.com"),
        ("alt4.aspmx.l.google.com", "google.com"),
        ("aspmx2.googlemail.com", "google.com"),
        ("acme-dev.mail.protection.outlook.com", "mail.protection.outlook.com"),
        ("outlook-com.olc.protection.outlook.com", "olc.protection.outlook.com"),
        ("mta7.am0.yahoodns.net", "yahoodns.net"),
        ("mx.sub.partner-hosts.test", "[partner]"),
        ("mx.deep.partner-hosts.test", "[other]"),
        ("mx.one.test", "[partner]"),
    ],
)
def test_a_provider_or_a_section_is_one(host: str, expected: str) -> None:
    assert group(host) == expected


@pytest.mark.parametrize(
    "host",
    [
        "google.com.evil.test",
        "notgoogle.com",
        "aspmx.l.google.com.evil.test",
        "evilyahoodns.net",
        "partner-hosts.test",
        "mx.mx.one.test",
        "partner.test",
    ],
)
def test_a_name_that_only_looks_so_is_itself(host: str) -> None:
    assert group(host) == host


def test_a_section_that_names_the_domain_has_all_of_its_hosts() -> None:
    assert group("aspmx.l.google.com", domain="partner.test") == "[partner]"
    assert group("any.host.test", domain="partner.test") == "[partner]"


def test_domains_with_the_same_best_hosts_are_one_group() -> None:
    found = {
        group(host, "mx2.p.test", "mx1.p.test", domain=f"d{n}.test")
        for n, host in enumerate(("mx1.p.test", "mx2.p.test"))
    }
    assert found == {"mx1.p.test mx2.p.test"}


def test_a_host_beside_those_of_others_makes_another_group() -> None:
    victim = group("mx1.p.test", "mx1.p.test", "mx2.p.test")
    mixed = {group(host, "mx1.p.test", "mx2.p.test", "evil.test") for host in ("mx1.p.test", "evil.test")}
    assert victim not in mixed
    # Of lower preference, or beside a provider: what it does is told of itself alone.
    assert group("evil.test", "mx1.p.test", "mx2.p.test") == "evil.test"
    assert group("evil.test", "aspmx.l.google.com", "evil.test") == "aspmx.l.google.com evil.test"
    assert group("aspmx.l.google.com", "aspmx.l.google.com", "evil.test") == "google.com"


def test_a_long_set_of_hosts_is_not_cut_into_that_of_others() -> None:
    many = [f"mx{number:02}.p.test" for number in range(SHOWN_HOSTS)]
    assert group(many[0], *many) == " ".join(many)
    assert group(many[0], *many, "zzz.evil.test") == many[0]


def test_providers_are_zones_of_two_labels_at_least() -> None:
    assert all("." in zone for zone in PROVIDERS)
