"""A program as somebody would write it with the Python client: with what its wheel brings, and nothing else.

MAILD_URL and MAILD_API_KEY say where. It says the address of its inbox, waits for a line when the mail is there, goes
its way, and ends with what it saw, as one line of JSON. mypy reads it as strictly as all tests: what is wrong in
`mistakes` must be seen by it.
"""

import asyncio
import json
import sys
import threading
from typing import assert_type

from maild_client import AsyncClaim, AsyncMaild, Claim, Maild, ThreadAdvanced, types


def main() -> None:
    with Maild() as client:
        inbox = client.inboxes.create(username="journey", metadata={"team": "a"})
        client.inboxes.replace_policy(inbox["id"], version=0, work={"enabled": True})
        print(json.dumps({"address": inbox["address"]}), flush=True)
        sys.stdin.readline()
        told = client.messages.wait(inbox_id=inbox["id"], timeout_seconds=20)
        message = told["message"]
        assert message is not None
        assert_type(message["attachments"][0]["sizeBytes"], int)
        file = client.attachments.download(message["attachments"][0]["id"])
        context = client.threads.context(message["threadId"], max_tokens=2000)
        assert context["lastMessageId"] is not None
        sent = client.messages.reply(message["id"], text="One.", if_last_message_id=context["lastMessageId"])
        newer = advanced(client, message["id"], context["lastMessageId"])
        worked = work(client, inbox["id"])
        print(json.dumps({
            "text": message["textBody"], "bytes": len(file), "newer": [newer, sent["id"]],
            "words": "Please pay." in context["text"], "worked": worked,
            "directions": [one["direction"] for one in client.messages.list(inbox_id=inbox["id"], limit=1)],
            "types": sorted(asyncio.run(events_of(inbox["id"]))),
        }))  # fmt: skip


def advanced(client: Maild, message_id: str, last_message_id: str) -> str:
    """The id of what came meanwhile: our own answer."""
    try:
        client.messages.reply(message_id, text="Two.", if_last_message_id=last_message_id)
    except ThreadAdvanced as error:
        assert error.last_message_id == error.newer[-1]["id"]
        return error.newer[-1]["id"]
    raise AssertionError("it was sent")


def work(client: Maild, inbox_id: str) -> list[str]:
    """What a worker answered."""
    answered: list[str] = []
    stop = threading.Event()

    def handle(message: types.Message, claim: Claim) -> None:
        answer = claim.reply(f"Thank you for {message['subject']}.")
        assert_type(answer, types.SentReply)
        answered.append(answer["subject"])
        stop.set()

    client.inboxes.work(inbox_id, handle, wait_seconds=1, stop=stop)
    return answered


async def events_of(inbox_id: str) -> set[str]:
    """The types of all events so far."""
    seen: set[str] = set()
    async with AsyncMaild() as client:
        async for event in client.events.list(types=["*"], inbox_id=inbox_id):
            if event["type"] == "email.received":
                assert event["data"]["inboxId"] == inbox_id
            seen.add(event["type"])
    return seen


async def mistakes(client: Maild, other: AsyncMaild) -> None:
    """Nobody calls this: it is for mypy, which must find fault with every line of it."""
    client.messages.send(inbox_id="inb_1", to=1)  # type: ignore[arg-type]
    client.messages.send(to=["ada@example.com"])  # type: ignore[call-arg]
    client.messages.send(inbox_id="inb_1", to=[], inboxId="")  # type: ignore[call-arg]
    client.messages.reply("msg_1", quote="all")  # type: ignore[call-overload]
    assert_type(client.messages.reply("msg_1", text="x"), types.SentReply)
    assert_type(await other.messages.reply("msg_1", as_draft=True), types.DraftedReply)
    client.messages.reply("msg_1", as_draft=True)["review"]  # type: ignore[typeddict-item]
    client.messages.get("msg_1")["sujbect"]  # type: ignore[typeddict-item]
    client.inboxes.replace_policy("inb_1", version=0, work={"enable": True})  # type: ignore[typeddict-unknown-key]
    client.inboxes.work("inb_1", handle_of_coroutines)  # type: ignore[arg-type]
    await other.inboxes.work("inb_1", handle_of_functions)  # type: ignore[arg-type]
    for one in client.threads.list():
        one["messages"]  # type: ignore[typeddict-item]
    other.with_response(client.messages.get, "msg_1")  # type: ignore[arg-type, unused-coroutine]
    assert_type((await other.with_response(other.messages.get, "msg_1")).data, types.Thread)  # type: ignore[assert-type]


async def handle_of_coroutines(message: types.Message, claim: AsyncClaim) -> None:
    await claim.finish()


def handle_of_functions(message: types.Message, claim: Claim) -> None:
    claim.finish()


if __name__ == "__main__":
    main()
