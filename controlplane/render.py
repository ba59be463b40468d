"""Records → the JSON of the contract. Every key is always there; what is absent is null."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from controlplane.mail.analytics import Destination, Series, Summary
from storage.agents import AgentRow
from storage.clock import iso, iso_or_none, next_day_ms, next_month_ms
from storage.domains import DomainRow
from storage.members import MemberRow
from storage.organizations import Used
from storage.records import (
    DeliveryAttemptRow,
    DraftRow,
    InboxRow,
    KeyRow,
    OrganizationRow,
    WebhookAttempt,
    WebhookRow,
)
from storage.suppressions import SuppressionRow
from storage.usage import REPUTATION_DAYS, ReputationRates


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _json(text: str) -> Any:
    """A column that holds JSON goes out as it stands."""
    return msgspec.Raw(text.encode())


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def inbox(row: InboxRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "address": row.address,
        "username": row.username,
        "domain": row.domain,
        "name": row.name,
        "agentId": row.agent_id,
        "metadata": _json(row.metadata),
        "isActive": bool(row.is_active),
        "unreadCount": row.unread_count,
        "lastMessageAt": iso_or_none(row.last_message_at),
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
        "deactivatedAt": iso_or_none(row.deactivated_at),
    }


def message(shown: bytes, text: str | None, html: str | None) -> msgspec.Raw:
    """What SQLite rendered (storage.message_json), and the bodies, which it can't read."""
    return _with_members(shown, {"textBody": text, "htmlBody": html})


def thread(shown: bytes, has_more: bool, messages: Sequence[msgspec.Raw]) -> msgspec.Raw:
    return _with_members(shown, {"hasMore": has_more, "messages": messages})


def thread_head(shown: bytes, has_more: bool) -> bytes:
    """The beginning of what `thread` renders, up to its messages."""
    return bytes(thread(shown, has_more, []))[: -len(b"[]}")]


def thread_message(shown: bytes, text: str | None, html: str | None) -> msgspec.Raw:
    """An element of a thread's `messages`: the short names stand beside the long ones."""
    return _with_members(shown, {"textBody": text, "htmlBody": html, "text": text, "html": html})


def _with_members(json: bytes, more: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json[:-1] + b"," + encode(more)[1:])


def delivery_attempt(row: DeliveryAttemptRow) -> dict[str, Any]:
    return {
        "address": row.address,
        "kind": row.kind,
        "attempt": row.attempt,
        "outcome": row.outcome,
        "remoteHost": row.remote_host,
        "smtpCode": row.smtp_code,
        "enhancedCode": row.enhanced_code,
        "response": row.response,
        "tls": row.tls,
        "durationMs": row.duration_ms,
        "createdAt": iso(row.created_at),
    }


def draft(row: DraftRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "inboxId": row.inbox_id,
        "threadId": row.thread_id,
        "toAddresses": _json(row.to_addresses),
        "ccAddresses": _json(row.cc_addresses),
        "bccAddresses": _json(row.bcc_addresses),
        "subject": row.subject,
        "textBody": row.text_body,
        "htmlBody": row.html_body,
        "inReplyTo": row.in_reply_to,
        "status": row.status,
        "messageId": row.message_id,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
        "sentAt": iso_or_none(row.sent_at),
        "discardedAt": iso_or_none(row.discarded_at),
    }


DOMAIN_CEILING = ("id", "domainName", "dailyCap", "todayUsed", "resetsAt", "note")


def domain(
    row: DomainRow, records: Sequence[Mapping[str, Any]], today_used: int, now_ms: int
) -> dict[str, Any]:
    resets_at = iso(next_day_ms(now_ms))
    note = None
    if row.daily_cap is not None and today_used >= row.daily_cap:
        note = (
            f"Today's {today_used} sends reach the ceiling of {row.daily_cap}:"
            f" nothing more is sent from this domain until {resets_at}."
        )
    return {
        "id": row.id,
        "domainName": row.domain_name,
        "status": row.status,
        "mxStatus": bool(row.mx_status),
        "spfStatus": bool(row.spf_status),
        "dkimStatus": bool(row.dkim_status),
        "dmarcStatus": bool(row.dmarc_status),
        "records": list(records),
        "dailyCap": row.daily_cap,
        "todayUsed": today_used,
        "resetsAt": resets_at,
        "note": note,
        "verifiedAt": iso_or_none(row.verified_at),
        "createdAt": iso(row.created_at),
    }


def domain_verification(row: DomainRow) -> dict[str, Any]:
    """The answer to a request to verify, which says `active` for `verified` (docs/contract.md, section 3)."""
    return {
        "id": row.id,
        "domainName": row.domain_name,
        "status": "active" if row.status == "verified" else row.status,
        "checks": {
            "ownership": bool(row.ownership_status),
            "mx": bool(row.mx_status),
            "spf": bool(row.spf_status),
            "dkim": bool(row.dkim_status),
        },
        "verifiedAt": iso_or_none(row.verified_at),
    }


def organization(
    row: OrganizationRow, limits: Mapping[str, int | None], used: Used, standing: ReputationRates, now_ms: int
) -> dict[str, Any]:
    """`limits` and `usage` are twins: the same keys, in camel case here."""
    usage = used._asdict()
    return {
        "id": row.id,
        "name": row.name,
        "plan": row.plan,
        "limits": {_camel(name): limits[name] for name in usage},
        "usage": {_camel(name): value for name, value in usage.items()},
        "resetsAt": {"daily": iso(next_day_ms(now_ms)), "monthly": iso(next_month_ms(now_ms))},
        "sendingApproval": {
            "status": row.sending_status,
            "reason": row.sending_reason,
            "action": row.sending_action,
            "trippedAt": iso_or_none(row.sending_tripped_at),
        },
        "reputation": {
            "windowDays": REPUTATION_DAYS,
            "sent": standing.sent,
            "hardBounceRate": standing.hard_bounce_rate,
            "complaintRate": standing.complaint_rate,
        },
        "createdAt": iso(row.created_at),
    }


def member(row: MemberRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "email": row.email,
        "name": row.name,
        "role": row.role,
        "joinedAt": iso(row.joined_at),
    }


def key(row: KeyRow) -> dict[str, Any]:
    """Never the key itself, nor its hash."""
    return {
        "id": row.id,
        "name": row.name,
        "keyPrefix": row.key_prefix,
        "mode": row.mode,
        "scopes": _json(row.scopes),
        "inboxId": row.inbox_id,
        "isActive": bool(row.is_active),
        "lastUsedAt": iso_or_none(row.last_used_at),
        "createdAt": iso(row.created_at),
    }


def agent(row: AgentRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "name": row.name,
        "createdAt": iso(row.created_at),
    }


def suppression(row: SuppressionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "email": row.email,
        "reason": row.reason,
        "source": row.source,
        "createdAt": iso(row.created_at),
    }


def analytics_summary(figures: Summary) -> dict[str, Any]:
    took_ms = figures.median_delivery_ms
    return {
        "sent": figures.sent,
        "delivered": figures.delivered,
        "bounced": figures.bounced,
        "complained": figures.complained,
        "received": figures.received,
        "hardBounceRate": figures.hard_bounce_rate,
        "complaintRate": figures.complaint_rate,
        "medianDeliverySeconds": None if took_ms is None else round(took_ms / 1000, 3),
    }


def analytics_series(series: Series) -> dict[str, Any]:
    """Each type's points stand in order of time, one for each period, empty ones too."""
    return {
        "period": series.period_ms // 1000,
        "since": iso(series.since_ms),
        "until": iso(series.until_ms),
        "series": [
            {
                "type": type,
                "total": sum(counts),
                "points": [
                    {"at": iso(at), "count": count} for at, count in zip(series.begins, counts, strict=True)
                ],
            }
            for type, counts in series.counts.items()
        ],
    }


def analytics_destination(one: Destination) -> dict[str, Any]:
    return {
        "domain": one.domain,
        "sent": one.sent,
        "delivered": one.delivered,
        "deferred": one.deferred,
        "bounced": one.bounced,
        "lastResponse": one.last_response,
        "lastResponseAt": iso_or_none(one.last_response_at),
    }


def webhook(row: WebhookRow) -> dict[str, Any]:
    """Without the secret: only creating and rotating show it."""
    return {
        "id": row.id,
        "url": row.url,
        "subscribedEvents": _json(row.subscribed_events),
        "isActive": bool(row.is_active),
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }


def webhook_attempt(row: WebhookAttempt) -> dict[str, Any]:
    return {
        "id": row.id,
        "webhookId": row.webhook_id,
        "eventId": row.event_id,
        "eventType": row.event_type,
        "attempt": row.attempt,
        "requestHeaders": _json(row.request_headers),
        "responseStatus": row.response_status,
        "responseBody": row.response_body,
        "isSuccessful": bool(row.is_successful),
        "error": row.error,
        "durationMs": row.duration_ms,
        "nextAttemptAt": iso_or_none(row.next_attempt_at),
        "createdAt": iso(row.created_at),
    }
