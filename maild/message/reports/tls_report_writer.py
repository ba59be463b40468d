"""An SMTP TLS report as we send it (RFC 8460): JSON about our sessions with a domain's hosts, and the mail that it
comes in. Pure: the same values give the same octets, so that a report that is sent again is the same report."""

import base64
import gzip
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, NamedTuple

import msgspec

from maild.message.model import Mailbox
from maild.message.writing.header_writer import write_extra, write_ids, write_mailboxes

MEDIA_TYPE = "application/tlsrpt+gzip"  # RFC 8460 §6.4
_DAY = timedelta(days=1)
_LINE_OCTETS = 76


class ReportedSessions(NamedTuple):
    """Sessions that are alike, `number` of them. `strings`: of the policy; `mx_hosts`: the patterns that it names, of
    DANE the host whose records it is; `result_type`: of §4.3, "" for those that succeeded; what follows is "" where it
    is not told."""

    policy_type: str
    strings: Sequence[str]
    mx_hosts: Sequence[str]
    result_type: str
    mx_host: str
    receiving_ip: str
    sending_ip: str
    reason: str
    number: int


class TlsReport(NamedTuple):
    """`day`: since 1970-01-01 (UTC). `domain`: whose hosts these are, an A-label; `submitter`: ours."""

    domain: str
    submitter: str
    day: int
    organization: str
    contact: str
    sessions: Sequence[ReportedSessions]

    @property
    def report_id(self) -> str:
        """The same one whenever it is written, unique together with the submitter's domain."""
        return f"{self._begin:%Y-%m-%d}.{self.domain}@{self.submitter}"

    @property
    def filename(self) -> str:
        """RFC 8460 §5.1."""
        begin = int(self._begin.timestamp())
        return f"{self.submitter}!{self.domain}!{begin}!{begin + 86_399}.json.gz"

    @property
    def _begin(self) -> datetime:
        return datetime.fromtimestamp(0, UTC) + self.day * _DAY

    def document(self) -> bytes:
        """JSON (§4.4)."""
        last = self._begin + _DAY - timedelta(seconds=1)
        document = {
            "organization-name": self.organization,
            "date-range": {"start-datetime": _rfc3339(self._begin), "end-datetime": _rfc3339(last)},
            "contact-info": self.contact,
            "report-id": self.report_id,
            "policies": list(_policies(self.domain, self.sessions)),
        }
        return msgspec.json.encode(document)

    def packed(self) -> bytes:
        """The document, by gzip."""
        return gzip.compress(self.document(), mtime=0)


def _rfc3339(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _policies(domain: str, sessions: Sequence[ReportedSessions]) -> Iterable[dict[str, Any]]:
    """One entry for each policy that was applied (§4.4)."""
    groups: dict[tuple[Any, ...], list[ReportedSessions]] = {}
    for one in sessions:
        groups.setdefault((one.policy_type, tuple(one.strings), tuple(one.mx_hosts)), []).append(one)
    for (kind, strings, mx_hosts), alike in groups.items():
        failures = [one for one in alike if one.result_type]
        failed = sum(one.number for one in failures)
        yield {
            "policy": {
                "policy-type": kind,
                **({"policy-string": strings} if strings else {}),
                "policy-domain": mx_hosts[0] if kind == "tlsa" and mx_hosts else domain,  # §1.1
                **({"mx-host": mx_hosts} if mx_hosts and kind == "sts" else {}),
            },
            "summary": {
                "total-successful-session-count": sum(one.number for one in alike) - failed,
                "total-failure-session-count": failed,
            },
            **({"failure-details": [_failure(one) for one in failures]} if failures else {}),
        }


def _failure(one: ReportedSessions) -> dict[str, Any]:
    told = {
        "result-type": one.result_type,
        "sending-mta-ip": one.sending_ip,
        "receiving-mx-hostname": one.mx_host,
        "receiving-ip": one.receiving_ip,
        "failed-session-count": one.number,
        "failure-reason-code": one.reason,
    }
    return {name: value for name, value in told.items() if value}


def write_report_mail(report: TlsReport, author: Mailbox, to: str, token: str, at_s: int) -> bytes:
    """The mail that brings it (§5.3), to be signed. `token`: of its Message-ID, and never in what it says; `at_s`: its
    Date, Unix seconds. ComposeError where an address is none."""
    boundary = f"=_{token}"
    report_id = f"<{report.report_id}>"
    date = format_datetime(datetime.fromtimestamp(at_s, UTC))
    head = (
        write_mailboxes("From", [author]),
        write_mailboxes("To", [Mailbox(None, to)]),
        write_extra(  # never an encoded word: programs read it
            "Subject",
            f"Report Domain: {report.domain} Submitter: {report.submitter} Report-ID: {report_id}",
        ),
        write_extra("Date", date),
        write_ids("Message-ID", [f"<{token}@{report.submitter}>"]),
        write_extra("TLS-Report-Domain", report.domain),
        write_extra("TLS-Report-Submitter", report.submitter),
        "TLS-Required: No\r\n",  # RFC 8689 §5: the next hosts have the same reason not to insist
        "Auto-Submitted: auto-generated\r\n",
        "MIME-Version: 1.0\r\n",
        f'Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="{boundary}"\r\n',
    )
    words = (
        f"This is an aggregate TLS report for {report.domain} (RFC 8460),\r\n"
        f"sent by {report.submitter}.\r\nQuestions go to {report.contact}.\r\n"
    )
    attachment = base64.b64encode(report.packed()).decode()
    lines = (attachment[at : at + _LINE_OCTETS] for at in range(0, len(attachment), _LINE_OCTETS))
    parts = (
        f"--{boundary}\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\n{words}\r\n",
        f"--{boundary}\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Transfer-Encoding: base64\r\n"
        f'Content-Disposition: attachment;\r\n filename="{report.filename}"\r\n\r\n',
        *(f"{line}\r\n" for line in lines),
        f"--{boundary}--\r\n",
    )
    return "".join((*head, "\r\n", *parts)).encode()
