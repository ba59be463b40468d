"""Webhooks: where events are told, what became of each attempt, and trying one again.

A signing secret is shown as a key is: once, on a page that can't be loaded again.
"""

from typing import Any, get_args

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import part_of
from controlplane.contract.fields import DEFAULT_EVENTS, EventType

HERE = "/console/webhooks"
PAGE = 20
DELIVERIES = 20


async def show_list(call: PageCall) -> Html:
    webhooks = await call.ask("listWebhooks")
    shown, next_cursor = part_of(webhooks, call.query.get("cursor"), PAGE)
    deliveries = await call.ask("listDeliveries", limit=DELIVERIES, cursor=call.query.get("delivery"))
    return Html(
        "webhooks.html",
        {
            "webhooks": shown,
            "next_cursor": next_cursor,
            "deliveries": deliveries,
            "next_delivery": deliveries[-1]["id"] if len(deliveries) == DELIVERIES else None,
            "urls": {one["id"]: one["url"] for one in webhooks},
            "types": get_args(EventType),
            "ticked": call.form.several.get("events", []) if "url" in call.form else DEFAULT_EVENTS,
        },
    )


async def create(call: PageCall) -> SeeOther:
    made = await call.ask(
        "createWebhook",
        url=call.form.get("url", "").strip(),
        subscribedEvents=call.form.several.get("events", []),
    )
    return _shown_once(call, made)


async def rotate_secret(call: PageCall) -> SeeOther:
    made = await call.ask("rotateWebhookSecret", call.id)
    return _shown_once(call, made)


async def show_secret(call: PageCall) -> Html:
    return Html("webhook_secret.html", {"made": call.shown_once.take(_place(call, call.query.get("id", "")))})


async def switch(call: PageCall) -> SeeOther:
    """`active`: 1 or 0."""
    is_active = call.form.get("active") == "1"
    await call.ask("updateWebhook", call.id, isActive=is_active)
    return SeeOther(HERE, "webhook_on" if is_active else "webhook_off")


async def ping(call: PageCall) -> SeeOther:
    return _told(await call.ask("testWebhook", call.id))


async def delete(call: PageCall) -> SeeOther:
    await call.ask("deleteWebhook", call.id)
    return SeeOther(HERE, "webhook_deleted")


async def redeliver(call: PageCall) -> SeeOther:
    return _told(await call.ask("redeliver", call.id))


def _told(attempt: dict[str, bool]) -> SeeOther:
    return SeeOther(HERE, "delivered" if attempt["isSuccessful"] else "not_delivered")


def _shown_once(call: PageCall, made: dict[str, Any]) -> SeeOther:
    return SeeOther(f"{HERE}/secret?id={made['id']}", shown_once=(_place(call, made["id"]), made))


def _place(call: PageCall, webhook_id: str) -> str:
    return f"{call.signed_in.session.id} {webhook_id}"
