"""Inboxes: provisioning, listing, changing, deactivating."""

from typing import Any

from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.access.principal import LIVE
from controlplane.access.usernames import is_reserved
from controlplane.contract.accounts.inboxes import CreateInbox, PatchInbox
from controlplane.contract.refusals import Refusal
from controlplane.contract.rendering import json_column
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from maild.message.fields.address import is_within, normalize
from maild.message.fields.idn import ascii_domain
from storage.agents import agents, policies
from storage.agents.policies import Policy, document_of
from storage.audit.acts import Act
from storage.clock import DAY_MS, iso, iso_or_none
from storage.domains import domains
from storage.engine.tx import Tx
from storage.mail import inboxes, withdrawal
from storage.records import InboxRow, dump
from storage.tenants import allowances, organizations

KEPT_EVERYWHERE = "This username is reserved on every domain; choose another."


async def create_inbox(call: Call) -> Result:
    body: CreateInbox = call.input
    server = call.services.settings.server
    domain = server.shared_domains[0] if body.domain is None else _name_of(body.domain)
    apex = server.apex_domain
    if apex and (domain == apex or (is_within(domain, apex) and domain not in server.shared_domains)):
        raise Refusal("apex_domain_reserved", details={"domainName": domain})
    if is_reserved(body.username, is_shared=domain in server.shared_domains, brand=server.reserved_usernames):
        is_kept_everywhere = is_reserved(body.username, is_shared=False, brand=())
        raise Refusal("username_reserved", KEPT_EVERYWHERE if is_kept_everywhere else None)
    now_ms = call.services.clock.now_ms()
    try:
        with refusing_what_exceeds():
            row = await call.db.write(_provision, call, body, domain, now_ms)
    except inboxes.AddressTaken as error:
        raise Refusal("address_already_exists", details={"address": str(error)}) from error
    except inboxes.AddressInCooldown as error:
        days = -(-(error.until_ms - now_ms) // DAY_MS)
        details = {"cooldownDaysRemaining": days, "cooldownUntil": iso(error.until_ms)}
        raise Refusal("address_in_cooldown", details=details) from error
    return Result(_shown_inbox(row))


def _name_of(domain: str) -> str:
    """As domains are kept, of whatever form; domain_not_found of what has none."""
    try:
        return ascii_domain(domain)
    except ValueError as error:
        raise Refusal("domain_not_found") from error


def _provision(tx: Tx, call: Call, body: CreateInbox, domain: str, now_ms: int) -> InboxRow:
    """The checks and the row in one transaction, so that two requests can't both take the last place."""
    services = call.services
    if domain not in services.settings.server.shared_domains:
        status = domains.status_for(tx, call.organization_id, domain)
        if status is None:
            raise Refusal("domain_not_found")
        if status != "verified":
            raise Refusal("domain_not_verified", details={"domainName": domain})
    if body.agentId is not None and not agents.exists(tx, call.organization_id, body.agentId):
        raise Refusal("agent_not_found")
    organization = organizations.get(tx, call.organization_id)
    limit = services.settings.plan(organization.plan).inboxes if organization else None
    allowances.inbox(tx, call.organization_id, limit)
    row = inboxes.create(
        tx,
        services.ids.new("inb"),
        now_ms,
        organization_id=call.organization_id,
        username=body.username,
        domain=domain,
        name=body.name,
        agent_id=body.agentId,
        metadata=dump(body.metadata),
    )
    call.record(tx, Act.INBOX_CREATED, row.id, domain=domain, agentId=body.agentId)
    return row


async def list_inboxes(call: Call) -> Result:
    rows = await call.read(
        inboxes.list_inboxes,
        call.organization_id,
        limit=call.input.limit,
        before=call.input.cursor,
        is_active=call.input.isActive,
        inbox_id=call.principal.listed_inbox(),
        key=None if call.input.address is None else normalize(call.input.address),
    )
    return Result([_shown_inbox(row) for row in rows])


async def get_inbox(call: Call) -> Result:
    row, policy = await call.db.lookup(_governed, call)
    return Result({**_shown_inbox(row), "policy": document_of(policy)})


def _governed(tx: Tx, call: Call) -> tuple[InboxRow, Policy]:
    row = inboxes.get_active(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal("inbox_not_found")
    return row, policies.effective(tx, call.organization_id, call.id)


async def update_inbox(call: Call) -> Result:
    return Result(_shown_inbox(await call.db.write(_update, call)))


def _update(tx: Tx, call: Call) -> InboxRow:
    body: PatchInbox = call.input
    given = body.model_fields_set
    row = inboxes.update(
        tx,
        call.organization_id,
        call.id,
        call.services.clock.now_ms(),
        name=body.name,
        is_named="name" in given,
        metadata=dump(body.metadata) if "metadata" in given else None,
    )
    if row is None:
        raise Refusal("inbox_not_found")
    call.record(tx, Act.INBOX_UPDATED, row.id, fields=sorted(given))
    return row


async def delete_inbox(call: Call) -> Result:
    until_ms = await call.db.write_apart(_deactivate, call)
    return Result({"id": call.id, "status": "deactivated", "cooldownUntil": iso(until_ms)})


def _deactivate(tx: Tx, call: Call) -> int:
    services = call.services
    if call.principal.mode != LIVE and withdrawal.may_have_live_mail(tx, call.organization_id, call.id):
        call.principal.require_live()
    until_ms = inboxes.deactivate(
        tx, call.organization_id, call.id, services.ids.new, services.clock.now_ms()
    )
    if until_ms is None:
        raise Refusal("inbox_not_found")
    call.record(tx, Act.INBOX_DEACTIVATED, call.id)
    return until_ms


def _shown_inbox(row: InboxRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "address": row.address,
        "username": row.username,
        "domain": row.domain,
        "name": row.name,
        "agentId": row.agent_id,
        "metadata": json_column(row.metadata),
        "isActive": bool(row.is_active),
        "unreadCount": row.unread_count,
        "lastMessageAt": iso_or_none(row.last_message_at),
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
        "deactivatedAt": iso_or_none(row.deactivated_at),
    }
