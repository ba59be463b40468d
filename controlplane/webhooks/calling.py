"""One call of an endpoint: sign, POST, judge, and the record that tells of it.

Deliveries and test pings are called alike, so that a ping shows what a delivery would meet.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import structlog

from controlplane.egress.client import (
    USER_AGENT,
    EgressCutOff,
    EgressFailed,
    EgressStarved,
    OnSent,
    nobody_waits,
)
from controlplane.egress.http1 import HttpResponse
from controlplane.egress.targets import EgressRefused
from controlplane.webhooks import attempts, signing
from controlplane.webhooks.attempts import AttemptVerdict
from controlplane.webhooks.secrets import Secrets
from storage.exhaustion import is_exhaustion
from storage.records import WebhookAttempt, WebhookRow, dump

log = structlog.get_logger("maild.webhooks")

RESPONSE_CHARACTERS_MAX = 1000


class EndpointClient(Protocol):
    """controlplane.egress.client.Egress, as far as it is needed here."""

    async def post(
        self, url: str, body: bytes, headers: dict[str, str], on_sent: OnSent = ...
    ) -> HttpResponse: ...


class EndpointRequest(NamedTuple):
    """What is sent. `attempt` counts from 1; `at_ms` is signed."""

    webhook: WebhookRow
    event_id: str
    event_type: str
    attempt: int
    body: bytes
    at_ms: int


class Sent(NamedTuple):
    """What went out, what came back, what follows. `is_starved`: the endpoint was not asked, for want of descriptors or
    memory here; `is_cut_off`: of a network."""

    headers: dict[str, str]
    status: int | None
    body: bytes | None
    verdict: AttemptVerdict
    is_starved: bool = False
    is_cut_off: bool = False


class Caller:
    """Calls endpoints; `delays_s` are those before attempts 2, 3, …"""

    def __init__(self, secrets: Secrets, egress: EndpointClient, delays_s: Sequence[int]) -> None:
        self._secrets = secrets
        self._egress = egress
        self._delays_s = delays_s

    async def call(self, call: EndpointRequest, on_sent: OnSent = nobody_waits) -> Sent:
        """Never raises: whatever happens is a verdict. `on_sent` is called when the request is on its way."""
        headers: dict[str, str] = {}
        is_sent = False

        def sent() -> None:
            nonlocal is_sent
            is_sent = True
            on_sent()

        try:
            headers = self._headers(call)
            response = await self._egress.post(call.webhook.url, call.body, headers, sent)
            status, answer = response.status, response.body
        except EgressFailed as error:
            verdict = self.unanswered(error.reason, call.attempt)
            is_starved, is_cut_off = isinstance(error, EgressStarved), isinstance(error, EgressCutOff)
            return Sent(headers, error.status, None, verdict, is_starved, is_cut_off)
        except EgressRefused as error:
            reason = f"not called: the URL {error.reason}"
            return Sent(headers, None, None, self.unanswered(reason, call.attempt))
        except Exception as error:
            is_starved = is_exhaustion(error) and not is_sent
            if not is_starved:
                log.exception(
                    "attempt_failed", webhook_id=call.webhook.id, event_id=call.event_id, attempt=call.attempt
                )
            return Sent(headers, None, None, self.unanswered("internal error", call.attempt), is_starved)
        return Sent(headers, status, answer, attempts.answered(status, call.attempt, self._delays_s))

    def unanswered(self, error: str, attempt: int) -> AttemptVerdict:
        return attempts.unanswered(error, attempt, self._delays_s)

    def _headers(self, call: EndpointRequest) -> dict[str, str]:
        signed = signing.request_headers(
            webhook_id=call.webhook.id,
            event_id=call.event_id,
            event_type=call.event_type,
            attempt=call.attempt,
            at_s=call.at_ms // 1000,
            body=call.body,
            secrets=self._secrets.valid(call.webhook, call.at_ms),
        )
        return {"Content-Type": "application/json", "User-Agent": USER_AGENT, **signed}


def record_of(
    sent: Sent,
    *,
    webhook_id: str,
    organization_id: str,
    event_id: str,
    event_type: str,
    attempt: int,
    begun_ms: int,
    duration_ms: int,
    next_ms: int | None,
) -> WebhookAttempt:
    """The row of the log that tells of an attempt."""
    return WebhookAttempt(
        id=sent.headers.get("X-Svc-Delivery") or signing.delivery_id(webhook_id, event_id, attempt),
        webhook_id=webhook_id,
        organization_id=organization_id,
        event_id=event_id,
        event_type=event_type,
        attempt=attempt,
        request_headers=dump(sent.headers),
        response_status=sent.status,
        response_body=None if sent.body is None else _as_text(sent.body),
        is_successful=int(sent.verdict.is_successful),
        error=sent.verdict.error,
        duration_ms=duration_ms,
        next_attempt_at=next_ms,
        created_at=begun_ms,
    )


def _as_text(body: bytes) -> str:
    return body.decode("utf-8", "replace").replace("\0", "")[:RESPONSE_CHARACTERS_MAX]
