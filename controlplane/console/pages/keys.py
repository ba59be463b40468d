"""API keys: minting one, which is shown once, who minted which, revoking.

The key itself is in no address and on no page that can be loaded again: between the form, which may be pressed again
(`presses.py`), and the page that shows it, it is in memory, for the session that minted it alone.
"""

from typing import Any

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import inboxes_to_choose, names_of
from controlplane.contract.scopes import BOUND_BY_NAME, MAIL_SCOPES, SCOPES

PAGE = 100
INBOXES = 100


async def show_list(call: PageCall) -> Html:
    keys = await call.ask("listKeys", limit=PAGE, cursor=call.query.get("cursor"))
    chosen, inboxes = await inboxes_to_choose(call, INBOXES)
    return Html(
        "keys.html",
        {
            "keys": keys,
            "children": _children(keys),
            "names": await names_of(call, tuple(one["mintedBy"] for one in keys)),
            "addresses": await names_of(call, tuple(one["inboxId"] for one in keys)),
            "inboxes": inboxes,
            "inboxes_max": INBOXES,
            "chosen": chosen,
            "scopes": SCOPES,
            "bound_scopes": (*MAIL_SCOPES, *BOUND_BY_NAME),
            "next_cursor": keys[-1]["id"] if len(keys) == PAGE else None,
        },
    )


async def mint(call: PageCall) -> SeeOther:
    """`scopes`: none is all that may be asked for."""
    made = await call.ask(
        "createKey",
        name=call.form.get("name", "").strip(),
        scopes=call.form.several.get("scopes") or None,
        inboxId=call.form.get("inbox") or None,
        mode=call.form.get("mode") or None,
    )
    return SeeOther(f"/console/keys/minted?id={made['id']}", shown_once=(_place(call, made["id"]), made))


async def show_minted(call: PageCall) -> Html:
    return Html(
        "minted.html",
        {
            "minted": call.shown_once.take(_place(call, call.query.get("id", ""))),
            "public_url": call.public_url,
        },
    )


async def revoke(call: PageCall) -> SeeOther:
    await call.ask("revokeKey", call.id)
    return SeeOther("/console/keys", "revoked")


async def revoke_with_mail(call: PageCall) -> SeeOther:
    await call.ask("revokeKeyWithMail", call.id)
    return SeeOther("/console/keys", "revoked_with_mail")


def _children(keys: list[dict[str, Any]]) -> dict[str, int]:
    """How many of these keys each of them minted."""
    made: dict[str, int] = {}
    for one in keys:
        if one["mintedBy"]:
            made[one["mintedBy"]] = made.get(one["mintedBy"], 0) + 1
    return made


def _place(call: PageCall, key_id: str) -> str:
    return f"{call.signed_in.session.id} {key_id}"
