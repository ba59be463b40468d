"""What a refusal is in HTTP: its status, and the headers that say some of its details."""

from collections.abc import Iterable, Mapping

from controlplane.contract.refusals import Refusal

_BY_STATUS: Mapping[int, tuple[str, ...]] = {
    400: (
        "validation_failed",
        "domain_not_verified",
        "attachments_unsupported",
        "attachments_not_schedulable",
        "draft_incomplete",
        "invalid_scopes",
        "missing_token",
        "invalid_or_expired_token",
    ),
    401: (
        "unauthorized",
        "invalid_api_key_format",
        "invalid_api_key",
    ),
    402: (
        "spend_cap_reached",
        "limit_reached",
        "draft_limit_reached",
        "webhook_limit_reached",
    ),
    403: (
        "insufficient_scope",
        "inbox_access_denied",
        "apex_domain_reserved",
        "sending_not_approved",
        "sandbox_bulk_not_allowed",
        "sending_paused_bulk_review",
        "recipient_not_allowed",
        "self_approval",
        "member_required",
    ),
    404: (
        "not_found",
        "inbox_not_found",
        "agent_not_found",
        "message_not_found",
        "thread_not_found",
        "attachment_not_found",
        "draft_not_found",
        "webhook_not_found",
        "delivery_not_found",
        "key_not_found",
        "domain_not_found",
        "suppression_not_found",
        "rule_not_found",
        "claim_not_found",
        "review_not_found",
    ),
    405: ("method_not_allowed",),
    409: (
        "idempotency_conflict",
        "address_already_exists",
        "address_in_cooldown",
        "not_scheduled",
        "draft_not_editable",
        "draft_already_sent",
        "draft_discarded",
        "webhook_inactive",
        "delivery_in_flight",
        "domain_already_registered",
        "loop_suspected",
        "thread_advanced",
        "no_reply_target",
        "claim_lost",
        "claim_required",
        "work_not_enabled",
        "version_conflict",
        "content_changed",
        "review_resolved",
        "not_held",
    ),
    410: (
        "attachment_bytes_missing",
        "event_not_kept",
    ),
    413: (
        "payload_too_large",
        "attachment_too_large",
    ),
    415: ("unsupported_media_type",),
    416: ("range_not_satisfiable",),
    417: ("expectation_failed",),
    422: (
        "username_reserved",
        "recipient_suppressed",
    ),
    429: (
        "rate_limit_exceeded",
        "domain_daily_cap_reached",
        "too_many_streams",
    ),
    500: ("internal_error",),
    502: ("email_delivery_failed",),
    503: ("provider_unavailable",),
}
STATUSES: Mapping[str, int] = {code: status for status, codes in _BY_STATUS.items() for code in codes}
# RFC 6750 §3. No metadata of an authorization server: clients that are told of one drop the key they have.
_CHALLENGE: Mapping[str, str] = {"WWW-Authenticate": 'Bearer realm="maild"'}
# code → header → the detail that it tells
_DETAILS: Mapping[str, Mapping[str, str]] = {
    "domain_daily_cap_reached": {"X-Domain-Limit": "limit", "X-Domain-Used": "used"},
}


class HttpRefusal(Refusal):
    """A refusal of what only HTTP has, such as ranges and methods, with headers of its own."""

    def __init__(self, code: str, headers: Mapping[str, str], message: str | None = None) -> None:
        super().__init__(code, message)
        self.headers = headers


def wrong_method(allowed: Iterable[str]) -> HttpRefusal:
    """405, with the methods that there are in the text too: many see nothing of an answer but its body."""
    names = ", ".join(sorted(allowed))
    return HttpRefusal(
        "method_not_allowed",
        {"Allow": names},
        f"This path has no such method, but {names}; '/docs' shows all.",
    )


def status_of(refusal: Refusal) -> int:
    """The status of its answer."""
    return STATUSES[refusal.code]


def headers_of(refusal: Refusal) -> dict[str, str]:
    """The headers that its answer has besides."""
    headers = dict(refusal.headers) if isinstance(refusal, HttpRefusal) else {}
    if status_of(refusal) == 401:
        headers |= _CHALLENGE
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    told = refusal.details or {}
    headers |= {name: str(told[detail]) for name, detail in _DETAILS.get(refusal.code, {}).items()}
    return headers
