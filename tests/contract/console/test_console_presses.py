"""Forms that are pressed twice where no script keeps a browser from it, and forms of a page that is not of today: what
it shows was changed meanwhile, or its browser signed in to another organization."""

import re
from typing import Any

import pytest

from controlplane.sending.pipeline import Pipeline
from tests.conftest import Start
from tests.support.clients.console import LOCAL, Visitor
from tests.support.running import Running
from tests.support.worlds.holding import mail
from tests.support.worlds.store import ManualClock

POLICY = {
    "version": "0",
    "recipients": "any",
    "review": "all",
    "replyTo": "honor",
    "unlisted": "accept",
    "expiresAfterSeconds": "3600",
    "maxAttempts": "5",
}


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


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
    policy = f"/console/inboxes/{inbox['id']}/policy"
    for page, action in (
        ("/console/rules", "/console/rules/policy"),
        ("/console/rules", "/console/rules/recommended"),
        (policy, policy),
    ):
        shown = await member.get(page)
        form = {**POLICY, "once": shown.hidden("once"), "version": shown.hidden("version")}
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


async def test_what_two_tabs_make_is_shown_in_each(local: Running) -> None:
    """Both are made before either tab has its page."""
    member = await Visitor.sign_in(local)
    made = [await member.post("/console/keys", name=name) for name in ("first tab", "second tab")]
    for done, name in zip(made, ("first tab", "second tab"), strict=True):
        page = await member.follow(done)
        assert name in page.said and "svc_live_" in page.said
    urls = [f"https://{name}.test/" for name in ("first", "second")]
    hooks = [await member.post("/console/webhooks", url=url, events="email.sent") for url in urls]
    assert len({(await member.follow(done)).text.partition("whsec_")[2][:40] for done in hooks} - {""}) == 2


@pytest.mark.parametrize(
    ("action", "form"),
    [
        ("inboxes", {"username": "bot"}),
        ("keys", {"name": "agent"}),
        ("rules", {"direction": "inbound", "action": "block", "value": "a.test"}),
        ("rules/policy", POLICY),
        ("rules/recommended", {"version": "0"}),
        ("suppressions", {"email": "gone@a.test", "reason": "manual"}),
        ("domains", {"domain": "mail.example.org"}),
        ("webhooks", {"url": "https://a.test/", "events": "email.sent"}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_a_page_of_another_organization_acts_in_none(
    local: Running, action: str, form: dict[str, str]
) -> None:
    """Another tab has signed in to the second one; what was entered for the first is not done there."""
    second = await local.organization()
    here = await Visitor.sign_in(local)
    elsewhere = await Visitor.sign_in(local, organization_id=second.id)
    form = form | {"once": (await here.get(f"/console/{action.partition('/')[0]}")).hidden("once")}
    before = (await second.api.get("/v1/audit")).data
    refused = await elsewhere.post(f"/console/{action}", **form)
    assert refused.status == 409 and "another organization" in refused.said
    assert (await second.api.get("/v1/audit")).data == before
    assert (await here.post(f"/console/{action}", **form)).status == 303


async def test_nobody_saves_over_words_that_were_not_shown(local: Running) -> None:
    """An agent, or the same person in another tab, has changed the draft since its page was loaded."""
    inbox = await local.inbox("bot")
    draft = (
        await local.api.post("/v1/drafts", {"inboxId": inbox["id"], "to": ["a@b.test"], "text": "old"})
    ).data
    member = await Visitor.sign_in(local)
    path = f"/console/drafts/{draft['id']}"
    form = {name: (await member.get(path)).hidden(name) for name in ("once", "updatedAt")}
    theirs = (await local.api.call("PATCH", f"/v1/drafts/{draft['id']}", {"text": "theirs"})).data
    for send in ({}, {"send": "1"}):
        page = await member.post(path, **form, **send, text="my words")
        assert page.status == 409 and "changed this draft" in page.said and "my words</textarea>" in page.text
        assert re.search(rf'<a href="{path}" target="_blank"', page.text), "to theirs"
        assert (await local.api.get(f"/v1/drafts/{draft['id']}")).data == theirs
    page = await member.post(f"{path}/discard", **form, text="my words")
    assert page.status == 409 and "changed this draft" in page.said and "my words</textarea>" in page.text
    assert (await local.api.get(f"/v1/drafts/{draft['id']}")).data == theirs, "nor does it throw them away"
    done = await member.post(path, updatedAt=page.hidden("updatedAt"), text="my words")
    assert done.location == f"{path}?done=saved", "who has read theirs may replace them"
    assert (await local.api.get(f"/v1/drafts/{draft['id']}")).data["textBody"] == "my words"


async def test_what_a_person_sends_is_what_he_wrote(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that hears of the words that were saved has put its own there before they are sent, in that
    millisecond."""
    local = await start(server=LOCAL, clock=ManualClock(1_795_219_200_000))
    inbox = await local.inbox("bot")
    draft = (await local.api.post("/v1/drafts", {"inboxId": inbox["id"], "to": ["a@b.test"]})).data
    member = await Visitor.sign_in(local)
    path = f"/console/drafts/{draft['id']}"
    form = {name: (await member.get(path)).hidden(name) for name in ("once", "updatedAt")}
    send_draft = Pipeline.send_draft

    async def send_late(pipeline: Pipeline, *given: Any) -> Any:
        await local.api.call("PATCH", f"/v1{path.removeprefix('/console')}", {"text": "theirs"})
        return await send_draft(pipeline, *given)

    monkeypatch.setattr(Pipeline, "send_draft", send_late)
    page = await member.post(path, **form, send="1", text="my words")
    assert page.status == 409 and "changed this draft" in page.said and "my words</textarea>" in page.text
    assert (await local.api.get(f"/v1/drafts/{draft['id']}")).data["status"] == "draft"
