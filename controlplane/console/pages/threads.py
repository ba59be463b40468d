"""A conversation: its newest message whole, those before it in brief."""

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import evidence_or_none, inbox_or_none
from controlplane.console.pages.messages import shown_message

MESSAGES = 30


async def show(call: PageCall) -> Html:
    thread = await call.ask("showThread", call.id)
    before = call.query.get("before")
    newest_first = await call.ask("listMessages", threadId=call.id, limit=MESSAGES, before=before)
    whole = None
    if newest_first and before is None:
        newest = await call.ask("getMessage", newest_first.pop(0)["id"])
        whole = await shown_message(call, newest, await evidence_or_none(call, newest["id"]))
    return Html(
        "thread.html",
        {
            "thread": thread,
            "inbox": await inbox_or_none(call, thread["inboxId"]),
            "newest_first": newest_first,
            "whole": whole,
            "before": newest_first[-1]["id"] if len(newest_first) >= MESSAGES - 1 else None,
        },
    )


async def reply(call: PageCall) -> SeeOther:
    """Answer the newest message that came in, or write a draft that does (`draft`)."""
    form = call.form
    made = await call.ask(
        "replyToThread",
        call.id,
        text=form.get("text", ""),
        replyAll="all" in form,
        quote="text" if "quote" in form else "none",
        ifLastMessageId=form.get("last", ""),
        asDraft="draft" in form,
    )
    if "draft" in form:
        return SeeOther(f"/console/drafts/{made['id']}", "drafted")
    if made["status"] == "held":
        return SeeOther(f"/console/reviews/{made['review']['id']}", "held")
    return SeeOther(f"/console/threads/{call.id}", "sent")


async def archive(call: PageCall) -> SeeOther:
    is_archived = call.form.get("archived") == "1"
    await call.ask("updateThread", call.id, isArchived=is_archived)
    return SeeOther(f"/console/threads/{call.id}", "archived" if is_archived else "unarchived")


async def mark_read(call: PageCall) -> SeeOther:
    await call.ask("changeMessages", threadIds=[call.id], removeLabels=["unread"])
    return SeeOther(f"/console/threads/{call.id}", "read")
