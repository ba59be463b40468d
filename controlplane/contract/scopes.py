"""What a key may do (docs/contract.md, section 5)."""

from collections.abc import Collection, Iterable

ALL = "*"
SCOPES = (
    "inboxes:read",
    "inboxes:write",
    "messages:read",
    "messages:send",
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
)
# What the host's operator alone may do, for every organization. No wildcard of an organization covers it, and no
# operation mints it: `maild keys create` does.
OPERATOR_SCOPES = ("operator:queue",)
MAIL_SCOPES = ("inboxes:read", "messages:read", "messages:send", "threads:read")  # all that a bound key holds
GRANTABLE = frozenset({ALL, *SCOPES, *(f"{scope.split(':')[0]}:*" for scope in SCOPES)})


def mail_scopes_of(scopes: Iterable[str]) -> tuple[str, ...]:
    """What of these a key bound to an inbox can hold; wildcards give the mail scopes that they cover."""
    requested = tuple(scopes)
    return tuple(scope for scope in MAIL_SCOPES if grants(requested, scope))


def grants(held: Collection[str], required: str) -> bool:
    """Does one of the scopes held cover `required` (an exact scope, a wildcard or `*`)?"""
    if required in OPERATOR_SCOPES:
        return required in held
    return ALL in held or required in held or f"{required.partition(':')[0]}:*" in held
