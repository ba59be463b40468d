"""How the Python clients behave beside a server that fails by script: again where it is safe, and never with the key
to somebody else."""

import copy
import logging
import os
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

import maild_client
from maild_client import (
    ApiError,
    AsyncMaild,
    AuthenticationFailed,
    ClaimLost,
    ConfigurationError,
    Conflict,
    ConnectionFailed,
    InvalidRequest,
    Maild,
    NotFound,
    NotModified,
    PermissionDenied,
    QuotaExceeded,
    RateLimited,
    ServerFailed,
    ThreadAdvanced,
    TimedOut,
)
from maild_client._given import UNSET
from maild_client._wire import Call, Key, Options, seconds
from tests.clients.worlds import (
    HANG_UP,
    KEY,
    MESSAGE,
    PASSING,
    SENT,
    SILENCE,
    Clients,
    Dripped,
    ScriptedServer,
    answer,
    refused,
)
from tests.support.machine.ports import free_port


@pytest.fixture(params=[True, False], ids=["coroutines", "plain"])
def clients(request: pytest.FixtureRequest) -> Clients:
    return Clients(is_async=request.param)


def read(client: Any) -> Any:
    return client.messages.get("msg_1")


def send(client: Any) -> Any:
    return client.messages.send(inbox_id="inb_1", to=["ada@example.com"], text="once")


def write(client: Any) -> Any:
    return client.agents.create(name="one")


# Again --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", PASSING)
async def test_a_read_is_tried_twice_more(clients: Clients, fault: bytes) -> None:
    async with ScriptedServer([fault, fault, MESSAGE]) as server:
        assert await clients.ask(server.url, read) == {"id": "msg_1"}
        assert [one.path for one in server.asked] == ["/v1/messages/msg_1"] * 3
    assert len(clients.pauses) == 2 and all(0.25 <= one <= 1 for one in clients.pauses)


async def test_and_then_no_more(clients: Clients) -> None:
    async with ScriptedServer([refused(503)]) as server:
        with pytest.raises(ServerFailed):
            await clients.ask(server.url, read)
        assert len(server.asked) == 3
        with pytest.raises(ServerFailed):
            await clients.ask(server.url, read, max_retries=0)
        assert len(server.asked) == 4


async def test_a_send_that_is_repeated_is_the_same_send(clients: Clients) -> None:
    async with ScriptedServer([HANG_UP, refused(502), SENT]) as server:
        assert await clients.ask(server.url, send) == {"id": "msg_1"}
        assert len({one.headers["idempotency-key"] for one in server.asked}) == 1
        assert len({one.body for one in server.asked}) == 1 and len(server.asked) == 3
        await clients.ask(server.url, send)
        assert server.asked[3].headers["idempotency-key"] != server.asked[0].headers["idempotency-key"]


@pytest.mark.parametrize("lost", [refused(504), answer(502, None, b"<html>"), answer(200, None, b"<html>")])
async def test_a_send_whose_answer_a_proxy_lost_names_its_key(clients: Clients, lost: bytes) -> None:
    async with ScriptedServer([lost]) as server:
        with pytest.raises(ServerFailed) as told:
            await clients.ask(server.url, send)
        assert {one.headers["idempotency-key"] for one in server.asked} == {told.value.idempotency_key}


async def test_other_writes_are_made_once(clients: Clients) -> None:
    for fault, error in (
        (HANG_UP, ConnectionFailed),
        (refused(503), ServerFailed),
        (refused(429), RateLimited),
    ):
        async with ScriptedServer([fault]) as server:
            with pytest.raises(error):
                await clients.ask(server.url, write)
            assert len(server.asked) == 1 and "idempotency-key" not in server.asked[0].headers


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 410, 413, 422, 500])
async def test_what_would_be_refused_again_is_not_asked_again(clients: Clients, status: int) -> None:
    async with ScriptedServer([refused(status)]) as server:
        with pytest.raises(ApiError):
            await clients.ask(server.url, send)
        assert len(server.asked) == 1


async def test_retry_after_is_obeyed(clients: Clients) -> None:
    async with ScriptedServer(
        [refused(429, Retry_After="7"), refused(503, Retry_After="20"), SENT]
    ) as server:
        await clients.ask(server.url, send)
    first, second = clients.pauses
    assert 7 <= first <= 7.7 and 20 <= second <= 22, "not before it, and not all clients at once"


async def test_a_long_retry_after_is_for_the_caller(clients: Clients) -> None:
    async with ScriptedServer([refused(429, Retry_After="3600")]) as server:
        with pytest.raises(RateLimited) as told:
            await clients.ask(server.url, send)
        assert (told.value.retry_after, len(server.asked), clients.pauses) == (3600, 1, [])


async def test_nobody_is_there(clients: Clients) -> None:
    port = free_port()
    with pytest.raises(ConnectionFailed) as told:
        await clients.ask(f"http://127.0.0.1:{port}", send)
    assert len(clients.pauses) == 2 and f"http://127.0.0.1:{port} " in str(told.value)
    assert told.value.idempotency_key and not isinstance(told.value, TimedOut)


async def test_no_answer_in_time(clients: Clients) -> None:
    async with ScriptedServer([SILENCE]) as server:
        with pytest.raises(TimedOut) as told:
            await clients.ask(server.url, send, timeout=0.05, max_retries=1)
        assert [one.headers["idempotency-key"] for one in server.asked] == [told.value.idempotency_key] * 2


@pytest.mark.parametrize(("wait_s", "timeout_s"), [(None, 30), (UNSET, 35), (0, 30), (25, 35), (55, 65)])
def test_waits_take_their_own_time_and_more(wait_s: Any, timeout_s: float) -> None:
    call = Call("GET", "/v1/messages/wait", wait_s=wait_s)
    assert call.timeout_s(Options("http://a.test")) == timeout_s
    assert call.timeout_s(Options("http://a.test", timeout_s=100)) == 100


async def test_an_answer_that_gets_on_is_not_late(clients: Clients) -> None:
    async with ScriptedServer([Dripped(MESSAGE)]) as server:
        assert await clients.ask(server.url, read, timeout=1, max_retries=0) == {"id": "msg_1"}


@pytest.mark.parametrize(
    ("octets", "read_s", "write_s"), [(1_000_000, 280, 280), (20_000_000, 1078.576, 5030)]
)
def test_a_long_body_has_time_to_leave(octets: int, read_s: float, write_s: float) -> None:
    """A file of 20 MB on a line of 40 kbit/s needs more than an hour, most of which is over once it is written."""
    call = Call("POST", "/v1/messages/send", body={"text": "x" * (octets - len('{"text":""}'))})
    request = httpx2.AsyncClient().build_request(**call.request(Key(KEY), Options("http://a.test")))
    assert request.extensions["timeout"] == {"connect": 30, "read": read_s, "write": write_s, "pool": 30}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("0", 0),
        ("17", 17),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("soon", None),
        ("-1", None),
        ("Mon, 01 Jan 99999999999999 00:00:00 GMT", None),
        ("²", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, told: float | None) -> None:
    assert seconds(header) == told


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "family"),
    [
        (400, "validation_failed", InvalidRequest), (413, "payload_too_large", InvalidRequest),
        (422, "recipient_suppressed", InvalidRequest), (401, "invalid_api_key", AuthenticationFailed),
        (402, "limit_reached", QuotaExceeded), (403, "insufficient_scope", PermissionDenied),
        (404, "message_not_found", NotFound), (410, "event_not_kept", NotFound), (409, "not_held", Conflict),
        (409, "thread_advanced", ThreadAdvanced), (409, "claim_lost", ClaimLost),
        (429, "domain_daily_cap_reached", RateLimited), (500, "internal_error", ServerFailed),
        (418, "brand_new", InvalidRequest), (599, "brand_new", ServerFailed),
    ],
)  # fmt: skip
async def test_each_error_has_its_family(
    clients: Clients, status: int, code: str, family: type[ApiError]
) -> None:
    told = refused(status, code, details={"more": 1}, Retry_After="90")
    async with ScriptedServer([told]) as server:
        with pytest.raises(ApiError) as error:
            await clients.ask(server.url, read)
    found = error.value
    assert type(found) is family
    assert (found.code, found.status, found.details) == (code, status, {"more": 1})
    assert (found.request_id, found.retry_after, found.message) == ("req_1", 90, "It is not so.")
    assert str(found) == f"{code} ({status}, request req_1): It is not so. · more: 1"


@pytest.mark.parametrize("status", [400, 409, 429, 503])
async def test_an_error_is_whole_in_another_process(clients: Clients, status: int) -> None:
    """A pool of processes waits for ever for an error that can't be read there."""
    faults = {"fields": [{"path": "to[0]", "code": "invalid_email", "message": "Expected an address"}]}
    async with ScriptedServer(
        [refused(status, "validation_failed", details=faults, Retry_After="90")]
    ) as server:
        with pytest.raises(ApiError) as error:
            await clients.ask(server.url, send, max_retries=0)
    for copied in (pickle.loads(pickle.dumps(error.value)), copy.copy(error.value)):
        assert type(copied) is type(error.value) and copied.args == error.value.args
        assert str(copied) == str(error.value) and vars(copied) == vars(error.value)


async def test_a_log_tells_what_the_message_refers_to(clients: Clients) -> None:
    """All that `logging.exception` leaves of "'details.reason' says why", but for words of others (`newer`)."""
    details = {
        "address": "ada@x.test", "reason": "participants", "ruleId": None, "sent": False, "newer": [{"snippet": "Hi"}],
    }  # fmt: skip
    async with ScriptedServer([refused(403, "recipient_not_allowed", details=details)]) as server:
        with pytest.raises(ApiError) as error:
            await clients.ask(server.url, send)
    assert str(error.value).endswith(
        "It is not so. · address: ada@x.test · reason: participants · sent: False"
    )


async def test_faults_of_a_request_are_said(clients: Clients) -> None:
    fault = {"path": "to[0]", "code": "invalid_email", "message": "This is no address"}
    async with ScriptedServer([refused(400, "validation_failed", details={"fields": [fault]})]) as server:
        with pytest.raises(InvalidRequest) as error:
            await clients.ask(server.url, send)
    assert error.value.fields == [fault] and "to[0]: This is no address" in str(error.value)
    whole = {"path": "", "code": "required", "message": "Give at least one field to change"}
    async with ScriptedServer([refused(400, "validation_failed", details={"fields": [whole]})]) as server:
        with pytest.raises(InvalidRequest, match="· Give at least one field"):
            await clients.ask(server.url, send)


@pytest.mark.parametrize("faults", [["to"], [{"field": "to"}], {"to": "no"}, 5])
async def test_faults_that_somebody_else_says_are_none_of_ours(clients: Clients, faults: Any) -> None:
    async with ScriptedServer([refused(422, "validation_failed", details={"fields": faults})]) as server:
        with pytest.raises(InvalidRequest, match="It is not so") as error:
            await clients.ask(server.url, send)
    assert error.value.fields == [] and error.value.details == {"fields": faults}


@pytest.mark.parametrize(
    "strange",
    [
        answer(200, None, b"<html>"),
        answer(200, None, b""),
        answer(200, None, b"[" * 200_000),
        answer(500, [1]),
        answer(404, {"error": "no"}),
    ],
)
async def test_what_is_no_maild_is_said_to_be_none(clients: Clients, strange: bytes) -> None:
    async with ScriptedServer([strange]) as server:
        with pytest.raises(ApiError) as error:
            await clients.ask(server.url, read, max_retries=0)
    assert error.value.code == "unexpected_answer" and "MAILD_URL" in str(error.value)


async def test_not_modified(clients: Clients) -> None:
    async with ScriptedServer([b'HTTP/1.1 304 -\r\nETag: "a"\r\n\r\n']) as server:
        with pytest.raises(NotModified):
            await clients.ask(server.url, lambda client: client.threads.context("thd_1", if_none_match='"a"'))
        assert server.asked[0].headers["if-none-match"] == '"a"'


# The key ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_key_follows_no_redirect(clients: Clients, status: int) -> None:
    async with (
        ScriptedServer([MESSAGE]) as other,
        ScriptedServer([answer(status, Location=other.url)]) as server,
    ):
        with pytest.raises(ServerFailed, match="redirects are not followed"):
            await clients.ask(server.url, read)
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            with httpx2.Client(follow_redirects=True) as plain, pytest.raises(ServerFailed):
                await clients.ask(server.url, read, http_client=http if clients.is_async else plain)
        assert (len(server.asked), other.asked) == (2, [])
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


async def test_the_key_goes_in_the_clear_through_no_proxy_of_the_environment(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedServer([MESSAGE]) as proxy, ScriptedServer([MESSAGE]) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await clients.ask(server.url, read)
        assert (len(server.asked), proxy.asked) == (1, [])


@pytest.mark.parametrize("fault", [HANG_UP, SILENCE, refused(500), refused(400), answer(302, Location="/")])
async def test_the_key_stands_in_no_log_or_error(
    clients: Clients, fault: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with ScriptedServer([fault]) as server:
        with pytest.raises(maild_client.MaildError) as error:
            await clients.ask(server.url, send, timeout=0.05)
    told = traceback.TracebackException.from_exception(error.value, capture_locals=True)
    ours = [frame for frame in told.stack if "/tests/" not in frame.filename]  # those of the server have it
    said = "".join(traceback.StackSummary.from_list(ours).format()) + caplog.text
    said += "".join(told.format_exception_only()) + repr(error.value) + repr(vars(error.value))
    assert "/v1/messages/send" in said and "request = <Request" in said
    assert KEY not in said


@pytest.mark.parametrize("client", [Maild(KEY, "http://a.test"), AsyncMaild(KEY, "http://a.test")])
def test_the_key_stands_in_no_representation(client: Any) -> None:
    seen = [client, client._transport, client._transport._key, client.messages, client._transport.options]
    assert KEY not in repr(seen) + repr([vars(one) for one in seen if hasattr(one, "__dict__")])


@pytest.mark.parametrize("key", [KEY + "\nX: 1", KEY + " more", KEY + "é", KEY + "\0", " "])
def test_a_key_that_can_not_be_is_not_quoted(key: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        Maild(key, "http://a.test")
    assert KEY not in str(error.value)


async def test_a_key_from_a_file_may_end_its_line(clients: Clients) -> None:
    async with ScriptedServer([MESSAGE]) as server:
        await clients.ask(server.url + "/", read, key=KEY + "\n")
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.asked[0].path == "/v1/messages/msg_1"


async def test_an_address_from_a_file_may_end_its_line(clients: Clients) -> None:
    async with ScriptedServer([MESSAGE]) as server:
        await clients.ask(f" {server.url}/\n", read)
        assert server.asked[0].path == "/v1/messages/msg_1"


@pytest.mark.parametrize("key", ["a\nb", "a\x7f", "é"])
async def test_an_idempotency_key_that_can_not_be_is_told_before_anything_is_sent(
    clients: Clients, key: str
) -> None:
    async with ScriptedServer([MESSAGE]) as server:
        with pytest.raises(ValueError, match="Idempotency-Key"):
            await clients.ask(
                server.url,
                lambda client: client.messages.send(
                    inbox_id="inb_1", to=["ada@example.com"], idempotency_key=key
                ),
            )
        assert not server.asked


async def test_public_calls_go_without_it(clients: Clients) -> None:
    async with ScriptedServer([answer(200, {"status": "healthy"})]) as server:
        assert await clients.ask(server.url, lambda client: client.health.get()) == {"status": "healthy"}
        assert "authorization" not in server.asked[0].headers


def test_where_key_and_address_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAILD_API_KEY", raising=False)
    monkeypatch.setenv("MAILD_URL", "http://env.test")
    with pytest.raises(ConfigurationError, match="MAILD_API_KEY"):
        Maild()
    monkeypatch.setenv("MAILD_API_KEY", KEY)
    assert repr(Maild()) == "Maild('http://env.test')"
    assert repr(AsyncMaild(url="https://given.test")) == "AsyncMaild('https://given.test')"
    monkeypatch.delenv("MAILD_URL")
    with pytest.raises(ConfigurationError, match="MAILD_URL"):
        Maild()


@pytest.mark.parametrize(
    "url",
    [
        "mail.test",
        "ftp://a.test",
        "http://",
        "http://me:pw@a.test",
        "http://a.test?x=1",
        "http://a:x",
        "http://[a",
        "http://a.test/a b",
        "http://a.test/\x7f",
    ],
)
def test_an_address_that_can_not_be(url: str) -> None:
    with pytest.raises(ConfigurationError, match="https://host"):
        Maild(KEY, url)


@pytest.mark.parametrize("client", [Maild, AsyncMaild])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
        ("SSL_CERT_FILE", os.devnull),
        ("all_proxy", "socks://user:secret@127.0.0.1:9/"),
        ("HTTPS_PROXY", "socks5://user:secret@127.0.0.1:9"),
        ("https_proxy", "http://user:secret@127.0.0.1:port"),
    ],
)
def test_an_environment_that_can_not_be(
    client: Callable[..., Any], name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=rf"^{name} of the environment can't be used: ") as error:
        client(KEY, "https://a.test")
    assert "secret" not in str(error.value)


# What goes out, what comes in ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "path", "body"),
    [
        (lambda c: c.messages.list(from_="a@b.test", labels=["a", "b"], unread=True, limit=5).page(),
         "/v1/messages?limit=5&from=a%40b.test&labels=a%2Cb&unread=true", None),
        (lambda c: c.messages.get("msg_1/../x?y#z"), "/v1/messages/msg_1%2F..%2Fx%3Fy%23z", None),
        (lambda c: c.inboxes.update("inb_1", name=None), "/v1/inboxes/inb_1", {"name": None}),
        (lambda c: c.claims.release("clm_1"), "/v1/claims/clm_1/release", {}),
        (lambda c: c.messages.forward("msg_1", to=["a@b.test"], as_="eml"), "/v1/messages/msg_1/forward",
         {"to": ["a@b.test"], "as": "eml"}),
        (lambda c: c.messages.list(inbox_id=None).page(), "/v1/messages", None),
    ],
)  # fmt: skip
async def test_names_and_values_of_the_wire(
    clients: Clients, ask: Callable[[Any], Any], path: str, body: Any
) -> None:
    async with ScriptedServer([answer(200, {"data": []})]) as server:
        await clients.ask(server.url, ask)
        (asked,) = server.asked
    assert (asked.path, asked.json if asked.body else None) == (path, body)


@pytest.mark.parametrize(
    ("text", "octets"),
    [("Grüße 👋", "Grüße 👋".encode()), ("Gr\u00fc\u00dfe \ud83d", rb"Gr\u00fc\u00dfe \ud83d")],
    ids=["whole", "cut"],
)
async def test_half_a_character_is_for_the_server_to_refuse(
    clients: Clients, text: str, octets: bytes
) -> None:
    """What a model writes can end within an emoji, and comes out of its JSON so."""
    refusal = refused(400, "validation_failed")
    async with ScriptedServer([refusal]) as server:
        with pytest.raises(InvalidRequest):
            await clients.ask(server.url, lambda c: c.messages.reply("msg_1", text=text))
        (asked,) = server.asked
    assert asked.json == {"text": text} and octets in asked.body
    assert asked.headers["content-type"] == "application/json"


async def test_what_is_new_is_there(clients: Clients) -> None:
    new = {"id": "msg_1", "status": "teleported", "mood": {"is": "good"}}
    async with ScriptedServer([answer(200, {"data": new, "more": 1})]) as server:
        assert await clients.ask(server.url, read) == new


async def test_pages_follow_the_cursor_to_the_empty_one(clients: Clients) -> None:
    pages = [[{"id": "a"}, {"id": "b"}], [{"id": "c"}], []]
    async with ScriptedServer([answer(200, {"data": page}) for page in pages]) as server:

        async def walked(client: AsyncMaild) -> list[str]:
            return [one["id"] async for one in client.messages.list(limit=2, inbox_id="inb_1")]

        def walked_plainly(client: Maild) -> list[str]:
            return [one["id"] for one in client.messages.list(limit=2, inbox_id="inb_1")]

        assert await clients.ask(server.url, walked if clients.is_async else walked_plainly) == [
            "a",
            "b",
            "c",
        ]
        assert [one.path for one in server.asked] == [
            "/v1/messages?inboxId=inb_1&limit=2" + more for more in ("", "&cursor=b", "&cursor=c")
        ]


async def test_a_thread_that_moves_leaves_the_position_where_it_was(clients: Clients) -> None:
    page = [{"id": "thd_1", "lastMessageAt": "2026-11-21T08:00:00.000Z"}]
    async with ScriptedServer([answer(200, {"data": one}) for one in (page, [])]) as server:

        async def walked(client: AsyncMaild) -> int:
            return len([one async for one in client.threads.list()])

        assert (
            await clients.ask(
                server.url, walked if clients.is_async else lambda client: len(list(client.threads.list()))
            )
            == 1
        )
        assert [one.path for one in server.asked][1:] == [
            "/v1/threads?cursor=thd_1%402026-11-21T08%3A00%3A00.000Z"
        ]


async def test_the_answer_itself(clients: Clients) -> None:
    async with ScriptedServer([answer(200, {"data": {"id": "msg_1"}}, X_RateLimit_Remaining="7")]) as server:
        told = await clients.ask(
            server.url, lambda client: client.with_response(client.messages.get, "msg_1")
        )
    assert (told.data, told.status, told.request_id) == ({"id": "msg_1"}, 200, "req_1")
    assert told.headers["X-RateLimit-Remaining"] == "7"


async def test_the_answer_of_a_page(clients: Clients) -> None:
    async with ScriptedServer(
        [answer(200, {"data": [{"id": "msg_1"}]}, X_RateLimit_Remaining="7")]
    ) as server:
        told = await clients.ask(
            server.url, lambda client: client.with_response(client.messages.list(limit=1).page)
        )
    assert (told.data, told.status) == ([{"id": "msg_1"}], 200)
    assert told.headers["X-RateLimit-Remaining"] == "7"


async def test_other_options_for_some_calls(clients: Clients) -> None:
    async with ScriptedServer([refused(503)]) as server:
        with pytest.raises(ServerFailed):
            await clients.ask(server.url, lambda client: read(client.with_options(max_retries=0, timeout=1)))
        assert len(server.asked) == 1


async def test_a_client_of_yours_is_yours_to_close() -> None:
    async with httpx2.AsyncClient() as http:
        async with AsyncMaild(KEY, "http://a.test", http_client=http):
            pass
        assert not http.is_closed
    with httpx2.Client() as plain:
        with Maild(KEY, "http://a.test", http_client=plain):
            pass
        assert not plain.is_closed
