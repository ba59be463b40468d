"""Which types of events a key may hear of: those that tell of held mail are for keys that may see it."""

from collections.abc import Sequence
from typing import get_args

from controlplane.access.principal import Principal
from controlplane.contract.fields import REVIEW_EVENTS, EventType

REVIEWING = "reviews:read"


def heard(principal: Principal, asked: Sequence[str]) -> list[str]:
    """Those of the types that the key hears of, where it asks for these; `*` asks for what it may hear. Refusal
    `insufficient_scope` where it names others."""
    if principal.holds(REVIEWING):
        return list(asked)
    if set(asked) < set(get_args(EventType)):
        require_heard(principal, asked)
    return [one for one in asked if one not in REVIEW_EVENTS]


def require_heard(principal: Principal, named: Sequence[str]) -> None:
    """Refusal `insufficient_scope` where the key names types that it may not hear of."""
    if not set(REVIEW_EVENTS).isdisjoint(named):
        principal.require(REVIEWING)
