"""Suppressions: addresses that are not sent to, and why; one of them found, added by hand, removed."""

from typing import Any, get_args
from urllib.parse import quote

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.contract.sending.suppressions import SuppressionReason
from maild.message.fields.address import suppression_keys

HERE = "/console/suppressions"
PAGE = 30
ADDRESS_CHARS = 320  # as many as the operation takes
_REASONS = get_args(SuppressionReason)


async def show_list(call: PageCall) -> Html:
    """All of them, newest first; or, where an address is looked for, those that keep mail from it."""
    asked = call.query.get("reason", "")
    reason = asked if asked in _REASONS else ""
    email = call.query.get("email", "").strip()[:ADDRESS_CHARS]
    if email:
        found, next_cursor = await _found(call, email, reason), None
    else:
        cursor = call.query.get("cursor")
        found = await call.ask("listSuppressions", reason=reason or None, limit=PAGE, cursor=cursor)
        next_cursor = found[-1]["id"] if len(found) == PAGE else None
    return Html(
        "suppressions.html",
        {
            "found": found,
            "next_cursor": next_cursor,
            "reason": reason,
            "reasons": _REASONS,
            "email": email,
            "email_max": ADDRESS_CHARS,
        },
    )


async def _found(call: PageCall, email: str, reason: str) -> list[dict[str, Any]]:
    """As a send looks them up: under the address, and under the same without its tag."""
    found: list[dict[str, Any]] = []
    for key in suppression_keys(email):
        found += await call.ask("listSuppressions", email=key, reason=reason or None)
    return found


async def add(call: PageCall) -> SeeOther:
    """On to its row, which is older, and may say another reason, where the address was suppressed already."""
    kept = await call.ask(
        "createSuppression",
        email=call.form.get("email", "").strip(),
        reason=call.form.get("reason", ""),
    )
    return SeeOther(f"{HERE}?email={quote(kept['email'], safe='')}", "suppressed")


async def delete(call: PageCall) -> SeeOther:
    await call.ask("deleteSuppression", call.id)
    return SeeOther(HERE, "suppression_removed")
