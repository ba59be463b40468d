"""What a caller of the TypeScript client gives by mistake is told with its name, before anything is sent, and never
read as something else: programs in JavaScript have no compiler that says so."""

from typing import Any

import pytest

from scripts import client_names
from scripts.client_typescript import CLIENT
from tests.clients.typescript_world import Driver, Refused
from tests.clients.worlds import KEY, SENT, ScriptedServer, answer
from tests.support.machine import tools

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

SEND = "return client.messages.send({ inboxId: 'inb_1', to: ['ada@example.com'], MORE })"
GET = "return client.messages.get(ID)"
LIST = "return client.messages.list({ MORE }).page()"
CALL = "return client.messages.send({ inboxId: 'inb_1', to: ['ada@example.com'] }, OPTIONS)"
WORK = "return client.inboxes.work('inb_1', HANDLER, { handleSignals: false, signal: AbortSignal.timeout(1), MORE })"
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
        ("{ id: 'msg_1' }", "a value of class Object is no id"),
        ("''", '"" is no id'),
        ("' msg_1'", "is no id"),
        ("'msg_1\\n'", "is no id"),
        ("'\\ud800'", "is no id"),
        ("1n", "a bigint is no id"),
        ("'inb_1'", "messageId takes an id 'msg_…', and 'inb_1' is of another kind"),
    ],
)
async def test_what_is_no_id_is_asked_for_nowhere(driver: Driver, id: str, told: str) -> None:
    assert told in await refused_here(driver, GET.replace("ID", id))


@pytest.mark.parametrize("id", ["''", "{ id: 'inb_1' }", "'thd_1'", "0"])
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
         "attachments[0].content can't be a value of class Blob"),
        ("...(() => { const circle = {}; circle.headers = circle; return circle; })()", "can't be"),
    ],
)  # fmt: skip
async def test_what_json_would_make_something_else_of_is_told(driver: Driver, given: str, told: str) -> None:
    assert told in await refused_here(driver, SEND.replace("MORE", given))


@pytest.mark.parametrize(
    "given", ["labels: { unread: true }", "labels: new Set(['unread'])", "limit: NaN", "since: new Date(NaN)"]
)
async def test_a_parameter_that_has_no_text_is_told(driver: Driver, given: str) -> None:
    await refused_here(driver, LIST.replace("MORE", given))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("{ idempotencykey: 'a' }", "there is no option 'idempotencykey'; there are: signal,"),
        ("{ timeout: 5 }", "there is no option 'timeout'"),
        ("{ idempotencyKey: '' }", "idempotencyKey has 1 to 255"),
        ("{ idempotencyKey: 5 }", "idempotencyKey has"),
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
     "{ apiKey: 5 }", "{ url: 'https://a.test/v1' }", "{ url: 'https://a.test/v1/' }"],
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
    ],
)
async def test_nothing_is_claimed_for_who_can_not_work(driver: Driver, handler: str, more: str) -> None:
    await refused_here(driver, WORK.replace("HANDLER", handler).replace("MORE", more), "ConfigurationError")


@pytest.mark.parametrize(
    "body", ["{ id: 'evt_1' }", "[1]", "undefined", "null", "25", "Promise.resolve('{}')"]
)
async def test_a_parsed_body_is_told_to_be_none(driver: Driver, body: str) -> None:
    asked = f"return maild.verifyWebhook({HEADERS}, {body}, 'whsec_AAAA')"
    assert "body is the request's, as it came" in await refused_here(driver, asked, "TypeError")


@pytest.mark.parametrize(
    "headers",
    ["undefined", "'webhook-id: a'", f"{{ headers: {HEADERS} }}", f"new Map(Object.entries({HEADERS}))"],
)
async def test_what_is_no_headers_is_told(driver: Driver, headers: str) -> None:
    asked = f"return maild.verifyWebhook({headers}, '{{}}', 'whsec_AAAA')"
    assert "headers are those of the request" in await refused_here(driver, asked, "TypeError")


@pytest.mark.parametrize("secret", ["undefined", "null", "Buffer.from('whsec_AAAA')"])
async def test_a_secret_that_is_no_text_is_told(driver: Driver, secret: str) -> None:
    fresh = HEADERS.replace("'1'", "String(Math.floor(Date.now() / 1000))")
    await refused_here(driver, f"return maild.verifyWebhook({fresh}, '{{}}', {secret})", "ConfigurationError")
