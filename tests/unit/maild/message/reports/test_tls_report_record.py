"""Where reports about TLS go: written by whoever owns the domain."""

import pytest

from maild.message.reports.tls_report_record import read_destinations

A, B, C = "mailto:a@x.test", "https://x.test/v1/tls?a=b", "mailto:c@x.test"


def uris(*records: str) -> list[str]:
    return [one.uri for one in read_destinations([one.encode("utf-8", "surrogateescape") for one in records])]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (f"v=TLSRPTv1;rua={A}", [A]),
        (f"v=TLSRPTv1 ; rua = {A} , {B} ;", [A, B]),
        (f"v=TLSRPTv1; ext=1; rua={B}; rua={C}", [B, C]),
        (f"v=TLSRPTv1; rua={A},{B},{C}", [A, B]),
        (f"v=TLSRPTv1; rua={A},{A},{A},{B}", [A, B]),
        ("v=TLSRPTv1; rua=MAILTO:a@x.test", [A]),
        ("v=TLSRPTv1; rua=mailto:a%2Bb@x.test?subject=hello", ["mailto:a+b@x.test"]),
        ("v=TLSRPTv1; rua=HTTPS://x.test/", ["https://x.test/"]),
    ],
)
def test_what_it_names_is_used(record: str, expected: list[str]) -> None:
    assert uris("something else", record) == expected


@pytest.mark.parametrize(
    "record",
    [
        "",
        "v=TLSRPTv1",
        "v=TLSRPTv1;",
        f"v=TLSRPTv2; rua={A}",
        f"v=TLSRPTv10; rua={A}",
        f"V=TLSRPTV1; rua={A}",
        f"rua={A}; v=TLSRPTv1",
        "v=TLSRPTv1; rua=",
        "v=TLSRPTv1; rua=mailto:",
        "v=TLSRPTv1; rua=mailto:a@x.test%0d%0aBcc:b@x.test",
        "v=TLSRPTv1; rua=mailto:a@x.test%2Cb@x.test",
        "v=TLSRPTv1; rua=mailto:<a@x.test>",
        "v=TLSRPTv1; rua=mailto:a%@x.test",
        "v=TLSRPTv1; rua=mailto:a%FF@x.test",
        "v=TLSRPTv1; rua=mailto:a@x.test b@x.test",
        f"v=TLSRPTv1; rua=mailto:{'a' * 1000}@x.test",
        "v=TLSRPTv1; rua=http://x.test/",
        "v=TLSRPTv1; rua=https:x.test",
        "v=TLSRPTv1; rua=ftp://x.test/",
        f"v=TLSRPTv1; rua={'x,' * 4000}{A}",
        "v=TLSRPTv1; rua=mailto:\udcff@x.test",
    ],
)
def test_what_is_no_address_gets_nothing(record: str) -> None:
    assert uris(record) == []


def test_two_records_are_none() -> None:
    assert uris(f"v=TLSRPTv1; rua={A}", f"v=TLSRPTv1; rua={A}") == []
