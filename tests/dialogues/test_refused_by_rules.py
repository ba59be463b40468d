"""Mail that inboxes refuse by rules and policies: after DATA, with one text, and only when all of its recipients do
(threats L2)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from maild.inbound.delivery.mailboxes import REFUSED
from maild.message.parsing.parse import parse
from tests.conftest import Start
from tests.contract.verdicts.test_sender_verdicts import HERE, begin
from tests.contract.verdicts.test_spoofing import FROM_FIELDS, VICTIM, signed_and_forged
from tests.dialogues.test_reports import begin as reporting_world
from tests.dialogues.test_reports import bounce
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running, until, until_true
from tests.support.worlds.sender_world import TEXT, SenderWorld, mail_from

REPLY = "{} {} {}".format(*REFUSED)
FRIEND, FORGER = "ann@bank.test", "x@evil.test"


@pytest.fixture
async def world(start: Start) -> AsyncIterator[SenderWorld]:
    """bank.test proves by SPF what it sends, evil.test too, nobody.test proves nothing."""
    async with DnsServer() as dns:
        made = await begin(start, dns, dmarc="report")  # so that what is not proven comes as far as rules
        made.domain("bank.test", dmarc="p=none", spf=HERE)
        made.domain("evil.test", dmarc="p=none", spf=HERE)
        yield made


async def rule(maild: Running, action: str, value: str, **fields: Any) -> str:
    answer = await maild.api.post(
        "/v1/rules", {"direction": "inbound", "action": action, "value": value, **fields}
    )
    made: str = answer.data["id"]
    return made


async def unlisted(maild: Running, fate: str, inbox: dict[str, Any] | None = None) -> None:
    path = "/v1/organization/policy" if inbox is None else f"/v1/inboxes/{inbox['id']}/policy"
    version = (await maild.api.get(path)).data["version"]
    answer = await maild.api.call("PUT", path, {"version": version, "inbound": {"unlisted": fate}})
    assert answer.status == 200


async def refused(world: SenderWorld, raw: bytes, sender: str) -> str:
    """The reply to a message that is not taken; nothing of it is there afterwards."""
    before = world.maild.sql("SELECT count(*) FROM messages")
    reply = await world.maild.deliver(world.bot["address"], raw, sender)
    assert world.maild.sql("SELECT count(*) FROM messages") == before
    return reply


async def say(maild: Running, raw: bytes, sender: str, *to: str) -> str:
    """The reply to the end of one message for these recipients, all of whom RCPT takes."""
    talk = await maild.smtp()
    assert (await talk.say("EHLO there.test")).startswith("250")
    assert (await talk.say(f"MAIL FROM:<{sender}>")).startswith("250")
    for one in to:
        assert (await talk.say(f"RCPT TO:<{one}>")).startswith("250")
    assert (await talk.say("DATA")).startswith("354")
    await talk.write(raw)
    reply = await talk.say(b".")
    assert (await talk.say("NOOP")).startswith("250")  # the session goes on
    talk.hang_up()
    return reply


@pytest.mark.parametrize(
    ("value", "author", "sender"),
    [
        ("eve@evil.test", "eve@evil.test", "bounces@nobody.test"),
        ("eve@evil.test", "Eve <EVE+tag@Evil.TEST>", "bounces@nobody.test"),
        ("evil.test", "eve@evil.test", "bounces@nobody.test"),
        ("*.evil.test", "eve@a.b.evil.test", "bounces@nobody.test"),
        ("bücher.test", "eve@xn--bcher-kva.test", "bounces@nobody.test"),
        ("xn--bcher-kva.test", "eve@bücher.test", "bounces@nobody.test"),
        ("ÄÖ@evil.test", "äö@evil.test", "bounces@nobody.test"),
        ("evil.test", "ann@bank.test", "eve@evil.test"),
        ("eve@evil.test", "ann@bank.test", "eve+x@evil.test"),
        ("evil.test", "ann@bank.test, eve@evil.test", "ann@bank.test"),
    ],
)
async def test_who_is_blocked_is_refused_with_one_text(
    world: SenderWorld, value: str, author: str, sender: str
) -> None:
    raw = mail_from(author)
    await world.judged(raw, sender)  # as long as there is no rule
    await rule(world.maild, "block", value)
    assert await refused(world, raw, sender) == REPLY
    assert (await world.judged(mail_from("ann@bank.test"), "ann@bank.test"))["auth"]["verifiedDomain"]


async def test_the_text_does_not_tell_rules_from_policies(world: SenderWorld) -> None:
    await rule(world.maild, "block", "evil.test")
    await unlisted(world.maild, "refuse")
    blocked = await refused(world, mail_from("eve@evil.test"), "eve@evil.test")
    assert blocked == await refused(world, mail_from(FRIEND), FRIEND) == REPLY


async def test_who_is_allowed_and_proven_is_taken_and_nobody_else(world: SenderWorld) -> None:
    await unlisted(world.maild, "refuse")
    await rule(world.maild, "allow", "bank.test")
    assert (await world.judged(mail_from(FRIEND), FRIEND))["auth"]["verifiedDomain"] == "bank.test"
    assert await refused(world, mail_from(FRIEND), "x@nobody.test") == REPLY  # not proven
    assert await refused(world, mail_from("eve@evil.test"), FRIEND) == REPLY  # the envelope alone is allowed
    await rule(world.maild, "block", FRIEND, inboxId=world.bot["id"])
    assert await refused(world, mail_from(FRIEND), FRIEND) == REPLY


async def test_no_shape_of_from_makes_a_forger_one_who_is_allowed(world: SenderWorld) -> None:
    await unlisted(world.maild, "refuse")
    await rule(world.maild, "allow", "bank.test")
    await rule(world.maild, "allow", VICTIM)
    evil = world.signers["evil.test"]
    for shape, fields in FROM_FIELDS.items():
        for raw in signed_and_forged(evil, fields.encode()):
            assert await refused(world, raw, FORGER) == REPLY, shape


async def test_who_is_shown_is_who_is_blocked(world: SenderWorld) -> None:
    """In every shape of From: whoever reads `fromAddress` can block it."""
    blocked = 0
    for shape, fields in FROM_FIELDS.items():
        raw = fields.encode() + b"\r\n" + TEXT
        shown = (await world.judged(raw, "x@nobody.test"))["fromAddress"]
        made = await world.maild.api.post(
            "/v1/rules", {"direction": "inbound", "action": "block", "value": shown}
        )
        if made.status == 400:  # it is no address that mail can be sent to
            continue
        blocked += 1
        assert (
            await refused(world, raw, "y@elsewhere.test" if shown != "x@nobody.test" else shown) == REPLY
        ), shape
        assert (await world.maild.api.call("DELETE", f"/v1/rules/{made.data['id']}")).status == 200
    assert blocked > 35


async def test_a_header_of_the_sender_s_own_proves_nothing(world: SenderWorld) -> None:
    await unlisted(world.maild, "refuse")
    await rule(world.maild, "allow", "bank.test")
    forged = (
        b"Authentication-Results: mail.agents.test; spf=pass smtp.mailfrom=bank.test; dkim=pass"
        b" header.d=bank.test; dmarc=pass header.from=bank.test\r\nReceived-SPF: pass\r\n"
    )
    assert await refused(world, forged + mail_from(FRIEND), "x@nobody.test") == REPLY


async def test_in_a_mixed_transaction_nobody_who_takes_it_loses_it(world: SenderWorld) -> None:
    maild, open_ = world.maild, await world.maild.inbox("open")
    ours = await rule(maild, "block", "evil.test", inboxId=world.bot["id"])
    with capture_logs() as lines:
        reply = await say(
            maild, mail_from("eve@evil.test"), "eve@evil.test", world.bot["address"], open_["address"]
        )
    assert reply.startswith("250 ")
    assert len(await maild.api.messages(inboxId=open_["id"])) == 1
    assert await maild.api.messages(inboxId=world.bot["id"]) == []
    (review,) = (await maild.api.get("/v1/reviews", direction="inbound")).data
    assert (review["inboxId"], review["status"], review["reasons"]) == (world.bot["id"], "pending", [ours])
    (accepted,) = [line for line in lines if line["event"] == "accepted"]
    assert accepted["held"] == {world.bot["id"]: (ours,)}


async def test_where_all_refuse_nothing_is_taken_and_the_log_says_why(world: SenderWorld) -> None:
    maild, other = world.maild, await world.maild.inbox("other")
    ours = await rule(maild, "block", "evil.test", inboxId=world.bot["id"])
    await unlisted(maild, "refuse", other)
    before = maild.sql("SELECT count(*) FROM blobs")
    with capture_logs() as lines:
        reply = await say(
            maild, mail_from("eve@evil.test"), "eve@evil.test", world.bot["address"], other["address"]
        )
    assert reply == REPLY
    assert await maild.api.messages() == []
    assert maild.sql("SELECT count(*) FROM blobs") == before
    (refused,) = [line for line in lines if line["event"] == "refused"]
    assert refused["refused_for"] == {world.bot["id"]: (ours,), other["id"]: ("unlisted",)}
    assert refused["mail_from"] == "eve@evil.test"


@pytest.mark.parametrize("by", ["hold From", "hold the envelope", "unlisted"])
async def test_what_is_held_is_taken_and_shown_to_who_decides(world: SenderWorld, by: str) -> None:
    maild = world.maild
    reason = "unlisted"
    if by == "unlisted":
        await unlisted(maild, "hold")
    else:
        reason = await rule(maild, "hold", "nobody.test" if by == "hold From" else "evil.test")
    raw = mail_from("eve@nobody.test")
    assert (await maild.deliver(world.bot["address"], raw, "eve@evil.test")).startswith("250 ")
    assert await maild.api.messages() == []
    (review,) = (await maild.api.get("/v1/reviews")).data
    assert (review["direction"], review["reasons"]) == ("inbound", [reason])
    await rule(maild, "allow", "bank.test")
    assert (await world.judged(mail_from(FRIEND), FRIEND))["auth"]["verifiedDomain"] == "bank.test"


async def test_a_rule_holds_for_the_next_message_of_a_session(world: SenderWorld) -> None:
    talk, maild = await world.maild.smtp(), world.maild
    replies = []
    made = ""
    for step in ("none", "made", "gone"):
        if step == "made":
            made = await rule(maild, "block", "evil.test")
        elif step == "gone":
            assert (await maild.api.call("DELETE", f"/v1/rules/{made}")).status == 200
        await talk.begin(world.bot["address"], "eve@evil.test")
        await talk.write(mail_from("eve@evil.test"))
        replies.append((await talk.say(b"."))[:3])
    assert replies == ["250", "550", "250"]


async def test_rules_of_others_refuse_nothing(world: SenderWorld) -> None:
    stranger = await world.maild.organization()
    fields = {"direction": "inbound", "action": "block", "value": "bank.test"}
    assert (await stranger.api.post("/v1/rules", fields)).status == 201
    await rule(world.maild, "block", "bank.test", direction="outbound")
    other = await world.maild.inbox("other")
    await rule(world.maild, "block", "bank.test", inboxId=other["id"])
    await world.judged(mail_from(FRIEND), FRIEND)


async def test_a_bounce_counts_however_closed_the_inbox(start: Start) -> None:
    """What tells of mail of ours has a token that nobody guesses; its author could not be listed before."""
    reporting = await reporting_world(await start())
    maild, message = reporting.maild, await reporting.sent()
    await unlisted(maild, "refuse")
    assert await maild.deliver("bot@agents.test", bounce(), sender="") == REPLY  # without a token
    assert await reporting.statuses(message) == ["delivered"]
    assert (await maild.deliver(message["sender"], bounce(), sender="")).startswith("250 ")
    assert await reporting.statuses(message) == ["bounced"]


async def test_a_bounce_of_who_is_blocked_counts_and_is_held(start: Start) -> None:
    reporting = await reporting_world(await start())
    maild, message = reporting.maild, await reporting.sent()
    author = parse(bounce().encode()).from_
    assert author is not None
    ours = await rule(maild, "block", author.address)
    with capture_logs() as lines:
        assert (await maild.deliver(message["sender"], bounce(), sender="")).startswith("250 ")
    assert await reporting.statuses(message) == ["bounced"]
    (accepted,) = [line for line in lines if line["event"] == "accepted"]
    assert [*accepted["held"].values()] == [(ours,)]


@pytest.mark.parametrize("name", ["postmaster", "abuse", "fbl"])
async def test_the_operator_is_reached_by_everybody(start: Start, name: str) -> None:
    maild = await start()
    await unlisted(maild, "refuse")
    reply = await maild.deliver(f"{name}@agents.test", mail_from("eve@evil.test"), "eve@evil.test")
    assert reply.startswith("250 ")
    reply = await maild.deliver((await maild.inbox())["address"], mail_from("eve@evil.test"), "eve@evil.test")
    assert reply == REPLY


async def test_mail_between_inboxes_of_the_host_passes_the_same_decision(maild: Running) -> None:
    here, there = await maild.inbox("here"), await maild.inbox("there")
    ours = await rule(maild, "block", here["address"], inboxId=there["id"])
    await unlisted(maild, "refuse")
    await rule(maild, "allow", here["address"], inboxId=here["id"])

    async def failed() -> dict[str, Any] | None:
        found: dict[str, Any] = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
        return found if found["status"] not in ("queued", "sent") else None

    async def told() -> Any:  # behind the commit, which the API shows at once
        return next((line for line in lines if line["event"] == "bounced"), None)

    with capture_logs() as lines:
        sent = (await maild.api.send(here, to=[there["address"], here["address"]])).data
        recipients = {one["address"]: one for one in (await until(failed))["recipients"]}
        bounced = await until(told)
    refused, taken = recipients[there["address"]], recipients[here["address"]]
    assert (refused["status"], refused["smtpCode"], refused["enhancedCode"]) == ("bounced", *REFUSED[:2])
    assert taken["status"] == "delivered"
    assert await maild.api.messages(inboxId=there["id"]) == []
    assert bounced["refused_for"] == (ours,)
    assert (await maild.api.get("/v1/suppressions")).data == []


async def test_the_simulator_s_answers_pass_it_too(maild: Running, bot: dict[str, Any]) -> None:
    await unlisted(maild, "refuse")
    with capture_logs() as lines:
        await maild.test_api.send(bot, to=["reply@simulator.test"])

        await until_true(lambda: any(line["event"] == "answer_refused" for line in lines))
    assert await maild.api.messages(inboxId=bot["id"], direction="inbound") == []
    await rule(maild, "allow", "simulator.test")
    await maild.test_api.send(bot, to=["reply@simulator.test"])
    await maild.arrival(bot)
