"""Aggregate reports as hosts send them are read and summed up; what is none, or beyond the bounds, is left alone."""

import zipfile

import pytest

from maild.message.parsing.parse import parse
from maild.message.reports.domain_report import MAX_ROWS, TOP, DomainReport
from maild.message.reports.domain_report_reader import find_domain_report, read_domain_report
from maild.message.reports.packed_report import INFLATED_MAX
from tests.support.peers.domain_reports import (
    BEGIN_S,
    DAY_S,
    ROW,
    dmarc_xml,
    gzipped,
    mail,
    name_for,
    tls_json,
    zipped,
)


def read(raw: bytes) -> DomainReport | None:
    part = find_domain_report(parse(raw))
    return None if part is None else read_domain_report(raw, part)


def found(raw: bytes) -> DomainReport:
    report = read(raw)
    assert report is not None
    return report


PLAIN = dmarc_xml()
PACKED = {
    "zip": zipped(PLAIN),
    "stored": zipped(PLAIN, method=zipfile.ZIP_STORED),
    "gzip": gzipped(PLAIN),
    "plain": PLAIN,
    "with a mark": b"\xef\xbb\xbf" + PLAIN,
    "utf-16": PLAIN.decode().replace("UTF-8", "UTF-16").encode("utf-16"),
}


@pytest.mark.parametrize("how", PACKED)
def test_a_dmarc_report_is_read_however_it_is_packed(how: str) -> None:
    report = found(mail(PACKED[how], name_for(PLAIN)))
    assert (report.kind, report.domain, report.reporter, report.report_id) == (
        "dmarc",
        "acme.test",
        "Reporter Inc.",
        "7",
    )
    assert (report.begin_s, report.end_s) == (BEGIN_S, BEGIN_S + DAY_S - 1)
    assert (report.total, report.passed, report.is_truncated) == (2, 2, False)


def test_what_dmarc_says_is_summed_up() -> None:
    rows = [
        ROW,
        ("192.0.2.1", 3, "none", "fail", "pass"),
        ("2001:db8::1", 10, "quarantine", "fail", "fail"),
        ("192.0.2.9", 4, "reject", "FAIL", "softfail"),
        ("nonsense", 1, "pass", "pass", "pass"),
    ]
    report = found(mail(dmarc_xml(rows=rows)))
    assert (report.total, report.passed) == (20, 6)
    assert report.detail == {
        "dkimAligned": 3,
        "spfAligned": 4,
        "dispositions": {"none": 5, "quarantine": 10, "reject": 4},
        "sources": [
            {"address": "2001:db8::1", "total": 10, "passed": 0, "failed": 10},
            {"address": "192.0.2.1", "total": 5, "passed": 5, "failed": 0},
            {"address": "192.0.2.9", "total": 4, "passed": 0, "failed": 4},
        ],
    }


@pytest.mark.parametrize(
    "namespace",
    [' xmlns="http://dmarc.org/dmarc-xml/0.1"', ' xmlns="urn:ietf:params:xml:ns:dmarc-2.0"', ' xmlns:x="y"'],
)
def test_namespaces_make_no_difference(namespace: str) -> None:
    assert found(mail(dmarc_xml(namespace=namespace))).total == 2


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        (b"Reporter Inc.", b"Tom & Jerry &amp; Co."),
        (b"Reporter Inc.", b"Fran\xe7ois"),
        (b"Reporter Inc.", b"Reporter\x00 Inc."),
        (b"Reporter Inc.", b"Reporter <dmarc@reporter.test>"),
        (b"</feedback>", b"</feedback>\x00\x00"),
        (b"</feedback>", b"</feedback><feedback/>"),
    ],
)
def test_a_report_that_is_nearly_xml_is_read(written: bytes, instead: bytes) -> None:
    assert written in PLAIN
    report = found(mail(PLAIN.replace(written, instead)))
    assert (report.domain, report.total) == ("acme.test", 2)


@pytest.mark.parametrize("head", [b"\n ", b'<?xml version="1.0"?>\n'])
def test_a_declaration_that_does_not_come_first_is_passed_over(head: bytes) -> None:
    assert found(mail(gzipped(head + PLAIN))).total == 2


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("utf-16", "utf-8"),  # as .NET writes what it has as a string
        ("UTF-8", "utf-16"),  # with its mark
        ("US-ASCII", "utf-8"),
        ("UTF-7", "utf-8"),
        ("no-such-charset", "utf-8"),
        ("GBK", "gbk"),
        ("Shift_JIS", "shift_jis"),
        ("UTF-8", "gbk"),
    ],
)
def test_octets_decide_where_a_declaration_is_wrong_or_unknown(declared: str, written: str) -> None:
    """Expat knows no charsets of several octets."""
    text = PLAIN.decode().replace("UTF-8", declared).replace("Reporter Inc.", "日本三")
    report = found(mail(text.encode(written)))
    assert (report.domain, report.total) == ("acme.test", 2)
    if declared != "UTF-8" or written != "gbk":  # what says one charset and is another is guessed
        assert report.reporter == "日本三"


SCHEMA = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x">'


@pytest.mark.parametrize(
    "behind", [b"", b"</xs:schema>", b"<feedback><record/></feedback></xs:schema>", b"</x>"]
)
def test_a_report_within_a_schema_is_read_to_its_end(behind: bytes) -> None:
    report = found(mail(dmarc_xml(head=SCHEMA) + behind))
    assert (report.domain, report.total, report.is_truncated) == ("acme.test", 2, False)


def test_times_with_a_fraction_are_read() -> None:
    """As 163.com and 126.com have written them."""
    written = PLAIN.replace(b"</begin>", b".0</begin>").replace(b"</end>", b".999</end>")
    report = found(mail(written))
    assert (report.begin_s, report.end_s) == (BEGIN_S, BEGIN_S + DAY_S - 1)


@pytest.mark.parametrize("name", ["report.xml", "dmarc.xml.gz", "Aggregate.ZIP"])
def test_a_dmarc_report_is_known_by_the_subject_of_its_mail(name: str) -> None:
    packed = zipped(PLAIN) if name.endswith("ZIP") else gzipped(PLAIN) if name.endswith("gz") else PLAIN
    raw = mail(packed, name)
    assert found(raw).total == 2
    assert read(raw.replace(b"Report Domain:", b"Report of")) is None


def test_the_largest_sources_are_shown_and_the_first_rows_counted() -> None:
    rows = [(f"10.0.{n // 250}.{n % 250}", n + 1, "none", "pass", "pass") for n in range(MAX_ROWS)]
    whole = found(mail(gzipped(dmarc_xml(rows=rows))))
    assert not whole.is_truncated and whole.total == sum(range(1, MAX_ROWS + 1))
    assert [one["total"] for one in whole.detail["sources"]] == list(range(MAX_ROWS, MAX_ROWS - TOP, -1))
    cut = found(mail(gzipped(dmarc_xml(rows=[*rows, ROW]))))
    assert cut.is_truncated and cut.total == whole.total


@pytest.mark.parametrize(
    ("packed", "content_type"),
    [
        (tls_json(), "application/tlsrpt+json"),
        (gzipped(tls_json()), "application/tlsrpt+gzip"),
        (tls_json(), "application/json"),
        (gzipped(tls_json()), "application/gzip"),
    ],
)
def test_a_tls_report_is_read(packed: bytes, content_type: str) -> None:
    report = found(mail(packed, content_type=content_type))
    assert (report.kind, report.domain, report.reporter, report.report_id) == (
        "tls",
        "acme.test",
        "Reporter Inc.",
        "5065427c-23d3",
    )
    assert (report.total, report.passed) == (5629, 5326)
    assert report.detail == {
        "policyTypes": ["sts"],
        "failures": [
            {"type": "starttls-not-supported", "sessions": 200},
            {"type": "certificate-expired", "sessions": 100},
            {"type": "validation-failure", "sessions": 3},
        ],
    }


def test_a_tls_report_is_known_by_its_type_alone() -> None:
    assert read(mail(tls_json(), "report.json", "application/tlsrpt+json")) is not None
    assert read(mail(tls_json(), "report.json", "application/json")) is None


def policy(kind: str, domain: str | None, sessions: int) -> dict[str, object]:
    return {
        "policy": {"policy-type": kind, **({} if domain is None else {"policy-domain": domain})},
        "summary": {"total-successful-session-count": sessions, "total-failure-session-count": 0},
        "failure-details": [],
    }


@pytest.mark.parametrize(
    ("policies", "total"),
    [
        # RFC 8460 §1.1: the policy domain of DANE is the name of a mail host.
        ([policy("tlsa", "mx1.host.test", 2), policy("tlsa", "mx2.host.test", 3)], 5),
        ([policy("sts", "acme.test", 2), policy("tlsa", "mx1.host.test", 3)], 5),
        ([policy("tlsa", "acme.test", 2)], 2),
        ([policy("no-policy-found", None, 2)], 2),  # as Postfix has it reported
        ([policy("sts", "acme.test", 2), policy("sts", "other.test", 3)], 2),
    ],
)
def test_a_tls_report_is_about_the_domain_that_its_name_has(
    policies: list[dict[str, object]], total: int
) -> None:
    report = found(mail(tls_json(policies=policies), "mx.reporter.test!Acme.Test!1!2!001.json"))
    assert (report.domain, report.total) == ("acme.test", total)


@pytest.mark.parametrize(
    "null", [{"failure-details": None}, {"policy": {"policy-type": "no-policy-found", "policy-domain": None}}]
)
def test_null_in_a_tls_report_is_as_if_the_member_were_left_out(null: dict[str, object]) -> None:
    result = policy("sts", "acme.test", 2) | null
    report = found(mail(tls_json(policies=[result]), "mx.reporter.test!acme.test!1!2!001.json"))
    assert (report.domain, report.total, report.detail["failures"]) == ("acme.test", 2, [])


@pytest.mark.parametrize("unnamed", [{}, {"result-type": None}])
def test_a_failure_that_has_no_name_is_counted_with_its_policy(unnamed: dict[str, object]) -> None:
    """As tlsrpt-reporter tells of one that it does not know."""
    result = policy("sts", "acme.test", 2) | {
        "summary": {"total-successful-session-count": 2, "total-failure-session-count": 3},
        "failure-details": [
            {"failed-session-count": 1, **unnamed},
            {"result-type": "certificate-expired", "failed-session-count": 2},
        ],
    }
    report = found(mail(tls_json(policies=[result])))
    assert (report.total, report.passed) == (5, 2)
    assert report.detail["failures"] == [{"type": "certificate-expired", "sessions": 2}]


def test_times_without_an_offset_are_utc() -> None:
    """As Microsoft wrote them in 2023."""
    report = found(mail(tls_json().replace(b":00Z", b":00").replace(b":59Z", b":59")))
    assert (report.begin_s, report.end_s) == (BEGIN_S, BEGIN_S + DAY_S - 1)


def test_the_letters_of_a_time_are_in_any_case() -> None:
    """RFC 3339 §5.6."""
    written = tls_json().replace(b"T00:00:00Z", b"t02:00:00+02:00").replace(b"T23:59:59Z", b"t23:59:59.5z")
    report = found(mail(written))
    assert (report.begin_s, report.end_s) == (BEGIN_S, BEGIN_S + DAY_S - 1)


def test_a_tls_report_without_such_a_name_is_about_its_first_policy() -> None:
    policies = [policy("tlsa", "mx1.host.test", 2), policy("sts", "acme.test", 3)]
    raw = mail(tls_json(policies=policies), "report.json", "application/tlsrpt+json")
    assert found(raw).domain == "acme.test"
    assert (
        read(
            mail(tls_json(policies=[policy("no-policy-found", None, 2)]), "r.json", "application/tlsrpt+json")
        )
        is None
    )


LAUGHS = '<!DOCTYPE feedback [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "attached",
    [
        dmarc_xml(head=LAUGHS),
        dmarc_xml(head='<!DOCTYPE feedback SYSTEM "file:///etc/passwd">'),
        dmarc_xml(domain=""),
        dmarc_xml()[:-30],
        dmarc_xml().replace(str(BEGIN_S).encode(), b"yesterday"),
        dmarc_xml().replace(str(BEGIN_S).encode(), b"2026-11-20"),
        dmarc_xml().replace(str(BEGIN_S).encode(), b".5"),
        dmarc_xml(head=SCHEMA)[:-30],
        dmarc_xml().replace(str(BEGIN_S).encode(), b"9" * 12),
        b"<feedback>" * 30,
        dmarc_xml(head="<!--" + "x" * 300_000 + "-->"),
        dmarc_xml(namespace="".join(f' a{n}="1"' for n in range(100))),
        b"<feedback " + b"".join(b'a%d="1" ' % n for n in range(100_000)) + b"/>",
        zipped(PLAIN, PLAIN),
        zipped(zipped(PLAIN)),
        zipped(),
        zipped(PLAIN)[:200],
        zipped(b" " * (INFLATED_MAX + 1)),
        gzipped(PLAIN)[:-20],
        gzipped(gzipped(PLAIN)),
        gzipped(b" " * (INFLATED_MAX + 1)),
        tls_json(policies=[]),
        tls_json(policies="none"),
        tls_json().replace(b"2026-11-20T23:59:59Z", b"never"),
        tls_json().replace(b"2026-11-20T23:59:59Z", b"2026-11-20T24:59:59Z"),
        tls_json().replace(b"2026-11-20T00:00:00Z", b"0001-01-01T00:00:00+14:00"),
        b'{"policies":' + b"[" * 100_000,
        b"{" + b'"a":{' * 100_000,
        b"",
        b"\x00" * 1000,
    ],
)
def test_what_is_no_report_is_left_alone(attached: bytes) -> None:
    assert read(mail(attached, name_for(b"<"))) is None


def test_names_that_a_stranger_chose_are_fit_to_be_shown() -> None:
    raw = dmarc_xml(report_id="a\u202e\n\n" + "b" * 5000)
    report = found(mail(raw))
    assert report.report_id.isprintable() and len(report.report_id) <= 200


def test_other_attachments_are_not_looked_into() -> None:
    for attached, name in ((PLAIN, "invoice!.xml"), (zipped(PLAIN), "photos.zip")):
        raw = mail(attached, name, "application/zip").replace(
            b"Subject: Report Domain:", b"Subject: Holiday in"
        )
        assert find_domain_report(parse(raw)) is None
    assert find_domain_report(parse(b"Subject: hi\r\n\r\nhello\r\n")) is None
