"""Who did what, and what happened: the audit log and the event log, newest first."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from controlplane.console.page import Html, PageCall
from controlplane.console.pages.found import names_of
from controlplane.contract.audit import ActName
from controlplane.contract.fields import EventType

ROWS = 40
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
            "rows": [{**one, "told": _told(one["details"])} for one in rows],
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
            "rows": [{**one, "path": _path(one["data"]), "told": _told(one["data"])} for one in rows],
            "kinds": kinds,
            "kind": kind,
            "next_cursor": rows[-1]["id"] if len(rows) == ROWS else None,
        },
    )


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
