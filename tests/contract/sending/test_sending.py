"""POST /v1/messages/send: contract, section 4; decisions.md, "Message"."""

import base64
import email
import email.policy
import json
from email.message import EmailMessage
from typing import Any

import pytest

from storage.clock import Clock, iso
from storage.mail.blobs import Blobs, Stored
from tests.conftest import Start, on_shared
from tests.contract.mail.test_messages import LISTED, MAIL
from tests.support.running import Running, until

MEGABYTE = 1_048_576


async def composed(maild: Running, sent: dict[str, Any]) -> EmailMessage:
    raw = await maild.raw(sent["id"])
    found = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(found, EmailMessage)
    return found


def file(content: bytes = b"x", filename: str = "a.bin", **fields: Any) -> dict[str, Any]:
    return {"filename": filename, "content": base64.b64encode(content).decode(), **fields}


@on_shared
async def test_the_answer_is_the_message(shared: Running, shared_bot: dict[str, Any]) -> None:
    answer = await shared.api.send(shared_bot, to=["a@elsewhere.test"], subject="hello", text="words")
    assert answer.status == 201
    assert set(answer.data) - {"textBody", "htmlBody"} == LISTED
    sent = answer.data
    assert sent["status"] in ("queued", "sent")
    assert (sent["inboxId"], sent["direction"], sent["subject"]) == (shared_bot["id"], "outbound", "hello")
    assert sent["threadId"].startswith("thd_") and sent["id"].startswith("msg_")


@on_shared
async def test_the_least_that_can_be_sent(shared: Running, shared_bot: dict[str, Any]) -> None:
    """Text and html both absent: an empty text part; no subject: (no subject)."""
    sent = (
        await shared.api.post("/v1/messages/send", {"inboxId": shared_bot["id"], "to": ["a@elsewhere.test"]})
    ).data
    raw = await composed(shared, sent)
    assert (raw["Subject"], raw.get_content_type(), raw.get_content().strip()) == (
        "(no subject)",
        "text/plain",
        "",
    )


@pytest.mark.parametrize("subject", ["  ", "\u2028", "\u0085 "])
@on_shared
async def test_a_blank_subject_is_none(shared: Running, shared_bot: dict[str, Any], subject: str) -> None:
    sent = (await shared.api.send(shared_bot, subject=subject, text="words")).data
    assert (sent["subject"], (await composed(shared, sent))["Subject"]) == ("(no subject)", "(no subject)")


@on_shared
async def test_a_subject_is_shown_as_it_is_sent(shared: Running, shared_bot: dict[str, Any]) -> None:
    sent = (await shared.api.send(shared_bot, subject=" two\u2028words  ", text="words")).data
    assert sent["subject"] == (await composed(shared, sent))["Subject"] == "two words"


@on_shared
async def test_html_alone_gets_a_text_part(shared: Running, shared_bot: dict[str, Any]) -> None:
    sent = (await shared.api.send(shared_bot, html="<p>Hello <b>you</b></p>")).data
    raw = await composed(shared, sent)
    assert raw.get_content_type() == "multipart/alternative"
    text, html = raw.iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert "Hello you" in text.get_content() and "<b>you</b>" in html.get_content()


async def test_the_headers_of_what_we_send(maild: Running) -> None:
    bot = await maild.inbox("bot", name="The B\u00f6t")
    sent = (
        await maild.api.send(bot, to=["a@elsewhere.test"], cc=["c@elsewhere.test"], bcc=["b@elsewhere.test"])
    ).data
    raw = await composed(maild, sent)
    assert str(raw["From"]) == "The B\u00f6t <bot@agents.test>"
    assert (raw["To"], raw["Cc"]) == ("a@elsewhere.test", "c@elsewhere.test")
    assert raw["Message-ID"] == sent["messageIdHeader"]
    assert raw["Auto-Submitted"] == "auto-generated"
    assert raw["X-Auto-Response-Suppress"] == "All"
    assert raw["Date"] and raw["MIME-Version"] == "1.0"


@on_shared
async def test_bcc_is_never_in_the_message(shared: Running, shared_bot: dict[str, Any]) -> None:
    sent = (
        await shared.api.send(shared_bot, to=["a@elsewhere.test"], bcc=["secret@hidden.test"], text="x")
    ).data
    assert b"hidden.test" not in await shared.raw(sent["id"])
    assert [one["kind"] for one in sent["recipients"]] == ["to", "bcc"]


@on_shared
async def test_an_address_named_twice_gets_one_copy_as_it_first_stood(
    shared: Running, shared_bot: dict[str, Any]
) -> None:
    sent = (
        await shared.api.send(
            shared_bot,
            to=["A@elsewhere.test", "a@Elsewhere.test", "b@elsewhere.test"],
            cc=["B@ELSEWHERE.TEST", "c@elsewhere.test"],
            bcc=["a@elsewhere.test", "C@elsewhere.test", "d@b\u00fccher.test", "D@xn--bcher-kva.test"],
        )
    ).data
    assert [(one["kind"], one["address"].lower()) for one in sent["recipients"]] == [
        ("to", "a@elsewhere.test"), ("to", "b@elsewhere.test"), ("cc", "c@elsewhere.test"),
        ("bcc", "d@xn--bcher-kva.test"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"to": []}, {"to": "too_few"}),
        ({"to": [f"a{n}@elsewhere.test" for n in range(51)]}, {"to": "too_many"}),
        ({"cc": [f"a{n}@elsewhere.test" for n in range(51)]}, {"cc": "too_many"}),
        ({"bcc": [f"a{n}@elsewhere.test" for n in range(51)]}, {"bcc": "too_many"}),
        ({"to": None}, {"to": "wrong_type"}),
        ({"to": "a@elsewhere.test"}, {"to": "wrong_type"}),
        ({"to": ["Ada <a@elsewhere.test>"]}, {"to[0]": "invalid_email"}),
        ({"to": ["a@elsewhere.test, b@elsewhere.test"]}, {"to[0]": "invalid_email"}),
        ({"to": [""]}, {"to[0]": "invalid_email"}),
        ({"to": ["a@elsewhere.test\r\nBcc: x@y.test"]}, {"to[0]": "invalid_email"}),
        ({"to": ["a@elsewhere.test", "a@b\ud800.test"]}, {}),
        ({"cc": ["\u0000@elsewhere.test"]}, {"cc[0]": "invalid_email"}),
        ({"subject": "s" * 501}, {"subject": "too_long"}),
        ({"subject": "a\nb"}, {"subject": "control_character"}),
        ({"inReplyTo": "drf_01m7yg00000000000000000000"}, {"inReplyTo": "invalid_id"}),
        ({"inReplyTo": "<1@elsewhere.test>"}, {"inReplyTo": "invalid_id"}),
        ({"inReplyTo": ""}, {"inReplyTo": "invalid_id"}),
        ({"attachments": [file()] * 21}, {"attachments": "too_many"}),
        ({"attachments": [{"filename": "a"}]}, {"attachments[0].content": "required"}),
        ({"attachments": [file(filename="a" * 201)]}, {"attachments[0].filename": "too_long"}),
        ({"text": "a\u0000"}, {"text": "control_character"}),
        ({"html": "a\u0000"}, {"html": "control_character"}),
        ({"html": "<div>" * 600}, {"html": "too_complex"}),
        ({"unsubscribe": True, "headers": {"List-Unsubscribe": "<mailto:u@x.test>"}}, {"headers": "not_allowed"}),
        ({"attachments": [file(filename="")]}, {"attachments[0].filename": "too_short"}),
        ({"attachments": [file(filename="a\r\nX: y")]}, {"attachments[0].filename": "control_character"}),
        ({"attachments": [file(contentType="text")]}, {"attachments[0].contentType": "invalid_format"}),
        ({"attachments": [file(contentType="text/html; charset")]}, {"attachments[0].contentType": "invalid_format"}),
        ({"attachments": [file(contentType='a/b; x="y\r\nz"')]}, {"attachments[0].contentType": "invalid_format"}),
        ({"attachments": [file(), {"filename": "b", "content": "*"}, {"filename": "c", "content": "YQ"}]},
         {"attachments[1].content": "invalid_base64", "attachments[2].content": "invalid_base64"}),
        ({"attachments": [{"filename": "b", "content": "YW\nI="}]}, {"attachments[0].content": "invalid_base64"}),
        ({"attachments": [{"filename": "b", "content": "YW_-"}]}, {"attachments[0].content": "invalid_base64"}),
    ],
)  # fmt: skip
@on_shared
async def test_what_can_not_be_sent(
    shared: Running, shared_bot: dict[str, Any], fields: dict[str, Any], faults: dict[str, str]
) -> None:
    before = shared.sql("SELECT max(id) FROM messages")
    answer = await shared.api.send(shared_bot, **fields)
    assert answer.status == 400
    assert answer.faults if not faults else answer.faults == faults
    assert shared.sql("SELECT max(id) FROM messages") == before


async def test_the_edges_of_what_can_be_sent(maild: Running, bot: dict[str, Any]) -> None:
    for fields in (
        {"to": [f"a{n}@elsewhere.test" for n in range(50)], "cc": [f"c{n}@elsewhere.test" for n in range(50)],
         "bcc": [f"b{n}@elsewhere.test" for n in range(50)]},
        {"subject": "\u00fc" * 500},
        {"subject": ""},
        {"text": "", "html": ""},
        {"text": None, "html": None, "subject": None, "inReplyTo": None},
        {"attachments": [file(filename="f" * 200)] * 20},
        {"attachments": [file(b"")]},
        {"to": ["a@localhost.invalid", "a@x.local", "o'neil+tag@elsewhere.test",
                "j\u00f6rg@b\u00fccher.test"]},
    ):  # fmt: skip
        answer = await maild.api.send(bot, **fields)
        assert answer.status == 201, (fields, answer.body)


async def test_the_inbox_must_be_an_active_one_of_ours(maild: Running) -> None:
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    bodies = set()
    for inbox_id in (theirs["id"], "inb_01m7yg00000000000000000000", "x", "", "../x"):
        answer = await maild.api.send(inbox_id)
        assert (answer.status, answer.code) == (404, "inbox_not_found"), inbox_id
        bodies.add(answer.body)
    assert len(bodies) == 1
    assert (await maild.api.send("i" * 65)).faults == {"inboxId": "too_long"}
    assert (await maild.api.send("\u0000")).faults == {"inboxId": "control_character"}


# Replies -----------------------------------------------------------------------------------------


async def test_a_reply_joins_the_thread_and_names_what_it_answers(
    maild: Running, bot: dict[str, Any]
) -> None:
    whole = await maild.received(bot, MAIL)
    sent = (await maild.api.send(bot, to=["ada@elsewhere.test"], subject="Re: x", inReplyTo=whole["id"])).data
    assert sent["threadId"] == whole["threadId"]
    raw = await composed(maild, sent)
    assert raw["In-Reply-To"] == "<first@elsewhere.test>" == sent["inReplyTo"]
    assert raw["References"].split() == [
        "<minus@elsewhere.test>",
        "<zero@elsewhere.test>",
        "<first@elsewhere.test>",
    ]
    assert sent["references"] == raw["References"].split()
    assert raw["Auto-Submitted"] == "auto-replied"


async def test_an_answer_to_a_thread_names_a_message_that_its_people_have(
    maild: Running, bot: dict[str, Any]
) -> None:
    """What waits for its time, was cancelled, or was written by a test key is in nobody's mailbox."""
    asked = await maild.received(bot, "From: a@elsewhere.test\nMessage-ID: <q@elsewhere.test>\n\n?")
    thread = {"inReplyTo": asked["threadId"]}
    later = iso(Clock().now_ms() + 3_600_000)
    cancelled = (await maild.api.send(bot, **thread, sendAt=later)).data
    assert (await maild.api.call("DELETE", f"/v1/messages/{cancelled['id']}/schedule")).status == 200
    await maild.api.send(bot, **thread, sendAt=later)
    tested = (await maild.test_api.send(bot, **thread)).data
    assert tested["inReplyTo"] == "<q@elsewhere.test>"
    sent = (await maild.api.send(bot, **thread)).data
    assert (sent["inReplyTo"], sent["references"]) == ("<q@elsewhere.test>", ["<q@elsewhere.test>"])
    assert (await maild.api.send(bot, **thread)).data["inReplyTo"] == sent["messageIdHeader"]
    alone = (await maild.api.send(bot, sendAt=later)).data
    assert (await maild.api.send(bot, inReplyTo=alone["threadId"])).data["threadId"] == alone["threadId"]


async def test_people_know_a_message_by_the_id_that_a_smarthost_gave_it(
    maild: Running, bot: dict[str, Any]
) -> None:
    sent = (await maild.api.send(bot, to=["a@elsewhere.test"], subject="Offer")).data
    given = "<0102@eu-west-1.relay.test>"
    maild.sql("INSERT INTO relay_message_ids VALUES (?, ?, ?)", bot["id"], given, sent["id"])
    follow_up = (await maild.api.send(bot, to=["a@elsewhere.test"], inReplyTo=sent["id"])).data
    assert follow_up["inReplyTo"] == given
    assert follow_up["references"] == [sent["messageIdHeader"], given]
    mail = f"From: b@elsewhere.test\nSubject: About that\nIn-Reply-To: {given}\n\nYes."
    assert (await maild.received(bot, mail))["threadId"] == sent["threadId"]
    mail = (
        f"From: b@elsewhere.test\nSubject: And\nReferences: {given} <2@x.test>\nIn-Reply-To: <2@x.test>\n\n?"
    )
    assert (await maild.received(bot, mail))["threadId"] == sent["threadId"]
    await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")
    assert maild.sql("SELECT count(*) FROM relay_message_ids") == [(0,)]


async def test_what_is_answered_and_gone_is_named(maild: Running, bot: dict[str, Any]) -> None:
    asked = await maild.received(bot, "From: a@elsewhere.test\n\n?")
    body = {"inboxId": bot["id"], "to": ["a@elsewhere.test"], "inReplyTo": asked["id"]}
    draft = (await maild.api.post("/v1/drafts", body)).data
    await maild.api.call("DELETE", f"/v1/messages/{asked['id']}")
    answer = await maild.api.call("POST", f"/v1/drafts/{draft['id']}/send")
    assert answer.code == "message_not_found" and "'inReplyTo'" in answer.error["message"]


async def test_an_unknown_parent_is_404_whatever_follows_the_prefix(
    maild: Running, bot: dict[str, Any]
) -> None:
    for parent in ("msg_0000000000", "msg_", "thd_x", "msg_" + "0" * 300, "thd_\u00fc"):
        answer = await maild.api.send(bot, inReplyTo=parent)
        assert (answer.status, answer.code) == (404, "message_not_found"), parent
        draft = await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "inReplyTo": parent})
        assert (draft.status, draft.code) == (404, "message_not_found"), parent


async def test_a_quoted_local_part_is_a_recipient(maild: Running, bot: dict[str, Any]) -> None:
    """RFC 5321 §4.1.2: odd, and legal."""
    odd = [
        '"a b"@elsewhere.test',
        '"a,b;c<d>"@elsewhere.test',
        '"a\\"b"@elsewhere.test',
        '"a@b"@elsewhere.test',
    ]
    sent = (await maild.api.send(bot, to=odd[:2], cc=odd[2:3], bcc=odd[3:])).data
    assert [one["address"] for one in sent["recipients"]] == odd
    raw = await composed(maild, sent)
    assert [one.addr_spec for one in raw["To"].addresses] == odd[:2]
    assert raw["Cc"].addresses[0].addr_spec == odd[2]
    assert (sent["toAddresses"], sent["ccAddresses"], sent["bccAddresses"]) == (odd[:2], odd[2:3], odd[3:])
    assert maild.sql("SELECT DISTINCT domain FROM recipients") == [("elsewhere.test",)]


async def test_a_reply_to_a_thread_answers_its_newest_message(maild: Running, bot: dict[str, Any]) -> None:
    whole = await maild.received(bot, MAIL)
    first = (await maild.api.send(bot, inReplyTo=whole["threadId"])).data
    second = (await maild.api.send(bot, inReplyTo=whole["threadId"])).data
    assert first["inReplyTo"] == whole["messageIdHeader"]
    assert second["inReplyTo"] == first["messageIdHeader"]
    assert {first["threadId"], second["threadId"]} == {whole["threadId"]}


async def test_a_reply_to_something_unknown_or_of_another_inbox_is_404(
    maild: Running, bot: dict[str, Any]
) -> None:
    other = await maild.inbox("other")
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    beside = await maild.received(other, MAIL)
    foreign = await maild.received(theirs, MAIL, stranger.api)
    for target in (
        beside["id"], beside["threadId"], foreign["id"], foreign["threadId"],
        "msg_01m7yg00000000000000000000", "thd_01m7yg00000000000000000000",
    ):  # fmt: skip
        answer = await maild.api.send(bot, inReplyTo=target)
        assert (answer.status, answer.code) == (404, "message_not_found")


async def test_an_answer_to_our_mail_comes_back_into_its_thread(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot, subject="question")).data
    header = sent["messageIdHeader"]
    answer = await maild.received(
        bot, f"From: a@b.test\nSubject: Re: question\nIn-Reply-To: {header}\n\nyes\n"
    )
    assert answer["threadId"] == sent["threadId"]


# Between inboxes of this host --------------------------------------------------------------------


async def test_mail_to_another_inbox_arrives_and_is_known_to_be_ours(maild: Running) -> None:
    bot = await maild.inbox("bot", name="Bot")
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    sent = (
        await maild.api.send(
            bot,
            to=["Theirs+tag@agents.test"],
            subject="hi",
            text="words\n.\n",
            attachments=[file(b"data", "d.bin")],
        )
    ).data
    arrived = await maild.arrival(theirs, stranger.api)
    assert arrived["subject"] == "hi" and arrived["fromAddress"] == "bot@agents.test"
    assert arrived["auth"] == {"spf": "pass", "dkim": "pass", "dmarc": "pass", "arc": "none",
                               "verifiedDomain": "agents.test"}  # fmt: skip
    assert arrived["messageIdHeader"] == sent["messageIdHeader"]
    whole = (await stranger.api.get(f"/v1/messages/{arrived['id']}")).data
    assert whole["textBody"].splitlines() == ["words", "."]
    downloaded = await stranger.api.get(f"/v1/attachments/{whole['attachments'][0]['id']}")
    assert downloaded.body == b"data"

    async def delivered() -> dict[str, Any] | None:
        shown = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
        return shown if shown["status"] == "delivered" else None

    shown = await until(delivered)
    assert shown["sentAt"] and shown["recipients"][0]["status"] == "delivered"


async def test_local_and_bcc_copies_reach_each_inbox_once(maild: Running, bot: dict[str, Any]) -> None:
    first, second = await maild.inbox("first"), await maild.inbox("second")
    await maild.api.send(bot, to=[first["address"]], bcc=[second["address"], "first+again@agents.test"])
    await maild.arrival(first)
    hidden = await maild.arrival(second)
    assert hidden["bccAddresses"] == [] and hidden["toAddresses"] == [first["address"]]
    inbound = await maild.api.messages(direction="inbound")
    assert sorted(one["inboxId"] for one in inbound) == sorted([first["id"], second["id"]])


async def test_mail_to_nobody_here_fails_and_says_so(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot, to=["nobody@agents.test"])).data

    async def failed() -> dict[str, Any] | None:
        shown = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
        return shown if shown["status"] == "failed" else None

    (recipient,) = (await until(failed))["recipients"]
    assert (recipient["status"], recipient["smtpCode"], recipient["enhancedCode"]) == (
        "bounced",
        550,
        "5.1.1",
    )


# Attachments and sizes -----------------------------------------------------------------------------


async def test_attachments_go_out_as_they_came(maild: Running, bot: dict[str, Any]) -> None:
    content = bytes(range(256)) * 2000
    sent = (
        await maild.api.send(
            bot,
            text="see files",
            attachments=[
                file(content, "Gr\u00fc\u00dfe.PDF", contentType="Application/PDF"),
                file(b"x", "x"),
                file(b"BEGIN:VCALENDAR", "invite.ics", contentType="text/calendar; method=REPLY"),
            ],
        )
    ).data
    first, second, third = sent["attachments"]
    assert (first["filename"], first["contentType"], first["sizeBytes"]) == (
        "Gr\u00fc\u00dfe.PDF",
        "application/pdf",
        len(content),
    )
    assert second["contentType"] == "application/octet-stream"
    assert third["contentType"] == "text/calendar"
    assert (await maild.api.get(f"/v1/attachments/{first['id']}")).body == content
    parts = list((await composed(maild, sent)).iter_attachments())
    assert parts[0].get_filename() == "Gr\u00fc\u00dfe.PDF" and parts[0].get_content() == content
    assert parts[2].get_param("method") == "REPLY"


async def test_one_attachment_has_at_most_10_mb(maild: Running, bot: dict[str, Any]) -> None:
    assert (await maild.api.send(bot, attachments=[file(b"x" * (10 * MEGABYTE))])).status == 201
    answer = await maild.api.send(bot, attachments=[file(b"x" * (10 * MEGABYTE + 1), "large.bin")])
    assert (answer.status, answer.code) == (413, "attachment_too_large")
    details = answer.error["details"]
    assert (details["filename"], details["sizeBytes"], details["limit"]) == (
        "large.bin",
        10 * MEGABYTE + 1,
        10 * MEGABYTE,
    )


async def test_all_together_have_at_most_15_mb(maild: Running, bot: dict[str, Any]) -> None:
    half = b"x" * (15 * MEGABYTE // 2)
    answer = await maild.api.send(bot, attachments=[file(half), file(half), file(b"x")])
    assert (answer.status, answer.code) == (413, "attachment_too_large")
    assert answer.error["details"]["limit"] == 15 * MEGABYTE
    answer = await maild.api.send(bot, text="x", attachments=[file(half), file(half)])
    assert (answer.status, answer.code) == (413, "payload_too_large")
    assert answer.error["details"] == {"sizeBytes": 15 * MEGABYTE + 1, "limit": 15 * MEGABYTE}
    assert await maild.api.messages() == []


async def test_the_body_is_measured_in_octets(maild: Running, bot: dict[str, Any]) -> None:
    """15 MB are octets on the wire, not characters: \u20ac has three."""
    text = "\u20ac" * (5 * MEGABYTE + 1)
    body = json.dumps({"inboxId": bot["id"], "to": ["a@elsewhere.test"], "text": text}, ensure_ascii=False)
    answer = await maild.api.call(
        "POST", "/v1/messages/send", data=body.encode(), headers={"Content-Type": "application/json"}
    )
    assert (answer.status, answer.code) == (413, "payload_too_large")


@pytest.mark.parametrize(
    "relay", [{"relay": "127.0.0.1:9"}, {"relays": {"one": {"host": "127.0.0.1:9"}}}], ids=["relay", "relays"]
)
async def test_a_relay_that_takes_no_attachments(start: Start, relay: dict[str, Any]) -> None:
    maild = await start(outbound={**relay, "attachments": False})
    bot = await maild.inbox("bot")
    answer = await maild.api.send(bot, attachments=[file()])
    assert (answer.status, answer.code) == (400, "attachments_unsupported")
    assert (await maild.api.send(bot)).status == 201


# HTML ------------------------------------------------------------------------------------------------


@on_shared
async def test_html_leaves_without_what_acts(shared: Running, shared_bot: dict[str, Any]) -> None:
    """A9, on the wire and in what the API shows."""
    html = '<p onclick="x()">keep</p><script>evil()</script><a href="javascript:evil()">l</a><img src="cid:logo">'
    sent = (await shared.api.send(shared_bot, html=html)).data
    (part,) = [one for one in (await composed(shared, sent)).walk() if one.get_content_type() == "text/html"]
    shown = (await shared.api.get(f"/v1/messages/{sent['id']}")).data["htmlBody"]
    for found in (part.get_content(), shown):
        assert "keep" in found and "cid:logo" in found
        assert "evil" not in found and "onclick" not in found and "javascript" not in found


async def test_the_conversation_is_deleted_while_the_answer_is_composed(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = await maild.received(bot, "From: f@elsewhere.test\r\nSubject: hello\r\n\r\nhi\r\n")
    store = Blobs.store

    async def store_meanwhile(self: Blobs, raw: bytes) -> Stored:
        await maild.api.call("DELETE", f"/v1/messages/{asked['id']}")
        return await store(self, raw)

    monkeypatch.setattr(Blobs, "store", store_meanwhile)
    answer = await maild.api.send(bot, inReplyTo=asked["id"])
    assert (answer.status, answer.code) == (404, "message_not_found")
    assert await maild.api.messages() == []


# Test keys ---------------------------------------------------------------------------------------------


async def test_a_test_key_reaches_the_simulator_and_counts_nothing(
    maild: Running, bot: dict[str, Any]
) -> None:
    other = await maild.inbox("other")
    sent = (
        await maild.test_api.send(
            bot,
            to=["delivered@simulator.test", "real@elsewhere.test"],
            cc=["bounce@simulator.test", other["address"]],
        )
    ).data
    assert sent["mode"] == "test"

    async def settled() -> dict[str, Any] | None:
        shown = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
        return (
            shown if all(one["status"] not in ("queued", "deferred") for one in shown["recipients"]) else None
        )

    recipients = {one["address"]: one["status"] for one in (await until(settled))["recipients"]}
    assert recipients == {
        "delivered@simulator.test": "delivered", "real@elsewhere.test": "delivered",
        "bounce@simulator.test": "bounced", other["address"]: "delivered",
    }  # fmt: skip
    assert maild.sql("SELECT * FROM usage WHERE metric <> 'received'") == []
    assert maild.sql("SELECT * FROM suppressions") == []
    assert await maild.api.messages(inboxId=other["id"]) == []
    tiny = await maild.organization("tiny")
    theirs = await maild.inbox("theirs", tiny.api)
    for _ in range(3):
        assert (await tiny.test_api.send(theirs)).status == 201
    assert (await tiny.api.send(theirs)).status == 201
    assert (await tiny.api.send(theirs)).code == "limit_reached"
    assert (await tiny.test_api.send(theirs)).status == 201
