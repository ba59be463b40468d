"""Bounces and complaints over SMTP: what counts, once; and what is only mail (threats S20 to S23)."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from maild.message.envelope_sender import EnvelopeSenders
from storage import server_secrets
from storage.clock import DAY_MS, iso
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until
from tests.support.waiting import GIVES_UP_S
from tests.unit.maild.message.test_message_report import (
    HOTMAIL,
    OLD_EXIM,
    POSTFIX,
    QMAIL,
    REJECTED,
    feedback,
    multipart,
)

GONE = "gone@agents.test"
OTHER = "other@agents.test"
SECOND = "second.test"
FAR = f"far@{SECOND}"
BEHIND = "nobody@behind.test"


@pytest.fixture
async def world(start: Start) -> AsyncIterator["World"]:
    """provider.test is proven by SPF: it may report."""
    async with DnsServer() as dns:
        dns.add("provider.test", "TXT", '"v=spf1 ip4:127.0.0.1 -all"')
        dns.add("_dmarc.provider.test", "TXT", '"v=DMARC1; p=none"')
        yield await begin(await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]}))


async def begin(maild: Running) -> "World":
    made = World(maild)
    for name in ("bot", "gone", "other", "victim"):
        made.inboxes[name] = await maild.inbox(name)
    await maild.inbox("far", domain=SECOND)
    return made


class World:
    """bot@ has sent mail to inboxes of the same host, so it was delivered at once."""

    def __init__(self, maild: Running) -> None:
        self.maild = maild
        self.inboxes: dict[str, dict[str, Any]] = {}
        self._senders = EnvelopeSenders(maild.server_secret(server_secrets.ENVELOPE))

    def sender(self, message: dict[str, Any], destination: str = "agents.test") -> str:
        """The envelope sender that the destination saw."""
        return self._senders.of(message["token"], "agents.test", destination)

    async def sent(self, *to: str, subject: str = "hello") -> dict[str, Any]:
        api = self.maild.api
        made = (await api.send(self.inboxes["bot"], to=list(to or [GONE]), subject=subject)).data

        async def delivered() -> dict[str, Any] | None:
            message: dict[str, Any] = (await api.get(f"/v1/messages/{made['id']}")).data
            return message if message["status"] == "delivered" else None

        found: dict[str, Any] = await until(delivered)
        ((found["token"],),) = self.maild.sql("SELECT bounce_token FROM messages WHERE id = ?", made["id"])
        found["sender"] = self.sender(found)
        return found

    async def statuses(self, message: dict[str, Any]) -> list[str]:
        found = (await self.maild.api.get(f"/v1/messages/{message['id']}")).data
        return [one["status"] for one in found["recipients"]]

    async def suppressed(self) -> list[tuple[str, str, str]]:
        rows = (await self.maild.api.get("/v1/suppressions")).data
        return [(one["email"], one["reason"], one["source"]) for one in rows]

    def events(self, type: str) -> int:
        ((count,),) = self.maild.sql("SELECT count(*) FROM events WHERE type = ?", type)
        return int(count)

    def counted(self, metric: str) -> int:
        found = self.maild.sql("SELECT value FROM usage WHERE metric = ? AND length(period) = 10", metric)
        return int(found[0][0]) if found else 0


def original(message: dict[str, Any]) -> str:
    return f"From: bot@agents.test\nMessage-ID: {message['messageIdHeader']}\nSubject: hello\n"


def bounce(
    address: str = GONE, action: str = "failed", status: str = "5.1.1", quoting: str = "X: y\n"
) -> str:
    fields = POSTFIX.replace("gone@there.test", address).replace("Gone@There.test", address)
    fields = fields.replace("Action: failed", f"Action: {action}").replace(
        "Status: 5.1.1", f"Status: {status}"
    )
    return multipart(fields, quoting)


async def test_a_bounce_counts_once_and_stays_visible(world: World) -> None:
    message = await world.sent()
    for _ in range(2):  # the second is a replay
        reply = await world.maild.deliver(world.sender(message), bounce(), sender="")
        assert reply.startswith("250 ")
    assert await world.statuses(message) == ["bounced"]
    assert await world.suppressed() == [(GONE, "hard_bounce", "bounce")]
    assert [world.events(type) for type in ("email.bounced", "email.failed")] == [1, 1]
    assert world.counted("bounced") == 1
    mail = await world.maild.api.messages(inboxId=world.inboxes["bot"]["id"], direction="inbound")
    assert [(one["subject"], one["isAutoReply"]) for one in mail] == [("Undelivered", True)] * 2


@pytest.mark.parametrize("told", ["email.bounced", "email.complained"])
async def test_what_an_inbox_sent_is_answered_for_after_it_was_deactivated(world: World, told: str) -> None:
    """Else whoever deactivates an inbox at once would hear of no bounce, and never be paused."""
    message = await world.sent()
    inbox = world.inboxes["bot"]
    assert (await world.maild.api.call("DELETE", f"/v1/inboxes/{inbox['id']}")).status == 200
    raw, sender = (bounce(), "") if told == "email.bounced" else (complaint(message), "fbl@provider.test")
    reply = await world.maild.deliver(world.sender(message), raw, sender=sender)
    assert reply == f"250 2.0.0 OK: stored as {message['id']}"  # it is no mail: nobody is there to read it
    assert [one for one, *_ in await world.suppressed()] == [GONE]
    assert (world.events(told), world.events("email.received")) == (1, 1)  # the other is that of `world.sent`
    reply = await world.maild.deliver(world.sender(message), VACATION, sender="ann@there.test")
    assert reply.startswith("550 5.1.1 ")
    assert await world.maild.api.messages(inboxId=inbox["id"], direction="inbound") == []


async def delete(world: World, message: dict[str, Any]) -> None:
    assert (await world.maild.api.call("DELETE", f"/v1/messages/{message['id']}")).status == 200


@pytest.mark.parametrize("told", ["bounced", "complained"])
async def test_a_message_is_answered_for_after_it_was_deleted(world: World, told: str) -> None:
    """Else whoever deletes what it sends would hear of no bounce, and never be paused."""
    message = await world.sent()
    await delete(world, message)
    raw, sender = (bounce(), "") if told == "bounced" else (complaint(message), "fbl@provider.test")
    reason = {"bounced": "hard_bounce", "complained": "complaint"}[told]
    for _ in range(2):  # the second is a replay
        reply = await world.maild.deliver(world.sender(message), raw, sender=sender)
        assert reply == f"250 2.0.0 OK: stored as {message['id']}"  # it is no mail: nobody asks for it
        assert [one[:2] for one in await world.suppressed()] == [(GONE, reason)]
        assert (world.counted(told), world.events(f"email.{told}")) == (1, 0)
    ((about,),) = world.maild.sql("SELECT details FROM audit WHERE type = 'suppression.added'")
    assert message["id"] in about
    assert await world.maild.api.messages(inboxId=world.inboxes["bot"]["id"], direction="inbound") == []


@pytest.mark.parametrize("taken_back", ["messages", "inboxes"])
@pytest.mark.parametrize("step", ["RCPT", "dot"])
async def test_what_is_taken_back_on_its_way_is_answered_for(
    start: Start, step: str, taken_back: str
) -> None:
    """Else whoever takes back what it sends within the host's reply would never be paused, whatever the host says."""
    async with Mx() as mx:
        outbound = {"relay": f"127.0.0.1:{mx.port}", "allow_private_networks": True}
        world = World(await start(outbound=outbound))
        mx.hold[step] = asyncio.Event()
        mx.always[step] = "550 5.1.1 no such user"
        inbox = await world.maild.inbox("bot")
        made = (await world.maild.api.send(inbox, to=["ann@there.test"])).data
        async with asyncio.timeout(GIVES_UP_S), mx.reached:
            await mx.reached.wait_for(lambda: mx.stages[step])
        path = {"messages": f"/v1/messages/{made['id']}", "inboxes": f"/v1/inboxes/{inbox['id']}"}[taken_back]
        assert (await world.maild.api.call("DELETE", path)).status == 200
        mx.hold[step].set()

        async def answered_for() -> bool | None:
            return await world.suppressed() == [("ann@there.test", "hard_bounce", "bounce")] or None

        await until(answered_for)
        assert (world.counted("bounced"), world.events("email.bounced")) == (1, 0)


async def test_what_is_no_report_is_refused_where_its_message_was_deleted(world: World) -> None:
    message = await world.sent()
    await delete(world, message)
    for sender in ("ann@there.test", ""):
        reply = await world.maild.deliver(world.sender(message), VACATION, sender=sender)
        assert reply.startswith("550 5.1.1 "), reply
    assert await world.suppressed() == []


async def test_a_report_about_a_deleted_message_speaks_for_no_other_host(world: World) -> None:
    """Though the other host's recipient has had its report, and is the only one left of those who had it."""
    message = await world.sent(GONE, FAR)
    await delete(world, message)
    for _ in range(2):
        await world.maild.deliver(world.sender(message), bounce(), sender="")
        about_far = bounce(FAR, quoting=original(message))
        await world.maild.deliver(world.sender(message), about_far, sender="")
    assert [one[0] for one in await world.suppressed()] == [GONE]
    await world.maild.deliver(world.sender(message, SECOND), bounce(FAR), sender="")
    assert sorted(one[0] for one in await world.suppressed()) == sorted([GONE, FAR])


@pytest.mark.parametrize("told", ["bounced", "complained"])
async def test_who_has_no_room_for_mail_answers_for_what_it_sent(start: Start, told: str) -> None:
    """Else whoever fills its storage behind its sends would hear of no bounce, and never be paused."""
    world = await begin(await start(plans={"selfhost": {"storage_bytes": 200_000}}))
    message = await world.sent()
    inbox = world.inboxes["bot"]
    world.maild.sql("UPDATE stored_bytes SET bytes = 200000")
    raw = bounce() if told == "bounced" else complaint(message)
    assert (await world.maild.deliver(world.sender(message), raw, sender="")).startswith("250 ")
    assert (len(await world.suppressed()), world.counted(told), world.events(f"email.{told}")) == (1, 1, 1)
    assert await world.maild.api.messages(inboxId=inbox["id"], direction="inbound") == []
    reply = await world.maild.deliver(world.sender(message), VACATION, sender="ann@there.test")
    assert reply.startswith("452 4.2.2 ")


async def test_nothing_is_left_of_a_message_that_nobody_had(world: World) -> None:
    in_an_hour = iso(int(time.time() * 1000) + 3_600_000)
    cancelled = (await world.maild.api.send(world.inboxes["bot"], to=[GONE], sendAt=in_an_hour)).data
    received = await world.maild.received(world.inboxes["bot"], "Subject: hi\n\nhello\n")
    for message in (cancelled, received):
        await delete(world, message)
    assert world.maild.sql("SELECT * FROM deleted_mail") == []


async def test_a_bounce_counts_where_its_inbox_is_deactivated_after_rcpt(world: World) -> None:
    message = await world.sent()
    talk = await world.maild.smtp()
    await talk.begin(world.sender(message), "")
    path = f"/v1/inboxes/{world.inboxes['bot']['id']}"
    assert (await world.maild.api.call("DELETE", path)).status == 200
    await talk.write(bounce().replace("\n", "\r\n").encode())
    assert (await talk.say(".")).startswith("250 ")
    assert await world.statuses(message) == ["bounced"]


@pytest.mark.parametrize("author", ["mailer-daemon@", "MAILER-DAEMON <>", '"Courier mail server" <@>'])
async def test_a_bounce_that_counts_and_names_no_author_is_no_spam(world: World, author: str) -> None:
    message = await world.sent()
    raw = bounce().replace("From: MAILER-DAEMON@there.test", f"From: {author}")
    assert (await world.maild.deliver(world.sender(message), raw, sender="")).startswith("250 ")
    inbox = world.inboxes["bot"]
    (seen,) = await world.maild.api.messages(inboxId=inbox["id"], direction="inbound")
    assert (seen["isSpam"], seen["isAutoReply"]) == (False, True)
    assert await world.statuses(message) == ["bounced"]
    await world.maild.deliver(inbox["address"], raw, sender="")
    newest, _ = await world.maild.api.messages(inboxId=inbox["id"], direction="inbound")
    assert newest["isSpam"]  # it is about nothing of ours


@pytest.mark.parametrize(
    "names",
    [
        f"Final-Recipient: rfc822; {BEHIND}\nOriginal-Recipient: rfc822; {GONE}",
        f"Final-Recipient: rfc822; {BEHIND}",
        f"Final-Recipient: RFC822; {GONE}\nX-Actual-Recipient: rfc822; {BEHIND}",
    ],
    ids=["courier", "sendmail, haraka", "sendmail, of an alias"],
)
async def test_an_address_that_mail_goes_on_to_is_gone_and_ours_is_not(world: World, names: str) -> None:
    """Of many that an alias leads to one may be gone, and the others have the mail."""
    message = await world.sent()
    fields = f"{names}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 mailbox unavailable\n"
    mail = multipart(f"Reporting-MTA: dns; mx.there.test\n\n{fields}", "X: y\n")
    await world.maild.deliver(world.sender(message), mail, sender="")
    (told,) = (await world.maild.api.get(f"/v1/messages/{message['id']}")).data["recipients"]
    assert told["status"] == "bounced"
    assert told["response"] == f"550 5.1.1 mailbox unavailable (said of {BEHIND}, which it goes on to)"
    assert await world.suppressed() == []


async def test_who_rejects_by_a_receipt_may_have_another_name_there(world: World) -> None:
    """Cyrus, whose hosts need not know the domains of their mailboxes, says that `@internal` did."""
    message = await world.sent()
    receipt = REJECTED.replace("full@there.test", "gone@internal")
    await world.maild.deliver(world.sender(message), receipt, sender="")
    assert await world.statuses(message) == ["bounced"]
    assert await world.suppressed() == []


async def test_a_name_that_we_did_not_write_to_means_nobody_of_several(world: World) -> None:
    message = await world.sent(GONE, OTHER)
    await world.maild.deliver(world.sender(message), bounce(BEHIND), sender="")
    assert await world.statuses(message) == ["delivered", "delivered"]


# As vacation 3.3.3 writes it: nothing says that a program did, but the address that it goes to.
VACATION = (
    "From: ann@there.test\nTo: {sender}\nSubject: away from my mail (Re: hello)\n\nI am on holiday until Monday.\n"
    'Your mail about "hello" is read then.\n'
)


@pytest.mark.parametrize(
    ("mail", "sender", "status"),
    [(bounce(), "", "bounced"), (VACATION, "ann@there.test", "delivered")],
    ids=["a report", "an answer"],
)
async def test_what_comes_to_the_envelope_sender_is_a_programs_and_joins_what_it_is_about(
    world: World, mail: str, sender: str, status: str
) -> None:
    message = await world.sent()
    mail = mail.replace("{sender}", world.sender(message))
    assert (await world.maild.deliver(world.sender(message), mail, sender=sender)).startswith("250 ")
    (told,) = await world.maild.api.messages(inboxId=world.inboxes["bot"]["id"], direction="inbound")
    assert (told["isAutoReply"], told["threadId"]) == (True, message["threadId"])
    thread = (await world.maild.api.get(f"/v1/threads/{told['threadId']}")).data
    assert world.sender(message) not in thread["participants"]
    assert await world.statuses(message) == [status]


@pytest.mark.parametrize(
    ("actions", "statuses", "shown"),
    [
        (["delivered", "relayed"], ["delivered", "delivered"], 0),
        (["delivered"], ["delivered", "sent"], 0),
        (["expanded"], ["delivered", "sent"], 0),
        (["delivered", "failed"], ["delivered", "bounced"], 1),
        (["delivered", "delayed"], ["delivered", "sent"], 1),
        (["delayed"], ["sent", "sent"], 1),
    ],
)
async def test_a_receipt_that_we_asked_a_smarthost_for_is_no_mail_of_the_inbox(
    start: Start, actions: list[str], statuses: list[str], shown: int
) -> None:
    async with Mx() as mx:
        outbound = {"relay": f"127.0.0.1:{mx.port}", "allow_private_networks": True}
        world = World(await start(outbound=outbound))
        api = world.maild.api
        bot = await world.maild.inbox("bot")
        people = ["ann@there.test", "bob@there.test"]
        made = (await api.send(bot, to=people, subject="hello")).data
        await until_statuses(world, made, ["sent", "sent"])
        groups = [f"Final-Recipient: rfc822; {one}\nAction: {action}\nStatus: {STATUS_OF[action]}\n"
                  for one, action in zip(people, actions, strict=False)]  # fmt: skip
        raw = multipart("\n".join(["Reporting-MTA: dns; relay.test\n", *groups]), "X: y\n")
        for times in (1, 2):  # the second is a replay, which nobody asked for
            reply = await world.maild.deliver(mx.received[0].mail_from, raw, sender="")
            assert reply.startswith("250 ")
            assert await world.statuses(made) == statuses
            mail = await api.messages(inboxId=bot["id"], direction="inbound")
            assert len(mail) == (times if shown else times - 1)
        assert world.events("email.received") == len(mail)


@pytest.mark.parametrize(("action", "status"), [("failed", "bounced"), ("delivered", "delivered")])
async def test_a_report_that_outruns_the_hosts_reply_is_asked_for_again(
    start: Start, action: str, status: str
) -> None:
    """A host may report before we have written that it took the mail, or even heard so: nothing counts yet."""
    async with Mx() as mx:
        outbound = {"relay": f"127.0.0.1:{mx.port}", "allow_private_networks": True}
        world = World(await start(outbound=outbound))
        mx.hold["dot"] = asyncio.Event()
        made = (await world.maild.api.send(await world.maild.inbox("bot"), to=["ann@there.test"])).data
        async with asyncio.timeout(GIVES_UP_S), mx.reached:
            await mx.reached.wait_for(lambda: mx.stages["dot"])
        ((made["token"],),) = world.maild.sql("SELECT bounce_token FROM messages WHERE id = ?", made["id"])
        report = bounce("ann@there.test", action, STATUS_OF[action])
        sender = world.sender(made, "there.test")
        assert (await world.maild.deliver(sender, report, sender="")).startswith("451 4.3.0 ")
        mx.hold["dot"].set()
        await until_statuses(world, made, ["sent"])
        assert (await world.maild.deliver(sender, report, sender="")).startswith("250 ")
        assert await world.statuses(made) == [status]


STATUS_OF = {
    "delivered": "2.1.5",
    "relayed": "2.1.5",
    "expanded": "2.0.0",
    "delayed": "4.4.1",
    "failed": "5.1.1",
}


async def until_statuses(world: World, message: dict[str, Any], statuses: list[str]) -> None:
    async def reached() -> bool | None:
        return await world.statuses(message) == statuses or None

    await until(reached)


async def test_the_event_says_what_the_report_says(world: World) -> None:
    message = await world.sent()
    await world.maild.deliver(world.sender(message).upper(), bounce(), sender="")
    ((data,),) = world.maild.sql(
        "SELECT json_extract(data, '$.recipient', '$.bounceType', '$.smtpCode', '$.enhancedCode', '$.suppressed')"
        " FROM events WHERE type = 'email.bounced'"
    )
    assert data == '["gone@agents.test","permanent",550,"5.1.1",true]'


@pytest.mark.parametrize("text", [QMAIL, OLD_EXIM], ids=["qmail", "exim"])
async def test_older_forms_count_too(world: World, text: str) -> None:
    message = await world.sent(GONE, OTHER)
    raw = text.replace("gone@there.test", GONE)
    await world.maild.deliver(world.sender(message), raw, sender="")
    assert await world.statuses(message) == ["bounced", "delivered"]


async def test_a_bounce_that_quotes_our_message_id_comes_to_the_inbox(world: World) -> None:
    message = await world.sent()
    await world.maild.deliver("bot@agents.test", bounce(quoting=original(message)), sender="")
    assert await world.statuses(message) == ["bounced"]
    (told,) = await world.maild.api.messages(inboxId=world.inboxes["bot"]["id"], direction="inbound")
    assert told["threadId"] == message["threadId"]


async def test_a_stranger_who_is_named_beside_our_message_id_means_nobody(world: World) -> None:
    message = await world.sent()
    await world.maild.deliver("bot@agents.test", bounce(BEHIND, quoting=original(message)), sender="")
    assert await world.statuses(message) == ["delivered"]


async def test_a_bounce_in_somebody_elses_inbox_does_not_count(world: World) -> None:
    message = await world.sent()
    assert (await world.maild.deliver("victim@agents.test", bounce(quoting=original(message)), sender=""))[
        :3
    ] == "250"
    assert await world.statuses(message) == ["delivered"]


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("a delay", bounce(action="delayed", status="4.4.1")),
        ("a success of what had arrived", bounce(action="delivered", status="2.0.0")),
        ("a vacation", f"Subject: away\nAuto-Submitted: auto-replied\n\n<{GONE}>: 550 5.1.1 is away\n"),
        ("an opinion of a full mailbox", f"Subject: failure\n\n{GONE} no such user, or over quota\n"),
        ("a text about a stranger", "From: MAILER-DAEMON@x.test\n\nvictim@agents.test: no such user\n"),
        ("read receipt", multipart("Disposition: x", status_type="message/disposition-notification")),
    ],
    ids=lambda value: value if " " in value and len(value) < 40 else "",
)
async def test_what_has_no_effect_is_mail(world: World, kind: str, raw: str) -> None:
    message = await world.sent()
    reply = await world.maild.deliver(world.sender(message), raw, sender="")
    assert reply.startswith("250 "), kind
    assert await world.statuses(message) == ["delivered"]
    assert await world.suppressed() == []
    assert len(await world.maild.api.messages(inboxId=world.inboxes["bot"]["id"], direction="inbound")) == 1
    assert world.events("email.bounced") == 0


async def test_a_human_who_sends_a_bounce_has_no_effect(world: World) -> None:
    message = await world.sent()
    raw = bounce(quoting=original(message))
    for to in (world.sender(message), "bot@agents.test"):
        assert (await world.maild.deliver(to, raw, sender="human@elsewhere.test")).startswith("250 ")
    assert await world.statuses(message) == ["delivered"]


async def test_words_count_at_the_tokens_address_alone(world: World) -> None:
    message = await world.sent()
    for to in ("bot@agents.test", world.sender(message)):
        assert await world.statuses(message) == ["delivered"]
        raw = f"From: MAILER-DAEMON@there.test\n\n{GONE}: no such user\n\n{original(message)}"
        await world.maild.deliver(to, raw, sender="")
    assert await world.statuses(message) == ["bounced"]
    assert await world.suppressed() == [(GONE, "hard_bounce", "bounce")]


@pytest.mark.parametrize("name", ["MAILER-DAEMON", "postmaster"])
async def test_a_mail_systems_own_name_counts_at_the_tokens_address_alone(world: World, name: str) -> None:
    message = await world.sent()
    for to in ("bot@agents.test", world.sender(message)):
        assert await world.statuses(message) == ["delivered"]
        await world.maild.deliver(to, bounce(quoting=original(message)), sender=f"{name}@there.test")
    assert await world.statuses(message) == ["bounced"]


async def test_a_text_that_names_nobody_means_the_only_one(world: World) -> None:
    one, two = await world.sent(), await world.sent(GONE, OTHER)
    for message in (one, two):
        raw = "From: MAILER-DAEMON@there.test\n\nThe user is unknown here.\n"
        await world.maild.deliver(world.sender(message), raw, sender="")
    assert await world.statuses(one) == ["bounced"]
    assert await world.statuses(two) == ["delivered", "delivered"]


@pytest.mark.parametrize(
    "words",
    [
        "The message from <bot@agents.test> to <{}> could not be delivered: 550 5.1.1 user unknown",
        "Dear Bot@agents.test, your mail to {} could not be delivered, there is no such user.",
        "Die Nachricht von bot@agents.test an {} konnte nicht zugestellt werden: Der Benutzer existiert nicht.",
    ],
)
async def test_words_that_name_the_author_beside_who_failed_blame_the_other_alone(
    world: World, words: str
) -> None:
    message = await world.sent(GONE, "bot@agents.test")
    for name, status in (("nobody@agents.test", "delivered"), (GONE, "bounced")):
        raw = f"From: MAILER-DAEMON@there.test\n\n{words.format(name)}\n"
        await world.maild.deliver(world.sender(message), raw, sender="")
        assert await world.statuses(message) == [status, "delivered"]
    assert await world.suppressed() == [(GONE, "hard_bounce", "bounce")]


async def test_words_that_name_the_author_alone_blame_the_author(world: World) -> None:
    message = await world.sent(GONE, "bot@agents.test")
    raw = "From: MAILER-DAEMON@there.test\n\n<bot@agents.test>: user unknown\n"
    await world.maild.deliver(world.sender(message), raw, sender="")
    assert await world.statuses(message) == ["delivered", "bounced"]


async def test_a_form_names_the_author_for_himself(world: World) -> None:
    message = await world.sent(GONE, "bot@agents.test")
    for name in (GONE, "bot@agents.test"):
        await world.maild.deliver(world.sender(message), bounce(name), sender="")
    assert await world.statuses(message) == ["bounced", "bounced"]


async def test_the_event_says_what_helps(world: World) -> None:
    message = await world.sent(GONE, OTHER)
    full = (
        bounce(OTHER, status="5.0.0")
        .replace("User unknown", "mailbox full")
        .replace("550 5.1.1", "552 5.2.2")
    )
    for raw in (bounce(), full):
        await world.maild.deliver(world.sender(message), raw, sender="")
    told = world.maild.sql(
        "SELECT json_extract(data, '$.class', '$.advice', '$.suppressed') FROM events"
        " WHERE type = 'email.bounced' ORDER BY id"
    )
    assert told == [('["address","fix_address",true]',), ('["mailbox_full","retry_later",false]',)]


async def test_a_guessed_token_is_nobody(world: World) -> None:
    await world.sent()
    talk = await world.maild.smtp()
    await talk.say("EHLO x.test")
    await talk.say("MAIL FROM:<>")
    assert (await talk.say("RCPT TO:<b+guessed@agents.test>")).startswith("550 5.1.1")
    forged = original({"messageIdHeader": "<guessed@agents.test>"})
    assert (await world.maild.deliver("bot@agents.test", bounce(quoting=forged), sender="")).startswith(
        "250 "
    )
    assert world.events("email.bounced") == 0


async def test_a_token_of_another_domain_does_not_count(world: World) -> None:
    message = await world.sent()
    forged = original({"messageIdHeader": f"<{message['token']}@second.test>"})
    await world.maild.deliver("bot@agents.test", bounce(quoting=forged), sender="")
    assert await world.statuses(message) == ["delivered"]


async def test_a_report_that_comes_too_late_does_not_count(world: World) -> None:
    message = await world.sent()
    world.maild.sql("UPDATE messages SET sent_at = sent_at - ? WHERE id = ?", 91 * DAY_MS, message["id"])
    await world.maild.deliver(world.sender(message), bounce(), sender="")
    assert await world.statuses(message) == ["delivered"]


async def test_a_soft_bounce_suppresses_nobody(world: World) -> None:
    message = await world.sent()
    await world.maild.deliver(world.sender(message), bounce(status="4.4.7"), sender="")
    assert await world.statuses(message) == ["bounced"]
    assert await world.suppressed() == []
    assert world.counted("bounced") == 0
    ((kind,),) = world.maild.sql("SELECT data ->> '$.bounceType' FROM events WHERE type = 'email.bounced'")
    assert kind == "transient"


@pytest.mark.parametrize(
    ("words", "is_gone"),
    [
        ("550 5.1.1 <{sender}>: User unknown", False),
        ("550 no such user: {token}", False),
        ("550 5.1.1 <{gone}>: User unknown (from {sender})", True),
        ("550 5.1.1 <forwarded@far.test>: User unknown; from={sender}", True),
    ],
)
async def test_words_about_our_envelope_sender_suppress_nobody(
    world: World, words: str, is_gone: bool
) -> None:
    message = await world.sent()
    sender = world.sender(message)
    said = words.format(sender=sender, token=sender.partition(".")[0], gone=GONE)
    report = re.sub(r"(?s)(Diagnostic-Code: smtp; ).*?(?=\n\S|\n\n)", rf"\g<1>{said}", bounce())
    await world.maild.deliver(sender, report, sender="")
    assert await world.statuses(message) == ["bounced"]
    assert bool(await world.suppressed()) is is_gone


async def test_a_report_that_names_nobody_means_the_only_one(world: World) -> None:
    one, two = await world.sent(), await world.sent(GONE, OTHER)
    raw = multipart("Reporting-MTA: dns; mx\n\nAction: failed\nStatus: 5.1.1\n")
    for message in (one, two):
        await world.maild.deliver(world.sender(message), raw, sender="")
    assert await world.statuses(one) == ["bounced"]
    assert await world.statuses(two) == ["delivered", "delivered"]


async def test_a_success_report_settles_what_a_smarthost_took(world: World) -> None:
    message = await world.sent(GONE, OTHER)
    world.maild.sql("UPDATE recipients SET status = 'sent' WHERE message_id = ?", message["id"])
    world.maild.sql("UPDATE messages SET status = 'sent' WHERE id = ?", message["id"])
    for address, statuses in ((GONE, ["delivered", "sent"]), (OTHER, ["delivered", "delivered"])):
        raw = bounce(address, action="relayed", status="2.1.9")
        await world.maild.deliver(world.sender(message), raw, sender="")
        assert await world.statuses(message) == statuses
    assert (await world.maild.api.get(f"/v1/messages/{message['id']}")).data["status"] == "delivered"
    assert world.events("email.bounced") == 0


async def test_a_bounce_to_the_inbox_of_a_deleted_message_counts_and_is_its_mail(world: World) -> None:
    message = await world.sent()
    await delete(world, message)
    for count in (1, 2):  # the second is a replay
        reply = await world.maild.deliver("bot@agents.test", bounce(quoting=original(message)), sender="")
        assert reply.startswith("250 ")
        assert await world.suppressed() == [(GONE, "hard_bounce", "bounce")]
        assert (world.counted("bounced"), world.events("email.bounced")) == (1, 0)
        mail = await world.maild.api.messages(inboxId=world.inboxes["bot"]["id"], direction="inbound")
        assert [one["isAutoReply"] for one in mail] == [True] * count


# Whom a token speaks for ----------------------------------------------------------------------------


async def test_a_domain_speaks_for_its_own_recipients_alone(world: World) -> None:
    message = await world.sent(GONE, OTHER, FAR)
    for named in (FAR, GONE):
        await world.maild.deliver(world.sender(message), bounce(named), sender="")
    assert await world.statuses(message) == ["bounced", "delivered", "delivered"]
    await world.maild.deliver(world.sender(message, SECOND), bounce(OTHER), sender="")
    assert await world.statuses(message) == ["bounced", "delivered", "delivered"]
    await world.maild.deliver(world.sender(message, SECOND), bounce(FAR), sender="")
    assert await world.statuses(message) == ["bounced", "delivered", "bounced"]


async def test_a_domain_that_names_nobody_means_its_only_recipient(world: World) -> None:
    message = await world.sent(GONE, OTHER, FAR)
    raw = multipart("Reporting-MTA: dns; mx\n\nAction: failed\nStatus: 5.1.1\n")
    for destination in ("agents.test", SECOND):
        await world.maild.deliver(world.sender(message, destination), raw, sender="")
    assert await world.statuses(message) == ["delivered", "delivered", "bounced"]


@pytest.mark.parametrize("tag", ["", ".aaaaaaaaaaaaaaaa", "another message's", "another domain's"])
async def test_a_tag_that_was_not_given_speaks_for_nobody(world: World, tag: str) -> None:
    message, another = await world.sent(GONE, FAR), await world.sent(GONE, FAR)
    if tag == "another message's":
        tag = "." + another["sender"].partition(".")[2].partition("@")[0]
    elif tag == "another domain's":
        tag = "." + world.sender(message, "elsewhere.test").partition(".")[2].partition("@")[0]
    reply = await world.maild.deliver(f"b+{message['token']}{tag}@agents.test", bounce(), sender="")
    assert reply.startswith("250 ")
    assert await world.statuses(message) == ["delivered", "delivered"]


async def test_a_message_id_speaks_where_all_were_at_one_domain(world: World) -> None:
    """Every recipient has seen it: it must not let one of them speak for another domain's."""
    one, two = await world.sent(GONE, OTHER), await world.sent(GONE, FAR)
    for message in (one, two):
        await world.maild.deliver("bot@agents.test", bounce(quoting=original(message)), sender="")
        await world.maild.deliver("fbl@agents.test", complaint(message, OTHER), sender="fbl@provider.test")
        await world.maild.deliver("fbl@agents.test", complaint(message, FAR), sender="fbl@provider.test")
    assert await world.statuses(one) == ["bounced", "delivered"]
    assert await world.statuses(two) == ["delivered", "delivered"]
    assert world.events("email.complained") == 1


async def test_a_message_from_before_there_were_tags_goes_on_as_it_was(world: World) -> None:
    message = await world.sent(GONE, OTHER, FAR)
    old = f"b+{message['token']}@agents.test"
    world.maild.sql("UPDATE messages SET envelope_from = ? WHERE id = ?", old, message["id"])
    await world.maild.deliver(old, bounce(), sender="")
    await world.maild.deliver("bot@agents.test", bounce(FAR, quoting=original(message)), sender="")
    await world.maild.deliver("fbl@agents.test", complaint(message, OTHER), sender="fbl@provider.test")
    assert await world.statuses(message) == ["bounced", "delivered", "bounced"]
    assert world.events("email.complained") == 1


async def test_a_local_copy_shows_no_tag(world: World) -> None:
    message = await world.sent(GONE)
    (copy,) = await world.maild.api.messages(inboxId=world.inboxes["gone"]["id"])
    raw = (await world.maild.api.get(f"/v1/messages/{copy['id']}/raw")).body
    assert raw.startswith(f"Return-Path: <b+{message['token']}@agents.test>\r\n".encode())


# Complaints -----------------------------------------------------------------------------------------


def complaint(
    message: dict[str, Any], named: str | None = GONE, kind: str = "abuse", quoting: str | None = None
) -> str:
    fields = f"Feedback-Type: {kind}\nUser-Agent: P/1\nVersion: 1\n"
    if named is not None:
        fields += f"Original-Rcpt-To: <{named}>\n"
    return feedback(fields, original(message) if quoting is None else quoting)


@pytest.mark.parametrize("to", ["fbl@agents.test", "FBL+provider@second.test", "{sender}"])
async def test_a_complaint_counts_once(world: World, to: str) -> None:
    message = await world.sent()
    for _ in range(2):
        reply = await world.maild.deliver(
            to.format(**message), complaint(message), sender="fbl@provider.test"
        )
        assert reply.startswith("250 ")
    assert await world.suppressed() == [(GONE, "complaint", "feedback_loop")]
    assert world.events("email.complained") == 1
    assert world.counted("complained") == 1
    assert await world.statuses(message) == ["delivered"]


@pytest.mark.parametrize(("author", "counted"), [("staff@provider.test", 1), ("staff@other.test", 0)])
async def test_a_complaint_of_hotmails_form_counts_by_the_same_rules(
    world: World, author: str, counted: int
) -> None:
    message = await world.sent()
    quoted = f"X-HmXmrOriginalRecipient: <{GONE}>\n{original(message)}"
    raw = HOTMAIL.replace("staff@hotmail.test", author)
    raw = raw[: raw.index("X-HmXmr")] + quoted + raw[raw.index("\nthe words") :]
    await world.maild.deliver("fbl@agents.test", raw, sender="fbl@provider.test")
    assert world.events("email.complained") == counted


async def test_a_complaint_of_an_unproven_reporter_is_only_mail(world: World) -> None:
    message = await world.sent()
    forged = complaint(message).replace("abuse@provider.test", "abuse@other.test")
    assert (await world.maild.deliver("fbl@agents.test", forged, sender="fbl@provider.test")).startswith(
        "250 "
    )
    assert await world.suppressed() == []
    # Who knows the token's address has had the mail.
    await world.maild.deliver(world.sender(message), forged, sender="fbl@provider.test")
    assert await world.suppressed() == [(GONE, "complaint", "feedback_loop")]


@pytest.mark.parametrize("to", ["fbl@agents.test", "{sender}"])
async def test_a_complaint_is_one_recipient_s(world: World, to: str) -> None:
    message = await world.sent(GONE, OTHER)
    fields = "Feedback-Type: abuse\n" + "".join(f"Original-Rcpt-To: <{one}>\n" for one in (OTHER, GONE))
    for _ in range(2):  # nor does a replay get on to the next
        raw = feedback(fields, original(message))
        await world.maild.deliver(to.format(**message), raw, sender="fbl@provider.test")
    assert await world.suppressed() == [(OTHER, "complaint", "feedback_loop")]
    assert (world.events("email.complained"), world.counted("complained")) == (1, 1)


async def test_what_comes_to_fbl_is_in_the_operators_inbox(world: World) -> None:
    message = await world.sent()
    for raw in (complaint(message), "Subject: question\n\nWhat is this?\n"):
        await world.maild.deliver("fbl@agents.test", raw, sender="fbl@provider.test")
    ((operator,),) = world.maild.sql("SELECT id FROM inboxes WHERE is_operator = 1")
    mail = await world.maild.api.messages(inboxId=operator)
    assert [(one["subject"], one["isAutoReply"]) for one in mail] == [("question", False), ("FW: hi", True)]


async def test_the_envelope_sender_in_a_complaint_is_a_token_too(world: World) -> None:
    message = await world.sent()
    fields = f"Feedback-Type: abuse\nOriginal-Mail-From: <{world.sender(message)}>\n"
    await world.maild.deliver("fbl@agents.test", feedback(fields, "X: y\n"), sender="fbl@provider.test")
    assert world.events("email.complained") == 1


@pytest.mark.parametrize(
    ("to", "change"),
    [
        ("bot@agents.test", {}),
        ("abuse@agents.test", {}),
        ("fbl@agents.test", {"named": "victim@agents.test"}),
        ("fbl@agents.test", {"kind": "not-spam"}),
        ("fbl@agents.test", {"kind": "auth-failure"}),
        ("fbl@agents.test", {"quoting": "Message-ID: <guessed@agents.test>\n"}),
    ],
)
async def test_a_complaint_that_does_not_count(world: World, to: str, change: dict[str, str]) -> None:
    message = await world.sent()
    reply = await world.maild.deliver(to, complaint(message, **change), sender="fbl@provider.test")
    assert reply.startswith("250 ")
    assert world.events("email.complained") == 0
    assert await world.suppressed() == []


async def test_fbl_of_a_domain_that_we_do_not_share_is_no_address(world: World) -> None:
    talk = await world.maild.smtp()
    await talk.say("EHLO x.test")
    await talk.say("MAIL FROM:<fbl@provider.test>")
    for domain in ("elsewhere.test", "apex.test"):
        assert (await talk.say(f"RCPT TO:<fbl@{domain}>")).startswith("550")


async def test_complaints_pause_the_organization(world: World) -> None:
    message = await world.sent()
    world.maild.sql("UPDATE usage SET value = 333 WHERE metric = 'messages'")
    await world.maild.deliver("fbl@agents.test", complaint(message), sender="fbl@provider.test")
    refused = await world.maild.api.send(world.inboxes["bot"])
    assert refused.code == "sending_not_approved"
    assert refused.error["details"]["reason"] == "complaint_rate"
    assert world.events("sending.paused") == 1
