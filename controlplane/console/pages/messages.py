"""A message: its words with what evidence found in them, its files, and the story of its delivery.

HTML is shown in a frame of its own, without origin, scripts or anything from elsewhere; its links are told beside it.
"""

from collections.abc import Sequence
from typing import Any

from controlplane.console.mail_html import FrameDocument, MailLink, document_of
from controlplane.console.marking import TextMark, marked_text, marks_of_evidence, reading_of
from controlplane.console.page import Html, MailDocument, PageCall, SeeOther, TooLong
from controlplane.console.pages.found import evidence_or_none, inbox_or_none, items_of
from controlplane.operations.results import Download

LABELS_MAX = 50


async def shown_message(
    call: PageCall,
    message: dict[str, Any],
    evidence: dict[str, Any] | None,
    warned: Sequence[TextMark] = (),
) -> dict[str, Any]:
    """What templates show of a message with its bodies. `warned`: what looked wrong in its text besides."""
    is_long = "textBody" not in message
    message = {"textBody": None, "htmlBody": None, **message}
    reading = await reading_of(call, message["htmlBody"], items_of(evidence, "html"))
    links: list[MailLink] = []
    if message["htmlBody"] is not None:
        links = (await document(call, message["id"])).links
    return {
        "message": message,
        "is_long": is_long,
        "evidence": evidence,
        "text": marked_text(message["textBody"], [*warned, *marks_of_evidence(items_of(evidence, "text"))]),
        "subject": marked_text(message["subject"], marks_of_evidence(items_of(evidence, "subject"))),
        "reading": reading,
        "links": links,
    }


async def show(call: PageCall) -> Html:
    message = await call.ask("getMessage", call.id)
    attempts = await _attempts(call) if message["direction"] == "outbound" else []
    whole = await shown_message(call, message, await evidence_or_none(call, call.id))
    return Html(
        "message.html",
        {"whole": whole, "inbox": await inbox_or_none(call, message["inboxId"]), "attempts": attempts},
    )


async def _attempts(call: PageCall) -> list[dict[str, Any]] | None:
    """None: there are more than a page shows."""
    try:
        found: list[dict[str, Any]] = await call.ask("listAttempts", call.id)
    except TooLong:
        return None
    return found


async def change_labels(call: PageCall) -> SeeOther:
    """`add`: labels with blanks or commas between them; `remove`: one of those that are there."""
    added = call.form.get("add", "").replace(",", " ").split()
    removed = call.form.several.get("remove", [])
    if added or removed:
        await call.ask("labelMessage", call.id, addLabels=added, removeLabels=removed)
    return SeeOther(f"/console/messages/{call.id}", "labelled")


async def show_html(call: PageCall) -> MailDocument:
    return MailDocument((await document(call, call.id)).html)


async def document(call: PageCall, message_id: str) -> FrameDocument:
    """The message's HTML, cleaned, as a document for a frame."""
    message = await call.ask("getMessage", message_id, html="sanitized")
    html = message.get("htmlBody") or ""
    return await call.cpu.run(call.signed_in.principal.organization_id, lambda: document_of(html))


async def download(call: PageCall) -> Download:
    return await call.open("getRawMessage", call.id)


async def download_attachment(call: PageCall) -> Download:
    return await call.open("getAttachment", call.id)
