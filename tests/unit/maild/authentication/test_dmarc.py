"""Whose policy holds (RFC 9989 §4.10), and what is aligned with an author."""

import pytest

from maild.authentication.dmarc import (
    MAX_QUERIES,
    DmarcResult,
    Identifier,
    discover,
    evaluate_dmarc,
    organization,
    read_record,
    targets,
)
from maild.resolver import DnsTemporary
from tests.support.worlds.zone import Zone

REJECT = "v=DMARC1; p=reject"


async def judged(zone: Zone, author: str, *identifiers: Identifier) -> DmarcResult:
    return await evaluate_dmarc(author, await discover(zone, author), identifiers, zone)


def dkim(domain: str, result: str = "pass") -> Identifier:
    return Identifier("dkim", domain, result)


def spf(domain: str, result: str = "pass") -> Identifier:
    return Identifier("spf", domain, result)


def test_a_walk_of_a_long_name_is_short() -> None:
    labels = [f"l{n}" for n in range(30)]
    walked = list(targets(".".join(labels)))
    assert len(walked) == MAX_QUERIES
    assert walked[0] == ".".join(labels)
    assert walked[1] == ".".join(labels[-7:])
    assert walked[-1] == "l29"
    assert list(targets("a.mail.example.com")) == [
        "a.mail.example.com",
        "mail.example.com",
        "example.com",
        "com",
    ]


@pytest.mark.parametrize(
    ("records", "author", "expected"),
    [
        ({"example.com": "p=none"}, "a.mail.example.com", "example.com"),
        ({"example.com": "p=none", "mail.example.com": "p=none"}, "a.mail.example.com", "example.com"),
        (
            {"example.com": "p=none", "mail.example.com": "p=none; psd=n"},
            "a.mail.example.com",
            "mail.example.com",
        ),
        ({"com": "p=none; psd=y"}, "a.mail.example.com", "example.com"),
        ({"com": "p=none; psd=y", "mail.example.com": "p=none"}, "a.mail.example.com", "example.com"),
        ({"com": "p=none; psd=y"}, "com", "com"),
        ({"gov.uk": "p=none; psd=y", "uk": "p=none; psd=y"}, "x.gov.uk", "x.gov.uk"),
        ({"blogs.host.com": "p=none; psd=y", "host.com": "p=none"}, "blogs.host.com", "blogs.host.com"),
        ({}, "a.mail.example.com", "a.mail.example.com"),
    ],
)
async def test_the_organization_of_a_name(records: dict[str, str], author: str, expected: str) -> None:
    zone = Zone({f"_dmarc.{name}": f"v=DMARC1; {text}" for name, text in records.items()})
    assert organization(author, (await discover(zone, author)).records) == expected


@pytest.mark.parametrize(
    ("identifiers", "record", "expected"),
    [
        ([dkim("bank.test")], "p=reject", "pass"),
        ([spf("bank.test")], "p=reject", "pass"),
        ([dkim("mail.bank.test")], "p=reject", "pass"),
        ([dkim("mail.bank.test")], "p=reject; adkim=s", "fail"),
        ([spf("mail.bank.test")], "p=reject; adkim=s", "pass"),
        ([spf("mail.bank.test")], "p=reject; aspf=s", "fail"),
        ([dkim("evil.test"), spf("evil.test")], "p=reject", "fail"),
        ([dkim("evilbank.test")], "p=reject", "fail"),
        ([dkim("test")], "p=reject", "fail"),
        ([dkim("bank.test", "fail"), spf("bank.test", "softfail")], "p=none", "fail"),
        ([dkim("bank.test", "temperror")], "p=reject", "temperror"),
        ([dkim("evil.test", "temperror"), spf("evil.test", "temperror")], "p=reject", "fail"),
        ([dkim("bank.test", "policy")], "p=reject", "fail"),
        ([], "p=reject", "fail"),
    ],
)
async def test_what_passes_must_be_the_authors(
    identifiers: list[Identifier], record: str, expected: str
) -> None:
    zone = Zone({"_dmarc.bank.test": f"v=DMARC1; {record}"})
    assert (await judged(zone, "bank.test", *identifiers)).result == expected


async def test_a_name_below_a_public_suffix_is_not_another_ones() -> None:
    zone = Zone({"_dmarc.co.test": "v=DMARC1; p=reject; psd=y"})
    assert (await judged(zone, "bank.co.test", dkim("evil.co.test"))).result == "fail"
    assert (await judged(zone, "bank.co.test", dkim("mail.bank.co.test"))).result == "pass"


async def test_an_organization_apart_is_not_aligned() -> None:
    zone = Zone({"_dmarc.bank.test": REJECT, "_dmarc.shop.bank.test": "v=DMARC1; p=none; psd=n"})
    assert (await judged(zone, "bank.test", dkim("shop.bank.test"))).result == "fail"


@pytest.mark.parametrize(
    ("record", "author", "exists", "policy"),
    [
        ("p=reject", "bank.test", True, "reject"),
        ("p=quarantine", "bank.test", True, "quarantine"),
        ("p=none", "bank.test", True, "none"),
        ("p=reject", "a.bank.test", True, "reject"),
        ("p=reject; sp=none", "a.bank.test", True, "none"),
        ("p=reject; sp=none", "bank.test", True, "reject"),
        ("p=none; np=reject", "a.bank.test", True, "none"),
        ("p=none; np=reject", "a.bank.test", False, "reject"),
        ("p=none; sp=quarantine; np=reject", "a.bank.test", True, "quarantine"),
        ("p=reject; t=y", "bank.test", True, "quarantine"),
        ("p=quarantine; t=y", "bank.test", True, "none"),
        ("p=none; t=y", "bank.test", True, "none"),
        ("p=none; sp=reject; t=y", "a.bank.test", True, "quarantine"),
        ("p=none; np=reject; t=y", "a.bank.test", False, "quarantine"),
        ("p=reject; pct=0; rf=afrf; ri=1", "bank.test", True, "reject"),
        ("P=reject", "bank.test", True, "reject"),
        ("p=none; P=reject", "bank.test", True, "none"),
        ("rua=mailto:a@bank.test", "bank.test", True, "none"),
        ("p=nonsense; rua=mailto:a@bank.test", "bank.test", True, "none"),
        ("p=nonsense; rua=a@bank.test , https://bank.test/dmarc", "bank.test", True, "none"),
        ("p=reject; sp=nonsense; rua=mailto:a@bank.test", "bank.test", True, "none"),
    ],
)
async def test_the_policy_that_is_asked_for(record: str, author: str, exists: bool, policy: str) -> None:
    zone = Zone({"_dmarc.bank.test": f"v=DMARC1; {record}"})
    if exists:
        zone.addresses[author] = ["192.0.2.1"]
    assert await judged(zone, author, dkim("evil.test")) == DmarcResult("fail", policy, "bank.test")


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["v=spf1 -all"],
        ["v=DMARC1; p=nonsense"],
        ["v=DMARC1; rua=a@bank.test"],
        ["v=DMARC1; p=nonsense; rua=mailto:"],
        ["v=DMARC1; p=nonsense; rua=:, //bank.test, a b:c"],
        ["v=DMARC1"],
        ["v=dmarc1; p=reject"],
        [" v=DMARC1; p=reject"],
        ["p=reject; v=DMARC1"],
        ["v=DMARC1; p=reject", "v=DMARC1; p=none"],
        ["v=DMARC1; p=reject" + "x" * 5000],
        ["\xff\xfe"],
    ],
)
async def test_what_is_no_policy_asks_for_nothing(texts: list[str]) -> None:
    zone = Zone({"_dmarc.bank.test": texts}) if texts else Zone()
    assert await judged(zone, "bank.test", dkim("evil.test")) == DmarcResult("none")


def test_other_records_beside_it_are_passed_over() -> None:
    others = [b"google-site=1", b" v=DMARC1; p=none", b"v=dmarc1; p=none", b"\xff"]
    record = read_record("x.test", [*others, b"v = DMARC1 ; p = REJECT ;;"])
    assert record is not None
    assert record.policy == "reject"


@pytest.mark.parametrize("text", [b"V=DMARC1; p=reject", b"V = DMARC1 ;\tP = reject"])
def test_the_name_of_the_version_is_in_any_case(text: bytes) -> None:
    """RFC 9989 §4.8: the grammar has a case for its value alone."""
    record = read_record("x.test", [text])
    assert record is not None
    assert record.policy == "reject"


async def test_dns_that_does_not_answer_is_no_policy() -> None:
    zone = Zone({"_dmarc.bank.test": REJECT})
    zone.temporary.add("_dmarc.bank.test")
    with pytest.raises(DnsTemporary):
        await discover(zone, "bank.test")
    zone.temporary = {"_dmarc.mail.bank.test"}
    assert (await judged(zone, "bank.test", dkim("mail.bank.test"))).result == "temperror"


@pytest.mark.parametrize(
    "identifiers", [[dkim("a.bank.test"), spf("b.bank.test")], [dkim("b.bank.test"), dkim("a.bank.test")]]
)
async def test_silence_about_one_name_does_not_hide_another_that_is_aligned(
    identifiers: list[Identifier],
) -> None:
    zone = Zone({"_dmarc.bank.test": REJECT})
    zone.temporary.add("_dmarc.a.bank.test")
    assert (await judged(zone, "bank.test", *identifiers)).result == "pass"


async def test_strangers_cause_no_more_look_ups_than_the_walks_of_their_names() -> None:
    zone = Zone({"_dmarc.bank.test": REJECT})
    await judged(zone, "bank.test", *[dkim(f"d{n}.evil.test") for n in range(8)])
    assert zone.asked == {"_dmarc.bank.test": 1, "_dmarc.test": 1}


async def test_a_names_own_policy_counts_before_that_of_its_organization() -> None:
    zone = Zone(
        {"_dmarc.bank.test": "v=DMARC1; p=reject; sp=reject", "_dmarc.mail.bank.test": "v=DMARC1; p=none"}
    )
    assert (await judged(zone, "mail.bank.test")).policy == "none"
    assert (await judged(zone, "other.bank.test")).policy == "reject"


@pytest.mark.parametrize(
    ("record", "identifiers", "result"),
    [
        ("p=reject", [dkim("shop.bank.test")], "pass"),
        ("p=reject", [spf("evil.test"), dkim("shop.bank.test")], "pass"),
        ("p=reject", [], "fail"),
        ("p=reject", [dkim("shop.bank.test", "fail"), spf("evil.test", "fail")], "fail"),
        ("p=reject; adkim=s", [dkim("bank.test")], "fail"),
        # No organization is above a top label: these are somebody else's, whatever the answer would be.
        ("p=reject", [dkim("bank.example"), spf("evil.example")], "fail"),
        ("p=reject", [dkim("shoptest"), spf("shop.bank.test.example", "temperror")], "fail"),
        # Whether these belong to the author's organization nobody can say now.
        ("p=reject", [dkim("evil.test")], "temperror"),
        ("p=reject", [dkim("bank.test")], "temperror"),
        ("p=reject", [dkim("mail.shop.bank.test")], "temperror"),
        ("p=reject", [dkim("bank.test", "temperror")], "temperror"),
        ("p=reject; adkim=s", [dkim("bank.test"), spf("bank.test")], "temperror"),
    ],
)
async def test_with_a_record_of_its_own_silence_above_matters_for_other_names_alone(
    record: str, identifiers: list[Identifier], result: str
) -> None:
    zone = Zone({"_dmarc.shop.bank.test": f"v=DMARC1; {record}"})
    zone.temporary.add("_dmarc.bank.test")
    found = await judged(zone, "shop.bank.test", *identifiers)
    assert found.result == result
    assert found.policy == ("reject" if result == "fail" else "none")
