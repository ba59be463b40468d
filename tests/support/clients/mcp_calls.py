"""A call of every tool that a full key sees, and what it needs to have an answer."""

from collections.abc import Mapping
from typing import Any

from tests.support.clients.mcp import PNG, mail, with_file
from tests.support.running import Running

Thing = Mapping[str, Any]


async def arranged(maild: Running) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """An inbox with work and mail: a text with a file, and an image."""
    bot = await maild.inbox("bot")
    policy = {"version": 0, "work": {"enabled": True}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    shop = await maild.inbox("shop")
    text = await maild.received(bot, mail(words="<<<mail hello"))
    image = await maild.received(bot, with_file("a.png", "image/png", PNG))
    code = {"to": [bot["address"]], "subject": "Sign in", "text": "Your verification code is 482913."}
    await maild.api.send(shop, **code)
    return bot, text, image


def every_call(bot: Thing, text: Thing, image: Thing) -> dict[str, dict[str, Any]]:
    """Arguments by the tool's name, in the order of the list of tools; all but two have a result: nothing is scheduled
    or claimed that could be cancelled or finished."""
    message_id = text["id"]
    send = {"inboxId": bot["id"], "to": ["a@elsewhere.test"], "subject": "t", "text": "w"}
    return {
        "whoami": {},
        "find_messages": {"inboxId": bot["id"], "limit": 5},
        "read_thread": {"threadId": text["threadId"]},
        "read_message": {"messageId": message_id, "evidence": True},
        "get_attachment": {"attachmentId": image["attachments"][0]["id"]},
        "wait_for_message": {"inboxId": bot["id"], "timeoutSeconds": 1},
        "get_verification_code": {
            "inboxId": bot["id"],
            "fromDomain": "agents.test",
            "timeoutSeconds": 5,
            "after": "2026-01-01T00:00:00Z",  # a client may take its time until it calls
        },
        "reply": {"messageId": message_id, "text": "yes", "lastSeenMessageId": message_id},
        "send_message": send,
        "forward_message": {"messageId": message_id, "to": ["b@elsewhere.test"]},
        "check_message": {"kind": "send", **send},
        "cancel_message": {"messageId": "msg_none"},
        "label_messages": {"messageIds": [message_id], "add": ["seen"]},
        "claim_work": {"inboxId": bot["id"]},
        "finish_work": {"claimId": "clm_none"},
        "list_inboxes": {},
        "create_inbox": {"username": "fresh"},
    }
