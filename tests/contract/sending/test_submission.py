"""SMTP submission: what is submitted is a send like any other, and comes back by the API as what it is, sent mail."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import dkim
import pytest

from maild.message.envelope_sender import EnvelopeSenders
from storage import server_secrets
from tests.conftest import Start
from tests.dialogues.test_reports import GONE, bounce
from tests.support.clients.submitting import logged_in, submit, submitted, submitting
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until

ADA, BOB, EVE = "ada@elsewhere.test", "bob@elsewhere.test", "eve@elsewhere.test"
SIMPLE = f"""From: Bot <bot@agents.test>
To: Ada <{ADA}>
Cc: Bob <{BOB}>, nobody@elsewhere.test
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Sun, 22 Nov 2026 12:00:00 +0000
Message-ID: <one@laptop.test>

Hello there.
"""
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


@pytest.fixture
async def maild(start: Start, tmp_path: Path) -> Running:
    return await submitting(start, tmp_path / "tls")


async def raw_of(maild: Running, message: dict[str, Any]) -> bytes:
    return (await maild.api.get(f"/v1/messages/{message['id']}/raw")).body


def composed() -> EmailMessage:
    mail = EmailMessage(policy=policy.SMTP)
    mail["From"], mail["To"], mail["Subject"] = "bot@agents.test", ADA, "With all"
    mail["Date"], mail["Message-ID"] = "Sun, 22 Nov 2026 12:00:00 +0000", "<all@laptop.test>"
    mail.set_content("The words.\n")
    mail.add_alternative('<p>The <img src="cid:pic"> words.</p><script>x()</script>\n', subtype="html")
    mail.get_payload()[1].add_related(PNG, "image", "png", cid="<pic>", filename="pic.png")  # type: ignore[union-attr,index]
    mail.add_attachment(
        b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "text", "calendar", params={"method": "REQUEST"}
    )
    mail.add_attachment(PNG, "application", "octet-stream", filename="data.bin")
    return mail


async def test_it_comes_back_as_sent_mail(maild: Running, bot: dict[str, Any]) -> None:
    message = await submitted(maild, bot, SIMPLE, ADA, BOB, EVE)
    assert message["direction"] == "outbound" and message["status"] == "queued" and message["mode"] == "live"
    assert message["fromAddress"] == bot["address"] and message["fromName"] == "Bot"
    assert message["subject"] == "Grüße" and message["textBody"] == "Hello there.\n"
    assert message["messageIdHeader"] == "<one@laptop.test>"
    (thread,) = (await maild.api.get("/v1/threads")).data
    assert (thread["id"], thread["subject"], thread["messageCount"]) == (message["threadId"], "Grüße", 1)
    usage = (await maild.api.get("/v1/organization")).data["usage"]
    assert usage["storageBytes"] == len(await raw_of(maild, message))
    daily = "SELECT value FROM usage WHERE metric = 'messages' AND length(period) = 10"
    assert maild.sql(daily) == [(1,)]  # of the day on which it was sent
    (found,) = await maild.api.messages(q="hello there")
    assert found["id"] == message["id"]


async def test_the_envelope_says_who_gets_it(maild: Running, bot: dict[str, Any]) -> None:
    """Who is in neither header is a blind recipient; whom a header names beside the envelope gets nothing."""
    message = await submitted(maild, bot, SIMPLE, EVE, BOB, ADA, ADA.upper(), "mallory@bücher.test")
    assert message["toAddresses"] == [ADA] and message["ccAddresses"] == [BOB]
    assert message["bccAddresses"] == [EVE, "mallory@xn--bcher-kva.test"]
    assert sorted((one["address"], one["kind"]) for one in message["recipients"]) == [
        (ADA, "to"), (BOB, "cc"), (EVE, "bcc"), ("mallory@xn--bcher-kva.test", "bcc"),
    ]  # fmt: skip
    raw = await raw_of(maild, message)
    assert b"nobody@elsewhere.test" in raw and b"mallory" not in raw


async def test_what_its_author_composed_stands_octet_for_octet(maild: Running, bot: dict[str, Any]) -> None:
    mail = composed()
    message = await submitted(maild, bot, mail.as_bytes(), ADA)
    raw, given = await raw_of(maild, message), mail.as_bytes()
    assert raw.partition(b"\r\n\r\n")[2] == given.partition(b"\r\n\r\n")[2]
    assert raw.startswith(given.partition(b"\r\n\r\n")[0])
    assert message["textBody"] == "The words.\n" and "<script>" in message["htmlBody"]
    assert [(one["contentType"], one["isInline"], one["contentId"]) for one in message["attachments"]] == [
        ("image/png", True, "pic"),
        ("text/calendar", False, None),
        ("application/octet-stream", False, None),
    ]
    for one, wanted in ((message["attachments"][0], PNG), (message["attachments"][2], PNG)):
        assert (await maild.api.get(f"/v1/attachments/{one['id']}")).body == wanted


async def test_its_html_is_its_authors_own_and_can_be_asked_for_clean(
    maild: Running, bot: dict[str, Any]
) -> None:
    message = await submitted(maild, bot, composed().as_bytes(), ADA)
    clean = (await maild.api.get(f"/v1/messages/{message['id']}", html="sanitized")).data["htmlBody"]
    assert "script" not in clean and "<p>The" in clean


async def test_a_large_one_is_a_file_and_whole(maild: Running, bot: dict[str, Any]) -> None:
    mail = composed()
    mail.add_attachment(PNG * 400, "application", "octet-stream", filename="large.bin")
    message = await submitted(maild, bot, mail.as_bytes(), ADA)
    assert (await raw_of(maild, message)).endswith(mail.as_bytes()[-10_000:])
    large = message["attachments"][-1]
    assert (await maild.api.get(f"/v1/attachments/{large['id']}")).body == PNG * 400
    files = [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()]
    assert len(files) == 1


@pytest.mark.parametrize("words", [200, 40_000])
async def test_lines_that_no_host_has_to_take_are_broken(
    maild: Running, bot: dict[str, Any], words: int
) -> None:
    """As programs write HTML: in one line. It is read as it was written, and known when it comes again."""
    html = "<p>" + "So long a line. " * words + "</p>"
    mail = (
        f"From: bot@agents.test\nTo: {ADA}\nMessage-ID: <l@laptop.test>\nContent-Type: text/html\n\n{html}\n"
    )
    message = await submitted(maild, bot, mail, ADA)
    raw = await raw_of(maild, message)
    assert max(map(len, raw.split(b"\r\n"))) <= 78
    assert message["htmlBody"] == f"{html}\n"
    assert message_from_bytes(raw).get_payload(decode=True) == f"{html}\r\n".encode()
    assert (await submitted(maild, bot, mail, ADA))["id"] == message["id"]
    files = [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()]
    assert len(maild.sql("SELECT 1 FROM blobs")) == 1 and len(files) == (words > 200)


async def test_a_long_line_that_is_signed_stays(maild: Running, bot: dict[str, Any]) -> None:
    body = f"--b\r\n\r\n{'x' * 3000}\r\n--b\r\nContent-Type: application/pgp-signature\r\n\r\ny\r\n--b--\r\n"
    header = "From: bot@agents.test\nContent-Type: multipart/signed; boundary=b; protocol=x\n\n"
    message = await submitted(maild, bot, header + body, ADA)
    assert (await raw_of(maild, message)).endswith(body.encode())


# The header -------------------------------------------------------------------------------------


async def test_what_the_author_left_out_is_added(maild: Running, bot: dict[str, Any]) -> None:
    message = await submitted(maild, bot, "From: bot@agents.test\n\nhi\n", ADA)
    raw = await raw_of(maild, message)
    ((token,),) = maild.sql("SELECT bounce_token FROM messages")
    assert message["messageIdHeader"] == f"<{token}@agents.test>"
    head = raw.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert head[0] == "From: bot@agents.test" and head[1].startswith("Date: ")
    assert head[2:] == [
        f"Message-ID: <{token}@agents.test>",
        "To: undisclosed-recipients:;",
        "Auto-Submitted: auto-generated",
        "X-Auto-Response-Suppress: All",
    ]
    assert message["subject"] == "" and message["bccAddresses"] == [ADA] and message["toAddresses"] == []


async def test_who_wrote_it_is_the_authors_to_say(maild: Running, bot: dict[str, Any]) -> None:
    message = await submitted(maild, bot, SIMPLE.replace("Cc:", "Auto-Submitted: no\nCc:"), ADA)
    raw = await raw_of(maild, message)
    assert raw.count(b"Auto-Submitted:") == 1 and b"X-Auto-Response" not in raw


async def test_what_is_sent_tells_neither_who_was_copied_nor_where_its_author_is(
    start: Start, tmp_path: Path
) -> None:
    trace = (
        "Return-Path: <x@y.test>\nReceived: from [192.0.2.77] (laptop.home [192.0.2.77])\n\tby relay.home; now\n"
        "Bcc: secret@elsewhere.test,\n eve@there.test\nRESENT-BCC: secret@elsewhere.test\n"
        "X-Originating-IP: [192.0.2.77]\nSender: boss@bank.test\nAuthentication-Results: mx.agents.test; dmarc=pass\n"
        "DKIM-Signature: v=1; d=bank.test; b=AAAA\nARC-Seal: i=1; cv=none\n"
    )
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("there.test")
        maild = await submitting(
            start,
            tmp_path / "tls",
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        )
        bot = await maild.inbox("bot")
        mail = trace + SIMPLE.replace(ADA, "ada@there.test")
        message = await submitted(maild, bot, mail, "ada@there.test", "eve@there.test")

        async def status() -> str | None:
            found = (await maild.api.get(f"/v1/messages/{message['id']}")).data["status"]
            return found if found == "delivered" else None

        await until(status)
        (received,) = mx.received
        assert sorted(received.recipients) == ["ada@there.test", "eve@there.test"]
        assert re.fullmatch(r"b\+[0-9a-z]+\.[0-9a-z]+@agents\.test", received.mail_from)
        wire = received.raw
        for word in (
            b"192.0.2.77",
            b"secret",
            b"eve@",
            b"boss@",
            b"Received:",
            b"bank.test",
            b"ARC-",
            b"dmarc=",
        ):
            assert word not in wire, word
        told = message_from_bytes(wire, policy=policy.default)
        assert told["From"] == "Bot <bot@agents.test>" and told["Message-ID"] == "<one@laptop.test>"
        ((key,),) = maild.sql("SELECT public_key FROM dkim_keys WHERE domain_name = 'agents.test'")
        assert dkim.verify(wire, dnsfunc=lambda name, timeout=5: f"v=DKIM1; k=rsa; p={key}".encode())


FALSE_AUTHORS = [
    "From: ceo@bank.test",
    "From: Bot <bot@agents.test>, ceo@bank.test",
    "From: ceo@bank.test, bot@agents.test",
    "From: bot@agents.test\nFrom: ceo@bank.test",
    "From: ceo@bank.test\nFROM: bot@agents.test",
    "From: group: bot@agents.test, ceo@bank.test;",
    "From: group:;",
    "From:",
    "X-From: bot@agents.test",
    'From: "ceo@bank.test" <bot@agents.test> <ceo@bank.test>',
    "From: <ceo@bank.test> bot@agents.test",
    "From: =?utf-8?q?ceo=40bank=2Etest=2C?= bot@agents.test",
    "From: =?utf-8?q?=22?= <ceo@bank.test> =?utf-8?q?=22?= <bot@agents.test>",
    "From: bot@agents.test.evil.test",
    "From: bot@agents.test\x00@bank.test",
    "From: bot\x00@agents.test",
    "From: other@agents.test",
    "From: bot@second.test",
    "From: bot+tag@agents.test",
    "From : bot@agents.test",
    "From\n : bot@agents.test",
    " From: bot@agents.test",
    "From: ceo@bank.test\n (bot@agents.test)",
    "From bot@agents.test Sun Nov 22 12:00:00 2026\nFrom: bot@agents.test",
    "From: bot@agents.test\nnot a field",
    "From: bot@agents.test\n \nFrom: ceo@bank.test",
    "From: bot@agents.test\nSubject: x\x01y",
    "From: bot@agents.test\nSubject: one\nSubject: two",
    f"From: bot@agents.test\nTo: {ADA}\nto: {BOB}",
    "From: bot@agents.test\nContent-Type: text/plain\nContent-Type: text/html",
    "From: bot@agents.test\nX-Long: " + "x" * 1000,
]


async def test_nobody_writes_in_anothers_name_or_by_a_header_that_reads_two_ways(
    maild: Running, bot: dict[str, Any]
) -> None:
    """S32"""
    await maild.inbox("other")
    for author in FALSE_AUTHORS:
        talk = await logged_in(maild, bot)
        reply = await submit(talk, bot, f"{author}\nX-More: 1\n\nhi\n", ADA)
        assert reply.startswith(("550 5.7.1", "554 5.6.0")), (author, reply)
        talk.hang_up()
    assert await maild.api.messages() == [] and maild.sql("SELECT 1 FROM blobs") == []


@pytest.mark.parametrize(
    "author",
    [
        "From: BOT@Agents.TEST",
        'From: "Bot, the real one" <bot@agents.test>',
        "From: =?utf-8?b?UsO2Ym90?=\n\t<bot@agents.test>",
        "From: bot@agents.test (a comment)",
    ],
)
async def test_its_own_name_in_any_form(maild: Running, bot: dict[str, Any], author: str) -> None:
    message = await submitted(maild, bot, f"{author}\nTo: {ADA}\n\nhi\n", ADA)
    assert message["fromAddress"] == "bot@agents.test"


# Conversations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "named", ["In-Reply-To: <q@elsewhere.test>", "References: <a@b.test> <q@elsewhere.test>", "X-None: 1"]
)
async def test_an_answer_joins_its_conversation(maild: Running, bot: dict[str, Any], named: str) -> None:
    """By In-Reply-To, References, or the subject of a reply to that correspondent."""
    question = f"From: {ADA}\nSubject: Lunch?\nMessage-ID: <q@elsewhere.test>\n\nWhen?\n"
    asked = await maild.received(bot, question)
    answer = f"From: bot@agents.test\nTo: {ADA}\nSubject: Re: Lunch?\n{named}\nMessage-ID: <a@laptop.test>\n\nNow.\n"
    message = await submitted(maild, bot, answer, ADA)
    assert message["threadId"] == asked["threadId"]
    assert (b"auto-replied" in await raw_of(maild, message)) is (not named.startswith("X-"))
    again = f"From: {ADA}\nSubject: Yes\nIn-Reply-To: <a@laptop.test>\n\nFine.\n"
    assert (await maild.received(bot, again))["threadId"] == asked["threadId"]


async def test_one_with_a_foreign_reference_begins_a_conversation(
    maild: Running, bot: dict[str, Any]
) -> None:
    other = await maild.inbox("other")
    asked = await maild.received(other, f"From: {ADA}\nMessage-ID: <q@elsewhere.test>\n\nWhen?\n")
    message = await submitted(maild, bot, SIMPLE.replace("Cc:", "In-Reply-To: <q@elsewhere.test>\nCc:"), ADA)
    assert message["threadId"] != asked["threadId"] and message["inReplyTo"] == "<q@elsewhere.test>"


async def test_between_two_inboxes_of_the_host(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    sent = await submitted(maild, bot, SIMPLE.replace(ADA, other["address"]), other["address"])
    arrived = await maild.arrival(other)
    assert (
        arrived["messageIdHeader"] == "<one@laptop.test>"
        and arrived["auth"]["verifiedDomain"] == "agents.test"
    )
    answer = SIMPLE.replace("bot@", "other@").replace(ADA, "bot@agents.test").replace("<one@", "<two@")
    answer = answer.replace("Cc:", "In-Reply-To: <one@laptop.test>\nCc:")
    await submitted(maild, other, answer, "bot@agents.test")
    assert (await maild.arrival(bot))["threadId"] == sent["threadId"]


# Submitted again ---------------------------------------------------------------------------------


async def test_the_same_message_again_is_sent_once(maild: Running, bot: dict[str, Any]) -> None:
    first = await submitted(maild, bot, SIMPLE, ADA, BOB)
    again = await submitted(maild, bot, SIMPLE, BOB, ADA)
    assert again["id"] == first["id"] and len(await maild.api.messages()) == 1
    assert len(maild.sql("SELECT 1 FROM blobs")) == 1


async def test_the_same_again_without_date_is_sent_once(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls")
    bot = await maild.inbox("bot")
    dateless = "From: bot@agents.test\nMessage-ID: <d@laptop.test>\n\n" + "x" * 300_000
    first = await submitted(maild, bot, dateless, ADA)
    maild.sql("UPDATE idempotency SET created_at = created_at - 1000")
    assert (await submitted(maild, bot, dateless, ADA))["id"] == first["id"]
    files = [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()]
    assert len(files) == 1


async def test_the_rest_of_its_recipients_get_it_as_another_message(
    maild: Running, bot: dict[str, Any]
) -> None:
    """A relay that splits recipients, or heard 452 for some, comes again with the same message for the others."""
    first = await submitted(maild, bot, SIMPLE, ADA)
    second = await submitted(maild, bot, SIMPLE, BOB)
    assert second["id"] != first["id"] and second["threadId"] != ""


@pytest.mark.parametrize("recipient", [ADA, BOB])
@pytest.mark.parametrize(
    ("old", "new"), [("Hello", "Goodbye"), ("Subject: ", "Subject: Not "), ("To: Ada", "To: Eve")]
)
async def test_another_message_under_its_name_is_refused(
    maild: Running, bot: dict[str, Any], old: str, new: str, recipient: str
) -> None:
    await submitted(maild, bot, SIMPLE, ADA)
    talk = await logged_in(maild, bot)
    other = SIMPLE.replace(old, new)
    assert other != SIMPLE
    reply = await submit(talk, bot, other, recipient)
    assert reply.startswith("554 5.6.0 this Message-ID belongs to another message")
    assert len(await maild.api.messages()) == 1
    reply = await submit(talk, bot, other.replace("<one@", "<two@"), recipient)
    assert reply.startswith("250 ")


async def test_other_inboxes_have_message_ids_of_their_own(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    await submitted(maild, bot, SIMPLE, ADA)
    await submitted(maild, other, SIMPLE.replace("bot@", "other@"), ADA)


async def test_a_message_id_that_is_none_is_replaced(maild: Running, bot: dict[str, Any]) -> None:
    for bad in ("laptop", "<two words@laptop.test>", "<a@b.test> <c@d.test>", "<é@laptop.test>", ""):
        message = await submitted(maild, bot, SIMPLE.replace("<one@laptop.test>", bad), ADA)
        assert re.fullmatch(r"<[0-9a-z]{24}@agents\.test>", message["messageIdHeader"]), bad
    assert len(await maild.api.messages()) == 5


async def test_nobody_borrows_the_message_id_by_which_complaints_are_counted(
    maild: Running, bot: dict[str, Any]
) -> None:
    theirs = await maild.organization()
    victim = await maild.inbox("victim", theirs.api)
    sent = (await theirs.api.send(victim, to=[ADA])).data
    for borrowed in (sent["messageIdHeader"], sent["messageIdHeader"].upper()):
        reply = await submit(
            await logged_in(maild, bot), bot, SIMPLE.replace("<one@laptop.test>", borrowed), ADA
        )
        assert reply.startswith("554 5.6.0 this Message-ID belongs to another message"), reply


async def test_a_bounce_of_it_counts(maild: Running, bot: dict[str, Any]) -> None:
    """The envelope sender carries our token, whatever its Message-ID is."""
    await maild.inbox("gone")
    message = await submitted(maild, bot, SIMPLE.replace(ADA, GONE), GONE)

    async def status(wanted: str) -> str | None:
        found = (await maild.api.get(f"/v1/messages/{message['id']}")).data["recipients"][0]["status"]
        return wanted if found == wanted else None

    await until(lambda: status("delivered"))
    ((token,),) = maild.sql("SELECT bounce_token FROM messages WHERE id = ?", message["id"])
    senders = EnvelopeSenders(maild.server_secret(server_secrets.ENVELOPE))
    reporter = senders.of(token, "agents.test", "agents.test")
    assert (await maild.deliver(reporter, bounce(), "")).startswith("250")
    await until(lambda: status("bounced"))
