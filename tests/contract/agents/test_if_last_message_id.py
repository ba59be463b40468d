"""`ifLastMessageId`: nothing is sent once the conversation went on (docs/contract.md, "Unless the conversation went
on")."""

import asyncio
from typing import Any

import pytest

from maild.daemon import Daemon
from storage.clock import iso
from storage.mail import conversation
from tests.conftest import Start
from tests.support.running import Answer, Running, until
from tests.support.worlds.store import ManualClock

MINUTE_MS = 60_000
IN_REPLY = "In-Reply-To: <1@elsewhere.test>\n"


def mail(number: int, more: str = "", words: str = "hello") -> str:
    """The first of a conversation, or a later one of it."""
    head = f"From: Ada <ada@elsewhere.test>\nSubject: Hi\nMessage-ID: <{number}@elsewhere.test>\n"
    return head + (IN_REPLY if number > 1 else "") + more + f"\n{words}\n"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def maild(start: Start, clock: ManualClock) -> Running:
    return await start(clock=clock)


async def send(
    maild: Running, bot: dict[str, Any], parent: dict[str, Any], last: str, **fields: Any
) -> Answer:
    return await maild.api.send(bot, inReplyTo=parent["id"], ifLastMessageId=last, **fields)


async def test_a_newer_message_is_told_and_nothing_is_sent(maild: Running, bot: dict[str, Any]) -> None:
    hello = await maild.received(bot, mail(1))
    later = [await maild.received(bot, mail(number, words=f"word {number}")) for number in range(2, 9)]
    answer = await send(maild, bot, hello, hello["id"])
    assert (answer.status, answer.code) == (409, "thread_advanced")
    assert answer.error["message"].startswith("Nothing was sent")
    details = answer.error["details"]
    newer = details.pop("newer")
    assert details == {
        "threadId": hello["threadId"], "ifLastMessageId": hello["id"], "lastMessageId": later[-1]["id"],
        "newerCount": 7, "sent": False,
    }  # fmt: skip
    assert newer == [
        {
            "id": one["id"], "direction": "inbound", "fromAddress": "ada@elsewhere.test",
            "verifiedDomain": one["auth"]["verifiedDomain"], "createdAt": one["createdAt"],
            "snippet": one["snippet"],
        }
        for one in later[-5:]
    ]  # fmt: skip
    assert maild.sql("SELECT count(*) FROM messages WHERE direction = 'outbound'") == [(0,)]
    assert maild.sql("SELECT count(*) FROM usage WHERE metric = 'messages'") == [(0,)]
    assert (await send(maild, bot, hello, details["lastMessageId"])).status == 201


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ("", True),
        ("Auto-Submitted: auto-generated\n", True),
        ("Auto-Submitted: auto-replied\n", False),
        ("X-Autoreply: yes\n", False),
    ],
)
async def test_what_a_program_answers_by_itself_does_not_count(
    maild: Running, bot: dict[str, Any], more: str, counts: bool
) -> None:
    hello = await maild.received(bot, mail(1))
    later = await maild.received(bot, mail(2, more))
    assert later["threadId"] == hello["threadId"]
    assert (await send(maild, bot, hello, hello["id"])).code == ("thread_advanced" if counts else "")
    if not counts:  # what does not count may be named all the same: it is what was seen last
        again = await maild.received(bot, mail(3, more))
        sent = (await maild.api.messages(inboxId=bot["id"], direction="outbound"))[0]
        assert (await send(maild, bot, hello, again["id"])).status == 201
        assert (await send(maild, bot, hello, sent["id"])).code == "thread_advanced"


async def test_what_was_sent_counts_unless_it_waits_or_never_left(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    hello = await maild.received(bot, mail(1))
    at = iso(clock.at_ms + MINUTE_MS)
    waits = (await send(maild, bot, hello, hello["id"], sendAt=at)).data
    cancelled = (await send(maild, bot, hello, hello["id"], sendAt=at)).data
    assert (await maild.api.call("DELETE", f"/v1/messages/{cancelled['id']}/schedule")).status == 200
    sent = await send(maild, bot, hello, hello["id"])
    assert sent.status == 201
    refused = await send(maild, bot, hello, hello["id"])
    assert [one["id"] for one in refused.error["details"]["newer"]] == [sent.data["id"]]
    await maild.api.call("DELETE", f"/v1/messages/{sent.data['id']}")
    assert (await send(maild, bot, hello, waits["id"])).status == 201  # the one before it counts again


async def test_what_test_keys_write_is_nothing_new_to_live_ones(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    """It reaches nobody, so it stops no answer, and no follow-up."""
    hello = await maild.received(bot, mail(1))
    fields = {"inReplyTo": hello["id"], "ifLastMessageId": hello["id"]}
    waits = (await maild.api.send(bot, **fields, sendAt=iso(clock.at_ms + MINUTE_MS))).data
    tested = (await maild.test_api.send(bot, **fields, to=["reply@simulator.test"])).data
    simulated = await maild.arrival(bot, count=2)
    assert (simulated["threadId"], simulated["mode"]) == (hello["threadId"], "test")
    for api, last in ((maild.api, hello), (maild.test_api, simulated)):
        shown = (await api.get(f"/v1/threads/{hello['threadId']}/context")).data
        checked = (
            await api.post("/v1/messages/check", {"reply": {"messageId": hello["id"], "text": "x"}})
        ).data
        assert shown["lastMessageId"] == checked["thread"]["lastMessageId"] == last["id"]
    refused = await maild.test_api.send(bot, **fields)
    assert [one["id"] for one in refused.error["details"]["newer"]] == [tested["id"], simulated["id"]]
    clock.forward(60)

    async def look() -> dict[str, Any] | None:
        found: dict[str, Any] = (await maild.api.get(f"/v1/messages/{waits['id']}")).data
        return None if found["status"] == "scheduled" else found

    assert (await until(look))["failureReason"] is None


async def test_of_two_answers_to_the_same_one_is_sent(maild: Running, bot: dict[str, Any]) -> None:
    hello = await maild.received(bot, mail(1))
    answers = await asyncio.gather(*(send(maild, bot, hello, hello["id"]) for _ in range(10)))
    assert sorted(one.status for one in answers) == [201] + [409] * 9
    assert maild.sql("SELECT count(*) FROM messages WHERE direction = 'outbound'") == [(1,)]


@pytest.mark.parametrize("mode", ["live", "test"])
async def test_a_follow_up_goes_unless_they_answered(
    maild: Running, bot: dict[str, Any], clock: ManualClock, mode: str
) -> None:
    api = maild.api if mode == "live" else maild.test_api
    hello = await maild.received(bot, mail(1))
    for number, is_answered in ((2, True), (3, False)):
        last = (await maild.api.messages(inboxId=bot["id"], direction="inbound"))[0]["id"]
        fields = {"inReplyTo": hello["id"], "ifLastMessageId": last, "sendAt": iso(clock.at_ms + MINUTE_MS)}
        waits = (await api.send(bot, **fields)).data
        clock.forward(59)
        if is_answered:
            await maild.received(bot, mail(number))
        clock.forward(1)

        async def look(message_id: str = waits["id"]) -> dict[str, Any] | None:
            found: dict[str, Any] = (await maild.api.get(f"/v1/messages/{message_id}")).data
            return None if found["status"] == "scheduled" else found

        gone = await until(look)
        if not is_answered:
            assert gone["status"] != "failed"
            continue
        assert (gone["status"], gone["failureReason"]) == ("failed", "thread_advanced")
        (event,) = (await maild.api.get("/v1/events", types="email.failed")).data
        assert (event["data"]["messageId"], event["data"]["failureReason"]) == (
            waits["id"],
            "thread_advanced",
        )


async def test_a_scheduled_one_goes_though_what_it_names_was_deleted(
    maild: Running, bot: dict[str, Any], clock: ManualClock
) -> None:
    hello = await maild.received(bot, mail(1))
    last = await maild.received(bot, mail(2))
    waits = (await send(maild, bot, hello, last["id"], sendAt=iso(clock.at_ms + MINUTE_MS))).data
    await maild.api.call("DELETE", f"/v1/messages/{last['id']}")
    clock.forward(60)

    async def look() -> str | None:
        status: str = (await maild.api.get(f"/v1/messages/{waits['id']}")).data["status"]
        return None if status == "scheduled" else status

    assert await until(look) != "failed"


async def test_newer_is_what_was_committed_later_whatever_the_clock_says(
    start: Start, clock: ManualClock
) -> None:
    """Started anew with the clock set back by a day, the daemon gives ids that sort before those that are there."""
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    hello = await maild.received(bot, mail(1))
    await maild.daemon.stop()
    clock.at_ms -= 86_400_000
    maild.daemon = Daemon(maild.settings, clock)
    await maild.daemon.start()
    maild.api.url = maild.daemon.http.url
    reply = (await maild.deliver(bot["address"], mail(2))).split()[-1]
    assert reply < hello["id"]
    answer = await send(maild, bot, hello, hello["id"])
    assert (answer.code, answer.error["details"]["lastMessageId"]) == ("thread_advanced", reply)
    assert (await send(maild, bot, hello, reply)).status == 201


async def test_what_it_may_name(maild: Running, bot: dict[str, Any]) -> None:
    hello, other = await maild.received(bot, mail(1)), await maild.received(bot, "Subject: Else\n\nx")
    for last in (other["id"], "msg_01m7yg00000000000000000000"):
        assert (await send(maild, bot, hello, last)).faults == {"ifLastMessageId": "invalid_id"}
    assert (await send(maild, bot, hello, "thd_1")).faults == {"ifLastMessageId": "invalid_id"}
    assert (await maild.api.send(bot, ifLastMessageId=hello["id"])).faults == {
        "ifLastMessageId": "not_allowed"
    }
    gone = await maild.received(bot, mail(2))
    await maild.api.call("DELETE", f"/v1/messages/{gone['id']}")
    assert (await send(maild, bot, hello, gone["id"])).faults == {"ifLastMessageId": "invalid_id"}
    assert (await send(maild, bot, hello, hello["id"])).status == 201


async def test_a_draft_keeps_it_for_its_send(maild: Running, bot: dict[str, Any]) -> None:
    hello, other = await maild.received(bot, mail(1)), await maild.received(bot, "Subject: Else\n\nx")
    whole = {
        "inboxId": bot["id"],
        "to": ["a@b.test"],
        "inReplyTo": hello["threadId"],
        "ifLastMessageId": hello["id"],
    }
    draft = (await maild.api.post("/v1/drafts", whole)).data
    assert draft["ifLastMessageId"] == hello["id"]
    later = await maild.received(bot, mail(2))
    path = f"/v1/drafts/{draft['id']}"
    assert (await maild.api.post(f"{path}/send", None)).code == "thread_advanced"
    assert (await maild.api.get(path)).data["status"] == "draft"
    for change, faults in (
        ({"ifLastMessageId": other["id"]}, {"ifLastMessageId": "invalid_id"}),
        ({"inReplyTo": other["id"]}, {"ifLastMessageId": "invalid_id"}),
        ({"inReplyTo": None}, {"ifLastMessageId": "not_allowed"}),
    ):
        assert (await maild.api.call("PATCH", path, change)).faults == faults
    assert (await maild.api.call("PATCH", path, {"ifLastMessageId": later["id"]})).status == 200
    assert (await maild.api.post(f"{path}/send", None)).status == 201
    alone = {"inboxId": bot["id"], "ifLastMessageId": hello["id"]}
    assert (await maild.api.post("/v1/drafts", alone)).faults == {"ifLastMessageId": "not_allowed"}


async def test_who_does_not_use_it_pays_no_statement(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hello = await maild.received(bot, mail(1))
    for name in ("newer", "has", "participants", "newest_inbound"):
        monkeypatch.setattr(conversation, name, None)
    assert (await maild.api.send(bot, inReplyTo=hello["id"])).status == 201
    assert (await maild.api.send(bot, inReplyTo=hello["id"], ifLastMessageId=hello["id"])).status == 500
