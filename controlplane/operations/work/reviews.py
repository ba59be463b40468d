"""Reviews: what is held, approving and rejecting it, and taking it back."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec

from controlplane.contract import rendering
from controlplane.contract.work.reviews import ApproveReview, ListReviews, RejectReview
from controlplane.mail.bodies import Bodies
from controlplane.operations.mail.shown_messages import Whole, member_pieces, read_bodies
from controlplane.operations.mail.thread_context import context_text
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonPieces, Result
from controlplane.sending.reviews.review_desk import find
from controlplane.sending.reviews.reviewing import (
    Approval,
    Decider,
    content_hash,
    reviewed_json,
    reviewed_message,
)
from controlplane.sending.writing.replying import SENDING
from maild.message.fields.address import normalize
from storage.agents import reviews
from storage.agents.reviews import ReviewFilter
from storage.clock import iso, iso_or_none
from storage.engine.tx import Tx
from storage.mail import correspondents, held_mail
from storage.records import ReviewRow, load, recipients_of

CONTEXT_TOKENS = 4000


class ShownReview(NamedTuple):
    """A review, and what is decided about; None: its message was deleted. `thread_id` None: it is in none (yet)."""

    review: dict[str, Any]
    whole: Whole | None
    thread_id: str | None


async def list_reviews(call: Call) -> Result:
    query: ListReviews = call.input
    inbox_id = call.principal.listed_inbox(query.inboxId)
    wanted = ReviewFilter(call.organization_id, inbox_id, query.direction, query.status)
    rows = await call.read(reviews.list_reviews, wanted, limit=query.limit, before=query.cursor)
    return Result([shown_review(row) for row in rows])


async def get_review(call: Call) -> Result | JsonPieces:
    found = await call.read(_whole, call)
    context = await context_text(call, found.thread_id, CONTEXT_TOKENS) if found.thread_id else None
    shown = {**found.review, "context": context}
    if found.whole is None:
        return Result({**shown, "message": None})
    bodies = await read_bodies(call, found.whole)
    if bodies.are_held:
        message = rendering.message(found.whole.shown.json, bodies.text.text, bodies.html.text)
        return Result({**shown, "message": message})
    brief = {**shown, "message": msgspec.Raw(found.whole.shown.json)}
    return JsonPieces(_pieces(call, shown, found.whole, bodies), brief=brief)


async def list_first_contacts(call: Call) -> Result:
    return Result(await call.read(_first_contacts, call))


def _first_contacts(tx: Tx, call: Call) -> list[str]:
    """The recipients that the inbox has never written to, as the message has them."""
    review = find(tx, call.organization_id, call.id)
    message = reviewed_message(tx, review)
    if message is None or review.direction == "inbound":
        return []
    recipients = {address: normalize(address) for _, address in recipients_of(message)}
    unknown = correspondents.unknown(tx, review.inbox_id, set(recipients.values()), review.mode)
    return [address for address, key in recipients.items() if key in unknown]


async def approve_review(call: Call) -> Result:
    body: ApproveReview = call.input
    approval = Approval(body.contentHash, body.note, body.force)
    decider = Decider.of(call.principal)
    desk = call.services.review_desk
    return Result(shown_review(await desk.approve(call.db, call.organization_id, call.id, decider, approval)))


async def reject_review(call: Call) -> Result:
    body: RejectReview = call.input
    decider = Decider.of(call.principal)
    desk = call.services.review_desk
    return Result(shown_review(await desk.reject(call.db, call.organization_id, call.id, decider, body.note)))


async def withdraw_message(call: Call) -> Result:
    principal = call.principal

    def may(review: ReviewRow) -> None:
        if review.mode == "live":
            principal.require_live()
        if review.submitted_by != principal.key_id:
            principal.require(SENDING)

    desk = call.services.review_desk
    await desk.withdraw(call.db, call.organization_id, call.id, principal.actor, may)
    return Result({"id": call.id, "status": "cancelled"})


async def _pieces(call: Call, shown: dict[str, Any], whole: Whole, bodies: Bodies) -> AsyncIterator[bytes]:
    yield msgspec.json.encode(shown)[:-1] + b',"message":'
    async for piece in member_pieces(call, whole, {"textBody": bodies.text, "htmlBody": bodies.html}):
        yield piece
    yield b"}"


def _whole(tx: Tx, call: Call) -> ShownReview:
    review = find(tx, call.organization_id, call.id)
    message = reviewed_message(tx, review)
    shown = reviewed_json(tx, review)
    if message is None or shown is None:
        return ShownReview({**shown_review(review), "contentHash": None}, None, None)
    whole = {**shown_review(review), "contentHash": content_hash(tx, message)}
    thread_id = message.thread_id or held_mail.thread_to_be(tx, message.id)
    return ShownReview(whole, Whole.of(tx, shown), thread_id)


def shown_review(row: ReviewRow) -> dict[str, Any]:
    """As lists show it."""
    return {
        "id": row.id,
        "inboxId": row.inbox_id,
        "messageId": row.message_id,
        "direction": row.direction,
        "mode": row.mode,
        "status": row.status,
        "reasons": load(row.reasons),
        "warnings": load(row.warnings),
        "submittedBy": row.submitted_by,
        "expiresAt": iso(row.expires_at),
        "resolvedBy": row.resolved_by,
        "resolvedAt": iso_or_none(row.resolved_at),
        "note": row.note,
        "createdAt": iso(row.created_at),
    }
