"""Which tables of docs/contract.md tell of the members of each schema, and of the parameters of queries."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controlplane.operations.operation import Operation
from controlplane.reference.contract_words import ContractWords, TableOf

_FIELD: Final = "field"
_PARAMETER: Final = "parameter"


def _tables(*sections: str) -> tuple[TableOf, ...]:
    return tuple((section, _FIELD) for section in sections)


# By schema. The first table that has a member's name tells of it.
TABLES: Final[Mapping[str, Sequence[TableOf]]] = {
    "Organization": _tables("Organization"),
    **dict.fromkeys(("Key", "MintedKey", "CreateKey"), _tables("Key")),
    **dict.fromkeys(("Inbox", "GovernedInbox", "CreateInbox", "PatchInbox"), _tables("Inbox")),
    **dict.fromkeys(("Message", "ListedMessage", "SentReply"), _tables("Message")),
    "ThreadMessage": (*_tables("Message"), ("Thread", "field of `messages`")),
    "Recipient": (("Message", "field of `recipients`"),),
    "Attachment": (("Message", "field of `attachments`"),),
    "Auth": (("Message", "field of `auth`"),),
    **dict.fromkeys(("Thread", "WholeThread"), _tables("Thread")),
    **dict.fromkeys(("Draft", "DraftedReply"), _tables("Draft")),
    "Domain": _tables("Domain"),
    "DomainRecord": (("Domain", "field of `records`"),),
    "Suppression": _tables("Suppression"),
    **dict.fromkeys(("MailRule", "CreateRule"), _tables("Rule")),
    **dict.fromkeys(("Webhook", "WebhookWithSecret", "CreateWebhook", "UpdateWebhook"), _tables("Webhook")),
    "WebhookDelivery": (("Webhook", "field of a delivery"),),
    **dict.fromkeys(("WorkClaim", "ClaimedMessage"), _tables("Claim")),
    "SendMessage": _tables("Sending"),
    **dict.fromkeys(("ReplyMessage", "ReplyThread", "CheckReply"), _tables("Answering", "Sending")),
    **dict.fromkeys(("ForwardMessage", "CheckForward"), _tables("Forwarding", "Sending")),
    "CheckMessage": _tables("Looking before sending", "Sending"),
    "CheckedMessage": _tables("Looking before sending"),
    **dict.fromkeys(("CreateDraft", "PatchDraft"), _tables("Sending")),
    "ClaimCode": _tables("Codes and links"),
    "DeliveryAttempt": _tables("Attempts"),
    "DeliveryEvidence": (("Attempts", "field of `evidence`"),),
    "HostTried": (("Attempts", "field of `hosts`"),),
}
_RESOURCES: Final[TableOf] = ("Resources", _FIELD)
_LISTS: Final[TableOf] = ("Conventions", _PARAMETER)
# Whose parameters are told apart from the table that has the endpoint.
_SECTIONS: Final = {"waitForMessage": "Waiting for a message"}


def described(schemas: Mapping[str, Any], words: ContractWords) -> dict[str, Any]:
    """The schemas, whose members say what the contract says of them. A member that is another schema has its words
    there."""
    tables = {name: (*TABLES.get(name, ()), _RESOURCES) for name in schemas}
    return {name: _described(schema, tables[name], words) for name, schema in schemas.items()}


def _described(schema: Mapping[str, Any], tables: Sequence[TableOf], words: ContractWords) -> dict[str, Any]:
    members = {
        name: member if text is None or "$ref" in member else {**member, "description": text}
        for name, member in schema.get("properties", {}).items()
        for text in [words.of_member(tables, name)]
    }
    return {**schema, "properties": members} if members else dict(schema)


def parameter_words(operation: Operation, name: str, words: ContractWords) -> Mapping[str, str]:
    """What is told of a parameter of its query, as members of OpenAPI's parameter object."""
    section = _SECTIONS.get(operation.id, words.operations[operation.endpoint].section)
    tables = [one for one in ((section, _PARAMETER), _LISTS) if one in words.members]
    text = words.of_member(tables, name)
    return {} if text is None else {"description": text}
