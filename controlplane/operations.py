"""What each endpoint answers and is called, for the OpenAPI document. A test holds it to the routes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from controlplane.contract import event_payloads as e
from controlplane.contract import responses as a

BYTES = bytes  # an answer that is no JSON


class Operation(NamedTuple):
    """`id`: the name that generated clients give the call. `answer`: the model of `data`, a list of it, or BYTES.

    `media`: the types of an answer in BYTES. Many generators know the first kind of bytes alone.
    `replays`: made again, the request answers 200 with what the first one made.
    `form`: the schema of a body that is a form.
    """

    id: str
    summary: str
    answer: Any
    status: int = 200
    media: tuple[str, ...] = ("application/json",)
    replays: bool = False
    form: Mapping[str, Any] | None = None


ONE_CLICK: Mapping[str, Any] = {
    "type": "object",
    "properties": {"List-Unsubscribe": {"type": "string", "enum": ["One-Click"]}},
}

OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("GET", "/v1/organization"): Operation("getOrganization", "The key's organization", a.Organization),
    ("GET", "/v1/organization/members"): Operation("listMembers", "Its members", list[a.Member]),
    ("POST", "/v1/keys"): Operation("createKey", "Mint an API key, shown once", a.MintedKey, 201),
    ("GET", "/v1/keys"): Operation("listKeys", "API keys, newest first", list[a.Key]),
    ("DELETE", "/v1/keys/{id}"): Operation("revokeKey", "Revoke a key at once", a.Revoked),
    ("POST", "/v1/agents"): Operation("createAgent", "Name an agent", a.Agent, 201),
    ("GET", "/v1/agents"): Operation("listAgents", "Agents, newest first", list[a.Agent]),
    ("GET", "/v1/agents/{id}"): Operation("getAgent", "One agent", a.Agent),
    ("DELETE", "/v1/agents/{id}"): Operation("deleteAgent", "Forget an agent", a.Deleted),
    ("POST", "/v1/inboxes"): Operation("createInbox", "Provision an inbox", a.Inbox, 201),
    ("GET", "/v1/inboxes"): Operation("listInboxes", "Inboxes, newest first", list[a.Inbox]),
    ("GET", "/v1/inboxes/{id}"): Operation("getInbox", "One inbox", a.Inbox),
    ("PATCH", "/v1/inboxes/{id}"): Operation("updateInbox", "Rename an inbox, set its metadata", a.Inbox),
    ("DELETE", "/v1/inboxes/{id}"): Operation("deleteInbox", "Deactivate an inbox", a.DeactivatedInbox),
    ("POST", "/v1/messages/send"): Operation(
        "sendMessage", "Send a message, now or at a time", a.ListedMessage, 201, replays=True
    ),
    ("GET", "/v1/messages"): Operation(
        "listMessages", "Messages, newest first; search", list[a.ListedMessage]
    ),
    ("GET", "/v1/messages/{id}"): Operation("getMessage", "One message with its bodies", a.Message),
    ("PATCH", "/v1/messages/{id}"): Operation("labelMessage", "Set a message's labels", a.Message),
    ("DELETE", "/v1/messages/{id}"): Operation(
        "deleteMessage", "Delete a message for good", a.DeletedMessage
    ),
    ("GET", "/v1/messages/{id}/raw"): Operation(
        "getRawMessage", "The message as RFC 5322 bytes", BYTES, media=("message/rfc822",)
    ),
    ("GET", "/v1/messages/{id}/attempts"): Operation(
        "listAttempts", "Attempts to deliver an outbound message", list[a.DeliveryAttempt]
    ),
    ("DELETE", "/v1/messages/{id}/schedule"): Operation(
        "cancelScheduledMessage", "Cancel a scheduled message", a.CancelledMessage
    ),
    ("GET", "/v1/threads"): Operation("listThreads", "Threads, latest first", list[a.Thread]),
    ("GET", "/v1/threads/{id}"): Operation("getThread", "One thread with its messages", a.WholeThread),
    ("PATCH", "/v1/threads/{id}"): Operation("updateThread", "Archive or unarchive a thread", a.Thread),
    ("GET", "/v1/attachments/{id}"): Operation(
        "getAttachment", "An attachment's bytes", BYTES, media=("application/octet-stream", "*/*")
    ),
    ("POST", "/v1/drafts"): Operation("createDraft", "Write a draft", a.Draft, 201),
    ("GET", "/v1/drafts"): Operation("listDrafts", "Drafts, newest first", list[a.Draft]),
    ("GET", "/v1/drafts/{id}"): Operation("getDraft", "One draft", a.Draft),
    ("PATCH", "/v1/drafts/{id}"): Operation("updateDraft", "Change what is given", a.Draft),
    ("DELETE", "/v1/drafts/{id}"): Operation("discardDraft", "Discard a draft", a.Draft),
    ("POST", "/v1/drafts/{id}/send"): Operation(
        "sendDraft", "Send a draft; a sent one answers its message", a.ListedMessage, 201, replays=True
    ),
    ("GET", "/v1/unsubscribe"): Operation(
        "showUnsubscribe", "The page behind an unsubscribe link; changes nothing", BYTES, media=("text/html",)
    ),
    ("POST", "/v1/unsubscribe"): Operation(
        "unsubscribe",
        "Take the link's address off the list (RFC 8058)",
        a.Unsubscribed,
        media=("application/json", "text/html"),
        form=ONE_CLICK,
    ),
    ("POST", "/v1/domains"): Operation("registerDomain", "Register a custom domain", a.Domain, 201),
    ("GET", "/v1/domains"): Operation("listDomains", "Domains, newest first", list[a.Domain]),
    ("GET", "/v1/domains/{id}"): Operation("getDomain", "One domain with its records", a.Domain),
    ("POST", "/v1/domains/{id}/verify"): Operation("verifyDomain", "Check the DNS now", a.DomainVerification),
    ("PATCH", "/v1/domains/{id}"): Operation("updateDomain", "Set the daily ceiling", a.DomainCeiling),
    ("POST", "/v1/domains/{id}/rotate-dkim"): Operation("rotateDkim", "Prepare a new DKIM key", a.Domain),
    ("DELETE", "/v1/domains/{id}"): Operation("deleteDomain", "Delete a domain", a.Deleted),
    ("POST", "/v1/suppressions"): Operation("createSuppression", "Suppress an address", a.Suppression, 201),
    ("GET", "/v1/suppressions"): Operation("listSuppressions", "Suppressed addresses", list[a.Suppression]),
    ("DELETE", "/v1/suppressions/{id}"): Operation("deleteSuppression", "Lift a suppression", a.Deleted),
    ("GET", "/v1/analytics/summary"): Operation("getSummary", "Figures of a window", a.AnalyticsSummary),
    ("GET", "/v1/analytics/events"): Operation("getEventSeries", "Events by period", a.AnalyticsSeries),
    ("GET", "/v1/analytics/destinations"): Operation(
        "listDestinations", "Figures by recipient domain", list[a.AnalyticsDestination]
    ),
    ("GET", "/v1/events"): Operation("listEvents", "The event log, oldest first", list[e.Event]),
    ("GET", "/v1/events/stream"): Operation(
        "streamEvents", "Events as they happen (server-sent events)", BYTES, media=("text/event-stream",)
    ),
    ("POST", "/v1/webhooks"): Operation(
        "createWebhook", "Register a webhook; its secret is shown once", a.WebhookWithSecret, 201
    ),
    ("GET", "/v1/webhooks"): Operation("listWebhooks", "Webhooks, newest first", list[a.Webhook]),
    ("GET", "/v1/webhooks/deliveries"): Operation(
        "listDeliveries", "Attempts to deliver events, newest first", list[a.WebhookDelivery]
    ),
    ("POST", "/v1/webhooks/deliveries/{id}/redeliver"): Operation(
        "redeliver", "Make the next attempt of a delivery now", a.WebhookDelivery
    ),
    ("GET", "/v1/webhooks/{id}"): Operation("getWebhook", "One webhook", a.Webhook),
    ("PATCH", "/v1/webhooks/{id}"): Operation("updateWebhook", "Change a webhook", a.Webhook),
    ("DELETE", "/v1/webhooks/{id}"): Operation("deleteWebhook", "Delete a webhook", a.Deleted),
    ("POST", "/v1/webhooks/{id}/rotate-secret"): Operation(
        "rotateWebhookSecret", "A new signing secret, shown once", a.WebhookWithSecret
    ),
    ("POST", "/v1/webhooks/{id}/test"): Operation("testWebhook", "Send a test ping now", a.WebhookDelivery),
}
