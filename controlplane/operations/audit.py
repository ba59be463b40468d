"""The audit log of the caller's organization."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from controlplane.contract.audit import BrowseAudit, ListAudit
from controlplane.contract.rendering import json_column
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonArray, Result
from storage import audit
from storage.audit_chain import AuditRow
from storage.clock import iso, iso_or_none

SLICE_ROWS = 200


async def list_audit(call: Call) -> JsonArray:
    return JsonArray(_rows(call, call.input))


async def _rows(call: Call, query: ListAudit) -> AsyncIterator[bytes]:
    position, left = query.after, query.limit
    while left:
        page = await call.read(
            audit.page,
            call.organization_id,
            after=position,
            limit=min(left, SLICE_ROWS),
            types=query.types,
            actor=query.actor,
        )
        for row in page.rows:
            yield msgspec.json.encode(shown_row(row))
        if page.is_end:
            return
        left -= len(page.rows)
        position = page.position


async def browse_audit(call: Call) -> JsonArray:
    return JsonArray(_rows_back(call, call.input))


async def _rows_back(call: Call, query: BrowseAudit) -> AsyncIterator[bytes]:
    position, left = query.before, query.limit
    while left:
        page = await call.read(
            audit.page_back,
            call.organization_id,
            before=position,
            limit=left,
            types=query.types,
            actor=query.actor,
        )
        for row in page.rows:
            yield msgspec.json.encode(shown_row(row))
        if page.is_end:
            return
        left -= len(page.rows)
        position = page.position


async def get_audit_head(call: Call) -> Result:
    head = await call.db.lookup(audit.head, call.organization_id)
    return Result({"seq": head.seq, "hash": head.hash.hex(), "at": iso_or_none(head.created_at)})


def shown_row(row: AuditRow) -> dict[str, Any]:
    """As the API shows it."""
    return {
        "seq": row.seq,
        "at": iso(row.created_at),
        "organizationId": row.organization_id,
        "type": row.type,
        "actor": row.actor,
        "subject": row.subject,
        "requestId": row.request_id,
        "details": json_column(row.details),
        "hash": row.hash.hex(),
    }
