"""Inboxes, and the conversations in one."""

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
    shown = {
        "inbox": inbox,
        "q": words,
        "label": label,
        **flags,
        "public_url": call.public_url,
        "threads": None,
        "messages": None,
        "next_cursor": None,
    }
    if words:
        found = await call.ask(
            "listMessages",
            inboxId=call.id,
            q=words,
            labels=label or None,
            unread="true" if flags["unread"] else None,
            cursor=call.query.get("cursor"),
            limit=FOUND,
        )
        more = found[-1]["id"] if len(found) == FOUND else None
        return Html("inbox.html", {**shown, "messages": found, "next_cursor": more})
    found = await call.ask(
        "listThreads",
        inboxId=call.id,
        isArchived="true" if flags["archived"] else "false",
        unread="true" if flags["unread"] else None,
        labels=label or None,
        cursor=call.query.get("cursor"),
        limit=THREADS,
    )
    found = [{**one, "cursor": f"{one['id']}@{one['lastMessageAt']}"} for one in found]
    more = found[-1]["cursor"] if len(found) == THREADS else None
    return Html("inbox.html", {**shown, "threads": found, "next_cursor": more})
