"""What a caller of the TypeScript client gives by mistake is told with its name, before anything is sent, and never
read as something else: programs in JavaScript have no compiler that says so."""

import base64
from typing import Any

import pytest

from scripts import client_names
from scripts.client_typescript import CLIENT
from tests.clients.typescript_world import Driver, Refused
from tests.clients.worlds import KEY, SENT, ScriptedServer, answer, refused
from tests.support.machine import tools

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

SEND = "return client.messages.send({ inboxId: 'inb_1', to: ['ada@example.com'], MORE })"
GET = "return client.messages.get(ID)"
LIST = "return client.messages.list({ MORE }).page()"
CALL = "return client.messages.send({ inboxId: 'inb_1', to: ['ada@example.com'] }, OPTIONS)"
WORK = "return client.inboxes.work('inb_1', HANDLER, { handleSignals: false, signal: AbortSignal.timeout(9000), MORE })"
HEADERS = "{ 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }"


async def refused_here(driver: Driver, body: str, family: str = "InvalidArgument", **options: Any) -> str:
    """What it is told with; nothing was sent."""
    with pytest.raises(Refused) as error:
        await driver.ask("http://127.0.0.1:9", body, **options)
    assert (error.value.families or ["TypeError"])[0] == family and driver.asked == []
    return str(error.value)


@pytest.mark.parametrize(
    ("id", "told"),
    [
        ("undefined", "messageId: undefined is no id"),
        ("null", "null is no id"),
        ("0", "0 is no id"),
        ("{ id: 'msg_1' }", "a value of class Object is no id: give its 'id'"),
        ("''", '"" is no id'),
        ("' msg_1'", "is no id"),
        ("'msg_1\\n'", "is no id"),
        ("'\\ud800'", "is no id"),
        ("1n", "a bigint is no id"),
        ("'inb_1'", "messageId takes an id 'msg_…', and 'inb_1' is of another kind"),
        ("'ada@example.com'", "messageId takes an id 'msg_…', and 'ada@example.com' is none"),
    ],
)
async def test_what_is_no_id_is_asked_for_nowhere(driver: Driver, id: str, told: str) -> None:
    assert told in await refused_here(driver, GET.replace("ID", id))


async def test_what_is_wrong_is_told_by_the_promise(driver: Driver) -> None:
    """Among many calls that are begun at once, one that throws would have nobody hear of the others."""
    begun = ("messages.get()", "messages.reply(null)", "messages.wait(null)", "codes.claim('inb_1', null)",
             "threads.context(1)")  # fmt: skip
    calls = ", ".join(f"client.{one}" for one in begun)
    body = f"return (await Promise.allSettled([{calls}])).map((one) => one.reason.name)"
    told = await driver.ask("http://127.0.0.1:9", body)
    assert told == ["InvalidArgument"] * 5 and driver.asked == []


@pytest.mark.parametrize(
    "call",
    ["messages.list('inb_1').page()", "messages.list(25).page()", "messages.list(null).page()",
     "messages.wait('inb_1')", "messages.send()", "messages.send([{ inboxId: 'inb_1' }])",
     "messages.reply('msg_1', 'Thank you!')", "threads.context('thd_1', 4000)", "inboxes.create('billing')",
     "domains.register('acme.dev')"],
)  # fmt: skip
async def test_fields_are_given_by_name(driver: Driver, call: str) -> None:
    """Of a number as a budget nothing would be heard: it has no members."""
    assert "fields are given by name, in an object, not as" in await refused_here(
        driver, f"return client.{call}"
    )


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (
            "messages.send({ inboxId: 'inb_1', to: ['ada@example.com'], idempotencyKey: 'mine' })",
            "idempotencyKey",
        ),
        ("messages.get('msg_1', { signal: AbortSignal.timeout(9) })", "signal"),
        ("messages.wait({ inboxId: 'inb_1', timeoutMs: 5000 })", "timeoutMs"),
    ],
)
async def test_an_option_among_the_fields_is_told_where_it_goes(
    driver: Driver, call: str, option: str
) -> None:
    told = await refused_here(driver, f"return client.{call}")
    assert f"{option} is an option of the call: it goes behind the fields, in an object of its own" in told


@pytest.mark.parametrize(
    "read",
    ["JSON.stringify({ all: list })", "Array.from(list)", "[...list]", "for (const one of list);", "list.length",
     "const [first] = list", "const { data } = list", "Response.json(list)"],
)  # fmt: skip
async def test_a_list_does_not_look_empty_to_who_reads_it_as_an_array(driver: Driver, read: str) -> None:
    told = await refused_here(driver, f"const list = await client.inboxes.list(); {read}; return list.page()")
    assert "`for await (const one of list)`" in told and "`await list.page()`" in told


@pytest.mark.parametrize("id", ["''", "{ id: 'inb_1' }", "'thd_1'", "'bot@example.com'", "0"])
async def test_a_filter_that_is_no_id_does_not_pass_for_an_empty_list(driver: Driver, id: str) -> None:
    assert "inboxId" in await refused_here(driver, LIST.replace("MORE", f"inboxId: {id}"))


def test_the_prefixes_of_ids_are_those_of_the_generator() -> None:
    source = (CLIENT / "src" / "given.ts").read_text("utf-8")
    for name, prefix in client_names.ID_PREFIXES.items():
        assert f'  {name.removesuffix("_id")}: "{prefix}",\n' in source


@pytest.mark.parametrize("moment", ["new Date(0)", "{ toJSON: () => '1970-01-01T00:00:00.000Z' }"])
async def test_moments_may_be_dates(driver: Driver, moment: str) -> None:
    async with ScriptedServer([SENT, answer(200, {"data": []})]) as server:
        await driver.ask(server.url, SEND.replace("MORE", f"sendAt: {moment}"))
        assert server.asked[0].json["sendAt"] == "1970-01-01T00:00:00.000Z"
        await driver.ask(server.url, LIST.replace("MORE", f"since: {moment}"))
        assert server.asked[1].path == "/v1/messages?since=1970-01-01T00%3A00%3A00.000Z"


@pytest.mark.parametrize(
    "octets", ["new Uint8Array([0, 255])", "Buffer.from([0, 255])", "new Uint8Array([0, 255]).buffer"]
)
async def test_octets_of_an_attachment_are_written_as_base64(driver: Driver, octets: str) -> None:
    file = f"attachments: [{{ filename: 'a.bin', contentType: 'application/x-a', content: {octets} }}]"
    async with ScriptedServer([SENT]) as server:
        await driver.ask(server.url, SEND.replace("MORE", file))
        (asked,) = server.asked
    assert asked.json["attachments"] == [
        {"filename": "a.bin", "contentType": "application/x-a", "content": "AP8="}
    ]


async def test_octets_of_any_number_are_written(driver: Driver) -> None:
    octets = bytes(range(255, -1, -1))
    body = """
        const whole = new Uint8Array(given), file = (n) => ({ filename: 'a', content: whole.subarray(0, n) });
        const attachments = [...whole.keys()].map((n) => file(n + 1));
        return client.messages.send({ inboxId: 'inb_1', to: ['ada@example.com'], attachments });
    """
    async with ScriptedServer([SENT]) as server:
        await driver.ask(server.url, body, list(octets))
        written = [
            base64.b64decode(one["content"], validate=True) for one in server.asked[0].json["attachments"]
        ]
    assert written == [octets[:n] for n in range(1, 257)]


async def test_octets_are_written_wherever_an_attachment_is(driver: Driver) -> None:
    checked = (
        "{ reply: { messageId: 'msg_1', attachments: [{ filename: 'a', content: new Uint8Array([0]) }] } }"
    )
    async with ScriptedServer([answer(200, {"data": {}})]) as server:
        await driver.ask(server.url, f"return client.messages.check({checked})")
        assert server.asked[0].json["reply"]["attachments"] == [{"filename": "a", "content": "AA=="}]


async def test_an_empty_object_of_another_realm_is_one(driver: Driver) -> None:
    """As tests have it whose runner gives them globals of their own."""
    realm = "const vm = await import('node:vm');"
    async with ScriptedServer([answer(200, {"data": {}})]) as server:
        body = f"{realm} return client.inboxes.update('inb_1', {{ metadata: vm.runInNewContext('({{}})') }})"
        await driver.ask(server.url, body)
        assert server.asked[0].json == {"metadata": {}}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("sendAt: new Date(NaN)", "sendAt is no valid Date"),  # which JSON has as null: send it now
        ("text: NaN", "text can't be NaN"),
        ("text: () => 'Hello'", "text can't be a function"),
        ("text: Buffer.from('Hello')", "text can't be a value of class Buffer"),
        ("text: Promise.resolve('Hello')", "text can't be a value of class Promise"),
        ("text: 1n", "text can't be a bigint"),
        ("cc: new Set(['ada@example.com'])", "cc can't be a value of class Set"),
        ("headers: new Map([['X-A', 'b']])", "headers can't be a value of class Map"),
        ("headers: new Headers({ 'X-A': 'b' })", "headers can't be a value of class Headers"),
        ("attachments: [{ filename: 'a', content: new Blob(['a']) }]",
         "attachments[0].content takes a Uint8Array, or base64, not a value of class Blob"),
        ("attachments: [{ filename: 'a', content: process.stdin }]", "attachments[0].content takes a Uint8Array"),
        ("attachments: [{ filename: 'a', content: [0, 255] }]", "attachments[0].content takes a Uint8Array"),
        ("...(() => { const circle = {}; circle.headers = circle; return circle; })()", "can't be"),
    ],
)  # fmt: skip
async def test_what_json_would_make_something_else_of_is_told(driver: Driver, given: str, told: str) -> None:
    assert told in await refused_here(driver, SEND.replace("MORE", given))


@pytest.mark.parametrize(
    "given",
    ["labels: { unread: true }", "labels: new Set(['unread'])", "labels: [undefined]", "labels: ['a,b']", "limit: NaN",
     "since: new Date(NaN)"],
)  # fmt: skip
async def test_a_parameter_that_has_no_text_is_told(driver: Driver, given: str) -> None:
    await refused_here(driver, LIST.replace("MORE", given))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("{ idempotencykey: 'a' }", "there is no option 'idempotencykey'; there are: signal,"),
        ("{ timeout: 5 }", "there is no option 'timeout'"),
        ("{ idempotencyKey: '' }", "idempotencyKey has 1 to 255"),
        ("{ idempotencyKey: 5 }", "idempotencyKey has"),
        ("{ idempotencyKey: null }", "idempotencyKey has"),
        ("{ idempotencyKey: 'a\\nb' }", "idempotencyKey has"),
        ("{ timeoutMs: '5' }", "timeoutMs is a number"),
        ("{ timeoutMs: NaN }", "timeoutMs is a number"),
        ("{ timeoutMs: Infinity }", "timeoutMs is a number"),
        ("{ maxRetries: '2' }", "maxRetries is a number"),
        ("{ signal: 1 }", "signal is an AbortSignal"),
        ("null", "options are an object, not null"),
        ("'mine'", "options are an object, not a string"),
    ],
)
async def test_an_option_of_a_call_that_is_none_is_told(driver: Driver, options: str, told: str) -> None:
    """Above all an Idempotency-Key that is written otherwise, and would let a send happen twice."""
    assert told in await refused_here(driver, CALL.replace("OPTIONS", options))


async def test_an_idempotency_key_where_nothing_takes_one_is_told(driver: Driver) -> None:
    body = "return client.agents.create({ name: 'one' }, { idempotencyKey: 'a' })"
    assert "there is no option 'idempotencyKey'" in await refused_here(driver, body)


@pytest.mark.parametrize(
    "options",
    ["{ api_key: 'a' }", "{ baseUrl: 'http://a.test' }", "{ timeoutMs: NaN }", "{ maxRetries: -1 }", "'a'", "null",
     "{ apiKey: 5 }", "{ url: 'https://a.test/v1' }", "{ url: 'https://a.test/v1/' }", "{ apiKey: null }",
     "{ url: null }", "{ fetch: { default: fetch } }", "{ fetch: null }"],
)  # fmt: skip
async def test_an_option_of_the_client_that_can_not_be_is_told_at_once(driver: Driver, options: str) -> None:
    """Rather than to go on with the key and the address of the environment."""
    body = f"process.env.MAILD_API_KEY = '{KEY}'; process.env.MAILD_URL = 'http://a.test';"
    body += f" try {{ return new maild.Maild({options}) && 1; }}"
    body += " finally { delete process.env.MAILD_API_KEY; delete process.env.MAILD_URL; }"
    await refused_here(driver, body, "ConfigurationError")


@pytest.mark.parametrize(
    ("handler", "more"),
    [
        ("undefined", ""),
        ("'handle'", ""),
        ("() => 1", "concurency: 5"),
        ("() => 1", "concurrency: 1.5"),
        ("() => 1", "concurrency: '2'"),
        ("() => 1", "leaseSeconds: NaN"),
        ("() => 1", "leaseSeconds: null"),
        ("() => 1", "retryDelaySeconds: '30'"),
        ("() => 1", "waitSeconds: -1"),
        ("() => 1", "onError: 'ignore'"),
    ],
)
async def test_nothing_is_claimed_for_who_can_not_work(driver: Driver, handler: str, more: str) -> None:
    await refused_here(driver, WORK.replace("HANDLER", handler).replace("MORE", more), "ConfigurationError")


async def test_what_is_undefined_of_work_is_as_usual(driver: Driver) -> None:
    """Of a lease that is no number a third would be over at once, and it would be extended without a pause."""
    more = "leaseSeconds: undefined, waitSeconds: undefined, concurrency: undefined, holder: undefined"
    async with ScriptedServer([refused(403)]) as server:
        with pytest.raises(Refused, match="PermissionDenied"):
            await driver.ask(server.url, WORK.replace("HANDLER", "() => 1").replace("MORE", more))
        told = server.asked[0].json
    assert (told["max"], told["leaseSeconds"], told["waitSeconds"]) == (1, 300, 10)
    assert told["holder"].startswith("typescript-")


@pytest.mark.parametrize(
    "body", ["{ id: 'evt_1' }", "[1]", "undefined", "null", "25", "Promise.resolve('{}')"]
)
async def test_a_parsed_body_is_told_to_be_none(driver: Driver, body: str) -> None:
    asked = f"return maild.verifyWebhook({HEADERS}, {body}, 'whsec_AAAA')"
    assert "body is the request's, as it came" in await refused_here(driver, asked, "TypeError")


@pytest.mark.parametrize(
    "headers",
    ["undefined", "'webhook-id: a'", f"{{ headers: {HEADERS} }}", f"new Map(Object.entries({HEADERS}))",
     f"Promise.resolve(new Headers({HEADERS}))", "new (class HonoRequest { raw = 1; })()"],
)  # fmt: skip
async def test_what_is_no_headers_is_told(driver: Driver, headers: str) -> None:
    asked = f"return maild.verifyWebhook({headers}, '{{}}', 'whsec_AAAA')"
    assert "headers are those of the request" in await refused_here(driver, asked, "TypeError")


@pytest.mark.parametrize(
    "options", ["300", "null", "{ tolerance: 300 }", "{ toleranceSeconds: NaN }", "{ toleranceSeconds: '300' }",
                "{ toleranceSeconds: -1 }", "{ nowSeconds: new Date() }"],
)  # fmt: skip
async def test_an_option_of_verifying_that_can_not_be_is_told(driver: Driver, options: str) -> None:
    """A tolerance that is no number would let a request of any age pass."""
    asked = f"return maild.verifyWebhook({HEADERS}, '{{}}', 'whsec_AAAA', {options})"
    await refused_here(driver, asked, "ConfigurationError")


@pytest.mark.parametrize("secret", ["undefined", "null", "Buffer.from('whsec_AAAA')"])
async def test_a_secret_that_is_no_text_is_told(driver: Driver, secret: str) -> None:
    fresh = HEADERS.replace("'1'", "String(Math.floor(Date.now() / 1000))")
    await refused_here(driver, f"return maild.verifyWebhook({fresh}, '{{}}', {secret})", "ConfigurationError")
