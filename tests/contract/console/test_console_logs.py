"""The audit log and the event log as people read them: newest first, all of it, and of their own organization."""

import html
import re

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, Visitor
from tests.support.running import Running


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


async def walk(member: Visitor, path: str, found: str) -> tuple[list[str], int]:
    """What all pages show, and how many they are."""
    base, seen, pages = path.partition("?")[0], [], 0
    while path:
        page = await member.get(path)
        assert page.status == 200 and len(page.body) <= 60_000
        seen += re.findall(found, page.text)
        older = re.findall(r'href="(\?[^"]*cursor=[^"]+)"', page.text)
        path, pages = f"{base}{html.unescape(older[0])}" if older else "", pages + 1
    return seen, pages


async def test_acts_are_read_back_to_the_first(local: Running) -> None:
    for number in range(50):
        rule = {"direction": "outbound", "action": "block", "value": f"d{number}.test"}
        assert (await local.api.post("/v1/rules", rule)).status == 201
    member = await Visitor.sign_in(local)
    known = (await local.api.get("/v1/audit", limit="1000")).data
    seen, pages = await walk(member, "/console/audit", r'data-label="No\.">(\d+)<')
    assert seen == [str(one["seq"]) for one in reversed(known)] and pages == 2
    seen, _ = await walk(member, "/console/audit?kind=rule", r'data-label="Act"><b>([\w.]+)<')
    assert seen == ["rule.created"] * 50
    (mine,) = {one["actor"] for one in known if one["type"] == "login.accepted"}
    seen, _ = await walk(member, f"/console/audit?actor={mine}", r'data-label="By"><span title="(\w+)"')
    assert seen and set(seen) == {mine}
    assert "ada@people.test" in (await member.get(f"/console/audit?actor={mine}")).said, "by name"


async def test_events_are_read_back_to_the_first(local: Running) -> None:
    inbox = await local.inbox("bot")
    body = "a line\n" * 99 + "at last\n"
    for number in range(45):
        await local.received(inbox, f"From: a@b.test\nSubject: s-{number}\n\n{body}")
    member = await Visitor.sign_in(local)
    seen, pages = await walk(member, "/console/audit/events?kind=email", r">s-(\d+)</a>")
    assert seen == [str(number) for number in reversed(range(45))] and pages == 2
    page = await member.get("/console/audit/events")
    assert "email.received" in page.said and "at last" not in page.text
    (path, *_) = re.findall(r'<a href="(/console/messages/[^"]+)">', page.text)
    assert (await member.get(path)).status == 200
    assert "Nothing found" in (await member.get("/console/audit/events?kind=claim")).said


async def test_a_log_that_was_asked_for_wrongly_is_told(local: Running) -> None:
    member = await Visitor.sign_in(local)
    assert (await member.get("/console/audit?cursor=x")).status == 400
    assert (await member.get("/console/audit/events?cursor=x")).status == 400
    assert "Nothing found" in (await member.get("/console/audit?actor=%3Cscript%3E&kind=%3Cscript%3E")).said
    gone = await member.get("/console/audit/events?cursor=evt_" + "0" * 26)
    assert gone.status == 200


async def test_no_log_shows_another_organization(local: Running) -> None:
    await local.received(await local.inbox("bot"), "From: a@b.test\nSubject: ours\n\nwords\n")
    other = await local.organization()
    stranger = await Visitor.sign_in(local, "owner", "eve@people.test", other.id)
    assert "ours" not in (await stranger.get("/console/audit/events")).said
    said = (await stranger.get("/console/audit")).said
    assert "login.accepted" in said and local.organization_id not in said and "inbox.created" not in said
