"""Claims: taking mail to work on it, and saying what became of it."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from controlplane.contract import rendering
from controlplane.contract.refusals import Refusal
from controlplane.contract.work.claims import (
    ClaimMessages,
    ExtendClaim,
    FinishClaim,
    ListClaims,
    ReleaseClaim,
)
from controlplane.mail import labelling
from controlplane.mail.bodies import Bodies
from controlplane.operations.mail.shown_messages import Whole, member_pieces, read_bodies, shown_message
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonPieces, Result
from controlplane.operations.retries import small_retry_of
from controlplane.sending.submission import Retry, recalled
from storage.agents import claims, policies, work
from storage.agents.claims import EXPIRED_AT_ONCE, LIVE_MAX, Claimant
from storage.clock import iso
from storage.engine.tx import Tx
from storage.mail import inboxes, messages
from storage.records import ClaimRow, dump, load
from storage.searching.labels import UNREAD
from storage.shown import message_json

ENDPOINT = "POST /v1/inboxes/{id}/claims"


class TakenClaims(NamedTuple):
    """`ids`: of claims, the oldest message first. `is_replay`: an earlier request took them."""

    ids: list[str]
    is_replay: bool


async def claim_messages(call: Call) -> Result | JsonPieces:
    request: ClaimMessages = call.input
    retry = small_retry_of(call, ENDPOINT, about=call.id)
    taken = await call.db.lookup(_taken_before, call, retry)
    if taken is None:
        await call.db.lookup(_check_inbox, call, call.id)
        taken = await call.first(partial(_ask, call, retry), request.waitSeconds, call.id)
    if taken is None:
        return Result([])
    return await _shown(call, taken)


async def extend_claim(call: Call) -> Result:
    return Result(await call.db.write(_extend, call, call.input))


async def release_claim(call: Call) -> Result:
    return Result(await call.db.write(_release, call, call.input))


async def finish_claim(call: Call) -> Result:
    return Result(await call.db.write(_finish, call, call.input))


async def list_claims(call: Call) -> Result:
    query: ListClaims = call.input
    now_ms = call.services.clock.now_ms()
    rows = await call.read(
        claims.list_claims,
        call.organization_id,
        now_ms,
        limit=query.limit,
        inbox_id=call.principal.listed_inbox(query.inboxId),
        status=query.status,
        before=query.cursor,
    )
    return Result([_shown_claim(row, now_ms) for row in rows])


async def requeue_message(call: Call) -> Result | JsonPieces:
    whole = await call.db.write(_requeue, call)
    if not call.principal.reads_mail:
        return Result(rendering.wordless(whole.shown.json))
    return await shown_message(call, whole)


# Taking ------------------------------------------------------------------------------------------


async def _ask(call: Call, retry: Retry | None) -> TakenClaims | None:
    """Of many who hear of one message all but one read an index, and write nothing."""
    if not await call.db.lookup(_is_offered, call):
        return None
    return await call.db.write(_take, call, retry)


def _is_offered(tx: Tx, call: Call) -> bool:
    """May there be something? A lease that is over may free it."""
    over_at = claims.next_lease_ends_at(tx)
    is_over = over_at is not None and over_at <= call.services.clock.now_ms()
    return is_over or work.is_ready(tx, call.id, call.principal.mode)


def _take(tx: Tx, call: Call, retry: Retry | None) -> TakenClaims | None:
    before = _taken_before(tx, call, retry)
    if before is not None:
        return before
    _check_inbox(tx, call, call.id)
    request, principal, services = call.input, call.principal, call.services
    now_ms = services.clock.now_ms()
    claims.expire(tx, services.ids.new, now_ms, EXPIRED_AT_ONCE)
    room = claims.room(tx, call.organization_id, now_ms)
    if room <= 0:
        text = "Too many claims of this organization live; finish or release some first."
        details = {"resource": "claims", "limit": LIVE_MAX, "used": LIVE_MAX, "resetsAt": None}
        raise Refusal("limit_reached", text, details)
    until_ms = now_ms + request.leaseSeconds * 1000
    claimant = Claimant(
        call.organization_id, call.id, principal.key_id, principal.mode, request.holder, until_ms
    )
    made = claims.take(tx, claimant, min(request.max, room), services.ids.new, now_ms)
    if not made:
        return None
    ids = [one.id for one in made]
    if retry is not None:
        retry.keep(tx, call.organization_id, dump(ids).encode(), None, now_ms)
    return TakenClaims(ids, is_replay=False)


def _taken_before(tx: Tx, call: Call, retry: Retry | None) -> TakenClaims | None:
    made = recalled(tx, call.organization_id, retry)
    return None if made is None else TakenClaims(load(made.message.decode()), is_replay=True)


def _check_inbox(tx: Tx, call: Call, inbox_id: str) -> None:
    if inboxes.get_active(tx, call.organization_id, inbox_id) is None:
        raise Refusal("inbox_not_found")
    if not policies.effective(tx, call.organization_id, inbox_id).work.is_enabled:
        raise Refusal("work_not_enabled", details={"inboxId": inbox_id})


# Showing -----------------------------------------------------------------------------------------


class ShownClaim(NamedTuple):
    """A claim as the API shows it, and its message; None where that was deleted since."""

    claim: dict[str, Any]
    whole: Whole | None


async def _shown(call: Call, taken: TakenClaims) -> Result | JsonPieces:
    found = await call.read(_wholes, call, taken.ids)
    bodies = [await read_bodies(call, one.whole) if one.whole is not None else None for one in found]
    if all(one is None or one.are_held for one in bodies):
        elements = [{**one.claim, "message": _message(one, body)} for one, body in _pairs(found, bodies)]
        return Result(elements, is_replay=taken.is_replay)
    brief = [
        {**one.claim, "message": None if one.whole is None else msgspec.Raw(one.whole.shown.json)}
        for one in found
    ]
    return JsonPieces(_pieces(call, found, bodies), is_replay=taken.is_replay, brief=brief)


def _pairs(
    found: Sequence[ShownClaim], bodies: Sequence[Bodies | None]
) -> "zip[tuple[ShownClaim, Bodies | None]]":
    return zip(found, bodies, strict=True)


def _message(shown: ShownClaim, bodies: Bodies | None) -> msgspec.Raw | None:
    if shown.whole is None or bodies is None:
        return None
    return rendering.message(shown.whole.shown.json, bodies.text.text, bodies.html.text)


async def _pieces(
    call: Call, found: Sequence[ShownClaim], bodies: Sequence[Bodies | None]
) -> AsyncIterator[bytes]:
    separator = b"["
    for one, body in _pairs(found, bodies):
        yield separator + msgspec.json.encode(one.claim)[:-1] + b',"message":'
        if one.whole is None or body is None:
            yield b"null"
        else:
            async for piece in member_pieces(call, one.whole, {"textBody": body.text, "htmlBody": body.html}):
                yield piece
        yield b"}"
        separator = b","
    yield b"]"


def _wholes(tx: Tx, call: Call, claim_ids: Sequence[str]) -> list[ShownClaim]:
    now_ms, kept, found = call.services.clock.now_ms(), call.services.kept_json, []
    rows = {row.id: row for row in claims.some(tx, call.organization_id, claim_ids)}
    for row in (rows[one] for one in claim_ids if one in rows):
        shown = message_json.get(tx, call.organization_id, row.message_id, kept)
        whole = Whole.of(tx, shown) if shown is not None else None
        found.append(ShownClaim(_shown_claim(row, now_ms), whole))
    return found


def _shown_claim(row: ClaimRow, now_ms: int) -> dict[str, Any]:
    return {
        "id": row.id,
        "inboxId": row.inbox_id,
        "threadId": row.thread_id,
        "messageId": row.message_id,
        "keyId": row.key_id,
        "mode": row.mode,
        "status": row.status_at(now_ms),
        "attempt": row.attempt,
        "holder": row.holder,
        "leaseExpiresAt": iso(row.lease_expires_at),
        "createdAt": iso(row.created_at),
    }


# What becomes of it ------------------------------------------------------------------------------


def _reached(tx: Tx, call: Call) -> ClaimRow:
    """The claim that the call names. A test key takes nothing from live ones."""
    row = claims.get(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal("claim_not_found")
    if row.mode == "live":
        call.principal.require_live()
    return row


def _live(call: Call, row: ClaimRow) -> ClaimRow:
    status = row.status_at(call.services.clock.now_ms())
    if status != "live":
        raise Refusal("claim_lost", details={"claimId": row.id, "status": status})
    return row


def _extend(tx: Tx, call: Call, body: ExtendClaim) -> dict[str, Any]:
    now_ms = call.services.clock.now_ms()
    row = _live(call, _reached(tx, call))
    return _shown_claim(claims.extend(tx, row, now_ms + body.leaseSeconds * 1000), now_ms)


def _release(tx: Tx, call: Call, body: ReleaseClaim) -> dict[str, Any]:
    now_ms, row = call.services.clock.now_ms(), _reached(tx, call)
    if row.status == "released":  # asked again, for want of an answer
        return _shown_claim(row, now_ms)
    ready_at_ms = now_ms + body.delaySeconds * 1000 if body.delaySeconds else None
    ended = claims.give_up(tx, _live(call, row), "released", call.services.ids.new, now_ms, ready_at_ms)
    return _shown_claim(ended.claim, now_ms)


def _finish(tx: Tx, call: Call, body: FinishClaim) -> dict[str, Any]:
    now_ms, claim = call.services.clock.now_ms(), _reached(tx, call)
    removed = list(body.labels.remove)
    if claim.status != "done":  # else by a send that completed it, or asked again
        claim = claims.done(tx, _live(call, claim))
        removed.append(UNREAD)
    message = messages.get(tx, call.organization_id, claim.message_id)
    if message is not None:
        labelling.change(tx, call.services.changes(), message, body.labels.add, removed, "labels.add")
    return _shown_claim(claim, now_ms)


def _requeue(tx: Tx, call: Call) -> Whole:
    message = messages.get(tx, call.organization_id, call.id)
    shown = message_json.get(tx, call.organization_id, call.id)
    if message is None or shown is None:
        raise Refusal("message_not_found")
    if message.direction != "inbound":
        raise Refusal("message_not_found", "Only mail that came in is work; this message was sent.")
    _check_inbox(tx, call, message.inbox_id)
    if message.mode == "live":
        call.principal.require_live()
    work.put_again(tx, message)
    return Whole.of(tx, shown)
