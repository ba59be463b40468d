"""The 250 names the message as the API, the Received line and the log know it."""

import re
from typing import Any

import structlog

from tests.support.running import Running

STORED = re.compile(r"250 2\.0\.0 OK: stored as (msg_[0-9a-z]{26})")


async def stored_id(maild: Running, boxes: list[dict[str, Any]], gone: dict[str, Any] | None = None) -> str:
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    await talk.say("MAIL FROM:<a@b.test>")
    for box in boxes:
        assert (await talk.say(f"RCPT TO:<{box['address']}>")).startswith("250 ")
    await talk.say("DATA")
    if gone is not None:
        await maild.api.call("DELETE", f"/v1/inboxes/{gone['id']}")
    found = STORED.fullmatch(await talk.say(b"Subject: x\r\n\r\nx\r\n."))
    assert found is not None
    return found[1]


def received_id(maild: Running, message_id: str) -> str:
    ((trace,),) = maild.sql("SELECT trace FROM messages WHERE id = ?", message_id)
    found = re.search(rb"Received:.*? id (\S+)", trace, re.DOTALL)
    assert found is not None
    return found[1].decode().rstrip(";")


async def test_the_250_names_the_message(maild: Running, bot: dict[str, Any]) -> None:
    with structlog.testing.capture_logs() as logs:
        message_id = await stored_id(maild, [bot])
    (message,) = await maild.api.messages()
    assert message["id"] == message_id == received_id(maild, message_id)
    (told,) = [one for one in logs if one["event"] == "accepted"]
    assert told["message_id"] == message_id


async def test_of_several_it_names_the_first_one_delivered(maild: Running, bot: dict[str, Any]) -> None:
    gone, other = await maild.inbox("gone"), await maild.inbox("other")
    message_id = await stored_id(maild, [gone, bot, other], gone)
    (of_bot,) = await maild.api.messages(inboxId=bot["id"])
    (of_other,) = await maild.api.messages(inboxId=other["id"])
    assert of_bot["id"] == message_id != of_other["id"]
    assert received_id(maild, of_other["id"]) == message_id  # one transaction, one id in its trace
