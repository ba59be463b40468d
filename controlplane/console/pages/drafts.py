"""A draft in a person's hands: words, recipients, sending it.

What is too long for a field is shown, in parts, and kept as it is: a form has no field for it.
"""

from typing import Any

from controlplane.console.budget import octets_of
from controlplane.console.forms import addresses_in
from controlplane.console.marking import marked_text
from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import inbox_or_none

TEXT_BYTES = 24_000  # that a field holds
PEOPLE_BYTES = 6_000
_KINDS = ("to", "cc", "bcc")


async def show(call: PageCall) -> Html:
    draft = await call.ask("getDraft", call.id)
    people = {kind: draft[f"{kind}Addresses"] for kind in _KINDS}
    long = [kind for kind in _KINDS if octets_of(", ".join(people[kind])) > PEOPLE_BYTES]
    is_long = octets_of(draft["textBody"] or "") > TEXT_BYTES
    return Html(
        "draft.html",
        {
            "draft": draft,
            "inbox": await inbox_or_none(call, draft["inboxId"]),
            "people": people,
            "long": long,
            "text": marked_text(draft["textBody"], (), call.place("words")) if is_long else None,
            "places": {kind: call.place(kind) for kind in _KINDS},
        },
    )


async def save(call: PageCall) -> SeeOther:
    """Keep what the form says, unless the draft was changed since the form was shown; `send`: and send that."""
    form = call.form
    given: dict[str, Any] = {kind: addresses_in(form[kind]) for kind in _KINDS if kind in form}
    given |= {name: form[name] for name in ("subject", "text", "updatedAt") if name in form}
    saved = await call.ask("saveDraft", call.id, **given)
    if "send" not in form:
        return SeeOther(f"/console/drafts/{call.id}", "saved")
    sent = await call.ask("sendSavedDraft", call.id, updatedAt=saved["updatedAt"])
    if sent["status"] == "held":
        return SeeOther(f"/console/reviews/{sent['review']['id']}", "held")
    return SeeOther(f"/console/messages/{sent['id']}", "sent")


async def discard(call: PageCall) -> SeeOther:
    """Unless the draft was changed since the form was shown: nobody has seen what would go."""
    draft = await call.ask("discardSeenDraft", call.id, updatedAt=call.form.get("updatedAt", ""))
    return SeeOther(f"/console/inboxes/{draft['inboxId']}", "discarded")
