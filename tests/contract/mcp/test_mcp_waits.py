"""Waiting by tools of POST /mcp: what ends it, and what it may take (threat M7)."""

import asyncio
from typing import Any

import pytest

from controlplane.mcp.tool import ToolCall
from tests.conftest import Start
from tests.support.clients.mcp import ERAS, Mcp, Told
from tests.support.running import Running, until, until_true

MAIL = "From: Ada <ada@elsewhere.test>\nTo: bot@agents.test\nSubject: topic\n\nwords\n"
FOREVER = 50


def waits(maild: Running) -> int:
    return len(maild.daemon.operations._services.streams._waits)


async def waiting(
    maild: Running, mcp: Mcp, tool: str = "wait_for_message", **arguments: Any
) -> "asyncio.Task[Told]":
    """A call that waits, once it does."""
    count = waits(maild) + 1
    task = asyncio.create_task(mcp.call(tool, timeoutSeconds=FOREVER, **arguments))

    async def does() -> bool | None:
        assert not task.done(), task.result().result
        return waits(maild) == count or None

    await until(does)
    return task


async def nobody_waits(maild: Running) -> None:
    await until_true(lambda: waits(maild) == 0)


@pytest.mark.parametrize("era", ERAS)
async def test_a_message_that_comes_in_ends_the_wait(maild: Running, bot: dict[str, Any], era: str) -> None:
    task = await waiting(maild, Mcp(maild.api, era), inboxId=bot["id"])
    message = await maild.received(bot, MAIL)
    told = (await task).text
    assert f"Message {message['id']} · inbound" in told and "\nwords\n" in told
    assert told.endswith(f"\nlastMessageId: {message['id']}\nafter: {message['id']}")


async def test_waits_go_on_where_they_stopped(maild: Running, bot: dict[str, Any]) -> None:
    mcp = Mcp(maild.api)
    sent = [await maild.received(bot, MAIL.replace("topic", f"topic {number}")) for number in range(3)]
    after, seen = "2020-01-01", []
    for _ in sent:
        told = (await mcp.call("wait_for_message", after=after, timeoutSeconds=0)).text
        after = told.rpartition("after: ")[2]
        seen.append(after)
    assert seen == [one["id"] for one in sent]
    over = (await mcp.call("wait_for_message", after=after, timeoutSeconds=0)).text
    assert over.startswith("timedOut: ") and over.endswith(f"\nafter: {after}")


async def test_a_model_is_told_how_to_wait_for_the_one_behind(maild: Running, bot: dict[str, Any]) -> None:
    """Without a position a wait begins two minutes ago: a model that had answered found the same message again."""
    mcp = Mcp(maild.api)
    message = await maild.received(bot, MAIL)
    twice = [(await mcp.call("wait_for_message", timeoutSeconds=0)).text for _ in range(2)]
    assert [told.rpartition("after: ")[2] for told in twice] == [message["id"]] * 2
    description = (await mcp.tools())["wait_for_message"]["description"]
    assert "For the one behind it, and on timedOut, call again with the 'after' you are given" in description


@pytest.mark.parametrize("tool", ["wait_for_message", "get_verification_code"])
async def test_a_client_that_leaves_waits_no_longer(maild: Running, bot: dict[str, Any], tool: str) -> None:
    more = {"fromDomain": "elsewhere.test"} if tool == "get_verification_code" else {}
    task = await waiting(maild, Mcp(maild.api), tool, inboxId=bot["id"], **more)
    task.cancel()
    await nobody_waits(maild)


async def test_a_client_that_left_takes_no_code(maild: Running) -> None:
    """What it was given nobody would ever hear of."""
    shop, bot = await maild.inbox("shop"), await maild.inbox("bot")
    mcp = Mcp(await maild.key(inbox=bot))
    task = await waiting(maild, mcp, "get_verification_code", fromDomain="agents.test")
    task.cancel()
    await nobody_waits(maild)
    await maild.api.send(
        shop, to=[bot["address"]], subject="Sign in", text="Your verification code is 482913."
    )

    async def came() -> bool | None:
        return bool(await maild.api.messages(inboxId=bot["id"])) or None

    await until(came)
    told = await mcp.call("get_verification_code", fromDomain="agents.test", timeoutSeconds=0)
    assert told.facts["value"] == "482913"


async def test_a_code_that_a_call_took_which_nobody_heard_is_told_of(maild: Running) -> None:
    """Most clients of the handshake era give up without hanging up, some after five seconds."""
    shop, bot = await maild.inbox("shop"), await maild.inbox("bot")
    mcp, other = Mcp(await maild.key(inbox=bot)), Mcp(await maild.key(inbox=bot))
    unheard = await waiting(maild, mcp, "get_verification_code", fromDomain="agents.test")
    await maild.api.send(
        shop, to=[bot["address"]], subject="Sign in", text="Your verification code is 482913."
    )
    taken = (await unheard).facts

    async def told(of: Mcp, **more: str) -> dict[str, Any]:
        asked = {"fromDomain": "agents.test", "timeoutSeconds": 0, **more}
        return (await of.call("get_verification_code", **asked)).facts

    again = await told(mcp)
    assert again["timedOut"] and again["takenMessageId"] == taken["messageId"]
    assert "read_message" in again["note"] and "value" not in again
    for facts in (
        await told(mcp, after=taken["after"]),
        await told(mcp, after="2100-01-01T00:00:00Z"),
        await told(mcp, fromDomain="elsewhere.test"),
        await told(other),
    ):
        assert facts["timedOut"] and "takenMessageId" not in facts


async def test_a_revoked_key_waits_no_longer(maild: Running) -> None:
    made = (await maild.api.post("/v1/keys", {"name": "short"})).data
    mcp = Mcp(maild.api.with_key(made["apiKey"]))
    body = mcp.request("tools/call", {"name": "wait_for_message", "arguments": {"timeoutSeconds": FOREVER}})
    task = asyncio.create_task(mcp.post(body, mcp.headers(body)))

    async def does() -> bool | None:
        return waits(maild) == 1 or None

    await until(does)
    await maild.api.call("DELETE", f"/v1/keys/{made['id']}")
    answer = await task
    assert (answer.status, answer.json["error"]["data"]["code"]) == (401, "invalid_api_key")


async def test_waits_share_the_places_of_all_waits(start: Start) -> None:
    maild = await start(http={"waits_per_organization": 2})
    mcp = Mcp(maild.api)
    tasks = [await waiting(maild, mcp) for _ in range(2)]
    refused = await mcp.call("wait_for_message", timeoutSeconds=FOREVER)
    assert refused.code == "too_many_streams" and "retryAfterSeconds: " in refused.text
    assert (await maild.api.get("/v1/messages/wait", timeoutSeconds="1")).code == "too_many_streams"
    for task in tasks:
        task.cancel()
    await nobody_waits(maild)


async def test_long_arguments_hold_no_turn_while_a_tool_waits(maild: Running) -> None:
    """What is long is refused before it waits: else two such calls would keep all large bodies from being read."""
    told = await Mcp(maild.api).call("wait_for_message", subject="x" * 300_000)
    assert told.code == "payload_too_large"


def deletes_before_reading(maild: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever message a tool reads is deleted a moment before."""
    ask = ToolCall.ask

    async def delete_first(self: ToolCall, operation: Any, id: str = "", *given: Any, **more: Any) -> Any:
        if id.startswith("msg_"):
            assert (await maild.api.call("DELETE", f"/v1/messages/{id}")).status == 200
        return await ask(self, operation, id, *given, **more)

    monkeypatch.setattr(ToolCall, "ask", delete_first)


async def test_what_came_and_was_deleted_before_it_is_read_tells_where_to_go_on(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    mcp = Mcp(maild.api)
    task = await waiting(maild, mcp, inboxId=bot["id"])
    deletes_before_reading(maild, monkeypatch)
    stored = await maild.deliver(bot["address"], MAIL)  # which may be deleted before it could be listed
    told = (await task).text
    assert told.startswith("A message came and was deleted meanwhile")
    assert told.endswith(f"\nafter: {stored.split()[-1]}")


async def test_work_that_was_deleted_before_it_is_read_tells_its_claim(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = {"version": 0, "work": {"enabled": True}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    mcp = Mcp(await maild.key(inbox=bot))
    await maild.received(bot, MAIL)
    deletes_before_reading(maild, monkeypatch)
    told = (await mcp.call("claim_work")).text
    assert told.startswith("claimId: ") and "was deleted meanwhile" in told
    ended = await mcp.call("finish_work", claimId=told.partition("claimId: ")[2].partition(" ")[0])
    assert ended.facts["status"] == "done"
