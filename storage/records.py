"""Rows as frozen, typed values. Field order is column order; `columns()` writes the SELECT list.

Times (`…_at`, `…_until`) are Unix milliseconds, None: not yet; flags (`is_…`) are 0 or 1; a `status` is one of
storage.states. What else a column may mean stands in storage/schema.sql.
"""

from typing import Any, NamedTuple

import msgspec


def columns(record: type[NamedTuple], table: str = "") -> str:
    """`id, organization_id, …` or, with a table (or alias), `t.id, t.organization_id, …`."""
    prefix = f"{table}." if table else ""
    return ", ".join(prefix + field for field in record._fields)


def dump(value: Any) -> str:
    """JSON text for a column."""
    return msgspec.json.encode(value).decode()


def verified_domain(auth: str | None) -> str | None:
    """The domain that the author has proven, by a message's `auth`."""
    proven: str | None = load(auth)["verifiedDomain"] if auth else None
    return proven


def answers_to(reply_to: str | None, reply_to_addresses: str | None) -> list[str]:
    """Whom a message's author wants to be answered in his place, by these columns: all of Reply-To."""
    if reply_to_addresses is not None:
        several: list[str] = load(reply_to_addresses)
        return several
    return [reply_to] if reply_to else []


def recipients_of(row: "MessageRow") -> list[tuple[str, str]]:
    """(kind, address) pairs, in the order in which they were given."""
    lists = (("to", row.to_addresses), ("cc", row.cc_addresses), ("bcc", row.bcc_addresses))
    return [(kind, address) for kind, addresses in lists for address in load(addresses)]


def load(text: str) -> Any:
    """The value of a column of JSON text; the other direction of `dump`."""
    return msgspec.json.decode(text)


class OrganizationRow(NamedTuple):
    """A tenant. `sending_reason`, `…_action` and `…_tripped_at` say why sending is paused, and are None otherwise.
    `reviewers`: who decides what is held, 'keys' (with members) or 'members' alone."""

    id: str
    name: str
    plan: str
    sending_status: str
    sending_reason: str | None
    sending_action: str | None
    sending_tripped_at: int | None
    created_at: int
    reviewers: str
    tripwire_tripped_at: int | None  # None: never, or the operator has reset it since
    is_watched: int  # by the circuit breaker
    deleted_at: int | None  # closed since then, and going bit by bit (storage.tenants.erasure)


class KeyRow(NamedTuple):
    """An API key. `key_hash`: SHA-256 of the raw key; `scopes`: a JSON array; `inbox_id` None: not a bound key;
    `minted_by`: a key, None where the operator or a member made it."""

    id: str
    organization_id: str
    inbox_id: str | None
    name: str
    key_prefix: str
    key_hash: bytes
    mode: str
    scopes: str
    is_active: int
    last_used_at: int | None
    created_at: int
    minted_by: str | None


class InboxRow(NamedTuple):
    """An inbox. `address`: the comparison key; `metadata`: a JSON object; `agent_id` None: without an agent."""

    id: str
    organization_id: str
    address: str
    username: str
    domain: str
    name: str | None
    agent_id: str | None
    metadata: str
    is_active: int
    unread_count: int
    last_message_at: int | None
    created_at: int
    updated_at: int
    deactivated_at: int | None


class ThreadRow(NamedTuple):
    """A conversation of one inbox. `participants`: a JSON array of addresses, those that joined last at its end."""

    id: str
    organization_id: str
    inbox_id: str
    subject: str
    snippet: str
    participants: str
    message_count: int
    unread_count: int
    last_message_at: int
    is_archived: int
    created_at: int


class MessageRow(NamedTuple):
    """A message of one inbox. Addresses, `reference_ids` and `labels` are JSON arrays; `blob_id` None: no raw bytes.

    `reply_to_addresses` None: `reply_to` alone, or nobody. `authors` None: `from_address` is the author. `org_domains`:
    a JSON object. `authority`: `reply` of what a key sent that may only answer, else None. `submitted_by`: the key that
    sent it, None where that is not known. `held_at`: since when it is held; `thread_id` is "" then. `delivered_to`:
    the address of the inbox that it came to, None of outbound mail. `mailing_list`: a JSON object."""

    id: str
    organization_id: str
    inbox_id: str
    thread_id: str
    direction: str
    mode: str
    status: str
    from_address: str
    from_name: str | None
    to_addresses: str
    cc_addresses: str
    bcc_addresses: str
    reply_to: str | None
    subject: str
    snippet: str
    text_body: str | None
    text_slices: str | None
    html_slices: str | None
    extracted_text: str | None
    message_id_header: str | None
    in_reply_to: str | None
    reference_ids: str
    labels: str
    is_auto_reply: int
    is_spam: int
    auth: str | None
    trace: bytes | None
    blob_id: str | None
    size_bytes: int
    header_length: int
    envelope_from: str
    bounce_token: str | None
    failure_reason: str | None
    scheduled_at: int | None
    sent_at: int | None
    created_at: int
    unsubscribe: int = 0
    counted_at: int | None = None
    from_domain_shown: str | None = None
    reply_to_addresses: str | None = None
    authors: str | None = None
    org_domains: str | None = None
    forward_of: str | None = None
    if_last: str | None = None
    authority: str | None = None
    submitted_by: str | None = None
    held_at: int | None = None
    delivered_to: str | None = None
    mailing_list: str | None = None


class ClaimRow(NamedTuple):
    """Who works on a message. `mode`: that of the message; `attempt`: which claim of it this is, from 1."""

    id: str
    organization_id: str
    inbox_id: str
    thread_id: str
    message_id: str
    key_id: str
    mode: str
    holder: str | None
    status: str
    attempt: int
    lease_expires_at: int
    created_at: int

    def is_live(self, now_ms: int) -> bool:
        """May its holder still act on it?"""
        return self.status == "live" and now_ms < self.lease_expires_at

    def status_at(self, now_ms: int) -> str:
        """Its status; a lease that is over is so before its row says it."""
        return "expired" if self.status == "live" and not self.is_live(now_ms) else self.status


class ReviewRow(NamedTuple):
    """A message that is held, or was, and what was decided. `reasons`, `warnings`: JSON arrays; `submitted_by`: a key,
    None where it came in; `is_told` 0: somebody is still to be told of it by mail; `resolved_by`: a key, a member or
    'operator', None where nobody has decided."""

    id: str
    organization_id: str
    inbox_id: str
    message_id: str
    direction: str
    mode: str
    status: str
    reasons: str
    warnings: str
    submitted_by: str | None
    is_told: int
    expires_at: int
    resolved_by: str | None
    resolved_at: int | None
    note: str | None
    created_at: int


class AttachmentRow(NamedTuple):
    """A part of a message. The slice is where its encoded bytes lie in the raw message; `size_bytes`: decoded."""

    id: str
    message_id: str
    position: int
    filename: str
    content_type: str
    size_bytes: int
    content_id: str | None
    is_inline: int
    slice_offset: int
    slice_length: int
    encoding: str


class RecipientRow(NamedTuple):
    """One recipient of an outbound message; its queue entry too."""

    message_id: str
    position: int
    organization_id: str
    address: str
    domain: str
    kind: str
    status: str
    attempts: int
    last_attempt_at: int | None
    next_attempt_at: int | None
    expires_at: int
    remote_host: str | None
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None
    tls: str | None


class DeliveryAttemptRow(NamedTuple):
    """One attempt to deliver to one recipient. `next_attempt_at`: when a deferral was to be tried again."""

    position: int
    attempt: int
    address: str
    domain: str
    kind: str
    outcome: str
    remote_host: str | None
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None
    tls: str | None
    duration_ms: int
    created_at: int
    next_attempt_at: int | None


class DraftRow(NamedTuple):
    """A draft. The addresses are JSON arrays; `message_id`: what it was sent as, None before."""

    id: str
    organization_id: str
    inbox_id: str
    to_addresses: str
    cc_addresses: str
    bcc_addresses: str
    subject: str
    text_body: str | None
    html_body: str | None
    in_reply_to: str | None
    thread_id: str | None
    status: str
    message_id: str | None
    created_at: int
    updated_at: int
    sent_at: int | None
    discarded_at: int | None
    if_last: str | None = None
    claim_id: str | None = None
    complete_claim: int = 0
    mode: str = "live"


class EventRow(NamedTuple):
    """An event of the log. `seq`: its position in the log; `data`: a JSON object without the words of a message."""

    seq: int
    id: str
    organization_id: str
    inbox_id: str | None
    message_id: str | None
    type: str
    mode: str
    data: str
    created_at: int


class WebhookRow(NamedTuple):
    """A webhook. `subscribed_events`: a JSON array of types; both secrets are sealed; times are Unix milliseconds."""

    id: str
    organization_id: str
    url: str
    subscribed_events: str
    is_active: int
    secret: bytes
    previous_secret: bytes | None
    previous_secret_until: int | None
    created_at: int
    updated_at: int


class WebhookAttempt(NamedTuple):
    """The record of one call. `event_id` None: a test ping; `response_status` None: no whole answer came (`error`)."""

    id: str
    webhook_id: str
    organization_id: str
    event_id: str | None
    event_type: str
    attempt: int
    request_headers: str
    response_status: int | None
    response_body: str | None
    is_successful: int
    error: str | None
    duration_ms: int
    next_attempt_at: int | None
    created_at: int
