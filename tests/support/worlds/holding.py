"""An inbox that holds what comes in, and somebody who decides about it."""

from collections.abc import Mapping
from typing import Any

from tests.support.running import Answer, Api, Running

STRANGER = "stranger@elsewhere.test"


def mail(
    subject: str = "hello", text: str = "words", *fields: str, sender: str = STRANGER, message_id: str = ""
) -> str:
    """A plain message of nobody whom anything proves. `fields`: further header fields."""
    lines = [f"From: Somebody <{sender}>", "To: bot@agents.test", f"Subject: {subject}", *fields]
    lines += [f"Message-ID: <{message_id}>"] if message_id else []
    return "\r\n".join([*lines, "", text, ""])


async def hold(maild: Running, inbox: Mapping[str, Any] | None, *reasons: str, **members: Any) -> None:
    """From now on the inbox (None: all of the organization) holds mail for these reasons. `members`: further ones of
    `inbound`; `review`: that of the policy."""
    path = f"/v1/inboxes/{inbox['id']}/policy" if inbox else "/v1/organization/policy"
    review = members.pop("review", {})
    before = (await maild.api.get(path)).data
    body = {**before, "inbound": {"hold": list(reasons), **members}, "review": {**before["review"], **review}}
    answer = await maild.api.call("PUT", path, body)
    assert answer.status == 200, answer.body


async def held(maild: Running, inbox: Mapping[str, Any], raw: str, sender: str = STRANGER) -> dict[str, Any]:
    """The review of the message, which was delivered and is held."""
    before = {one["id"] for one in await reviews(maild.api)}
    reply = await maild.deliver(inbox["address"], raw, sender)
    assert reply.startswith("250 "), reply
    (review,) = [one for one in await reviews(maild.api) if one["id"] not in before]
    return review


async def reviews(api: Api, **wanted: str) -> list[dict[str, Any]]:
    """Those of what came in, newest first."""
    found: list[dict[str, Any]] = (await api.get("/v1/reviews", direction="inbound", **wanted)).data
    return found


async def approve(api: Api, review: Mapping[str, Any]) -> Answer:
    """With the content hash of what is there."""
    path = f"/v1/reviews/{review['id']}"
    shown = (await api.get(path)).data
    return await api.post(f"{path}/approve", {"contentHash": shown["contentHash"]})


async def reject(api: Api, review: Mapping[str, Any]) -> Answer:
    return await api.post(f"/v1/reviews/{review['id']}/reject", {})
