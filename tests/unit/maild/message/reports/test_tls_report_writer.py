"""Reports about TLS that we send: the form of RFC 8460, and what our own reader finds in it."""

import gzip
import json

import pytest

from maild.message.digest import digest
from maild.message.model import Mailbox
from maild.message.reports.domain_report_reader import find_domain_report, read_domain_report
from maild.message.reports.tls_report import JSON_MAX, read_tls_report
from maild.message.reports.tls_report_writer import ReportedSessions, TlsReport, write_report_mail

DAY = 16_892  # 2016-04-01, as in RFC 8460, appendix B
STS = ("version: STSv1", "mode: testing", "mx: *.mail.company-y.example", "max_age: 86400")
MX = ("*.mail.company-y.example",)
US = ("2001:db8:abcd:0012::1", "198.51.100.62")


def sessions(result: str, number: int, mx_host: str = "", ip: str = "", ours: str = "") -> ReportedSessions:
    return ReportedSessions("sts", STS, MX, result, mx_host, ip, ours, "", number)


# Without what the writer never tells: EHLO names, additional information, a failure's code.
APPENDIX_B = TlsReport(
    "company-y.example",
    "company-x.example",
    DAY,
    "Company-X",
    "sts-reporting@company-x.example",
    (
        sessions("", 5326),
        sessions("certificate-expired", 100, "mx1.mail.company-y.example", "203.0.113.56", US[0]),
        sessions("starttls-not-supported", 200, "mx2.mail.company-y.example", "203.0.113.58", US[1]),
        ReportedSessions("sts", STS, MX, "validation-failure", "mx-backup.mail.company-y.example", "203.0.113.57",
                         US[1], "X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED", 3),
    ),
)  # fmt: skip


def test_it_is_what_the_rfc_shows() -> None:
    assert json.loads(APPENDIX_B.document()) == {
        "organization-name": "Company-X",
        "date-range": {"start-datetime": "2016-04-01T00:00:00Z", "end-datetime": "2016-04-01T23:59:59Z"},
        "contact-info": "sts-reporting@company-x.example",
        "report-id": "2016-04-01.company-y.example@company-x.example",
        "policies": [
            {
                "policy": {
                    "policy-type": "sts",
                    "policy-string": list(STS),
                    "policy-domain": "company-y.example",
                    "mx-host": list(MX),
                },
                "summary": {"total-successful-session-count": 5326, "total-failure-session-count": 303},
                "failure-details": [
                    {
                        "result-type": "certificate-expired",
                        "sending-mta-ip": "2001:db8:abcd:0012::1",
                        "receiving-mx-hostname": "mx1.mail.company-y.example",
                        "receiving-ip": "203.0.113.56",
                        "failed-session-count": 100,
                    },
                    {
                        "result-type": "starttls-not-supported",
                        "sending-mta-ip": "198.51.100.62",
                        "receiving-mx-hostname": "mx2.mail.company-y.example",
                        "receiving-ip": "203.0.113.58",
                        "failed-session-count": 200,
                    },
                    {
                        "result-type": "validation-failure",
                        "sending-mta-ip": "198.51.100.62",
                        "receiving-mx-hostname": "mx-backup.mail.company-y.example",
                        "receiving-ip": "203.0.113.57",
                        "failed-session-count": 3,
                        "failure-reason-code": "X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED",
                    },
                ],
            }
        ],
    }


def test_each_policy_is_an_entry_of_its_own() -> None:
    none = ReportedSessions("no-policy-found", (), (), "", "", "", "", "", 2)
    policies = json.loads(APPENDIX_B._replace(sessions=(none, sessions("", 1))).document())["policies"]
    assert [one["policy"]["policy-type"] for one in policies] == ["no-policy-found", "sts"]
    assert set(policies[0]["policy"]) == {"policy-type", "policy-domain"}
    assert policies[0]["summary"] == {"total-successful-session-count": 2, "total-failure-session-count": 0}


def test_a_policy_of_dane_is_its_host_s() -> None:
    """RFC 8460 §1.1: the domain of such a policy is the name that has the TLSA records."""
    host = "mx1.mail.company-y.example"
    record = f"_25._tcp.{host}. IN TLSA 3 1 1 00"
    dane = ReportedSessions("tlsa", (record,), (host,), "", "", "", "", "", 2)
    report = APPENDIX_B._replace(sessions=(dane, sessions("", 1))).document()
    policy, of_sts = (one["policy"] for one in json.loads(report)["policies"])
    assert policy == {"policy-type": "tlsa", "policy-string": [record], "policy-domain": host}
    assert of_sts["policy-domain"] == "company-y.example"
    assert read_tls_report(report).domain == "company-y.example"


def test_our_reader_reads_it() -> None:
    found = read_tls_report(APPENDIX_B.document())
    assert (found.domain, found.total, found.passed) == ("company-y.example", 5629, 5326)
    assert (found.begin_s, found.end_s) == (DAY * 86_400, DAY * 86_400 + 86_399)
    assert found.detail["failures"][0] == {"type": "starttls-not-supported", "sessions": 200}


def test_of_a_domain_whose_policy_is_another_each_time_it_can_be_read() -> None:
    full = [
        sessions("certificate-expired", 1, "m" * 253, "2001:db8::1", "2001:db8::2")._replace(
            strings=(str(number), "x" * 4090), mx_hosts=("y" * 4096,)
        )
        for number in range(100)
    ]
    document = APPENDIX_B._replace(sessions=full).document()
    assert len(document) < JSON_MAX
    assert read_tls_report(document).total == 100


def test_the_same_report_is_the_same_octets() -> None:
    assert APPENDIX_B.packed() == APPENDIX_B.packed()
    assert gzip.decompress(APPENDIX_B.packed()) == APPENDIX_B.document()


@pytest.mark.parametrize("domain", ["company-y.example", "a" * 60 + "." + "b" * 60 + ".example"])
def test_the_mail_is_found_and_read_as_a_report(domain: str) -> None:
    report = APPENDIX_B._replace(domain=domain)
    author = Mailbox(None, "postmaster@company-x.example")
    raw = write_report_mail(report, author, "tlsrpt@company-y.example", "token7", DAY * 86_400 + 90_000)
    assert (
        raw.isascii() and max(map(len, raw.split(b"\r\n"))) <= 998 and b"\n" not in raw.replace(b"\r\n", b"")
    )
    parsed = digest(raw).parsed
    name = f"company-x.example!{domain}!1459468800!1459555199.json.gz"
    assert (
        parsed.subject
        == f"Report Domain: {domain} Submitter: company-x.example Report-ID: <{report.report_id}>"
    )
    unfolded = raw.replace(b"\r\n ", b" ").decode()
    for line in (
        'Content-Type: multipart/report; report-type="tlsrpt"; boundary="=_token7"',
        f"TLS-Report-Domain: {domain}",
        "TLS-Report-Submitter: company-x.example",
        "Content-Type: application/tlsrpt+gzip",
        f'Content-Disposition: attachment; filename="{name}"',
        "Date: Sat, 02 Apr 2016 01:00:00 +0000",
        "To: tlsrpt@company-y.example",
    ):
        assert f"\r\n{line}\r\n" in unfolded
    part = find_domain_report(parsed)
    assert part is not None and part.filename == name
    found = read_domain_report(raw, part)
    assert found is not None and (found.kind, found.domain, found.passed) == ("tls", domain, 5326)
