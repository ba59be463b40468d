"""What a refusal of the control plane is in SMTP: one table, code by code (RFC 5321 §4.2, RFC 3463).

4xx where time alone may mend it, so that a mail program keeps the message and tries again; 5xx where somebody has to do
something first. What would let a broadcast go on by itself a day later (`sending_paused_bulk_review`) is 5xx.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from conf.log_events import clean
from maild.errors import SmtpError

TEXT_CHARS = 400  # RFC 5321 §4.5.3.1.5: a reply line has 512 octets


class RefusalReply(NamedTuple):
    """`text`: what the client hears, with details in braces; "" for the refusal's own words."""

    code: int
    enhanced: str
    text: str = ""


_NOT_NOW = RefusalReply(451, "4.3.0", "local error, try again later")

REPLIES: Mapping[str, RefusalReply] = {
    # Who sends
    "unauthorized": RefusalReply(530, "5.7.0", "authentication required"),
    "invalid_api_key_format": RefusalReply(530, "5.7.0", "authentication required"),
    "invalid_api_key": RefusalReply(530, "5.7.0", "this API key was revoked; log in with another"),
    "insufficient_scope": RefusalReply(550, "5.7.1"),
    "inbox_access_denied": RefusalReply(550, "5.7.1"),
    "inbox_not_found": RefusalReply(550, "5.1.8", "this inbox is not active any more"),
    "rate_limit_exceeded": RefusalReply(
        450, "4.7.1", "too many messages and requests in a minute; slow down"
    ),
    # The message
    "validation_failed": RefusalReply(554, "5.6.0"),
    "idempotency_conflict": RefusalReply(
        554, "5.6.0", "this Message-ID belongs to another message; use a new one"
    ),
    "message_not_found": _NOT_NOW,  # the conversation was deleted in this very moment
    "payload_too_large": RefusalReply(552, "5.3.4"),
    "attachment_too_large": RefusalReply(552, "5.3.4"),
    "attachments_unsupported": RefusalReply(550, "5.6.1"),
    # What may be sent
    "domain_not_verified": RefusalReply(550, "5.7.1"),
    "sending_not_approved": RefusalReply(
        550, "5.7.1", "sending is paused for this organization; ask the operator"
    ),
    "sandbox_bulk_not_allowed": RefusalReply(
        550, "5.5.3", "this plan sends to a single recipient, without Cc and Bcc"
    ),
    "recipient_suppressed": RefusalReply(550, "5.7.1", "{email} is on the suppression list ({reason})"),
    "recipient_not_allowed": RefusalReply(550, "5.7.1", "{address} may not be written to ({reason})"),
    "sending_paused_bulk_review": RefusalReply(
        550,
        "5.7.1",
        "a broadcast pattern paused sending until {resetsAt}, or until the operator lets it go on",
    ),
    "claim_required": RefusalReply(
        550, "5.7.1", "answers from this inbox need a claim, which the API alone can name"
    ),
    "loop_suspected": RefusalReply(
        450, "4.7.1", "two programs seem to answer each other in this conversation; stop until {resetsAt}"
    ),
    "domain_daily_cap_reached": RefusalReply(
        452, "4.7.1", "the domain's daily ceiling is reached until {resetsAt}"
    ),
    "spend_cap_reached": RefusalReply(
        550, "5.7.1", "the spend protection threshold of this plan is reached until {resetsAt}"
    ),
    "limit_reached": RefusalReply(452, "4.7.1", "the allowance of {resource} is used up"),
    # Whether it can be taken now
    "email_delivery_failed": _NOT_NOW,
    "provider_unavailable": RefusalReply(451, "4.3.2"),
    "internal_error": _NOT_NOW,
}

# What no time brings back (`resetsAt` null): a relay that tries for days would only tell its author later.
_NO_MORE = RefusalReply(
    550, "5.7.1", "the allowance of {resource} does not suffice, and time alone brings no more"
)


def reply_to(code: str, message: str, details: Mapping[str, Any]) -> SmtpError:
    """The reply for a refusal with that code, those words and details; what has no row is temporary."""
    is_for_good = code == "limit_reached" and details.get("resetsAt", "") is None
    reply = _NO_MORE if is_for_good else REPLIES.get(code, _NOT_NOW)
    text = reply.text.format_map(_Told(details)) if reply.text else _faults(details) or message
    return SmtpError(reply.code, reply.enhanced, reply_text(text), told={"refusal": code})


def reply_text(text: str) -> str:
    """Fit for one line of a reply, whatever it repeats of what clients said."""
    return clean(text, TEXT_CHARS).encode("ascii", "replace").decode()


def _faults(details: Mapping[str, Any]) -> str:
    """What `validation_failed` found, the first of it."""
    fields = details.get("fields") or ()
    return next((f"{one['path']}: {one['message']}".removeprefix(": ") for one in fields), "")


class _Told(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "?"
