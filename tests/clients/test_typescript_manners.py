"""How the TypeScript client behaves beside a server that fails by script: as the Python ones do."""

from typing import Any

import pytest

from tests.clients.typescript_world import Driver, Refused
from tests.clients.worlds import (
    HANG_UP,
    KEY,
    MESSAGE,
    PASSING,
    SENT,
    SILENCE,
    Dripped,
    ScriptedServer,
    answer,
    refused,
)
from tests.support.machine import tools
from tests.support.machine.ports import free_port

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

NONE: dict[str, Any] = {}
READ = "return client.messages.get('msg_1')"
SEND = "return client.messages.send({ inboxId: 'inb_1', to: ['ada@example.com'], text: 'once' })"
# The seconds of the client's time-outs, of one call.
TIMES = """
    const usual = globalThis.setTimeout, set = [];
    globalThis.setTimeout = (act, ms, ...more) => {
        if (/maild-client/.test(new Error().stack)) set.push(ms / 1000);
        return usual(act, ms, ...more);
    };
    try { await CALL; } finally { globalThis.setTimeout = usual; }
    return set;
"""
WRITE = "return client.agents.create({ name: 'one' })"


async def test_many_calls_may_have_one_signal(driver: Driver) -> None:
    """Node warns of more than ten listeners on one, as of a leak."""
    body = """
        const warnings = [], warned = (warning) => warnings.push(String(warning)), stop = new AbortController();
        process.on("warning", warned);
        const calls = Array.from({ length: 30 }, () => client.messages.get("msg_1", {}, { signal: stop.signal }));
        if (given) stop.abort(new Error("enough"));
        const ended = await Promise.allSettled(calls);
        await new Promise(setImmediate);
        process.off("warning", warned);
        return [warnings, [...new Set(ended.map((one) => one.reason?.message ?? one.value.id))]];
    """
    async with ScriptedServer([MESSAGE]) as server:
        assert await driver.ask(server.url, body, False) == [[], ["msg_1"]]
        assert await driver.ask(server.url, body, True) == [[], ["enough"]]


# Again --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", PASSING)
async def test_a_read_is_tried_twice_more(driver: Driver, fault: bytes) -> None:
    async with ScriptedServer([fault, fault, MESSAGE]) as server:
        assert await driver.ask(server.url, READ) == {"id": "msg_1"}
        assert [one.path for one in server.asked] == ["/v1/messages/msg_1"] * 3
    assert len(driver.pauses) == 2 and all(0.25 <= one <= 1 for one in driver.pauses)


async def test_and_then_no_more(driver: Driver) -> None:
    async with ScriptedServer([refused(503)]) as server:
        for body, options in (
            (READ, NONE),
            (READ, {"maxRetries": 0}),
            (READ.replace(")", ", {}, { maxRetries: 1 })"), NONE),
        ):
            with pytest.raises(Refused, match="ServerFailed"):
                await driver.ask(server.url, body, **options)
        assert len(server.asked) == 3 + 1 + 2


async def test_a_send_that_is_repeated_is_the_same_send(driver: Driver) -> None:
    async with ScriptedServer([HANG_UP, refused(502), SENT]) as server:
        assert await driver.ask(server.url, SEND) == {"id": "msg_1"}
        assert len({one.headers["idempotency-key"] for one in server.asked}) == 1
        assert len({one.body for one in server.asked}) == 1 and len(server.asked) == 3
        await driver.ask(server.url, SEND)
        assert server.asked[3].headers["idempotency-key"] != server.asked[0].headers["idempotency-key"]
        await driver.ask(server.url, SEND.replace("})", "}, { idempotencyKey: 'mine' })"))
        assert server.asked[4].headers["idempotency-key"] == "mine"


@pytest.mark.parametrize("lost", [refused(504), answer(502, None, b"<html>"), answer(200, None, b"<html>")])
async def test_a_send_whose_answer_a_proxy_lost_names_its_key(driver: Driver, lost: bytes) -> None:
    async with ScriptedServer([lost]) as server:
        with pytest.raises(Refused, match="ServerFailed") as error:
            await driver.ask(server.url, SEND)
        assert {one.headers["idempotency-key"] for one in server.asked} == {
            error.value.told["idempotencyKey"]
        }


async def test_other_writes_are_made_once(driver: Driver) -> None:
    for fault, family in (
        (HANG_UP, "ConnectionFailed"),
        (refused(503), "ServerFailed"),
        (refused(429), "RateLimited"),
    ):
        async with ScriptedServer([fault]) as server:
            with pytest.raises(Refused, match=family):
                await driver.ask(server.url, WRITE)
            assert len(server.asked) == 1 and "idempotency-key" not in server.asked[0].headers


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 410, 413, 422, 500])
async def test_what_would_be_refused_again_is_not_asked_again(driver: Driver, status: int) -> None:
    async with ScriptedServer([refused(status)]) as server:
        with pytest.raises(Refused) as told:
            await driver.ask(server.url, SEND)
        assert "ApiError" in told.value.families and len(server.asked) == 1


async def test_retry_after_is_obeyed(driver: Driver) -> None:
    async with ScriptedServer(
        [refused(429, Retry_After="7"), refused(503, Retry_After="20"), SENT]
    ) as server:
        await driver.ask(server.url, SEND)
    first, second = driver.pauses
    assert 7 <= first <= 7.7 and 20 <= second <= 22, "not before it, and not all clients at once"


@pytest.mark.parametrize(
    ("header", "told"), [("3600", 3600), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", None), ("-1", None)]
)
async def test_retry_after_is_seconds_or_a_date(driver: Driver, header: str, told: float | None) -> None:
    async with ScriptedServer([refused(429, Retry_After=header)]) as server:
        with pytest.raises(Refused) as error:
            await driver.ask(server.url, SEND)
        assert error.value.told.get("retryAfter") == told
        # A long one is for the caller to decide about.
        assert len(server.asked) == (1 if told == 3600 else 3)


async def test_nobody_is_there(driver: Driver) -> None:
    port = free_port()
    with pytest.raises(Refused, match=rf"ConnectionFailed.*127\.0\.0\.1:{port} .*ECONNREFUSED") as error:
        await driver.ask(f"http://127.0.0.1:{port}", SEND)
    assert len(driver.pauses) == 2 and len(driver.asked) == 3 and error.value.told["idempotencyKey"]


async def test_no_answer_in_time(driver: Driver) -> None:
    async with ScriptedServer([SILENCE]) as server:
        with pytest.raises(Refused) as error:
            await driver.ask(server.url, SEND, is_slow=True, timeoutMs=50, maxRetries=0)
        assert error.value.families[:2] == ["TimedOut", "ConnectionFailed"]
        assert [one.headers["idempotency-key"] for one in server.asked] == [
            error.value.told["idempotencyKey"]
        ]


@pytest.mark.parametrize("body", [READ, "return client.attachments.download('att_1')"])
async def test_an_answer_that_gets_on_is_not_late(driver: Driver, body: str) -> None:
    """As an attachment on a slow line: all of it takes longer than the time-out, no piece of it does."""
    async with ScriptedServer([Dripped(MESSAGE)]) as server:
        assert await driver.ask(server.url, body, is_slow=True, timeoutMs=1000, maxRetries=0)


@pytest.mark.parametrize(
    ("wait", "timeout_s"), [("{}", 35), ("{ timeoutSeconds: 0 }", 30), ("{ timeoutSeconds: 55 }", 65)]
)
async def test_waits_take_their_own_time_and_more(driver: Driver, wait: str, timeout_s: float) -> None:
    async with ScriptedServer([answer(200, {"data": {"message": None}})]) as server:
        body = TIMES.replace("CALL", f"client.messages.wait({wait})")
        assert await driver.ask(server.url, body) == [timeout_s]


async def test_a_long_body_has_time_to_leave(driver: Driver) -> None:
    """A file of 20 MB on a line of 40 kbit/s needs more than an hour."""
    body = TIMES.replace("CALL", "client.agents.create({ name: 'x'.repeat(1_000_000) })")
    async with ScriptedServer([MESSAGE]) as server:
        assert await driver.ask(server.url, body) == [30 + 250.002]  # its JSON has some octets more


async def test_a_signal_ends_a_call_and_its_pauses(driver: Driver) -> None:
    before = "return client.messages.get('msg_1', {}, { signal: AbortSignal.abort(new Error('enough')) })"
    within = """
        const stop = new AbortController();
        const asked = client.messages.get('msg_1', {}, { signal: stop.signal });
        setTimeout(() => stop.abort(new Error('enough')), 30_000 * given);
        return asked;
    """
    async with ScriptedServer([SILENCE]) as server:
        with pytest.raises(Refused, match="Error: enough"):
            await driver.ask(server.url, before)
        with pytest.raises(Refused, match="Error: enough"):
            await driver.ask(server.url, within, 0.001)
    async with ScriptedServer([refused(503, Retry_After="60")]) as server:  # a pause of a minute
        with pytest.raises(Refused, match="Error: enough"):
            await driver.ask(server.url, within, 0.003, is_slow=True)
        assert len(server.asked) == 1


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "family"),
    [
        (400, "validation_failed", "InvalidRequest"), (413, "payload_too_large", "InvalidRequest"),
        (422, "recipient_suppressed", "InvalidRequest"), (401, "invalid_api_key", "AuthenticationFailed"),
        (402, "limit_reached", "QuotaExceeded"), (403, "insufficient_scope", "PermissionDenied"),
        (404, "message_not_found", "NotFound"), (410, "event_not_kept", "NotFound"), (409, "not_held", "Conflict"),
        (409, "thread_advanced", "ThreadAdvanced"), (409, "claim_lost", "ClaimLost"),
        (429, "domain_daily_cap_reached", "RateLimited"), (500, "internal_error", "ServerFailed"),
        (418, "brand_new", "InvalidRequest"), (599, "brand_new", "ServerFailed"), (400, "toString", "InvalidRequest"),
    ],
)  # fmt: skip
async def test_each_error_has_its_family(driver: Driver, status: int, code: str, family: str) -> None:
    details = {"more": 1, "newer": [{"id": "msg_2"}], "lastMessageId": "msg_2"}
    async with ScriptedServer([refused(status, code, details=details, Retry_After="90")]) as server:
        with pytest.raises(Refused) as error:
            await driver.ask(server.url, READ)
    told = error.value.told
    assert told["families"][0] == told["name"] == family
    assert (told["code"], told["status"], told["details"]) == (code, status, details)
    assert (told["requestId"], told["retryAfter"]) == ("req_1", 90)
    assert told["message"] == f"{code} ({status}, request req_1): It is not so."
    assert (told.get("newer"), told.get("lastMessageId")) == (
        ([{"id": "msg_2"}], "msg_2") if code == "thread_advanced" else (None, None)
    )


async def test_an_error_is_whole_in_json_and_whatever_its_class_is_called(driver: Driver) -> None:
    """As loggers write it; and as bundlers leave it, which shorten the names of classes."""
    told = "const told = async (asked) => JSON.parse(JSON.stringify(await asked.catch((error) => error)));"
    both = f"{told} return [await told(client.messages.get('msg_1')), await told(client.messages.get(5))]"
    async with ScriptedServer([refused(404, "message_not_found")]) as server:
        refusal, mistake = await driver.ask(server.url, both)
    message = "message_not_found (404, request req_1): It is not so."
    assert refusal == {"name": "NotFound", "message": message, "code": "message_not_found", "status": 404,
                       "details": {}, "requestId": "req_1"}  # fmt: skip
    assert mistake == {"name": "InvalidArgument", "message": "messageId: 5 is no id"}
    shortened = "return new (class e extends maild.ConfigurationError {})('no key').toString()"
    assert await driver.ask("http://a.test", shortened) == "ConfigurationError: no key"
    named = "const error = new maild.MaildError('no'); error.name = 'Mine'; return String(error)"
    assert (
        await driver.ask("http://a.test", named) == "Mine: no"
    )  # as of every Error, by which programs name theirs


async def test_faults_of_a_request_are_said(driver: Driver) -> None:
    fault = {"path": "to[0]", "code": "invalid_email", "message": "This is no address"}
    async with ScriptedServer([refused(400, "validation_failed", details={"fields": [fault]})]) as server:
        with pytest.raises(Refused, match=r"to\[0\]: This is no address") as error:
            await driver.ask(server.url, SEND)
    assert error.value.told["fields"] == [fault]
    whole = {"path": "", "code": "required", "message": "Give at least one field to change"}
    async with ScriptedServer([refused(400, "validation_failed", details={"fields": [whole]})]) as server:
        with pytest.raises(Refused, match="· Give at least one field"):
            await driver.ask(server.url, SEND)


@pytest.mark.parametrize("faults", [["to"], [None], [{"field": "to"}], {"to": "no"}, 5])
async def test_faults_that_somebody_else_says_are_none_of_ours(driver: Driver, faults: Any) -> None:
    async with ScriptedServer([refused(422, "validation_failed", details={"fields": faults})]) as server:
        with pytest.raises(Refused, match=r"It is not so\.$") as error:
            await driver.ask(server.url, SEND)
    assert error.value.told["fields"] == [] and error.value.told["details"] == {"fields": faults}


@pytest.mark.parametrize(
    "strange",
    [answer(200, None, b"<html>"), answer(200, None, b""), answer(500, [1]), answer(404, {"error": "no"})],
)
async def test_what_is_no_maild_is_said_to_be_none(driver: Driver, strange: bytes) -> None:
    async with ScriptedServer([strange]) as server:
        with pytest.raises(Refused, match="is the address right") as error:
            await driver.ask(server.url, READ)
    assert error.value.told["code"] == "unexpected_answer"


async def test_not_modified(driver: Driver) -> None:
    async with ScriptedServer([b'HTTP/1.1 304 -\r\nETag: "a"\r\n\r\n']) as server:
        with pytest.raises(Refused, match="NotModified"):
            await driver.ask(
                server.url, """return client.threads.context('thd_1', { ifNoneMatch: '"a"', maxTokens: 9 })"""
            )
        assert server.asked[0].headers["if-none-match"] == '"a"'
        assert server.asked[0].path == "/v1/threads/thd_1/context?maxTokens=9"


# The key ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_key_follows_no_redirect(driver: Driver, status: int) -> None:
    async with (
        ScriptedServer([MESSAGE]) as other,
        ScriptedServer([answer(status, Location=other.url)]) as server,
    ):
        with pytest.raises(Refused, match=r"ServerFailed.*redirects are not followed"):
            await driver.ask(server.url, READ)
        assert (len(server.asked), other.asked) == (1, [])
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("fault", [HANG_UP, SILENCE, refused(500), refused(400), answer(302, Location="/")])
async def test_the_key_stands_in_no_error(driver: Driver, fault: bytes) -> None:
    async with ScriptedServer([fault]) as server:
        with pytest.raises(Refused) as error:
            await driver.ask(server.url, SEND, is_slow=True, timeoutMs=50, maxRetries=0)
    assert error.value.told["name"] in error.value.told["shown"]
    assert KEY not in error.value.told["shown"]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("new TypeError('Failed to fetch')", "Failed to fetch"),  # a browser
        (
            "new TypeError('fetch failed', { cause: new Error('tcp connect error') })",
            "tcp connect error",
        ),  # Deno
        ("new TypeError('fetch failed', { cause: { code: 'ECONNRESET', message: 'reset' } })", "ECONNRESET"),
        (f"new Error('Bearer {KEY} to /health')", "Error"),
        ("new Error('no connection for /v1/unsubscribe?token=secret')", "Error"),
        ("null", "no reason"),
    ],
)
async def test_why_no_answer_came_is_said_without_secrets(driver: Driver, fault: str, told: str) -> None:
    broken = f"fetch: async () => {{ throw {fault}; }}, apiKey: '{KEY}', url: 'http://a.test', maxRetries: 0"
    with pytest.raises(Refused, match="ConnectionFailed") as error:
        await driver.ask(
            "http://a.test", f"return new maild.Maild({{ {broken} }}).unsubscribe.page({{ token: 'secret' }})"
        )
    assert error.value.told["message"] == f"no answer from http://a.test to GET /v1/unsubscribe: {told}"


async def test_the_key_stands_in_no_representation(driver: Driver) -> None:
    shown = """
        const call = client.health.get();
        const whole = await call.withResponse();
        const seen = [client, client.messages, client.events.stream(), call, whole];
        const told = (one) => inspect(one, { depth: 20, showHidden: true });
        return seen.map((one) => told(one) + JSON.stringify(one)).join() + told(client.messages.list());
    """
    async with ScriptedServer([answer(200, {"status": "healthy"})]) as server:
        told = await driver.ask(server.url, shown)
    assert "MessagesResource" in told and KEY not in told


@pytest.mark.parametrize("key", [KEY + "\nX: 1", KEY + " more", KEY + "é", KEY + "\0", " ", ""])
async def test_a_key_that_can_not_be_is_not_quoted(driver: Driver, key: str) -> None:
    with pytest.raises(Refused, match="ConfigurationError") as error:
        await driver.ask("http://a.test", READ, key=key)
    assert KEY not in error.value.told["shown"]


async def test_a_key_from_a_file_may_end_its_line(driver: Driver) -> None:
    async with ScriptedServer([MESSAGE]) as server:
        await driver.ask(server.url + "/", READ, key=KEY + "\n")
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.asked[0].path == "/v1/messages/msg_1"


async def test_public_calls_go_without_it(driver: Driver) -> None:
    async with ScriptedServer([answer(200, {"status": "healthy"})]) as server:
        assert await driver.ask(server.url, "return client.health.get()") == {"status": "healthy"}
        assert "authorization" not in server.asked[0].headers


async def test_where_key_and_address_come_from(driver: Driver) -> None:
    made = """
        const why = [];
        for (const env of given) {
            Object.assign(process.env, env);
            try { new maild.Maild(); why.push(null); }
            catch (error) { why.push(error.name + error.message.slice(0, 18)); }
        }
        for (const name of ["MAILD_API_KEY", "MAILD_URL"]) delete process.env[name];
        return why;
    """
    told = await driver.ask(
        "http://a.test", made, [{}, {"MAILD_API_KEY": KEY}, {"MAILD_URL": "http://env.test"}]
    )
    assert told == ["ConfigurationErrorset MAILD_API_KEY,", "ConfigurationErrorset MAILD_URL to t", None]


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
    ],
)
async def test_an_address_that_can_not_be(driver: Driver, url: str) -> None:
    with pytest.raises(Refused, match=r"ConfigurationError.*https://host"):
        await driver.ask(url, READ)


# What goes out, what comes in ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "path", "body"),
    [
        ("client.messages.list({ from: 'a@b.test', labels: ['a', 'b'], unread: true, limit: 5 }).page()",
         "/v1/messages?from=a%40b.test&labels=a%2Cb&unread=true&limit=5", None),
        ("client.messages.get('msg_1/../x?y#z')", "/v1/messages/msg_1%2F..%2Fx%3Fy%23z", None),
        ("client.inboxes.update('inb_1', { name: null })", "/v1/inboxes/inb_1", {"name": None}),
        ("client.claims.release('clm_1')", "/v1/claims/clm_1/release", {}),
        ("client.messages.forward('msg_1', { to: ['a@b.test'], as: 'eml' })", "/v1/messages/msg_1/forward",
         {"to": ["a@b.test"], "as": "eml"}),
        ("client.messages.list({ inboxId: undefined }).page()", "/v1/messages", None),
    ],
)  # fmt: skip
async def test_names_and_values_of_the_wire(driver: Driver, ask: str, path: str, body: Any) -> None:
    async with ScriptedServer([answer(200, {"data": []})]) as server:
        await driver.ask(server.url, f"return {ask}")
        (asked,) = server.asked
    assert (asked.path, asked.json if asked.body else None) == (path, body)


@pytest.mark.parametrize("id", ["", ".", "..", None])
async def test_what_is_no_id_is_asked_for_nowhere(driver: Driver, id: str | None) -> None:
    with pytest.raises(Refused, match=r"InvalidArgument.* is no id"):
        await driver.ask("http://a.test", "return client.messages.delete(given)", id)
    assert driver.asked == []


async def test_what_is_new_is_there(driver: Driver) -> None:
    new = {"id": "msg_1", "status": "teleported", "mood": {"is": "good"}}
    async with ScriptedServer([answer(200, {"data": new, "more": 1})]) as server:
        assert await driver.ask(server.url, READ) == new


async def test_pages_follow_the_cursor_to_the_empty_one(driver: Driver) -> None:
    walked = """
        const found = [];
        for await (const one of client[given].list({ limit: 2, inboxId: 'inb_1' })) found.push(one.id);
        return found;
    """
    items = [{"id": id, "lastMessageAt": "2026-11-02T00:00:00.000Z"} for id in "abc"]
    for resource, behind in (("messages", ""), ("threads", "%402026-11-02T00%3A00%3A00.000Z")):
        async with ScriptedServer(
            [answer(200, {"data": page}) for page in (items[:2], items[2:], [])]
        ) as server:
            assert await driver.ask(server.url, walked, resource) == ["a", "b", "c"]
            assert [one.path for one in server.asked] == [
                f"/v1/{resource}?limit=2&inboxId=inb_1" + more
                for more in ("", f"&cursor=b{behind}", f"&cursor=c{behind}")
            ]


async def test_the_answer_itself(driver: Driver) -> None:
    whole = "const { headers, ...more } = await client.messages.get('msg_1').withResponse();"
    async with ScriptedServer(
        [
            answer(200, {"data": {"id": "msg_1"}}, X_RateLimit_Remaining="7", Idempotent_Replayed="true"),
            refused(404),
        ]
    ) as server:
        told = await driver.ask(
            server.url, whole + "return { ...more, left: headers.get('X-RateLimit-Remaining') }"
        )
        with pytest.raises(
            Refused, match="NotFound"
        ):  # and no rejection besides, which would end the process
            await driver.ask(server.url, whole)
        assert await driver.ask("http://a.test", "return 1") == 1
    assert told == {
        "data": {"id": "msg_1"},
        "status": 200,
        "requestId": "req_1",
        "isReplay": True,
        "left": "7",
    }
