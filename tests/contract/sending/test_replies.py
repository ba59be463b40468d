"""Answers: whom they go to, what they quote, in which thread, and asked for twice (docs/contract.md, "Answering")."""

import asyncio
import json
from email import message_from_bytes, policy
from typing import Any

import pytest

from controlplane.mail.bodies import Bodies
from controlplane.operations.mail.shown_messages import read_bodies
from maild.message.writing.reply_recipients import RECIPIENTS_MAX
from storage.clock import Clock, iso
from tests.conftest import Start
from tests.support.mails.reply_cases import CASES
from tests.support.running import Answer, Api, Running

HELLO = (
    "From: Ada <ada@elsewhere.test>\nTo: bot@agents.test\nSubject: Hi\nMessage-ID: <1@elsewhere.test>\n"
    "\nHello,\nbot\n"
)


async def reply(api: Api, message: Any, key: str | None = None, **fields: Any) -> Answer:
    message_id = message if isinstance(message, str) else message["id"]
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"text": "Thank you.", **fields}
    return await api.call("POST", f"/v1/messages/{message_id}/reply", body, headers=headers)


def resolved(case_dropped: Any, source: str) -> dict[str, Any]:
    pairs = (one.split(" ", 1) for one in case_dropped)
    return {
        "source": source,
        "dropped": [{"address": address, "reason": reason} for reason, address in pairs],
    }


async def test_the_table(start: Start) -> None:
    """By SMTP in, as an answer and as a draft out."""
    maild = await start(limits={"bulk_recipients": 10_000})
    await maild.inbox("bot")
    for case in (one for one in CASES if one.honors):
        message_id = (await maild.deliver("bot@agents.test", case.raw, case.sender)).split()[-1]
        for as_draft in (True, False):
            answer = await reply(maild.api, message_id, replyAll=case.all, asDraft=as_draft)
            assert answer.code == case.refused, (case.name, answer.body)
            if case.fault:
                assert answer.faults == {case.fault: "too_many"}, case.name
            elif case.refused:
                told = answer.error["details"]["dropped"]
                assert told == resolved(case.dropped, "")["dropped"], case.name
            else:
                made = answer.data
                assert (made["toAddresses"], made["ccAddresses"]) == (list(case.to), list(case.cc)), case.name
                assert made["subject"] == case.subject, case.name
                assert made["resolved"] == resolved(case.dropped, case.source), case.name


async def test_an_answer_stands_in_the_thread_of_what_it_answers(maild: Running, bot: dict[str, Any]) -> None:
    hello = await maild.received(bot, HELLO)
    answer = await reply(maild.api, hello)
    assert answer.status == 201
    sent = answer.data
    assert (sent["threadId"], sent["inReplyTo"]) == (hello["threadId"], "<1@elsewhere.test>")
    assert sent["references"] == ["<1@elsewhere.test>"]
    raw = message_from_bytes(await maild.raw(sent["id"]), policy=policy.default)
    assert (raw["To"], raw["Cc"], raw["Subject"]) == ("ada@elsewhere.test", None, "Re: Hi")
    assert raw["Auto-Submitted"] == "auto-replied"
    assert raw.get_content() == "Thank you.\r\n" or raw.get_content() == "Thank you."


async def test_an_html_answer_has_the_original_in_a_blockquote(maild: Running, bot: dict[str, Any]) -> None:
    page = HELLO.replace("\n\nHello", "\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p onclick=x()>Hello")
    parent = await maild.received(bot, page + "<script>alert(1)</script></blockquote><i>still quoted")
    sent = (await reply(maild.api, parent, text=None, html="<p>Thanks.</p>", quote="text")).data
    whole = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
    assert "<script" not in whole["htmlBody"] and "onclick" not in whole["htmlBody"]
    assert whole["htmlBody"].index("<blockquote") < whole["htmlBody"].index("still quoted")
    assert whole["htmlBody"].rindex("</blockquote>") > whole["htmlBody"].index("still quoted")
    assert "Ada &lt;ada@elsewhere.test&gt; wrote:" in whole["htmlBody"]
    assert "> Hello, bot" in whole["textBody"]
    assert whole["extractedText"] == "Thanks."


async def test_a_quote_reads_as_one(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await reply(maild.api, await maild.received(bot, HELLO), quote="text")).data
    whole = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
    assert whole["extractedText"] == "Thank you."
    head, _, quote = whole["textBody"].partition("\n\nOn ")
    assert head == "Thank you."
    assert quote.endswith("Ada <ada@elsewhere.test> wrote:\n\n> Hello,\n> bot\n")


async def test_what_says_nothing_is_not_quoted(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, "From: ada@elsewhere.test\nSubject: Hi\n\n\n")
    sent = (await reply(maild.api, parent, quote="text")).data
    assert (await maild.api.get(f"/v1/messages/{sent['id']}")).data["textBody"] == "Thank you."


async def test_what_is_deleted_while_it_is_quoted_is_not_there(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read piece by piece, as large as it is."""
    parent = await maild.received(bot, HELLO + "a line with some words in it\n" * 20_000)

    async def deleted_behind_it(*asked: Any, **how: Any) -> Bodies:
        found = await read_bodies(*asked, **how)
        assert (await maild.api.call("DELETE", f"/v1/messages/{parent['id']}")).status == 200
        return found

    monkeypatch.setattr("controlplane.operations.mail.originals.read_bodies", deleted_behind_it)
    answer = await reply(maild.api, parent, quote="text")
    assert (answer.status, answer.code) == (404, "message_not_found")


async def test_of_a_long_original_the_beginning_is_quoted(maild: Running, bot: dict[str, Any]) -> None:
    long = HELLO + "".join(f"line {number} of many, with some words in it\n" for number in range(20_000))
    sent = (await reply(maild.api, await maild.received(bot, long), quote="text")).data
    quoted = (await maild.api.get(f"/v1/messages/{sent['id']}")).data["textBody"]
    assert 60_000 < len(quoted) < 70_000
    assert quoted.endswith("with some words in it\n")


def parts(raw: bytes) -> bytes:
    """A message but for what a clock and chance decide: Date, ids, boundaries."""
    message = message_from_bytes(raw)
    for name in ("Date", "Message-ID"):
        del message[name]
    boundary = message.get_boundary()
    flat = message.as_bytes()
    return flat if boundary is None else flat.replace(boundary.encode(), b"boundary")


@pytest.mark.parametrize(
    "fields", [{}, {"html": "<b>Thanks</b>", "quote": "text", "replyAll": True, "cc": ["x@y.test"]}]
)
async def test_a_draft_of_an_answer_leaves_as_the_same_bytes(
    maild: Running, bot: dict[str, Any], fields: dict[str, Any]
) -> None:
    parent = await maild.received(
        bot, HELLO.replace("bot@agents.test", "bot@agents.test, bob@elsewhere.test")
    )
    draft = (await reply(maild.api, parent, asDraft=True, ifLastMessageId=parent["id"], **fields)).data
    assert (draft["status"], draft["inReplyTo"]) == ("draft", parent["id"])
    assert (draft["threadId"], draft["ifLastMessageId"]) == (parent["threadId"], parent["id"])
    by_draft = (await maild.api.post(f"/v1/drafts/{draft['id']}/send", None)).data
    directly = (await reply(maild.api, parent, **fields)).data
    assert directly.pop("resolved") == draft["resolved"]
    assert parts(await maild.raw(by_draft["id"])) == parts(await maild.raw(directly["id"]))


@pytest.mark.parametrize("as_draft", [False, True])
async def test_fifty_equal_calls_under_one_key_make_one(
    maild: Running, bot: dict[str, Any], as_draft: bool
) -> None:
    parent = await maild.received(bot, HELLO)
    calls = [reply(maild.api, parent, "k", asDraft=as_draft, quote="text") for _ in range(50)]
    answers = await asyncio.gather(*calls)
    assert sorted(one.status for one in answers) == [200] * 49 + [201]
    assert len({json.dumps(one.data) for one in answers}) == 1
    assert maild.sql(
        "SELECT (SELECT count(*) FROM drafts) + count(*) FROM messages WHERE direction = 'outbound'"
    ) == [(1,)]


async def test_a_replay_comes_before_all_that_is_gone(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, HELLO)
    first = await reply(maild.api, parent, "k")
    await maild.api.call("DELETE", f"/v1/messages/{parent['id']}")
    again = await reply(maild.api, parent, "k")
    assert (again.status, again.data) == (200, first.data)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (await reply(maild.api, parent, "other")).code == "message_not_found"
    assert (await reply(maild.api, parent, "k", text="else")).code == "idempotency_conflict"


@pytest.mark.parametrize(
    ("verb", "body"), [("reply", {"text": "mine"}), ("forward", {"to": ["eve@there.test"]})]
)
async def test_a_bound_key_hears_of_no_answer_of_another_inbox(
    maild: Running, bot: dict[str, Any], verb: str, body: dict[str, Any]
) -> None:
    """Not even once the message that was answered is gone, and nobody can ask whose it was."""
    parent = await maild.received(bot, HELLO)
    path, headers = f"/v1/messages/{parent['id']}/{verb}", {"Idempotency-Key": "k"}
    assert (await maild.api.call("POST", path, body, headers=headers)).status == 201
    await maild.api.call("DELETE", f"/v1/messages/{parent['id']}")
    bound = await maild.key(inbox=await maild.inbox("other"))
    refused = await bound.call("POST", path, body, headers=headers)
    assert (refused.status, refused.code) == (403, "inbox_access_denied")


async def test_the_key_of_another_parent_is_a_conflict(maild: Running, bot: dict[str, Any]) -> None:
    one, two = await maild.received(bot, HELLO), await maild.received(bot, HELLO.replace("<1@", "<2@"))
    assert (await reply(maild.api, one, "k")).status == 201
    assert (await reply(maild.api, two, "k")).code == "idempotency_conflict"


async def test_what_never_left_can_not_be_answered(maild: Running, bot: dict[str, Any]) -> None:
    later = (await maild.api.send(bot, sendAt=iso(Clock().now_ms() + 3_600_000))).data
    assert (await reply(maild.api, later)).code == "no_reply_target"
    await maild.api.call("DELETE", f"/v1/messages/{later['id']}/schedule")
    assert (await reply(maild.api, later)).code == "no_reply_target"
    sent = (await maild.api.send(bot, cc=["eve@elsewhere.test"], bcc=["hidden@elsewhere.test"])).data
    again = (await reply(maild.api, sent, replyAll=True)).data
    assert (again["toAddresses"], again["ccAddresses"]) == (
        ["somebody@elsewhere.test"],
        ["eve@elsewhere.test"],
    )
    assert (again["bccAddresses"], again["resolved"]["source"]) == ([], "recipients")


async def test_an_answer_to_one_author_never_goes_to_a_whole_list(
    maild: Running, bot: dict[str, Any]
) -> None:
    """A post of our own, by a list that writes From itself."""
    parent = await maild.received(
        bot,
        "From: Bot via List <list@elsewhere.test>\nReply-To: bot@agents.test\nTo: list@elsewhere.test\n"
        "List-Post: <mailto:list@elsewhere.test>\nSubject: x\n\nhello\n",
    )
    refused = await reply(maild.api, parent)
    assert refused.code == "no_reply_target"
    assert {"address": "list@elsewhere.test", "reason": "mailing_list"} in refused.error["details"]["dropped"]
    assert (await reply(maild.api, parent, replyAll=True)).data["toAddresses"] == ["list@elsewhere.test"]


async def test_whom_the_caller_names_is_written_to(maild: Running, bot: dict[str, Any]) -> None:
    parent = await maild.received(bot, HELLO)
    sent = (await reply(maild.api, parent, to=["eve@y.test"], bcc=["b@y.test"], subject="Else")).data
    assert (sent["toAddresses"], sent["bccAddresses"], sent["subject"]) == (
        ["eve@y.test"],
        ["b@y.test"],
        "Else",
    )
    assert (sent["resolved"], sent["threadId"]) == ({"source": "given", "dropped": []}, parent["threadId"])
    bounce = (await maild.deliver(bot["address"], HELLO, "")).split()[-1]
    assert (await reply(maild.api, bounce)).code == "no_reply_target"
    assert (await reply(maild.api, bounce, to=["eve@y.test"])).status == 201


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"quote": "html"}, {"quote": "not_allowed"}),
        ({"to": []}, {"to": "too_few"}),
        ({"to": ["a@b.test"], "replyAll": True}, {"": "not_allowed"}),
        ({"asDraft": True, "headers": {"X-A": "b"}}, {"": "not_allowed"}),
        ({"asDraft": True, "attachments": [{"filename": "a", "content": ""}]}, {"": "not_allowed"}),
        ({"cc": ["x"]}, {"cc[0]": "invalid_email"}),
        ({"inReplyTo": "msg_1"}, {"inReplyTo": "unknown_field"}),
        ({"ifLastMessageId": "thd_1"}, {"ifLastMessageId": "invalid_id"}),
        ({"ifLastMessageId": "msg_1"}, {"ifLastMessageId": "invalid_id"}),
    ],
)
async def test_what_an_answer_may_not_say(
    maild: Running, bot: dict[str, Any], fields: dict[str, Any], faults: dict[str, str]
) -> None:
    assert (await reply(maild.api, await maild.received(bot, HELLO), **fields)).faults == faults


async def test_a_thread_is_answered_where_somebody_wrote_last(maild: Running, bot: dict[str, Any]) -> None:
    hello = await maild.received(bot, HELLO)
    answer = HELLO.replace("Message-ID: <1", "In-Reply-To: <1@elsewhere.test>\nMessage-ID: <2")
    later = await maild.received(bot, answer.replace("Ada <ada", "Bob <bob"))
    assert later["threadId"] == hello["threadId"]
    vacation = (
        "From: eve@elsewhere.test\nAuto-Submitted: auto-replied\nIn-Reply-To: <1@elsewhere.test>\n\nAway.\n"
    )
    assert (await maild.received(bot, vacation))["threadId"] == hello["threadId"]
    path = f"/v1/threads/{hello['threadId']}/reply"
    assert (await maild.api.post(path, {"text": "x"})).faults == {"ifLastMessageId": "required"}
    assert (
        await maild.api.post(path, {"text": "x", "ifLastMessageId": hello["id"]})
    ).code == "thread_advanced"
    sent = (await maild.api.post(path, {"text": "x", "ifLastMessageId": later["id"]})).data
    assert (sent["toAddresses"], sent["inReplyTo"]) == (["bob@elsewhere.test"], "<2@elsewhere.test>")


async def test_a_live_key_answers_a_thread_where_somebody_wrote_and_not_the_simulator(
    maild: Running, bot: dict[str, Any]
) -> None:
    hello = await maild.received(bot, HELLO)
    await maild.test_api.send(bot, to=["reply@simulator.test"], inReplyTo=hello["id"])
    simulated = await maild.arrival(bot, count=2)
    body = {"text": "x", "ifLastMessageId": simulated["id"]}
    path = f"/v1/threads/{hello['threadId']}/reply"
    assert (await maild.test_api.post(path, body)).data["toAddresses"] == ["reply@simulator.test"]
    assert (await maild.api.post(path, body)).data["toAddresses"] == ["ada@elsewhere.test"]


async def test_a_thread_that_nobody_else_wrote_in_has_nobody_to_answer(
    maild: Running, bot: dict[str, Any]
) -> None:
    sent = (await maild.api.send(bot)).data
    answer = await maild.api.post(
        f"/v1/threads/{sent['threadId']}/reply", {"text": "x", "ifLastMessageId": sent["id"]}
    )
    assert (answer.status, answer.code) == (409, "no_reply_target")


async def test_a_test_key_answers_into_the_simulator(maild: Running, bot: dict[str, Any]) -> None:
    await maild.test_api.send(bot, to=["reply@simulator.test"], subject="Hello")
    came = await maild.arrival(bot)
    sent = (await reply(maild.test_api, came)).data
    assert (sent["mode"], sent["toAddresses"]) == ("test", [came["fromAddress"]])


async def test_who_is_added_counts_with_those_who_were_found(maild: Running, bot: dict[str, Any]) -> None:
    many = ", ".join(f"p{number}@elsewhere.test" for number in range(RECIPIENTS_MAX - 1))
    parent = await maild.received(bot, f"Cc: {many}\n{HELLO}")
    added = ["one@more.test", "two@more.test"]
    answer = await reply(maild.api, parent, replyAll=True, cc=added)
    assert (answer.status, answer.faults) == (400, {"cc": "too_many"})
    assert (await reply(maild.api, parent, replyAll=True, cc=added[:1], asDraft=True)).status == 201
