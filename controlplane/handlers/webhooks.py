"""Webhooks: registration, and the record of every attempt."""

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError, Fault, invalid
from controlplane.schemas import CreateWebhook
from controlplane.webhooks.targets import EgressRefused
from storage import organizations, webhooks
from storage.database import Tx
from storage.records import Webhook


async def create(call: Call) -> Answer:
    body: CreateWebhook = call.body
    try:
        await call.rooms.egress.check_url(body.url)
    except EgressRefused as refused:
        raise invalid([Fault("url", "refused_target", refused.reason)]) from refused
    webhook_id = call.rooms.ids.new("whk")
    secret, sealed = call.rooms.secrets.make(webhook_id)
    try:
        row = await call.rooms.db.write(_register, call, webhook_id, sealed)
    except webhooks.WebhookLimitReached as reached:
        details = {"resource": "webhooks", "limit": reached.limit, "used": reached.used, "resetsAt": None}
        raise ApiError("webhook_limit_reached", details=details) from reached
    return Answer({**render.webhook(row), "secret": secret}, status=201)


def _register(tx: Tx, call: Call, webhook_id: str, sealed: bytes) -> Webhook:
    organization = organizations.get(tx, call.organization_id)
    return webhooks.create(
        tx,
        webhook_id,
        call.rooms.clock.now_ms(),
        organization_id=call.organization_id,
        url=call.body.url,
        subscribed_events=list(dict.fromkeys(call.body.subscribedEvents)),
        secret=sealed,
        limit=call.rooms.settings.plan(organization.plan).webhooks if organization else 0,
    )


async def deliveries(call: Call) -> Answer:
    rows = await call.rooms.db.read(webhooks.attempts, call.organization_id, limit=call.query.limit)
    return Answer([render.webhook_attempt(row) for row in rows])
