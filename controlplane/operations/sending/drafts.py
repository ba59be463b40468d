"""Drafts: written, changed, discarded, and handed to the pipeline."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.refusals import Refusal
from controlplane.contract.rendering import json_column
from controlplane.contract.sending.drafts import CreateDraft, PatchDraft, SaveDraft, SeenDraft
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonArray, Result
from controlplane.operations.retries import accepted, small_retry_of
from controlplane.sending.preparing import answered, refuse_changed, spare_live_draft
from controlplane.sending.submission import Accepted, Retry, check_if_last, recalled
from storage.clock import iso, iso_or_none
from storage.engine.tx import Tx
from storage.mail import drafts, inboxes
from storage.records import DraftRow, dump
from storage.tenants import allowances, organizations

ENDPOINT = "POST /v1/drafts"
BODY_BYTES_MAX = 1_048_576  # text and HTML together: a list shows a hundred of them


async def create_draft(call: Call) -> Result:
    refuse_large(call.input.text, call.input.html)
    retry = small_retry_of(call, ENDPOINT, about="")
    with refusing_what_exceeds():
        return accepted(await call.db.write(_create_once, call, retry))


async def list_drafts(call: Call) -> JsonArray:
    query = call.input
    ids = await call.read(
        drafts.list_draft_ids,
        call.organization_id,
        limit=query.limit,
        status=query.status,
        inbox_id=call.principal.listed_inbox(query.inboxId),
        before=query.cursor,
    )
    return JsonArray(_each(call, ids))


async def get_draft(call: Call) -> Result:
    return Result(shown_draft(await call.read(_reached, call)))


async def update_draft(call: Call) -> Result:
    return Result(shown_draft(await call.db.write(_update, call, call.input)))


async def save_draft(call: Call) -> Result:
    return Result(shown_draft(await call.db.write(_save, call, call.input)))


async def send_draft(call: Call) -> Result:
    return accepted(await call.services.pipeline.send_draft(call.principal, call.id))


async def send_saved_draft(call: Call) -> Result:
    saved: SeenDraft = call.input
    return accepted(await call.services.pipeline.send_draft(call.principal, call.id, saved.updatedAt))


async def discard_draft(call: Call) -> Result:
    return Result(shown_draft(await call.db.write(_discard, call)))


async def discard_seen_draft(call: Call) -> Result:
    return Result(shown_draft(await call.db.write(_discard_seen, call, call.input)))


async def _each(call: Call, ids: Sequence[str]) -> AsyncIterator[bytes]:
    for draft_id in ids:
        yield await call.read(_as_json, call.organization_id, draft_id)


def _as_json(tx: Tx, organization_id: str, draft_id: str) -> bytes:
    row = drafts.get(tx, organization_id, draft_id)
    assert row is not None  # drafts are kept for audit
    return msgspec.json.encode(shown_draft(row))


def _create_once(tx: Tx, call: Call, retry: Retry | None) -> Accepted:
    """What is kept under a key is the draft's id: asked again, it is answered as it is now."""
    made = recalled(tx, call.organization_id, retry)
    if made is not None:
        row = drafts.get(tx, call.organization_id, msgspec.json.decode(made.message, type=str))
        assert row is not None  # drafts are kept for audit
        call.principal.confine(row.inbox_id)
    else:
        row = create(tx, call, call.input)
        if retry is not None:
            retry.keep(tx, call.organization_id, msgspec.json.encode(row.id), None, row.created_at)
    return Accepted(msgspec.json.encode(shown_draft(row)), is_replay=made is not None)


def refuse_large(text: str | None, html: str | None) -> None:
    """Refusal `payload_too_large` for bodies that a list of drafts can't show."""
    size = sum(len(part.encode("utf-8", "replace")) for part in (text, html) if part)
    if size > BODY_BYTES_MAX:
        raise Refusal(
            "payload_too_large",
            "Text and HTML of a draft together exceed 1 MB; send such a message directly.",
            {"sizeBytes": size, "limit": BODY_BYTES_MAX},
        )


def create(tx: Tx, call: Call, body: CreateDraft) -> DraftRow:
    """Write a draft that was asked for; Refusal where it may not be, LimitExceeded where there are too many."""
    _check_inbox(tx, call, body.inboxId)
    organization = organizations.get(tx, call.organization_id)
    now_ms = call.services.clock.now_ms()
    thread_id = _thread_of(tx, call, body.inboxId, body.inReplyTo)
    check_if_last(tx, call.organization_id, thread_id, body.ifLastMessageId)
    draft = DraftRow(
        id=call.services.ids.new("drf"),
        organization_id=call.organization_id,
        inbox_id=body.inboxId,
        to_addresses=dump(body.to),
        cc_addresses=dump(body.cc),
        bcc_addresses=dump(body.bcc),
        subject=body.subject or "",
        text_body=body.text,
        html_body=body.html,
        in_reply_to=body.inReplyTo,
        thread_id=thread_id,
        status="draft",
        message_id=None,
        created_at=now_ms,
        updated_at=now_ms,
        sent_at=None,
        discarded_at=None,
        if_last=body.ifLastMessageId,
        claim_id=body.claimId,
        complete_claim=int(body.completeClaim),
        mode=call.principal.mode,
    )
    plan = call.services.settings.plan(organization.plan) if organization else None
    allowances.open_draft(tx, call.organization_id, plan.open_drafts if plan else 0)
    drafts.create(tx, draft)
    call.services.changes().draft_changed(tx, "created", draft, call.principal.mode)
    return draft


def _check_inbox(tx: Tx, call: Call, inbox_id: str) -> None:
    """403 for a bound key that names another inbox of its organization, 404 for an inbox that does not exist."""
    call.principal.refuse_beyond_reach(tx, "inbox", inbox_id)
    if inboxes.get_active(tx, call.organization_id, inbox_id) is None:
        raise Refusal("inbox_not_found")


def _thread_of(tx: Tx, call: Call, inbox_id: str, in_reply_to: str | None) -> str | None:
    """The conversation that the draft answers in."""
    return None if in_reply_to is None else answered(tx, call.principal, inbox_id, in_reply_to).thread_id


def _reached(tx: Tx, call: Call) -> DraftRow:
    row = drafts.get(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal("draft_not_found")
    return row


def _update(tx: Tx, call: Call, body: PatchDraft) -> DraftRow:
    row = _reached(tx, call)
    if row.status != "draft":
        raise Refusal("draft_not_editable", details={"status": row.status})
    spare_live_draft(call.principal, row)
    changes: dict[str, Any] = {}
    for field, column, value in (
        ("to", "to_addresses", dump(body.to)),
        ("cc", "cc_addresses", dump(body.cc)),
        ("bcc", "bcc_addresses", dump(body.bcc)),
        ("subject", "subject", body.subject or ""),
        ("text", "text_body", body.text),
        ("html", "html_body", body.html),
        ("inReplyTo", "in_reply_to", body.inReplyTo),
        ("ifLastMessageId", "if_last", body.ifLastMessageId),
        ("claimId", "claim_id", body.claimId),
        ("completeClaim", "complete_claim", int(body.completeClaim)),
    ):
        if field in body.model_fields_set:
            changes[column] = value
    if changes.keys() & {"text_body", "html_body"}:
        refuse_large(changes.get("text_body", row.text_body), changes.get("html_body", row.html_body))
    if "in_reply_to" in changes:
        changes["thread_id"] = _thread_of(tx, call, row.inbox_id, body.inReplyTo)
    if changes.keys() & {"if_last", "in_reply_to"}:
        changed = row._replace(**changes)
        check_if_last(tx, call.organization_id, changed.thread_id, changed.if_last)
    edited = drafts.edit(tx, row.id, changes, call.services.clock.now_ms())
    assert edited is not None
    call.services.changes().draft_changed(tx, "updated", edited, call.principal.mode)
    return edited


def _save(tx: Tx, call: Call, body: SaveDraft) -> DraftRow:
    refuse_changed(_reached(tx, call), body.updatedAt)
    return _update(tx, call, body)


def _discard(tx: Tx, call: Call) -> DraftRow:
    row = _reached(tx, call)
    if row.status == "sent":
        raise Refusal("draft_already_sent", details={"messageId": row.message_id})
    spare_live_draft(call.principal, row)
    discarded = drafts.discard(tx, row.id, call.services.clock.now_ms())
    if discarded is None:
        return row
    call.services.changes().draft_changed(tx, "discarded", discarded, call.principal.mode)
    return discarded


def _discard_seen(tx: Tx, call: Call, seen: SeenDraft) -> DraftRow:
    refuse_changed(_reached(tx, call), seen.updatedAt)
    return _discard(tx, call)


def shown_draft(row: DraftRow) -> dict[str, Any]:
    """The draft as the API shows it."""
    return {
        "id": row.id,
        "inboxId": row.inbox_id,
        "threadId": row.thread_id,
        "toAddresses": json_column(row.to_addresses),
        "ccAddresses": json_column(row.cc_addresses),
        "bccAddresses": json_column(row.bcc_addresses),
        "subject": row.subject,
        "textBody": row.text_body,
        "htmlBody": row.html_body,
        "inReplyTo": row.in_reply_to,
        "ifLastMessageId": row.if_last,
        "claimId": row.claim_id,
        "completeClaim": bool(row.complete_claim),
        "status": row.status,
        "messageId": row.message_id,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
        "sentAt": iso_or_none(row.sent_at),
        "discardedAt": iso_or_none(row.discarded_at),
    }
