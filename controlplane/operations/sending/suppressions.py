"""Suppressions: addresses that the organization does not write to."""

from typing import Any

from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from maild.message.fields.address import normalize
from storage.audit.acts import Act
from storage.audit.trail import address_hash
from storage.clock import iso
from storage.engine.tx import Tx
from storage.sending import suppressions
from storage.sending.suppressions import SuppressionRow


async def create_suppression(call: Call) -> Result:
    row = await call.db.write(_add, call)
    return Result(_shown_suppression(row))


def _add(tx: Tx, call: Call) -> SuppressionRow:
    suppression_id = suppressions.add(
        tx,
        call.services.ids.new("sup"),
        call.services.clock.now_ms(),
        organization_id=call.organization_id,
        email=normalize(call.input.email),
        reason=call.input.reason,
        source="api",
    )
    row = suppressions.get(tx, call.organization_id, suppression_id)
    assert row is not None
    _record(tx, call, Act.SUPPRESSION_ADDED, row)
    return row


def _record(tx: Tx, call: Call, act: Act, row: SuppressionRow) -> None:
    hashed = address_hash(call.organization_id, row.email)
    call.record(tx, act, row.id, addressHash=hashed, reason=row.reason, source=row.source)


async def list_suppressions(call: Call) -> Result:
    query = call.input
    rows = await call.read(
        suppressions.list_suppressions,
        call.organization_id,
        limit=query.limit,
        reason=query.reason,
        email=normalize(query.email) if query.email is not None else None,
        before=query.cursor,
    )
    return Result([_shown_suppression(row) for row in rows])


async def delete_suppression(call: Call) -> Result:
    await call.db.write(_remove, call)
    return Result({"id": call.id, "status": "deleted"})


def _remove(tx: Tx, call: Call) -> None:
    row = suppressions.get(tx, call.organization_id, call.id)
    if row is None or not suppressions.remove(tx, call.organization_id, call.id):
        raise Refusal("suppression_not_found")
    _record(tx, call, Act.SUPPRESSION_REMOVED, row)


def _shown_suppression(row: SuppressionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "email": row.email,
        "reason": row.reason,
        "source": row.source,
        "createdAt": iso(row.created_at),
    }
