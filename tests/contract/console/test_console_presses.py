"""Forms that are pressed twice where no script keeps a browser from it, and forms of a page that was loaded before the
browser signed in to another organization."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, Visitor
from tests.support.running import Running
from tests.support.worlds.holding import mail
from tests.support.worlds.reviewing import Held


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


async def twice(member: Visitor, page: str, action: str, **form: Any) -> list[str]:
    """Where the form of the page leads, pressed twice."""
    shown = await member.get(page)
    form |= {name: shown.hidden(name) for name in ("once", "last", "version", "updatedAt") if name in form}
    return [(await member.post(action, **form)).location for _ in range(2)]


async def test_an_answer_that_is_pressed_twice_is_sent_once_and_said_to_be(local: Running) -> None:
    first = await local.received(await local.inbox("bot"), mail())
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    shown = await member.get(path)
    form = {name: shown.hidden(name) for name in ("once", "last")}
    for draft in ({}, {"draft": "1"}):
        done, again = [await member.post(f"{path}/reply", **form, **draft, text="words") for _ in range(2)]
        assert done.location == again.location
        shown = await member.get(path)
        form = {name: shown.hidden(name) for name in ("once", "last")}
    sent = (await local.api.get("/v1/messages", threadId=first["threadId"], direction="outbound")).data
    assert len(sent) == len((await local.api.get("/v1/drafts")).data) == 1


async def test_a_policy_that_is_pressed_twice_is_saved_and_said_to_be(local: Running) -> None:
    inbox = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    typed = {"recipients": "any", "review": "all", "replyTo": "honor", "unlisted": "accept",
             "expiresAfterSeconds": "3600", "maxAttempts": "5"}  # fmt: skip
    policy = f"/console/inboxes/{inbox['id']}/policy"
    for page, action in (
        ("/console/rules", "/console/rules/policy"),
        ("/console/rules", "/console/rules/recommended"),
        (policy, policy),
    ):
        shown = await member.get(page)
        form = {**typed, "once": shown.hidden("once"), "version": shown.hidden("version")}
        done, again = [await member.post(action, **form) for _ in range(2)]
        assert done.location == again.location == f"{page}?done=policy_saved"


async def test_a_secret_that_is_changed_by_two_presses_is_changed_once(local: Running) -> None:
    """The second would end the secret that programs have: the last one and the one before it count."""
    hook = (await local.api.post("/v1/webhooks", {"url": "https://a.test"})).data
    member = await Visitor.sign_in(local)
    once = (await member.get("/console/webhooks")).hidden("once")
    rotate = f"/console/webhooks/{hook['id']}/rotate"
    for _ in range(2):
        await member.follow(await member.post(rotate, once=once))
    assert len((await local.api.get("/v1/audit", types="webhook.secret_rotated")).data) == 1
