"""Every error the API can answer: docs/contract.md, section 7, as one table.

A handler raises `Refusal(code, …)`; the status and the default text come from the table, so that a code
has one meaning everywhere. Texts tell the reader what to do; details are data to act on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class ErrorKind(NamedTuple):
    status: int
    message: str


ERRORS: Mapping[str, ErrorKind] = {
    # Who is calling
    "unauthorized": ErrorKind(401, "Send your API key in the header 'Authorization: Bearer <API_KEY>'."),
    "invalid_api_key_format": ErrorKind(401, "An API key starts with 'svc_live_' or 'svc_test_'."),
    "invalid_api_key": ErrorKind(401, "This API key is unknown or revoked."),
    "insufficient_scope": ErrorKind(403, "This key lacks the scope that the endpoint requires."),
    "inbox_access_denied": ErrorKind(403, "This key is bound to another inbox."),
    "rate_limit_exceeded": ErrorKind(
        429, "Slow down and respect the limit; try again after 'Retry-After' seconds."
    ),
    # The request itself
    "validation_failed": ErrorKind(400, "The request is not valid; 'details.fields' names each fault."),
    "unsupported_media_type": ErrorKind(415, "Send the body as 'Content-Type: application/json'."),
    "expectation_failed": ErrorKind(417, "The only 'Expect' that is understood is '100-continue'."),
    "not_found": ErrorKind(404, "There is no such path."),
    "method_not_allowed": ErrorKind(405, "This path has no such method; 'Allow' names the ones it has."),
    "payload_too_large": ErrorKind(413, "Body and decoded attachments together exceed 15 MB."),
    "attachment_too_large": ErrorKind(413, "One attachment exceeds 10 MB, or all of them 15 MB."),
    "idempotency_conflict": ErrorKind(409, "This Idempotency-Key was used with another body."),
    "internal_error": ErrorKind(
        500, "Something failed on our side; quote 'X-Request-Id' when you report it."
    ),
    # Inboxes
    "apex_domain_reserved": ErrorKind(
        403, "This domain is reserved for platform operations; use a shared or a verified custom domain."
    ),
    "domain_not_verified": ErrorKind(400, "The domain is not verified for this organization."),
    "username_reserved": ErrorKind(422, "This username is reserved; choose another."),
    "address_already_exists": ErrorKind(409, "Another inbox has this address."),
    "address_in_cooldown": ErrorKind(409, "This address was deactivated less than 90 days ago."),
    "inbox_not_found": ErrorKind(404, "There is no active inbox with this id."),
    "agent_not_found": ErrorKind(404, "There is no agent with this id."),
    # Sending
    "sending_not_approved": ErrorKind(403, "Sending is paused for this organization."),
    "sandbox_bulk_not_allowed": ErrorKind(
        403, "This plan sends to a single 'to' recipient, without cc and bcc."
    ),
    "recipient_suppressed": ErrorKind(422, "A recipient is on the suppression list."),
    "sending_paused_bulk_review": ErrorKind(
        403, "A broadcast pattern paused sending until it was reviewed; replies are unaffected."
    ),
    "domain_daily_cap_reached": ErrorKind(429, "The domain's daily ceiling is reached."),
    "spend_cap_reached": ErrorKind(402, "The spend protection threshold of this plan is reached."),
    "limit_reached": ErrorKind(402, "The allowance of this plan is used up."),
    "email_delivery_failed": ErrorKind(
        502,
        "The queue refused the message; nothing was counted. 'details.isRetrySafe' says whether to retry.",
    ),
    "provider_unavailable": ErrorKind(503, "The sending queue takes nothing at the moment; try again later."),
    "attachments_unsupported": ErrorKind(400, "The configured relay takes no attachments."),
    "attachments_not_schedulable": ErrorKind(400, "A scheduled message can't carry attachments."),
    "not_scheduled": ErrorKind(409, "This message is not scheduled (any more)."),
    # Events
    "too_many_streams": ErrorKind(429, "This organization has too many event streams open; close one first."),
    # Resources
    "message_not_found": ErrorKind(404, "There is no message with this id."),
    "thread_not_found": ErrorKind(404, "There is no thread with this id."),
    "attachment_not_found": ErrorKind(404, "There is no attachment with this id."),
    "attachment_bytes_missing": ErrorKind(410, "The stored bytes were removed by the plan's retention."),
    "range_not_satisfiable": ErrorKind(416, "The range lies behind the end; 'Content-Range' has the size."),
    "draft_limit_reached": ErrorKind(402, "There are too many open drafts; send or discard some."),
    "draft_not_found": ErrorKind(404, "There is no draft with this id."),
    "draft_not_editable": ErrorKind(409, "Only a draft that is neither sent nor discarded can be edited."),
    "draft_already_sent": ErrorKind(409, "This draft was sent already."),
    "draft_discarded": ErrorKind(409, "This draft was discarded."),
    "draft_incomplete": ErrorKind(400, "The draft has no recipient."),
    "webhook_not_found": ErrorKind(404, "There is no webhook with this id."),
    "webhook_limit_reached": ErrorKind(402, "This plan allows no more webhooks; delete one first."),
    "webhook_inactive": ErrorKind(409, "This webhook is inactive; activate it first."),
    "delivery_not_found": ErrorKind(404, "There is no delivery with this id."),
    "delivery_in_flight": ErrorKind(
        409, "An attempt of this delivery is being made now; look at its record."
    ),
    "event_not_kept": ErrorKind(
        410, "The event of this delivery is not kept (any more): it can't be sent again."
    ),
    "key_not_found": ErrorKind(404, "There is no key with this id."),
    "invalid_scopes": ErrorKind(400, "A key bound to an inbox can hold the four mail scopes only."),
    "domain_not_found": ErrorKind(404, "There is no domain with this id or name."),
    "domain_already_registered": ErrorKind(409, "This domain is registered already."),
    "suppression_not_found": ErrorKind(404, "There is no suppression with this id."),
    "missing_token": ErrorKind(400, "The unsubscribe token is missing."),
    "invalid_or_expired_token": ErrorKind(400, "The unsubscribe token is invalid or expired."),
}


class Refusal(Exception):
    """An answer in the error envelope."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        kind = ERRORS[code]
        super().__init__(code)
        self.code = code
        self.status = kind.status
        self.message = message or kind.message
        self.details = details
        self.headers = dict(headers or {})

    def envelope(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details is not None:
            error["details"] = self.details
        return {"error": error}


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


def bad_request() -> Refusal:
    return invalid([Fault("", "bad_request", "The request can't be read as HTTP with a JSON body.")])
