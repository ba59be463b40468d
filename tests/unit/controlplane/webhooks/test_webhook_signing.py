import base64
import hashlib
import hmac
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError

from controlplane.webhooks import signing
from controlplane.webhooks.secrets import PREVIOUS_SECRET_MS, Secrets
from storage.records import WebhookRow
from storage.sealing import Sealer, SealError

BODY = '{"type":"email.received","data":{"subject":"Grüße"}}'.encode()
NEW = signing.secret_text(bytes(range(32)))
OLD = signing.secret_text(bytes(range(32, 64)))


def headers(*secrets: str, at_s: int, attempt: int = 1) -> dict[str, str]:
    return signing.request_headers(
        webhook_id="whk_1",
        event_id="evt_1",
        event_type="email.received",
        attempt=attempt,
        at_s=at_s,
        body=BODY,
        secrets=[signing.keys(secret) for secret in secrets],
    )


def now_s() -> int:
    return int(datetime.now(UTC).timestamp())


def test_secret_is_prefix_and_base64_of_32_bytes() -> None:
    assert NEW.startswith("whsec_")
    assert base64.b64decode(NEW.removeprefix("whsec_")) == bytes(range(32))


def test_own_signature_is_hmac_over_time_and_raw_body_under_the_whole_secret_string() -> None:
    digest = hmac.new(NEW.encode("utf-8"), b"1790000000." + BODY, hashlib.sha256).hexdigest()
    assert headers(NEW, at_s=1790000000)["X-Svc-Signature"] == f"t=1790000000,v1={digest}"


def test_two_secrets_give_two_signatures_new_first() -> None:
    parts = headers(NEW, OLD, at_s=5)["X-Svc-Signature"].split(",")
    assert parts[0] == "t=5"
    assert parts[1:] == [
        "v1=" + hmac.new(secret.encode(), b"5." + BODY, hashlib.sha256).hexdigest() for secret in (NEW, OLD)
    ]


@pytest.mark.parametrize("signed_with", [(NEW,), (NEW, OLD), (OLD, NEW)])
def test_a_stock_standard_webhooks_library_verifies(signed_with: tuple[str, ...]) -> None:
    StandardWebhook(NEW).verify(BODY, headers(*signed_with, at_s=now_s()))


def test_a_stock_standard_webhooks_library_rejects_another_secret_body_and_time() -> None:
    at_s = now_s()
    good = headers(NEW, at_s=at_s)
    for secret, body, sent in (
        (OLD, BODY, good),
        (NEW, BODY + b" ", good),
        (NEW, BODY, {**good, "webhook-timestamp": str(at_s - 1)}),
        (NEW, BODY, {**good, "webhook-id": "evt_2"}),
    ):
        with pytest.raises(WebhookVerificationError):
            StandardWebhook(secret).verify(body, sent)


def test_delivery_id_depends_on_webhook_event_and_attempt_alone() -> None:
    first = signing.delivery_id("whk_1", "evt_1", 1)
    assert first == signing.delivery_id("whk_1", "evt_1", 1)
    assert first.startswith("del_") and len(first) == 30
    others = {
        signing.delivery_id(*key)
        for key in (("whk_2", "evt_1", 1), ("whk_1", "evt_2", 1), ("whk_1", "evt_1", 2))
    }
    assert len(others | {first}) == 4


def test_other_headers() -> None:
    sent = headers(NEW, at_s=7, attempt=3)
    assert sent["X-Svc-Event"] == "email.received"
    assert sent["X-Svc-Attempt"] == "3"
    assert sent["webhook-id"] == "evt_1"
    assert sent["webhook-timestamp"] == "7"
    assert sent["X-Svc-Delivery"] == signing.delivery_id("whk_1", "evt_1", 3)


def sealed_webhook(secrets: Secrets, previous_until: int | None) -> tuple[WebhookRow, str, str]:
    new, sealed_new = secrets.make("whk_1")
    old, sealed_old = secrets.make("whk_1")
    webhook = WebhookRow(
        "whk_1", "org_1", "https://a.test", "[]", 1, sealed_new, sealed_old, previous_until, 0, 0
    )
    return webhook, new, old


def test_the_previous_secret_is_valid_until_its_time() -> None:
    secrets = Secrets(Sealer(b"k" * 32))
    webhook, new, old = sealed_webhook(secrets, previous_until=1000)
    assert secrets.valid(webhook, 999) == [signing.keys(new), signing.keys(old)]
    assert secrets.valid(webhook, 1000) == [signing.keys(new)]
    assert secrets.valid(webhook._replace(previous_secret=None), 0) == [signing.keys(new)]


def test_a_previous_secret_of_a_clock_that_was_ahead_is_valid_no_longer() -> None:
    """It was set back: the previous secret would sign for as long as the clock was ahead."""
    secrets = Secrets(Sealer(b"k" * 32))
    webhook, new, old = sealed_webhook(secrets, previous_until=3 * PREVIOUS_SECRET_MS)
    assert secrets.valid(webhook, PREVIOUS_SECRET_MS) == [signing.keys(new)]
    assert secrets.valid(webhook, PREVIOUS_SECRET_MS + 1) == [signing.keys(new), signing.keys(old)]


def test_a_secret_is_sealed_to_its_webhook() -> None:
    secrets = Secrets(Sealer(b"k" * 32))
    webhook, new, _ = sealed_webhook(secrets, previous_until=None)
    assert new.encode() not in webhook.secret
    with pytest.raises(SealError):
        secrets.valid(webhook._replace(id="whk_2"), 0)
