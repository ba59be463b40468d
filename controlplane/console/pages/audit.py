"""Who did what, and what happened: the audit log and the event log, newest first."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from controlplane.console.faults import NoSuchPage
from controlplane.console.page import Html, PageCall
from controlplane.console.pages.found import names_of
from controlplane.console.rendering import moment
from controlplane.contract.accounts.audit import ActName
from controlplane.contract.fields import EventType

ROWS = 40
SEQ_DIGITS = 15
PART_CHARS = 1000
_ACTS: Sequence[str] = get_args(ActName)
_EVENTS: Sequence[str] = get_args(EventType)
# Where an id leads, by the field of an event's data that has it; the first that is there.
_PLACES = (
    ("reviewId", "reviews"),
    ("messageId", "messages"),
    ("draftId", "drafts"),
    ("threadId", "threads"),
    ("domainId", "domains"),
)


async def show_audit(call: PageCall) -> Html:
    kinds = _kinds(_ACTS)
    kind, actor = _chosen(call, kinds), call.query.get("actor", "").strip()[:100]
    rows = await call.ask(
        "browseAudit",
        before=call.query.get("cursor"),
        types=kinds.get(kind),
        actor=actor or None,
        limit=ROWS,
    )
    return Html(
        "audit.html",
        {
            "found": [{**one, "told": _told(one["details"])} for one in rows],
            "names": await names_of(call, tuple(one["actor"] for one in rows)),
            "kinds": kinds,
            "kind": kind,
            "actor": actor,
            "next_cursor": str(rows[-1]["seq"]) if len(rows) == ROWS else None,
        },
    )


async def show_events(call: PageCall) -> Html:
    kinds = _kinds(_EVENTS)
    kind = _chosen(call, kinds)
    rows = await call.ask("browseEvents", before=call.query.get("cursor"), types=kinds.get(kind), limit=ROWS)
    return Html(
        "events.html",
        {
            "found": [{**one, "path": _path(one["data"]), "told": _told(one["data"])} for one in rows],
            "kinds": kinds,
            "kind": kind,
            "next_cursor": rows[-1]["id"] if len(rows) == ROWS else None,
        },
    )


async def show_act(call: PageCall) -> Html:
    """One row of the audit log, whole."""
    asked = call.id if call.id.isascii() and call.id.isdigit() and len(call.id) <= SEQ_DIGITS else ""
    rows = await call.ask("browseAudit", before=str(int(asked) + 1), limit=1) if asked else []
    if not rows or str(rows[0]["seq"]) != asked:
        raise NoSuchPage("There is no such row in the audit log.")
    row = rows[0]
    actor = (await names_of(call, (row["actor"],))).get(row["actor"])
    facts = [
        ("No.", asked),
        ("By", f"{actor} ({row['actor']})" if actor else row["actor"]),
        ("To", row["subject"] or "–"),
        ("When", moment(row["at"])),
        ("Request", row["requestId"] or "–"),
    ]
    return _whole(call, "audit", row, facts, row["details"])


async def show_event(call: PageCall) -> Html:
    """One event, whole."""
    rows = await call.ask("browseEvents", at=call.id, limit=1)
    if not rows or rows[0]["id"] != call.id:
        raise NoSuchPage("There is no such event. They are kept for a month.")
    row = rows[0]
    return _whole(call, "events", row, [("Id", row["id"]), ("When", moment(row["createdAt"]))], row["data"])


def _whole(
    call: PageCall,
    here: str,
    entry: Mapping[str, Any],
    facts: list[tuple[str, str]],
    details: Mapping[str, Any],
) -> Html:
    parts = [
        {"name": name if not at else "", "value": value[at : at + PART_CHARS]}
        for name, value in _told(details)
        for at in range(0, len(value), PART_CHARS)
    ]
    path = f"/console/audit/{'acts' if here == 'audit' else 'events'}/{call.id}"
    shown = {"here": here, "entry": entry, "facts": facts, "parts": parts, "path": path}
    return Html("log_entry.html", {**shown, "place": call.place("details")})


def _kinds(types: Sequence[str]) -> Mapping[str, str]:
    """What stands before the dot → its types, as a query takes them."""
    kinds: dict[str, list[str]] = {}
    for one in types:
        kinds.setdefault(one.partition(".")[0], []).append(one)
    return {kind: ",".join(of_kind) for kind, of_kind in kinds.items()}


def _chosen(call: PageCall, kinds: Mapping[str, str]) -> str:
    asked = call.query.get("kind", "")
    return asked if asked in kinds else ""


def _told(details: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value, what is nested as JSON."""
    return [
        (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in details.items()
        if value not in (None, False, "", [], {})
    ]


def _path(data: Mapping[str, Any]) -> str | None:
    return next((f"/console/{page}/{data[name]}" for name, page in _PLACES if data.get(name)), None)
