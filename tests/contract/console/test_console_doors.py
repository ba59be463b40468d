"""Who gets into the console, and what is believed to come from its pages."""

import asyncio
import re
import threading
from typing import Any

import pytest
from multidict import CIMultiDict

from controlplane.console import pages
from controlplane.console.forms import AT_ONCE_BYTES, Form, _read
from controlplane.console.session import FAILURES_MAX
from storage.tenants import console_sessions
from storage.tenants.console_sessions import IDLE_MS, LINK_MS, SESSION_MS
from tests.conftest import Start
from tests.support.clients.console import FORM, LOCAL, SAME_ORIGIN, Visitor, link_for
from tests.support.running import Running
from tests.support.worlds.store import ManualClock

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"
)
PAGES = (
    *(
        "/console",
        "/console/inboxes",
        "/console/reviews",
        "/console/keys",
        "/console/rules",
        "/console/suppressions",
        "/console/domains",
    ),
    *("/console/webhooks", "/console/audit", "/console/audit/events", "/console/settings"),
)
UNKNOWN = "x" * 30  # an id that nothing has
ACTS = [f"/console{one.path.format(id=UNKNOWN)}" for one in pages.PAGES if one.method == "POST"]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


async def acts(maild: Running, *types: str) -> list[dict[str, Any]]:
    await maild.daemon.operations._services.refusals.flush()
    found: list[dict[str, Any]] = (await maild.api.get("/v1/audit", types=",".join(types))).data
    return found


# Links ---------------------------------------------------------------------------------------------


async def test_a_link_signs_in_once_and_its_get_uses_nothing_up(local: Running) -> None:
    link = await link_for(local)
    visitor = Visitor.of(local)
    for _ in range(3):  # a scanner, the person, a reload
        page = await visitor.get(f"/console/sign-in?link={link}")
        assert page.status == 200 and page.hidden("link") == link
        assert not page.cookies
    done = await visitor.post("/console/sign-in", link=link)
    assert done.location == "/console"
    again = await visitor.post("/console/sign-in", link=link)
    assert again.status == 403 and "does not sign in" in again.said and not again.cookies


async def test_who_presses_twice_hears_that_they_are_signed_in(local: Running) -> None:
    link = await link_for(local)
    visitor = Visitor.of(local)
    done = await visitor.post("/console/sign-in", link=link)
    visitor.cookie = f"maild={done.cookies['maild'].value}"
    again = await visitor.post("/console/sign-in", link=link, next="/console/keys")
    assert again.status == 403 and "You are signed in as ada@people.test" in again.said
    assert 'href="/console/keys"' in again.text


async def test_neither_the_link_nor_the_session_is_in_the_store(local: Running) -> None:
    link = await link_for(local)
    done = await Visitor.of(local).post("/console/sign-in", link=link)
    (cookie,) = done.cookies.values()
    stored = b"".join(
        file.read_bytes() for file in local.settings.data_path.rglob("*.sqlite3*") if file.is_file()
    )
    assert len(cookie.value) == len(link) == 43
    for secret in (link, cookie.value):
        assert secret.encode() not in stored
        assert console_sessions.hash_of(secret) in stored


async def test_a_link_ends_after_a_quarter_of_an_hour(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock, server=LOCAL)
    link, other = await link_for(maild), await link_for(maild)
    clock.forward(LINK_MS / 1000 - 1)
    assert (await Visitor.of(maild).post("/console/sign-in", link=link)).status == 303
    clock.forward(1)
    assert (await Visitor.of(maild).post("/console/sign-in", link=other)).status == 403
    (refused,) = await acts(maild, "login.refused")
    assert refused["details"]["code"] == "link_expired" and refused["actor"].startswith("mem_")


async def test_one_of_two_who_use_a_link_at_once_is_signed_in(local: Running) -> None:
    link = await link_for(local)
    done = await asyncio.gather(
        *(Visitor.of(local).post("/console/sign-in", link=link) for _ in range(FAILURES_MAX))
    )
    assert sorted(one.status for one in done) == [303, 403, 403, 403, 403]
    ((count,),) = local.sql("SELECT count(*) FROM console_sessions")
    assert count == 1


async def test_who_tries_too_often_is_not_listened_to(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock, server=LOCAL)
    link = await link_for(maild)
    visitor = Visitor.of(maild)
    for _ in range(FAILURES_MAX):
        assert (await visitor.post("/console/sign-in", link="x" * 43)).status == 403
    assert (await visitor.post("/console/sign-in", link=link)).status == 429
    elsewhere = {**SAME_ORIGIN, "X-Forwarded-For": "198.51.100.9"}  # the proxy on this host says who it is
    done = await visitor.call("POST", "/console/sign-in", form={"link": "no"}, headers=elsewhere)
    assert done.status == 403
    for _ in range(FAILURES_MAX - 1):  # a proxy that listens by both versions shows IPv4 as IPv6
        mapped = {**SAME_ORIGIN, "X-Forwarded-For": "::ffff:198.51.100.9"}
        done = await visitor.call("POST", "/console/sign-in", form={"link": "no"}, headers=mapped)
        assert done.status == 403
    for address, status in (("198.51.100.9", 429), ("::ffff:198.51.100.10", 403)):
        told = {**SAME_ORIGIN, "X-Forwarded-For": address}
        done = await visitor.call("POST", "/console/sign-in", form={"link": "no"}, headers=told)
        assert done.status == status, address
    for named in ("", "x" * 4000, "198.51.100.9, unknown", "::ffff:1.2.3", "<script>"):
        done = await visitor.call(
            "POST", "/console/sign-in", form={"link": "no"}, headers={**SAME_ORIGIN, "X-Forwarded-For": named}
        )
        assert done.status == 429, named
    # HAProxy leaves the client's line as it is and adds its own.
    lines = CIMultiDict(
        [*SAME_ORIGIN.items(), ("X-Forwarded-For", "203.0.113.5"), ("X-Forwarded-For", "198.51.100.9")]
    )
    done = await visitor.call("POST", "/console/sign-in", form={"link": "no"}, headers=lines)
    assert done.status == 429
    clock.forward(61)
    assert (await visitor.post("/console/sign-in", link=link)).status == 303


async def test_signing_in_and_out_is_in_the_audit_log(local: Running) -> None:
    member = await Visitor.sign_in(local)
    await member.post("/console/sign-out")
    made, linked, accepted, ended = await acts(
        local, "member.added", "login.link_made", "login.accepted", "session.ended"
    )
    assert (made["actor"], linked["actor"]) == ("operator", "operator")
    assert accepted["actor"] == ended["actor"] == made["subject"] == linked["subject"]
    assert accepted["subject"] == ended["subject"] and accepted["subject"].startswith("ses_")
    assert accepted["requestId"] and accepted["details"] == {}


# Sessions ------------------------------------------------------------------------------------------


async def test_without_a_session_pages_lead_to_where_one_signs_in(local: Running) -> None:
    visitor = Visitor.of(local)
    assert (await visitor.get("/console")).location == "/console/sign-in"
    for page in PAGES[1:]:
        assert (await visitor.get(page)).location == f"/console/sign-in?next={page.replace('/', '%2F')}"
    assert (await visitor.post("/console/keys")).location == "/console/sign-in"
    kept = await visitor.post("/console/keys", name="x", scopes=["messages:read", "a b"])
    assert kept.status == 403 and "Nothing was done" in kept.said
    assert kept.hidden("name") == "x" and kept.hidden("scopes") == "messages:read"
    assert (await visitor.get("/console/live")).status == 204
    for cookie in ("maild=", "maild=nobody", f"maild={'x' * 43}", f"maild={'ä' * 9000}", "__Host-maild=x"):
        assert (await Visitor.of(local, cookie).get("/console")).status in (303, 400)
    ((count,),) = local.sql("SELECT count(*) FROM api_keys WHERE name = 'x'")
    assert count == 0


async def test_a_slash_at_the_end_of_an_address_is_one_too_many(local: Running) -> None:
    member, nobody = await Visitor.sign_in(local), Visitor.of(local)
    for path in PAGES:
        assert (await member.get(f"{path}/")).location == path
        assert (await nobody.get(f"{path}/")).location == path
    for path in ("/console/nothing%0D%0Ahere/", "/console//", "/console//elsewhere.test/"):
        answer = await member.get(path)
        assert answer.status == 404 or answer.location == "/console", path


async def test_a_reload_of_what_a_form_was_answered_with_leads_to_its_page(local: Running) -> None:
    """A browser that is started again asks for the address of the form with GET."""
    member = await Visitor.sign_in(local)
    for path in ACTS:
        page = await member.get(path)
        if page.status == 303:
            assert path.startswith(f"{page.location}/")
            page = await member.get(page.location)
        assert page.status == 200 or "There is no such page" not in page.said, path
    assert (await member.get("/console/keys/a%0Db/revoke")).status == 404
    nobody = Visitor.of(local)
    led = await nobody.follow(await nobody.get(f"/console/threads/{UNKNOWN}/reply"))
    assert led.location == f"/console/sign-in?next=%2Fconsole%2Fthreads%2F{UNKNOWN}"


async def test_head_finds_what_get_would_bring_and_uses_nothing_up(local: Running) -> None:
    nobody, link = Visitor.of(local), await link_for(local)
    member = await Visitor.sign_in(local)
    for visitor in (nobody, member):
        for path in (*PAGES, "/console/live", "/console/nothing", f"/console/sign-in?link={link}"):
            looked = await visitor.call("HEAD", path)
            assert looked.body == b"" and (visitor is nobody or looked.status != 303), path
            if path != "/console/live":  # it does not end
                got = await visitor.get(path)
                assert (looked.status, looked.headers.get("Location")) == (
                    got.status,
                    got.headers.get("Location"),
                )
    message = await local.received(await local.inbox("bot"), "Subject: a\nFrom: a@elsewhere.test\n\nwords\n")
    looked = await member.call("HEAD", path := f"/console/messages/{message['id']}/raw")
    got = await member.get(path)
    assert looked.status == 200 and looked.body == b""
    assert looked.headers["Content-Length"] == got.headers["Content-Length"] == str(len(got.body))
    assert (await nobody.post("/console/sign-in", link=link)).location == "/console"


LED: dict[str, str] = {
    "/console/reviews?status=approved": "/console/reviews?status=approved",
    "https://evil.test/console": "/console",
    "//evil.test/console": "/console",
    "/console//evil.test": "/console",
    "/console\\evil": "/console",
    "/consoleevil": "/console",
    "/v1/messages": "/console",
    "/console/\r\nSet-Cookie: a=b": "/console",
    "/console/" + "x" * 600: "/console",
    "": "/console",
}


async def test_signing_in_leads_to_pages_of_ours_alone(local: Running) -> None:
    for named, led in LED.items():
        done = await Visitor.of(local).post("/console/sign-in", link=await link_for(local), next=named)
        assert done.location == led, named


async def test_half_a_day_counts_from_a_clock_that_was_set_back(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock, server=LOCAL)
    clock.forward(IDLE_MS / 2000)
    member = await Visitor.sign_in(maild)
    clock.set_back(IDLE_MS / 2000)
    assert (await member.get("/console")).status == 200
    clock.forward(IDLE_MS / 1000)
    assert (await member.get("/console")).status == 303


async def test_a_session_ends_unused_after_half_a_day_and_in_any_case_after_a_week(
    start: Start, clock: ManualClock
) -> None:
    maild = await start(clock=clock, server=LOCAL)
    member = await Visitor.sign_in(maild)
    clock.forward(IDLE_MS / 1000 - 1)
    assert (await member.get("/console")).status == 200
    clock.forward(IDLE_MS / 1000)
    assert (await member.get("/console")).status == 303
    member = await Visitor.sign_in(maild)
    for _ in range(SESSION_MS // (IDLE_MS // 2) - 1):
        clock.forward(IDLE_MS / 2000)
        assert (await member.get("/console")).status == 200
    clock.forward(IDLE_MS / 2000)
    assert (await member.get("/console")).status == 303


async def test_who_is_removed_or_given_another_role_is_signed_out(local: Running) -> None:
    for command, given in (
        (local.store.members.add, ("ada@people.test", "member", None)),
        (local.store.members.remove, ("ada@people.test",)),
    ):
        member = await Visitor.sign_in(local, "owner")
        assert (await member.get("/console")).status == 200
        await local.operate(command, local.organization_id, *given)
        assert (await member.get("/console")).status == 303
        assert (await member.post("/console/keys", name="after")).status == 403
    assert "after" not in {one["name"] for one in (await local.api.get("/v1/keys")).data}


async def test_signing_out_ends_the_session_and_not_the_cookie_alone(local: Running) -> None:
    member, other = await Visitor.sign_in(local), await Visitor.sign_in(local)
    done = await member.post("/console/sign-out")
    assert done.location == "/console/sign-in" and done.cookies["maild"]["max-age"] == "0"
    assert (await member.get("/console")).status == 303
    assert (await other.get("/console")).status == 200


async def test_a_session_that_was_there_before_is_not_taken_over(local: Running) -> None:
    """Fixation: whoever signs in gets a secret that nobody knew before."""
    fixed = Visitor.of(local, f"maild={'f' * 43}")
    done = await fixed.post("/console/sign-in", link=await link_for(local))
    assert done.cookies["maild"].value != "f" * 43
    assert (await fixed.get("/console")).status == 303


async def test_the_cookie_says_what_it_is_for(start: Start) -> None:
    for url, name, secure in (
        ("https://mail.people.test", "__Host-maild", True),
        ("http://127.0.0.1:8025", "maild", ""),
        ("http://localhost:8025", "maild", ""),
        ("http://[::1]:8025", "maild", ""),
    ):
        maild = await start(server={"public_url": url})
        done = await Visitor.of(maild).post("/console/sign-in", link=await link_for(maild))
        cookie = done.cookies[name]
        assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (secure, True, "Strict")
        assert (cookie["path"], cookie["domain"]) == ("/", "")


async def test_where_others_may_read_along_there_is_no_console(start: Start) -> None:
    for sections in (
        {"server": {"public_url": "http://mail.people.test"}},
        {"server": LOCAL, "http": {"console": False}},
    ):
        maild = await start(**sections)
        assert (await Visitor.of(maild).get("/console")).status == 404
        with pytest.raises(Exception, match=r"public_url|http\.console"):
            await link_for(maild)


# Forms ---------------------------------------------------------------------------------------------


SENDERS: tuple[tuple[dict[str, str], bool], ...] = (
    ({"Sec-Fetch-Site": "same-origin"}, True),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, True),
    ({"Sec-Fetch-Site": "same-site"}, False),
    ({"Sec-Fetch-Site": "cross-site"}, False),
    ({"Sec-Fetch-Site": "none"}, False),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "http://{host}"}, False),
    ({"Origin": "http://{host}"}, True),
    ({"Origin": "https://{host}"}, True),
    ({"Origin": "http://{host}.evil.test"}, False),
    ({"Origin": "https://evil.test"}, False),
    ({"Origin": "null"}, False),
    ({"Origin": "http://["}, False),
    ({}, False),
)


async def test_forms_of_other_sites_do_nothing(local: Running) -> None:
    member = await Visitor.sign_in(local)
    host = local.daemon.http.url.removeprefix("http://")
    for number, (headers, is_ours) in enumerate(SENDERS):
        sent = {name: value.format(host=host) for name, value in headers.items()}
        done = await member.call("POST", "/console/keys", form={"name": f"forged {number}"}, headers=sent)
        assert done.status == (303 if is_ours else 403), headers
        names = {one["name"] for one in (await local.api.get("/v1/keys")).data}
        assert (f"forged {number}" in names) == is_ours, headers
        for path in ("/console/reviews/rev_1/approve", "/console/nothing", "/console/sign-in/mail"):
            done = await member.call("POST", path, form={}, headers=sent)
            assert (done.status == 403 and "not sent by a page" in done.said) == (not is_ours), headers
        for path in ("/console/sign-in", "/console/sign-out"):
            if not is_ours:
                done = await member.call("POST", path, form={}, headers=sent)
                assert done.status == 403 and "not sent by a page" in done.said, headers


async def test_no_page_acts_for_another_site(local: Running) -> None:
    member = await Visitor.sign_in(local)
    assert len(ACTS) >= 25
    for path in ACTS:
        done = await member.call("POST", path, form={}, headers={"Sec-Fetch-Site": "cross-site"})
        assert done.status == 403 and "not sent by a page" in done.said, path
        assert (await Visitor.of(local).post(path)).location == "/console/sign-in", path


@pytest.mark.parametrize(
    "id", ["%0D%0ASet-Cookie:%20a=b", "%00", "%0A", "%C3%A4", "a%2Fb", "%3Fa", "%23a", "%E2%80%AE"]
)
async def test_what_can_be_no_id_is_no_page(local: Running, id: str) -> None:
    """It stands in the path that a form leads on to, and in that of links."""
    member = await Visitor.sign_in(local, "owner")
    for page in pages.PAGES:
        if "{id}" in page.path:
            path = f"/console{page.path.format(id=id)}"
            answer = await (member.get(path) if page.method == "GET" else member.post(path))
            assert answer.status == 404 and "no such page" in answer.said, path


async def test_no_long_form_is_read_on_the_loop_and_none_of_a_stranger(
    local: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three megabytes of escapes take half a second."""
    readers: list[threading.Thread] = []

    def read(raw: bytearray) -> Form:
        readers.append(threading.current_thread())
        return _read(raw)

    member, nobody = await Visitor.sign_in(local), Visitor.of(local)
    monkeypatch.setattr("controlplane.console.forms._read", read)
    assert (await nobody.post("/console/sign-in", link="%" * 10_000)).status == 413
    assert (await nobody.post("/console/keys", name="%" * 100_000)).status == 303
    assert readers == []
    for visitor in (member, nobody):
        done = await visitor.post("/console/keys", name="%" * (AT_ONCE_BYTES // 3))
        assert done.status in (400, 403)
    assert len(readers) == 2 and threading.main_thread() not in readers
    assert (await member.post("/console/keys", name="short")).status in (303, 400)
    assert readers[2] is threading.main_thread()


async def test_what_is_no_form_is_told_so(local: Running) -> None:
    member = await Visitor.sign_in(local)
    for kind, body in (
        ("application/json", b'{"name":"x"}'),
        ("text/plain", b"name=x"),
        (FORM, b"name=%ff"),
        (FORM, "name=\xe4".encode("latin-1")),
        (FORM, b"&".join(b"a=b" for _ in range(300))),
        ("multipart/form-data; boundary=x", b"--x--"),
    ):
        done = await member.call(
            "POST", "/console/keys", data=body, headers={**SAME_ORIGIN, "Content-Type": kind}
        )
        assert done.status == 400, (kind, body)
    large = await member.post("/console/keys", name="x" * 4_000_000)
    assert large.status == 413


# Every answer --------------------------------------------------------------------------------------


async def test_every_page_has_the_headers_of_a_page(local: Running) -> None:
    member = await Visitor.sign_in(local)
    for visitor, path in (
        *((member, page) for page in PAGES),
        (member, "/console/nothing"),
        (member, "/console/threads/thd_none"),
        (Visitor.of(local), "/console/sign-in"),
    ):
        page = await visitor.get(path)
        assert page.headers["Content-Security-Policy"] == CSP, path
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert len(page.body) <= 60_000


async def test_static_files_are_kept_by_browsers_under_the_name_of_what_they_hold(local: Running) -> None:
    page = await Visitor.of(local).get("/console/sign-in")
    found = re.findall(r'(?:href|src)="(/console/static/[^"]+)"', page.text)
    assert len(found) == 3
    for path in found:
        asset = await Visitor.of(local).get(path)
        assert asset.status == 200 and "immutable" in asset.headers["Cache-Control"], path
    assert (await Visitor.of(local).get("/console/static/..%2froutes.py")).status == 404


# Roles and organizations -----------------------------------------------------------------------------


async def test_a_member_reads_and_does_not_act(local: Running) -> None:
    reader = await Visitor.sign_in(local, "member", "reader@people.test")
    inbox = await local.inbox("bot")
    message = await local.received(inbox, "From: a@b.test\nSubject: hello\n\nwords\n")
    await local.api.post("/v1/rules", {"direction": "outbound", "action": "block", "value": "a.test"})
    await local.api.post("/v1/webhooks", {"url": "https://a.test"})
    await local.api.post("/v1/suppressions", {"email": "gone@a.test"})
    domain = (await local.api.post("/v1/domains", {"domainName": "acme.test"})).data
    for path in (
        *PAGES,
        f"/console/inboxes/{inbox['id']}",
        f"/console/inboxes/{inbox['id']}/policy",
        f"/console/messages/{message['id']}",
        f"/console/threads/{message['threadId']}",
        f"/console/domains/{domain['id']}",
    ):
        page = await reader.get(path)
        assert page.status == 200, path
        forms = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', page.text)
        acting = [one for one in forms if not one.endswith(("/sign-out", "/labels"))]
        assert acting == [], path
    for path, form in (
        ("/console/keys", {"name": "x"}),
        ("/console/inboxes", {"username": "another"}),
        (f"/console/messages/{message['id']}/labels", {"add": "seen"}),
        (f"/console/threads/{message['threadId']}/archive", {"archived": "1"}),
    ):
        done = await reader.post(path, **form)
        assert done.status == 403 and "Your role reads" in done.said, path
    counted = (
        "SELECT count(*) FROM audit WHERE type <> 'message.refused'"  # that an answer was refused is noted
    )
    before = local.sql(counted)
    for path in ACTS:
        assert (await reader.post(path, add="seen")).status in (403, 404), path
    assert local.sql(counted) == before


async def test_another_organization_is_not_there(local: Running) -> None:
    inbox = await local.inbox("bot")
    message = await local.received(inbox, "From: a@b.test\nSubject: hello\n\nwords\n")
    key = (await local.api.get("/v1/keys")).data[0]
    rule = (
        await local.api.post("/v1/rules", {"direction": "outbound", "action": "block", "value": "a.test"})
    ).data
    hook = (await local.api.post("/v1/webhooks", {"url": "https://a.test"})).data
    suppression = (await local.api.post("/v1/suppressions", {"email": "gone@a.test"})).data
    domain = (await local.api.post("/v1/domains", {"domainName": "acme.test"})).data
    other = await local.organization()
    stranger = await Visitor.sign_in(local, "owner", "eve@people.test", other.id)
    for path in (
        f"/console/inboxes/{inbox['id']}",
        f"/console/threads/{message['threadId']}",
        f"/console/messages/{message['id']}",
        f"/console/messages/{message['id']}/html",
        f"/console/messages/{message['id']}/raw",
        f"/console/inboxes/{inbox['id']}/policy",
        f"/console/domains/{domain['id']}",
    ):
        page = await stranger.get(path)
        assert page.status == 404 and "words" not in page.said, path
    for path in (
        f"/console/keys/{key['id']}/revoke",
        f"/console/keys/{key['id']}/revoke-with-mail",
        f"/console/messages/{message['id']}/labels",
        f"/console/threads/{message['threadId']}/archive",
        f"/console/threads/{message['threadId']}/read",
        f"/console/threads/{message['threadId']}/reply",
        f"/console/inboxes/{inbox['id']}/policy",
        f"/console/rules/{rule['id']}/delete",
        f"/console/suppressions/{suppression['id']}/delete",
        f"/console/domains/{domain['id']}/verify",
        *(f"/console/webhooks/{hook['id']}/{act}" for act in ("test", "switch", "rotate", "delete")),
    ):
        policy = {"recipients": "any", "review": "off", "replyTo": "honor", "unlisted": "accept"}
        numbers = {"version": "0", "expiresAfterSeconds": "60", "maxAttempts": "1"}
        answer = {"text": "mine", "last": message["id"]}
        done = await stranger.post(path, add="mine", archived="1", **policy, **numbers, **answer)
        assert done.status in (303, 404), path
    assert (await local.api.get(f"/v1/messages/{message['id']}")).data["labels"] == ["unread"]
    assert (await local.api.get("/v1/organization")).status == 200
    assert (await local.api.get("/v1/suppressions")).data == [suppression]
    found = await stranger.get("/console/suppressions?email=gone@a.test")
    assert "It is not suppressed" in found.said and suppression["id"] not in found.text
    assert await acts(local, "policy.replaced", "rule.deleted", "webhook.deleted", "webhook.updated") == []
    for path in PAGES[4:]:
        page = await stranger.get(path)
        for mine in ("a.test", "acme.test", hook["id"], rule["id"], suppression["id"], "hello"):
            assert mine not in page.text.replace("data.test", ""), (path, mine)
