"""Inboxes: provisioning, listing, changing, deactivating."""

from controlplane import render
from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.access.usernames import is_reserved
from controlplane.api import Call, Result
from controlplane.contract.refusals import Refusal
from controlplane.contract.requests import CreateInbox, PatchInbox
from storage import agents, allowances, domains, inboxes, organizations
from storage.clock import iso
from storage.database import Tx
from storage.records import InboxRow, dump

DAY_MS = 86_400_000


async def create(call: Call) -> Result:
    body: CreateInbox = call.body
    server = call.rooms.settings.server
    domain = (body.domain or server.shared_domains[0]).lower().rstrip(".")
    if domain == server.apex_domain or (server.apex_domain and domain.endswith("." + server.apex_domain)
                                        and domain not in server.shared_domains):  # fmt: skip
        raise Refusal("apex_domain_reserved")
    if is_reserved(body.username, is_shared=domain in server.shared_domains, brand=server.reserved_usernames):
        raise Refusal("username_reserved")
    now_ms = call.rooms.clock.now_ms()
    try:
        with refusing_what_exceeds():
            row = await call.rooms.db.write(_provision, call, body, domain, now_ms)
    except inboxes.AddressTaken as error:
        raise Refusal("address_already_exists", details={"address": str(error)}) from error
    except inboxes.AddressInCooldown as error:
        days = -(-(error.until_ms - now_ms) // DAY_MS)
        details = {"cooldownDaysRemaining": days, "cooldownUntil": iso(error.until_ms)}
        raise Refusal("address_in_cooldown", details=details) from error
    return Result(render.inbox(row), status=201)


def _provision(tx: Tx, call: Call, body: CreateInbox, domain: str, now_ms: int) -> InboxRow:
    """The checks and the row in one transaction, so that two requests can't both take the last place."""
    rooms = call.rooms
    if domain not in rooms.settings.server.shared_domains:
        status = domains.status_for(tx, call.organization_id, domain)
        if status is None:
            raise Refusal("domain_not_found")
        if status != "verified":
            raise Refusal("domain_not_verified")
    if body.agentId is not None and not agents.exists(tx, call.organization_id, body.agentId):
        raise Refusal("agent_not_found")
    organization = organizations.get(tx, call.organization_id)
    limit = rooms.settings.plan(organization.plan).inboxes if organization else None
    allowances.inbox(tx, call.organization_id, limit)
    return inboxes.create(
        tx,
        rooms.ids.new("inb"),
        now_ms,
        organization_id=call.organization_id,
        username=body.username,
        domain=domain,
        name=body.name,
        agent_id=body.agentId,
        metadata=dump(body.metadata),
    )


async def page(call: Call) -> Result:
    rows = await call.read(
        inboxes.list_inboxes,
        call.organization_id,
        limit=call.query.limit,
        before=call.query.cursor,
        is_active=call.query.isActive,
        inbox_id=call.principal.listed_inbox(),
    )
    return Result([render.inbox(row) for row in rows])


async def show(call: Call) -> Result:
    row = await call.rooms.db.lookup(inboxes.get_active, call.organization_id, call.id)
    if row is None:
        raise Refusal("inbox_not_found")
    return Result(render.inbox(row))


async def update(call: Call) -> Result:
    body: PatchInbox = call.body
    given = body.model_fields_set
    row = await call.rooms.db.write(
        inboxes.update,
        call.organization_id,
        call.id,
        call.rooms.clock.now_ms(),
        name=body.name,
        is_named="name" in given,
        metadata=dump(body.metadata) if "metadata" in given else None,
    )
    if row is None:
        raise Refusal("inbox_not_found")
    return Result(render.inbox(row))


async def deactivate(call: Call) -> Result:
    # Apart: thousands of messages may be waiting to be sent from it.
    rooms = call.rooms
    until_ms = await rooms.db.write_apart(
        inboxes.deactivate, call.organization_id, call.id, rooms.ids.new, rooms.clock.now_ms()
    )
    if until_ms is None:
        raise Refusal("inbox_not_found")
    return Result({"id": call.id, "status": "deactivated", "cooldownUntil": iso(until_ms)})
