"""Which delivery may be made once more on request, and its lease."""

from controlplane.errors import ApiError
from storage import webhooks
from storage.database import Tx
from storage.webhooks import Delivery


def begin(tx: Tx, organization_id: str, attempt_id: str, lease: str, until_ms: int) -> Delivery:
    """Lease the delivery that the attempt belongs to. ApiError says why it can't be."""
    named = webhooks.logged(tx, organization_id, attempt_id)
    if named is None:
        raise ApiError("delivery_not_found")
    webhook = webhooks.get(tx, organization_id, named[0])
    if webhook is None:
        raise ApiError("webhook_not_found")
    if not webhook.is_active:
        raise ApiError("webhook_inactive")
    found = webhooks.find(tx, organization_id, *named)
    if found is None:
        raise ApiError("event_not_kept")
    if found.is_in_flight:
        raise ApiError("delivery_in_flight")
    return webhooks.take_again(tx, found, lease=lease, until_ms=until_ms)
