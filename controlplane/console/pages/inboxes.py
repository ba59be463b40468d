"""Inboxes, and the conversations in one."""

from collections.abc import Mapping
from typing import Any

from controlplane.console.page import Html, PageCall, SeeOther

PAGE = 50
THREADS = 40
FOUND = 40
# What a search can be narrowed to, as the query names it.
_FLAGS = ("unread", "archived")


async def show_list(call: PageCall) -> Html:
    found = await call.ask("listInboxes", limit=PAGE, cursor=call.query.get("cursor"))
    return Html(
        "inboxes.html",
        {
            "inboxes": found,
            "next_cursor": found[-1]["id"] if len(found) == PAGE else None,
            "public_url": call.public_url,
        },
    )


async def create(call: PageCall) -> SeeOther:
    made = await call.ask(
        "createInbox",
        username=call.form.get("username", "").strip(),
        name=call.form.get("name", "").strip() or None,
        domain=call.form.get("domain", "").strip() or None,
    )
    return SeeOther(f"/console/inboxes/{made['id']}", "inbox_made")


async def show(call: PageCall) -> Html:
    """Its threads, latest first; or, where words are looked for, the messages that have them."""
    inbox = await call.ask("getInbox", call.id)
    words = call.query.get("q", "").strip()[:200]
    label = call.query.get("label", "").strip()
    flags = {name: call.query.get(name) == "1" for name in _FLAGS}
    asked = {
        "labels": label or None,
        "unread": "true" if flags["unread"] else None,
        "cursor": call.query.get("cursor"),
    }
    threads, messages, next_cursor = None, None, None
    if words:
        messages, next_cursor = await _messages(call, words, asked)
    else:
        threads, next_cursor = await _threads(call, flags["archived"], asked)
    shown = {
        "inbox": inbox,
        "q": words,
        "label": label,
        **flags,
        "public_url": call.public_url,
        "threads": threads,
        "messages": messages,
        "next_cursor": next_cursor,
    }
    return Html("inbox.html", shown)


async def _messages(call: PageCall, words: str, asked: Mapping[str, str | None]) -> tuple[Any, str | None]:
    """Those that have the words, and where there are more."""
    found = await call.ask("listMessages", inboxId=call.id, q=words, **asked, limit=FOUND)
    return found, found[-1]["id"] if len(found) == FOUND else None


async def _threads(
    call: PageCall, is_archived: bool, asked: Mapping[str, str | None]
) -> tuple[Any, str | None]:
    """The threads of the inbox, and where there are more."""
    archived = "true" if is_archived else "false"
    found = await call.ask("listThreads", inboxId=call.id, isArchived=archived, **asked, limit=THREADS)
    found = [{**one, "cursor": f"{one['id']}@{one['lastMessageAt']}"} for one in found]
    return found, found[-1]["cursor"] if len(found) == THREADS else None
