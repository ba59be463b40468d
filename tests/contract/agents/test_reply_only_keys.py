"""Keys with messages:reply and not messages:send: whom they may answer, and what else they may (docs/contract.md, "Keys
that only answer")."""

import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from maild.message.fields.address import normalize
from storage.clock import iso
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Answer, Api, Running, until
from tests.support.worlds.sender_world import SenderWorld
from tests.support.worlds.store import ManualClock

BODIES = int(os.environ.get("REPLY_BODIES", "150"))
SEED = int(os.environ.get("REPLY_SEED", "7"))
PEOPLE = [
    *(
        "info@liar.test",
        "info@bank.test",
        "INFO@Bank.test",
        "desk@bank.test",
        "eve@far.test",
        "evil@bank.test.far.test",
    ),
    *("bot@agents.test", "bot+x@agents.test"),
]
LIMITS = {"requests_per_minute": 100_000}
NOW_MS = 1_795_219_200_000
ANSWER = "In-Reply-To: <1@bank.test>\r\n"
HELLO = b"Subject: Hi\r\nDate: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <1@bank.test>\r\n"


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
async def world(start: Start, dns: DnsServer, clock: ManualClock) -> SenderWorld:
    maild = await start(clock=clock, limits=LIMITS, dns={"nameservers": [f"127.0.0.1:{dns.port}"]})
    world = SenderWorld(maild, dns, await maild.inbox("bot"))
    world.domain("bank.test", dmarc="p=reject")
    dns.servfail |= {
        (f"{name}.test", "MX") for name in ("bank", "help.bank", "far", "liar")
    }  # what is sent waits
    return world


async def replier(world: SenderWorld, *more: str) -> Api:
    return await world.maild.key("messages:reply", *more, inbox=world.bot)


async def came(
    world: SenderWorld, head: str = "", *, author: str = "info@bank.test", signed: bool = True
) -> str:
    """A message of the conversation; its id."""
    lines = f"From: {author}\r\n{head}".encode() + HELLO + b"\r\nHello, bot\r\n"
    raw = world.signers[author.partition("@")[2]].sign(lines) if signed else lines
    message: dict[str, Any] = await world.judged(raw)
    return str(message["id"])


async def reply(api: Api, message_id: str, **fields: Any) -> Answer:
    return await api.post(f"/v1/messages/{message_id}/reply", {"text": "Thanks.", **fields})


async def send(world: SenderWorld, api: Api, message_id: str, to: str, **fields: Any) -> Answer:
    return await api.send(world.bot, inReplyTo=message_id, to=[to], **fields)


@pytest.mark.parametrize(
    ("head", "reply_all", "to", "cc", "left_out"),
    [
        ("To: bot@agents.test\r\n", False, ["info@bank.test"], [], []),
        ("To: bot@agents.test\r\nReply-To: desk@bank.test\r\n", False, ["desk@bank.test"], [], []),
        ("Reply-To: desk@help.bank.test\r\n", False, ["desk@help.bank.test"], [], []),
        ("Reply-To: evil@far.test\r\n", False, ["info@bank.test"], [], ["evil@far.test"]),
        ("Reply-To: evil@far.test, desk@bank.test\r\n", False, ["desk@bank.test"], [], ["evil@far.test"]),
        ("To: bot@agents.test, eve@far.test\r\n", True, ["info@bank.test"], [], ["eve@far.test"]),
        (
            "Cc: eve@far.test, other@bank.test\r\n",
            True,
            ["info@bank.test"],
            [],
            ["eve@far.test", "other@bank.test"],
        ),
        ("To: bot@agents.test, INFO@bank.test\r\n", True, ["info@bank.test"], [], []),
    ],
)
async def test_whom_it_answers(
    world: SenderWorld, head: str, reply_all: bool, to: list[str], cc: list[str], left_out: list[str]
) -> None:
    message_id = await came(world, head)
    for api in (await replier(world), await world.maild.key("messages:reply")):
        for as_draft in (False, True):
            answer = await reply(api, message_id, replyAll=reply_all, asDraft=as_draft)
            assert answer.status == 201
            assert (answer.data["toAddresses"], answer.data["ccAddresses"]) == (to, cc)
            dropped = answer.data["resolved"]["dropped"]
            assert [one["address"] for one in dropped if one["reason"] == "not_allowed"] == left_out


async def test_a_forged_author_can_not_be_answered(world: SenderWorld) -> None:
    api = await replier(world)
    for head in (
        "",
        "Reply-To: desk@liar.test\r\n",
        "Authentication-Results: mx.agents.test; dmarc=pass\r\n",
    ):
        message_id = await came(world, head, author="info@liar.test", signed=False)
        answer = await reply(api, message_id)
        assert (answer.status, answer.code) == (403, "recipient_not_allowed")
        wanted = "desk@liar.test" if "Reply-To" in head else "info@liar.test"
        assert answer.error["details"] == {"address": wanted, "reason": "participants", "ruleId": None}
        assert "'auth.verifiedDomain'" in answer.error["message"]  # what its owner has to know first of all
    assert world.maild.sql("SELECT count(*) FROM messages WHERE direction = 'outbound'") == [(0,)]
    assert (await reply(world.maild.api, message_id)).status == 201  # one that may write to anybody
    assert (await reply(api, message_id)).status == 201  # who was written to may be answered


async def test_whom_a_sender_has_written_to_may_be_answered(world: SenderWorld) -> None:
    api = await replier(world)
    message_id = await came(world, "To: bot@agents.test, a@far.test, b@far.test, c@far.test, d@far.test\r\n")
    maild = world.maild
    assert (await send(world, maild.api, message_id, "a@far.test", bcc=["B@far.test"])).status == 201
    later = (await send(world, maild.api, message_id, "c@far.test", sendAt=iso(NOW_MS + 90_000))).data
    await maild.api.call("DELETE", f"/v1/messages/{later['id']}/schedule")
    assert (await send(world, maild.test_api, message_id, "d@far.test")).status == 201
    sent = (await reply(api, message_id, replyAll=True)).data
    assert sent["toAddresses"] == ["info@bank.test", "a@far.test", "b@far.test"]
    test_key = await maild.operate(
        maild.store.keys.create, maild.organization_id, "t", ["messages:reply"], world.bot["id"], "test"
    )
    tested = (await reply(maild.api.with_key(test_key["apiKey"]), message_id, replyAll=True)).data
    assert tested["toAddresses"] == ["info@bank.test", "a@far.test", "b@far.test", "d@far.test"]


async def test_its_own_answers_open_no_door(world: SenderWorld) -> None:
    """Whom it wrote to once, it may not write to when what allowed that is gone."""
    api = await replier(world)
    forged = await came(world, "Reply-To: info@bank.test\r\n", author="info@liar.test", signed=False)
    proven = await came(world, ANSWER)
    sent = (await reply(api, proven)).data
    assert (await reply(api, sent["id"])).data["toAddresses"] == ["info@bank.test"]
    await world.maild.api.call("DELETE", f"/v1/messages/{proven}")
    assert (await reply(api, sent["id"])).code == "recipient_not_allowed"
    assert (await reply(api, forged)).code == "recipient_not_allowed"


async def test_a_scheduled_answer_is_asked_for_again_when_it_goes(
    world: SenderWorld, clock: ManualClock
) -> None:
    api = await replier(world)
    kept = await came(world, author="info@liar.test", signed=False)
    proven = await came(world, ANSWER)
    waits = (await reply(api, proven, sendAt=iso(NOW_MS + 90_000))).data
    assert waits["threadId"] == (await world.maild.api.get(f"/v1/messages/{kept}")).data["threadId"]
    await world.maild.api.call("DELETE", f"/v1/messages/{proven}")
    clock.forward(90)

    async def look() -> dict[str, Any] | None:
        found: dict[str, Any] = (await world.maild.api.get(f"/v1/messages/{waits['id']}")).data
        return None if found["status"] == "scheduled" else found

    gone = await until(look)
    assert (gone["status"], gone["failureReason"]) == ("failed", "recipient_not_allowed")


@pytest.mark.parametrize(
    ("fields"),
    [
        {"to": ["info@bank.test"]},
        {"cc": ["info@bank.test"]},
        {"bcc": ["eve@far.test"]},
        {"subject": "Else"},
        {"headers": {"Reply-To": "eve@far.test"}},
    ],
)
async def test_it_chooses_neither_recipients_nor_fields(world: SenderWorld, fields: dict[str, Any]) -> None:
    answer = await reply(await replier(world), await came(world), **fields)
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    assert answer.error["details"]["requiredScope"] == "messages:send"


async def test_what_else_it_may(world: SenderWorld) -> None:
    api = await replier(world, "messages:read")
    message_id = await came(world)
    message = (await api.get(f"/v1/messages/{message_id}")).data
    draft = (await reply(api, message_id, asDraft=True)).data
    attachment = {"filename": "a.txt", "content": "aGk="}
    allowed = [
        await reply(api, message_id, attachments=[attachment], quote="text", html="<b>x</b>"),
        await api.post(
            f"/v1/threads/{message['threadId']}/reply",
            {"text": "x", "ifLastMessageId": (await newest(api, message))},
        ),
        await api.call("PATCH", f"/v1/messages/{message_id}", {"labels": []}),
    ]
    assert [one.status for one in allowed] == [201, 201, 200]
    refused = [
        await api.send(world.bot, to=["info@bank.test"]),
        await api.send(world.bot, to=["info@bank.test"], inReplyTo=message_id),
        await api.post(f"/v1/messages/{message_id}/forward", {"to": ["info@bank.test"]}),
        await api.post("/v1/drafts", {"inboxId": world.bot["id"]}),
        await api.post(f"/v1/drafts/{draft['id']}/send", None),
        await api.call("PATCH", f"/v1/drafts/{draft['id']}", {"to": ["eve@far.test"]}),
        await api.call("DELETE", f"/v1/drafts/{draft['id']}"),
        await api.call("DELETE", f"/v1/messages/{message_id}"),
    ]
    assert [(one.status, one.code) for one in refused] == [(403, "insufficient_scope")] * len(refused)
    sent = await world.maild.api.post(f"/v1/drafts/{draft['id']}/send", None)
    assert sent.data["toAddresses"] == ["info@bank.test"]


async def newest(api: Api, message: dict[str, Any]) -> str:
    (one,) = await api.messages(threadId=message["threadId"], limit="1")
    return str(one["id"])


async def test_another_inbox_is_another_key_s(world: SenderWorld) -> None:
    message_id = await came(world)
    beside = await world.maild.inbox("beside")
    api = await world.maild.key("messages:reply", inbox=beside)
    assert (await reply(api, message_id)).code == "inbox_access_denied"
    stranger = await world.maild.organization()
    assert (await reply(stranger.api, message_id)).code == "message_not_found"


async def test_what_is_taken_away_between_look_and_commit_is_missed(
    world: SenderWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction that stores the answer asks for itself."""
    api = await replier(world)
    await came(world, author="info@liar.test", signed=False)
    proven = await came(world, ANSWER)
    pipeline = world.maild.daemon.operations._services.pipeline
    keep = pipeline._keep

    async def deleted_meanwhile(raw: bytes) -> Any:
        await world.maild.api.call("DELETE", f"/v1/messages/{proven}")
        return await keep(raw)

    monkeypatch.setattr(pipeline, "_keep", deleted_meanwhile)
    assert (await reply(api, proven)).code == "recipient_not_allowed"
    assert world.maild.sql("SELECT count(*) FROM messages WHERE direction = 'outbound'") == [(0,)]


async def test_mail_of_another_inbox_here_can_be_answered(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    await maild.api.send(other, to=[bot["address"], "eve@far.test"], headers={"Reply-To": "eve@far.test"})
    message = await maild.arrival(bot)
    sent = (await reply(await maild.key("messages:reply", inbox=bot), message["id"], replyAll=True)).data
    assert sent["toAddresses"] == ["other@agents.test"]
    assert {one["address"] for one in sent["resolved"]["dropped"]} == {"eve@far.test", bot["address"]}


async def test_whatever_it_asks_for_nobody_else_is_written_to(world: SenderWorld) -> None:
    """Addresses in every field, at random."""
    chance = random.Random(SEED)
    parents = [await came(world, "Reply-To: desk@bank.test\r\nCc: eve@far.test\r\n")]
    for _ in range(12):
        fields = [name for name in ("To", "Cc", "Reply-To") if chance.random() < 0.7]
        head = "".join(
            f"{name}: {', '.join(chance.sample(PEOPLE, chance.randint(1, 4)))}\r\n" for name in fields
        )
        head += ANSWER
        is_forged = chance.random() < 0.3
        author = "info@liar.test" if is_forged else "info@bank.test"
        parents.append(await came(world, head, author=author, signed=not is_forged))
    api, outcomes = await replier(world), Counter[str]()
    thread_id = (await world.maild.api.get(f"/v1/messages/{parents[0]}")).data["threadId"]
    for number in range(BODIES):
        body = random_body(chance)
        path = f"/v1/messages/{chance.choice(parents)}/reply"
        if number % 7 == 0:
            path, body = f"/v1/threads/{thread_id}/reply", {"ifLastMessageId": parents[-1], **body}
        answer = await api.post(path, body)
        outcomes[answer.code or str(answer.status)] += 1
        if answer.status == 201 and answer.data["id"].startswith("msg_"):
            parents.append(answer.data["id"])
    written = world.maild.sql(
        "SELECT to_addresses, cc_addresses, bcc_addresses FROM messages WHERE direction = 'outbound'"
    )
    everybody = {normalize(one) for row in written for addresses in row for one in json.loads(addresses)}
    assert everybody == {"info@bank.test", "desk@bank.test"}
    assert {"201", "insufficient_scope", "recipient_not_allowed"} <= outcomes.keys(), outcomes


def random_body(chance: random.Random) -> dict[str, Any]:
    def some() -> list[str]:
        return chance.sample(PEOPLE, chance.randint(1, 3))

    words = f"Forward this to {', '.join(some())}"
    body: dict[str, Any] = {"text": words, "html": f'<a href="mailto:{some()[0]}">{words}</a>'}
    body |= {"replyAll": chance.random() < 0.5, "quote": chance.choice(["none", "text"])}
    given = {
        "to": some(), "cc": some(), "bcc": some(), "subject": words, "headers": {"Reply-To": some()[0]},
        "asDraft": True, "sendAt": iso(NOW_MS + 3_600_000), "unsubscribe": True, "inboxId": words,
    }  # fmt: skip
    return body | {name: value for name, value in given.items() if chance.random() < 0.06}


async def test_an_answer_that_is_too_late_is_no_way_to_read(maild: Running, bot: dict[str, Any]) -> None:
    """Who may read is told what came meanwhile; others hear that something did."""
    ada = await maild.inbox("ada")
    came = []
    for count, subject in enumerate(("s", "Re: s"), 1):
        await maild.api.send(ada, to=[bot["address"]], subject=subject, text="secret")
        came.append(await maild.arrival(bot, count=count))
    first, later = came
    fields = {"ifLastMessageId": first["id"]}
    body = {"reply": {"messageId": first["id"], "text": "x", **fields}}
    nothing, everything = ("", "", None), ("secret", ada["address"], "agents.test")
    for scopes, words in ((["messages:reply"], nothing), (["messages:reply", "messages:read"], everything)):
        api = await maild.key(*scopes)
        told = (await reply(api, first["id"], **fields)).error
        checked = (await api.post("/v1/messages/check", body)).data["errors"][0]
        assert told["code"] == "thread_advanced" and checked["details"] == told["details"]
        (newer,) = told["details"]["newer"]
        shown = newer["snippet"], newer["fromAddress"], newer["verifiedDomain"]
        assert (newer["id"], shown) == (later["id"], words)


async def test_a_draft_that_quotes_is_no_way_to_read(maild: Running, bot: dict[str, Any]) -> None:
    """The draft is answered with its text, and so with the words of the mail."""
    got = await maild.received(bot, "From: ada@elsewhere.test\nSubject: s\n\nsecret\n")
    fields = {"asDraft": True, "quote": "text"}
    grant = await maild.api.post(
        "/v1/rules", {"direction": "outbound", "action": "allow", "value": "elsewhere.test"}
    )
    assert grant.status == 201
    blind = await maild.key("messages:reply")
    refused = await reply(blind, got["id"], **fields)
    assert (refused.status, refused.code) == (403, "insufficient_scope")
    assert refused.error["details"]["requiredScope"] == "messages:read"
    assert (await reply(blind, got["id"], asDraft=True)).status == 201
    assert (
        "secret"
        in (await reply(await maild.key("messages:reply", "messages:read"), got["id"], **fields)).data[
            "textBody"
        ]
    )
