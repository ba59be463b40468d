"""GET /v1/threads and /v1/threads/{id}, and what makes messages one conversation (decisions.md, "Thread"; A4)."""

from typing import Any

import pytest

from storage.clock import DAY_MS
from tests.conftest import Start, on_shared
from tests.contract.mail.test_messages import LISTED, MAIL
from tests.support.running import Running
from tests.support.worlds.store import ManualClock

KEYS = {
    "id", "organizationId", "inboxId", "subject", "snippet", "participants", "labels", "messageCount",
    "unreadCount", "lastMessageAt", "isArchived", "createdAt",
}  # fmt: skip


def mail(subject: str, *, number: int = 1, sender: str = "ada@elsewhere.test", **headers: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    return (
        f"From: {sender}\nSubject: {subject}\nMessage-ID: <{number}@elsewhere.test>\n{more}\nwords {number}\n"
    )


async def test_a_thread_is_complete(maild: Running, bot: dict[str, Any]) -> None:
    first = await maild.received(bot, mail("topic"))
    last = await maild.received(bot, mail("Re: topic", number=2, In_Reply_To="<1@elsewhere.test>"))
    (listed,) = (await maild.api.get("/v1/threads")).data
    assert listed == {
        "id": first["threadId"],
        "organizationId": maild.organization_id,
        "inboxId": bot["id"],
        "subject": "topic",
        "snippet": "words 2",
        "participants": ["ada@elsewhere.test"],
        "labels": ["unread"],
        "messageCount": 2,
        "unreadCount": 2,
        "lastMessageAt": last["createdAt"],
        "isArchived": False,
        "createdAt": first["createdAt"],
    }
    shown = (await maild.api.get(f"/v1/threads/{first['threadId']}")).data
    assert {key: shown[key] for key in KEYS} == listed
    assert set(shown) == KEYS | {"hasMore", "messages"}


async def test_its_messages_are_whole_in_order_and_have_short_names(
    maild: Running, bot: dict[str, Any]
) -> None:
    whole = await maild.received(bot, MAIL)
    reply = (await maild.api.send(bot, to=["ada@elsewhere.test"], inReplyTo=whole["id"], text="Thanks.")).data
    first, second = (await maild.api.get(f"/v1/threads/{whole['threadId']}")).data["messages"]
    short = {"from", "to", "text", "html"}
    assert set(first) == LISTED | {"textBody", "htmlBody"} | short
    assert {key: value for key, value in first.items() if key not in short} == whole
    assert (first["from"], first["to"]) == (whole["fromAddress"], whole["toAddresses"])
    assert (first["text"], first["html"]) == (whole["textBody"], whole["htmlBody"])
    assert second["id"] == reply["id"] and second["text"] == "Thanks."
    assert first["attachments"] == whole["attachments"]


async def test_the_list_has_the_latest_first_whichever_began_first(
    maild: Running, bot: dict[str, Any]
) -> None:
    for number, subject in enumerate(("one", "two", "three")):
        await maild.received(bot, mail(subject, number=number))
    await maild.received(bot, mail("Re: one", number=9, In_Reply_To="<0@elsewhere.test>"))
    listed = (await maild.api.get("/v1/threads")).data
    assert [one["subject"] for one in listed] == ["one", "three", "two"]
    assert [one["subject"] for one in (await maild.api.get("/v1/threads", limit="1")).data] == ["one"]


@on_shared
async def test_an_unknown_thread_is_404(shared: Running) -> None:
    for path in ("thd_01m7yg00000000000000000000", "x", "%00", "..%2f", "%27"):
        answer = await shared.api.get(f"/v1/threads/{path}")
        assert (answer.status, answer.code) == (404, "thread_not_found")
    assert (await shared.api.get("/v1/threads", inboxId="inb_01m7yg00000000000000000000")).data == []


async def test_references_join_the_newest_first(maild: Running, bot: dict[str, Any]) -> None:
    old = await maild.received(bot, mail("old", number=1))
    new = await maild.received(bot, mail("new", number=2))
    joined = await maild.received(
        bot,
        mail("other words", number=3, References="<1@elsewhere.test> <2@elsewhere.test> <unknown@x.test>"),
    )
    assert joined["threadId"] == new["threadId"] != old["threadId"]
    named = await maild.received(
        bot, mail("more", number=4, In_Reply_To="<1@elsewhere.test>", References="<2@elsewhere.test>")
    )
    assert named["threadId"] == old["threadId"]


async def test_a_reply_joins_by_any_id_that_it_answers(maild: Running, bot: dict[str, Any]) -> None:
    first = await maild.received(bot, mail("one", number=1))
    for number, value in (
        (2, "<unknown@x.test> <1@elsewhere.test>"),
        (3, "(from <ada@x.test> at noon) <1@elsewhere.test>"),
    ):
        joined = await maild.received(bot, mail("more", number=number, In_Reply_To=value))
        assert joined["threadId"] == first["threadId"]
        assert joined["inReplyTo"] == ("<unknown@x.test>" if number == 2 else "<1@elsewhere.test>")


async def test_the_first_reference_is_found_behind_many(maild: Running, bot: dict[str, Any]) -> None:
    first = await maild.received(bot, mail("one", number=1))
    newer = "".join(f"\n <unknown{n}@x.test>" for n in range(150))
    joined = await maild.received(bot, mail("more", number=2, References=f"<1@elsewhere.test>{newer}"))
    assert joined["threadId"] == first["threadId"]
    assert joined["references"][0] == "<1@elsewhere.test>" and len(joined["references"]) == 100


@pytest.mark.parametrize(
    "subject", ["***SPAM*** Re: topic", "[SPAM] Re: topic", "{Spam?} Re: topic", "[EXTERNAL] RE: topic"]
)
async def test_what_a_gateway_writes_before_a_subject_parts_no_conversation(
    maild: Running, bot: dict[str, Any], subject: str
) -> None:
    """With the ids of an answer or without."""
    first = await maild.received(bot, mail("topic", number=1))
    by_id = await maild.received(bot, mail(subject, number=2, In_Reply_To="<1@elsewhere.test>"))
    by_subject = await maild.received(bot, mail(subject, number=3))
    assert first["threadId"] == by_id["threadId"] == by_subject["threadId"]


@pytest.mark.parametrize("subjects", [("topic", "[List] topic"), ("[List] topic", "topic")])
async def test_copies_of_a_message_are_one_conversation(
    maild: Running, bot: dict[str, Any], subjects: tuple[str, str]
) -> None:
    """A list sends it, and its author did: two messages, for words may differ."""
    first, copy = [await maild.received(bot, mail(subject)) for subject in subjects]
    assert (copy["id"] != first["id"], copy["threadId"]) == (True, first["threadId"])


async def test_a_copy_joins_no_conversation_that_spam_began(maild: Running, bot: dict[str, Any]) -> None:
    """Who knows an id before the mail is here would have it filed below his own words."""
    spam = await maild.received(bot, mail("topic", sender="a@b.test, c@d.test"))
    real = await maild.received(bot, mail("topic"))
    assert (spam["isSpam"], real["isSpam"]) == (True, False)
    assert real["threadId"] != spam["threadId"]
    assert (await maild.received(bot, mail("[List] topic")))["threadId"] == real["threadId"]
    answer = mail("Re: topic", number=2, In_Reply_To="<1@elsewhere.test>")
    assert (await maild.received(bot, answer))["threadId"] == real["threadId"]


async def test_a_program_that_has_one_id_for_all_begins_conversations(
    maild: Running, bot: dict[str, Any]
) -> None:
    first = await maild.received(bot, mail("disk is full"))
    assert (await maild.received(bot, mail("backup is done")))["threadId"] != first["threadId"]


async def test_a_ticket_is_one_conversation(maild: Running, bot: dict[str, Any]) -> None:
    """Request Tracker: the first notice names our mail, all others the ticket alone, which no message is."""
    asked = (
        await maild.api.send(bot, to=["desk@elsewhere.test"], subject="Printer on fire", text="Help.")
    ).data
    tickets = {"Precedence": "bulk", "X-RT-Ticket": "elsewhere.test #1", "sender": "desk@elsewhere.test"}
    ticket = "<RT-Ticket-1@elsewhere.test>"
    answers = [
        mail(
            "[elsewhere.test #1] AutoReply: Printer on fire",
            number=1,
            References=f"{ticket} {asked['messageIdHeader']}",
            In_Reply_To=asked["messageIdHeader"],
            **tickets,
        ),
        mail("[elsewhere.test #1] Printer on fire", number=2, References=ticket, In_Reply_To="", **tickets),
        mail("[elsewhere.test #1] Resolved: Printer on fire", number=3, References=ticket, **tickets),
    ]
    for raw in answers:
        assert (await maild.received(bot, raw))["threadId"] == asked["threadId"]


async def test_a_name_that_no_message_has_is_one_conversation_for_its_subject_and_correspondent(
    maild: Running, bot: dict[str, Any]
) -> None:
    """Names of tickets are easily guessed, and some programs write one below all that they send."""
    named = {"In_Reply_To": "<ticket-7@elsewhere.test>"}
    first = await maild.received(bot, mail("[KEY-7] Printer on fire", number=1, **named))
    same = await maild.received(bot, mail("[KEY-7] Printer on fire", number=2, **named))
    assert same["threadId"] == first["threadId"]
    for raw in (
        mail("Printer is repaired", number=3, **named),
        mail("[KEY-7] Printer on fire", number=4, sender="eve@elsewhere.test", **named),
        mail("[KEY-7] Printer on fire", number=5, In_Reply_To="<ticket-8@elsewhere.test>"),
    ):
        assert (await maild.received(bot, raw))["threadId"] != first["threadId"]
    other = await maild.inbox("other")
    assert (await maild.received(other, mail("[KEY-7] Printer on fire", number=6, **named)))[
        "threadId"
    ] not in (first["threadId"])


async def test_a_name_goes_with_its_conversation(maild: Running, bot: dict[str, Any]) -> None:
    named = {"References": "<ticket-7@elsewhere.test>"}
    first = await maild.received(bot, mail("Printer on fire", number=1, **named))
    assert maild.sql("SELECT name, thread_id FROM thread_names") == [
        ("<ticket-7@elsewhere.test>", first["threadId"])
    ]
    assert (await maild.api.call("DELETE", f"/v1/messages/{first['id']}")).status == 200
    assert maild.sql("SELECT name FROM thread_names") == []


async def test_only_what_no_message_is_becomes_a_name(maild: Running, bot: dict[str, Any]) -> None:
    await maild.received(bot, mail("one", number=1))
    await maild.received(bot, mail("Re: one", number=2, References="<1@elsewhere.test>"))
    assert maild.sql("SELECT name FROM thread_names") == []


async def test_a_reply_by_subject_needs_prefix_correspondent_and_time(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    first = await maild.received(bot, mail("Offer 12", number=1))
    assert (await maild.received(bot, mail("RE: AW: offer 12", number=2)))["threadId"] == first["threadId"]
    assert (await maild.received(bot, mail("Offer 12", number=3)))["threadId"] != first["threadId"]
    stranger = await maild.received(bot, mail("Re: Offer 12", number=4, sender="eve@elsewhere.test"))
    assert stranger["threadId"] != first["threadId"]
    clock.at_ms += 31 * DAY_MS
    assert (await maild.received(bot, mail("Re: Offer 12", number=5)))["threadId"] not in (
        first["threadId"],
        None,
    )


@pytest.mark.parametrize(
    "author",
    [
        "bot@agents.test",  # who is in every conversation of its inbox
        "ada@elsewhere.test\nFrom: eve@elsewhere.test",  # nobody: the envelope sender stands in
        "ada@elsewhere.test, eve@elsewhere.test",
    ],
)
async def test_who_is_no_correspondent_joins_nothing_by_a_subject(
    maild: Running, bot: dict[str, Any], author: str
) -> None:
    first = await maild.received(bot, mail("Offer 12"))
    raw = mail("Re: Offer 12", number=2, sender=author)
    assert (await maild.deliver(bot["address"], raw, "ada@elsewhere.test")).startswith("250 ")
    (newest, *_) = await maild.api.messages()
    assert newest["subject"] == "Re: Offer 12" and newest["threadId"] != first["threadId"]
    named = mail("Re: Offer 12", number=3, sender=author, In_Reply_To="<1@elsewhere.test>")
    assert (await maild.received(bot, named))["threadId"] == first["threadId"]


async def test_an_outsider_never_joins_a_conversation_of_another_inbox(
    maild: Running, bot: dict[str, Any]
) -> None:
    """A4: knowing a Message-ID of somebody else's mail opens nothing."""
    first = await maild.received(bot, mail("secret", number=1))
    other = await maild.inbox("other")
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    for inbox, api in ((other, maild.api), (theirs, stranger.api)):
        found = await maild.received(
            inbox,
            mail("Re: secret", number=2, In_Reply_To="<1@elsewhere.test>", References="<1@elsewhere.test>"),
            api,
        )
        assert found["threadId"] != first["threadId"]
    (only,) = (await maild.api.get(f"/v1/threads/{first['threadId']}")).data["messages"]
    assert only["id"] == first["id"]


async def test_a_message_to_two_inboxes_is_one_in_each(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    talk = await maild.smtp()
    await talk.say("EHLO c.test")
    await talk.say("MAIL FROM:<ada@elsewhere.test>")
    for address in (bot["address"], other["address"], "bot+again@agents.test"):
        assert (await talk.say(f"RCPT TO:<{address}>")).startswith("250 ")
    await talk.say("DATA")
    assert (await talk.say(mail("both").replace("\n", "\r\n") + ".")).startswith("250 ")
    found = await maild.api.messages()
    assert {one["inboxId"] for one in found} == {bot["id"], other["id"]} and len(found) == 2
    assert found[0]["threadId"] != found[1]["threadId"]
