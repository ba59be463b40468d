"""What would become of a message, an answer, a forward or a draft, were it sent now."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.sending.checks import CheckForward, CheckMessage, CheckReply
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.operations.sending.forwards import passing_on
from controlplane.operations.sending.replies import message_of, send_of
from controlplane.operations.sending.replies import words_of as reply_words
from controlplane.sending.preflight import Judgement, Wish, telling, words_of
from controlplane.sending.preparing import refuse_unsendable, request_of, spare_live_draft
from controlplane.sending.submission import Submission
from controlplane.sending.writing import replying
from controlplane.sending.writing.replying import SENDING
from maild.message.writing.outgoing_warnings import AuthoredWords
from storage.engine.tx import Tx
from storage.mail import drafts
from storage.records import DraftRow

# What a forward can be refused with before it is put together.
_NOT_PUT_TOGETHER = frozenset(("attachment_bytes_missing", "attachment_too_large", "payload_too_large"))


async def check_message(call: Call) -> Result:
    request: CheckMessage = call.input
    if request.reply is not None:
        with _naming_within("reply"):
            return await _check_reply(call, request.reply)
    if request.forward is not None:
        with _naming_within("forward"):
            return await _check_forward(call, request.forward)
    if request.draftId is not None:
        return await _check_draft(call, request.draftId)
    await call.db.lookup(call.principal.refuse_beyond_reach, "inbox", request.inboxId)
    submission = Submission(call.principal, request)
    return await _judged(call, Wish(submission, words_of(request), _scope_refusals(call)))


async def _judged(call: Call, wish: Wish) -> Result:
    return Result(_shown(call, await call.services.preflight.judge(call.db, wish)))


async def _check_reply(call: Call, asked: CheckReply) -> Result:
    await call.db.lookup(call.principal.refuse_beyond_reach, "message", asked.messageId)
    refusals: list[Refusal] = []
    with telling(refusals):
        replying.require_authority(call.principal, asked)
    parent = await call.db.lookup(message_of, call, asked.messageId)
    found = replying.to_nobody(call.principal, parent)
    with telling(refusals):
        found = await call.db.lookup(replying.answer, call.principal, parent, asked)
    send = await send_of(call, found, asked)
    submission = Submission(call.principal, send, authority=found.authority)
    return await _judged(call, Wish(submission, reply_words(asked), refusals))


async def _check_forward(call: Call, asked: CheckForward) -> Result:
    await call.db.lookup(call.principal.refuse_beyond_reach, "message", asked.messageId)
    refusals = _scope_refusals(call)

    async def judge(submission: Submission) -> Result:
        return await _judged(
            call, Wish(submission, submission.words or words_of(submission.request), refusals)
        )

    try:
        return await passing_on(call, asked.messageId, asked, None, judge)
    except Refusal as refusal:
        if refusal.code not in _NOT_PUT_TOGETHER:
            raise
        refusals.append(refusal)
    parent = await call.db.lookup(message_of, call, asked.messageId)
    send = replying.forward_request(parent, asked, None)
    words = AuthoredWords("", asked.text, asked.html, has_files=True, has_more=True)
    return await _judged(call, Wish(Submission(call.principal, send), words, refusals, is_whole=False))


async def _check_draft(call: Call, draft_id: str) -> Result:
    # What is told of a draft is in it, and who can't send drafts can't read them.
    call.principal.require(SENDING)
    draft = await call.read(_draft, call, draft_id)
    request = request_of(draft)
    refusals: list[Refusal] = []
    if draft.status == "sent":
        refusals.append(Refusal("draft_already_sent", details={"messageId": draft.message_id}))
    with telling(refusals):
        spare_live_draft(call.principal, draft)
    with telling(refusals):
        refuse_unsendable(draft, request)
    return await _judged(
        call, Wish(Submission(call.principal, request, draft=draft), words_of(request), refusals)
    )


def _draft(tx: Tx, call: Call, draft_id: str) -> DraftRow:
    call.principal.refuse_beyond_reach(tx, "draft", draft_id)
    draft = drafts.get(tx, call.organization_id, draft_id)
    if draft is None:
        raise Refusal("draft_not_found")
    return draft


def _scope_refusals(call: Call) -> list[Refusal]:
    refusals: list[Refusal] = []
    with telling(refusals):
        call.principal.require(SENDING)
    return refusals


@contextmanager
def _naming_within(name: str) -> Iterator[None]:
    """Faults of the request, found inside, are named by their places in the body."""
    try:
        yield
    except Refusal as refusal:
        if refusal.code != "validation_failed" or refusal.details is None:
            raise
        faults = [Fault(**one) for one in refusal.details["fields"]]
        within = [one._replace(path=f"{name}.{one.path}" if one.path else name) for one in faults]
        raise invalid(within) from refusal


def _shown(call: Call, judged: Judgement) -> dict[str, Any]:
    status_of = call.services.status_of
    return {
        "wouldSend": not judged.refusals,
        "wouldHold": judged.would_hold,
        "errors": [
            {"code": one.code, "status": status_of(one), "message": one.message, "details": one.details or {}}
            for one in judged.refusals
        ],
        "warnings": [one.shown() for one in judged.warnings],
        "recipients": [
            {
                "address": one.address,
                "kind": one.kind,
                "isFirstTime": one.is_first_time,
                "isSuppressed": one.is_suppressed,
                "route": one.route,
                "finding": one.finding,
                "rule": one.ruling and {"id": one.ruling.rule_id, "action": one.ruling.action},
            }
            for one in judged.recipients
        ],
        "subject": judged.subject,
        "sizeBytes": judged.size_bytes,
        "thread": judged.thread and {"id": judged.thread[0], "lastMessageId": judged.thread[1]},
    }
