"""Which delivery may be made once more on request, and its lease."""

from controlplane.contract.refusals import Refusal
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.publishing.webhooks import LeasedDelivery


def begin(tx: Tx, organization_id: str, attempt_id: str, lease: str, until_ms: int) -> LeasedDelivery:
    """Lease the delivery that the attempt belongs to. Refusal says why it can't be."""
    named = webhooks.logged(tx, organization_id, attempt_id)
    if named is None:
        raise Refusal("delivery_not_found")
    webhook = webhooks.get(tx, organization_id, named[0])
    if webhook is None:
        raise Refusal("webhook_not_found")
    if not webhook.is_active:
        raise Refusal("webhook_inactive")
    found = webhooks.find(tx, organization_id, *named)
    if found is None:
        raise Refusal("event_not_kept")
    if found.is_in_flight:
        raise Refusal("delivery_in_flight")
    return webhooks.take_again(tx, found, lease=lease, until_ms=until_ms)
