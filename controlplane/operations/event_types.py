"""Which types of events a key may hear of: some are for keys that may read what they tell of."""

from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from controlplane.access.principal import Principal
from controlplane.contract.fields import AUDIT_EVENTS, REVIEW_EVENTS, EventType

# Scope → what is told of to keys that hold it alone.
CONFINED: Mapping[str, Sequence[EventType]] = {"reviews:read": REVIEW_EVENTS, "audit:read": AUDIT_EVENTS}


def heard(principal: Principal, asked: Sequence[str]) -> list[str]:
    """Those of the types that the key hears of, where it asks for these; `*` asks for what it may hear. Refusal
    `insufficient_scope` where it names others."""
    hidden = {one for scope, types in CONFINED.items() if not principal.holds(scope) for one in types}
    if hidden and set(asked) < set(get_args(EventType)):
        require_heard(principal, asked)
    return [one for one in asked if one not in hidden]


def require_heard(principal: Principal, named: Collection[str]) -> None:
    """Refusal `insufficient_scope` where the key names types that it may not hear of."""
    for scope, types in CONFINED.items():
        if not set(types).isdisjoint(named):
            principal.require(scope)
