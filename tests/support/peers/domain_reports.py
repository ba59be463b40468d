"""Aggregate reports as hosts send them: documents, packed, in a mail."""

import base64
import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

DAY_S = 86_400
BEGIN_S = 1_795_132_800
ROW = ("192.0.2.1", 2, "none", "pass", "fail")


def dmarc_xml(
    domain: str = "acme.test",
    rows: Sequence[tuple[str, int, str, str, str]] = (ROW,),
    report_id: str = "7",
    head: str = "",
    namespace: str = "",
) -> bytes:
    """`rows`: (source, count, disposition, dkim, spf)."""
    records = "".join(
        f"<record><row><source_ip>{source}</source_ip><count>{count}</count><policy_evaluated><disposition>"
        f"{disposition}</disposition><dkim>{dkim}</dkim><spf>{spf}</spf></policy_evaluated></row><identifiers>"
        f"<header_from>{domain}</header_from></identifiers><auth_results><dkim><domain>{domain}</domain>"
        "<result>pass</result></dkim><spf><domain>x.test</domain><result>fail</result></spf></auth_results></record>"
        for source, count, disposition, dkim, spf in rows
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<feedback{namespace}><version>1.0</version>'
        f"<report_metadata><org_name>Reporter Inc.</org_name><email>r@reporter.test</email>"
        f"<report_id>{report_id}</report_id><date_range><begin>{BEGIN_S}</begin><end>{BEGIN_S + DAY_S - 1}</end>"
        f"</date_range></report_metadata><policy_published><domain>{domain}</domain><p>none</p></policy_published>"
        f"{records}</feedback>"
    ).encode()


def tls_json(domain: str = "acme.test", **fields: Any) -> bytes:
    """The example of RFC 8460, appendix B, in short."""
    return json.dumps(
        {
            "organization-name": "Reporter Inc.",
            "date-range": {"start-datetime": "2026-11-20T00:00:00Z", "end-datetime": "2026-11-20T23:59:59Z"},
            "contact-info": "sts@reporter.test",
            "report-id": "5065427c-23d3",
            "policies": [
                {
                    "policy": {
                        "policy-type": "sts",
                        "policy-string": ["version: STSv1", "mode: testing"],
                        "policy-domain": domain,
                        "mx-host": "*.mail.acme.test",
                    },
                    "summary": {"total-successful-session-count": 5326, "total-failure-session-count": 303},
                    "failure-details": [
                        {"result-type": "certificate-expired", "sending-mta-ip": "2001:db8::1",
                         "receiving-mx-hostname": "mx1.mail.acme.test", "failed-session-count": 100},
                        {"result-type": "starttls-not-supported", "failed-session-count": 200},
                        {"result-type": "validation-failure", "failed-session-count": 3},
                    ],
                }
            ],
            **fields,
        }
    ).encode()  # fmt: skip


def zipped(*files: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for number, octets in enumerate(files):
            archive.writestr(f"../../{number}.xml", octets)
    return made.getvalue()


def name_for(document: bytes, domain: str = "acme.test") -> str:
    ending = {b"\x1f\x8b": "xml.gz", b"PK": "zip", b"{": "json"}
    kind = next((kind for start, kind in ending.items() if document.startswith(start)), "xml")
    return f"reporter.test!{domain}!{BEGIN_S}!{BEGIN_S + DAY_S - 1}.{kind}"


def mail(attached: bytes, name: str = "", content_type: str = "application/octet-stream") -> bytes:
    """A mail with that attachment; `name`: as RFC 7489 §7.2.1.1 has it unless told."""
    lines = base64.encodebytes(attached).replace(b"\n", b"\r\n")
    return (
        b"From: reports@reporter.test\r\nSubject: Report Domain: acme.test\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\nAttached.\r\n--b\r\n'
        + f'Content-Type: {content_type}\r\nContent-Disposition: attachment; filename="'.encode()
        + (name or name_for(attached)).encode()
        + b'"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
        + lines
        + b"--b--\r\n"
    )


gzipped = gzip.compress
