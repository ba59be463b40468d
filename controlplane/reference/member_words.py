"""Which tables of docs/contract.md tell of the members of each schema, and of the parameters of queries."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controlplane.contract.telling.events import EVENTS
from controlplane.operations.operation import Operation
from controlplane.reference.contract_words import ContractWords

_ANSWER: Final = ("Answering", "Sending")
_FORWARD: Final = ("Forwarding", "Sending")
_DATA: Final = "Events and webhooks/data"
_MAIL: Final = (_DATA, "Message")

# Schemas → tables. The first one that has a member's name tells of it.
_TABLES: Final[Mapping[str, Sequence[str]]] = {
    # What is sent
    "CreateKey": ["Keys/body"],
    "CreateAgent": ["Agent"],
    "CreateInbox PatchInbox": ["Inboxes/body"],
    "SendMessage": ["Sending"],
    "AttachmentInput": ["Sending/attachments"],
    "ReplyMessage ReplyThread": _ANSWER,
    "ForwardMessage": _FORWARD,
    "CheckMessage": ["Looking before sending/body", "Sending"],
    "CheckReply": ["Looking before sending/both", *_ANSWER],
    "CheckForward": ["Looking before sending/both", *_FORWARD],
    "CreateDraft PatchDraft": ["Drafts/body", "Sending"],
    "PatchMessage ChangeMessages": ["Messages/body"],
    "PatchThread": ["Thread"],
    "ClaimCode": ["Codes and links/body"],
    "ClaimMessages ExtendClaim ReleaseClaim FinishClaim": ["Mail as work/body"],
    "DoneLabels": ["Mail as work/labels"],
    "ApproveReview RejectReview": ["Reviews/body"],
    "ReplaceInboxPolicy ReplaceOrganizationPolicy": ["Policies"],
    "RegisterDomain PatchDomain": ["Domain"],
    "CreateSuppression": ["Suppression"],
    "CreateRule": ["Rule"],
    "CreateWebhook UpdateWebhook": ["Events and webhooks/body"],
    "ChangeQueue": ["The operator's queue/body"],
    # What is answered
    "Organization": ["Organization"],
    "Limits Usage": ["Organization/both"],
    "Resets": ["Organization/resetsAt"],
    "SendingApproval": ["Organization/sendingApproval"],
    "Reputation": ["Organization/reputation"],
    "Member": ["Organization/member"],
    "AuditEntry AuditHead AuditHeadData": ["Audit"],
    "Key MintedKey": ["Key"],
    "RevokedWithMail": ["Keys"],
    "Agent": ["Agent"],
    "Inbox GovernedInbox": ["Inbox"],
    "DeactivatedInbox": ["Inboxes"],
    "OrganizationPolicy InboxPolicy EffectivePolicy": ["Policies"],
    "ShownOutboundPolicy GivenOutboundPolicy": ["Policies/outbound"],
    "ShownInboundPolicy GivenInboundPolicy": ["Policies/inbound"],
    "ShownWorkPolicy GivenWorkPolicy": ["Policies/work"],
    "ShownReviewPolicy GivenReviewPolicy": ["Policies/review"],
    "Message ListedMessage SentReply": ["Message"],
    "ThreadMessage": ["Message", "Thread/messages"],
    "HeldFor": ["Message/review"],
    "MailingListShown": ["Message/mailingList"],
    "Recipient": ["Message/recipients"],
    "Attachment ContextFile EventAttachment": ["Message/attachments"],
    "Auth": ["Message/auth"],
    "ChangedMessage": ["Messages"],
    "ResolvedRecipients": ["Answering/resolved"],
    "DroppedRecipient": ["Answering/dropped"],
    "CheckedMessage": ["Looking before sending/answer"],
    "CheckError": ["Looking before sending/errors"],
    "CheckedRecipient": ["Looking before sending/recipients"],
    "NamedRule": ["Looking before sending/rule"],
    "CheckedThread": ["Looking before sending/thread"],
    "CheckWarning": ["Looking before sending/warnings"],
    "Thread WholeThread": ["Thread"],
    "ThreadContext": ["Threads/context"],
    "MessageInContext": ["Threads/messages"],
    "Draft DraftedReply": ["Draft"],
    "AwaitedMessage": ["Waiting for a message"],
    "ClaimedCode": ["Codes and links"],
    "CodePlace": ["Codes and links/evidence"],
    "WorkClaim ClaimedMessage": ["Claim"],
    "Review WholeReview": ["Reviews"],
    "DeliveryAttempt": ["Attempts"],
    "DeliveryEvidence": ["Attempts/evidence"],
    "PassedOverHost": ["Attempts/passedOver"],
    "HostTried": ["Attempts/hosts"],
    "MessageEvidence": ["Evidence"],
    "EvidenceItem": ["Evidence/items"],
    "Domain DomainCeiling": ["Domain"],
    "DomainRecord": ["Domain/records"],
    "DomainVerification": ["Domains", "Domain"],
    "DomainChecks": ["Domains/checks"],
    "AggregateReport": ["Domains/report"],
    "DmarcSummary": ["Domains/dmarc"],
    "ReportedDispositions": ["Domains/dispositions"],
    "ReportedSource": ["Domains/sources"],
    "TlsSummary": ["Domains/tls"],
    "ReportedFailure": ["Domains/failures"],
    "Suppression": ["Suppression"],
    "MailRule": ["Rule"],
    "AnalyticsSummary": ["Analytics/summary"],
    "AnalyticsSeries": ["Analytics/events"],
    "AnalyticsLine": ["Analytics/series"],
    "AnalyticsPoint": ["Analytics/points"],
    "AnalyticsDestination": ["Analytics/destination"],
    "Webhook WebhookWithSecret": ["Webhook"],
    "WebhookDelivery": ["Webhook/delivery"],
    "QueueState": ["The operator's queue"],
    "QueuedDestination": ["The operator's queue/destinations"],
    "QueuedRecipient": ["The operator's queue/recipient"],
    "QueueChanged": ["The operator's queue/change"],
    "ErrorBody": ["Errors"],
    # What events tell
    " ".join(model.__name__ for _, model in EVENTS.values()): ["Events and webhooks"],
    "ReceivedData SentData FailedData LabelledData ChangedMessageData": _MAIL,
    "BouncedData ComplainedData DelayedData": _MAIL,
    "UnsubscribedData": [_DATA],
    "VerifiedData UnverifiedData": [_DATA, "Domain"],
    "PausedData": ["Organization/sendingApproval"],
    "ChangedThreadData": ["Thread"],
    "ChangedDraftData": [_DATA, "Draft"],
    "EndedClaimData": [_DATA, "Claim"],
    "RequestedReviewData ResolvedReviewData": [_DATA, "Reviews"],
    "PingedData": [_DATA],
}
TABLES: Final = {schema: tables for schemas, tables in _TABLES.items() for schema in schemas.split()}
_RESOURCES: Final = "Resources"  # what many of them have
_LISTS: Final = "Conventions/parameter"
# Whose parameters are told apart from the table that has the endpoint.
_SECTIONS: Final = {"waitForMessage": "Waiting for a message"}


def described(schemas: Mapping[str, Any], words: ContractWords) -> dict[str, Any]:
    """The schemas, whose members say what the contract says of them. A member that is another schema has its words
    there."""
    return {
        name: _described(schema, [*TABLES.get(name, ()), _RESOURCES], words)
        for name, schema in schemas.items()
    }


def _described(schema: Mapping[str, Any], tables: Sequence[str], words: ContractWords) -> dict[str, Any]:
    members = {
        name: member if text is None or "$ref" in member else {**member, "description": text}
        for name, member in schema.get("properties", {}).items()
        for text in [words.of_member(tables, name)]
    }
    return {**schema, "properties": members} if members else dict(schema)


def parameter_words(operation: Operation, name: str, words: ContractWords) -> Mapping[str, str]:
    """What is told of a parameter of its query, as members of OpenAPI's parameter object."""
    section = _SECTIONS.get(operation.id, words.operations[operation.endpoint].section)
    tables = [one for one in (f"{section}/parameter", _LISTS) if one in words.members]
    text = words.of_member(tables, name)
    return {} if text is None else {"description": text}
