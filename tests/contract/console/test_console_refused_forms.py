"""A form that is refused is shown again: why stands first on its page, and what was typed is in its fields."""

import html
import re

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, PageAnswer, Visitor
from tests.support.running import Running
from tests.support.worlds.holding import mail
from tests.support.worlds.reviewing import Held

HOSTILE = '"><script>alert(1)</script>'
POLICY = {
    "version": "0",
    "recipients": "participants",
    "review": "external",
    "holdOn": ["duplicate", "secret"],
    "firstTimeDaily": "seven",
    "replyTo": "verified",
    "hold": ["high_risk"],
    "unlisted": "refuse",
    "expiresAfterSeconds": "5400",
    "notify": f"eve@people.test, {HOSTILE}",
}
WORK = {"workEnabled": "1", "requireClaim": "1", "maxAttempts": "many"}
# The page, where its form leads, and what is typed: each has a fault.
FORMS = (
    ("inboxes", "inboxes", {"username": "Not One", "domain": "agents.test", "name": HOSTILE}),
    ("keys", "keys", {"name": HOSTILE * 3, "inbox": "{inbox}", "mode": "test", "scopes": ["keys:read", "audit:read"]}),
    ("rules", "rules", {"value": HOSTILE, "action": "allow", "direction": "inbound", "inbox": "{inbox}", "note": "y"}),
    ("rules", "rules/policy", POLICY),
    ("inboxes/{inbox}/policy", "inboxes/{inbox}/policy", {**POLICY, **WORK}),
    ("suppressions", "suppressions", {"email": HOSTILE, "reason": "complaint"}),
    ("domains", "domains", {"domain": HOSTILE}),
    ("messages/{message}", "messages/{message}/labels", {"add": f"svc:mine {HOSTILE}"}),
    ("webhooks", "webhooks", {"url": f"http://plain.test/{HOSTILE}", "events": ["audit.head", "email.sent"]}),
)  # fmt: skip


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


def fields_of(page: PageAnswer, action: str) -> dict[str, str | list[str]]:
    """What a browser would send if the button of that form were pressed now, but for the token of the press."""
    (body,) = re.findall(rf'<form[^>]*action="{re.escape(action)}"[^>]*>(.*?)</form>', page.text, re.DOTALL)
    found: dict[str, str | list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", body):
        said = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        name, value = said["name"], html.unescape(said.get("value", ""))
        if name == "once":
            continue
        if said.get("type") != "checkbox":
            found[name] = value
        elif " checked" in tag:
            ticked = found.setdefault(name, [])
            assert isinstance(ticked, list)
            ticked.append(value)
    for name, options in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', body, re.DOTALL):
        chosen = re.findall(r'<option value="(\w*)" selected>', options)
        found[name] = chosen[0] if chosen else re.findall(r'<option value="(\w*)"', options)[0]
    for name, text in re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>\n?(.*?)</textarea>', body, re.DOTALL):
        found[name] = html.unescape(text)
    return found


def labels_of(page: PageAnswer, action: str) -> list[str]:
    """What its fields are called, up to what explains it."""
    (body,) = re.findall(rf'<form[^>]*action="{re.escape(action)}"[^>]*>(.*?)</form>', page.text, re.DOTALL)
    found = re.findall(r"<(?:label [^>]*for|legend)[^>]*>([^<:,(]+)", body)
    return [one.strip() for one in found if one.strip()]


def alert_of(page: PageAnswer) -> str:
    """What the page says before all else: a browser shows the top of what a form is answered with."""
    first = page.text.partition("<main")[2].partition("<h1")[0]
    (said,) = re.findall(r'<div class="notice bad" role="alert">(.*?)</div>', first, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", said)).split())


def same(found: str | list[str], typed: str | list[str]) -> bool:
    ticked = [found] if isinstance(found, str) else found
    return sorted(ticked) == sorted([typed] if isinstance(typed, str) else typed)


@pytest.mark.parametrize(("place", "action", "typed"), FORMS, ids=[action for _, action, _ in FORMS])
async def test_what_was_typed_is_in_the_form_again(
    local: Running, place: str, action: str, typed: dict[str, str | list[str]]
) -> None:
    inbox = await local.inbox("bot")
    await local.inbox("newer")
    ids = {"inbox": inbox["id"], "message": (await local.received(inbox, mail()))["id"]}
    typed = {name: value.format(**ids) if isinstance(value, str) else value for name, value in typed.items()}
    action = f"/console/{action}".format(**ids)
    member = await Visitor.sign_in(local)
    page = await member.post(action, **typed)
    assert page.status == 400
    named = [
        re.search(rf"\b{label.lower()}(, no\. \d+)?: ", alert_of(page)) for label in labels_of(page, action)
    ]
    assert any(named), alert_of(page)
    assert "<title>Not done: " in page.text
    found = fields_of(page, action)
    for name, value in typed.items():
        assert same(found[name], value), name
    assert "<script>alert" not in page.text
    quiet = await member.get(f"/console/{place}".format(**ids))
    assert (
        "Not done" not in quiet.text
        and HOSTILE not in html.unescape(quiet.text)
        and 'role="alert"' not in quiet.text
    )


async def test_why_an_answer_did_not_go_stands_before_a_long_conversation(local: Running) -> None:
    first = await local.received(await local.inbox("bot"), mail("hello", "a line\n" * 500))
    await local.api.post("/v1/suppressions", {"email": first["fromAddress"]})
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    page = await member.post(f"{path}/reply", last=last, text="my\n words", quote="1")
    assert page.status == 422 and f"{first['fromAddress']} is on the suppression list" in alert_of(page)
    assert re.search(r'role="alert">.*?<a href="#typed">', page.text, re.DOTALL)
    assert re.search(rf'<form[^>]*action="{path}/reply"[^>]* id="typed"', page.text)
    assert fields_of(page, f"{path}/reply") | {"last": ""} == {
        "last": "",
        "text": "my\n words",
        "quote": ["1"],
    }


async def test_words_of_a_draft_are_kept_where_an_address_is_none(local: Running) -> None:
    draft = (
        await local.api.post("/v1/drafts", {"inboxId": (await local.inbox("bot"))["id"], "text": "old"})
    ).data
    member = await Visitor.sign_in(local)
    path = f"/console/drafts/{draft['id']}"
    typed = {"to": "ada, Joe <joe@people.test>", "cc": "", "bcc": "", "subject": "New", "text": "All new.\n"}
    page = await member.post(path, **typed)
    assert page.status == 400 and "to, no. 1: " in alert_of(page)
    assert fields_of(page, path) == typed | {"updatedAt": draft["updatedAt"]}
    assert (await local.api.get(f"/v1/drafts/{draft['id']}")).data["textBody"] == "old"


async def test_an_approval_that_is_refused_comes_back_with_its_note(local: Running) -> None:
    held = await Held.make(local)
    review = (await held.send())["review"]
    message = (await held.reviewer.get(f"/v1/reviews/{review['id']}")).data["message"]
    await local.api.post("/v1/suppressions", {"email": message["toAddresses"][0]})
    member = await Visitor.sign_in(local)
    path = f"/console/reviews/{review['id']}"
    content_hash = (await member.get(path)).hidden("contentHash")
    page = await member.post(f"{path}/approve", contentHash=content_hash, note="looks right")
    assert page.status == 422 and "suppression list" in alert_of(page)
    assert fields_of(page, f"{path}/approve") == {"contentHash": content_hash, "note": "looks right"}


async def test_links_of_a_page_that_answers_a_form_lead_to_pages(local: Running) -> None:
    inbox = await local.inbox("bot")
    for number in range(32):
        parent = "References: <0@elsewhere.test>"
        first = await local.received(
            inbox, mail("hello", "words", parent, message_id=f"{number}@elsewhere.test")
        )
    for number in range(31):
        await local.api.post(
            "/v1/rules", {"direction": "inbound", "action": "hold", "value": f"a{number}.test"}
        )
    member = await Visitor.sign_in(local)
    thread = f"/console/threads/{first['threadId']}"
    refused = ((f"{thread}/reply", {"text": "x", "last": "nothing"}), ("/console/rules/policy", POLICY))
    for path, typed in refused:
        page = await member.post(path, **typed)
        assert page.status == 400
        links = {html.unescape(one) for one in re.findall(r'<a [^>]*href="([^"#]+)"', page.text)}
        assert any("?" in one for one in links)
        for link in links:
            here = link if link.startswith("/") else f"{path}{link}"
            assert (await member.get(here)).status == 200, link


async def test_a_button_that_is_pressed_again_leaves_who_pressed_it_on_the_page(local: Running) -> None:
    """What it asked for is done: the page shows so, and why nothing more was."""
    rule = {"direction": "inbound", "action": "hold", "value": "a.test"}
    rule = (await local.api.post("/v1/rules", rule)).data
    hook = (await local.api.post("/v1/webhooks", {"url": "https://a.test"})).data
    suppression = (await local.api.post("/v1/suppressions", {"email": "gone@a.test"})).data
    inbox = await local.inbox("bot")
    draft = (await local.api.post("/v1/drafts", {"inboxId": inbox["id"], "to": ["a@b.test"]})).data
    member = await Visitor.sign_in(local)
    for form, action in (
        (f"/console/rules/{rule['id']}/delete", "/console/rules"),
        (f"/console/webhooks/{hook['id']}/delete", "/console/webhooks"),
        (f"/console/suppressions/{suppression['id']}/delete", "/console/suppressions"),
    ):
        assert (await member.post(form)).status == 303
        page = await member.post(form)
        assert page.status == 404 and alert_of(page).startswith("No ") and "#typed" not in page.text
        assert f'action="{action}"' in page.text, "its page"
    once = (await member.get("/console/webhooks")).hidden("once")
    page = await member.post(f"/console/webhooks/{hook['id']}/rotate", once=once)
    assert page.status == 404 and "#typed" not in page.text, "a token is nothing that was entered"
    assert 'value="email.received" checked' in page.text
    assert (await member.post(f"/console/drafts/{draft['id']}", subject="New", send="1")).status == 303
    page = await member.post(f"/console/drafts/{draft['id']}/discard", text="my words")
    assert page.status == 409 and "sent already" in alert_of(page) and "my words</textarea>" in page.text
