"""Aggregate reports (DMARC, TLS) about domains of the organizations whose inboxes they reach.

A report changes nothing but what `GET /v1/domains/{id}/reports` shows, so anybody may send one; who did is told beside
it. It is kept where its domain is registered by the organization that received it, and nowhere else.
"""

from collections.abc import Mapping, Sequence

from maild.message.reports.domain_report import DomainReport
from storage import domain_reports
from storage.domain_reports import DomainReportRow
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.inboxes import RecipientInbox
from storage.records import dump


def keep(
    tx: Tx,
    ids: Ids,
    report: DomainReport,
    recipients: Sequence[tuple[str, RecipientInbox]],
    delivered: Mapping[str, str],
    verified_domain: str | None,
    now_ms: int,
) -> None:
    """Once for each organization. `delivered`: the inbox → the id of the message in it."""
    seen: set[str] = set()
    for _, box in recipients:
        message_id = delivered.get(box.inbox_id)
        if message_id is None or box.organization_id in seen:
            continue
        seen.add(box.organization_id)
        domain_id = domain_reports.about(tx, box.organization_id, report.domain)
        if domain_id is not None:
            row = _row(ids.new("rep"), domain_id, report, message_id, verified_domain, now_ms)
            domain_reports.keep(tx, row)


def _row(
    id: str,
    domain_id: str,
    report: DomainReport,
    message_id: str,
    verified_domain: str | None,
    now_ms: int,
) -> DomainReportRow:
    return DomainReportRow(
        id=id,
        domain_id=domain_id,
        kind=report.kind,
        reporter=report.reporter,
        report_id=report.report_id,
        verified_domain=verified_domain,
        begin_at=report.begin_s * 1000,
        end_at=report.end_s * 1000,
        total=report.total,
        passed=report.passed,
        is_truncated=int(report.is_truncated),
        detail=dump(report.detail),
        message_id=message_id,
        created_at=now_ms,
    )
