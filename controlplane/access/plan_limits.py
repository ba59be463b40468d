"""What the API answers where a plan, or a policy, allows no more (storage/tenants/allowances.py decides):
docs/contract.md, section 7."""

from types import TracebackType
from typing import Any

from controlplane.contract.refusals import Refusal
from storage.clock import iso_or_none
from storage.tenants.allowances import UsedUp

_CODES = {
    "openDrafts": "draft_limit_reached",
    "webhooks": "webhook_limit_reached",
    "spend": "spend_cap_reached",
}
# What no plan sets.
_TEXTS = {
    "firstTimeRecipientsDaily": "The policy ('outbound.firstTimeDaily') allows no more first contacts until"
    " 'details.resetsAt', and where that is null never so many; whom this inbox has written to before it may write to"
    " still.",
}


class refusing_what_exceeds:
    """UsedUp, raised inside, becomes the Refusal that says so."""

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, UsedUp):
            raise _refusal_of(error) from error


def _refusal_of(reached: UsedUp) -> Refusal:
    details: dict[str, Any] = {
        "resource": reached.resource,
        "limit": reached.limit,
        "used": reached.used,
        "resetsAt": iso_or_none(reached.resets_at),
    }
    if reached.resource == "spend":  # its code names it
        del details["resource"]
    return Refusal(_CODES.get(reached.resource, "limit_reached"), _TEXTS.get(reached.resource), details)
