"""Policies of the organization and of inboxes: read, and replaced as a whole."""

from typing import Any

from controlplane.contract.policies import GivenWorkPolicy, ReplaceInboxPolicy, ReplaceOrganizationPolicy
from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from maild.message.address import normalize
from storage import inboxes, policies
from storage.audit import address_hash
from storage.audit_acts import Act
from storage.database import Tx
from storage.policies import NO_POLICY, NO_VERSION, Policy, PolicyRow, document_of, policy_of
from storage.records import dump, load


async def get_organization_policy(call: Call) -> Result:
    row = await call.db.lookup(policies.of_owner, call.organization_id, call.organization_id)
    return Result(_without_work(_shown_own(row)))


async def replace_organization_policy(call: Call) -> Result:
    return Result(_without_work(await call.db.write(_replace, call, call.organization_id)))


async def get_inbox_policy(call: Call) -> Result:
    return Result(_shown_own(await call.db.lookup(_of_inbox, call)))


async def replace_inbox_policy(call: Call) -> Result:
    return Result(await call.db.write(_replace_of_inbox, call))


def _shown_own(row: PolicyRow | None) -> dict[str, Any]:
    if row is None:
        return {"version": NO_VERSION, **document_of(NO_POLICY)}
    return {"version": row.version, **document_of(policy_of(load(row.document)))}


def _without_work(shown: dict[str, Any]) -> dict[str, Any]:
    """Whether mail is work, is said of inboxes alone."""
    return {name: member for name, member in shown.items() if name != "work"}


def _of_inbox(tx: Tx, call: Call) -> PolicyRow | None:
    if inboxes.get_active(tx, call.organization_id, call.id) is None:
        raise Refusal("inbox_not_found")
    return policies.of_owner(tx, call.organization_id, call.id)


def _replace_of_inbox(tx: Tx, call: Call) -> dict[str, Any]:
    _of_inbox(tx, call)
    return _replace(tx, call, call.id)


def _replace(tx: Tx, call: Call, owner_id: str) -> dict[str, Any]:
    body: ReplaceOrganizationPolicy = call.input
    work = body.work if isinstance(body, ReplaceInboxPolicy) else GivenWorkPolicy()
    document = body.model_dump(exclude={"version"})
    is_replaced = policies.replace(
        tx, call.organization_id, owner_id, body.version, dump(document), work.enabled,
        call.services.clock.now_ms(),
    )  # fmt: skip
    if not is_replaced:
        row = policies.of_owner(tx, call.organization_id, owner_id)
        raise Refusal("version_conflict", details={"version": row.version if row else NO_VERSION})
    policy = policy_of(document)
    call.record(tx, Act.POLICY_REPLACED, owner_id, version=body.version + 1, **_recorded(call, policy))
    return {"version": body.version + 1, **document_of(policy)}


def _recorded(call: Call, policy: Policy) -> dict[str, Any]:
    """What the audit log says of it: addresses as hashes."""
    shown = document_of(policy)
    hashes = [address_hash(call.organization_id, normalize(one)) for one in policy.review.notify]
    return {**shown, "review": {**shown["review"], "notify": hashes}}
