"""What is given to the API and told by it, in the wire's own names. Generated from /openapi.json by scripts/clients."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict


class Agent(TypedDict):
    id: str
    organizationId: str
    name: str
    createdAt: str


class ReportedDispositions(TypedDict):
    none: int
    quarantine: int
    reject: int


class ReportedSource(TypedDict):
    address: str
    total: int
    passed: int
    failed: int


class DmarcSummary(TypedDict):
    """Messages that say to be from the domain, as their receiver judged them."""

    dkimAligned: int
    spfAligned: int
    dispositions: ReportedDispositions
    sources: list[ReportedSource]


class ReportedFailure(TypedDict):
    type: str
    sessions: int


class TlsSummary(TypedDict):
    """Sessions of the reporter with the domain's mail hosts."""

    policyTypes: list[str]
    failures: list[ReportedFailure]


class AggregateReport(TypedDict):
    """What another host reports about the domain. `total` counts messages (dmarc) or sessions (tls)."""

    id: str
    domainId: str
    type: Literal["dmarc", "tls"] | str
    reporter: str
    reportId: str
    verifiedDomain: str | None
    periodBegin: str
    periodEnd: str
    total: int
    passed: int
    failed: int
    isTruncated: bool
    dmarc: DmarcSummary | None
    tls: TlsSummary | None
    messageId: str
    createdAt: str


class AnalyticsDestination(TypedDict):
    domain: str
    sent: int
    delivered: int
    deferred: int
    bounced: int
    lastResponse: str | None
    lastResponseAt: str | None


class AnalyticsPoint(TypedDict):
    at: str
    count: int


class AnalyticsLine(TypedDict):
    type: str
    total: int
    points: list[AnalyticsPoint]


class AnalyticsSeries(TypedDict):
    period: int
    since: str
    until: str
    series: list[AnalyticsLine]


class AnalyticsSummary(TypedDict):
    sent: int
    delivered: int
    bounced: int
    complained: int
    received: int
    hardBounceRate: float
    complaintRate: float
    medianDeliverySeconds: float | None


class Attachment(TypedDict):
    id: str
    filename: str
    contentType: str
    sizeBytes: int
    contentId: str | None
    isInline: bool


class AttachmentInput(TypedDict):
    filename: str
    contentType: NotRequired[str]
    content: str | bytes


class AuditEntry(TypedDict):
    """`hash` covers this row, and all rows before it. Without words of mail: contents and addresses are
    hashes."""

    seq: int
    at: str
    organizationId: str
    type: str
    actor: str
    subject: str | None
    requestId: str | None
    details: dict[str, Any]
    hash: str


class AuditHead(TypedDict):
    """The newest row; number 0, 64 zeros and null where there is none yet."""

    seq: int
    hash: str
    at: str | None


class AuditHeadData(TypedDict):
    """The end of the audit log at that moment."""

    seq: int
    hash: str
    at: str


class AuditHeadEvent(TypedDict):
    id: str
    type: Literal["audit.head"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: AuditHeadData
    mode: NotRequired[Literal["test"]]


class Auth(TypedDict):
    """`verifiedDomain` is the only sender identity that a program should trust."""

    spf: str | None
    dkim: str | None
    dmarc: str | None
    arc: str | None
    verifiedDomain: str | None


class HeldFor(TypedDict):
    """The review that a held message waits for."""

    id: str
    reasons: list[str]
    expiresAt: str


class MailingListShown(TypedDict):
    id: str | None
    post: str | None
    unsubscribe: list[str]
    oneClick: bool


class Recipient(TypedDict):
    address: str
    kind: Literal["to", "cc", "bcc"] | str
    status: Literal["queued", "deferred", "sent", "delivered", "bounced", "failed", "suppressed"] | str
    attempts: int
    lastAttemptAt: str | None
    nextAttemptAt: str | None
    remoteHost: str | None
    smtpCode: int | None
    enhancedCode: str | None
    response: str | None
    tls: str | None


class Message(TypedDict):
    id: str
    inboxId: str
    threadId: str
    direction: Literal["inbound", "outbound"] | str
    mode: Literal["live", "test"] | str
    status: (
        Literal["received", "held", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"] | str
    )
    review: HeldFor | None
    fromAddress: str
    fromDomain: str | None
    fromDomainUnicode: str | None
    fromName: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    replyTo: str | None
    replyToAddresses: list[str]
    subject: str
    snippet: str
    extractedText: str | None
    messageIdHeader: str | None
    inReplyTo: str | None
    references: list[str]
    labels: list[str]
    isAutoReply: bool
    isSpam: bool
    risk: Literal["none", "low", "medium", "high"] | str | None
    auth: Auth | None
    forwardOf: str | None
    deliveredTo: str | None
    mailingList: MailingListShown | None
    recipients: list[Recipient]
    attachments: list[Attachment]
    failureReason: str | None
    scheduledAt: str | None
    sentAt: str | None
    heldAt: str | None
    createdAt: str
    textBody: str | None
    htmlBody: str | None


class AwaitedMessage(TypedDict):
    """`cursor`: the `after` that goes on behind it."""

    message: Message | None
    timedOut: bool
    cursor: str


# Of one recipient. `suppressed`: it is on the suppression list.
BouncedData = TypedDict(
    "BouncedData",
    {
        "messageId": str,
        "inboxId": str,
        "threadId": str,
        "fromAddress": str,
        "toAddresses": list[str],
        "subject": str,
        "sentAt": str | None,
        "recipients": list[Recipient],
        "recipient": str,
        "bounceType": Literal["permanent", "transient", "undetermined"] | str,
        "class": Literal[
            "address",
            "mailbox_full",
            "policy",
            "content",
            "reputation",
            "throttled",
            "infrastructure",
            "unknown",
        ]
        | str,
        "advice": Literal["retry_later", "fix_address", "fix_content", "fix_dns", "slow_down", "stop"] | str,
        "smtpCode": int | None,
        "enhancedCode": str | None,
        "diagnostic": str | None,
        "suppressed": bool,
    },
)


class CancelledMessage(TypedDict):
    id: str
    status: Literal["cancelled"]


class ChangedDraftData(TypedDict):
    """`messageId`: what it was sent as."""

    draftId: str
    inboxId: str
    threadId: str | None
    status: Literal["draft", "sent", "discarded"] | str
    messageId: str | None


class ChangedMessage(TypedDict):
    """What became of a message, or of all messages of a thread."""

    id: str
    result: Literal["changed", "unchanged", "not_found", "inbox_access_denied"] | str


class ChangedMessageData(TypedDict):
    """Ids and labels, never words."""

    messageId: str
    inboxId: str
    threadId: str
    labelsBefore: list[str]


class ChangedThreadData(TypedDict):
    threadId: str
    inboxId: str
    isArchived: bool


class CheckError(TypedDict):
    """What the send would be refused with, and its status."""

    code: str
    message: str
    details: NotRequired[dict[str, Any]]
    status: int


# The body of a forward, and what it passes on.
CheckForward = TypedDict(
    "CheckForward",
    {
        "to": Sequence[str],
        "cc": NotRequired[Sequence[str]],
        "bcc": NotRequired[Sequence[str]],
        "text": NotRequired[str | None],
        "html": NotRequired[str | None],
        "attachmentIds": NotRequired[Sequence[str] | None],
        "as": NotRequired[Literal["inline", "eml"]],
        "messageId": str,
    },
)


class CheckReply(TypedDict):
    """The body of a reply, and what it answers."""

    text: NotRequired[str | None]
    html: NotRequired[str | None]
    replyAll: NotRequired[bool]
    quote: NotRequired[Literal["none", "text"]]
    attachments: NotRequired[Sequence[AttachmentInput]]
    sendAt: NotRequired[str | None]
    headers: NotRequired[Mapping[str, str]]
    ifLastMessageId: NotRequired[str | None]
    claimId: NotRequired[str | None]
    completeClaim: NotRequired[bool]
    asDraft: NotRequired[bool]
    to: NotRequired[Sequence[str] | None]
    cc: NotRequired[Sequence[str]]
    bcc: NotRequired[Sequence[str]]
    subject: NotRequired[str | None]
    messageId: str


class CheckWarning(TypedDict):
    """`view`, `start`, `end`: where, in code points of that field, of the message that is looked at, or of
    `messageId` where that is given. `address`: the recipient that it is about."""

    code: (
        Literal[
            "empty_body",
            "placeholder",
            "model_artifact",
            "secret",
            "attachment_missing",
            "duplicate",
            "recipient_from_content",
            "reply_to_mismatch",
            "no_reply_address",
            "auto_reply_target",
        ]
        | str
    )
    view: Literal["subject", "text", "html", "replyTo", "cc"] | str | None
    start: int | None
    end: int | None
    address: str | None
    messageId: str | None


class NamedRule(TypedDict):
    id: str
    action: Literal["allow", "block", "hold"] | str


class CheckedRecipient(TypedDict):
    address: str
    kind: Literal["to", "cc", "bcc"] | str
    isFirstTime: bool
    isSuppressed: bool
    route: Literal["local", "mx", "relay", "simulator"] | str
    finding: Literal["ok", "no_mx", "null_mx", "nxdomain", "unknown"] | str
    rule: NamedRule | None


class CheckedThread(TypedDict):
    """`lastMessageId`: for `ifLastMessageId`; null where nothing in it counts."""

    id: str
    lastMessageId: str | None


class CheckedMessage(TypedDict):
    """What would become of a message. `sizeBytes`: null where it can't be composed."""

    wouldSend: bool
    wouldHold: bool
    errors: list[CheckError]
    warnings: list[CheckWarning]
    recipients: list[CheckedRecipient]
    subject: str
    sizeBytes: int | None
    thread: CheckedThread | None


class EndedClaimData(TypedDict):
    """`attempt`: which claim of the message it was."""

    claimId: str
    messageId: str
    inboxId: str
    threadId: str
    attempt: int
    holder: str | None


class ClaimDeadEvent(TypedDict):
    id: str
    type: Literal["claim.dead"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: EndedClaimData
    mode: NotRequired[Literal["test"]]


class ClaimExpiredEvent(TypedDict):
    id: str
    type: Literal["claim.expired"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: EndedClaimData
    mode: NotRequired[Literal["test"]]


class CodePlace(TypedDict):
    """Where it stands, in code points of a field that GET of the message shows."""

    view: Literal["subject", "extractedText", "textBody"] | str
    start: int
    end: int


class ClaimedCode(TypedDict):
    """`value`: what is to be typed, or opened; `shown`: as it stands in the mail. `confidence`: beside a word
    for a code, the only one that could be it, or one of several `candidates`: then nothing is claimed."""

    id: str | None
    claimed: bool
    kind: Literal["code", "link"] | str | None
    value: str | None
    shown: str | None
    messageId: str | None
    verifiedDomain: str | None
    confidence: Literal["labelled", "unlabelled", "ambiguous"] | str | None
    evidence: CodePlace | None
    candidates: list[str]
    timedOut: bool
    cursor: str


class ClaimedMessage(TypedDict):
    """With the whole message; null where it was deleted since."""

    id: str
    inboxId: str
    threadId: str
    messageId: str
    keyId: str
    mode: Literal["live", "test"] | str
    status: Literal["live", "released", "expired", "done", "dead"] | str
    attempt: int
    holder: str | None
    leaseExpiresAt: str
    createdAt: str
    message: Message | None


class ComplainedData(TypedDict):
    """Of one recipient."""

    messageId: str
    inboxId: str
    threadId: str
    fromAddress: str
    toAddresses: list[str]
    subject: str
    sentAt: str | None
    recipients: list[Recipient]
    recipient: str
    feedbackType: str | None
    suppressed: bool


class ContextFile(TypedDict):
    id: str
    filename: str
    contentType: str
    sizeBytes: int


class DeactivatedInbox(TypedDict):
    id: str
    status: Literal["deactivated"]
    cooldownUntil: str


# Of one recipient.
DelayedData = TypedDict(
    "DelayedData",
    {
        "messageId": str,
        "inboxId": str,
        "threadId": str,
        "fromAddress": str,
        "toAddresses": list[str],
        "subject": str,
        "sentAt": str | None,
        "recipients": list[Recipient],
        "recipient": str,
        "attempts": int,
        "nextAttemptAt": str | None,
        "class": Literal[
            "address",
            "mailbox_full",
            "policy",
            "content",
            "reputation",
            "throttled",
            "infrastructure",
            "unknown",
        ]
        | str,
        "advice": Literal["retry_later", "fix_address", "fix_content", "fix_dns", "slow_down", "stop"] | str,
        "smtpCode": int | None,
        "enhancedCode": str | None,
        "diagnostic": str | None,
    },
)


class Deleted(TypedDict):
    id: str
    status: Literal["deleted"]


class DeletedMessage(TypedDict):
    id: str
    deleted: Literal[True]


class DeletedRule(TypedDict):
    id: str
    deleted: Literal[True]


class PassedOverHost(TypedDict):
    """A mail host of the domain that was not tried."""

    host: str
    reason: str


class StageDurations(TypedDict):
    """Milliseconds; null: it did not come to that. `wait`: for a place among the sessions; `greeting`: the
    host's; `hello`: EHLO; `envelope`: MAIL, RCPT; `data`: the message; `answer`: the reply to it."""

    wait: int | None
    connect: int | None
    greeting: int | None
    hello: int | None
    tls: int | None
    auth: int | None
    envelope: int | None
    data: int | None
    answer: int | None


class HostTried(TypedDict):
    """One address of a mail host or smarthost. `fault`: why it took no part in a transaction, or that it was
    lost in one. `dialogue`: what was said, `C: ` by this host, `S: ` by the other, `* ` remarks;
    without the message, and of the recipients this one alone."""

    host: str
    address: str
    port: int
    isRelay: bool
    sourceAddress: str | None
    ehloName: str | None
    isReused: bool
    tlsPolicy: Literal["none", "mta-sts", "dane", "override", "relay"] | str
    tlsLevel: (
        Literal["none", "opportunistic", "testing", "encrypt", "verify", "dane", "starttls", "implicit"] | str
    )
    tlsVersion: str | None
    cipher: str | None
    verifiedBy: Literal["webpki", "dane"] | str | None
    tlsFailure: (
        Literal[
            "starttls-not-supported",
            "certificate-host-mismatch",
            "certificate-expired",
            "certificate-not-trusted",
            "validation-failure",
        ]
        | str
        | None
    )
    stage: Literal["wait", "connect", "greeting", "hello", "tls", "auth", "envelope", "data", "answer"] | str
    durationsMs: StageDurations
    fault: str | None
    dialogue: list[str]


class DeliveryEvidence(TypedDict):
    """What is kept of an attempt over the network. `endedAt`: the last host's stage, or what it did not get
    beyond."""

    endedAt: (
        Literal[
            "wait",
            "connect",
            "greeting",
            "hello",
            "tls",
            "auth",
            "envelope",
            "data",
            "answer",
            "not_tried",
            "dns",
            "policy",
            "message",
        ]
        | str
    )
    dnsMs: int | None
    passedOver: list[PassedOverHost]
    hostsLeftOut: int
    hosts: list[HostTried]


# Of one recipient. `class`, `permanence`, `advice`: of what failed. `suppressed`: the address is on the
# suppression list, by this attempt or from before it.
DeliveryAttempt = TypedDict(
    "DeliveryAttempt",
    {
        "address": str,
        "kind": Literal["to", "cc", "bcc"] | str,
        "attempt": int,
        "outcome": Literal["sent", "delivered", "deferred", "bounced", "failed", "suppressed", "expired"]
        | str,
        "remoteHost": str | None,
        "smtpCode": int | None,
        "enhancedCode": str | None,
        "response": str | None,
        "tls": str | None,
        "durationMs": int,
        "createdAt": str,
        "class": Literal[
            "address",
            "mailbox_full",
            "policy",
            "content",
            "reputation",
            "throttled",
            "infrastructure",
            "unknown",
        ]
        | str
        | None,
        "permanence": Literal["permanent", "transient", "undetermined"] | str | None,
        "advice": Literal["retry_later", "fix_address", "fix_content", "fix_dns", "slow_down", "stop"]
        | str
        | None,
        "nextAttemptAt": str | None,
        "gaveUpAt": str | None,
        "suppressed": bool,
        "evidence": DeliveryEvidence | None,
    },
)


class DomainRecord(TypedDict):
    purpose: Literal["ownership", "mx", "spf", "dkim", "dmarc"] | str
    type: Literal["TXT", "MX"] | str
    name: str
    value: str
    priority: int | None
    required: bool
    status: str
    observed: list[str]


class Domain(TypedDict):
    id: str
    domainName: str
    status: Literal["pending", "verified", "failed"] | str
    mxStatus: bool
    spfStatus: bool
    dkimStatus: bool
    dmarcStatus: bool
    records: list[DomainRecord]
    dailyCap: int | None
    todayUsed: int
    resetsAt: str
    note: str | None
    verifiedAt: str | None
    createdAt: str


class DomainCeiling(TypedDict):
    id: str
    domainName: str
    dailyCap: int | None
    todayUsed: int
    resetsAt: str
    note: str | None


class DomainChecks(TypedDict):
    ownership: bool
    mx: bool
    spf: bool
    dkim: bool


class UnverifiedData(TypedDict):
    domainId: str
    domainName: str
    status: Literal["failed"]
    checks: DomainChecks
    verifiedAt: str | None


class DomainFailedEvent(TypedDict):
    id: str
    type: Literal["domain.failed"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: UnverifiedData
    mode: NotRequired[Literal["test"]]


class DomainVerification(TypedDict):
    id: str
    domainName: str
    status: Literal["active", "pending", "failed"] | str
    checks: DomainChecks
    verifiedAt: str | None


class VerifiedData(TypedDict):
    domainId: str
    domainName: str
    status: Literal["verified"]
    checks: DomainChecks
    verifiedAt: str | None


class DomainVerifiedEvent(TypedDict):
    id: str
    type: Literal["domain.verified"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: VerifiedData
    mode: NotRequired[Literal["test"]]


class DoneLabels(TypedDict):
    add: NotRequired[Sequence[str]]
    remove: NotRequired[Sequence[str]]


class Draft(TypedDict):
    id: str
    inboxId: str
    threadId: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    subject: str
    textBody: str | None
    htmlBody: str | None
    inReplyTo: str | None
    ifLastMessageId: str | None
    claimId: str | None
    completeClaim: bool
    status: Literal["draft", "sent", "discarded"] | str
    messageId: str | None
    createdAt: str
    updatedAt: str
    sentAt: str | None
    discardedAt: str | None


class DraftCreatedEvent(TypedDict):
    id: str
    type: Literal["draft.created"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ChangedDraftData
    mode: NotRequired[Literal["test"]]


class DraftDiscardedEvent(TypedDict):
    id: str
    type: Literal["draft.discarded"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ChangedDraftData
    mode: NotRequired[Literal["test"]]


class DraftUpdatedEvent(TypedDict):
    id: str
    type: Literal["draft.updated"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ChangedDraftData
    mode: NotRequired[Literal["test"]]


class DroppedRecipient(TypedDict):
    """Who stands there and is not written to."""

    address: str
    reason: Literal["own_address", "duplicate", "not_allowed", "invalid", "mailing_list"] | str


class ResolvedRecipients(TypedDict):
    """How the recipients of an answer were found."""

    source: Literal["reply_to", "from", "recipients", "given"] | str
    dropped: list[DroppedRecipient]


class DraftedReply(TypedDict):
    id: str
    inboxId: str
    threadId: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    subject: str
    textBody: str | None
    htmlBody: str | None
    inReplyTo: str | None
    ifLastMessageId: str | None
    claimId: str | None
    completeClaim: bool
    status: Literal["draft", "sent", "discarded"] | str
    messageId: str | None
    createdAt: str
    updatedAt: str
    sentAt: str | None
    discardedAt: str | None
    resolved: ResolvedRecipients


class ShownOutboundPolicy(TypedDict):
    recipients: Literal["any", "allowlist", "participants"] | str
    review: Literal["off", "first_time", "external", "all"] | str
    holdOn: list[
        Literal[
            "empty_body",
            "placeholder",
            "model_artifact",
            "secret",
            "attachment_missing",
            "duplicate",
            "recipient_from_content",
            "reply_to_mismatch",
            "no_reply_address",
            "auto_reply_target",
        ]
        | str
    ]
    firstTimeDaily: int | None
    replyTo: Literal["honor", "verified"] | str


class ShownInboundPolicy(TypedDict):
    hold: list[Literal["unverified", "high_risk"] | str]
    unlisted: Literal["accept", "hold", "refuse"] | str


class ShownWorkPolicy(TypedDict):
    enabled: bool
    maxAttempts: int
    requireClaim: bool


class ShownReviewPolicy(TypedDict):
    expiresAfterSeconds: int
    notify: list[str]


class EffectivePolicy(TypedDict):
    """What holds for an inbox."""

    outbound: ShownOutboundPolicy
    inbound: ShownInboundPolicy
    work: ShownWorkPolicy
    review: ShownReviewPolicy


class EmailBouncedEvent(TypedDict):
    id: str
    type: Literal["email.bounced"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: BouncedData
    mode: NotRequired[Literal["test"]]


class EmailComplainedEvent(TypedDict):
    id: str
    type: Literal["email.complained"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ComplainedData
    mode: NotRequired[Literal["test"]]


class EmailDelayedEvent(TypedDict):
    id: str
    type: Literal["email.delayed"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: DelayedData
    mode: NotRequired[Literal["test"]]


class FailedData(TypedDict):
    messageId: str
    inboxId: str
    threadId: str
    fromAddress: str
    toAddresses: list[str]
    subject: str
    sentAt: str | None
    recipients: list[Recipient]
    failureReason: str | None


class EmailFailedEvent(TypedDict):
    id: str
    type: Literal["email.failed"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: FailedData
    mode: NotRequired[Literal["test"]]


class EventAttachment(TypedDict):
    id: str
    filename: str
    contentType: str
    sizeBytes: int


class ReceivedData(TypedDict):
    """`text` and `extractedText`: up to 64 KiB; null, with the other words empty, once the message is deleted."""

    messageId: str
    inboxId: str
    threadId: str
    direction: Literal["inbound"]
    fromAddress: str
    fromName: str | None
    toAddresses: list[str]
    subject: str
    snippet: str
    text: str | None
    textTruncated: bool
    extractedText: str | None
    hasHtml: bool
    auth: Auth | None
    attachments: list[EventAttachment]
    receivedAt: str


class EmailReceivedEvent(TypedDict):
    id: str
    type: Literal["email.received"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ReceivedData
    mode: NotRequired[Literal["test"]]


class SentData(TypedDict):
    messageId: str
    inboxId: str
    threadId: str
    fromAddress: str
    toAddresses: list[str]
    subject: str
    sentAt: str | None
    recipients: list[Recipient]


class EmailSentEvent(TypedDict):
    id: str
    type: Literal["email.sent"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: SentData
    mode: NotRequired[Literal["test"]]


class UnsubscribedData(TypedDict):
    email: str
    messageId: str | None
    inboxId: str
    source: Literal["one_click", "link"] | str
    suppressionId: str


class EmailUnsubscribedEvent(TypedDict):
    id: str
    type: Literal["email.unsubscribed"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: UnsubscribedData
    mode: NotRequired[Literal["test"]]


class EvidenceItem(TypedDict):
    """`excerpt` is `view[start:end]`, its first 200 code points at most, of the field that GET shows:
    `subject`, `fromName`, `text` (textBody), `html` (htmlBody), `filename:att_…`."""

    kind: (
        Literal[
            "hidden_text",
            "comment_text",
            "zero_width",
            "bidi_control",
            "tag_characters",
            "variation_smuggling",
            "part_mismatch",
            "preheader",
            "display_name_address",
            "reply_to_mismatch",
            "several_from",
            "lookalike_domain",
            "unverified_sender",
            "first_time_sender",
            "link_text_mismatch",
            "link_ip",
            "link_userinfo",
            "link_punycode",
            "link_scheme",
            "markdown_reference",
            "remote_image_with_data",
            "directive",
            "role_markup",
            "secret_request",
            "fence_spoof",
            "double_extension",
            "active_content",
            "encrypted_archive",
            "filename_trick",
        ]
        | str
    )
    severity: Literal["low", "medium", "high"] | str
    view: str
    start: int
    end: int
    excerpt: str
    directive: bool
    why: str | None
    shown: str | None
    target: str | None


class GivenInboundPolicy(TypedDict):
    """A member that is left out is its default."""

    hold: NotRequired[Sequence[Literal["unverified", "high_risk"]]]
    unlisted: NotRequired[Literal["accept", "hold", "refuse"]]


class GivenOutboundPolicy(TypedDict):
    """A member that is left out is its default."""

    recipients: NotRequired[Literal["any", "allowlist", "participants"]]
    review: NotRequired[Literal["off", "first_time", "external", "all"]]
    holdOn: NotRequired[
        Sequence[
            Literal[
                "empty_body",
                "placeholder",
                "model_artifact",
                "secret",
                "attachment_missing",
                "duplicate",
                "recipient_from_content",
                "reply_to_mismatch",
                "no_reply_address",
                "auto_reply_target",
            ]
        ]
    ]
    firstTimeDaily: NotRequired[int | None]
    replyTo: NotRequired[Literal["honor", "verified"]]


class GivenReviewPolicy(TypedDict):
    """A member that is left out is its default."""

    expiresAfterSeconds: NotRequired[int]
    notify: NotRequired[Sequence[str]]


class GivenWorkPolicy(TypedDict):
    """A member that is left out is its default."""

    enabled: NotRequired[bool]
    maxAttempts: NotRequired[int]
    requireClaim: NotRequired[bool]


class GovernedInbox(TypedDict):
    """With the policy that holds for it."""

    id: str
    organizationId: str
    address: str
    username: str
    domain: str
    name: str | None
    agentId: str | None
    metadata: dict[str, str]
    isActive: bool
    unreadCount: int
    lastMessageAt: str | None
    createdAt: str
    updatedAt: str
    deactivatedAt: str | None
    policy: EffectivePolicy


class LoopHealth(TypedDict):
    holds: int
    heldMs: int


class Health(TypedDict):
    status: Literal["healthy", "unhealthy"] | str
    service: str
    store: Literal["ok", "damaged"] | str
    disk: Literal["ok", "short", "stalled", "failing"] | str
    descriptors: Literal["ok", "short"] | str
    loop: LoopHealth


class Inbox(TypedDict):
    id: str
    organizationId: str
    address: str
    username: str
    domain: str
    name: str | None
    agentId: str | None
    metadata: dict[str, str]
    isActive: bool
    unreadCount: int
    lastMessageAt: str | None
    createdAt: str
    updatedAt: str
    deactivatedAt: str | None


class InboxPolicy(TypedDict):
    """An inbox's own document. `version`: how often it was replaced."""

    outbound: ShownOutboundPolicy
    inbound: ShownInboundPolicy
    work: ShownWorkPolicy
    review: ShownReviewPolicy
    version: int


class Key(TypedDict):
    id: str
    name: str
    keyPrefix: str
    mode: Literal["live", "test"] | str
    scopes: list[str]
    inboxId: str | None
    isActive: bool
    mintedBy: str | None
    lastUsedAt: str | None
    createdAt: str


class LabelledData(TypedDict):
    messageId: str
    inboxId: str
    threadId: str
    labelsBefore: list[str]
    labels: list[str]


class Limits(TypedDict):
    messagesMonthly: int | None
    messagesDaily: int | None
    inboxes: int | None
    openDrafts: int | None
    webhooks: int | None
    storageBytes: int | None


class ListedMessage(TypedDict):
    id: str
    inboxId: str
    threadId: str
    direction: Literal["inbound", "outbound"] | str
    mode: Literal["live", "test"] | str
    status: (
        Literal["received", "held", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"] | str
    )
    review: HeldFor | None
    fromAddress: str
    fromDomain: str | None
    fromDomainUnicode: str | None
    fromName: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    replyTo: str | None
    replyToAddresses: list[str]
    subject: str
    snippet: str
    extractedText: str | None
    messageIdHeader: str | None
    inReplyTo: str | None
    references: list[str]
    labels: list[str]
    isAutoReply: bool
    isSpam: bool
    risk: Literal["none", "low", "medium", "high"] | str | None
    auth: Auth | None
    forwardOf: str | None
    deliveredTo: str | None
    mailingList: MailingListShown | None
    recipients: list[Recipient]
    attachments: list[Attachment]
    failureReason: str | None
    scheduledAt: str | None
    sentAt: str | None
    heldAt: str | None
    createdAt: str


class MailRule(TypedDict):
    id: str
    inboxId: str | None
    direction: Literal["inbound", "outbound"] | str
    action: Literal["allow", "block", "hold"] | str
    value: str
    note: str | None
    createdAt: str


class Member(TypedDict):
    id: str
    email: str
    name: str | None
    role: Literal["owner", "admin", "member"] | str
    joinedAt: str


class MessageDeletedEvent(TypedDict):
    id: str
    type: Literal["message.deleted"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ChangedMessageData
    mode: NotRequired[Literal["test"]]


class MessageEvidence(TypedDict):
    """`version`: of what is looked for. `truncated`: not all of the message was looked at, or there are more
    items."""

    messageId: str
    version: int
    risk: Literal["none", "low", "medium", "high"] | str
    hiddenCharacters: int
    truncated: bool
    items: list[EvidenceItem]


class MessageInContext(TypedDict):
    """Where the message stands in `text`, in code points, without its fences."""

    id: str
    direction: Literal["inbound", "outbound"] | str
    verifiedDomain: str | None
    risk: Literal["none", "low", "medium", "high"] | str | None
    start: int
    end: int
    isCut: bool
    attachments: list[ContextFile]


class MessageUpdatedEvent(TypedDict):
    id: str
    type: Literal["message.updated"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: LabelledData
    mode: NotRequired[Literal["test"]]


class MintedKey(TypedDict):
    id: str
    name: str
    keyPrefix: str
    mode: Literal["live", "test"] | str
    scopes: list[str]
    inboxId: str | None
    isActive: bool
    mintedBy: str | None
    lastUsedAt: str | None
    createdAt: str
    apiKey: str
    warning: str


class Usage(TypedDict):
    messagesMonthly: int
    messagesDaily: int
    inboxes: int
    openDrafts: int
    webhooks: int
    storageBytes: int


class Resets(TypedDict):
    daily: str
    monthly: str


class SendingApproval(TypedDict):
    status: Literal["approved", "pending", "paused"] | str
    reason: str | None
    action: str | None
    trippedAt: str | None


class Reputation(TypedDict):
    windowDays: int
    sent: int
    hardBounceRate: float
    complaintRate: float


class Organization(TypedDict):
    id: str
    name: str
    plan: str
    limits: Limits
    usage: Usage
    resetsAt: Resets
    sendingApproval: SendingApproval
    reputation: Reputation
    reviewers: Literal["keys", "members"] | str
    createdAt: str


class OrganizationPolicy(TypedDict):
    """An organization's own document. `version`: how often it was replaced."""

    version: int
    outbound: ShownOutboundPolicy
    inbound: ShownInboundPolicy
    review: ShownReviewPolicy


class PausedData(TypedDict):
    status: Literal["paused", "pending"] | str
    reason: str | None
    action: str | None
    trippedAt: str | None


class PingedData(TypedDict):
    webhookId: str


class QueueChanged(TypedDict):
    recipients: int
    more: bool


class QueuedDestination(TypedDict):
    destination: str
    waiting: int
    held: int
    firstDueAt: str | None


class QueueState(TypedDict):
    waiting: int
    pausedSince: str | None
    destinations: list[QueuedDestination]


class QueuedRecipient(TypedDict):
    messageId: str
    organizationId: str
    address: str
    destination: str
    status: Literal["queued", "deferred", "held"] | str
    attempts: int
    lastAttemptAt: str | None
    nextAttemptAt: str | None
    expiresAt: str
    smtpCode: int | None
    enhancedCode: str | None
    response: str | None


class RequestedReviewData(TypedDict):
    """Ids and reasons, never words."""

    reviewId: str
    messageId: str
    inboxId: str
    direction: Literal["inbound", "outbound"] | str
    status: Literal["pending", "approved", "rejected", "expired", "withdrawn"] | str
    reasons: list[str]
    expiresAt: str


class ResolvedReviewData(TypedDict):
    """`resolvedBy`: a key, a member or `operator`; null: its time was over."""

    reviewId: str
    messageId: str
    inboxId: str
    direction: Literal["inbound", "outbound"] | str
    status: Literal["pending", "approved", "rejected", "expired", "withdrawn"] | str
    reasons: list[str]
    expiresAt: str
    resolvedBy: str | None


class Review(TypedDict):
    """`resolvedBy`: a key, a member or `operator`; null while it is pending, and where its time was over."""

    id: str
    inboxId: str
    messageId: str
    direction: Literal["inbound", "outbound"] | str
    mode: Literal["live", "test"] | str
    status: Literal["pending", "approved", "rejected", "expired", "withdrawn"] | str
    reasons: list[str]
    warnings: list[CheckWarning]
    submittedBy: str | None
    expiresAt: str
    resolvedBy: str | None
    resolvedAt: str | None
    note: str | None
    createdAt: str


class ReviewRequestedEvent(TypedDict):
    id: str
    type: Literal["review.requested"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: RequestedReviewData
    mode: NotRequired[Literal["test"]]


class ReviewResolvedEvent(TypedDict):
    id: str
    type: Literal["review.resolved"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ResolvedReviewData
    mode: NotRequired[Literal["test"]]


class Revoked(TypedDict):
    id: str
    status: Literal["revoked"]


class RevokedWithMail(TypedDict):
    id: str
    status: Literal["revoked"]
    revokedKeys: int
    withdrawnMessages: int


class SendingPausedEvent(TypedDict):
    id: str
    type: Literal["sending.paused"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: PausedData
    mode: NotRequired[Literal["test"]]


class SentReply(TypedDict):
    id: str
    inboxId: str
    threadId: str
    direction: Literal["inbound", "outbound"] | str
    mode: Literal["live", "test"] | str
    status: (
        Literal["received", "held", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"] | str
    )
    review: HeldFor | None
    fromAddress: str
    fromDomain: str | None
    fromDomainUnicode: str | None
    fromName: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    replyTo: str | None
    replyToAddresses: list[str]
    subject: str
    snippet: str
    extractedText: str | None
    messageIdHeader: str | None
    inReplyTo: str | None
    references: list[str]
    labels: list[str]
    isAutoReply: bool
    isSpam: bool
    risk: Literal["none", "low", "medium", "high"] | str | None
    auth: Auth | None
    forwardOf: str | None
    deliveredTo: str | None
    mailingList: MailingListShown | None
    recipients: list[Recipient]
    attachments: list[Attachment]
    failureReason: str | None
    scheduledAt: str | None
    sentAt: str | None
    heldAt: str | None
    createdAt: str
    resolved: ResolvedRecipients


class Suppression(TypedDict):
    id: str
    email: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"] | str
    source: Literal["api", "bounce", "feedback_loop", "list_unsubscribe"] | str
    createdAt: str


class Thread(TypedDict):
    id: str
    organizationId: str
    inboxId: str
    subject: str
    snippet: str
    participants: list[str]
    labels: list[str]
    messageCount: int
    unreadCount: int
    lastMessageAt: str
    isArchived: bool
    createdAt: str


class ThreadContext(TypedDict):
    threadId: str
    lastMessageId: str | None
    contextHash: str
    estimatedTokens: int
    maxTokens: int
    truncated: bool
    omittedMessages: int
    text: str
    messages: list[MessageInContext]


# The whole message, and the short names beside the long ones.
ThreadMessage = TypedDict(
    "ThreadMessage",
    {
        "id": str,
        "inboxId": str,
        "threadId": str,
        "direction": Literal["inbound", "outbound"] | str,
        "mode": Literal["live", "test"] | str,
        "status": Literal[
            "received", "held", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"
        ]
        | str,
        "review": HeldFor | None,
        "fromAddress": str,
        "fromDomain": str | None,
        "fromDomainUnicode": str | None,
        "fromName": str | None,
        "toAddresses": list[str],
        "ccAddresses": list[str],
        "bccAddresses": list[str],
        "replyTo": str | None,
        "replyToAddresses": list[str],
        "subject": str,
        "snippet": str,
        "extractedText": str | None,
        "messageIdHeader": str | None,
        "inReplyTo": str | None,
        "references": list[str],
        "labels": list[str],
        "isAutoReply": bool,
        "isSpam": bool,
        "risk": Literal["none", "low", "medium", "high"] | str | None,
        "auth": Auth | None,
        "forwardOf": str | None,
        "deliveredTo": str | None,
        "mailingList": MailingListShown | None,
        "recipients": list[Recipient],
        "attachments": list[Attachment],
        "failureReason": str | None,
        "scheduledAt": str | None,
        "sentAt": str | None,
        "heldAt": str | None,
        "createdAt": str,
        "textBody": str | None,
        "htmlBody": str | None,
        "from": str,
        "to": list[str],
        "text": str | None,
        "html": str | None,
    },
)


class ThreadUpdatedEvent(TypedDict):
    id: str
    type: Literal["thread.updated"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: ChangedThreadData
    mode: NotRequired[Literal["test"]]


class Unsubscribed(TypedDict):
    email: str
    status: Literal["unsubscribed"]


class Webhook(TypedDict):
    id: str
    url: str
    subscribedEvents: list[str]
    isActive: bool
    createdAt: str
    updatedAt: str


class WebhookDelivery(TypedDict):
    id: str
    webhookId: str
    eventId: str | None
    eventType: str
    attempt: int
    requestHeaders: dict[str, str]
    responseStatus: int | None
    responseBody: str | None
    isSuccessful: bool
    error: str | None
    durationMs: int
    nextAttemptAt: str | None
    createdAt: str


class WebhookTestEvent(TypedDict):
    """The test ping, which stands in no log."""

    id: str
    type: Literal["webhook.test"]
    apiVersion: Literal["v1"]
    createdAt: str
    organizationId: str
    data: PingedData
    mode: NotRequired[Literal["test"]]


class WebhookWithSecret(TypedDict):
    id: str
    url: str
    subscribedEvents: list[str]
    isActive: bool
    createdAt: str
    updatedAt: str
    secret: str


class WholeReview(TypedDict):
    """With what is decided about. `contentHash`: for the approval; it and the message are null once that was
    deleted. `context`: the conversation, as `GET /v1/threads/{id}/context` gives it; null where there
    is none."""

    id: str
    inboxId: str
    messageId: str
    direction: Literal["inbound", "outbound"] | str
    mode: Literal["live", "test"] | str
    status: Literal["pending", "approved", "rejected", "expired", "withdrawn"] | str
    reasons: list[str]
    warnings: list[CheckWarning]
    submittedBy: str | None
    expiresAt: str
    resolvedBy: str | None
    resolvedAt: str | None
    note: str | None
    createdAt: str
    contentHash: str | None
    message: Message | None
    context: str | None


class WholeThread(TypedDict):
    id: str
    organizationId: str
    inboxId: str
    subject: str
    snippet: str
    participants: list[str]
    labels: list[str]
    messageCount: int
    unreadCount: int
    lastMessageAt: str
    isArchived: bool
    createdAt: str
    hasMore: bool
    messages: list[ThreadMessage]


class WorkClaim(TypedDict):
    id: str
    inboxId: str
    threadId: str
    messageId: str
    keyId: str
    mode: Literal["live", "test"] | str
    status: Literal["live", "released", "expired", "done", "dead"] | str
    attempt: int
    holder: str | None
    leaseExpiresAt: str
    createdAt: str


# There may be others at run time, of types that this version does not know: leave them be.
Event = (
    EmailReceivedEvent
    | EmailSentEvent
    | EmailBouncedEvent
    | EmailComplainedEvent
    | EmailUnsubscribedEvent
    | EmailDelayedEvent
    | EmailFailedEvent
    | DomainVerifiedEvent
    | DomainFailedEvent
    | SendingPausedEvent
    | MessageUpdatedEvent
    | MessageDeletedEvent
    | ThreadUpdatedEvent
    | DraftCreatedEvent
    | DraftUpdatedEvent
    | DraftDiscardedEvent
    | ClaimExpiredEvent
    | ClaimDeadEvent
    | ReviewRequestedEvent
    | ReviewResolvedEvent
    | AuditHeadEvent
)
WebhookEvent = (
    EmailReceivedEvent
    | EmailSentEvent
    | EmailBouncedEvent
    | EmailComplainedEvent
    | EmailUnsubscribedEvent
    | EmailDelayedEvent
    | EmailFailedEvent
    | DomainVerifiedEvent
    | DomainFailedEvent
    | SendingPausedEvent
    | MessageUpdatedEvent
    | MessageDeletedEvent
    | ThreadUpdatedEvent
    | DraftCreatedEvent
    | DraftUpdatedEvent
    | DraftDiscardedEvent
    | ClaimExpiredEvent
    | ClaimDeadEvent
    | ReviewRequestedEvent
    | ReviewResolvedEvent
    | AuditHeadEvent
    | WebhookTestEvent
)
