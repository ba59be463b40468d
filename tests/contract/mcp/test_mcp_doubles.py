"""Equal calls of tools that send are one, for ten minutes (docs/contract.md, "MCP"; threat M5)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from controlplane.mcp.methods import ONCE_MS
from storage.clock import iso
from tests.conftest import Start
from tests.support.clients.mcp import HANDSHAKE, MODERN, Mcp
from tests.support.running import Running
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock

MAIL = "From: Ada <ada@elsewhere.test>\nTo: bot@agents.test\nSubject: topic\n\nwords\n"


def wish(bot: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"inboxId": bot["id"], "to": ["a@elsewhere.test"], "subject": "t", "text": "w", **more}


async def count(maild: Running, bot: Mapping[str, Any]) -> int:
    return len(await maild.api.messages(inboxId=bot["id"], direction="outbound"))


async def test_equal_calls_are_one_whatever_sends(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, MAIL)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("send_message", wish(bot)),
        ("reply", {"messageId": message["id"], "text": "yes", "lastSeenMessageId": message["id"]}),
        ("forward_message", {"messageId": message["id"], "to": ["b@elsewhere.test"]}),
    ]
    for number, (name, arguments) in enumerate(calls, 1):
        first = await Mcp(maild.api, MODERN).call(name, **arguments)
        assert first.facts["alreadySent"] is False
        # In the other order of arguments, in the other era, with what is absent said otherwise.
        again = await Mcp(maild.api, HANDSHAKE).call(name, **dict(reversed(arguments.items())), again=None)
        assert again.facts == {**first.facts, "alreadySent": True, "note": again.facts["note"]}
        assert "already sent, not sent again" in again.text
        assert await count(maild, bot) == number


async def test_other_calls_are_others(maild: Running, bot: dict[str, Any]) -> None:
    mcp = Mcp(maild.api)
    sent = {
        (await call.call("send_message", **arguments)).facts["messageId"]
        for call, arguments in (
            (mcp, wish(bot)),
            (mcp, wish(bot, text="w ")),
            (mcp, wish(bot, to=["b@elsewhere.test"])),
            (mcp, wish(bot, html="<p>w</p>")),
            (mcp, wish(bot, again=True)),
            (mcp, wish(bot, again=True)),
            (Mcp(await maild.key()), wish(bot)),  # another agent's wish
            (Mcp(maild.test_api), wish(bot)),
        )
    }
    assert len(sent) == 8


async def test_many_equal_calls_at_once_are_one(maild: Running, bot: dict[str, Any]) -> None:
    told = await asyncio.gather(*(Mcp(maild.api).call("send_message", **wish(bot)) for _ in range(20)))
    assert len({one.facts["messageId"] for one in told}) == 1
    assert [one.facts["alreadySent"] for one in told].count(False) == 1
    assert await count(maild, bot) == 1


@pytest.mark.parametrize(
    "more", [{"asDraft": False}, {"asDraft": "false"}, {"inboxId": "own"}, {"again": False}]
)
async def test_what_changes_nothing_makes_no_other_call(
    maild: Running, bot: dict[str, Any], more: dict[str, Any]
) -> None:
    """A model that calls again after a time-out may fill in what it had left out."""
    mcp = Mcp(await maild.key(inbox=bot))
    wanted = {"to": ["a@elsewhere.test"], "subject": "t", "text": "w"}
    more = {name: bot["id"] if value == "own" else value for name, value in more.items()}
    first = await mcp.call("send_message", **wanted)
    again = await mcp.call("send_message", **wanted, **more)
    assert (again.facts["messageId"], again.facts["alreadySent"]) == (first.facts["messageId"], True)
    assert await count(maild, bot) == 1


async def test_an_answer_that_says_its_defaults_is_no_other_one(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, MAIL)
    mcp = Mcp(await maild.key(inbox=bot))
    wanted = {"messageId": message["id"], "text": "yes", "lastSeenMessageId": message["id"]}
    first = await mcp.call("reply", **wanted)
    again = await mcp.call("reply", **wanted, replyAll=False, asDraft=False)
    assert (again.facts["messageId"], again.facts["alreadySent"]) == (first.facts["messageId"], True)


async def test_after_ten_minutes_an_equal_call_is_another(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    mcp = Mcp(maild.api)

    async def sent() -> Any:
        return (await mcp.call("send_message", **wish(bot))).facts

    first = await sent()
    clock.forward(ONCE_MS / 1000 - 1)
    assert (await sent())["messageId"] == first["messageId"]
    clock.forward(2)
    second = await sent()
    assert second["messageId"] != first["messageId"] and not second["alreadySent"]
    clock.forward(ONCE_MS / 1000 - 1)  # counted from the second
    again = await sent()
    assert again == {**second, "alreadySent": True, "note": again["note"]}
    assert await count(maild, bot) == 2


async def test_what_was_sent_by_a_clock_that_was_ahead_is_no_double(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    for number in range(2):
        await Mcp(maild.api).call("send_message", **wish(bot, text=f"w{number}"))
    clock.set_back(86_400)
    told = [
        await Mcp(maild.api).call("send_message", **wish(bot, text="w0")),
        await Mcp(maild.api).call("send_message", **wish(bot, text="w1", again=True)),
        await Mcp(maild.api).call("send_message", **wish(bot, text="w1", again=True)),
    ]
    assert [one.facts["alreadySent"] for one in told] == [False] * 3
    assert await count(maild, bot) == 5


async def test_at_the_end_of_ten_minutes_many_equal_calls_are_one(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    await Mcp(maild.api).call("send_message", **wish(bot))
    clock.forward(ONCE_MS / 1000 + 1)
    told = await asyncio.gather(*(Mcp(maild.api).call("send_message", **wish(bot)) for _ in range(10)))
    assert len({one.facts["messageId"] for one in told}) == 1
    assert await count(maild, bot) == 2


async def test_what_was_refused_may_be_tried_again(maild: Running, bot: dict[str, Any]) -> None:
    suppressed = (await maild.api.post("/v1/suppressions", {"email": "a@elsewhere.test"})).data
    mcp = Mcp(maild.api)
    assert (await mcp.call("send_message", **wish(bot))).code == "recipient_suppressed"
    await maild.api.call("DELETE", f"/v1/suppressions/{suppressed['id']}")
    assert (await mcp.call("send_message", **wish(bot))).facts["alreadySent"] is False


async def test_an_answer_is_replayed_although_the_conversation_went_on(
    maild: Running, bot: dict[str, Any]
) -> None:
    """It was sent; that somebody has written since is another matter."""
    message = await maild.received(bot, MAIL)
    mcp = Mcp(maild.api)
    arguments = {"messageId": message["id"], "text": "yes", "lastSeenMessageId": message["id"]}
    first = await mcp.call("reply", **arguments)
    await maild.received(bot, MAIL.replace("topic", "Re: topic"))
    assert (await mcp.call("reply", **arguments)).facts["messageId"] == first.facts["messageId"]
    assert (await mcp.call("reply", **arguments, again=True)).code == "thread_advanced"


async def test_a_draft_that_answers_is_written_once(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, MAIL)
    arguments = {
        "messageId": message["id"],
        "text": "yes",
        "lastSeenMessageId": message["id"],
        "asDraft": True,
    }
    drafts = {(await Mcp(maild.api).call("reply", **arguments)).facts["draftId"] for _ in range(2)}
    assert len(drafts) == 1


async def test_a_client_that_gave_up_sends_once(maild: Running, bot: dict[str, Any]) -> None:
    """It hangs up before the answer, as hosts do that time out, and calls again."""
    mcp = Mcp(maild.api)
    for _ in range(5):
        task = asyncio.create_task(mcp.call("send_message", **wish(bot)))
        await asyncio.sleep(0)  # it is on its way, or was sent
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    told = await mcp.call("send_message", **wish(bot))
    assert told.facts["messageId"] and await count(maild, bot) == 1


async def test_what_was_withdrawn_is_not_called_sent(maild: Running) -> None:
    """An agent that cancels, and wishes the same once more, must not believe that it is on its way."""
    held = await Held.make(maild)
    agent = Mcp(held.agent)
    first = await agent.call("send_message", **wish(held.inbox))
    await agent.call("cancel_message", messageId=first.facts["messageId"])
    again = await agent.call("send_message", **wish(held.inbox))
    assert (again.facts["messageId"], again.facts["status"]) == (first.facts["messageId"], "cancelled")
    assert again.facts["alreadySent"] is False
    assert "already sent" not in again.text and "again: true" in again.text
    other = await agent.call("send_message", **wish(held.inbox, again=True))
    assert (other.facts["status"], await count(maild, held.inbox)) == ("held", 2)


async def test_what_was_rejected_is_not_called_sent(maild: Running) -> None:
    held = await Held.make(maild)
    agent = Mcp(held.agent)
    first = await agent.call("send_message", **wish(held.inbox))
    assert (await held.reject(first.facts)).status == 200
    again = await agent.call("send_message", **wish(held.inbox))
    assert (again.facts["status"], again.facts["alreadySent"]) == ("failed", False)
    assert "already sent" not in again.text and await count(maild, held.inbox) == 1


async def test_what_was_deleted_since_is_not_called_sent(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot, mcp = await maild.inbox("bot"), Mcp(maild.api)
    arguments = wish(bot, sendAt=iso(clock.at_ms + 600_000))
    first = await mcp.call("send_message", **arguments)
    await maild.api.call("DELETE", f"/v1/messages/{first.facts['messageId']}")
    again = await mcp.call("send_message", **arguments)
    assert again.facts["status"] == "deleted" and "alreadySent" not in again.facts
    assert "already sent" not in again.text and await count(maild, bot) == 0


async def test_a_double_is_told_what_became_of_the_first(maild: Running) -> None:
    held = await Held.make(maild)
    agent = Mcp(held.agent)
    first = await agent.call("send_message", **wish(held.inbox))
    assert (await held.approve(first.facts)).status == 200
    again = await agent.call("send_message", **wish(held.inbox))
    assert again.facts["status"] in ("queued", "sent", "delivered") and again.facts["alreadySent"] is True


async def test_what_was_sent_again_is_what_an_equal_call_hears_of(maild: Running) -> None:
    """Else a host that repeats it hears that the first was cancelled, and a third is sent."""
    held = await Held.make(maild)
    agent = Mcp(held.agent)
    first = await agent.call("send_message", **wish(held.inbox))
    await agent.call("cancel_message", messageId=first.facts["messageId"])
    other = await agent.call("send_message", **wish(held.inbox, again=True))
    told = await agent.call("send_message", **wish(held.inbox))
    assert (told.facts["messageId"], told.facts["alreadySent"]) == (other.facts["messageId"], True)
    assert await count(maild, held.inbox) == 2


@pytest.mark.parametrize("again", [True, "true"])
async def test_again_is_read_as_mildly_as_all_arguments(
    maild: Running, bot: dict[str, Any], again: object
) -> None:
    mcp = Mcp(maild.api)
    first = await mcp.call("send_message", **wish(bot))
    other = await mcp.call("send_message", **wish(bot, again=again))
    assert other.facts["messageId"] != first.facts["messageId"] and not other.facts["alreadySent"]
