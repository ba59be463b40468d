"""What the API answers where a plan allows no more (storage/allowances.py decides): docs/contract.md, section 7."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from controlplane.contract.refusals import Refusal
from storage.allowances import UsedUp
from storage.clock import iso_or_none

_CODES = {
    "openDrafts": "draft_limit_reached",
    "webhooks": "webhook_limit_reached",
    "spend": "spend_cap_reached",
}


@contextmanager
def refusing_what_exceeds() -> Iterator[None]:
    """UsedUp, raised inside, becomes the Refusal that says so."""
    try:
        yield
    except UsedUp as reached:
        details: dict[str, Any] = {
            "resource": reached.resource,
            "limit": reached.limit,
            "used": reached.used,
            "resetsAt": iso_or_none(reached.resets_at),
        }
        if reached.resource == "spend":  # its code names it
            del details["resource"]
        raise Refusal(_CODES.get(reached.resource, "limit_reached"), details=details) from reached
