"""A message: its words with what evidence found in them, its files, and the story of its delivery.

HTML is shown in a frame of its own, without origin, scripts or anything from elsewhere; its links are told beside it.
What does not fit on the page is on the next: the query says where each thing is to begin (PLACES).
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from controlplane.console.budget import octets_of
from controlplane.console.mail_html import document_of, part_of_html
from controlplane.console.marking import TextMark, marked_text, marks_of_evidence, reading_of
from controlplane.console.page import Html, MailDocument, PageCall, SeeOther, TooLong
from controlplane.console.pages.found import evidence_or_none, inbox_or_none, items_of
from controlplane.operations.results import Download
from controlplane.sending.writing.sanitize import Sanitizer

ATTEMPTS = 20
DIALOGUE_BYTES = 3000  # of an attempt, in a list of them
# What may begin further on: `words` and `html` by their characters, all else by number.
PLACES = (
    "words",
    "html",
    "evidence",
    "links",
    "files",
    "people",
    "labels",
    "recipients",
    "attempts",
    "lines",
)
NOWHERE = dict.fromkeys(PLACES, 0)
_KINDS = (
    ("to", "toAddresses"),
    ("cc", "ccAddresses"),
    ("bcc", "bccAddresses"),
    ("reply-to", "replyToAddresses"),
)


async def shown_message(
    call: PageCall,
    message: dict[str, Any],
    evidence: dict[str, Any] | None,
    warned: Sequence[TextMark] = (),
    places: Mapping[str, int] = NOWHERE,
) -> dict[str, Any]:
    """What templates show of a message with its bodies. `warned`: what looked wrong in its text besides. `places`:
    where each thing begins."""
    is_long = "textBody" not in message
    message = {"textBody": None, "htmlBody": None, **message}
    html = message["htmlBody"]
    marks = [*warned, *marks_of_evidence(items_of(evidence, "text"))]
    return {
        "message": message,
        "is_long": is_long,
        "evidence": evidence,
        "text": marked_text(message["textBody"], marks, places["words"]),
        "subject": marked_text(message["subject"], marks_of_evidence(items_of(evidence, "subject"))),
        "reading": await reading_of(call, html, items_of(evidence, "html"), places["html"]),
        "next_html": part_of_html(html or "", places["html"])[1],
        "places": places,
    }


async def show(call: PageCall) -> Html:
    message = await call.ask("getMessage", call.id)
    attempts = await _attempts(call) if message["direction"] == "outbound" else []
    places = {name: call.place(name) for name in PLACES}
    if "attempts" not in call.query:
        places["attempts"] = max(0, len(attempts or ()) - ATTEMPTS)
    whole = await shown_message(call, message, await evidence_or_none(call, call.id), places=places)
    return Html(
        "message.html",
        {
            "whole": whole,
            "inbox": await inbox_or_none(call, message["inboxId"]),
            "everybody": people_of(message),
            "attempts": attempts,
            "attempt": call.place("attempt") if "attempt" in call.query else None,
        },
    )


def people_of(message: dict[str, Any], first: Container[str] = ()) -> list[dict[str, Any]]:
    """All whom the message names: as what, the address, and is it in `first`; those come first of each kind."""
    found = [
        {"kind": kind, "address": address, "is_first": address in first}
        for kind, name in _KINDS
        for address in message.get(name) or ()
    ]
    order = [kind for kind, _ in _KINDS]
    return sorted(found, key=lambda one: (order.index(one["kind"]), not one["is_first"]))


async def _attempts(call: PageCall) -> list[dict[str, Any]] | None:
    """None: there are more than a page shows."""
    try:
        found: list[dict[str, Any]] = await call.ask("listAttempts", call.id)
    except TooLong:
        return None
    return [{**one, "number": number, **_dialogue(one)} for number, one in enumerate(found)]


def _dialogue(attempt: dict[str, Any]) -> dict[str, Any]:
    """`lines`: what was said, by every host; `brief`: how many of them stand in a list of attempts."""
    evidence = attempt.get("evidence") or {}
    lines: list[str] = []
    for host in evidence.get("hosts") or ():
        lines += [f"{host['host']} [{host['address']}]:{host['port']}", *host["dialogue"]]
    left = DIALOGUE_BYTES
    for brief, line in enumerate(lines):
        left -= octets_of(line)
        if left < 0:
            return {"lines": lines, "brief": brief}
    return {"lines": lines, "brief": len(lines)}


async def change_labels(call: PageCall) -> SeeOther:
    """`add`: labels with blanks or commas between them; `remove`: one of those that are there."""
    added = call.form.get("add", "").replace(",", " ").split()
    removed = call.form.several.get("remove", [])
    if added or removed:
        await call.ask("labelMessage", call.id, addLabels=added, removeLabels=removed)
    return SeeOther(f"/console/messages/{call.id}", "labelled")


async def show_html(call: PageCall) -> MailDocument:
    """The part of its HTML that begins where the query says, cleaned, as a document for a frame."""
    message = await call.ask("getMessage", call.id)
    part, _ = part_of_html(message.get("htmlBody") or "", call.place("html"))
    owner = call.signed_in.principal.organization_id
    return MailDocument(await call.cpu.run(owner, lambda: document_of(Sanitizer().clean_any(part))))


async def download(call: PageCall) -> Download:
    return await call.open("getRawMessage", call.id)


async def download_attachment(call: PageCall) -> Download:
    return await call.open("getAttachment", call.id)
