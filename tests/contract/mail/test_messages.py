"""GET /v1/messages and /v1/messages/{id}: contract, sections 2 and 4; decisions.md, "Message"."""

from typing import Any

import pytest

from tests.conftest import Start, on_shared
from tests.support.running import Running
from tests.support.worlds.store import ManualClock

LISTED = {
    "id", "inboxId", "threadId", "direction", "mode", "status", "review", "fromAddress", "fromDomain",
    "fromDomainUnicode", "fromName",
    "toAddresses", "ccAddresses", "bccAddresses", "replyTo",
    "replyToAddresses", "subject", "snippet", "extractedText", "messageIdHeader",
    "inReplyTo", "references", "labels", "isAutoReply", "isSpam", "risk", "auth", "forwardOf",
    "deliveredTo", "mailingList", "recipients", "attachments",
    "failureReason", "scheduledAt", "sentAt", "heldAt", "createdAt",
}  # fmt: skip
RECIPIENT = {
    "address", "kind", "status", "attempts", "lastAttemptAt", "nextAttemptAt", "remoteHost", "smtpCode",
    "enhancedCode", "response", "tls",
}  # fmt: skip
MAIL = """From: "Ada L." <Ada@Elsewhere.test>
To: bot@agents.test, Other <other@elsewhere.test>
Cc: third@elsewhere.test
Reply-To: replies@elsewhere.test
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Message-ID: <first@elsewhere.test>
In-Reply-To: <zero@elsewhere.test>
References: <minus@elsewhere.test> <zero@elsewhere.test>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8

New words.

> old words
--inner
Content-Type: text/html; charset=utf-8

<p>New words.</p>
--inner--
--outer
Content-Type: application/pdf; name="a.pdf"
Content-Disposition: attachment; filename="a.pdf"
Content-Transfer-Encoding: base64

JVBERg==
--outer--
"""


async def test_an_inbound_message_is_complete(maild: Running, bot: dict[str, Any]) -> None:
    shown = await maild.received(bot, MAIL)
    assert set(shown) == LISTED | {"textBody", "htmlBody"}
    (attachment,) = shown["attachments"]
    assert attachment == {
        "id": attachment["id"], "filename": "a.pdf", "contentType": "application/pdf", "sizeBytes": 4,
        "contentId": None, "isInline": False,
    }  # fmt: skip
    assert attachment["id"].startswith("att_")
    expected = {
        "inboxId": bot["id"],
        "direction": "inbound",
        "mode": "live",
        "status": "received",
        "fromAddress": "Ada@elsewhere.test",
        "fromDomain": "elsewhere.test",
        "fromDomainUnicode": None,
        "fromName": "Ada L.",
        "toAddresses": ["bot@agents.test", "other@elsewhere.test"],
        "ccAddresses": ["third@elsewhere.test"],
        "bccAddresses": [],
        "replyTo": "replies@elsewhere.test",
        "subject": "Gr\u00fc\u00dfe",
        "extractedText": "New words.",
        "messageIdHeader": "<first@elsewhere.test>",
        "inReplyTo": "<zero@elsewhere.test>",
        "references": ["<minus@elsewhere.test>", "<zero@elsewhere.test>"],
        "labels": ["unread"],
        "isAutoReply": False,
        "isSpam": False,
        "deliveredTo": "bot@agents.test",
        "mailingList": None,
        "risk": None,
        "recipients": [],
        "failureReason": None,
        "scheduledAt": None,
        "sentAt": None,
        "textBody": "New words.\n\n> old words",
        "htmlBody": "<p>New words.</p>",
    }
    found = {key: shown[key].lower() if key == "fromAddress" else shown[key] for key in expected}
    assert found == {**expected, "fromAddress": "ada@elsewhere.test"}
    assert set(shown["auth"]) == {"spf", "dkim", "dmarc", "arc", "verifiedDomain"}
    assert shown["auth"]["verifiedDomain"] is None
    assert shown["snippet"].startswith("New words.")


async def test_the_address_that_it_came_to_is_shown(maild: Running, bot: dict[str, Any]) -> None:
    """To names others: a list, an alias, or Bcc."""
    raw = "From: ada@elsewhere.test\nTo: list@elsewhere.test\nSubject: x\n\nhello\n"
    assert (await maild.deliver("Bot+Order7@agents.test", raw)).startswith("250 ")
    assert (await maild.arrival(bot))["deliveredTo"] == "Bot+Order7@agents.test"
    sent = (await maild.api.send(bot, to=["bot+note@agents.test"])).data
    assert (sent["deliveredTo"], sent["mailingList"]) == (None, None)
    assert (await maild.arrival(bot, count=2))["deliveredTo"] == "bot+note@agents.test"


async def test_the_list_that_sent_it_is_shown(maild: Running, bot: dict[str, Any]) -> None:
    raw = (
        "From: ada@elsewhere.test\nSubject: [List] x\nList-Id: Friends <list.elsewhere.test>\n"
        "List-Post: <mailto:list@elsewhere.test>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\n"
        "List-Unsubscribe: <mailto:list-leave@elsewhere.test>, <https://elsewhere.test/u>\n\nhello\n"
    )
    assert (await maild.received(bot, raw))["mailingList"] == {
        "id": "list.elsewhere.test",
        "post": "list@elsewhere.test",
        "unsubscribe": ["mailto:list-leave@elsewhere.test", "https://elsewhere.test/u"],
        "oneClick": False,  # nobody has signed it
    }


async def test_an_outbound_message_is_complete(maild: Running, bot: dict[str, Any]) -> None:
    sent = (
        await maild.api.send(
            bot, to=["a@elsewhere.test"], cc=["c@elsewhere.test"], bcc=["b@elsewhere.test"], text="x"
        )
    ).data
    shown = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
    assert set(shown) == LISTED | {"textBody", "htmlBody"}
    assert [set(one) for one in shown["recipients"]] == [RECIPIENT] * 3
    assert [(one["address"], one["kind"]) for one in shown["recipients"]] == [
        ("a@elsewhere.test", "to"), ("c@elsewhere.test", "cc"), ("b@elsewhere.test", "bcc"),
    ]  # fmt: skip
    assert (shown["direction"], shown["fromAddress"], shown["auth"]) == ("outbound", bot["address"], None)
    assert shown["bccAddresses"] == ["b@elsewhere.test"]
    assert (shown["subject"], shown["textBody"], shown["htmlBody"]) == ("(no subject)", "x", None)
    assert shown["labels"] == [] and shown["attachments"] == []


async def test_lists_carry_everything_but_the_bodies(maild: Running, bot: dict[str, Any]) -> None:
    shown = await maild.received(bot, MAIL)
    (listed,) = await maild.api.messages(inboxId=bot["id"])
    assert listed == {key: value for key, value in shown.items() if key not in ("textBody", "htmlBody")}


async def test_large_bodies_are_always_there(maild: Running, bot: dict[str, Any]) -> None:
    """Contract, section 2: htmlBody is always populated when the message has HTML."""
    html = "<p>" + "x" * 300_000 + "</p>"
    text = "Gr\u00fc\u00dfe " * 40_000
    whole = await maild.received(
        bot,
        "Subject: large\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\n"
        f"Content-Type: text/plain; charset=utf-8\n\n{text}\n--b\nContent-Type: text/html\n\n{html}\n--b--\n",
    )
    assert whole["htmlBody"] == html
    assert whole["textBody"] == text


async def test_absent_bodies_are_null(maild: Running, bot: dict[str, Any]) -> None:
    html = await maild.received(bot, "Subject: h\nContent-Type: text/html\nMIME-Version: 1.0\n\n<p>x</p>\n")
    assert html["htmlBody"].strip() == "<p>x</p>"
    text = await maild.received(bot, "Subject: t\n\nx\n")
    assert (text["textBody"], text["htmlBody"]) == ("x\n", None)


@on_shared
async def test_an_unknown_message_is_404(shared: Running) -> None:
    for path in (
        "msg_01m7yg00000000000000000000",
        "x",
        "%00",
        "..%2f..%2fetc",
        "%2e%2e",
        "a" * 5000,
        "%ff",
        "%ud800",
    ):
        answer = await shared.api.get(f"/v1/messages/{path}")
        assert (answer.status, answer.code) == (404, "message_not_found"), path


async def test_the_list_is_newest_first_and_turns_pages(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(7):
        await maild.deliver(bot["address"], f"Subject: {number}\n\n")
    subjects = []
    cursor: dict[str, str] = {}
    for name in ("before", "cursor", "before", "cursor"):
        page = await maild.api.messages(limit="2", **cursor)
        subjects += [one["subject"] for one in page]
        cursor = {name: page[-1]["id"]}
    assert subjects == ["6", "5", "4", "3", "2", "1", "0"]
    assert await maild.api.messages(**cursor) == []


async def test_a_cursor_outlives_its_item(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(3):
        await maild.deliver(bot["address"], f"Subject: {number}\n\n")
    middle = (await maild.api.messages())[1]["id"]
    assert (await maild.api.call("DELETE", f"/v1/messages/{middle}")).status == 200
    assert [one["subject"] for one in await maild.api.messages(before=middle)] == ["0"]


@pytest.mark.parametrize(
    ("parameters", "faults"),
    [
        ({"before": "x"}, {"before": "invalid_cursor"}),
        ({"cursor": "thd_01m7yg00000000000000000000"}, {"cursor": "invalid_cursor"}),
        ({"direction": "sideways"}, {"direction": "not_allowed"}),
        ({"since": "yesterday"}, {"since": "invalid_date"}),
        ({"until": "2026-13-01"}, {"until": "invalid_date"}),
        ({"until": "1e99"}, {"until": "invalid_date"}),
        ({"since": ""}, {"since": "invalid_date"}),
        ({"from": "f" * 321}, {"from": "too_long"}),
        ({"limit": "0", "direction": "x"}, {"limit": "out_of_range", "direction": "not_allowed"}),
    ],
)
@on_shared
async def test_filters_that_are_none(
    shared: Running, parameters: dict[str, str], faults: dict[str, str]
) -> None:
    answer = await shared.api.get("/v1/messages", **parameters)
    assert answer.status == 400 and answer.faults == faults


async def test_filters(start: Start) -> None:
    clock = ManualClock(1_795_219_200_000)  # 2026-11-21T00:00:00Z
    maild = await start(clock=clock)
    bot, other = await maild.inbox("bot"), await maild.inbox("other")
    await maild.received(bot, "From: x%y@elsewhere.test\nSubject: first\n\n")
    clock.forward(3600)
    await maild.received(other, "From: bob_b@elsewhere.test\nSubject: second\n\n")
    clock.forward(3600)
    sent = (await maild.api.send(bot, subject="third")).data

    async def subjects(**parameters: str) -> list[str]:
        return [one["subject"] for one in await maild.api.messages(**parameters)]

    assert await subjects(inboxId=bot["id"]) == ["third", "first"]
    assert await subjects(inboxId="inb_01m7yg00000000000000000000") == []
    assert await subjects(threadId=sent["threadId"]) == ["third"]
    assert await subjects(threadId="thd_01m7yg00000000000000000000") == []
    assert await subjects(direction="inbound") == ["second", "first"]
    assert await subjects(direction="outbound") == ["third"]
    assert await subjects(**{"from": "BOB_b@"}) == ["second"]
    assert await subjects(**{"from": "x%y"}) == ["first"]
    for literal in ("%", "_", "' OR 1=1 --"):
        found = await subjects(**{"from": literal})
        assert found == {"%": ["first"], "_": ["second"]}.get(literal, [])
    for since, expected in (
        ("2026-11-21", ["third", "second", "first"]),
        ("2026-11-21T01:00:00Z", ["third", "second"]),
        ("2026-11-21T01:00:00.001Z", ["third"]),
        ("2026-11-21T03:00:00+02:00", ["third", "second"]),
        # A + that was not encoded.
        ("2026-11-21T03:00:00 02:00", ["third", "second"]),
        ("2026-11-21T03:00:00.001 02:00", ["third"]),
        ("2026-11-21 03:00 02:00", ["third", "second"]),
        ("2026-11-21 02:00", ["third"]),
        ("2026-11-22", []),
    ):
        assert await subjects(since=since) == expected, since
    assert await subjects(until="2026-11-21T01:00:00Z") == ["first"]
    assert await subjects(until="2026-11-21") == []
    assert await subjects(since="2026-11-21T01:00:00Z", until="2026-11-21T02:00:00Z") == ["second"]
    assert await subjects(direction="inbound", inboxId=bot["id"], limit="1") == ["first"]


@pytest.mark.parametrize("written", ["a+b@x.test", "a%2Bb@x.test", "+b@X.test"])
async def test_a_plus_in_an_address_need_not_be_encoded(
    maild: Running, bot: dict[str, Any], written: str
) -> None:
    """In a query it reads as a blank, which no address has but in quotes (RFC 5321 §4.1.2)."""
    message = await maild.received(bot, "From: a+b@x.test\nSubject: tagged\n\n")
    quoted = await maild.received(bot, 'From: "a b"@x.test\nSubject: quoted\n\n')
    tagged = (await maild.api.call("GET", f"/v1/messages?from={written}")).data
    assert [one["id"] for one in tagged] == [message["id"]]
    for part in ('"a+b"@x', "a+b"):
        found = (await maild.api.call("GET", f"/v1/messages?from={part}")).data
        assert [one["id"] for one in found] == [quoted["id"]], part


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/wait"])
@pytest.mark.parametrize("written", ["Ada <ada@elsewhere.test>", "<ada@elsewhere.test>"])
async def test_a_sender_is_looked_for_without_name_and_brackets(
    maild: Running, path: str, written: str
) -> None:
    """No address is like that, and it read as no mail."""
    answer = await maild.api.get(path, **{"from": written})
    assert answer.faults == {"from": "invalid_email"}


async def test_a_suppression_is_found_by_an_address_with_a_plus(maild: Running) -> None:
    await maild.api.post("/v1/suppressions", {"email": "a+b@x.test"})
    for written in ("a+b@x.test", "a%2Bb@x.test"):
        found = (await maild.api.call("GET", f"/v1/suppressions?email={written}")).data
        assert [one["email"] for one in found] == ["a+b@x.test"], written


async def test_reading_never_clears_unread(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, "Subject: x\n\n")
    for _ in range(2):
        assert (await maild.api.get(f"/v1/messages/{message['id']}")).data["labels"] == ["unread"]


@pytest.mark.parametrize(
    ("author", "envelope", "address", "domain"),
    [
        ("b@m\u00fcller.test", "c@else.test", "b@xn--mller-kva.test", "xn--mller-kva.test"),
        ("b@XN--MLLER-KVA.test", "c@else.test", "b@XN--MLLER-KVA.test", "xn--mller-kva.test"),
        ('"a@b"@Bank.TEST', "c@else.test", '"a@b"@Bank.TEST', "bank.test"),
        ("a@x.test, b@y.test", "c@else.test", "c@else.test", "else.test"),
        ("a@x.test, b@y.test", "c@m\u00fcller.test", "c@xn--mller-kva.test", "xn--mller-kva.test"),
        ("a@x.test, b@y.test", "", "", None),
        ("u@[192.0.2.1]", "c@else.test", "u@[192.0.2.1]", "[192.0.2.1]"),
    ],
)
async def test_the_author_and_his_domain(
    maild: Running, bot: dict[str, Any], author: str, envelope: str, address: str, domain: str | None
) -> None:
    mail = f"From: {author}\r\nSubject: x\r\n\r\nhi\r\n".encode()
    await maild.deliver(bot["address"], mail, envelope)
    (message,) = (await maild.api.get("/v1/messages", inboxId=bot["id"])).data
    assert (message["fromAddress"], message["fromDomain"]) == (address, domain)


@pytest.mark.parametrize(
    ("sender", "fields", "is_auto_reply"),
    [
        ("", "Subject: Automatic reply: hello", True),
        ("", "Subject: Hello", False),
        (
            "daemon@elsewhere.test",
            "Subject: Undelivered\nContent-Type: multipart/report; report-type=delivery-status; boundary=b",
            True,
        ),
        ("", "Subject: Re: Hello\nIn-Reply-To: <1@elsewhere.test>", True),
        ("ann@elsewhere.test", "Subject: Automatic reply: hello", False),
        ("ann@elsewhere.test", "Subject: Automatic reply: hello\nIn-Reply-To: <1@elsewhere.test>", True),
        ("ann@elsewhere.test", "Subject: Re: Automatic reply: hello\nIn-Reply-To: <1@elsewhere.test>", False),
    ],
)
async def test_what_a_program_answers_is_automatic(
    maild: Running, bot: dict[str, Any], sender: str, fields: str, is_auto_reply: bool
) -> None:
    await maild.deliver(bot["address"], f"From: ann@elsewhere.test\n{fields}\n\nI am away\n", sender)
    (message,) = await maild.api.messages()
    assert message["isAutoReply"] is is_auto_reply
