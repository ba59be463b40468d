"""Rules: written, listed, deleted. What they decide stands in `controlplane/sending/admitting/guards.py`, and for mail
that comes in in `maild/inbound/delivery/admittance.py`."""

from typing import Any

import msgspec

from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.refusals import Refusal
from controlplane.contract.work.rules import CreateRule, ListRules
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.operations.retries import accepted, small_retry_of
from controlplane.sending.submission import Accepted, Retry, recalled
from storage.agents import rules
from storage.agents.rules import RuleRow
from storage.audit.acts import Act, Actor
from storage.audit.trail import Records, address_hash
from storage.clock import iso
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.tenants import allowances

ENDPOINT = "POST /v1/rules"


async def create_rule(call: Call) -> Result:
    return accepted(await call.db.write(_create, call, small_retry_of(call, ENDPOINT, about="")))


async def list_rules(call: Call) -> Result:
    query: ListRules = call.input
    rows = await call.read(
        rules.list_rules,
        call.organization_id,
        limit=query.limit,
        direction=query.direction,
        action=query.action,
        value=query.value,
        inbox_id=query.inboxId,
        before=query.cursor,
    )
    return Result([shown_rule(row) for row in rows])


async def delete_rule(call: Call) -> Result:
    recorder = (call.services.audit, call.principal.actor)
    if not await call.db.write(remove_rule, call.organization_id, call.id, *recorder):
        raise Refusal("rule_not_found")
    return Result({"id": call.id, "deleted": True})


def _create(tx: Tx, call: Call, retry: Retry | None) -> Accepted:
    made = recalled(tx, call.organization_id, retry)
    if made is not None:
        return made
    now_ms = call.services.clock.now_ms()
    rule_id, recorder = call.services.ids.new("rul"), (call.services.audit, call.principal.actor)
    row = write_rule(tx, call.organization_id, call.input, rule_id, *recorder, now_ms)
    answer = msgspec.json.encode(shown_rule(row))
    if retry is not None:
        retry.keep(tx, call.organization_id, answer, None, now_ms)
    return Accepted(answer, is_replay=False)


def write_rule(
    tx: Tx,
    organization_id: str,
    request: CreateRule,
    rule_id: str,
    audit: Records,
    actor: Actor,
    now_ms: int,
) -> RuleRow:
    """The rule, or the one that says the same already. Refusal `inbox_not_found`, `limit_reached`."""
    if request.inboxId is not None and inboxes.get_active(tx, organization_id, request.inboxId) is None:
        raise Refusal("inbox_not_found")
    wanted = RuleRow(
        id=rule_id,
        organization_id=organization_id,
        inbox_id=request.inboxId,
        direction=request.direction,
        action=request.action,
        value=request.value,
        note=request.note,
        created_at=now_ms,
    )
    known = rules.find_same(tx, wanted)
    if known is not None:
        return known
    with refusing_what_exceeds():
        allowances.rule(tx, organization_id)
    row = rules.add(tx, wanted)
    audit.record(tx, organization_id, Act.RULE_CREATED, actor, row.id, _recorded(row))
    return row


def remove_rule(tx: Tx, organization_id: str, rule_id: str, audit: Records, actor: Actor) -> bool:
    """Delete the rule; False when the organization does not have it."""
    row = rules.get(tx, organization_id, rule_id)
    if row is None or not rules.remove(tx, organization_id, rule_id):
        return False
    audit.record(tx, organization_id, Act.RULE_DELETED, actor, row.id, _recorded(row))
    return True


def _recorded(row: RuleRow) -> dict[str, Any]:
    """What the audit log says of it: an address as its hash."""
    value = {"value": row.value}
    if "@" in row.value:
        value = {"addressHash": address_hash(row.organization_id, row.value)}
    return {"direction": row.direction, "action": row.action, "inboxId": row.inbox_id, **value}


def shown_rule(row: RuleRow) -> dict[str, Any]:
    """As the API shows it."""
    return {
        "id": row.id,
        "inboxId": row.inbox_id,
        "direction": row.direction,
        "action": row.action,
        "value": row.value,
        "note": row.note,
        "createdAt": iso(row.created_at),
    }
