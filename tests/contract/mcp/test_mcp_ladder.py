"""POST /mcp, rung by rung: the first that fails is the answer (docs/contract.md, "MCP")."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from controlplane.mcp.routing_headers import ROUTING_HEADERS
from controlplane.operations.operation import SMALL_BODY_BYTES
from controlplane.operations.table import SEND_BYTES
from tests.conftest import Start, on_shared
from tests.support.clients.mcp import ACCEPT, ERAS, HANDSHAKE, MODERN, PATH, Mcp
from tests.support.running import Api, Running

PARSE, INVALID, UNKNOWN_METHOD, PARAMS = -32700, -32600, -32601, -32602
MISMATCH, UNSUPPORTED, REFUSED = -32020, -32022, -32000
OURS = "https://api.agents.test"
META = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
LISTING = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
WHOAMI = {**LIST, "method": "tools/call", "params": {"_meta": META, "name": "whoami"}}
CALLING = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "whoami"}
OLD = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
OK = 0


class Rung(NamedTuple):
    """A request, the status and the code of JSON-RPC that it is answered with (OK: a result)."""

    name: str
    status: int
    code: int
    body: Any
    headers: Mapping[str, str] = {}


def params(request: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {**request, "params": {**request.get("params", {}), **more}}


def nested(depth: int) -> dict[str, Any]:
    """A request in which so many arrays and objects are within each other."""
    inner: Any = 1
    for _ in range(depth - 3):  # the request, its params, the argument's object
        inner = [inner]
    return params(OLD, name="whoami", arguments={"x": inner}) | {"method": "tools/call"}


RUNGS = [
    # Origin
    Rung("a page elsewhere", 403, REFUSED, OLD, {"Origin": "https://evil.test"}),
    Rung("a page of nowhere", 403, REFUSED, OLD, {"Origin": "null"}),
    Rung("our name on another port", 403, REFUSED, OLD, {"Origin": f"{OURS}:8443"}),
    Rung("a name that begins as ours", 403, REFUSED, OLD, {"Origin": f"{OURS}.evil.test"}),
    Rung("a page of ours", 200, OK, OLD, {"Origin": OURS}),
    # The body
    Rung("no body", 400, PARSE, b""),
    Rung("no JSON", 400, PARSE, b"{"),
    Rung("no UTF-8", 400, PARSE, b'{"jsonrpc":"2.0","id":1,"method":"\xff"}'),
    Rung("NaN", 400, PARSE, b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}'),
    Rung("a number of thousands of digits", 400, PARSE, b'{"id":' + b"1" * 5000 + b"}"),
    Rung("deep", 400, PARSE, nested(51)),
    Rung("deeper than Python reads", 400, PARSE, b"[" * 990 + b"]" * 990),
    Rung("just not too deep", 200, OK, nested(50)),
    Rung("too many values", 400, INVALID, params(OLD, x=[0] * 1001)),
    Rung("a name given twice", 400, INVALID, b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}'),
    Rung("another type of content", 415, REFUSED, OLD, {"Content-Type": "text/plain"}),
    Rung("compressed", 415, REFUSED, OLD, {"Content-Encoding": "gzip"}),
    Rung("long, for what sends nothing", 200, REFUSED, params(OLD, x="y" * 70_000)),
    # One message
    Rung("a batch", 400, INVALID, [OLD, OLD]),
    Rung("a text", 400, INVALID, "tools/list"),
    Rung("null", 400, INVALID, b"null"),
    Rung("an answer", 400, INVALID, {"jsonrpc": "2.0", "id": 1, "result": {}}),
    Rung("another JSON-RPC", 400, INVALID, {**OLD, "jsonrpc": "1.0"}),
    Rung("no JSON-RPC", 400, INVALID, {"id": 1, "method": "ping"}),
    Rung("an id that is null", 400, INVALID, {**OLD, "id": None}),
    Rung("an id that is no whole number", 400, INVALID, {**OLD, "id": 1.5}),
    Rung("an id that is true", 400, INVALID, {**OLD, "id": True}),
    Rung("an id beyond what readers hold", 400, INVALID, {**OLD, "id": 2**60}),
    Rung("an id with half a character", 400, INVALID, b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'),
    Rung("params in a list", 400, INVALID, {**OLD, "params": []}),
    Rung("a method that is a number", 400, INVALID, {**OLD, "method": 1}),
    # The modern era
    Rung("modern", 200, OK, LIST, LISTING),
    Rung("a tool's name in base64", 200, OK, WHOAMI, {**CALLING, "Mcp-Name": "=?base64?d2hvYW1p?="}),
    Rung("no header of the revision", 400, MISMATCH, LIST, {"Mcp-Method": "tools/list"}),
    Rung("a header of another revision", 400, MISMATCH, LIST, {**LISTING, "MCP-Protocol-Version": HANDSHAKE}),
    Rung("no header of the method", 400, MISMATCH, LIST, {"MCP-Protocol-Version": MODERN}),
    Rung("a header of another method", 400, MISMATCH, LIST, {**LISTING, "Mcp-Method": "tools/call"}),
    Rung("no header of the name", 400, MISMATCH, WHOAMI, {**LISTING, "Mcp-Method": "tools/call"}),
    Rung("a header of another name", 400, MISMATCH, WHOAMI, {**CALLING, "Mcp-Name": "reply"}),
    Rung("a name in broken base64", 400, MISMATCH, WHOAMI, {**CALLING, "Mcp-Name": "=?base64?d2hvYW1=?="}),
    Rung("a name in base64 of no text", 400, MISMATCH, WHOAMI, {**CALLING, "Mcp-Name": "=?base64?/w==?="}),
    Rung("no _meta", 400, PARAMS, OLD, LISTING),
    Rung("a _meta that is a text", 400, PARAMS, params(OLD, _meta="x"), LISTING),
    Rung("no capabilities", 400, PARAMS, params(OLD, _meta={PROTOCOL_VERSION_META_KEY: MODERN}), LISTING),
    Rung("capabilities that are none", 400, PARAMS,
         params(OLD, _meta={**META, CLIENT_CAPABILITIES_META_KEY: 1}), LISTING),
    Rung("a revision that is null", 400, MISMATCH,
         params(OLD, _meta={**META, PROTOCOL_VERSION_META_KEY: None}), LISTING),
    Rung("a revision to come", 400, UNSUPPORTED, params(OLD, _meta={**META, PROTOCOL_VERSION_META_KEY: "2099-01-01"}),
         {**LISTING, "MCP-Protocol-Version": "2099-01-01"}),
    Rung("a header of a revision to come", 400, UNSUPPORTED, OLD, {"MCP-Protocol-Version": "2099-01-01"}),
    Rung("an unknown method", 404, UNKNOWN_METHOD, {**LIST, "method": "tools/x"}, {**LISTING, "Mcp-Method": "tools/x"}),
    Rung("a handshake in the modern era", 404, UNKNOWN_METHOD, {**LIST, "method": "initialize"},
         {**LISTING, "Mcp-Method": "initialize"}),
    Rung("a cursor", 400, PARAMS, params(LIST, cursor="x"), LISTING),
    Rung("no such tool", 400, PARAMS, params(WHOAMI, name="nope"), {**CALLING, "Mcp-Name": "nope"}),
    Rung("a tool without a name", 400, PARAMS, {**LIST, "method": "tools/call"},
         {**LISTING, "Mcp-Method": "tools/call"}),
    Rung("arguments in a list", 400, PARAMS, params(WHOAMI, arguments=[]), CALLING),
    # The era with a handshake: from here on HTTP went well
    Rung("a handshake", 200, OK, INITIALIZE),
    Rung("a handshake without a client", 200, PARAMS, {**INITIALIZE, "params": {"protocolVersion": HANDSHAKE}}),
    Rung("a ping", 200, OK, {**OLD, "method": "ping"}, {"MCP-Protocol-Version": "2024-11-05"}),
    Rung("no revision at all", 200, OK, OLD),
    Rung("an unknown method before", 200, UNKNOWN_METHOD, {**OLD, "method": "prompts/list"}),
    Rung("discovery before", 200, UNKNOWN_METHOD, {**OLD, "method": "server/discover"}),
    Rung("no such tool before", 200, PARAMS, {**OLD, "method": "tools/call", "params": {"name": "nope"}}),
    Rung("a cursor before", 200, PARAMS, params(OLD, cursor="x")),
    Rung("an id that is a text", 200, OK, {**OLD, "id": "a"}),
    Rung("half a character as an argument", 200, OK,
         b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{"\\ud800":"\\ud800"}}}'),
    Rung("half a character as a name", 200, PARAMS,
         b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}'),
    Rung("half a character in a revision", 400, MISMATCH,
         b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":'
         b'"\\ud800","io.modelcontextprotocol/clientCapabilities":{}}}}'),
]  # fmt: skip


@on_shared
@pytest.mark.parametrize("rung", RUNGS, ids=lambda one: one.name.replace(" ", "-"))
async def test_the_first_rung_that_fails_answers(shared: Running, rung: Rung) -> None:
    answer = await Mcp(shared.api).post(rung.body, {"Accept": ACCEPT, **rung.headers})
    told = answer.json
    assert (answer.status, told.get("error", {}).get("code", OK)) == (rung.status, rung.code), told
    assert told["jsonrpc"] == "2.0"
    assert answer.headers["Content-Type"].startswith("application/json") and answer.headers["X-Request-Id"]
    assert "Mcp-Session-Id" not in answer.headers
    if rung.code == UNSUPPORTED:
        assert told["error"]["data"]["supported"] == [MODERN], "as server/discover says"
        assert told["error"]["data"]["requested"] == "2099-01-01"


@on_shared
@pytest.mark.parametrize("era", ERAS)
async def test_errors_have_the_id_of_the_request_once_it_is_known(shared: Running, era: str) -> None:
    mcp = Mcp(shared.api, era)
    body = mcp.request("nope", id="seven")
    assert (await mcp.post(body, mcp.headers(body))).json["id"] == "seven"
    assert (await mcp.post(b"{")).json["id"] is None
    assert (await mcp.post({**body, "jsonrpc": "1"})).json["id"] == "seven"


@on_shared
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
async def test_nothing_but_post_is_served(shared: Running, method: str) -> None:
    """There is no stream to listen to and no session to end."""
    answer = await shared.api.call(method, PATH, headers={"Origin": "https://evil.test"})
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@on_shared
@pytest.mark.parametrize("key", [None, "svc_live_nobody", "no key"])
async def test_a_client_that_falls_back_on_a_stream_is_told_of_its_key(
    shared: Running, key: str | None
) -> None:
    """A client whose POST was a 401 asks for the stream of older servers next, and shows its user that answer."""
    answer = await shared.api.with_key(key).call("GET", PATH)
    assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="maild"')


async def test_asking_for_a_stream_takes_nothing_of_the_rate(start: Start) -> None:
    """Clients ask for it whenever they connect."""
    maild = await start(limits={"requests_per_minute": 1})
    for _ in range(3):
        assert (await maild.api.call("GET", PATH)).status == 405
    assert (await Mcp(maild.api).post(OLD)).status == 200


@on_shared
@pytest.mark.parametrize("key", [None, "svc_live_nobody", "no key"])
async def test_without_a_key_nothing_is_told_but_that(shared: Running, key: str | None) -> None:
    """No metadata of an authorization server either: clients that are told of one drop the key that they have."""
    answer = await Mcp(shared.api.with_key(key)).post(b"{")
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="maild"'
    assert answer.json["error"]["data"]["code"] in (
        "unauthorized",
        "invalid_api_key",
        "invalid_api_key_format",
    )


@on_shared
@pytest.mark.parametrize(
    "path", ["oauth-authorization-server", "oauth-protected-resource", "openid-configuration"]
)
@pytest.mark.parametrize("below", ["", "/mcp"])
async def test_there_is_no_authorization_server(shared: Running, path: str, below: str) -> None:
    answer = await shared.api.with_key(None).get(f"/.well-known/{path}{below}")
    assert answer.status == 404


@on_shared
async def test_a_client_that_would_register_is_told_of_its_key(shared: Running) -> None:
    """Where there is no metadata, clients look for OAuth where it stood in older revisions."""
    answer = await shared.api.with_key(None).post("/register", {"redirect_uris": ["http://localhost/"]})
    assert answer.status == 404
    assert "/mcp takes an API key" in answer.json["error"]["message"]


@on_shared
@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 202), ({"MCP-Protocol-Version": MODERN}, 202), ({"MCP-Protocol-Version": "2099-01-01"}, 400)],
)
async def test_a_notification_has_no_answer(shared: Running, headers: dict[str, str], status: int) -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = await Mcp(shared.api).post(told, headers)
    assert answer.status == status
    assert status != 202 or not answer.body


@on_shared
async def test_a_header_given_twice_is_refused(shared: Running) -> None:
    """Who reads the first and who reads the last would disagree."""
    headers = [
        ("Authorization", f"Bearer {shared.api.key}"), ("Content-Type", "application/json"),
        *LISTING.items(), ("Mcp-Method", "tools/list"),
    ]  # fmt: skip
    async with shared._session.post(
        shared.api.url + PATH, data=json.dumps(LIST), headers=headers
    ) as response:
        assert response.status == 400
        assert (await response.json())["error"]["code"] == MISMATCH


@on_shared
@pytest.mark.parametrize(
    ("offered", "agreed"),
    [(one, one) for one in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")]
    + [(MODERN, HANDSHAKE), ("1999-01-01", HANDSHAKE)],
)
async def test_a_handshake_agrees_on_a_revision_that_both_know(
    shared: Running, offered: str, agreed: str
) -> None:
    mcp = Mcp(shared.api, HANDSHAKE)
    client = {"protocolVersion": offered, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    told = await mcp.ask("initialize", client)
    assert told["protocolVersion"] == agreed
    assert told["capabilities"] == {"tools": {}}
    assert told["serverInfo"]["name"] == "maild"


@on_shared
async def test_both_introductions_say_the_same(shared: Running) -> None:
    discovered = await Mcp(shared.api).ask("server/discover")
    client = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    initialized = await Mcp(shared.api, HANDSHAKE).ask("initialize", client)
    assert discovered["instructions"] == initialized["instructions"]
    assert discovered["capabilities"] == initialized["capabilities"]
    assert discovered["supportedVersions"] == [MODERN]
    assert (discovered["resultType"], discovered["cacheScope"]) == ("complete", "private")
    (server,) = discovered["_meta"].values()
    assert server == initialized["serverInfo"]
    assert len(discovered["instructions"].split()) <= 120


@on_shared
async def test_a_list_says_how_long_it_is_good(shared: Running) -> None:
    told = await Mcp(shared.api).ask("tools/list")
    assert (told["resultType"], told["ttlMs"], told["cacheScope"]) == ("complete", 300_000, "private")
    before = await Mcp(shared.api, HANDSHAKE).ask("tools/list")
    assert before["tools"] == told["tools"]
    assert "_meta" not in before


async def test_it_can_be_left_out(start: Start) -> None:
    maild = await start(http={"mcp": False})
    assert (await Mcp(maild.api).post(OLD)).status == 404


async def test_other_origins_can_be_let_in(start: Start) -> None:
    maild = await start(http={"mcp_origins": ["https://Tools.example.org", "app://desktop"]})
    for origin, status in (
        ("https://tools.example.org", 200),
        ("app://desktop", 200),
        ("https://evil.test", 403),
    ):
        assert (await Mcp(maild.api).post(OLD, {"Origin": origin})).status == status, origin


ASKED = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,mcp-method",
}


async def test_a_browser_hears_which_pages_may_call(start: Start) -> None:
    maild = await start(http={"mcp_origins": ["https://tools.example.org"]})
    page = {"Origin": "https://tools.example.org"}
    asked = await maild.api.with_key(None).call("OPTIONS", PATH, headers={**page, **ASKED})
    assert (asked.status, asked.body) == (204, b"")
    assert asked.headers["Access-Control-Allow-Origin"] == page["Origin"]
    assert "POST" in asked.headers["Access-Control-Allow-Methods"]
    taken = {one.strip().lower() for one in asked.headers["Access-Control-Allow-Headers"].split(",")}
    assert {"authorization", "content-type", *(name.lower() for name in ROUTING_HEADERS)} <= taken
    assert "Access-Control-Allow-Credentials" not in asked.headers
    mcp = Mcp(maild.api)
    for answer in (
        await mcp.post(OLD, page),
        await mcp.post(b"{", page),
        await Mcp(maild.api.with_key(None)).post(OLD, page),
        await maild.api.call("GET", PATH, headers=page),
        await maild.api.call("DELETE", PATH, headers=page),
    ):
        assert answer.headers["Access-Control-Allow-Origin"] == page["Origin"], answer.status
        assert answer.headers["Vary"] == "Origin"


async def test_no_other_page_hears_anything(start: Start) -> None:
    maild = await start(http={"mcp_origins": ["https://tools.example.org"]})
    for origin in ("https://evil.test", "null", maild.settings.server.public_url):
        asked = await maild.api.call("OPTIONS", PATH, headers={"Origin": origin, **ASKED})
        assert asked.status == 405 and asked.headers["Vary"] == "Origin", origin
        answer = await Mcp(maild.api).post(OLD, {"Origin": origin})
        for one in (asked, answer):
            assert not any(name.startswith("Access-Control-") for name in one.headers), origin
    page = {"Origin": "https://tools.example.org"}
    assert (await maild.api.call("OPTIONS", PATH, headers=page)).status == 405, "it asks nothing"
    answer = await maild.api.call("GET", "/v1/inboxes", headers=page)
    assert "Access-Control-Allow-Origin" not in answer.headers, "the API is no part of it"


async def test_a_request_counts_one_whatever_it_asks(start: Start) -> None:
    maild = await start(limits={"requests_per_minute": 3})
    mcp = Mcp(maild.api)
    await mcp.call("whoami")
    await mcp.post(b"{")
    assert (await mcp.post({"jsonrpc": "2.0", "method": "notifications/x"})).status == 202
    refused = await mcp.post(LIST, LISTING)
    assert refused.status == 429 and int(refused.headers["Retry-After"]) > 0
    assert refused.json["error"]["data"]["code"] == "rate_limit_exceeded"
    assert (await maild.api.get("/v1/messages")).status == 429  # the window is one


@pytest.mark.parametrize("era", ERAS)
async def test_over_the_rate_a_model_hears_it_of_its_tool(start: Start, era: str) -> None:
    """In the handshake era clients end their session at a status that is none of success."""
    maild = await start(limits={"requests_per_minute": 1})
    mcp = Mcp(maild.api, era)
    await mcp.call("whoami")
    for name in ("read_message", "send_message"):
        body = mcp.request("tools/call", {"name": name, "arguments": {}})
        answer = await mcp.post(body, mcp.headers(body))
        seconds = int(answer.headers["Retry-After"])
        result = answer.json["result"]
        assert (answer.status, answer.json["id"], result["isError"]) == (200, 1, True)
        told = result["content"][0]["text"]
        assert told.startswith("rate_limit_exceeded: ") and f"retryAfterSeconds: {seconds}" in told
        assert ("Nothing was sent." in told) is (name == "send_message")
        assert ("structuredContent" in result) is (name == "send_message")
    body = mcp.request("tools/list")
    listed = await mcp.post(body, mcp.headers(body))
    assert (listed.status, listed.json["id"]) == (429 if era == MODERN else 200, 1)
    assert (listed.json["error"]["code"], listed.json["error"]["data"]["code"]) == (
        REFUSED,
        "rate_limit_exceeded",
    )
    assert f"Retry-After: {listed.headers['Retry-After']}" in listed.json["error"]["message"]
    assert (await mcp.post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202


async def test_over_the_rate_what_can_t_be_read_at_once_is_not(start: Start) -> None:
    maild = await start(limits={"requests_per_minute": 1})
    mcp = Mcp(maild.api)
    await mcp.call("whoami")
    long = {"name": "send_message", "arguments": {"text": "x" * 70_000}}
    for body in (b"{", {**OLD, "method": "tools/call", "params": long}, {**OLD, "method": 1}):
        answer = await mcp.post(body)
        assert (answer.status, answer.json["id"]) == (429, None)
        assert answer.json["error"]["data"]["code"] == "rate_limit_exceeded"


@on_shared
async def test_a_body_is_as_long_as_that_of_a_send(shared: Running) -> None:
    """Announced, so that it is refused before it is read."""
    answer = await Mcp(shared.api).post(b" " * (SEND_BYTES + 1))
    refused = answer.json["error"]["data"]
    assert (answer.status, refused["code"]) == (413, "payload_too_large")
    assert refused["details"] == {"sizeBytes": SEND_BYTES + 1, "limit": SEND_BYTES}


@on_shared
@pytest.mark.parametrize("era", ERAS)
async def test_arguments_that_are_too_long_are_told_to_the_model(shared: Running, era: str) -> None:
    """At a 413 release 1 of the client in Python raised out of its session."""
    mcp = Mcp(shared.api, era)
    told = await mcp.call("find_messages", query="x" * SMALL_BODY_BYTES)
    assert told.code == "payload_too_large" and "fewer words" in told.text
    assert f'"limit": {SMALL_BODY_BYTES}' in told.text
    body = mcp.request("tools/list", {"more": "x" * SMALL_BODY_BYTES})
    listed = await mcp.post(body, mcp.headers(body))
    assert (listed.status, listed.json["id"]) == (413 if era == MODERN else 200, 1)
    assert listed.json["error"]["data"]["code"] == "payload_too_large"


@on_shared
async def test_a_revoked_key_is_told_so_as_a_key(shared: Running) -> None:
    made = (await shared.api.call("POST", "/v1/keys", {"name": "brief"})).data
    theirs: Api = shared.api.with_key(made["apiKey"])
    await Mcp(theirs).call("whoami")
    await shared.api.call("DELETE", f"/v1/keys/{made['id']}")
    assert (await Mcp(theirs).post(WHOAMI, CALLING)).status == 401
