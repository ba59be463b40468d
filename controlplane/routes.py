"""The whole API on one screen."""

from controlplane import schemas
from controlplane.api import Route
from controlplane.handlers import attachments, inboxes, messages, threads, webhooks

SENDING_ERRORS = (
    "inbox_not_found",
    "message_not_found",
    "inbox_access_denied",
    "domain_not_verified",
    "sending_not_approved",
    "sandbox_bulk_not_allowed",
    "recipient_suppressed",
    "spend_cap_reached",
    "limit_reached",
    "payload_too_large",
    "attachment_too_large",
    "attachments_unsupported",
    "provider_unavailable",
)

# fmt: off
ROUTES: tuple[Route, ...] = (
    Route("POST", "/v1/inboxes", "inboxes:write", inboxes.create, body=schemas.CreateInbox, bound_keys=False,
          errors=("inbox_access_denied", "apex_domain_reserved", "domain_not_verified", "domain_not_found",
                  "username_reserved", "address_already_exists", "address_in_cooldown", "agent_not_found",
                  "limit_reached")),
    Route("GET", "/v1/inboxes", "inboxes:read", inboxes.page, query=schemas.ListInboxes),
    Route("POST", "/v1/messages/send", "messages:send", messages.send, body=schemas.SendMessage, errors=SENDING_ERRORS),
    Route("GET", "/v1/messages", "messages:read", messages.page, query=schemas.ListMessages),
    Route("GET", "/v1/messages/{id}", "messages:read", messages.show, names="message",
          errors=("message_not_found", "inbox_access_denied")),
    Route("GET", "/v1/threads", "threads:read", threads.page, query=schemas.ListThreads),
    Route("GET", "/v1/threads/{id}", "threads:read", threads.show, names="thread",
          errors=("thread_not_found", "inbox_access_denied")),
    Route("GET", "/v1/attachments/{id}", "messages:read", attachments.download, query=schemas.GetAttachment,
          names="attachment", errors=("attachment_not_found", "attachment_bytes_missing", "inbox_access_denied")),
    Route("POST", "/v1/webhooks", "webhooks:write", webhooks.create, body=schemas.CreateWebhook,
          errors=("webhook_limit_reached",)),
    Route("GET", "/v1/webhooks/deliveries", "webhooks:read", webhooks.deliveries, query=schemas.ListDeliveries),
)
# fmt: on
