"""Webhooks: registration, their secrets, the test ping, and the record of every attempt."""

from collections.abc import Sequence

from controlplane import render
from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.api import Call, Result
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.requests import CreateWebhook, ListDeliveries, UpdateWebhook
from controlplane.egress.targets import EgressRefused
from storage import allowances, organizations, webhooks
from storage.database import Tx
from storage.records import WebhookRow

PREVIOUS_SECRET_MS = 24 * 3_600_000


async def create(call: Call) -> Result:
    body: CreateWebhook = call.body
    await _check_target(call, body.url)
    webhook_id = call.rooms.ids.new("whk")
    secret, sealed = call.rooms.secrets.make(webhook_id)
    with refusing_what_exceeds():
        row = await call.rooms.db.write(_register, call, webhook_id, sealed)
    return Result({**render.webhook(row), "secret": secret}, status=201)


def _register(tx: Tx, call: Call, webhook_id: str, sealed: bytes) -> WebhookRow:
    organization = organizations.get(tx, call.organization_id)
    limit = call.rooms.settings.plan(organization.plan).webhooks if organization else 0
    allowances.webhook(tx, call.organization_id, limit)
    return webhooks.create(
        tx,
        webhook_id,
        call.rooms.clock.now_ms(),
        organization_id=call.organization_id,
        url=call.body.url,
        subscribed_events=_unique(call.body.subscribedEvents),
        secret=sealed,
    )


async def page(call: Call) -> Result:
    rows = await call.read(webhooks.list_webhooks, call.organization_id)
    return Result([render.webhook(row) for row in rows])


async def show(call: Call) -> Result:
    return Result(render.webhook(await _find(call)))


async def update(call: Call) -> Result:
    body: UpdateWebhook = call.body
    if body.url is not None:
        await _check_target(call, body.url)
    row = await call.rooms.db.write(
        webhooks.update,
        call.organization_id,
        call.id,
        call.rooms.clock.now_ms(),
        url=body.url,
        subscribed_events=_unique(body.subscribedEvents) if body.subscribedEvents else None,
        is_active=body.isActive,
    )
    if row is None:
        raise Refusal("webhook_not_found")
    return Result(render.webhook(row))


async def delete(call: Call) -> Result:
    if not await call.rooms.db.write(
        webhooks.delete, call.organization_id, call.id, call.rooms.clock.now_ms()
    ):
        raise Refusal("webhook_not_found")
    return Result({"id": call.id, "status": "deleted"})


async def rotate_secret(call: Call) -> Result:
    """A new secret, shown once; for 24 h deliveries are signed with the old one as well."""
    secret, sealed = call.rooms.secrets.make(call.id)
    now_ms = call.rooms.clock.now_ms()
    row = await call.rooms.db.write(
        webhooks.rotate,
        call.organization_id,
        call.id,
        now_ms,
        secret=sealed,
        previous_until_ms=now_ms + PREVIOUS_SECRET_MS,
    )
    if row is None:
        raise Refusal("webhook_not_found")
    return Result({**render.webhook(row), "secret": secret})


async def test(call: Call) -> Result:
    return Result(render.webhook_attempt(await call.rooms.pinger.ping(await _find(call))))


async def deliveries(call: Call) -> Result:
    query: ListDeliveries = call.query
    rows = await call.read(webhooks.attempts, call.organization_id, limit=query.limit, before=query.cursor)
    return Result([render.webhook_attempt(row) for row in rows])


async def redeliver(call: Call) -> Result:
    record = await call.rooms.dispatcher.redeliver(call.rooms.db, call.organization_id, call.id)
    return Result(render.webhook_attempt(record))


async def _check_target(call: Call, url: str) -> None:
    try:
        await call.rooms.egress.check_url(url)
    except EgressRefused as refused:
        raise invalid([Fault("url", "refused_target", refused.reason)]) from refused


async def _find(call: Call) -> WebhookRow:
    row = await call.read(webhooks.get, call.organization_id, call.id)
    if row is None:
        raise Refusal("webhook_not_found")
    return row


def _unique(events: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(events))
