"""A webhook's signing secrets: made here, sealed in the store, opened to sign."""

import os
from collections.abc import Callable
from functools import lru_cache

from controlplane.webhooks import signing
from controlplane.webhooks.signing import SigningSecrets
from storage.clock import is_recent
from storage.records import WebhookRow
from storage.sealing import Sealer

OPENED_MAX = 64
PREVIOUS_SECRET_MS = 24 * 3_600_000


class Secrets:
    """Makes and opens the signing secrets of webhooks, each sealed for its webhook's id."""

    def __init__(self, sealer: Sealer, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._sealer = sealer
        self._entropy = entropy
        self._open = lru_cache(maxsize=OPENED_MAX)(self._opened)  # a backlog signs with the same few

    def make(self, webhook_id: str) -> tuple[str, bytes]:
        """A fresh secret: as it is shown once to its owner, and as it is stored."""
        secret = signing.secret_text(self._entropy(signing.SECRET_BYTES))
        return secret, self._sealer.seal(secret.encode(), _context(webhook_id))

    def valid(self, webhook: WebhookRow, now_ms: int) -> list[SigningSecrets]:
        """What to sign with now: by the present secret, then by the previous one while it is valid.

        Raises storage.sealing.SealError when the master key is not the one that they were sealed under.
        """
        sealed = [webhook.secret]
        rotated_ms = (webhook.previous_secret_until or 0) - PREVIOUS_SECRET_MS
        if webhook.previous_secret is not None and is_recent(rotated_ms, now_ms, PREVIOUS_SECRET_MS):
            sealed.append(webhook.previous_secret)
        return [self._open(one, webhook.id) for one in sealed]

    def _opened(self, sealed: bytes, webhook_id: str) -> SigningSecrets:
        return signing.keys(self._sealer.open(sealed, _context(webhook_id)).decode())


def _context(webhook_id: str) -> str:
    return f"webhook:{webhook_id}"
