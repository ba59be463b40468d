"""Tools that write mail, or say what would become of it. They answer in facts."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.mcp.arguments import ForwardArguments, ReplyArguments, SendArguments
from controlplane.mcp.safe_facts import address, addresses, details, known, plain
from controlplane.mcp.tool import NOTE, Answered, Facts, ToolCall
from storage.idempotency import DELETED

DO_NOT = "Do not send it again."
_SAID: Mapping[str, str] = {
    "held": f"Accepted, and held until a person has looked at it: this is success. {DO_NOT}",
    "scheduled": f"Accepted; it leaves at scheduledAt. {DO_NOT}",
}
_ACCEPTED = f"Accepted; it is on its way. {DO_NOT}"
_MADE = "This very call was made a moment ago"
_REPLAYED = f"{_MADE}: already sent, not sent again."
_ANEW = "Nothing was sent now. If it is still to be sent, call with again: true."
# What became of the message of an equal call, where that is not "sent": the caller must not count on it.
_ENDED: Mapping[str, str] = {
    "cancelled": f"{_MADE}, and its message was cancelled: it does not leave. {_ANEW}",
    "failed": f"{_MADE}, and its message failed or was rejected. Nothing was sent now. Find out why before you call"
    " with again: true.",
    DELETED: f"{_MADE}, and its message was deleted since. {_ANEW}",
}
_DRAFTED = "A draft was written; nothing was sent."

SENT_FACTS = {
    "messageId": "string", "threadId": "string", "status": "string", "to": "array", "cc": "array", "bcc": "array",
    "scheduledAt": "string", "draftId": "string", "dropped": "array", "review": "object", "alreadySent": "boolean",
    NOTE: "string",
}  # fmt: skip
FORWARDED_FACTS = {
    "messageId": "string", "threadId": "string", "status": "string", "to": "array", "review": "object",
    "alreadySent": "boolean", NOTE: "string",
}  # fmt: skip
CHECKED_FACTS = {
    "wouldSend": "boolean", "wouldHold": "boolean", "errors": "array", "warnings": "array", "recipients": "array",
    "lastMessageId": "string", NOTE: "string",
}  # fmt: skip
CANCELLED_FACTS = {"messageId": "string", "status": "string", NOTE: "string"}
_SENT = ("to", "cc", "bcc", "subject", "text", "html")
_ANSWERED = ("text", "lastSeenMessageId", "replyAll", "html", "sendAt", "claimId")
_FORWARDED = ("to", "text")
# What `check_message` takes of each kind: what the tool that then sends it takes, lest it tells of another message.
_TAKEN: Mapping[str, Collection[str]] = {
    "send": SendArguments.model_fields,
    "reply": ReplyArguments.model_fields,
    "forward": ForwardArguments.model_fields,
    "draft": ("draftId",),
}


async def reply(call: ToolCall) -> Facts:
    asked = call.arguments
    given = asked.given(*_ANSWERED, "asDraft")
    if asked.claimId is not None:
        given["completeClaim"] = True
    answered = await call.ask("replyToMessage", asked.messageId, given, is_once=True)
    return _drafted(answered) if asked.asDraft else _sent(answered)


async def send_message(call: ToolCall) -> Facts:
    asked = call.arguments
    given = {**asked.given(*_SENT), "inboxId": call.inbox_id()}
    if asked.asDraft:
        if asked.sendAt is not None:
            raise invalid(
                [Fault("sendAt", "not_allowed", "A draft has no time: leave out 'sendAt', or 'asDraft'")]
            )
        return _drafted(await call.ask("createDraft", given=given))
    return _sent(await call.ask("sendMessage", given={**given, **asked.given("sendAt")}, is_once=True))


async def forward_message(call: ToolCall) -> Facts:
    asked = call.arguments
    return _sent(await call.ask("forwardMessage", asked.messageId, asked.given(*_FORWARDED), is_once=True))


async def check_message(call: ToolCall) -> Facts:
    told = (await call.ask("checkMessage", given=_checked(call))).data
    thread = told["thread"] or {}
    facts = {
        "wouldSend": told["wouldSend"],
        "wouldHold": told["wouldHold"],
        "errors": [
            {"code": one["code"], "message": one["message"], "details": details(one["details"])}
            for one in told["errors"]
        ],
        "warnings": [known(_members(one, _WARNING)) for one in told["warnings"]],
        "recipients": [_members(one, _RECIPIENT) for one in told["recipients"]],
        "lastMessageId": thread.get("lastMessageId"),
    }
    return Facts(known(facts), "Nothing was sent: this only looks.")


async def cancel_message(call: ToolCall) -> Facts:
    """A held message is withdrawn by whoever may answer, a scheduled one cancelled by whoever may send."""
    message_id = call.arguments.messageId
    if not await _withdraws(call, message_id):
        try:
            await call.ask("cancelScheduledMessage", message_id)
        except Refusal as refusal:  # its time may have come in between, and it is held
            if refusal.code != "not_scheduled" or not await _withdraws(call, message_id):
                raise
    return Facts({"messageId": message_id, "status": "cancelled"}, "Cancelled: it will not leave.")


async def _withdraws(call: ToolCall, message_id: str) -> bool:
    """False: it is not held."""
    try:
        await call.ask("withdrawMessage", message_id)
    except Refusal as refusal:
        if refusal.code != "not_held":
            raise
        return False
    return True


def _checked(call: ToolCall) -> dict[str, Any]:
    """The body of POST /v1/messages/check."""
    asked = call.arguments
    others = asked.model_fields_set - {"kind", *_TAKEN[asked.kind]}
    # False means nothing, where it is no choice.
    if meant := sorted(name for name in others if getattr(asked, name)):
        raise invalid([Fault(name, "not_allowed", f"kind '{asked.kind}' doesn't take it") for name in meant])
    if asked.kind == "send":
        return {**asked.given(*_SENT, "sendAt"), "inboxId": call.inbox_id()}
    if asked.kind == "draft":
        return {"draftId": _needed(asked.draftId, "draftId", "draft")}
    message_id = _needed(asked.messageId, "messageId", asked.kind)
    names = _ANSWERED if asked.kind == "reply" else _FORWARDED
    return {asked.kind: {**asked.given(*names), "messageId": message_id}}


def _needed(value: str | None, name: str, kind: str) -> str:
    if value is None:
        raise invalid([Fault(name, "required", f"kind '{kind}' needs it")])
    return value


_WARNING = {
    "code": plain, "view": plain, "start": plain, "end": plain, "address": address, "messageId": plain,
}  # fmt: skip
_RECIPIENT = {
    "address": address, "kind": plain, "isFirstTime": plain, "isSuppressed": plain, "route": plain, "finding": plain,
}  # fmt: skip


def _members(of: Mapping[str, Any], safe: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    return {name: read(of[name]) for name, read in safe.items()}


def _sent(answered: Answered) -> Facts:
    message = answered.data
    resolved, review = message.get("resolved") or {}, message.get("review")
    facts = {
        "messageId": message["id"],
        "threadId": message["threadId"],
        "status": message["status"],
        "to": addresses(message["toAddresses"]),
        "cc": addresses(message["ccAddresses"]),
        "bcc": addresses(message["bccAddresses"]),
        "scheduledAt": message["scheduledAt"],
        "dropped": details(resolved).get("dropped") or None,
        "review": review
        and {"id": plain(review["id"]), "reasons": [plain(one) for one in review["reasons"]]},
        "alreadySent": answered.is_replay and _was_sent(message["status"]),
    }
    return Facts(known(facts), _said(message["status"], answered.is_replay))


def _said(status: str, is_replay: bool) -> str:
    if is_replay:
        return _ENDED.get(status, _REPLAYED)
    return _SAID.get(status, _ACCEPTED)


def _was_sent(status: str) -> bool | None:
    """None: nobody knows any more."""
    return None if status == DELETED else status not in _ENDED


def _drafted(answered: Answered) -> Facts:
    draft = answered.data
    facts = {
        "draftId": draft["id"],
        "threadId": draft["threadId"],
        "status": draft["status"],
        "to": addresses(draft["toAddresses"]),
        "cc": addresses(draft["ccAddresses"]),
    }
    return Facts(known(facts), _DRAFTED)
