"""What may stand in a structured answer: ids, enums, numbers, times, and addresses in one safe form. Nothing else that
a sender wrote does, since hosts hand structure to models without any fence."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# RFC 5321 §4.1.2 dot-string, and a domain of A-labels or an address literal. Quoted local parts can hold sentences.
_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
    r"|\[[0-9A-Fa-f.:IPv]+\])"
)
_ADDRESS_CHARS_MAX = 254
_DOMAIN = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")
_WORD = re.compile(
    r"[a-z]{3}_[0-9a-z]{1,30}|[a-z][A-Za-z_]{0,39}|\*|[a-z]+:(?:[a-z]+|\*)"
)  # an id, an enum, a scope
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def address(value: Any) -> str | None:
    """The address, where it is one of the plain form."""
    if not isinstance(value, str) or len(value) > _ADDRESS_CHARS_MAX or not _ADDRESS.fullmatch(value):
        return None
    return value


def addresses(values: Iterable[Any]) -> list[str]:
    """Those of the plain form."""
    return [one for one in map(address, values) if one is not None]


def domain(value: Any) -> str | None:
    """The domain, where it is one in A-labels."""
    return value if isinstance(value, str) and _DOMAIN.fullmatch(value) else None


def plain(value: Any) -> Any:
    """A number, a truth, a time, an id or an enum; None for anything else."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str) and (_WORD.fullmatch(value) or _MOMENT.fullmatch(value)):
        return value
    return None


def known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Those that there are: neither null nor an empty list."""
    return {name: value for name, value in facts.items() if value is not None and value != []}


def _each(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: [of(one) for one in values] if isinstance(values, list | tuple) else None


def _object(**members: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return None
        return {name: of(value[name]) for name, of in members.items() if name in value}

    return read


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else None


# The details of refusals that may be told, by their names. The others are left out: `newer` of `thread_advanced` has
# words of strangers, and comes between fences.
_DETAILS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        """threadId ifLastMessageId lastMessageId newerCount sent resource limit used resetsAt reason ruleId
        claimId status inboxId requiredScope isRetrySafe cooldownDaysRemaining cooldownUntil requestId sizeBytes version
        messageId truncated review""".split(),
        plain,
    ),
    "grantedScopes": _each(plain),
    "address": address,
    "email": address,
    "domainName": domain,
    "addresses": _each(address),
    "dropped": _each(_object(address=address, reason=plain)),
    "fields": _each(_object(path=_text, code=plain, message=_text)),  # of what the caller gave
}


def details(of: Mapping[str, Any] | None) -> dict[str, Any]:
    """What of a refusal's details may be told."""
    return {name: _DETAILS[name](value) for name, value in (of or {}).items() if name in _DETAILS}
