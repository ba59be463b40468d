"""What members do on pages is what the API does, under the same rules (docs/console.md)."""

import asyncio
import re
from email import message_from_bytes
from email.policy import default
from itertools import count
from typing import Any

import pytest

from controlplane.console import live
from controlplane.console.link_mail import LINKS_PER_HOUR
from controlplane.console.session import FAILURES_MAX
from controlplane.sending.from_us.operator_mail import OperatorMail
from storage.clock import Clock, iso
from storage.mail.inboxes import RecipientInbox
from storage.tenants import console_sessions
from tests.conftest import Start
from tests.support.clients.console import LOCAL, SAME_ORIGIN, Visitor
from tests.support.running import Running, until
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.holding import hold, mail
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock

TOMORROW = iso(Clock().now_ms() + 86_400_000)


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


# Held mail -----------------------------------------------------------------------------------------


async def test_a_member_approves_what_keys_may_not(local: Running) -> None:
    held = await Held.make(local)
    sent = await held.held()
    await local.operate(local.store.organizations.set_reviewers, local.organization_id, "members")
    refused = await held.approve(sent)
    assert refused.code == "member_required"
    member = await Visitor.sign_in(local)
    path = f"/console/reviews/{sent['review']['id']}"
    page = await member.get(path)
    done = await member.post(f"{path}/approve", contentHash=page.hidden("contentHash"), note="fine")
    assert done.location == f"{path}?done=approved"
    review = await held.review(sent)
    assert review["status"] == "approved" and review["note"] == "fine"
    assert review["resolvedBy"].startswith("mem_")
    (act,) = (await local.api.get("/v1/audit", types="review.approved")).data
    assert act["actor"] == review["resolvedBy"] and act["requestId"] is not None


async def test_nobody_approves_what_was_not_shown(local: Running) -> None:
    held = await Held.make(local)
    sent = await held.held()
    member = await Visitor.sign_in(local)
    path = f"/console/reviews/{sent['review']['id']}"
    page = await member.post(f"{path}/approve", contentHash="sha256:" + "0" * 64, note="looks right")
    assert (
        page.status == 409 and "Nothing was approved" in page.said and "looks right</textarea>" in page.text
    )
    assert page.hidden("contentHash") == (await member.get(path)).hidden("contentHash")
    wrong = await member.post(f"{path}/approve", contentHash="x")
    assert wrong.status == 400
    assert (await held.review(sent))["status"] == "pending"


async def test_who_approves_hears_that_the_conversation_went_on(local: Running) -> None:
    held = await Held.make(local)
    first = await local.received(held.inbox, mail(message_id="1@elsewhere.test"))
    sent = await held.held(inReplyTo=first["id"], ifLastMessageId=first["id"])
    await local.received(held.inbox, mail("hello", "more", "In-Reply-To: <1@elsewhere.test>"))
    member = await Visitor.sign_in(local)
    path = f"/console/reviews/{sent['review']['id']}"
    page = await member.get(path)
    assert 'name="force"' not in page.text and "more" in page.said
    assert f"<title>Review: {sent['subject']}" in page.text
    page = await member.post(f"{path}/approve", contentHash=page.hidden("contentHash"), note="looks right")
    assert "the conversation went on" in page.said and 'name="force"' in page.text
    assert page.status == 409 and "looks right</textarea>" in page.text
    done = await member.post(f"{path}/approve", contentHash=page.hidden("contentHash"), force="1")
    assert done.location == f"{path}?done=approved"


async def test_mail_that_came_in_is_read_and_let_in(local: Running) -> None:
    inbox = await local.inbox("bot")
    await hold(local, inbox, "unverified")
    reply = await local.deliver(inbox["address"], mail("held words", "let me in"), "stranger@elsewhere.test")
    assert reply.startswith("250 ")
    (review,) = (await local.api.get("/v1/reviews")).data
    member = await Visitor.sign_in(local)
    assert "held words" in (await member.get("/console/reviews")).said
    path = f"/console/reviews/{review['id']}"
    page = await member.get(path)
    assert "let me in" in page.said and "Not proven" in page.said.replace("not proven", "Not proven")
    assert (await member.get(f"/console/inboxes/{inbox['id']}")).said.count("held words") == 0
    await member.post(f"{path}/approve", contentHash=page.hidden("contentHash"))
    assert "held words" in (await member.get(f"/console/inboxes/{inbox['id']}")).said


async def test_a_reader_sees_what_is_held_and_decides_nothing(local: Running) -> None:
    held = await Held.make(local)
    sent = await held.held()
    reader = await Visitor.sign_in(local, "member")
    path = f"/console/reviews/{sent['review']['id']}"
    page = await reader.get(path)
    assert page.status == 200 and "Your role reads" in page.said
    content_hash = (await held.review(sent))["contentHash"]
    for act in ("approve", "reject", "edit"):
        done = await reader.post(f"{path}/{act}", contentHash=content_hash)
        assert done.status == 403, act
    assert (await held.review(sent))["status"] == "pending"
    assert (await held.reviewer.get("/v1/drafts")).data == []


@pytest.mark.parametrize(
    ("sent", "lost"),
    [
        ({}, "as a draft."),
        ({"html": "<p>Hello"}, "as a draft, without its HTML."),
        (
            {"html": "<p>Hello", "sendAt": TOMORROW},
            "as a draft, without its HTML and its time.",
        ),
    ],
)
async def test_an_edit_says_what_a_draft_can_not_take_over(
    local: Running, sent: dict[str, Any], lost: str
) -> None:
    held = await Held.make(local)
    review = (await held.held(**sent))["review"]
    member = await Visitor.sign_in(local)
    assert lost in (await member.get(f"/console/reviews/{review['id']}")).said


async def test_a_long_mail_does_not_hide_its_decision(local: Running) -> None:
    held = await Held.make(local)
    review = (await held.held(text="a line\n" * 3000))["review"]
    page = await (await Visitor.sign_in(local)).get(f"/console/reviews/{review['id']}")
    before = page.text.partition("a line")[0]
    assert re.search(r'<p class="jump"><a href="#decision">', before) and 'id="decision"' in page.text


async def test_an_edit_leaves_no_draft_where_the_review_is_decided(local: Running) -> None:
    held = await Held.make(local)
    sent = await held.held()
    member = await Visitor.sign_in(local)
    path = f"/console/reviews/{sent['review']['id']}"
    await member.post(f"{path}/reject", note="")
    done = await member.post(f"{path}/edit")
    assert done.location == f"{path}?done=resolved"
    assert (await held.reviewer.get("/v1/drafts")).data == []


async def test_a_deleted_message_leaves_a_review_to_look_at(local: Running) -> None:
    held = await Held.make(local)
    sent = await held.held()
    assert (await held.reviewer.call("DELETE", f"/v1/messages/{sent['id']}")).status == 200
    member = await Visitor.sign_in(local)
    page = await member.get(f"/console/reviews/{sent['review']['id']}")
    assert page.status == 200 and "was deleted" in page.said
    assert "deleted" in (await member.get("/console/reviews?status=withdrawn")).said


# Keys ----------------------------------------------------------------------------------------------


async def test_a_key_that_a_member_mints_descends_from_none(local: Running) -> None:
    member, other = await Visitor.sign_in(local), await Visitor.sign_in(local, email="eve@people.test")
    inbox = await local.inbox("bot")
    done = await member.post(
        "/console/keys", name="agent", inbox=inbox["id"], scopes=["messages:read", "messages:reply"]
    )
    assert done.location.startswith("/console/keys/minted?id=key_")
    assert "shown once" in (await other.follow(done)).said, "to the session that minted it alone"
    page = await member.follow(done)
    (key,) = set(re.findall("svc_live_[0-9a-f]{48}", page.text))
    assert "svc_live" not in (await member.follow(done)).text
    made = {one["name"]: one for one in (await local.api.get("/v1/keys")).data}["agent"]
    assert made["mintedBy"] is None and made["inboxId"] == inbox["id"]
    assert sorted(made["scopes"]) == ["messages:read", "messages:reply"]
    (act,) = [
        one
        for one in (await local.api.get("/v1/audit", types="key.minted")).data
        if one["subject"] == made["id"]
    ]
    assert act["actor"].startswith("mem_")
    assert "a person" in (await member.get("/console/keys")).said
    await member.post(f"/console/keys/{made['id']}/revoke")
    assert (await local.api.with_key(key).get("/v1/messages")).status == 401


async def test_a_form_that_is_pressed_twice_makes_one_key(local: Running) -> None:
    member, other = await Visitor.sign_in(local), await Visitor.sign_in(local, email="eve@people.test")

    async def names() -> list[str]:
        return [one["name"] for one in (await local.api.get("/v1/keys")).data if one["name"].startswith("a")]

    once = (await member.get("/console/keys")).hidden("once")
    refused = await member.post("/console/keys", name="a", inbox="inb_nowhere", once=once)
    assert refused.status == 404
    done, again = await asyncio.gather(
        *(member.post("/console/keys", name="a key", once=once) for _ in range(2))
    )
    assert done.location == again.location
    (key,) = set(re.findall("svc_live_[0-9a-f]{48}", (await member.follow(done)).text))
    later = await member.post("/console/keys", name="a key", once=once)
    assert key in (await member.follow(later)).text, "a browser shows what the last press was answered with"
    assert await names() == ["a key"]
    await member.post("/console/keys", name="a second", once=once)
    await member.post("/console/keys", name="a key", once=(await member.get("/console/keys")).hidden("once"))
    await other.post("/console/keys", name="a key", once=once)
    assert sorted(await names()) == ["a key", "a key", "a key", "a second"]


@pytest.mark.parametrize(
    ("path", "form", "listed"),
    [
        ("inboxes", {"username": "bot"}, "/v1/inboxes"),
        ("webhooks", {"url": "https://hooks.example.com/", "events": "email.sent"}, "/v1/webhooks"),
        ("rules", {"direction": "inbound", "action": "block", "value": "a.test"}, "/v1/rules"),
        ("domains", {"domain": "mail.example.org"}, "/v1/domains"),
    ],
)
async def test_a_form_that_is_pressed_twice_makes_one_thing(
    local: Running, path: str, form: dict[str, str], listed: str
) -> None:
    member = await Visitor.sign_in(local)
    before = len((await local.api.get(listed)).data)
    once = (await member.get(f"/console/{path}")).hidden("once")
    done, again = [await member.post(f"/console/{path}", **form, once=once) for _ in range(2)]
    assert done.location == again.location
    assert len((await local.api.get(listed)).data) == before + 1


async def test_a_key_that_leaked_is_revoked_with_what_it_minted(local: Running) -> None:
    member = await Visitor.sign_in(local)
    made = (await local.api.post("/v1/keys", {"name": "leaked", "scopes": ["*"]})).data
    leaked = local.api.with_key(made["apiKey"])
    child = (await leaked.post("/v1/keys", {"name": "child", "scopes": ["*"]})).data
    action = f"/console/keys/{made['id']}/revoke-with-mail"
    assert action in (await member.get("/console/keys")).text
    page = await member.follow(await member.post(action))
    assert "with the keys that it minted" in page.said
    assert (await local.api.with_key(child["apiKey"]).get("/v1/messages")).status == 401


async def test_what_a_form_gets_wrong_is_told_field_by_field(local: Running) -> None:
    member = await Visitor.sign_in(local)
    page = await member.post("/console/keys", name="", scopes=["no:scope"])
    assert page.status == 400 and "name:" in page.said and "scopes, no. 1:" in page.said
    page = await member.post("/console/inboxes", username="No Blanks!")
    assert page.status == 400 and "username" in page.said
    page = await member.post("/console/inboxes", username="postmaster")
    assert page.status == 422 and "reserved" in page.said


# A revoked session -----------------------------------------------------------------------------------


async def test_a_session_that_ends_in_the_middle_brings_nothing_about(
    local: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between finding the session and the unit that writes, the member is removed."""
    member = await Visitor.sign_in(local)
    find = console_sessions.by_hash

    def found_and_then_removed(tx: Any, token_hash: bytes, now_ms: int) -> Any:
        session = find(tx, token_hash, now_ms)
        local.sql("DELETE FROM console_sessions")
        return session

    monkeypatch.setattr(console_sessions, "by_hash", found_and_then_removed)
    done = await member.post("/console/keys", name="too late")
    assert done.location == "/console/sign-in"
    monkeypatch.undo()
    assert "too late" not in {one["name"] for one in (await local.api.get("/v1/keys")).data}


async def test_figures_end_with_the_session(local: Running) -> None:
    member = await Visitor.sign_in(local)
    headers = {"Cookie": member.cookie}
    async with asyncio.timeout(GIVES_UP_S):
        async with local._session.get(f"{member.url}/console/live", headers=headers) as stream:
            assert stream.status == 200
            while not (await stream.content.readline()).startswith(b"data:"):
                pass
            await local.operate(local.store.members.remove, local.organization_id, "ada@people.test")
            while await stream.content.readline():
                pass
        assert (await member.get("/console/live")).status == 204


async def test_figures_that_change_all_the_time_begin_anew_too(
    local: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they begin is asked whether the session's time is over."""
    member = await Visitor.sign_in(local)
    figures = count()

    async def waiting(_live: Any, _signed_in: Any) -> dict[str, int]:
        return {"unread": next(figures)}

    monkeypatch.setattr(live.Live, "waiting", waiting)
    monkeypatch.setattr(live, "STREAM_S", 0.01)
    monkeypatch.setattr(live, "REST_S", 0)
    async with asyncio.timeout(GIVES_UP_S):
        async with local._session.get(
            f"{member.url}/console/live", headers={"Cookie": member.cookie}
        ) as stream:
            while await stream.content.readline():
                pass


# Links by mail ---------------------------------------------------------------------------------------


async def ask(visitor: Visitor, email: str, peer: str = "198.51.100.1") -> Any:
    headers = {**SAME_ORIGIN, "X-Forwarded-For": peer}
    return await visitor.call("POST", "/console/sign-in/mail", form={"email": email}, headers=headers)


def mailed(maild: Running) -> list[str]:
    return [to for (to,) in maild.sql("SELECT address FROM recipients ORDER BY message_id")]


async def test_a_member_is_mailed_a_link(start: Start) -> None:
    maild = await start(server=LOCAL, console={"login_by_mail": True})
    await maild.operate(maild.store.members.add, maild.organization_id, "Ada@People.test", "admin", None)
    visitor = Visitor.of(maild)
    assert "Mail me a link" in (await visitor.get("/console/sign-in")).said
    known, unknown = await ask(visitor, " ADA@people.test "), await ask(visitor, "nobody@people.test")
    assert known.location == unknown.location == "/console/sign-in?done=link_sent"
    assert known.body == unknown.body
    assert "a link is on its way" in (await visitor.follow(known)).said

    async def queued() -> list[str] | None:
        return mailed(maild) or None

    assert await until(queued) == ["ada@people.test"]
    ((raw,),) = maild.sql("SELECT b.data FROM messages m JOIN blobs b ON b.id = m.blob_id")
    words = str(message_from_bytes(raw, policy=default).get_content())
    (link,) = re.findall(r"http://127\.0\.0\.1:8025/console/sign-in\?link=([\w-]{43})", words)
    assert (await visitor.post("/console/sign-in", link=link)).status == 303
    (act,) = (await maild.api.get("/v1/audit", types="login.link_made")).data
    assert act["actor"] == "system:console"


async def test_nobody_is_mailed_many_links(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock, server=LOCAL, console={"login_by_mail": True})
    await maild.operate(maild.store.members.add, maild.organization_id, "ada@people.test", "admin", None)
    await maild.operate(maild.store.members.add, maild.organization_id, "eve@people.test", "admin", None)
    visitor = Visitor.of(maild)
    for number in range(LINKS_PER_HOUR * 2):
        await ask(visitor, "ada@people.test", f"198.51.100.{number}")
    await ask(visitor, "eve@people.test", "203.0.113.1")

    async def last() -> list[str] | None:
        found = mailed(maild)
        return found if "eve@people.test" in found else None

    assert (await until(last)).count("ada@people.test") == LINKS_PER_HOUR
    for _ in range(FAILURES_MAX):
        assert (await ask(visitor, "x@people.test", "203.0.113.9")).status == 303
    assert (await ask(visitor, "x@people.test", "203.0.113.9")).status == 429


async def test_who_is_removed_and_added_again_meanwhile_holds_up_no_other_link(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    maild = await start(server=LOCAL, console={"login_by_mail": True})
    other = await maild.organization()
    ada, sender = "ada@people.test", OperatorMail.sender
    for organization_id in (maild.organization_id, other.id):
        await maild.operate(maild.store.members.add, organization_id, ada, "admin", None)

    async def change_first(self: OperatorMail) -> RecipientInbox | None:
        monkeypatch.setattr(OperatorMail, "sender", sender)
        await maild.operate(maild.store.members.remove, maild.organization_id, ada)
        await maild.operate(maild.store.members.add, maild.organization_id, ada, "admin", None)
        return await sender(self)

    monkeypatch.setattr(OperatorMail, "sender", change_first)
    await ask(Visitor.of(maild), ada)

    async def linked() -> list[Any] | None:
        return maild.sql("SELECT organization_id FROM console_links") or None

    assert await until(linked) == [(other.id,)]


async def test_without_the_setting_nobody_is_mailed(local: Running) -> None:
    visitor = Visitor.of(local)
    assert "Mail me a link" not in (await visitor.get("/console/sign-in")).said
    assert (await ask(visitor, "ada@people.test")).status == 404


# What is large ---------------------------------------------------------------------------------------


def _typed(kind: str) -> tuple[str, str]:
    return "MIME-Version: 1.0", f"Content-Type: {kind}"


async def test_a_page_is_short_whatever_a_mail_holds(local: Running) -> None:
    inbox = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    files = "".join(
        f"--x\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=f{number}.txt\r\n\r\nx\r\n"
        for number in range(500)
    )
    mails = {
        "long text": mail("long", "a line of words\r\n" * 400_000),
        "long html": mail("html", "<p>words<b>" * 300_000, *_typed("text/html")),
        "invisible": mail("inv", "a\u200b\u202eb\u2060" * 50_000, *_typed("text/plain; charset=utf-8")),
        "many files": mail(
            "files", f"--x\r\n\r\nwords\r\n{files}--x--", *_typed("multipart/mixed; boundary=x")
        ),
        "many people": mail("people", "words", "Cc: " + ",\r\n ".join(f"p{number}@x.test" for number in range(900))),
        "escapes": mail("&<>\"'" * 80, "&<>\"'" * 20_000),
    }  # fmt: skip
    for name, raw in mails.items():
        message = await local.received(inbox, raw)
        for path in (f"/console/messages/{message['id']}", f"/console/threads/{message['threadId']}"):
            page = await member.get(path)
            assert page.status == 200, (name, path)
            assert len(page.body) <= 60_000, (name, path, len(page.body))
        assert (await member.get(f"/console/messages/{message['id']}/html")).status == 200
    page = await member.get(f"/console/inboxes/{inbox['id']}")
    assert page.status == 200 and len(page.body) <= 60_000


async def test_a_held_mail_that_is_too_long_can_be_decided_about(local: Running) -> None:
    inbox = await local.inbox("bot")
    await hold(local, inbox, "unverified")
    raw = mail("long", "a line of words\r\n" * 400_000)
    assert (await local.deliver(inbox["address"], raw)).startswith("250 ")
    (review,) = (await local.api.get("/v1/reviews")).data
    member = await Visitor.sign_in(local)
    path = f"/console/reviews/{review['id']}"
    page = await member.get(path)
    assert "too many for a page" in page.said
    done = await member.post(f"{path}/approve", contentHash=page.hidden("contentHash"))
    assert done.location == f"{path}?done=approved"


async def test_a_long_conversation_is_walked_through(local: Running) -> None:
    inbox = await local.inbox("bot")
    for number in range(65):
        reference = "" if not number else "In-Reply-To: <0@elsewhere.test>"
        fields = (reference,) if reference else ()
        message = await local.received(
            inbox, mail("talk", f"word-{number}", *fields, message_id=f"{number}@elsewhere.test")
        )
    member = await Visitor.sign_in(local)
    path, seen = f"/console/threads/{message['threadId']}", []
    while path:
        page = await member.get(path)
        seen += re.findall(r"word-(\d+)\b(?=[^<]*</div>)", page.text)
        older = re.findall(r'href="([^"]*\?before=[^"]+)"', page.text)
        path = older[0] if older else ""
    assert sorted(map(int, set(seen))) == list(range(65))


# Files -----------------------------------------------------------------------------------------------


async def test_files_are_saved_and_not_shown(local: Running) -> None:
    inbox = await local.inbox("bot")
    raw = (
        "From: a@b.test\nSubject: file\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nwords\n"
        '--x\nContent-Type: text/html\nContent-Disposition: attachment; filename="a.html"\n\n'
        "<script>alert(1)</script>\n--x--\n"
    )
    message = await local.received(inbox, raw)
    (file,) = message["attachments"]
    member, stranger = await Visitor.sign_in(local), Visitor.of(local)
    for path, kind in (
        (f"/console/attachments/{file['id']}", "text/html"),
        (f"/console/messages/{message['id']}/raw", "message/rfc822"),
    ):
        answer = await member.get(path)
        assert answer.status == 200 and answer.headers["Content-Type"].startswith(kind)
        assert answer.headers["Content-Disposition"].startswith("attachment;")
        assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert b"alert(1)" in answer.body
        assert (await stranger.get(path)).location.startswith("/console/sign-in")
    frame = await member.get(f"/console/messages/{message['id']}/html")
    assert frame.headers["Cache-Control"] == "no-store"
    assert (await member.get("/v1/messages")).status == 401, "the cookie is nothing to the API"
