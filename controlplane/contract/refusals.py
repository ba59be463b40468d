"""Everything that the API refuses: docs/contract.md, section 7, as one table.

An operation raises `Refusal(code, …)`; a code has one meaning everywhere, and the default text comes from the table.
Texts tell the reader what to do; details are data to act on. What a code is in HTTP stands in transport/statuses.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

MESSAGES: Mapping[str, str] = {
    # Who is calling
    "unauthorized": "Send your API key in the header 'Authorization: Bearer <API_KEY>'.",
    "invalid_api_key_format": "An API key starts with 'svc_live_' or 'svc_test_'.",
    "invalid_api_key": "This API key is unknown or revoked.",
    "insufficient_scope": "This key lacks the scope that the endpoint requires.",
    "inbox_access_denied": "This key is bound to another inbox.",
    "rate_limit_exceeded": "Slow down and respect the limit; try again after 'Retry-After' seconds.",
    # The request itself
    "validation_failed": "The request is not valid; 'details.fields' names each fault.",
    "unsupported_media_type": "Send the body as 'Content-Type: application/json'.",
    "expectation_failed": "The only 'Expect' that is understood is '100-continue'.",
    "not_found": "There is no such path; '/docs' shows all, '/openapi.json' tells programs.",
    "method_not_allowed": "This path has no such method; 'Allow' names the ones it has.",
    "payload_too_large": "Body and decoded attachments together exceed 15 MB.",
    "attachment_too_large": "One attachment exceeds 10 MB, or all of them 15 MB.",
    "idempotency_conflict": "This Idempotency-Key was used for another body, or by a key of the other mode.",
    "internal_error": "Something failed on our side; quote 'X-Request-Id' when you report it.",
    # Inboxes
    "apex_domain_reserved": "This domain is reserved for platform operations; use a shared or a verified"
    " custom domain.",
    "domain_not_verified": "The domain is not verified for this organization; publish its records, then verify it.",
    "username_reserved": "On a shared domain this name is reserved, for a role ('support') or for the operator: choose"
    " another, or a domain of your own.",
    "address_already_exists": "Another inbox has this address.",
    "address_in_cooldown": "This address was deactivated less than 90 days ago; it is free at 'details.cooldownUntil'.",
    "inbox_not_found": "No active inbox has this id (inb_…).",
    "agent_not_found": "No agent has this id (agt_…).",
    # Sending
    "sending_not_approved": "Sending is paused for this organization: 'details.reason' says why, and 'details.action'"
    " what to do.",
    "sandbox_bulk_not_allowed": "This plan sends to a single 'to' recipient, without cc and bcc.",
    "recipient_suppressed": "'details.email' is on the suppression list, for 'details.reason'.",
    "sending_paused_bulk_review": "A broadcast pattern paused sending until 'details.resetsAt', or until the operator"
    " lets it go on; replies to who wrote are unaffected.",
    "loop_suspected": "Two programs seem to answer each other in this conversation; stop answering, 'details.resetsAt'"
    " says until when.",
    "thread_advanced": "Nothing was sent: the conversation went on after 'ifLastMessageId'. Read 'details.newer', then"
    " decide whether to send, with 'details.lastMessageId'.",
    "claim_lost": "Nothing was done: this claim is not live (any more), or is of another conversation. Claim again.",
    "claim_required": "Nothing was sent: answers from this inbox need the 'claimId' of a live claim.",
    "no_reply_target": "There is nobody to answer here; 'details.dropped' says who was left out, and why.",
    "recipient_not_allowed": "Nothing was sent: 'details.address' may not be written to; 'details.reason' says why.",
    "domain_daily_cap_reached": "The domain's daily ceiling is reached until 'details.resetsAt'; raise its 'dailyCap',"
    " or wait.",
    "spend_cap_reached": "The plan's spend protection holds until 'details.resetsAt'; ask the operator, or wait.",
    "limit_reached": "The allowance of 'details.resource' is used up until 'details.resetsAt'; where that is null, make"
    " room.",
    "email_delivery_failed": "The queue refused the message; nothing was counted. 'details.isRetrySafe' says"
    " whether to retry.",
    "provider_unavailable": "The sending queue takes nothing now; try again later.",
    "attachments_unsupported": "The configured relay takes no attachments.",
    "attachments_not_schedulable": "A scheduled message can't carry attachments.",
    "not_scheduled": "This message is not scheduled (any more).",
    # Reviews
    "review_not_found": "No review has this id (rev_…).",
    "review_resolved": "This was decided already; 'details.status' says how.",
    "self_approval": "Nothing was sent: neither the key that submitted a message may approve it, nor one that was"
    " minted with it.",
    "member_required": "In this organization members and the operator alone may do this; no key may.",
    "content_changed": "Nothing was sent: this is not the 'contentHash' of what is held. Read the review again.",
    "not_held": "This message is not held (any more).",
    # Events
    "too_many_streams": "This organization has too many event streams open; close one first.",
    # Resources
    "message_not_found": "No message has this id (msg_…).",
    "thread_not_found": "No thread has this id (thd_…).",
    "attachment_not_found": "No attachment has this id (att_…).",
    "attachment_bytes_missing": "The stored bytes are gone: the plan's retention removed them, or they are lost or"
    " damaged.",
    "range_not_satisfiable": "The range lies behind the end; 'Content-Range' has the size.",
    "claim_not_found": "No claim has this id (clm_…).",
    "work_not_enabled": "The mail of this inbox is no queue of work; its policy's 'work.enabled' makes it one.",
    "version_conflict": "It was changed since; read it again, and replace what 'details.version' names.",
    "draft_limit_reached": "There are too many open drafts; send or discard some.",
    "draft_not_found": "No draft has this id (drf_…).",
    "draft_not_editable": "Only a draft that is neither sent nor discarded can be edited.",
    "draft_already_sent": "This draft was sent already.",
    "draft_discarded": "This draft was discarded.",
    "draft_incomplete": "The draft has no recipient; give it one in 'to', 'cc' or 'bcc'.",
    "webhook_not_found": "No webhook has this id (whk_…).",
    "webhook_limit_reached": "This plan allows no more webhooks; delete one first.",
    "webhook_inactive": "This webhook is inactive; activate it first.",
    "delivery_not_found": "No delivery has this id (del_…).",
    "delivery_in_flight": "An attempt of this delivery is being made now; look at its record.",
    "event_not_kept": "The event of this delivery is not kept (any more): it can't be sent again.",
    "key_not_found": "No key has this id (key_…).",
    "invalid_scopes": "A key bound to an inbox holds mail scopes only; 'details.allowedScopes' names them.",
    "domain_not_found": "No domain has this id (dom_…) or name.",
    "domain_already_registered": "This domain is registered already.",
    "rule_not_found": "No rule has this id (rul_…).",
    "suppression_not_found": "No suppression has this id (sup_…).",
    "missing_token": "The unsubscribe token is missing.",
    "invalid_or_expired_token": "The unsubscribe token is invalid or expired.",
}


class Refusal(Exception):
    """What was asked for is not done. `retry_after_s`: when asking again may help, where that is known."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.message = message or MESSAGES[code]
        self.details = details
        self.retry_after_s = retry_after_s

    def to_keep(self) -> Self:
        """Itself, without how it came about: those frames know who keeps it."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


class Fault(NamedTuple):
    """One thing wrong with a request: where, a stable code, and what to do."""

    path: str
    code: str
    message: str


FAULTS_MAX = 100


def invalid(faults: Sequence[Fault]) -> Refusal:
    """The faults of a request at once: the first `FAULTS_MAX`, and whether there were more."""
    details: dict[str, Any] = {"fields": [fault._asdict() for fault in faults[:FAULTS_MAX]]}
    if len(faults) > FAULTS_MAX:
        details["truncated"] = True
    return Refusal("validation_failed", details=details)


def bad_request(why: str = "The request can't be read as HTTP with a JSON body.") -> Refusal:
    """`validation_failed` for a request whose head or body can't be read, so that it does not name a field."""
    return invalid([Fault("", "bad_request", why)])
