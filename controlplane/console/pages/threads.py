"""A conversation: its newest message whole, those before it in brief."""

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import evidence_or_none, inbox_or_none
from controlplane.console.pages.messages import shown_message

MESSAGES = 30


async def show(call: PageCall) -> Html:
    thread = await call.ask("getThread", call.id, limit=MESSAGES, before=call.query.get("before"))
    messages = thread["messages"]
    whole = None
    if messages:
        whole = await shown_message(call, messages[-1], await evidence_or_none(call, messages[-1]["id"]))
    return Html(
        "thread.html",
        {
            "thread": thread,
            "inbox": await inbox_or_none(call, thread["inboxId"]),
            "earlier": messages[:-1],
            "whole": whole,
            "before": messages[0]["id"] if thread["hasMore"] and messages else None,
        },
    )


async def archive(call: PageCall) -> SeeOther:
    is_archived = call.form.get("archived") == "1"
    await call.ask("updateThread", call.id, isArchived=is_archived)
    return SeeOther(f"/console/threads/{call.id}", "archived" if is_archived else "unarchived")


async def mark_read(call: PageCall) -> SeeOther:
    await call.ask("changeMessages", threadIds=[call.id], removeLabels=["unread"])
    return SeeOther(f"/console/threads/{call.id}", "read")
