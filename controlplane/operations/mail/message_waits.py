"""Waiting for a message: the first that comes in behind a position and is as asked for."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from controlplane.contract import rendering
from controlplane.contract.mail.messages import WaitMessage
from controlplane.mail import code_mail
from controlplane.mail.arrivals import Arrivals, FewArrivals, WantedMail, position_now
from controlplane.operations.mail.shown_messages import Whole, member_pieces, read_bodies
from controlplane.operations.operation import Call
from controlplane.operations.reach import require_reach
from controlplane.operations.results import JsonPieces, Result
from maild.message.sign_in.codes import find_code
from storage.agents import code_claims
from storage.agents.code_claims import CodeMail
from storage.engine.tx import Tx
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_scope import Scope
from storage.shown import message_json


class FoundArrival(NamedTuple):
    """What was waited for. `cursor`: where a look goes on behind it."""

    whole: Whole
    cursor: str


class Looked(NamedTuple):
    """One step of a look."""

    found: Whole | None
    is_end: bool


async def wait_for_message(call: Call) -> Result | JsonPieces:
    query: WaitMessage = call.input
    inbox_id = await call.read(require_reach, call, {"inbox": query.inboxId, "thread": query.threadId})
    wanted, now_ms = _wanted(call), call.services.clock.now_ms()
    if query.after is None and not query.timeoutSeconds:
        return _over(await call.read(position_now, wanted.scope, now_ms))
    arrivals = Arrivals(wanted, query.after, now_ms)

    look = partial(_first if query.hasCode is None else _first_by_code, call, arrivals)
    found = await call.first(look, query.timeoutSeconds, call.principal.listed_inbox(inbox_id))
    if found is None:
        return _over(arrivals.cursor)
    return await _shown(call, found)


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


async def _first(call: Call, arrivals: Arrivals) -> FoundArrival | None:
    while True:
        looked = await call.read(_step, call, arrivals)
        if looked.found is not None:
            return FoundArrival(looked.found, arrivals.cursor)
        if looked.is_end:
            return None


async def _first_by_code(call: Call, arrivals: Arrivals) -> FoundArrival | None:
    """Many mails may have to be looked into: those of a read together."""
    while True:
        looked = await call.read(_few, call, arrivals)
        if looked.is_end:
            return None
        for piece in code_mail.pieces(looked.sizes):
            mails = await call.read(code_claims.mails, call.organization_id, piece)
            work = partial(_fitting, mails, call.input.hasCode)
            for message_id in await call.services.cpu.run(call.organization_id, work):
                found = await call.read(_whole, call, message_id)
                if found is not None:
                    return FoundArrival(found, message_id)


def _few(tx: Tx, call: Call, arrivals: Arrivals) -> FewArrivals:
    """As `_step`, of several."""
    call.principal.ask(tx)
    return arrivals.few(tx, call.services.clock.now_ms())


def _fitting(mails: Sequence[CodeMail], has_code: bool) -> list[str]:
    return [one.message_id for one in mails if (find_code(one.subject, one.words) is not None) is has_code]


def _step(tx: Tx, call: Call, arrivals: Arrivals) -> Looked:
    """Look on; a key that was revoked meanwhile is refused. What is deleted in this very moment is passed over."""
    call.principal.ask(tx)
    message_id, is_end = arrivals.step(tx, call.services.clock.now_ms())
    if message_id is None:
        return Looked(None, is_end)
    return Looked(_whole(tx, call, message_id), False)


def _whole(tx: Tx, call: Call, message_id: str) -> Whole | None:
    shown = message_json.get(tx, call.organization_id, message_id, call.services.kept_json)
    return Whole.of(tx, shown) if shown is not None else None


async def _shown(call: Call, found: FoundArrival) -> Result | JsonPieces:
    whole, cursor = found
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
