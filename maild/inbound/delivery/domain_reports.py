"""Aggregate reports (DMARC, TLS) about our domains: customers', at an inbox of theirs, and the shared ones.

A report changes nothing but what `GET /v1/domains/{id}/reports` and `maild reports` show, so anybody may send one; who
did is told beside it. It is kept where its domain is registered by the organization that received it, or is a shared
one and the inbox is the operator's, whose address a shared domain's records name; and nowhere else.
"""

from collections.abc import Mapping, Sequence, Set

from maild.message.reports.domain_report import DomainReport
from storage.domains import domain_reports
from storage.domains.domain_reports import DomainReportRow
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes
from storage.mail.inboxes import RecipientInbox
from storage.records import dump


def keep(
    tx: Tx,
    ids: Ids,
    report: DomainReport,
    recipients: Sequence[tuple[str, RecipientInbox]],
    delivered: Mapping[str, str],
    verified_domain: str | None,
    now_ms: int,
    shared_domains: Set[str],
) -> None:
    """Once for each organization, or for the operator. `delivered`: the inbox → the id of the message in it."""
    if report.domain in shared_domains:
        operator = inboxes.operator_mailbox(tx)
        message_id = None if operator is None else delivered.get(operator.inbox_id)
        if message_id is not None:
            row = _row(ids.new("rep"), report, message_id, verified_domain, now_ms)
            domain_reports.keep(tx, row._replace(shared_domain=report.domain))
        return
    # An organization's first one that has it.
    boxes = {box.organization_id: box for _, box in reversed(recipients) if box.inbox_id in delivered}
    for organization_id, box in boxes.items():
        domain_id = domain_reports.about(tx, organization_id, report.domain)
        if domain_id is not None:
            row = _row(ids.new("rep"), report, delivered[box.inbox_id], verified_domain, now_ms)
            domain_reports.keep(tx, row._replace(domain_id=domain_id))


def _row(
    id: str, report: DomainReport, message_id: str, verified_domain: str | None, now_ms: int
) -> DomainReportRow:
    """Of no domain yet."""
    return DomainReportRow(
        id=id,
        domain_id=None,
        shared_domain=None,
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
