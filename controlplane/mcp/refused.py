"""A refusal as a tool's answer: what happened, whether anything was sent, and what to do. Hosts may show the model no
more of it than the text, or no more than the structure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.mcp import told_mail
from controlplane.mcp.safe_facts import details
from controlplane.mcp.told_mail import ListedMail
from controlplane.mcp.tool import Tool

_NOTHING = "Nothing was sent"
NOTHING_SENT = f"{_NOTHING}."
_SENT_ONCE = (
    "It is not known whether it was sent. Call again with the very same arguments: it is never sent twice."
)
_SENT_PERHAPS = "It is not known whether it was sent. Look for it with find_messages before you call again."
# After these nobody can tell.
_IN_DOUBT = frozenset(("email_delivery_failed", "internal_error"))
# What happened, where the refusal says it of HTTP.
_HAPPENED: Mapping[str, str] = {
    "validation_failed": "These arguments are not valid.",
    "thread_advanced": "The conversation went on after lastSeenMessageId.",
    "rate_limit_exceeded": "This organization made more requests in a minute than it may.",
    "email_delivery_failed": "The queue refused the message; nothing was counted.",
}
# What to do, where the refusal does not say it.
_ADVICE: Mapping[str, str] = {
    "validation_failed": "Correct these arguments and call again.",
    "thread_advanced": "Read the newer messages, below or with read_thread. If your answer still fits, call again"
    " with lastSeenMessageId set to lastMessageId.",
    "rate_limit_exceeded": "Slow down, and call again after retryAfterSeconds.",
    "recipient_not_allowed": "Don't try other ways; tell whom you work for.",
    "recipient_suppressed": "Don't try again; this address wants no mail.",
    "insufficient_scope": "This key may not do that; tell whom you work for.",
    "limit_reached": "Stop; tell whom you work for.",
    "claim_lost": "Call claim_work again.",
    "claim_required": "Call claim_work, and give its claimId.",
    "internal_error": "Call again later.",
    "provider_unavailable": "Call again later.",
    # An id that is none of this key's: made up, cut short, or of what was deleted since.
    "message_not_found": "Take ids of messages from find_messages or read_thread; it may have been deleted.",
    "thread_not_found": "Take the threadId of a message that find_messages lists; it may have been deleted.",
    "attachment_not_found": "Take ids of attachments from read_message; it may have been deleted.",
    "inbox_not_found": "Call whoami or list_inboxes for what this key reaches.",
    "inbox_access_denied": "Call whoami for the inbox that this key reaches.",
    "claim_not_found": "Call claim_work, and give its claimId.",
    "draft_not_found": "Take the draftId that reply or send_message gave you.",
    "domain_not_found": "Leave out 'domain' for a shared one.",
    "domain_not_verified": "Tell whom you work for.",
    "address_already_exists": "Choose another username.",
    "address_in_cooldown": "Choose another username.",
    "work_not_enabled": "Use find_messages or wait_for_message here.",
    "attachment_bytes_missing": "Go on without this file.",
    "attachment_too_large": "It can't go with its files; tell whom you work for.",
    "attachments_unsupported": "It can't go with its files; tell whom you work for.",
    "payload_too_large": "Say it in fewer words.",
    "draft_limit_reached": "Tell whom you work for.",
    "too_many_streams": "Call again later.",
    "no_reply_target": "Tell whom you work for.",
    "loop_suspected": "Stop answering here; tell whom you work for.",
    "sending_paused_bulk_review": "Answer mail meanwhile, and write to nobody new; tell whom you work for.",
    "sending_not_approved": "Stop; tell whom you work for.",
    "domain_daily_cap_reached": "Stop for today; tell whom you work for.",
    "spend_cap_reached": "Stop; tell whom you work for.",
    "not_held": "It can't be taken back; its status says why.",
    "not_scheduled": "It can't be taken back; its status says why.",
}
# Of thread_advanced, for who reads no mail.
_UNREAD = (
    "This key may not read what is newer; tell whom you work for. If your answer fits whatever came, call again with"
    " lastSeenMessageId set to lastMessageId."
)


class ToolError(NamedTuple):
    """`text`: for the model. `facts`: the same, structured, without any word of strangers; all that is ours of the text
    stands in its message."""

    text: str
    facts: dict[str, Any]


def refused(
    refusal: Refusal, tool: Tool, principal: Principal, fence_key: bytes, *, is_once: bool
) -> ToolError:
    """What the tool answers in place of what it was asked for. `is_once`: an equal call sends nothing twice."""
    code, told = refusal.code, details(refusal.details)
    happened = _HAPPENED.get(code, refusal.message)
    is_unread = code == "thread_advanced" and not principal.reads_mail
    advice = _UNREAD if is_unread else _ADVICE.get(code)
    advised = [*_sent(code, happened, tool, is_once), *([advice] if advice else [])]
    words = [f"{code}: {happened}", *_faults(told), *advised]
    if refusal.retry_after_s is not None:
        words.append(f"retryAfterSeconds: {refusal.retry_after_s}")
        told["retryAfterSeconds"] = refusal.retry_after_s
    rest = {name: value for name, value in told.items() if name != "fields"}
    words += [json.dumps(rest)] if rest else []
    newer = (refusal.details or {}).get("newer")
    if code == "thread_advanced" and newer and not is_unread:
        words.append(told_mail.told(_mail(newer), fence_key, names_inboxes=principal.inbox_id is None))
    message = " ".join([happened, *advised])
    return ToolError("\n".join(words), {"error": {"code": code, "message": message, "details": told}})


def _sent(code: str, happened: str, tool: Tool, is_once: bool) -> list[str]:
    """Was anything sent?"""
    if not tool.sends:
        return []
    if code in _IN_DOUBT:
        return [_SENT_ONCE if is_once else _SENT_PERHAPS]
    return [] if happened.startswith(_NOTHING) else [NOTHING_SENT]


def _mail(newer: Sequence[Mapping[str, Any]]) -> list[ListedMail]:
    """As lists show it: there who is proven to have written stands in `auth`."""
    return [
        msgspec.convert({**one, "auth": {"verifiedDomain": one["verifiedDomain"]}}, ListedMail)
        for one in newer
    ]


def _faults(told: Mapping[str, Any]) -> list[str]:
    return [
        f"{one['path'] or 'arguments'}: {one['message']} ({one['code']})" for one in told.get("fields") or ()
    ]
