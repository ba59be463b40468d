"""What a new key may be: never more than the key that mints it (docs/decisions.md, "Keys, scopes, bound keys")."""

from collections.abc import Sequence

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.scopes import ALL, BOUND_BY_NAME, MAIL_SCOPES, mail_scopes_of


def scopes_for(minter: Principal, requested: Sequence[str] | None, *, is_bound: bool) -> tuple[str, ...]:
    """The scopes of the new key; a key bound to an inbox is left with the mail scopes among them."""
    if is_bound:
        scopes = MAIL_SCOPES if requested is None else mail_scopes_of(requested)
        if not scopes:
            raise Refusal("invalid_scopes", details={"allowedScopes": [*MAIL_SCOPES, *BOUND_BY_NAME]})
    else:
        scopes = (ALL,) if requested is None else tuple(dict.fromkeys(requested))
        if not scopes:
            raise invalid([Fault("scopes", "too_few", "Name at least one scope, or leave 'scopes' out")])
    for scope in scopes:
        minter.require(scope)
    return scopes


def mode_for(minter: Principal, requested: str | None) -> str:
    """A test key mints test keys; a live one mints either kind."""
    if minter.mode == "test" and requested == "live":
        raise invalid([Fault("mode", "not_allowed", "A test key mints test keys alone")])
    return requested or minter.mode
