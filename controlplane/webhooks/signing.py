"""Signatures and ids of webhook requests. Pure.

Two schemes stand in every request, over the same raw body: our own (`X-Svc-Signature`, keyed with the
UTF-8 bytes of the whole secret string) and that of standardwebhooks.com (`webhook-signature`, keyed with
the bytes that the secret's base64 stands for), so that a stock library verifies it. While a secret is
being rotated both are made under the new and the previous one.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import NamedTuple

SECRET_PREFIX = "whsec_"  # noqa: S105 (what every secret begins with)
SECRET_BYTES = 32

_ID_CHARACTERS = 26  # the look of every other id
_TIME_CHARACTERS = 10


class SigningSecrets(NamedTuple):
    """What the two schemes make of one secret."""

    own: bytes
    standard: bytes


def keys(secret: str) -> SigningSecrets:
    return SigningSecrets(secret.encode(), base64.b64decode(secret.removeprefix(SECRET_PREFIX)))


def secret_text(entropy: bytes) -> str:
    """The secret as a receiver sees it, from `SECRET_BYTES` random bytes."""
    return SECRET_PREFIX + base64.b64encode(entropy).decode("ascii")


def delivery_id(webhook_id: str, event_id: str, attempt: int) -> str:
    """`del_…`: the same for each repeat of one attempt, and the id of its record."""
    digest = hashlib.sha256(f"{webhook_id}\n{event_id}\n{attempt}".encode()).hexdigest()
    # The event's time stands before the hash: the records of one hour then share pages of the store.
    event_time = event_id.partition("_")[2][:_TIME_CHARACTERS]
    return f"del_{event_time}{digest[: _ID_CHARACTERS - len(event_time)]}"


def request_headers(
    *,
    webhook_id: str,
    event_id: str,
    event_type: str,
    attempt: int,
    at_s: int,
    body: bytes,
    secrets: Sequence[SigningSecrets],
) -> dict[str, str]:
    """Everything that a receiver verifies, dedupes and routes by; `secrets`: those of the present one first."""
    return {
        "X-Svc-Signature": signature(secrets, at_s, body),
        "X-Svc-Delivery": delivery_id(webhook_id, event_id, attempt),
        "X-Svc-Event": event_type,
        "X-Svc-Attempt": str(attempt),
        "webhook-id": event_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": standard_signature(secrets, event_id, at_s, body),
    }


def signature(secrets: Sequence[SigningSecrets], at_s: int, body: bytes) -> str:
    """`t=<unix>,v1=<hex>`, one `v1` for each secret."""
    signed = b"%d.%s" % (at_s, body)
    digests = [hmac.digest(one.own, signed, "sha256").hex() for one in secrets]
    return f"t={at_s},v1={',v1='.join(digests)}"


def standard_signature(secrets: Sequence[SigningSecrets], message_id: str, at_s: int, body: bytes) -> str:
    """Standard Webhooks 1.0: `v1,<base64>`, separated by spaces where there are several."""
    signed = b"%s.%d.%s" % (message_id.encode(), at_s, body)
    digests = [base64.b64encode(hmac.digest(one.standard, signed, "sha256")).decode() for one in secrets]
    return f"v1,{' v1,'.join(digests)}"
