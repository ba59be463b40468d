"""Answering a message or a conversation, by a send or by a draft."""

from collections.abc import Callable
from functools import partial

import msgspec

from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Refusal
from controlplane.contract.sending.drafts import CreateDraft
from controlplane.contract.sending.replies import ReplyMessage
from controlplane.operations.mail.originals import read_original
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.operations.retries import accepted, answered_before, retry_of
from controlplane.operations.sending import drafts
from controlplane.sending.submission import Accepted, Retry, Submission, recalled, with_resolved
from controlplane.sending.writing import replying
from controlplane.sending.writing.replying import Answer
from maild.message.writing.outgoing_warnings import AuthoredWords
from storage.engine.tx import Tx
from storage.mail import conversation, messages, threads
from storage.records import MessageRow

Find = Callable[[Tx, Call], MessageRow]


async def reply_to_message(call: Call) -> Result:
    return await _reply(call, _message, "POST /v1/messages/{id}/reply")


async def reply_to_thread(call: Call) -> Result:
    return await _reply(call, _newest_of_thread, "POST /v1/threads/{id}/reply")


async def _reply(call: Call, find: Find, endpoint: str) -> Result:
    request: ReplyMessage = call.input
    replying.require_authority(call.principal, request)
    retry = await retry_of(call, endpoint, about=call.id)
    made = await answered_before(call, retry)
    if made is not None:
        return accepted(made)
    found = await call.db.lookup(_answer, call, find)
    send = await send_of(call, found, request)
    if request.asDraft:
        return accepted(await _draft(call, found, send, retry))
    submission = Submission(
        call.principal,
        send,
        retry,
        authority=found.authority,
        resolved=found.resolved,
        words=words_of(request),
    )
    return accepted(await call.services.pipeline.send(submission))


def words_of(request: ReplyMessage) -> AuthoredWords:
    """What the author of an answer wrote of it: what is quoted is another's."""
    return AuthoredWords(
        request.subject or "", request.text, request.html, has_files=bool(request.attachments)
    )


async def send_of(call: Call, found: Answer, request: ReplyMessage) -> SendMessage:
    """The send that the answer is; what it quotes is read and put into form on a thread."""
    if request.quote == "none":
        return replying.reply_request(found, request, None)
    original = await read_original(call, found.parent, None)
    work = partial(replying.reply_request, found, request, original)
    return await call.services.cpu.run(call.organization_id, work)


def _answer(tx: Tx, call: Call, find: Find) -> Answer:
    return replying.answer(tx, call.principal, find(tx, call), call.input)


def _message(tx: Tx, call: Call) -> MessageRow:
    return message_of(tx, call, call.id)


def message_of(tx: Tx, call: Call, message_id: str) -> MessageRow:
    """The organization's message; Refusal `message_not_found`."""
    row = messages.get(tx, call.organization_id, message_id)
    if row is None:
        raise Refusal("message_not_found")
    return row


def _newest_of_thread(tx: Tx, call: Call) -> MessageRow:
    if threads.get(tx, call.organization_id, call.id) is None:
        raise Refusal("thread_not_found")
    row = conversation.newest_inbound(tx, call.organization_id, call.id, call.principal.mode)
    if row is None:
        raise Refusal(
            "no_reply_target", "Nobody has written in this conversation yet; reply to one of its messages.",
            {"dropped": []},
        )  # fmt: skip
    return row


async def _draft(call: Call, found: Answer, send: SendMessage, retry: Retry | None) -> Accepted:
    body = CreateDraft.model_construct(
        inboxId=send.inboxId,
        to=send.to,
        cc=send.cc,
        bcc=send.bcc,
        subject=send.subject,
        text=send.text,
        html=send.html,
        inReplyTo=send.inReplyTo,
        ifLastMessageId=send.ifLastMessageId,
        claimId=send.claimId,
        completeClaim=send.completeClaim,
    )
    drafts.refuse_large(body.text, body.html)
    with refusing_what_exceeds():
        return await call.db.write(_write_draft, call, body, found.resolved, retry)


def _write_draft(tx: Tx, call: Call, body: CreateDraft, resolved: bytes, retry: Retry | None) -> Accepted:
    made = recalled(tx, call.organization_id, retry)
    if made is not None:
        return made
    row = drafts.create(tx, call, body)
    shown = with_resolved(msgspec.json.encode(drafts.shown_draft(row)), resolved)
    if retry is not None:
        retry.keep(tx, call.organization_id, shown, None, row.created_at)
    return Accepted(shown, is_replay=False)
