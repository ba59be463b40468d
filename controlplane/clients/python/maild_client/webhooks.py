"""Webhooks, verified: `event = webhooks.verify(request.headers, request.body, secret)`.

The scheme is that of standardwebhooks.com: HMAC-SHA256 over `<id>.<timestamp>.<body>`.
"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from maild_client.errors import ConfigurationError, InvalidSignature
from maild_client.types import WebhookEvent

TOLERANCE_S = 300


def verify(
    headers: Mapping[str, str],
    body: bytes | str,
    secret: str,
    *,
    tolerance_s: float = TOLERANCE_S,
    now_s: float | None = None,
) -> WebhookEvent:
    """The event of a webhook request, if it is from whoever knows the secret, and fresh; else InvalidSignature.

    `headers` in any case; `body` as it came, octet for octet; `now_s` is for tests. Events come at least once:
    dedupe on `id`.
    """
    octets = body.encode() if isinstance(body, str) else bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id, timestamp, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise InvalidSignature(f"the request has no header {missing}") from None
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 15):
        raise InvalidSignature("webhook-timestamp is no number")
    if abs((time.time() if now_s is None else now_s) - int(timestamp)) > tolerance_s:
        raise InvalidSignature(f"the request is not of the last {tolerance_s:.0f} seconds")
    signed = _as_sent(f"{id}.{timestamp}.") + octets
    expected = base64.b64encode(hmac.digest(_key(secret), signed, hashlib.sha256))
    # One under the new and one under the old secret, while it is rotated.
    found = [one.removeprefix("v1,") for one in signatures.split() if one.startswith("v1,")]
    if not any(hmac.compare_digest(_as_sent(one), expected) for one in found):
        raise InvalidSignature(
            "no signature is right: is it the secret of this webhook, and the body unchanged?"
        )
    return cast(WebhookEvent, json.loads(octets))


def _as_sent(header: str) -> bytes:
    return header.encode(errors="surrogateescape")  # as aiohttp and others read what is no UTF-8


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:  # with which everybody can sign
        raise ConfigurationError("the webhook's secret is `whsec_` and base64, as it was shown once")
    return key
