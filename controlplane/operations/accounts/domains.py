"""Custom domains: registering, verifying, the daily ceiling."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from controlplane.contract.accounts.domains import ListDomainReports, PatchDomain, RegisterDomain
from controlplane.contract.refusals import Refusal
from controlplane.domains.registry import ShownDomain
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonArray, Result
from storage.clock import iso, iso_or_none, next_day_ms
from storage.domains import domain_reports, domains
from storage.domains.domain_reports import DomainReportRow
from storage.domains.domains import DomainRow
from storage.engine.tx import Tx
from storage.records import load

TURN_DOMAINS = 20


async def register_domain(call: Call) -> Result:
    body: RegisterDomain = call.input
    shown = await call.services.domains.register(
        call.db, call.principal.actor, call.organization_id, body.domainName, body.dailyCap
    )
    return Result(_whole(call, shown))


async def list_domains(call: Call) -> JsonArray:
    found = await call.services.domains.list_domains(call.organization_id)
    return JsonArray(_each(call, found))


async def _each(call: Call, found: Sequence[ShownDomain]) -> AsyncIterator[bytes]:
    for number, shown in enumerate(found, 1):
        yield msgspec.json.encode(_whole(call, shown))
        if number % TURN_DOMAINS == 0:
            # There may be a thousand, with what their DNS says: others are served too.
            await asyncio.sleep(0)


async def get_domain(call: Call) -> Result:
    return Result(_whole(call, await call.services.domains.show(call.organization_id, call.id)))


async def list_domain_reports(call: Call) -> Result:
    query: ListDomainReports = call.input
    rows = await call.read(_reports, call.organization_id, call.id, query)
    return Result([shown_report(row) for row in rows])


def _reports(tx: Tx, organization_id: str, domain_id: str, query: ListDomainReports) -> list[DomainReportRow]:
    if domains.get(tx, organization_id, domain_id) is None:
        raise Refusal("domain_not_found")
    return domain_reports.list_reports(
        tx, organization_id, domain_id, limit=query.limit, kind=query.type, before=query.cursor
    )


async def verify_domain(call: Call) -> Result:
    return Result(
        _shown_domain_verification(
            await call.services.domains.verify(call.db, call.principal.actor, call.organization_id, call.id)
        )
    )


async def update_domain(call: Call) -> Result:
    body: PatchDomain = call.input
    shown = await call.services.domains.set_daily_cap(
        call.db, call.principal.actor, call.organization_id, call.id, body.dailyCap
    )
    whole = _whole(call, shown)
    return Result({name: whole[name] for name in DOMAIN_CEILING})


async def rotate_dkim(call: Call) -> Result:
    return Result(
        _whole(
            call,
            await call.services.domains.rotate_dkim(
                call.db, call.principal.actor, call.organization_id, call.id
            ),
        )
    )


async def delete_domain(call: Call) -> Result:
    await call.services.domains.delete(call.db, call.principal.actor, call.organization_id, call.id)
    return Result({"id": call.id, "status": "deleted"})


def _whole(call: Call, shown: ShownDomain) -> dict[str, object]:
    return _shown_domain(shown.row, shown.records, shown.today_used, call.services.clock.now_ms())


DOMAIN_CEILING = ("id", "domainName", "dailyCap", "todayUsed", "resetsAt", "note")


def _shown_domain(
    row: DomainRow, records: Sequence[Mapping[str, Any]], today_used: int, now_ms: int
) -> dict[str, Any]:
    resets_at = iso(next_day_ms(now_ms))
    note = None
    if row.daily_cap is not None and today_used >= row.daily_cap:
        note = (
            f"Today's {today_used} sends reach the ceiling of {row.daily_cap}:"
            f" nothing more is sent from this domain until {resets_at}."
        )
    return {
        "id": row.id,
        "domainName": row.domain_name,
        "status": row.status,
        "mxStatus": bool(row.mx_status),
        "spfStatus": bool(row.spf_status),
        "dkimStatus": bool(row.dkim_status),
        "dmarcStatus": bool(row.dmarc_status),
        "records": list(records),
        "dailyCap": row.daily_cap,
        "todayUsed": today_used,
        "resetsAt": resets_at,
        "note": note,
        "verifiedAt": iso_or_none(row.verified_at),
        "createdAt": iso(row.created_at),
    }


def _shown_domain_verification(row: DomainRow) -> dict[str, Any]:
    """The answer to a request to verify, which says `active` for `verified` (docs/contract.md, section 3)."""
    return {
        "id": row.id,
        "domainName": row.domain_name,
        "status": "active" if row.status == "verified" else row.status,
        "checks": {
            "ownership": bool(row.ownership_status),
            "mx": bool(row.mx_status),
            "spf": bool(row.spf_status),
            "dkim": bool(row.dkim_status),
        },
        "verifiedAt": iso_or_none(row.verified_at),
    }


def shown_report(row: DomainReportRow) -> dict[str, Any]:
    """As the API shows it; `domainId` is None of a shared domain."""
    detail = load(row.detail)
    return {
        "id": row.id,
        "domainId": row.domain_id,
        "type": row.kind,
        "reporter": row.reporter,
        "reportId": row.report_id,
        "verifiedDomain": row.verified_domain,
        "periodBegin": iso(row.begin_at),
        "periodEnd": iso(row.end_at),
        "total": row.total,
        "passed": row.passed,
        "failed": row.total - row.passed,
        "isTruncated": bool(row.is_truncated),
        "dmarc": detail if row.kind == "dmarc" else None,
        "tls": detail if row.kind == "tls" else None,
        "messageId": row.message_id,
        "createdAt": iso(row.created_at),
    }
