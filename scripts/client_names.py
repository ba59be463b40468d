"""What the operations are called in the clients: `client.messages.send(…)`, `maildc messages send`.

One row for each operation of `/openapi.json`, in its order. A resource is a plural noun or a thing that there is one
of; what is done to it is a verb, and what is only read of it is named by the noun (`threads.context`). Names are
snake_case here; each language writes them its own way.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

# Parameters with a meaning for every client: how long the server may take its time, and where a page begins.
WAITS = ("timeoutSeconds", "waitSeconds")
CURSORS = ("cursor", "after")
# Moments, which each language has a type for, by what they are in Python.
MOMENTS: Mapping[str, str] = {"since": "date", "until": "date", "sendAt": "datetime"}
# What ids begin with, by what the id of a path is called.
ID_PREFIXES: Mapping[str, str] = {
    "agent_id": "agt", "attachment_id": "att", "claim_id": "clm", "delivery_id": "del", "domain_id": "dom",
    "draft_id": "drf", "inbox_id": "inb", "key_id": "key", "message_id": "msg", "review_id": "rev",
    "rule_id": "rul", "suppression_id": "sup", "thread_id": "thd", "webhook_id": "whk",
}  # fmt: skip
# Two kinds of answers, the second where this member of the body is true.
EITHER: Mapping[str, str] = {"replyToMessage": "asDraft", "replyToThread": "asDraft"}


class Name(NamedTuple):
    """The operation as callers see it: `client.<resource>.<verb>`."""

    resource: str
    verb: str


NAMES: Mapping[str, Name] = {
    operation: Name(*called.split("."))
    for operation, called in {
        "getOrganization": "organization.get",
        "listMembers": "organization.members",
        "getOrganizationPolicy": "organization.policy",
        "replaceOrganizationPolicy": "organization.replace_policy",
        "listAudit": "audit.list",
        "getAuditHead": "audit.head",
        "createKey": "keys.create",
        "listKeys": "keys.list",
        "revokeKey": "keys.revoke",
        "revokeKeyWithMail": "keys.revoke_with_mail",
        "createAgent": "agents.create",
        "listAgents": "agents.list",
        "getAgent": "agents.get",
        "deleteAgent": "agents.delete",
        "createInbox": "inboxes.create",
        "listInboxes": "inboxes.list",
        "getInbox": "inboxes.get",
        "updateInbox": "inboxes.update",
        "deleteInbox": "inboxes.delete",
        "claimCode": "codes.claim",
        "getInboxPolicy": "inboxes.policy",
        "replaceInboxPolicy": "inboxes.replace_policy",
        "claimMessages": "claims.take",
        "listClaims": "claims.list",
        "extendClaim": "claims.extend",
        "releaseClaim": "claims.release",
        "finishClaim": "claims.finish",
        "sendMessage": "messages.send",
        "checkMessage": "messages.check",
        "replyToMessage": "messages.reply",
        "forwardMessage": "messages.forward",
        "listMessages": "messages.list",
        "waitForMessage": "messages.wait",
        "getMessage": "messages.get",
        "labelMessage": "messages.label",
        "deleteMessage": "messages.delete",
        "changeMessages": "messages.change_many",
        "requeueMessage": "messages.requeue",
        "cancelScheduledMessage": "messages.cancel",
        "withdrawMessage": "messages.withdraw",
        "getRawMessage": "messages.raw",
        "getEvidence": "messages.evidence",
        "listAttempts": "messages.attempts",
        "listReviews": "reviews.list",
        "getReview": "reviews.get",
        "approveReview": "reviews.approve",
        "rejectReview": "reviews.reject",
        "listThreads": "threads.list",
        "getThread": "threads.get",
        "getThreadContext": "threads.context",
        "updateThread": "threads.update",
        "replyToThread": "threads.reply",
        "getAttachment": "attachments.download",
        "createDraft": "drafts.create",
        "listDrafts": "drafts.list",
        "getDraft": "drafts.get",
        "updateDraft": "drafts.update",
        "discardDraft": "drafts.discard",
        "sendDraft": "drafts.send",
        "registerDomain": "domains.register",
        "listDomains": "domains.list",
        "getDomain": "domains.get",
        "listDomainReports": "domains.reports",
        "verifyDomain": "domains.verify",
        "updateDomain": "domains.update",
        "rotateDkim": "domains.rotate_dkim",
        "deleteDomain": "domains.delete",
        "createSuppression": "suppressions.create",
        "listSuppressions": "suppressions.list",
        "deleteSuppression": "suppressions.delete",
        "createRule": "rules.create",
        "listRules": "rules.list",
        "deleteRule": "rules.delete",
        "showUnsubscribe": "unsubscribe.page",
        "unsubscribe": "unsubscribe.confirm",
        "getSummary": "analytics.summary",
        "getEventSeries": "analytics.events",
        "listDestinations": "analytics.destinations",
        "listEvents": "events.list",
        "streamEvents": "events.stream",
        "createWebhook": "webhooks.create",
        "listWebhooks": "webhooks.list",
        "listDeliveries": "webhooks.deliveries",
        "redeliver": "webhooks.redeliver",
        "getWebhook": "webhooks.get",
        "updateWebhook": "webhooks.update",
        "deleteWebhook": "webhooks.delete",
        "rotateWebhookSecret": "webhooks.rotate_secret",
        "testWebhook": "webhooks.test",
        "showQueue": "queue.show",
        "listQueue": "queue.list",
        "pauseQueue": "queue.pause",
        "resumeQueue": "queue.resume",
        "retryQueue": "queue.retry",
        "holdQueue": "queue.hold",
        "releaseQueue": "queue.release",
        "dropQueue": "queue.drop",
        "getHealth": "health.get",
    }.items()
}

# What the `{id}` of a path is called, by the part before it: `claims.take(inbox_id, …)`.
_IDS = {"inboxes": "inbox_id", "deliveries": "delivery_id"}


class Unnamed(Exception):
    """Operations and rows don't fit; the text says which."""


def check(document: Mapping[str, Any]) -> None:
    """Raise Unnamed unless each operation of the document has one row, each row an operation, each name one row."""
    operations = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    faults = {
        "operations without a row in scripts/client_names.py": set(operations) - NAMES.keys(),
        "rows without an operation": NAMES.keys() - set(operations),
        "names that stand twice": {
            ".".join(one) for one, times in Counter(NAMES.values()).items() if times > 1
        },
    }
    said = [f"{fault}: {', '.join(sorted(which))}" for fault, which in faults.items() if which]
    if said:
        raise Unnamed("; ".join(said))


def id_name(path: str) -> str | None:
    """What the path's `{id}` is called, in snake_case: `message_id` in `/v1/messages/{id}/reply`; None without one."""
    parts = path.split("/")
    if "{id}" not in parts:
        return None
    before = parts[parts.index("{id}") - 1]
    return _IDS.get(before) or f"{before.removesuffix('s')}_id"


def position(operation: str, item: Mapping[str, Any]) -> str:
    """The member of a list's last item that the next page begins behind; `item`: its schema. Several have `@` between
    them: a thread that moves up while pages are read would take the position with it."""
    if operation == "listThreads":
        return "id@lastMessageAt"
    return "id" if "oneOf" in item or "id" in item["properties"] else "seq"
