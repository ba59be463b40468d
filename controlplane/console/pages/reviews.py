"""Held mail: what is to be decided, and deciding about it.

An approval quotes the hash of what the page showed, so what changed since is not approved. A message is not edited by
who decides about it: "edit" makes a draft of the member's own, and turns the held one down as replaced.
"""

from typing import Any

from controlplane.console.marking import marks_of_warnings
from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import (
    evidence_or_none,
    inbox_or_none,
    names_of,
    with_messages,
)
from controlplane.console.pages.messages import people_of, shown_message
from controlplane.contract.refusals import Refusal

PAGE = 20
CONVERSATION = 12
PLACES = ("to", "cc", "bcc", "warnings")  # that may begin further on
STATUSES = ("pending", "approved", "rejected", "expired", "withdrawn")


async def show_list(call: PageCall) -> Html:
    asked = call.query.get("status", "pending")
    status = asked if asked in STATUSES else "pending"
    reviews = await call.ask("listReviews", status=status, limit=PAGE, cursor=call.query.get("cursor"))
    return Html(
        "reviews.html",
        {
            "reviews": await with_messages(call, reviews),
            "status": status,
            "statuses": STATUSES,
            "next_cursor": reviews[-1]["id"] if len(reviews) == PAGE else None,
            "public_url": call.public_url,
        },
    )


async def show(call: PageCall) -> Html:
    review = await call.ask("getReview", call.id)
    message = review["message"]
    first = set(await call.ask("listFirstContacts", call.id))
    shown = {
        "review": review,
        "names": await names_of(call, (review["submittedBy"], review["resolvedBy"])),
        "inbox": await inbox_or_none(call, review["inboxId"]),
        "whole": None,
        "message": message,
        "recipients": [],
        "places": {name: call.place(name) for name in PLACES},
        "conversation": [],
    }
    if message is None:
        return Html("review.html", shown)
    evidence = await evidence_or_none(call, message["id"])
    warned = marks_of_warnings(review["warnings"])
    return Html(
        "review.html",
        {
            **shown,
            "whole": await shown_message(call, message, evidence, warned),
            "conversation": await _conversation(call, message),
            "recipients": [one for one in people_of(message, first) if one["kind"] != "reply-to"],
        },
    )


async def approve(call: PageCall) -> SeeOther:
    here = f"/console/reviews/{call.id}"
    try:
        await call.ask(
            "approveReview",
            call.id,
            contentHash=call.form.get("contentHash", ""),
            note=call.form.get("note") or None,
            force="force" in call.form,
        )
    except Refusal as refusal:
        if refusal.code == "review_resolved":
            return SeeOther(here, "resolved")
        raise
    return SeeOther(here, "approved")


async def reject(call: PageCall) -> SeeOther:
    here = f"/console/reviews/{call.id}"
    try:
        await call.ask("rejectReview", call.id, note=call.form.get("note") or None)
    except Refusal as refusal:
        if refusal.code == "review_resolved":
            return SeeOther(here, "resolved")
        raise
    return SeeOther(here, "rejected")


async def edit(call: PageCall) -> SeeOther:
    """A draft first, which the member can throw away; then the held one goes."""
    review = await call.ask("getReview", call.id)
    message = review["message"]
    if message is None or review["direction"] != "outbound" or review["status"] != "pending":
        return SeeOther(f"/console/reviews/{call.id}", "resolved")
    draft = await call.ask(
        "createDraft",
        inboxId=message["inboxId"],
        to=message["toAddresses"],
        cc=message["ccAddresses"],
        bcc=message["bccAddresses"],
        subject=message["subject"],
        text=message.get("textBody"),
        inReplyTo=await _answered(call, message),
    )
    try:
        await call.ask("rejectReview", call.id, note=f"replaced by the draft {draft['id']}")
    except Refusal:
        await call.ask("discardDraft", draft["id"])
        raise
    return SeeOther(f"/console/drafts/{draft['id']}", "editing")


async def _answered(call: PageCall, message: dict[str, Any]) -> str | None:
    """The conversation that the draft goes on with: the thread, where there is more in it than the message."""
    return message["threadId"] if await _conversation(call, message) else None


async def _conversation(call: PageCall, message: dict[str, Any]) -> list[dict[str, Any]]:
    """The other messages of its thread, newest first; what came in and is held is in none."""
    if not message["threadId"]:
        return []
    newest = await call.ask("listMessages", threadId=message["threadId"], limit=CONVERSATION)
    return [one for one in newest if one["id"] != message["id"]]
