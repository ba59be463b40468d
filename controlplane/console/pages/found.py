"""What several pages ask for, where it may be gone."""

from collections.abc import Awaitable, Callable
from typing import Any

from controlplane.console.page import PageCall
from controlplane.contract.refusals import Refusal


async def with_messages(call: PageCall, reviews: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each review with its `message` as lists show it, None where it was deleted, and its `inbox`'s address."""
    made = []
    addresses: dict[str, str] = {}
    for review in reviews:
        inbox_id = review["inboxId"]
        if inbox_id not in addresses:
            inbox = await inbox_or_none(call, inbox_id)
            addresses[inbox_id] = inbox["address"] if inbox else inbox_id
        made.append(
            {
                **review,
                "message": await message_or_none(call, review["messageId"]),
                "inbox": addresses[inbox_id],
            }
        )
    return made


async def message_or_none(call: PageCall, message_id: str) -> dict[str, Any] | None:
    """The message, large bodies left out; None where it was deleted."""
    return await _unless(call.ask_brief, "getMessage", message_id, "message_not_found")


async def inbox_or_none(call: PageCall, inbox_id: str) -> dict[str, Any] | None:
    """The inbox; None where it is deactivated."""
    return await _unless(call.ask, "getInbox", inbox_id, "inbox_not_found")


async def inboxes_to_choose(call: PageCall, most: int) -> tuple[str, list[dict[str, Any]]]:
    """The id of the inbox that the form or the query names, empty unless there is one, and inboxes with it in front."""
    inboxes: list[dict[str, Any]] = await call.ask("listInboxes", limit=most)
    asked = call.form.get("inbox") or call.query.get("inbox", "")
    chosen = await inbox_or_none(call, asked) if asked.startswith("inb_") else None
    if chosen is None:
        return "", inboxes
    return chosen["id"], [chosen, *(one for one in inboxes if one["id"] != chosen["id"])]


async def evidence_or_none(call: PageCall, message_id: str) -> dict[str, Any] | None:
    """What was found in the message; None where there is none, as of mail of ours."""
    return await _unless(call.ask, "getEvidence", message_id, "message_not_found", "not_found")


async def _unless(
    ask: Callable[[str, str], Awaitable[Any]], operation: str, id: str, *gone: str
) -> dict[str, Any] | None:
    """What the operation answers; None where it refuses with one of these codes."""
    try:
        found: dict[str, Any] = await ask(operation, id)
    except Refusal as refusal:
        if refusal.code not in gone:
            raise
        return None
    return found


def items_of(evidence: dict[str, Any] | None, view: str) -> list[dict[str, Any]]:
    """What of the evidence is in that view."""
    return [one for one in evidence["items"] if one["view"] == view] if evidence else []


async def names_of(call: PageCall, ids: tuple[str | None, ...]) -> dict[str, str]:
    """Id of a key, a member or an inbox → its name or address, as far as there is one."""
    wanted = sorted({one for one in ids if one and one.startswith(("key_", "mem_", "inb_"))})
    if not wanted:
        return {}
    names: dict[str, str] = await call.ask("nameIds", ids=wanted)
    return names


def part_of(
    rows: list[dict[str, Any]], cursor: str | None, most: int
) -> tuple[list[dict[str, Any]], str | None]:
    """Of a list that comes whole: `most` rows behind that of the cursor's id, and the cursor of those behind them."""
    at = next((number for number, one in enumerate(rows, 1) if one["id"] == cursor), 0)
    shown = rows[at : at + most]
    return shown, shown[-1]["id"] if len(rows) > at + most else None
