"""Policies of inboxes: read, and replaced as a whole."""

from typing import Any

from controlplane.contract.policies import GivenWorkPolicy, ReplacePolicy
from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage import inboxes, policies
from storage.database import Tx
from storage.policies import NO_VERSION, PolicyRow
from storage.records import dump, load


async def get_inbox_policy(call: Call) -> Result:
    row = await call.db.lookup(_of_inbox, call)
    return Result({"version": row.version if row else NO_VERSION, **effective(row)})


async def replace_inbox_policy(call: Call) -> Result:
    return Result(await call.db.write(_replace, call, call.input))


def effective(own: PolicyRow | None) -> dict[str, Any]:
    """What holds for an inbox that has this document, or none."""
    if own is None:
        return {"work": GivenWorkPolicy().model_dump()}
    document: dict[str, Any] = load(own.document)
    return document


def _of_inbox(tx: Tx, call: Call) -> PolicyRow | None:
    if inboxes.get_active(tx, call.organization_id, call.id) is None:
        raise Refusal("inbox_not_found")
    return policies.of_inbox(tx, call.organization_id, call.id)


def _replace(tx: Tx, call: Call, body: ReplacePolicy) -> dict[str, Any]:
    row = _of_inbox(tx, call)
    document = body.model_dump(exclude={"version"})
    is_replaced = policies.replace(
        tx, call.organization_id, call.id, body.version, dump(document), body.work.enabled,
        call.services.clock.now_ms(),
    )  # fmt: skip
    if not is_replaced:
        raise Refusal("version_conflict", details={"version": row.version if row else NO_VERSION})
    return {"version": body.version + 1, **document}
