"""Policies of the organization and of inboxes: read, and replaced as a whole."""

from typing import Any

from controlplane.contract.refusals import Refusal
from controlplane.contract.work.policies import ReplaceInboxPolicy, ReplaceOrganizationPolicy
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from maild.message.fields.address import normalize
from storage.agents import policies
from storage.agents.policies import NO_POLICY, NO_VERSION, Policy, PolicyRow, document_of, policy_of
from storage.audit.acts import Act, Actor
from storage.audit.trail import Records, address_hash
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.records import dump, load


async def get_organization_policy(call: Call) -> Result:
    row = await call.db.lookup(policies.of_owner, call.organization_id, call.organization_id)
    return Result(shown_policy(row, is_of_inbox=False))


async def replace_organization_policy(call: Call) -> Result:
    return Result(await call.db.write(_replace, call, call.organization_id))


async def get_inbox_policy(call: Call) -> Result:
    return Result(shown_policy(await call.db.lookup(_of_inbox, call), is_of_inbox=True))


async def replace_inbox_policy(call: Call) -> Result:
    return Result(await call.db.write(_replace_of_inbox, call))


def shown_policy(row: PolicyRow | None, *, is_of_inbox: bool) -> dict[str, Any]:
    """An own document, as the API shows it; that of an inbox says whether its mail is work."""
    if row is None:
        return _shown(NO_VERSION, NO_POLICY, is_of_inbox=is_of_inbox)
    return _shown(row.version, policy_of(load(row.document)), is_of_inbox=is_of_inbox)


def replace_policy(
    tx: Tx,
    organization_id: str,
    owner_id: str,
    given: ReplaceOrganizationPolicy,
    audit: Records,
    actor: Actor,
    now_ms: int,
) -> dict[str, Any]:
    """Write the document of the organization or of an inbox, whichever `owner_id` names; as it is shown. Refusal
    `version_conflict`."""
    is_of_inbox = isinstance(given, ReplaceInboxPolicy)
    has_work = given.work.enabled if isinstance(given, ReplaceInboxPolicy) else False
    document = given.model_dump(exclude={"version"})
    if not policies.replace(tx, organization_id, owner_id, given.version, dump(document), has_work, now_ms):
        row = policies.of_owner(tx, organization_id, owner_id)
        raise Refusal("version_conflict", details={"version": row.version if row else NO_VERSION})
    policy, version = policy_of(document), given.version + 1
    told = {"version": version, **_recorded(organization_id, policy)}
    audit.record(tx, organization_id, Act.POLICY_REPLACED, actor, owner_id, told)
    return _shown(version, policy, is_of_inbox=is_of_inbox)


def _shown(version: int, policy: Policy, *, is_of_inbox: bool) -> dict[str, Any]:
    shown = {"version": version, **document_of(policy)}
    return shown if is_of_inbox else {name: member for name, member in shown.items() if name != "work"}


def _of_inbox(tx: Tx, call: Call) -> PolicyRow | None:
    if inboxes.get_active(tx, call.organization_id, call.id) is None:
        raise Refusal("inbox_not_found")
    return policies.of_owner(tx, call.organization_id, call.id)


def _replace_of_inbox(tx: Tx, call: Call) -> dict[str, Any]:
    _of_inbox(tx, call)
    return _replace(tx, call, call.id)


def _replace(tx: Tx, call: Call, owner_id: str) -> dict[str, Any]:
    now_ms = call.services.clock.now_ms()
    recorder = (call.services.audit, call.principal.actor)
    return replace_policy(tx, call.organization_id, owner_id, call.input, *recorder, now_ms)


def _recorded(organization_id: str, policy: Policy) -> dict[str, Any]:
    """What the audit log says of it: addresses as hashes."""
    shown = document_of(policy)
    hashes = [address_hash(organization_id, normalize(one)) for one in policy.review.notify]
    return {**shown, "review": {**shown["review"], "notify": hashes}}
