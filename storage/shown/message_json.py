"""Messages as the JSON of the contract, each list one statement or a few that the store answers with one text each.

What a message shows is said here once: lists, the answer to a send, GET and threads differ only in what
they add. Bodies are not in it: they may lie in the raw message, which no statement can decode.

Rendering a message costs five times as much as finding it, so lists use what was rendered before
(storage/shown/kept_json.py) where the message's state is the same. What of a message may change is named here
(`_STATE`); the rest never does, which the triggers `messages_are_as_they_came` and `attachments_are_as_they_came` hold.
A message's attachments are inserted with it (`messages.insert`).
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from storage.engine.dialect import (
    array_of,
    array_of_one,
    bytes_of,
    domain_of,
    each_of,
    elements,
    flag,
    item,
    moment,
    object_of,
    octets,
    stored,
    unindexed,
    value,
)
from storage.engine.tx import Tx
from storage.records import dump
from storage.searching.search_scope import Scope
from storage.shown.kept_json import KeptJson
from storage.visibility import HELD, VISIBLE

# Senders decide how many recipients and attachments a message has: a list goes out in parts where these are many.
SLICE_MESSAGES = 25
PART_BYTES = 512 * 1024
# What the event loop may do for a list itself: render so many new messages, and look at so much of recipients.
NEW_MAX = 5
LIGHT_CHARS = 16 * 1024
PAGE_BYTES = 500  # what it takes to remember that a page was read

_ATTACHMENT = {
    "id": value("a.id"),
    "filename": value("a.filename"),
    "contentType": value("a.content_type"),
    "sizeBytes": value("a.size_bytes"),
    "contentId": value("a.content_id"),
    "isInline": flag("a.is_inline"),
}
_RECIPIENT = {
    "address": value("r.address"),
    "kind": value("r.kind"),
    "status": value("r.status"),
    "attempts": value("r.attempts"),
    "lastAttemptAt": moment("r.last_attempt_at"),
    "nextAttemptAt": moment("CASE WHEN r.status IN ('queued', 'deferred') THEN r.next_attempt_at END"),
    "remoteHost": value("r.remote_host"),
    "smtpCode": value("r.smtp_code"),
    "enhancedCode": value("r.enhanced_code"),
    "response": value("r.response"),
    "tls": value("r.tls"),
}
_ATTACHMENTS = array_of(
    object_of(_ATTACHMENT), "(SELECT * FROM attachments WHERE message_id = m.id ORDER BY position) a"
)
_RECIPIENTS = array_of(
    object_of(_RECIPIENT), "(SELECT * FROM recipients WHERE message_id = m.id ORDER BY position) r"
)
# Found out later, and perhaps anew (storage/mail/evidence.py).
RISK = "(SELECT e.risk FROM message_evidence e WHERE e.message_id = m.id)"
_HELD_FOR = {"id": value("w.id"), "reasons": stored("w.reasons"), "expiresAt": moment("w.expires_at")}
_REVIEW = f"""coalesce(CASE m.status WHEN 'held' THEN
    (SELECT {object_of(_HELD_FOR)} FROM reviews w WHERE w.message_id = m.id) END, 'null')"""
_MESSAGE = {
    "id": value("m.id"),
    "inboxId": value("m.inbox_id"),
    "threadId": value("m.thread_id"),
    "direction": value("m.direction"),
    "mode": value("m.mode"),
    "status": value("m.status"),
    "review": _REVIEW,
    "fromAddress": value("m.from_address"),
    "fromDomain": value(domain_of("m.from_address")),
    "fromDomainUnicode": value("m.from_domain_shown"),
    "fromName": value("m.from_name"),
    "toAddresses": stored("m.to_addresses"),
    "ccAddresses": stored("m.cc_addresses"),
    "bccAddresses": stored("m.bcc_addresses"),
    "replyTo": value("m.reply_to"),
    "replyToAddresses": f"coalesce(m.reply_to_addresses, {array_of_one('m.reply_to')})",
    "subject": value("m.subject"),
    "snippet": value("m.snippet"),
    "extractedText": value("coalesce(m.extracted_text, m.text_body)"),
    "messageIdHeader": value("m.message_id_header"),
    "inReplyTo": value("m.in_reply_to"),
    "references": stored("m.reference_ids"),
    "labels": stored("m.labels"),
    "isAutoReply": flag("m.is_auto_reply"),
    "isSpam": flag("m.is_spam"),
    "risk": value(RISK),
    "auth": stored("m.auth"),
    "forwardOf": value("m.forward_of"),
    "deliveredTo": value("m.delivered_to"),
    "mailingList": stored("m.mailing_list"),
    "recipients": f"CASE WHEN m.direction = 'outbound' THEN {_RECIPIENTS} ELSE '[]' END",
    "attachments": _ATTACHMENTS,
    "failureReason": value("m.failure_reason"),
    "scheduledAt": moment("m.scheduled_at"),
    "sentAt": moment("m.sent_at"),
    "heldAt": "'null'",
    "createdAt": moment("m.created_at"),
}
# Of one that is held, for those who decide on it. None of it is kept: it is another when it is released.
_HELD = {
    **_MESSAGE,
    "review": f"""coalesce((SELECT {object_of(_HELD_FOR)} FROM reviews w
        WHERE w.message_id = m.id AND w.status = 'pending'), 'null')""",
    "threadId": value("(SELECT h.thread_id FROM held_mail h WHERE h.message_id = m.id)"),
    "heldAt": moment("m.held_at"),
}
# An element of a thread's `messages` has short names beside the long ones.
_OF_THREAD = {**_MESSAGE, "from": value("m.from_address"), "to": stored("m.to_addresses")}
# All of a message that may change beside its recipients and its risk, and nothing else of it may.
CHANGING = ("status", "labels", "failure_reason", "scheduled_at", "sent_at")
_STATE = f"""m.id, {", ".join(f"m.{column}" for column in CHANGING)}, {RISK},
    CASE WHEN m.direction = 'outbound' THEN {_RECIPIENTS} END"""
STATE_COLUMNS = len(CHANGING) + 3
_RENDERED = f"""SELECT m.id, {octets(object_of(_MESSAGE))} FROM messages m
    WHERE {unindexed("m.organization_id")} = ? AND m.id IN {each_of("?")} AND m.{VISIBLE}"""
_RENDERED_HELD = f"""SELECT m.id, {octets(object_of(_HELD))} FROM messages m
    WHERE {unindexed("m.organization_id")} = ? AND m.id IN {each_of("?")} AND m.{HELD}"""
_BODIES = "m.inbox_id, m.text_body, m.text_slices, m.html_slices, m.blob_id"
_ONE = f"""SELECT {octets(object_of(_MESSAGE))}, {_BODIES} FROM messages m
    WHERE m.id = ? AND m.organization_id = ? AND m.{VISIBLE}"""
_ONE_HELD = f"""SELECT {octets(object_of(_HELD))}, {_BODIES} FROM messages m
    WHERE m.id = ? AND m.organization_id = ? AND m.{HELD}"""
_ONE_STATE = f"""SELECT {_STATE}, {_BODIES} FROM messages m
    WHERE m.id = ? AND m.organization_id = ? AND m.{VISIBLE}"""
_SOME_OF_THREAD = f"""SELECT {octets(object_of(_OF_THREAD))}, {_BODIES} FROM messages m
    WHERE m.organization_id = ? AND m.id IN {each_of("?")} AND m.{VISIBLE} ORDER BY m.id"""
# What a message brings to an answer, before it is read. Slices are counted as they lie in the raw message.
_BODY_BYTES = " + ".join(
    [
        bytes_of("coalesce(m.text_body, '')"),
        *(
            f"coalesce((SELECT sum({item('value', 1)}) FROM {elements(f'm.{slices}')}), 0)"
            for slices in ("text_slices", "html_slices")
        ),
    ]
)
_ROW_BYTES = 400  # of an attachment or a recipient, as JSON
_OTHER_BYTES = " + ".join(
    [
        *(f"length({text})" for text in ("m.to_addresses", "m.cc_addresses", "m.reference_ids")),
        "coalesce(m.extracted_length, length(m.extracted_apart), 0)",
        f"{_ROW_BYTES} * (SELECT count(*) FROM attachments WHERE message_id = m.id)",
        f"{_ROW_BYTES} * (SELECT count(*) FROM recipients WHERE message_id = m.id)",
    ]
)
_WEIGHTS = f"""SELECT m.id, {_BODY_BYTES}, {_OTHER_BYTES} FROM messages m
    WHERE m.thread_id = :thread AND m.organization_id = :organization AND m.id < :before AND m.{VISIBLE}
    ORDER BY m.id DESC LIMIT :limit"""


State = tuple[Any, ...]  # a message's id, and behind it all of it that may change


class ShownMessage(NamedTuple):
    """A message's JSON but for its bodies, and where those are."""

    json: bytes
    inbox_id: str
    text_body: str | None
    text_slices: str | None
    html_slices: str | None
    blob_id: str | None


def get(tx: Tx, organization_id: str, message_id: str, kept: KeptJson | None = None) -> ShownMessage | None:
    """The organization's message in any status, or None."""
    row = tx.one(_ONE if kept is None else _ONE_STATE, (message_id, organization_id))
    if row is None:
        return None
    if kept is None:
        return ShownMessage(*row)
    json = _slice(tx, organization_id, [row[:STATE_COLUMNS]], kept)
    return ShownMessage(json, *row[STATE_COLUMNS:])


def get_held(tx: Tx, organization_id: str, message_id: str) -> ShownMessage | None:
    """The organization's held message, or None; its thread is where it will be."""
    row = tx.one(_ONE_HELD, (message_id, organization_id))
    return ShownMessage(*row) if row else None


class Weight(NamedTuple):
    """A message of a thread, the bytes of its bodies, and about how many the rest of its JSON has."""

    id: str
    body_bytes: int
    other_bytes: int


def weigh_thread(
    tx: Tx, organization_id: str, thread_id: str, before: str | None, limit: int
) -> list[Weight]:
    """The thread's newest messages older than `before`, newest first."""
    rows = tx.all(
        _WEIGHTS,
        {"thread": thread_id, "organization": organization_id, "before": before or "~", "limit": limit},
    )
    return [Weight(*row) for row in rows]


def some_of_thread(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> list[ShownMessage]:
    """These of a thread's messages, oldest first, as the thread shows them."""
    return [ShownMessage(*row) for row in tx.all(_SOME_OF_THREAD, (organization_id, dump(list(message_ids))))]


class Part(NamedTuple):
    """Elements of an array, without its brackets, and the unit of work that reads the rest, where there is one."""

    json: bytes
    rest: "Callable[[Tx], Part] | None"


def list_messages(tx: Tx, scope: Scope, before: str | None, limit: int, kept: KeptJson | None = None) -> Part:
    """The scope's messages older than `before`, newest first; no more of them at once than PART_BYTES suggests."""
    states = _states(tx, scope, before, min(limit, SLICE_MESSAGES))
    json = _slice(tx, scope.organization_id, states, kept, scope.is_held)
    if len(states) < SLICE_MESSAGES or len(states) == limit:
        return Part(json, None)
    rest = partial(list_messages, scope=scope, before=states[-1][0], limit=limit - len(states), kept=kept)
    return _with_rest(tx, json, rest)


def newest(tx: Tx, scope: Scope, limit: int, kept: KeptJson) -> Part:
    """The first page of `list_messages`, which `newest_at_hand` may then have."""
    page = list_messages(tx, scope, None, limit, kept)
    if page.rest is None and kept.pages.get((scope, limit)) is None:
        kept.pages.put((scope, limit), True, PAGE_BYTES)
    return page


def newest_at_hand(tx: Tx, scope: Scope, limit: int, kept: KeptJson) -> Part | None:
    """The same for the event loop, where `newest` has read the page lately and little is to be done; else None."""
    if not kept.pages.get((scope, limit)):
        return None
    states = _states(tx, scope, None, limit)
    found = known(states, kept)
    is_light = sum(len(state[-1] or "") for state in states) <= LIGHT_CHARS
    if not is_light or sum(map(len, filter(None, found.values()))) > PART_BYTES:
        kept.pages.put((scope, limit), False, PAGE_BYTES)
    if list(found.values()).count(None) > NEW_MAX:
        return None
    return Part(rendered(tx, _RENDERED, scope.organization_id, states, found, kept), None)


def of(
    tx: Tx,
    organization_id: str,
    message_ids: Sequence[str],
    kept: KeptJson | None = None,
    is_held: bool = False,
) -> Part:
    """These, in this order, which is that of their ages: newest first. `is_held`: they are all held, or none is."""
    some, others = message_ids[:SLICE_MESSAGES], message_ids[SLICE_MESSAGES:]
    states = tx.all(_STATES_OF[is_held], (organization_id, dump(list(some))))
    json = _slice(tx, organization_id, states, kept, is_held)
    if not others:
        return Part(json, None)
    rest = partial(of, organization_id=organization_id, message_ids=others, kept=kept, is_held=is_held)
    return _with_rest(tx, json, rest)


def _with_rest(tx: Tx, json: bytes, rest: Callable[[Tx], Part]) -> Part:
    if len(json) > PART_BYTES:
        return Part(json, rest)
    more = rest(tx)
    return Part(b",".join(filter(None, (json, more.json))), more.rest)


def _states(tx: Tx, scope: Scope, before: str | None, limit: int) -> list[State]:
    statement = _page(scope.conditions() + (" AND m.id < :before" if before is not None else ""))
    return tx.all(statement, {**scope._asdict(), "before": before, "limit": limit})


def _slice(
    tx: Tx, organization_id: str, states: Sequence[State], kept: KeptJson | None, is_held: bool = False
) -> bytes:
    """These messages, in this order: as they are kept, or rendered, and kept from now on."""
    if is_held:
        return rendered(tx, _RENDERED_HELD, organization_id, states, known(states, None), None)
    return rendered(tx, _RENDERED, organization_id, states, known(states, kept), kept)


def known(states: Sequence[State], kept: KeptJson | None) -> dict[str, bytes | None]:
    """By id, in this order: what is kept of each; None of what is not."""
    return {state[0]: kept.find(state[0], state[1:]) if kept else None for state in states}


def rendered(
    tx: Tx,
    statement: str,
    organization_id: str,
    states: Sequence[State],
    found: dict[str, bytes | None],
    kept: KeptJson | None,
) -> bytes:
    """All of `found`, with commas between; what is None the statement renders (parameters: organization, array of ids;
    rows: id, JSON), which is kept from now on."""
    missing = {state[0]: state[1:] for state in states if found[state[0]] is None}
    if missing:
        for one_id, json in tx.all(statement, (organization_id, dump(list(missing)))):
            found[one_id] = json
            if kept is not None:
                kept.keep(one_id, missing[one_id], json)
    return b",".join(filter(None, found.values()))


@cache  # one for each combination of filters
def _page(conditions: str) -> str:
    return f"SELECT {_STATE} FROM messages m WHERE {conditions} ORDER BY m.id DESC LIMIT :limit"


_STATES_OF = {
    is_held: f"""SELECT {_STATE} FROM messages m
        WHERE {unindexed("m.organization_id")} = ? AND m.id IN {each_of("?")} AND m.{seen} ORDER BY m.id DESC"""
    for is_held, seen in ((False, VISIBLE), (True, HELD))
}
