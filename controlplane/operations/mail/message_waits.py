"""Waiting for a message: the first that comes in behind a position and is as asked for."""

from collections.abc import AsyncIterator
from functools import partial
from typing import NamedTuple

import msgspec

from controlplane.contract import rendering
from controlplane.contract.mail.messages import WaitMessage
from controlplane.mail.arrivals import Arrivals, WantedMail, position_now
from controlplane.operations.mail.shown_messages import Whole, member_pieces, read_bodies
from controlplane.operations.operation import Call
from controlplane.operations.reach import require_reach
from controlplane.operations.results import JsonPieces, Result
from maild.message.sign_in.codes import find_code
from storage.agents import code_claims
from storage.engine.tx import Tx
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_scope import Scope
from storage.shown import message_json


class Looked(NamedTuple):
    """One step of a look."""

    found: Whole | None
    is_end: bool


async def wait_for_message(call: Call) -> Result | JsonPieces:
    query: WaitMessage = call.input
    await call.read(require_reach, call, {"inbox": query.inboxId, "thread": query.threadId})
    wanted, now_ms = _wanted(call), call.services.clock.now_ms()
    if query.after is None and not query.timeoutSeconds:
        return _over(await call.read(position_now, wanted.scope, now_ms))
    arrivals = Arrivals(wanted, query.after, now_ms)

    async def ask() -> Whole | None:
        while True:
            looked = await call.read(_step, call, arrivals)
            if looked.found is None:
                if looked.is_end:
                    return None
            elif query.hasCode is None or await _has_code(call, arrivals.cursor) is query.hasCode:
                return looked.found

    found = await call.first(ask, query.timeoutSeconds, call.principal.listed_inbox(query.inboxId))
    if found is None:
        return _over(arrivals.cursor)
    return await _shown(call, found, arrivals.cursor)


def _over(cursor: str) -> Result:
    return Result({"message": None, "timedOut": True, "cursor": cursor})


def _wanted(call: Call) -> WantedMail:
    query: WaitMessage = call.input
    scope = Scope(
        call.organization_id, call.principal.listed_inbox(query.inboxId), query.threadId, direction="inbound"
    )
    is_verified = query.fromDomain is not None if query.verified is None else query.verified
    needle = Needle.of(query.q, query.from_) or IN_EVERYTHING
    return WantedMail(scope, needle, query.fromDomain, is_verified, query.subject or None)


def _step(tx: Tx, call: Call, arrivals: Arrivals) -> Looked:
    """Look on; a key that was revoked meanwhile is refused. What is deleted in this very moment is passed over."""
    call.principal.ask(tx)
    message_id, is_end = arrivals.step(tx, call.services.clock.now_ms())
    if message_id is None:
        return Looked(None, is_end)
    shown = message_json.get(tx, call.organization_id, message_id, call.services.kept_json)
    return Looked(Whole.of(tx, shown) if shown is not None else None, False)


async def _has_code(call: Call, message_id: str) -> bool:
    mail = await call.read(code_claims.mail, call.organization_id, message_id)
    if mail is None:
        return False
    return (
        await call.services.cpu.run(call.organization_id, partial(find_code, mail.subject, mail.words))
        is not None
    )


async def _shown(call: Call, whole: Whole, cursor: str) -> Result | JsonPieces:
    bodies = await read_bodies(call, whole)
    if bodies.are_held:
        message = rendering.message(whole.shown.json, bodies.text.text, bodies.html.text)
        return Result({"message": message, "timedOut": False, "cursor": cursor})
    members = {"textBody": bodies.text, "htmlBody": bodies.html}
    brief = {"message": msgspec.Raw(whole.shown.json), "timedOut": False, "cursor": cursor}
    return JsonPieces(_pieces(cursor, member_pieces(call, whole, members)), brief=brief)


async def _pieces(cursor: str, message: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield b'{"cursor":' + msgspec.json.encode(cursor) + b',"timedOut":false,"message":'
    async for piece in message:
        yield piece
    yield b"}"
