"""A conversation: its newest message whole, those before it in brief."""

from collections.abc import Mapping
from typing import Any

from controlplane.console.faults import told_of
from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import evidence_or_none, inbox_or_none
from controlplane.console.pages.messages import shown_message
from controlplane.contract.refusals import Refusal
from controlplane.transport.statuses import status_of

MESSAGES = 30
BLANK: Mapping[str, Any] = {"text": "", "all": False, "quote": False, "fault": None, "details": ()}
# What is no matter of the words: a page of its own tells it.
_ELSEWHERE = ("insufficient_scope", "invalid_api_key", "thread_not_found")
_TEXTS = {
    "thread_advanced": "Nothing was sent: the conversation went on after this page was loaded. Read what came, above;"
    " your words are still here.",
}


async def show(call: PageCall) -> Html:
    return Html("thread.html", {**await _shown(call), "answer": BLANK})


async def reply(call: PageCall) -> Html | SeeOther:
    """Answer the newest message that came in, or write a draft that does (`draft`). Where that can't be, the page says
    why and has the words still: what somebody has typed is not lost because the conversation went on."""
    form = call.form
    try:
        made = await call.ask(
            "replyToThread",
            call.id,
            text=form.get("text", ""),
            replyAll="all" in form,
            quote="text" if "quote" in form else "none",
            ifLastMessageId=form.get("last", ""),
            asDraft="draft" in form,
        )
    except Refusal as refusal:
        if refusal.code in _ELSEWHERE:
            raise
        return await _refused(call, refusal)
    if "draft" in form:
        return SeeOther(f"/console/drafts/{made['id']}", "drafted")
    if made["status"] == "held":
        return SeeOther(f"/console/reviews/{made['review']['id']}", "held")
    return SeeOther(f"/console/threads/{call.id}", "sent")


async def _refused(call: PageCall, refusal: Refusal) -> Html:
    form, status = call.form, status_of(refusal)
    fault = told_of(refusal, status)
    answer = {
        "text": form.get("text", ""),
        "all": "all" in form,
        "quote": "quote" in form,
        "fault": _TEXTS.get(refusal.code, fault.text),
        "details": fault.details,
    }
    return Html("thread.html", {**await _shown(call), "answer": answer}, status)


async def _shown(call: PageCall) -> dict[str, Any]:
    thread = await call.ask("showThread", call.id)
    before = call.query.get("before")
    newest_first = await call.ask("listMessages", threadId=call.id, limit=MESSAGES, before=before)
    whole = None
    if newest_first and before is None:
        newest = await call.ask("getMessage", newest_first.pop(0)["id"])
        whole = await shown_message(call, newest, await evidence_or_none(call, newest["id"]))
    return {
        "thread": thread,
        "inbox": await inbox_or_none(call, thread["inboxId"]),
        "newest_first": newest_first,
        "whole": whole,
        "before": newest_first[-1]["id"] if len(newest_first) >= MESSAGES - 1 else None,
    }


async def archive(call: PageCall) -> SeeOther:
    is_archived = call.form.get("archived") == "1"
    await call.ask("updateThread", call.id, isArchived=is_archived)
    return SeeOther(f"/console/threads/{call.id}", "archived" if is_archived else "unarchived")


async def mark_read(call: PageCall) -> SeeOther:
    await call.ask("changeMessages", threadIds=[call.id], removeLabels=["unread"])
    return SeeOther(f"/console/threads/{call.id}", "read")
