"""What is held is in no answer to anybody who may not decide about it (threat L6): every operation is called with it.

There is visible mail, and beside it a held answer to it with an attachment, a held message that begins a conversation,
and a rejected one. Nobody but who decides is told a word, an id or a count of them: not a mark of theirs is in any
answer, and what is answered to a GET is what was answered before they came.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import pytest

from controlplane.contract.scopes import SCOPES
from controlplane.operations.table import OPERATIONS
from tests.conftest import Start
from tests.contract.agents.test_held_mail import is_whole
from tests.support.clients.event_stream import EventStream
from tests.support.running import Answer, Api, Running
from tests.support.worlds.holding import approve, held, hold, mail, reject, reviews

NOT_HERE = frozenset({"message_not_found", "thread_not_found", "attachment_not_found"})
WORDS = ("zebra", "giraffe", "okapi")  # subjects, texts, names of files and senders of what is held
ATTACHED = """Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

The giraffe says: your code is 482913.
--b
Content-Type: application/pdf; name=okapi.pdf
Content-Disposition: attachment; filename=okapi.pdf

okapi okapi
--b--
"""
WINDOW = {"since": "2020-01-01T00:00:00Z", "until": "2035-01-01T00:00:00Z"}
CHANGES_NOTHING_OF_MAIL = "it changes what is no mail, and answers that"
TELLS_WHO_DECIDED = "what was decided about it, by ids alone: a log without that would be none"
OPERATORS = "the operator's alone; it knows what waits to be sent"
PUBLIC = "without a key; it knows suppressions"


class Names(NamedTuple):
    """Ids of what is there: of the visible mail, and of what is held (an answer, and one that begins)."""

    inbox: str
    seen: str
    seen_thread: str
    draft: str
    answer: str
    beginning: str
    rejected: str
    thread_to_be: str
    attachment: str
    review: str

    @property
    def held(self) -> tuple[str, str, str]:
        return self.answer, self.beginning, self.rejected


class Ask(NamedTuple):
    """One call. `names_held`: it names what is held, so it is to be answered as if that were not there."""

    path: str
    query: Mapping[str, str] = {}
    body: Any = None
    names_held: bool = False


Asks = Callable[[Names], Sequence[Ask]]


def plain(path: str, **query: str) -> Asks:
    return lambda names: [Ask(path.format(**names._asdict()), query)]


def each(*asks: Asks) -> Asks:
    return lambda names: [ask for make in asks for ask in make(names)]


def on_held(path: str, body: Any = None, **query: str) -> Asks:
    """The same for each held message."""
    return lambda names: [Ask(path.format(id=one), query, body, True) for one in names.held]


def acting(path: str, body: Callable[[Names], Any], names_held: bool = False) -> Asks:
    return lambda names: [Ask(path.format(**names._asdict()), {}, body(names), names_held)]


def lists(path: str, *queries: Mapping[str, str]) -> Asks:
    return lambda names: [
        Ask(path, {name: value.format(**names._asdict()) for name, value in query.items()})
        for query in queries
    ]


def send(names: Names, **fields: Any) -> dict[str, Any]:
    return {"inboxId": names.inbox, "to": ["ada@elsewhere.test"], "text": "hello", **fields}


# Operation → how it is called, or why it is not.
MATRIX: Mapping[str, Asks | str] = {
    "getOrganization": plain("/v1/organization"),
    "listMembers": plain("/v1/organization/members"),
    "getOrganizationPolicy": plain("/v1/organization/policy"),
    "replaceOrganizationPolicy": CHANGES_NOTHING_OF_MAIL,
    "listAudit": TELLS_WHO_DECIDED,
    "getAuditHead": TELLS_WHO_DECIDED,
    "createKey": CHANGES_NOTHING_OF_MAIL,
    "listKeys": plain("/v1/keys"),
    "revokeKey": CHANGES_NOTHING_OF_MAIL,
    "revokeKeyWithMail": CHANGES_NOTHING_OF_MAIL,
    "createAgent": CHANGES_NOTHING_OF_MAIL,
    "listAgents": plain("/v1/agents"),
    "getAgent": CHANGES_NOTHING_OF_MAIL,
    "deleteAgent": CHANGES_NOTHING_OF_MAIL,
    "createInbox": CHANGES_NOTHING_OF_MAIL,
    "listInboxes": plain("/v1/inboxes"),
    "getInbox": plain("/v1/inboxes/{inbox}"),
    "updateInbox": acting("/v1/inboxes/{inbox}", lambda _: {"name": "Bot"}),
    "deleteInbox": "test_what_is_held_outlives_its_inbox",
    "claimCode": acting(
        "/v1/inboxes/{inbox}/codes/claim",
        lambda _: {"allowUnverified": True, "waitSeconds": 0, "after": "2020-01-01T00:00:00Z"},
    ),
    "getInboxPolicy": plain("/v1/inboxes/{inbox}/policy"),
    "replaceInboxPolicy": CHANGES_NOTHING_OF_MAIL,
    "claimMessages": acting("/v1/inboxes/{inbox}/claims", lambda _: {"max": 20, "waitSeconds": 0}),
    "listClaims": lists("/v1/claims", {}, {"inboxId": "{inbox}"}),
    "extendClaim": "its claim is of a message that was claimed, which no held one is",
    "releaseClaim": "its claim is of a message that was claimed, which no held one is",
    "finishClaim": "its claim is of a message that was claimed, which no held one is",
    "sendMessage": each(
        acting("/v1/messages/send", lambda names: send(names, inReplyTo=names.answer), True),
        acting("/v1/messages/send", lambda names: send(names, inReplyTo=names.thread_to_be), True),
        acting(
            "/v1/messages/send",
            lambda names: send(names, inReplyTo=names.seen, ifLastMessageId=names.answer),
        ),
    ),
    "checkMessage": each(
        acting("/v1/messages/check", lambda names: {"reply": {"messageId": names.answer, "text": "x"}}, True),
        acting("/v1/messages/check", lambda names: {"reply": {"messageId": names.seen, "text": "x"}}),
        acting("/v1/messages/check", lambda names: {"draftId": names.draft}),
        acting(
            "/v1/messages/check",
            lambda names: {"forward": {"messageId": names.answer, "to": ["ada@elsewhere.test"]}},
            True,
        ),
    ),
    "replyToMessage": on_held("/v1/messages/{id}/reply", {"text": "x"}),
    "forwardMessage": on_held("/v1/messages/{id}/forward", {"to": ["ada@elsewhere.test"]}),
    "listMessages": lists(
        "/v1/messages", {}, {"inboxId": "{inbox}"}, {"threadId": "{seen_thread}"}, {"threadId": "{thread_to_be}"},
        {"q": "zebra"}, {"q": "ze"}, {"q": "okapi"}, {"from": "giraffe"}, {"fromDomain": "elsewhere.test"},
        {"unread": "true"}, {"unread": "false"}, {"hasAttachments": "true"}, {"direction": "inbound"},
        {"status": "held"}, {"status": "received"}, {"isSpam": "false"}, {"isAutoReply": "false"}, {"labels": "x"},
        {"held": "false"}, {"since": WINDOW["since"]}, {"before": "{beginning}"}, {"cursor": "{answer}"},
    ),
    "waitForMessage": lists(
        "/v1/messages/wait",
        {"timeoutSeconds": "0", "after": WINDOW["since"]},
        {"timeoutSeconds": "0", "after": "{seen}"},
        {"timeoutSeconds": "0", "after": "{seen}", "q": "zebra", "hasCode": "true"},
        {"timeoutSeconds": "0", "inboxId": "{inbox}"},
    ),
    "getMessage": each(plain("/v1/messages/{seen}"), on_held("/v1/messages/{id}")),
    "labelMessage": on_held("/v1/messages/{id}", {"addLabels": ["x"]}),
    "changeMessages": each(
        acting("/v1/messages/batch", lambda names: {"ids": list(names.held), "addLabels": ["x"]}),
        acting("/v1/messages/batch", lambda names: {"ids": list(names.held), "delete": True}),
        acting("/v1/messages/batch", lambda names: {"threadIds": [names.thread_to_be], "addLabels": ["x"]}),
        acting("/v1/messages/batch", lambda names: {"threadIds": [names.seen_thread], "removeLabels": ["x"]}),
    ),
    "requeueMessage": on_held("/v1/messages/{id}/requeue"),
    "deleteMessage": on_held("/v1/messages/{id}"),
    "cancelScheduledMessage": on_held("/v1/messages/{id}/schedule"),
    "withdrawMessage": on_held("/v1/messages/{id}/withdraw"),
    "getRawMessage": on_held("/v1/messages/{id}/raw"),
    "getEvidence": each(on_held("/v1/messages/{id}/evidence"), plain("/v1/messages/{seen}/evidence")),
    "listAttempts": on_held("/v1/messages/{id}/attempts"),
    "listReviews": lists("/v1/reviews", {}, {"direction": "inbound"}, {"inboxId": "{inbox}"}),
    "getReview": plain("/v1/reviews/{review}"),
    "approveReview": acting("/v1/reviews/{review}/approve", lambda _: {"contentHash": "sha256:" + "0" * 64}),
    "rejectReview": "who may would reject it: test_held_mail.py",
    "listThreads": lists(
        "/v1/threads", {}, {"inboxId": "{inbox}"}, {"unread": "true"}, {"labels": "x"}, {"archived": "true"}
    ),
    "getThread": each(
        plain("/v1/threads/{seen_thread}"), lambda names: [Ask(f"/v1/threads/{names.thread_to_be}", names_held=True)]
    ),
    "getThreadContext": each(
        plain("/v1/threads/{seen_thread}/context"),
        lambda names: [
            Ask(f"/v1/threads/{names.thread_to_be}/context", names_held=True),
            Ask(f"/v1/threads/{names.seen_thread}/context", {"focus": names.answer}),
        ],
    ),
    "updateThread": lambda names: [
        Ask(f"/v1/threads/{names.thread_to_be}", {}, {"isArchived": True}, names_held=True)
    ],
    "replyToThread": lambda names: [
        Ask(
            f"/v1/threads/{names.thread_to_be}/reply", {}, {"text": "x", "ifLastMessageId": names.beginning},
            names_held=True,
        ),
        Ask(f"/v1/threads/{names.seen_thread}/reply", {}, {"text": "x", "ifLastMessageId": names.answer}),
    ],
    "getAttachment": lambda names: [Ask(f"/v1/attachments/{names.attachment}", names_held=True)],
    "createDraft": each(
        acting("/v1/drafts", lambda names: {"inboxId": names.inbox, "inReplyTo": names.answer}, True),
        acting("/v1/drafts", lambda names: {"inboxId": names.inbox, "inReplyTo": names.thread_to_be}, True),
    ),
    "listDrafts": plain("/v1/drafts"),
    "getDraft": plain("/v1/drafts/{draft}"),
    "updateDraft": acting("/v1/drafts/{draft}", lambda names: {"inReplyTo": names.answer}, True),
    "discardDraft": CHANGES_NOTHING_OF_MAIL,
    "sendDraft": "what a draft answers is looked at when it is written",
    "registerDomain": CHANGES_NOTHING_OF_MAIL,
    "listDomains": plain("/v1/domains"),
    "getDomain": "a domain says nothing of mail",
    "listDomainReports": "reports in held mail are not shown: test_domain_reports.py",
    "verifyDomain": CHANGES_NOTHING_OF_MAIL,
    "updateDomain": CHANGES_NOTHING_OF_MAIL,
    "rotateDkim": CHANGES_NOTHING_OF_MAIL,
    "deleteDomain": CHANGES_NOTHING_OF_MAIL,
    "createSuppression": CHANGES_NOTHING_OF_MAIL,
    "listSuppressions": plain("/v1/suppressions"),
    "deleteSuppression": CHANGES_NOTHING_OF_MAIL,
    "createRule": CHANGES_NOTHING_OF_MAIL,
    "listRules": plain("/v1/rules"),
    "deleteRule": CHANGES_NOTHING_OF_MAIL,
    "showUnsubscribe": PUBLIC,
    "unsubscribe": PUBLIC,
    "getSummary": lists("/v1/analytics/summary", WINDOW, {**WINDOW, "inboxId": "{inbox}"}),
    "getEventSeries": lists(
        "/v1/analytics/events",
        {**WINDOW, "period": "2592000"},
        {**WINDOW, "period": "2592000", "types": "review.requested,email.received"},
    ),
    "listDestinations": lists("/v1/analytics/destinations", WINDOW),
    "listEvents": lists(
        "/v1/events", {}, {"types": "*"}, {"types": "review.requested,review.resolved"},
        {"inboxId": "{inbox}", "types": "*"},
    ),
    "streamEvents": "it does not end: test_no_stream_tells_of_it",
    "createWebhook": acting(
        "/v1/webhooks", lambda _: {"url": "https://hooks.test/", "subscribedEvents": ["review.requested"]}
    ),
    "listWebhooks": plain("/v1/webhooks"),
    "listDeliveries": plain("/v1/webhooks/deliveries"),
    "redeliver": "it takes the id of a delivery, and no event tells of what is held",
    "getWebhook": CHANGES_NOTHING_OF_MAIL,
    "updateWebhook": CHANGES_NOTHING_OF_MAIL,
    "deleteWebhook": CHANGES_NOTHING_OF_MAIL,
    "rotateWebhookSecret": CHANGES_NOTHING_OF_MAIL,
    "testWebhook": CHANGES_NOTHING_OF_MAIL,
    **dict.fromkeys(
        ("showQueue", "listQueue", "pauseQueue", "resumeQueue", "retryQueue", "holdQueue", "releaseQueue", "dropQueue"),
        OPERATORS,
    ),
}  # fmt: skip
METHODS = {one.id: one.method for one in OPERATIONS}
# Where those see it who decide. All else answers them as it does the others.
SHOWN_TO_DECIDERS = {
    "getMessage", "getRawMessage", "getEvidence", "getAttachment", "listReviews", "getReview", "listEvents",
}  # fmt: skip


class World:
    """`callers`: by what they are; none may decide."""

    def __init__(self, maild: Running, callers: Mapping[str, Api], decider: Api) -> None:
        self.maild = maild
        self.callers = callers
        self.decider = decider
        self.names: Names
        self.before: dict[str, dict[Ask, Any]] = {}

    async def ask(self, api: Api, operation: str, ask: Ask) -> Answer:
        answer = await api.call(METHODS[operation], ask.path, ask.body, params=dict(ask.query))
        return answer

    def marks(self) -> set[str]:
        """What no answer has in it."""
        rows = self.maild.sql(
            """SELECT m.id FROM messages m WHERE m.held_at IS NOT NULL
               UNION SELECT a.id FROM attachments a JOIN messages m ON m.id = a.message_id WHERE m.held_at IS NOT NULL
               UNION SELECT thread_id FROM held_mail h WHERE thread_id NOT IN (SELECT id FROM threads)
               UNION SELECT id FROM reviews UNION SELECT header FROM held_mail WHERE header IS NOT NULL"""
        )
        return {*WORDS, "482913", *(mark for (mark,) in rows)}


def test_every_operation_has_a_row() -> None:
    assert list(MATRIX) == [one.id for one in OPERATIONS], (
        "say how it is called, or why it can't show what is held"
    )


@pytest.fixture
async def world(start: Start) -> AsyncIterator[World]:
    maild = await start()
    bot = await maild.inbox("bot")
    work = {"version": 0, "work": {"enabled": True}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", work)).status == 200
    seen = await maild.received(bot, mail("question", "hello", message_id="1@elsewhere.test"))
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["ada@elsewhere.test"]})).data
    others = [one for one in SCOPES if not one.startswith("reviews:")]
    test_key = await maild.api.post("/v1/keys", {"name": "test", "mode": "test", "scopes": others})
    made = World(
        maild,
        {
            "unbound": await maild.key(*others),
            "bound": await maild.key(
                "messages:read", "messages:send", "threads:read", "inboxes:read", inbox=bot
            ),
            "test": maild.api.with_key(test_key.data["apiKey"]),
            "foreign": (await maild.organization()).api,
        },
        await maild.key(),
    )
    absent = "7" + "z" * 25  # newer than all
    made.names = Names(
        bot["id"], seen["id"], seen["threadId"], draft["id"], f"msg_{absent}", f"msg_{absent}", f"msg_{absent}",
        f"thd_{absent}", f"att_{absent}", f"rev_{absent}",
    )  # fmt: skip

    await maild.api.get(f"/v1/messages/{seen['id']}/evidence")  # which is kept from now on
    yield made


async def come(world: World) -> None:
    """The held mail."""
    maild, bot = world.maild, {"id": world.names.inbox, "address": "bot@agents.test"}
    await hold(maild, bot, "unverified")
    in_answer = ("In-Reply-To: <1@elsewhere.test>", "MIME-Version: 1.0")
    head = mail("Re: question zebra", "", *in_answer, sender="giraffe@elsewhere.test", message_id="okapi@1")
    answer = await held(maild, bot, head.rstrip() + "\n" + ATTACHED)
    beginning = await held(maild, bot, mail("zebra", "giraffe", message_id="okapi@2"))
    rejected = await held(maild, bot, mail("zebra", "okapi", message_id="okapi@3"))
    assert (await reject(maild.api, rejected)).status == 200
    ids = [one["messageId"] for one in (answer, beginning, rejected)]
    for one in ids:  # what is found is kept
        assert (await world.decider.get(f"/v1/messages/{one}/evidence")).status == 200
    ((attachment,),) = maild.sql("SELECT id FROM attachments WHERE message_id = ?", ids[0])
    ((thread,),) = maild.sql("SELECT thread_id FROM held_mail WHERE message_id = ?", ids[1])
    assert maild.sql("SELECT thread_id FROM held_mail WHERE message_id = ?", ids[0]) == [
        (world.names.seen_thread,)
    ]
    world.names = world.names._replace(
        answer=ids[0], beginning=ids[1], rejected=ids[2], thread_to_be=thread, attachment=attachment,
        review=beginning["id"],
    )  # fmt: skip


def rows() -> Mapping[str, Asks]:
    return {name: asks for name, asks in MATRIX.items() if not isinstance(asks, str)}


def alike(answer: Answer) -> Any:
    """The answer without what changes by itself, or because policies did."""
    if answer.status >= 400:
        return answer.status, answer.code
    try:
        return answer.status, _without(json.loads(answer.body))
    except ValueError:
        return answer.status, answer.body


def _without(value: Any) -> Any:
    changing = ("lastUsedAt", "version", "inbound", "policy", "cursor")
    if isinstance(value, dict):
        return {name: _without(one) for name, one in value.items() if name not in changing}
    return [_without(one) for one in value] if isinstance(value, list) else value


async def reads(world: World, names: Names) -> dict[tuple[str, str, int], Any]:
    """What all GETs answer all callers."""
    found = {}
    for caller, api in world.callers.items():
        for operation, asks in rows().items():
            if METHODS[operation] == "GET":
                for number, ask in enumerate(asks(names)):
                    found[caller, operation, number] = alike(await world.ask(api, operation, ask))
    return found


async def test_all_reads_are_answered_as_before_it_came(world: World) -> None:
    names = world.names
    before = await reads(world, names)
    await come(world)
    after = await reads(world, world.names)  # which names what is held, where before it named what is absent
    assert {key for key in before if before[key] != after[key]} == set()
    assert len(before) > 200 and any(status == 200 for status, _ in before.values())


async def test_no_answer_has_a_mark_of_it(world: World) -> None:
    await come(world)
    marks = world.marks()
    for caller, api in world.callers.items():
        for operation, asks in rows().items():
            for ask in asks(world.names):
                answer = await world.ask(api, operation, ask)
                # What the caller names itself may be named in the answer (the ids of a batch).
                told = answer.body.decode() + str(dict(answer.headers))
                given = json.dumps([ask.path, dict(ask.query), ask.body])
                found = {mark for mark in marks if mark in told and mark not in given}
                assert not found, (caller, operation, ask, told)
                if ask.names_held and answer.status < 500:
                    assert answer.code in NOT_HERE | {
                        "insufficient_scope",
                        "inbox_not_found",
                        "draft_not_found",
                    }, (
                        caller,
                        operation,
                        ask,
                        told,
                    )


async def test_what_is_named_is_not_there_rather_than_forbidden(world: World) -> None:
    """Of the organization's own keys those that may do it hear 404: held or absent makes no difference to them."""
    await come(world)
    for operation, asks in rows().items():
        for ask in asks(world.names):
            if ask.names_held:
                answer = await world.ask(world.callers["unbound"], operation, ask)
                assert (answer.status, answer.code in NOT_HERE) == (404, True), (operation, ask, answer.body)
    assert world.maild.sql("SELECT count(*) FROM messages WHERE held_at IS NOT NULL") == [(3,)]
    assert world.maild.sql("SELECT count(*) FROM messages WHERE labels LIKE '%x%'") == [(0,)]


async def test_those_who_decide_see_it_in_these_operations_alone(world: World) -> None:
    await come(world)
    marks = world.marks()
    shown = set()
    for operation, asks in rows().items():
        for ask in asks(world.names):
            answer = await world.ask(world.decider, operation, ask)
            given = json.dumps([ask.path, dict(ask.query), ask.body])
            if any(mark in answer.body.decode() and mark not in given for mark in marks):
                shown.add(operation)
    assert shown == SHOWN_TO_DECIDERS
    assert world.maild.sql("SELECT count(*) FROM messages WHERE held_at IS NOT NULL AND labels = '[]'") == [
        (3,)
    ]


# What does not end, or is not asked for ----------------------------------------------------------------


async def test_no_stream_tells_of_it(world: World) -> None:
    """What comes behind it is the first that is told."""
    callers = {name: world.callers[name] for name in ("unbound", "bound", "test")}
    async with AsyncExitStack() as opened:
        streams = [await opened.enter_async_context(EventStream(api, types="*")) for api in callers.values()]
        await come(world)
        await world.maild.api.call("PATCH", f"/v1/messages/{world.names.seen}", {"addLabels": ["then"]})
        for stream in streams:
            assert (await stream.next()).type == "message.updated"


async def test_no_webhook_is_called_for_it_before_it_is_released(world: World) -> None:
    types = ["email.received", "message.updated", "message.deleted", "thread.updated"]
    body = {"url": "https://hooks.test/", "subscribedEvents": types}
    world.maild.sql(
        """INSERT INTO webhooks (id, organization_id, url, subscribed_events, secret, created_at, updated_at)
           VALUES ('whk_1', ?, ?, ?, x'00', 1, 1)""",
        world.maild.organization_id,
        body["url"],
        json.dumps(types),
    )
    await come(world)
    assert world.maild.sql("SELECT count(*) FROM webhook_deliveries") == [(0,)]
    assert (await approve(world.decider, {"id": world.names.review})).status == 200
    assert world.maild.sql("SELECT count(*) FROM webhook_deliveries") == [(1,)]


async def test_a_wait_is_woken_by_what_is_released_and_not_by_what_is_held(world: World) -> None:
    caller = world.callers["unbound"]
    query = {"timeoutSeconds": "20", "after": world.names.seen}
    waiting = asyncio.ensure_future(caller.get("/v1/messages/wait", **query))
    await come(world)
    assert not waiting.done()
    assert (await approve(world.decider, {"id": world.names.review})).status == 200
    assert (await waiting).data["message"]["id"] == world.names.beginning


async def test_a_code_is_claimed_once_it_is_released(world: World) -> None:
    caller, path = world.callers["unbound"], f"/v1/inboxes/{world.names.inbox}/codes/claim"
    body = {"allowUnverified": True, "waitSeconds": 0, "after": "2020-01-01T00:00:00Z"}
    await come(world)
    assert (await caller.post(path, body)).data["claimed"] is False
    (review,) = [one for one in await reviews(world.decider) if one["messageId"] == world.names.answer]
    assert (await approve(world.decider, review)).status == 200
    assert (await caller.post(path, body)).data["value"] == "482913"


async def test_work_is_what_is_released(world: World) -> None:
    caller, path = world.callers["unbound"], f"/v1/inboxes/{world.names.inbox}/claims"
    await come(world)
    offered = (await caller.post(path, {"max": 20, "waitSeconds": 0})).data
    assert [one["message"]["id"] for one in offered] == [world.names.seen]
    assert (await approve(world.decider, {"id": world.names.review})).status == 200
    (claim,) = (await caller.post(path, {"max": 20, "waitSeconds": 0})).data
    assert claim["message"]["id"] == world.names.beginning


async def test_what_is_held_outlives_its_inbox(world: World) -> None:
    await come(world)
    marks = world.marks()
    assert (await world.maild.api.call("DELETE", f"/v1/inboxes/{world.names.inbox}")).status == 200
    answer = await world.callers["unbound"].get("/v1/messages")
    assert not any(mark in answer.body.decode() for mark in marks)
    assert (await approve(world.decider, {"id": world.names.review})).status == 200
    assert (await world.callers["unbound"].get(f"/v1/messages/{world.names.beginning}")).status == 200
    assert is_whole(world.maild)


async def test_nobody_else_is_known_by_it(world: World) -> None:
    """Who was held is a stranger still to what comes later (evidence), and may not be answered."""
    await come(world)
    path = f"/v1/inboxes/{world.names.inbox}/policy"
    before = (await world.maild.api.get(path)).data
    await world.maild.api.call("PUT", path, {**before, "inbound": {}})
    seen = await world.maild.received(
        {"id": world.names.inbox, "address": "bot@agents.test"}, mail(sender="giraffe@elsewhere.test")
    )
    evidence = (await world.maild.api.get(f"/v1/messages/{seen['id']}/evidence")).data
    assert "first_time_sender" in {one["kind"] for one in evidence["items"]}
