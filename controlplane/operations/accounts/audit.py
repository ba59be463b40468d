"""The audit log of the caller's organization."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from controlplane.contract.accounts.audit import BrowseAudit, ListAudit
from controlplane.contract.rendering import json_column
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonArray, Result
from storage.audit import trail
from storage.audit.chain import AuditRow
from storage.audit.trail import AuditPage
from storage.clock import iso, iso_or_none

SLICE_ROWS = 200


async def list_audit(call: Call) -> JsonArray:
    return JsonArray(_rows(call, trail.page, call.input.after))


async def browse_audit(call: Call) -> JsonArray:
    return JsonArray(_rows(call, trail.page_back, call.input.before))


async def _rows(call: Call, look: Callable[..., AuditPage], position: int) -> AsyncIterator[bytes]:
    """Look after look, from the position on. `look`: a page of either direction."""
    query: ListAudit | BrowseAudit = call.input
    left = query.limit
    while left:
        page = await call.read(
            look,
            call.organization_id,
            position,
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


async def get_audit_head(call: Call) -> Result:
    head = await call.db.lookup(trail.head, call.organization_id)
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
