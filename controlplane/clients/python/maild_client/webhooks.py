"""Webhooks, verified: `event = webhooks.verify(request.headers, request.body, secret)`.

The scheme is that of standardwebhooks.com: HMAC-SHA256 over `<id>.<timestamp>.<body>`.
"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

from maild_client.errors import ConfigurationError, InvalidSignature
from maild_client.types import WebhookEvent

TOLERANCE_S = 300


def verify(
    headers: Mapping[str, str] | Iterable[tuple[bytes, bytes]],
    body: bytes | str,
    secret: str,
    *,
    tolerance_s: float = TOLERANCE_S,
    now_s: float | None = None,
) -> WebhookEvent:
    """The event of a webhook request, if it is from whoever knows the secret, and fresh; else InvalidSignature.

    `headers` in any case, also as ASGI has them; `body` as it came, octet for octet; `now_s` is for tests. Events
    come at least once: dedupe on `id`. TypeError where it is not the request's own headers and body.
    """
    octets = _octets(body)
    given = _fields(headers)
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


def _octets(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode(errors="surrogateescape")
    if not isinstance(body, bytes | bytearray | memoryview):  # of parsed JSON nobody knows how it was written
        raise TypeError(f"body is the request's, as it came: bytes or a str, not {type(body).__name__}")
    return bytes(body)


def _fields(headers: object) -> dict[str, str]:
    """By names in lower case; octets, as ASGI has them, are read as text."""
    named: Any = headers.items() if isinstance(headers, Mapping) else headers
    try:
        return {_text(name).lower(): _text(value) for name, value in named}
    except (TypeError, ValueError):
        raise TypeError("headers are those of the request: names and their values") from None


def _text(told: object) -> str:
    if not isinstance(told, str | bytes):
        raise TypeError
    return told if isinstance(told, str) else told.decode("latin-1")


def _as_sent(header: str) -> bytes:
    return header.encode(errors="surrogateescape")  # as aiohttp and others read what is no UTF-8


def _key(secret: str) -> bytes:
    try:
        if not isinstance(secret, str):
            raise ValueError
        key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:  # with which everybody can sign
        raise ConfigurationError("the webhook's secret is `whsec_` and base64, as it was shown once")
    return key
