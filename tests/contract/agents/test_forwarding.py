"""Passing a message on (docs/contract.md, "Forwarding")."""

import asyncio
import base64
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.running import Answer, Api, Running

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PDF = b"%PDF-1.4\n" + bytes(range(255, -1, -1)) * 40
MEGABYTE = 1_048_576


def mail(html: str | None = '<p>See <b>this</b> <img src="cid:pic@x"></p><script>x()</script>') -> bytes:
    """Text, HTML, a picture that it shows, and two files of one name."""
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = "Ada <ada@elsewhere.test>"
    message["To"] = "bot@agents.test"
    message["Subject"] = "Invoice"
    message["Message-ID"] = "<1@elsewhere.test>"
    message.set_content("See this\n")
    if html is not None:
        message.add_alternative(html, subtype="html")
        message.get_payload()[1].add_related(PNG, "image", "png", cid="<pic@x>")  # type: ignore[union-attr, index]
    message.add_attachment(PDF, "application", "pdf", filename="a.pdf")
    message.add_attachment("Grüße\n", "csv", filename="a.pdf", cte="base64")
    return message.as_bytes()


async def forward(api: Api, message: Any, **fields: Any) -> Answer:
    return await api.post(f"/v1/messages/{message['id']}/forward", {"to": ["boss@elsewhere.test"], **fields})


async def sent(maild: Running, answer: Answer) -> tuple[dict[str, Any], EmailMessage]:
    """The message that was made, as GET shows it, and as Python reads what leaves."""
    assert answer.status == 201, answer.body
    whole = (await maild.api.get(f"/v1/messages/{answer.data['id']}")).data
    raw = message_from_bytes(await maild.raw(whole["id"]), policy=policy.default)
    assert isinstance(raw, EmailMessage)
    return whole, raw


async def test_it_goes_with_its_words_and_files_in_a_thread_of_its_own(
    maild: Running, bot: dict[str, Any]
) -> None:
    parent = await maild.received(bot, mail())
    whole, raw = await sent(maild, await forward(maild.api, parent, text="Please pay."))
    assert whole["forwardOf"] == parent["id"] and parent["forwardOf"] is None
    assert whole["threadId"] != parent["threadId"]
    assert (raw["Subject"], raw["In-Reply-To"], raw["References"]) == ("Fwd: Invoice", None, None)
    assert whole["extractedText"].startswith("Please pay.")
    text = raw.get_body(("plain",))
    html = raw.get_body(("html",))
    assert text is not None and html is not None
    words = text.get_content().replace("\r\n", "\n")
    assert words.startswith(
        "Please pay.\n\n---------- Forwarded message ----------\nFrom: Ada <ada@elsewhere.test>\n"
    )
    assert words.rstrip().endswith("Subject: Invoice\nTo: bot@agents.test\n\nSee this")
    assert '<img src="cid:pic@x">' in html.get_content() and "script" not in html.get_content()
    files = {
        (part.get_content_type(), part.get_filename()): part.get_payload(decode=True)
        for part in raw.iter_attachments()
    }
    assert files == {("application/pdf", "a.pdf"): PDF, ("text/csv", "a.pdf"): "Grüße\r\n".encode()}
    shown = [part for part in raw.walk() if part["Content-ID"] == "<pic@x>"]
    assert [part.get_content() for part in shown] == [PNG]
    for mine, theirs in zip(whole["attachments"], parent["attachments"], strict=True):
        bodies = [(await maild.api.get(f"/v1/attachments/{one['id']}")).body for one in (mine, theirs)]
        assert bodies[0] == bodies[1]


async def test_those_files_that_are_named_go_along(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, mail())
    pdf = next(one["id"] for one in parent["attachments"] if one["contentType"] == "application/pdf")
    for ids, count in (([], 0), ([pdf], 1), ([pdf, pdf], 1)):
        whole, _ = await sent(maild, await forward(maild.api, parent, attachmentIds=ids))
        assert len(whole["attachments"]) == count
    other = await maild.received(bot, mail())
    answer = await forward(maild.api, parent, attachmentIds=[other["attachments"][0]["id"]])
    assert (answer.status, answer.code) == (404, "attachment_not_found")


async def test_whole_as_a_file(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, mail())
    whole, raw = await sent(maild, await forward(maild.api, parent, text="Look.", **{"as": "eml"}))
    (file,) = whole["attachments"]
    assert (file["contentType"], file["filename"]) == ("message/rfc822", f"{parent['id']}.eml")
    (part,) = raw.iter_attachments()
    stored = (await maild.api.call("GET", f"/v1/messages/{parent['id']}/raw")).body
    assert (await maild.api.get(f"/v1/attachments/{file['id']}")).body == stored
    assert part.get_content()["Message-ID"] == "<1@elsewhere.test>"
    assert whole["textBody"].strip() == "Look."


async def test_one_of_eight_bits_is_a_file_of_octets(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, "From: ada@elsewhere.test\nSubject: x\n\nGrüße\n".encode())
    whole, _ = await sent(maild, await forward(maild.api, parent, **{"as": "eml"}))
    (file,) = whole["attachments"]
    assert file["contentType"] == "application/octet-stream"
    stored = (await maild.api.call("GET", f"/v1/messages/{parent['id']}/raw")).body
    assert (await maild.api.get(f"/v1/attachments/{file['id']}")).body == stored


async def test_a_message_of_14_megabytes_goes_with_a_note(maild: Running, bot: dict[str, Any]) -> None:
    whole = b"\r\n".join(base64.encodebytes(bytes(10 * MEGABYTE)).split(b"\n"))
    head = (
        b"From: ada@elsewhere.test\r\nSubject: big\r\nMIME-Version: 1.0\r\nContent-Type: application/zip\r\n"
    )
    parent = await maild.received(bot, head + b"Content-Transfer-Encoding: base64\r\n\r\n" + whole)
    for fields in ({}, {"as": "eml"}):
        made, _ = await sent(maild, await forward(maild.api, parent, text="note", **fields))
        assert made["attachments"][0]["sizeBytes"] >= 10 * MEGABYTE


async def test_more_than_fifteen_megabytes_is_too_much(maild: Running, bot: dict[str, Any]) -> None:
    file = base64.b64encode(bytes(8 * MEGABYTE - 100)).decode()
    parts = "".join(
        f"--b\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\n{file}\n" for _ in range(2)
    )
    head = "From: ada@elsewhere.test\nSubject: big\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    parent = await maild.received(bot, head + parts + "--b--\n")
    for fields in ({}, {"as": "eml"}):
        answer = await forward(maild.api, parent, **fields)
        assert (answer.status, answer.code) == (413, "attachment_too_large")
    first = parent["attachments"][0]["id"]
    assert (await forward(maild.api, parent, attachmentIds=[first])).status == 201


async def test_what_retention_took_can_not_go_along(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, mail(html=None))
    maild.sql("UPDATE messages SET blob_id = NULL WHERE id = ?", parent["id"])
    for fields in ({}, {"as": "eml"}):
        answer = await forward(maild.api, parent, **fields)
        assert (answer.status, answer.code) == (410, "attachment_bytes_missing")
    assert (await forward(maild.api, parent, attachmentIds=[])).status == 201  # its words are there


async def test_words_without_end_go_as_a_file(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, "From: ada@elsewhere.test\nSubject: x\n\n" + "many words\n" * 120_000)
    answer = await forward(maild.api, parent)
    assert (answer.status, answer.code) == (413, "payload_too_large")
    assert (await forward(maild.api, parent, **{"as": "eml"})).status == 201


async def test_our_own_mail_is_passed_on_without_its_bcc(maild: Running, bot: dict[str, Any]) -> None:
    parent = (await maild.api.send(bot, bcc=["secret@elsewhere.test"], text="hi", html="<p>hi</p>")).data
    for fields in ({}, {"as": "eml"}):
        _, raw = await sent(maild, await forward(maild.api, parent, **fields))
        assert b"secret@" not in raw.as_bytes()


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"to": []}, {"to": "too_few"}),
        ({"as": "zip"}, {"as": "not_allowed"}),
        ({"as": "eml", "attachmentIds": []}, {"": "not_allowed"}),
        ({"attachmentIds": ["msg_1"]}, {"attachmentIds[0]": "invalid_id"}),
        ({"inReplyTo": "msg_1"}, {"inReplyTo": "unknown_field"}),
    ],
)
async def test_what_it_may_not_say(
    maild: Running, bot: dict[str, Any], fields: dict[str, Any], faults: dict[str, str]
) -> None:
    assert (await forward(maild.api, await maild.received(bot, mail()), **fields)).faults == faults


async def test_equal_calls_under_one_key_make_one(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, mail())
    path, body = f"/v1/messages/{parent['id']}/forward", {"to": ["boss@elsewhere.test"]}
    calls = [maild.api.call("POST", path, body, headers={"Idempotency-Key": "k"}) for _ in range(20)]
    answers = await asyncio.gather(*calls)
    assert sorted(one.status for one in answers) == [200] * 19 + [201]
    assert maild.sql("SELECT count(*) FROM messages WHERE direction = 'outbound'") == [(1,)]


async def test_the_guards_are_those_of_every_send(start: Start) -> None:
    maild = await start()
    free = await maild.organization("free")
    bot = await maild.inbox("bot", free.api)
    parent = await maild.received(bot, mail(), free.api)
    assert (await forward(free.api, parent, cc=["b@elsewhere.test"])).code == "sandbox_bulk_not_allowed"
    assert (await forward(maild.api, parent)).code == "message_not_found"
