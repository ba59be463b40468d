"""Webhooks: registration, their secrets, the test ping, and the record of every attempt."""

from collections.abc import Sequence
from typing import Any

from yarl import URL

from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.rendering import json_column
from controlplane.contract.telling.webhooks import CreateWebhook, ListDeliveries, UpdateWebhook
from controlplane.egress.targets import EgressRefused
from controlplane.operations.event_types import require_heard
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.webhooks.secrets import PREVIOUS_SECRET_MS
from storage.audit.acts import Act
from storage.clock import iso, iso_or_none
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.records import WebhookAttempt, WebhookRow, load
from storage.tenants import allowances, organizations


async def create_webhook(call: Call) -> Result:
    body: CreateWebhook = call.input
    require_heard(call.principal, body.subscribedEvents)
    await _check_target(call, body.url)
    webhook_id = call.services.ids.new("whk")
    secret, sealed = call.services.secrets.make(webhook_id)
    with refusing_what_exceeds():
        row = await call.db.write(_register, call, webhook_id, sealed)
    return Result({**_shown_webhook(row), "secret": secret})


def _register(tx: Tx, call: Call, webhook_id: str, sealed: bytes) -> WebhookRow:
    organization = organizations.get(tx, call.organization_id)
    limit = call.services.settings.plan(organization.plan).webhooks if organization else 0
    allowances.webhook(tx, call.organization_id, limit)
    row = webhooks.create(
        tx,
        webhook_id,
        call.services.clock.now_ms(),
        organization_id=call.organization_id,
        url=call.input.url,
        subscribed_events=_unique(call.input.subscribedEvents),
        secret=sealed,
    )
    _record(tx, call, Act.WEBHOOK_CREATED, row)
    return row


def _record(tx: Tx, call: Call, act: Act, row: WebhookRow) -> None:
    """Of the URL its host alone, as it is looked up: the rest may be a secret."""
    host = URL(row.url).raw_host
    call.record(tx, act, row.id, host=host, events=load(row.subscribed_events), isActive=bool(row.is_active))


async def list_webhooks(call: Call) -> Result:
    rows = await call.read(webhooks.list_webhooks, call.organization_id)
    return Result([_shown_webhook(row) for row in rows])


async def get_webhook(call: Call) -> Result:
    return Result(_shown_webhook(await _find(call)))


async def update_webhook(call: Call) -> Result:
    body: UpdateWebhook = call.input
    require_heard(call.principal, body.subscribedEvents or ())
    if body.url is not None:
        await _check_target(call, body.url)
    return Result(_shown_webhook(await call.db.write(_update, call, body)))


def _update(tx: Tx, call: Call, body: UpdateWebhook) -> WebhookRow:
    present = webhooks.get(tx, call.organization_id, call.id)
    if present is None:
        raise Refusal("webhook_not_found")
    lost = _lost(present, body)
    # A key that hears less may not have it by another URL, where also what waits, or is delivered again, goes.
    require_heard(call.principal, lost)
    if lost or body.isActive is False:
        call.principal.require_live()
    row = webhooks.update(
        tx,
        call.organization_id,
        call.id,
        call.services.clock.now_ms(),
        url=body.url,
        subscribed_events=_unique(body.subscribedEvents) if body.subscribedEvents else None,
        is_active=body.isActive,
    )
    assert row is not None
    _record(tx, call, Act.WEBHOOK_UPDATED, row)
    return row


def _lost(present: WebhookRow, body: UpdateWebhook) -> set[str]:
    """The types that the endpoint hears now and would not hear any more."""
    heard = set(load(present.subscribed_events))
    if body.url not in (None, present.url):
        return heard
    return heard.difference(body.subscribedEvents) if body.subscribedEvents else set()


async def delete_webhook(call: Call) -> Result:
    await call.db.write(_delete, call)
    return Result({"id": call.id, "status": "deleted"})


async def rotate_webhook_secret(call: Call) -> Result:
    """A new secret, shown once; for 24 h deliveries are signed with the old one as well."""
    secret, sealed = call.services.secrets.make(call.id)
    row = await call.db.write(_rotate, call, sealed)
    return Result({**_shown_webhook(row), "secret": secret})


def _rotate(tx: Tx, call: Call, sealed: bytes) -> WebhookRow:
    now_ms = call.services.clock.now_ms()
    row = webhooks.rotate(
        tx,
        call.organization_id,
        call.id,
        now_ms,
        secret=sealed,
        previous_until_ms=now_ms + PREVIOUS_SECRET_MS,
    )
    if row is None:
        raise Refusal("webhook_not_found")
    call.record(tx, Act.WEBHOOK_SECRET_ROTATED, row.id)
    return row


def _delete(tx: Tx, call: Call) -> None:
    if not webhooks.delete(tx, call.organization_id, call.id, call.services.clock.now_ms()):
        raise Refusal("webhook_not_found")
    call.record(tx, Act.WEBHOOK_DELETED, call.id)


async def test_webhook(call: Call) -> Result:
    return Result(_shown_webhook_attempt(await call.services.pinger.ping(await _find(call))))


async def list_deliveries(call: Call) -> Result:
    query: ListDeliveries = call.input
    rows = await call.read(webhooks.attempts, call.organization_id, limit=query.limit, before=query.cursor)
    return Result([_shown_webhook_attempt(row) for row in rows])


async def redeliver(call: Call) -> Result:
    record = await call.services.dispatcher.redeliver(call.db, call.organization_id, call.id)
    return Result(_shown_webhook_attempt(record))


async def _check_target(call: Call, url: str) -> None:
    try:
        await call.services.egress.check_url(url)
    except EgressRefused as refused:
        raise invalid([Fault("url", "refused_target", refused.reason)]) from refused


async def _find(call: Call) -> WebhookRow:
    row = await call.read(webhooks.get, call.organization_id, call.id)
    if row is None:
        raise Refusal("webhook_not_found")
    return row


def _unique(events: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(events))


def _shown_webhook(row: WebhookRow) -> dict[str, Any]:
    """Without the secret: only creating and rotating show it."""
    return {
        "id": row.id,
        "url": row.url,
        "subscribedEvents": json_column(row.subscribed_events),
        "isActive": bool(row.is_active),
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }


def _shown_webhook_attempt(row: WebhookAttempt) -> dict[str, Any]:
    return {
        "id": row.id,
        "webhookId": row.webhook_id,
        "eventId": row.event_id,
        "eventType": row.event_type,
        "attempt": row.attempt,
        "requestHeaders": json_column(row.request_headers),
        "responseStatus": row.response_status,
        "responseBody": row.response_body,
        "isSuccessful": bool(row.is_successful),
        "error": row.error,
        "durationMs": row.duration_ms,
        "nextAttemptAt": iso_or_none(row.next_attempt_at),
        "createdAt": iso(row.created_at),
    }
