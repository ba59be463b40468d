"""What a table on a terminal shows of each list, by operation; all of it is in JSON."""

from collections.abc import Mapping, Sequence

_CLAIMS = ("id", "status", "messageId", "attempt", "holder", "leaseExpiresAt")
COLUMNS: Mapping[str, Sequence[str]] = {
    "changeMessages": ("id", "result"),
    "claimMessages": _CLAIMS,
    "listAgents": ("id", "name", "createdAt"),
    "listAttempts": ("createdAt", "attempt", "outcome", "address", "remoteHost", "smtpCode", "response"),
    "listAudit": ("seq", "at", "type", "actor", "subject"),
    "listClaims": _CLAIMS,
    "listDeliveries": ("id", "createdAt", "eventType", "attempt", "isSuccessful", "responseStatus", "error"),
    "listDestinations": ("domain", "sent", "delivered", "deferred", "bounced", "lastResponse"),
    "listDomainReports": ("id", "type", "reporter", "periodBegin", "total", "passed", "failed"),
    "listDomains": ("id", "domainName", "status", "mxStatus", "spfStatus", "dkimStatus", "dmarcStatus"),
    "listDrafts": ("id", "status", "updatedAt", "toAddresses", "subject"),
    "listEvents": ("id", "type", "createdAt"),
    "listInboxes": ("id", "address", "unreadCount", "createdAt", "name"),
    "listKeys": ("id", "mode", "isActive", "inboxId", "createdAt", "name"),
    "listMembers": ("id", "email", "role", "name"),
    "listMessages": ("id", "status", "createdAt", "fromAddress", "subject"),
    "listQueue": ("messageId", "address", "status", "attempts", "nextAttemptAt", "response"),
    "listReviews": ("id", "status", "direction", "createdAt", "messageId", "reasons"),
    "listRules": ("id", "direction", "action", "value", "inboxId", "note"),
    "listSuppressions": ("id", "email", "reason", "createdAt"),
    "listThreads": ("id", "lastMessageAt", "messageCount", "unreadCount", "subject"),
    "listWebhooks": ("id", "isActive", "createdAt", "url"),
}
