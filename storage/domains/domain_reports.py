"""Reports of other hosts about domains, newest first; each domain keeps so many, for so long.

A domain is an organization's registration, or a shared one, which has its name alone: its reports are the operator's.
"""

from typing import NamedTuple

from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.records import columns

KEPT = 1000  # of one domain: anybody may send some
KEEP_MS = 90 * DAY_MS


class DomainReportRow(NamedTuple):
    """Of `domain_id` and `shared_domain` one is None. `kind`: dmarc or tls. `verified_domain`: of who sent it, or None.
    `detail`: JSON. Times in ms."""

    id: str
    domain_id: str | None
    shared_domain: str | None
    kind: str
    reporter: str
    report_id: str
    verified_domain: str | None
    begin_at: int
    end_at: int
    total: int
    passed: int
    is_truncated: int
    detail: str
    message_id: str
    created_at: int


_INSERT = f"""INSERT INTO domain_reports ({columns(DomainReportRow)})
    VALUES ({", ".join(f":{name}" for name in DomainReportRow._fields)}) ON CONFLICT DO NOTHING"""
_TRIM = """DELETE FROM domain_reports WHERE domain_id = :domain AND id <=
    (SELECT id FROM domain_reports WHERE domain_id = :domain ORDER BY id DESC LIMIT 1 OFFSET :kept)"""
_TRIM_SHARED = _TRIM.replace("domain_id", "shared_domain")


def keep(tx: Tx, report: DomainReportRow) -> bool:
    """Write the report, of which the oldest of its domain makes room; False when it is there already."""
    if not tx.run(_INSERT, report._asdict()):
        return False
    trim = _TRIM_SHARED if report.domain_id is None else _TRIM
    tx.run(trim, {"domain": report.domain_id or report.shared_domain, "kept": KEPT})
    return True


def about(tx: Tx, organization_id: str, domain_name: str) -> str | None:
    """The organization's registration that a report about the name belongs to, or None."""
    found: str | None = tx.value(
        """SELECT id FROM domains WHERE organization_id = ? AND domain_name = ? AND status <> 'deleted'""",
        (organization_id, domain_name),
    )
    return found


def list_reports(
    tx: Tx, organization_id: str, domain_id: str, *, limit: int, kind: str | None, before: str | None
) -> list[DomainReportRow]:
    """Those of the organization's domain, newest first, older than `before`."""
    rows = tx.all(
        f"""SELECT {columns(DomainReportRow)} FROM domain_reports
            WHERE domain_id = (SELECT id FROM domains WHERE id = :domain AND organization_id = :organization)
              AND (:kind IS NULL OR kind = :kind) AND id < :before ORDER BY id DESC LIMIT :limit""",
        {
            "domain": domain_id,
            "organization": organization_id,
            "kind": kind,
            "before": before or "~",
            "limit": limit,
        },
    )
    return [DomainReportRow(*row) for row in rows]


def list_shared(tx: Tx, name: str, *, limit: int, kind: str | None) -> list[DomainReportRow]:
    """Those of the shared domain, newest first."""
    rows = tx.all(
        f"""SELECT {columns(DomainReportRow)} FROM domain_reports
            WHERE shared_domain = :name AND (:kind IS NULL OR kind = :kind) ORDER BY id DESC LIMIT :limit""",
        {"name": name, "kind": kind, "limit": limit},
    )
    return [DomainReportRow(*row) for row in rows]
