"""What a key may do (docs/contract.md, section 5)."""

from collections.abc import Collection, Iterable

ALL = "*"
SCOPES = (
    "inboxes:read",
    "inboxes:write",
    "messages:read",
    "messages:send",
    "messages:reply",
    "messages:label",
    "threads:read",
    "webhooks:read",
    "webhooks:write",
    "keys:read",
    "keys:write",
    "domains:read",
    "domains:write",
    "organization:read",
    "suppressions:read",
    "suppressions:write",
    "policies:read",
    "policies:write",
    "reviews:read",
    "reviews:write",
    "audit:read",
)
# What the host's operator alone may do, for every organization. No wildcard of an organization covers it, and no
# operation mints it: `maild keys create` does.
OPERATOR_SCOPES = ("operator:queue",)
# What a key bound to an inbox is given where it is minted without scopes, or with wildcards.
MAIL_SCOPES = ("inboxes:read", "messages:read", "messages:send", "threads:read")
# What such a key may hold besides, where it is asked for by name.
BOUND_BY_NAME = ("messages:reply", "messages:label")
# Scopes that others hold too: who may write to anybody may answer, and who may answer may sort.
HELD_BY = {
    "messages:reply": frozenset({"messages:reply", "messages:send"}),
    "messages:label": frozenset({"messages:label", "messages:reply", "messages:send"}),
}
GRANTABLE = frozenset({ALL, *SCOPES, *(f"{scope.split(':')[0]}:*" for scope in SCOPES)})


def mail_scopes_of(scopes: Iterable[str]) -> tuple[str, ...]:
    """What of these a key bound to an inbox can hold; wildcards give the mail scopes that they cover."""
    requested = tuple(scopes)
    return (
        *(scope for scope in MAIL_SCOPES if grants(requested, scope)),
        *(scope for scope in BOUND_BY_NAME if scope in requested),
    )


def grants(held: Collection[str], required: str) -> bool:
    """Does one of the scopes held cover `required` (itself, one that implies it, a wildcard or `*`)?"""
    if required in OPERATOR_SCOPES:
        return required in held
    if ALL in held or f"{required.partition(':')[0]}:*" in held:
        return True
    return not HELD_BY.get(required, frozenset({required})).isdisjoint(held)
