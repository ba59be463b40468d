"""What answers from DNS say about a domain's records."""

import base64

import pytest

from controlplane.domains import checks
from controlplane.domains.checks import (
    CONFLICTING,
    MISMATCH,
    MISSING,
    OK,
    UNAVAILABLE,
    Answer,
    Finding,
    Ours,
    PublishedKey,
    Record,
)

HOST = "mx.host.example"
OURS = Ours(HOST, frozenset({HOST, "agents.example"}))
PUBLIC = base64.b64encode(bytes(range(256)) + bytes(38)).decode()
KEYS = [PublishedKey("s1", PUBLIC, True)]


def wanted(purpose: str) -> Record:
    records = checks.records("acme.dev", HOST, KEYS, challenge="abc123")
    return next(one for one in records if one.purpose == purpose)


def found(purpose: str, *answers: Answer, quorum: int = 2) -> Finding:
    """Of two resolvers that say the same, unless more is given."""
    given = answers if len(answers) > 1 else answers * 2
    return checks.judge(wanted(purpose), given, quorum, OURS)


def status(purpose: str, *answers: Answer) -> str:
    return found(purpose, *answers).status


def test_records_are_those_of_the_decisions() -> None:
    shown = [record.shown() for record in checks.records("acme.dev", HOST, KEYS, challenge="abc123")]
    assert shown[0] == {
        "purpose": "ownership",
        "type": "TXT",
        "name": "_svc-challenge.acme.dev",
        "value": "svc-verify=abc123",
        "priority": None,
        "required": True,
        "status": "unchecked",
        "observed": [],
    }
    rows = [(one["purpose"], one["type"], one["name"], one["priority"], one["required"]) for one in shown]
    assert rows[1:] == [
        ("mx", "MX", "acme.dev", 10, True),
        ("spf", "TXT", "acme.dev", None, True),
        ("dkim", "TXT", "s1._domainkey.acme.dev", None, True),
        ("dmarc", "TXT", "_dmarc.acme.dev", None, False),
    ]
    assert shown[1]["value"] == HOST
    assert shown[4]["value"] == "v=DMARC1; p=quarantine"


def test_records_of_a_shared_domain_prove_nothing_and_get_reports() -> None:
    purposes = checks.records("agents.example", HOST, KEYS, reports_to="postmaster@agents.example")
    assert [one.purpose for one in purposes] == ["mx", "spf", "dkim", "dmarc"]
    assert purposes[3].value == "v=DMARC1; p=quarantine; rua=mailto:postmaster@agents.example"


# Resolvers ---------------------------------------------------------------------------------------

RIGHT = ["svc-verify=abc123"]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([RIGHT, RIGHT], OK),
        ([RIGHT, RIGHT, None], OK),
        ([RIGHT, None], UNAVAILABLE),
        ([None, None], UNAVAILABLE),
        ([RIGHT, []], CONFLICTING),
        ([RIGHT, ["svc-verify=other"]], CONFLICTING),
        ([RIGHT, RIGHT, []], CONFLICTING),
        ([[], []], MISSING),
        ([[], ["svc-verify=other"]], MISMATCH),
        ([["svc-verify=other"], ["svc-verify=other"]], MISMATCH),
    ],
)
def test_resolvers_must_agree(answers: list[Answer], expected: str) -> None:
    assert checks.judge(wanted("ownership"), answers, 2, OURS).status == expected


def test_one_resolver_decides_where_one_is_enough() -> None:
    assert found("ownership", RIGHT, quorum=1).status == OK
    assert checks.judge(wanted("ownership"), [None], 1, OURS).status == UNAVAILABLE


def test_observed_holds_what_all_resolvers_said_once() -> None:
    finding = found("mx", ["10 other.example", f"20 {HOST}"], ["10 other.example"])
    assert finding.observed == ("10 other.example", f"20 {HOST}")


def test_observed_is_bounded() -> None:
    finding = found("ownership", [f"{number}{'x' * 5000}" for number in range(100)])
    assert len(finding.observed) == checks.OBSERVED_MAX
    assert all(len(text) == checks.OBSERVED_CHARACTERS_MAX for text in finding.observed)


def test_what_else_stands_at_the_name_is_not_observed() -> None:
    others = ["google-site-verification=1", "MS=ms1", "v=spf10 mx"]
    assert found("spf", [*others, "v=spf1 mx -all"]) == Finding(OK, ("v=spf1 mx -all",))
    assert found("spf", others) == Finding(MISSING, ())


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ((OK,), True),
        ((MISMATCH,), False),
        ((UNAVAILABLE,), None),
        ((CONFLICTING,), False),
        ((MISSING, OK), True),
        ((OK, UNAVAILABLE), True),
        ((MISSING, UNAVAILABLE), None),
        ((MISSING, MISMATCH), False),
    ],
)
def test_of_two_dkim_keys_one_is_enough(findings: tuple[str, ...], expected: bool | None) -> None:
    keys = [PublishedKey(f"s{number}", PUBLIC, number == 0) for number, _ in enumerate(findings)]
    records = [one for one in checks.records("acme.dev", HOST, keys) if one.purpose == "dkim"]
    judged = {record.key: Finding(status) for record, status in zip(records, findings, strict=True)}
    assert checks.results(records, judged) == {"dkim": expected}


# Ownership ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["svc-verify=abc123"], OK),
        (["svc-verify=of-another-organization", "svc-verify=abc123"], OK),
        ([" svc-verify=abc123 "], OK),
        (["svc-verify=ABC123"], MISMATCH),
        (["svc-verify=abc1234"], MISMATCH),
        (["abc123"], MISMATCH),
        ([], MISSING),
    ],
)
def test_ownership(answer: list[str], expected: str) -> None:
    assert status("ownership", answer) == expected


# MX ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([f"10 {HOST}"], OK),
        ([f"0 {HOST.upper()}."], OK),
        ([f"10 {HOST}", "20 backup.example"], OK),
        ([f"10 {HOST}", "10 twin.example"], OK),
        ([f"20 {HOST}", "10 first.example"], MISMATCH),
        (["10 other.example"], MISMATCH),
        (["10 mx.host.example.acme.dev"], MISMATCH),
        (["0 ."], MISMATCH),
        (["what"], MISMATCH),
        ([], MISSING),
    ],
)
def test_mx(answer: list[str], expected: str) -> None:
    assert status("mx", answer) == expected


# SPF ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        "v=spf1 mx -all",
        "v=spf1 +mx ~all",
        "V=SPF1 MX -ALL",
        "v=spf1  mx  -all ",
        "v=spf1 mx:acme.dev -all",
        "v=spf1 mx/24 -all",
        "v=spf1 mx:agents.example -all",
        f"v=spf1 a:{HOST} -all",
        "v=spf1 include:agents.example -all",
        "v=spf1 include:agents.example. -all",
        f"v=spf1 include:_spf.google.com ip4:192.0.2.0/24 ip6:2001:db8::/32 include:{HOST} ?all",
        "v=spf1 redirect=agents.example",
        "v=spf1 ip4:192.0.2.1 redirect=agents.example exp=why.acme.dev",
        "v=spf1 some-modifier=1 mx -all",
        "v=spf1 +all",
    ],
)
def test_spf_that_covers_us(record: str) -> None:
    assert status("spf", [record]) == OK


@pytest.mark.parametrize(
    "record",
    [
        "v=spf1",
        "v=spf1 -all",
        "v=spf1 -all mx",
        "v=spf1 a -all",
        "v=spf1 include:_spf.google.com ~all",
        "v=spf1 include:agents.example.evil.dev -all",
        "v=spf1 ip4:192.0.2.1 -all",
        "v=spf1 -mx +all",
        "v=spf1 ?mx -all",
        "v=spf1 ~include:agents.example -all",
        "v=spf1 mx:other.dev -all",
        "v=spf1 redirect=other.dev",
        "v=spf1 -all redirect=agents.example",
        "v=spf1 mxx mx -all",
        "v=spf1 include agents.example -all",
        "v=spf1 " + "exists:a.dev " * 10 + "mx -all",
        "v=spf1 mx-all",
    ],
)
def test_spf_that_does_not(record: str) -> None:
    assert status("spf", [record]) == MISMATCH


def test_several_spf_records_are_an_error_even_if_each_would_do() -> None:
    assert status("spf", ["v=spf1 mx -all", "v=spf1 include:agents.example -all"]) == MISMATCH
    assert status("spf", ["v=spf1 mx -all", "v=spf1 mx -all"]) == MISMATCH


# DKIM --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        f"v=DKIM1; k=rsa; p={PUBLIC}",
        f"v=DKIM1;k=rsa;p={PUBLIC};",
        f"p={PUBLIC}",
        f"k=rsa; p={PUBLIC[:100]} {PUBLIC[100:200]}\t{PUBLIC[200:]}",
        f"v=DKIM1; h=sha1:sha256; s=email; t=y; n=our key; p={PUBLIC}",
        f"v=DKIM1; s=*; p={PUBLIC}",
    ],
)
def test_dkim_that_shows_the_key(record: str) -> None:
    assert status("dkim", [record]) == OK


@pytest.mark.parametrize(
    "record",
    [
        "v=DKIM1; k=rsa; p=",
        "v=DKIM1; k=rsa",
        f"v=DKIM1; k=rsa; p={PUBLIC[:-8]}",
        f"v=DKIM1; k=ed25519; p={PUBLIC}",
        f"v=DKIM2; k=rsa; p={PUBLIC}",
        f"v=DKIM1; h=sha1; p={PUBLIC}",
        f"v=DKIM1; s=tlsrpt; p={PUBLIC}",
        f"v=DKIM1; p={PUBLIC}; p={PUBLIC}",
        f'"v=DKIM1; k=rsa; p={PUBLIC}"',
        PUBLIC,
    ],
)
def test_dkim_that_does_not(record: str) -> None:
    assert status("dkim", [record]) == MISMATCH


def test_two_records_at_one_selector_don_t_pass() -> None:
    right = f"v=DKIM1; k=rsa; p={PUBLIC}"
    assert status("dkim", [right, "v=DKIM1; p="]) == MISMATCH


# DMARC -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["v=DMARC1; p=quarantine"], OK),
        (["v=DMARC1; p=none; rua=mailto:a@b.dev"], OK),
        (["v=DMARC1; rua=mailto:a@b.dev"], OK),
        (["v = DMARC1; p=reject;"], OK),
        (["v=DMARC1; p=maybe"], MISMATCH),
        (["v=DMARC1; p=none", "v=DMARC1; p=reject"], MISMATCH),
        (["a wildcard's text"], MISSING),
        ([], MISSING),
    ],
)
def test_dmarc(answer: list[str], expected: str) -> None:
    assert status("dmarc", answer) == expected


@pytest.mark.parametrize(
    ("seen", "passes"), [(("rsa",), True), (("ed25519",), False), (("rsa", "ed25519"), True)]
)
def test_a_key_of_a_second_algorithm_counts_for_nothing(seen: tuple[str, ...], passes: bool) -> None:
    keys = [*KEYS, PublishedKey("e1", "AAAA", False, "ed25519"), PublishedKey("e2", "BBBB", True, "ed25519")]
    records = [one for one in checks.records("acme.dev", HOST, keys) if one.purpose == "dkim"]
    assert [one.required for one in records] == [True, False, False]
    assert records[1].value == "v=DKIM1; k=ed25519; p=AAAA"
    findings = {
        record.key: Finding(OK if any(f"k={one};" in record.value for one in seen) else MISSING)
        for record in records
    }
    assert checks.results(records, findings) == {"dkim": passes}


def test_a_key_is_shown_by_a_record_of_its_own_algorithm() -> None:
    (_, record) = [
        one
        for one in checks.records("acme.dev", HOST, [*KEYS, PublishedKey("e1", "AAAA", False, "ed25519")])
        if one.purpose == "dkim"
    ]
    for text, found in (
        ("v=DKIM1; k=ed25519; p=AAAA", OK),
        ("v=DKIM1; p=AAAA", MISMATCH),
        ("k=rsa; p=AAAA", MISMATCH),
    ):
        assert checks.judge(record, [[text], [text]], 2, OURS).status == found
