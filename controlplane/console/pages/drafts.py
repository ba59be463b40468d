"""A draft in a person's hands: words, recipients, sending it."""

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import inbox_or_none


async def show(call: PageCall) -> Html:
    draft = await call.ask("getDraft", call.id)
    return Html("draft.html", {"draft": draft, "inbox": await inbox_or_none(call, draft["inboxId"])})


async def save(call: PageCall) -> SeeOther:
    """Keep what the form says; `send`: and send it."""
    form = call.form
    await call.ask(
        "updateDraft",
        call.id,
        to=_addresses(form.get("to", "")),
        cc=_addresses(form.get("cc", "")),
        bcc=_addresses(form.get("bcc", "")),
        subject=form.get("subject", ""),
        text=form.get("text", ""),
    )
    if "send" not in form:
        return SeeOther(f"/console/drafts/{call.id}", "saved")
    sent = await call.ask("sendDraft", call.id)
    if sent["status"] == "held":
        return SeeOther(f"/console/reviews/{sent['review']['id']}", "held")
    return SeeOther(f"/console/messages/{sent['id']}", "sent")


async def discard(call: PageCall) -> SeeOther:
    draft = await call.ask("discardDraft", call.id)
    return SeeOther(f"/console/inboxes/{draft['inboxId']}", "discarded")


def _addresses(typed: str) -> list[str]:
    return [one for one in typed.replace(",", " ").replace(";", " ").split() if one]
