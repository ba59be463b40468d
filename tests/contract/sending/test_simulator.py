"""The simulator (decisions.md, "Simulator"): an agent's whole loop, and nothing that live keys would feel."""

from typing import Any

from tests.support.running import Running, until

REPLY = "reply@simulator.test"
ANSWERS = 3


async def settled(maild: Running, message_id: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        message = (await maild.test_api.get(f"/v1/messages/{message_id}")).data
        return message if message["status"] != "queued" else None

    found: dict[str, Any] = await until(look)
    return found


async def test_somebody_answers_into_the_inbox(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.test_api.send(bot, to=[REPLY], subject="Lunch?", text="At noon?\nOr one?")).data
    assert (await settled(maild, sent["id"]))["status"] == "delivered"
    (answer,) = await maild.test_api.messages(inboxId=bot["id"], direction="inbound")
    whole = (await maild.test_api.get(f"/v1/messages/{answer['id']}")).data
    assert whole["threadId"] == sent["threadId"]
    assert (whole["mode"], whole["labels"], whole["isAutoReply"]) == ("test", ["unread"], False)
    assert (whole["fromAddress"], whole["toAddresses"], whole["subject"]) == (
        REPLY,
        [bot["address"]],
        "Re: Lunch?",
    )
    assert "> Or one?" in whole["textBody"]
    assert whole["extractedText"] == "Thank you, this is the simulator's answer."
    assert whole["auth"]["verifiedDomain"] == "simulator.test"
    raw = (await maild.test_api.get(f"/v1/messages/{answer['id']}/raw")).body
    assert b"auto-submitted" not in raw.lower() and raw.startswith(b"Return-Path: <reply@simulator.test>\r\n")
    thread = (await maild.test_api.get(f"/v1/threads/{sent['threadId']}")).data
    assert ([one["direction"] for one in thread["messages"]], thread["unreadCount"]) == (
        ["outbound", "inbound"],
        1,
    )
    events = maild.sql("SELECT type, mode FROM events ORDER BY seq")
    assert events == [("email.sent", "test"), ("email.received", "test")]
    assert maild.sql("SELECT count(*) FROM usage") == [(0,)]


async def test_an_agent_that_answers_everything_comes_to_an_end(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.test_api.send(bot, to=[REPLY], subject="Ping", text="ping")).data
    for turn in range(ANSWERS + 2):
        await settled(maild, sent["id"])
        answers = await maild.test_api.messages(threadId=sent["threadId"], direction="inbound")
        assert len(answers) == min(turn + 1, ANSWERS)
        again = {"to": [REPLY], "text": "pong", "inReplyTo": answers[0]["id"]}
        sent = (await maild.test_api.send(bot, **again)).data


async def test_a_complaint_stops_nothing(maild: Running, bot: dict[str, Any]) -> None:
    address = "complaint@simulator.test"
    for _ in range(2):
        sent = (await maild.test_api.send(bot, to=[address])).data
        assert (await settled(maild, sent["id"]))["status"] == "delivered"
    assert (
        maild.sql("SELECT type, mode FROM events WHERE type = 'email.complained'")
        == [("email.complained", "test")] * 2
    )
    assert (await maild.api.get("/v1/suppressions")).data == []


async def test_a_live_key_does_not_reach_the_simulator(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot, to=[REPLY])).data

    async def tried() -> bool | None:
        return bool((await maild.api.get(f"/v1/messages/{sent['id']}/attempts")).data) or None

    await until(tried)
    assert await maild.api.messages(inboxId=bot["id"], direction="inbound") == []
