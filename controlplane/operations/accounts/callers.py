"""Who calls, and within what limits: what an agent should know of itself."""

from typing import Any

from controlplane.contract.mail.messages import RECIPIENTS_MAX
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.agents import policies, reviews
from storage.agents.policies import document_of
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.tenants import organizations


async def who_am_i(call: Call) -> Result:
    return Result(await call.db.lookup(_caller, call))


def _caller(tx: Tx, call: Call) -> dict[str, Any]:
    """`inbox`, `policy`, `heldCount` (what of its own mail is held): of a key that is bound to one which is active.
    `hasWork`: is mail work in an inbox of its? `recipientsMax`: of each kind, in one message."""
    principal = call.principal
    organization = organizations.get(tx, principal.organization_id)
    is_single = organization is not None and call.services.settings.plan(organization.plan).single_recipient
    told = {
        "keyId": principal.key_id,
        "mode": principal.mode,
        "organizationId": principal.organization_id,
        "scopes": list(principal.scopes),
        "recipientsMax": 1 if is_single else RECIPIENTS_MAX,
        "inbox": None,
        "policy": None,
    }
    if principal.inbox_id is None:
        return {**told, "hasWork": policies.has_work(tx, principal.organization_id)}
    row = inboxes.get_active(tx, principal.organization_id, principal.inbox_id)
    if row is None:
        return {**told, "hasWork": False}
    policy = policies.effective(tx, principal.organization_id, row.id)
    inbox = {"id": row.id, "address": row.address, "name": row.name, "unreadCount": row.unread_count}
    return {
        **told,
        "inbox": inbox,
        "policy": document_of(policy),
        "hasWork": policy.work.is_enabled,
        "heldCount": reviews.count_pending(tx, row.id),
    }
