"""What every answer has, and that nothing a client sends makes it a 5xx (decisions.md, "Errors, limits"; A7, A11)."""

import asyncio
import json
import re
from typing import Any

import pytest

from controlplane.contract.refusals import MESSAGES
from controlplane.operations.table import OPERATIONS
from tests.conftest import on_shared
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

JSON = {"Content-Type": "application/json"}


async def test_every_answer_has_a_request_id_of_its_own(maild: Running, bot: dict[str, Any]) -> None:
    keyless = maild.api.with_key(None)
    message = await maild.received(bot, "Subject: x\n\n")
    answers = [
        await maild.api.get("/v1/inboxes"),
        await maild.api.get(f"/v1/messages/{message['id']}"),
        await maild.api.get("/v1/nowhere"),
        await maild.api.get("/nowhere"),
        await maild.api.get("/v1/messages", limit="0"),
        await maild.api.call("DELETE", "/v1/inboxes"),
        await keyless.get("/v1/inboxes"),
        await keyless.get("/health"),
    ]
    ids = [one.headers["X-Request-Id"] for one in answers]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"req_[0-9a-z]{26}", one) for one in ids)


@on_shared
async def test_a_cache_in_front_keeps_no_answer_that_will_change(shared: Running) -> None:
    """Varnish and CDNs keep what says nothing of caching, a 404 too."""
    keyless = shared.api.with_key(None)
    for path in ("/health", "/nowhere", "/v1/nowhere", "/v1/inboxes", "/v1/unsubscribe/none"):
        assert (await keyless.get(path)).headers["Cache-Control"] == "no-store", path


@on_shared
async def test_a_client_can_not_choose_the_request_id(shared: Running) -> None:
    answer = await shared.api.call("GET", "/v1/inboxes", headers={"X-Request-Id": "mine"})
    assert answer.headers["X-Request-Id"] != "mine"


async def test_successes_are_wrapped_in_data_and_nothing_else(maild: Running, bot: dict[str, Any]) -> None:
    for path in ("/v1/inboxes", "/v1/messages", "/v1/threads", "/v1/webhooks/deliveries"):
        answer = await maild.api.get(path)
        assert isinstance(answer.data, list)
        assert answer.headers["Content-Type"].startswith("application/json")


@on_shared
async def test_health_needs_no_key_and_is_not_wrapped(shared: Running) -> None:
    answer = await shared.api.with_key(None).get("/health")
    assert answer.status == 200
    assert answer.json["status"] == "healthy" and answer.json["service"]


@on_shared
async def test_an_unknown_path_is_404_with_a_key_and_401_without(shared: Running) -> None:
    for path in (
        "/v1/nowhere",
        "/v1/",
        "/v1/inboxes/",
        "/v1/messages/a/b/c",
        "/v1/%2e%2e/health",
        "/v1/Inboxes",
    ):
        answer = await shared.api.get(path)
        assert (answer.status, answer.code) == (404, "not_found"), path
        assert "/docs" in answer.error["message"]  # who opens the address in a browser sees where to go
        answer = await shared.api.with_key(None).get(path)
        assert (answer.status, answer.code) == (401, "unauthorized"), path
    answer = await shared.api.with_key("svc_live_" + "0" * 48).get("/v1/nowhere")
    assert answer.code == "invalid_api_key"


@pytest.mark.parametrize("path", ["/v1", "/v1/../v1/inboxes", "//v1/inboxes", "/nowhere", "/"])
@on_shared
async def test_odd_paths_get_an_envelope(shared: Running, path: str) -> None:
    answer = await shared.api.get(path)
    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize("strange", ["evt_01m7yg00000000000000000000", "nothing"])
@pytest.mark.parametrize(
    "route",
    [one for one in OPERATIONS if "{id}" in one.path and one.method in ("GET", "DELETE")],
    ids=lambda route: route.id,
)
@on_shared
async def test_an_id_of_another_kind_in_a_path_is_not_found(
    shared: Running, route: Any, strange: str
) -> None:
    answer = await shared.api.call(route.method, route.path.replace("{id}", strange))
    missing = next(code for code in route.refusals if code.endswith("_not_found"))
    assert (answer.status, answer.code) == (404, missing)


@on_shared
async def test_a_wrong_method_is_405_and_says_which_are_right(shared: Running) -> None:
    for template in {route.path for route in OPERATIONS}:
        right = {route.method for route in OPERATIONS if route.path == template}
        path = template.replace("{id}", "x_1")
        wrong = next(method for method in ("PUT", "DELETE", "OPTIONS") if method not in right)
        answer = await shared.api.call(wrong, path)
        assert (answer.status, answer.code) == (405, "method_not_allowed"), path
        allowed = {one.strip() for one in answer.headers["Allow"].split(",")}
        assert right <= allowed and wrong not in allowed
        assert answer.headers["Allow"] in answer.error["message"]  # for programs that see bodies alone
        is_open = any(route.is_public for route in OPERATIONS if route.path == template)
        assert (await shared.api.with_key(None).call(wrong, path)).status == (405 if is_open else 401)


BODIES = [route for route in OPERATIONS if route.body is not None]


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.path)
@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data", ""],
)
@on_shared
async def test_a_body_of_another_type_is_415(shared: Running, route: Any, content_type: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    answer = await (await shared.key_for(route)).call(
        route.method, route.path.replace("{id}", "x_1"), data=b"{}", headers=headers
    )
    assert (answer.status, answer.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "gzip, identity"])
@on_shared
async def test_a_compressed_body_is_never_inflated(shared: Running, coding: str) -> None:
    """S13."""
    answer = await shared.api.call(
        "POST", "/v1/inboxes", data=b"\x1f\x8b\x08", headers={**JSON, "Content-Encoding": coding}
    )
    assert (answer.status, answer.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize("words", ["Bot", "x" * 100_000], ids=["short", "long"])
@on_shared
async def test_a_byte_order_mark_in_front_of_json_is_no_fault(shared: Running, words: str) -> None:
    """RFC 8259 §8.1: editors of some systems write one, where nobody sees it."""
    data = b"\xef\xbb\xbf" + json.dumps({"to": [], "text": words}).encode()
    answer = await shared.api.call("POST", "/v1/messages/send", data=data, headers=JSON)
    assert answer.faults == {"inboxId": "required", "to": "too_few"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("/v1/inboxes/", "/v1/inboxes"),
        ("//v1/inboxes", "/v1/inboxes"),
        ("/v1//inboxes", "/v1/inboxes"),
        ("/v1/Inboxes", "/v1/inboxes"),
        ("/inboxes", "/v1/inboxes"),
        ("/v1/v1/inboxes", "/v1/inboxes"),
        ("/api/v1/inboxes/inb_01m7yg00000000000000000000/", "/v1/inboxes/{id}"),
        ("/v2/messages", "/v1/messages"),
        ("/v1/inboxes/inb_01m7yg00000000000000000000/messages", "/v1/messages"),  # as it is nested elsewhere
        ("/v0/inboxes/inb_01m7yg00000000000000000000/messages/msg_1/raw", "/v1/messages/{id}/raw"),
        ("/Health", "/health"),
    ],
)
@on_shared
async def test_a_path_that_is_nearly_one_is_told_which(shared: Running, written: str, meant: str) -> None:
    answer = await shared.api.get(written)
    assert (answer.status, answer.code) == (404, "not_found")
    assert f"'{meant}'" in answer.error["message"]


@on_shared
async def test_a_path_like_none_is_told_of_none(shared: Running) -> None:
    for path in ("/v1/nowhere", "/", "/v1/v1", "/v1/messages%2Fwait", "/v1/{id}", "/docs/no", "/a/console/b"):
        message = (await shared.api.get(path)).error["message"]
        assert message == MESSAGES["not_found"], path


async def test_json_with_a_charset_passes(maild: Running) -> None:
    answer = await maild.api.call(
        "POST",
        "/v1/inboxes",
        data=b'{"username": "bot"}',
        headers={"Content-Type": "application/json; charset=utf-8"},
    )
    assert answer.status == 201


MALFORMED = {
    "nothing": b"",
    "blank": b"  ",
    "broken": b'{"username": ',
    "trailing": b'{"username": "bot"} x',
    "two documents": b"{}{}",
    "array": b"[]",
    "string": b'"username"',
    "number": b"1",
    "null": b"null",
    "not UTF-8": b'{"username": "\xff\xfe"}',
    "UTF-16": '{"username": "bot"}'.encode("utf-16"),
    "BOM": b'\xef\xbb\xbf{"username": "b\xff"}',
    "lone surrogate": b'{"username": "bot", "name": "\\ud800"}',
    "NaN": b'{"username": NaN}',
    "Infinity": b'{"username": "bot", "metadata": {"a": Infinity}}',
    "1e999": b'{"username": 1e999}',
    "huge integer": b'{"username": ' + b"9" * 5000 + b"}",
    "deep array": b'{"username": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep object": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "deep and open": b"[" * 1_000_000,
    "NUL inside": b'{"username": "bot\\u0000"}',
    "raw NUL": b'{"username": "bot\x00"}',
    "raw line end": b'{"username": "bot\n"}',
    "comment": b'{"username": "bot" /* x */}',
    "single quotes": b"{'username': 'shared_bot'}",
    "form": b"username=bot",
    "number of keys": b"{" + b",".join(b'"k%d":1' % n for n in range(20_000)) + b"}",
    "endless key": b'{"' + b"k" * 300_000 + b'": 1}',
}


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.path)
@on_shared
async def test_whatever_is_no_such_json_is_400(shared: Running, route: Any) -> None:
    api = await shared.key_for(route)
    for name, body in MALFORMED.items():
        if not body and route.body.may_be_absent:
            continue
        answer = await api.call(route.method, route.path.replace("{id}", "x_1"), data=body, headers=JSON)
        if len(body) > route.body_bytes_max:
            assert (answer.status, answer.code) == (413, "payload_too_large"), name
            continue
        assert (answer.status, answer.code) == (400, "validation_failed"), (name, answer.body[:300])
        assert answer.faults
        assert len(answer.body) < 5_000_000
        json.loads(answer.body.decode("utf-8"))


NAMES_OF_IDS = ("inboxId", "threadId")
FILTERED = [
    (route, name)
    for route in OPERATIONS
    if route.method == "GET" and route.input is not None
    for name in NAMES_OF_IDS
    if name in route.input.model_fields
]


@pytest.mark.parametrize(("route", "name"), FILTERED, ids=lambda one: getattr(one, "path", one))
@on_shared
async def test_what_can_be_no_id_filters_nothing(shared: Running, route: Any, name: str) -> None:
    """An address instead of an id would else read as an inbox without mail, for ever."""
    api = await shared.key_for(route)
    for wrong in ("bot@agents.test", "msg_01m7yg00000000000000000000", ""):
        answer = await api.get(route.path, **{name: wrong})
        assert answer.faults == {name: "invalid_id"}


async def test_a_field_given_twice_in_json_is_a_fault(maild: Running) -> None:
    answer = await maild.api.call(
        "POST", "/v1/inboxes", data=b'{"username": "first", "username": "second"}', headers=JSON
    )
    assert answer.faults == {"username": "given_twice"}


@on_shared
async def test_every_fault_is_told_at_once(shared: Running) -> None:
    answer = await shared.api.post(
        "/v1/messages/send",
        {
            "inboxId": 5,
            "to": ["not an address", "ok@elsewhere.test", "a@b@c.test"],
            "cc": "somebody@elsewhere.test",
            "bcc": ["x" * 400],
            "subject": "s" * 501,
            "text": 1,
            "html": ["<p>"],
            "inReplyTo": "drf_1",
            "attachments": [{"contentType": "no type", "colour": "red"}],
            "colour": "blue",
        },
    )
    assert answer.faults == {
        "inboxId": "wrong_type",
        "to[0]": "invalid_email",
        "to[2]": "invalid_email",
        "cc": "wrong_type",
        "bcc[0]": "invalid_email",
        "subject": "too_long",
        "text": "wrong_type",
        "html": "wrong_type",
        "inReplyTo": "invalid_id",
        "attachments[0].filename": "required",
        "attachments[0].content": "required",
        "attachments[0].contentType": "invalid_format",
        "attachments[0].colour": "unknown_field",
        "colour": "unknown_field",
    }
    assert all(one["message"] for one in answer.error["details"]["fields"])


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/v1/inboxes", b"[]", "Expected a JSON object"),
        ("/v1/inboxes", b'{"username": "bot", "metadata": []}', "Expected a JSON object"),
        ("/v1/inboxes", b"", "The body is empty: send a JSON object"),
        ("/v1/keys", b'{"name": "n", "scopes": ["message:read"]}', "messages:read, messages:send"),
        ("/v1/messages?unread=maybe", None, "Expected true or false"),
    ],
)
@on_shared
async def test_a_fault_is_told_in_words_of_the_api(
    shared: Running, path: str, body: bytes | None, message: str
) -> None:
    """Not in those of Python, whose classes and dictionaries no caller knows."""
    method = "GET" if body is None else "POST"
    headers = {} if body is None else {"Content-Type": "application/json"}
    answer = await shared.api.call(method, path, data=body, headers=headers)
    (fault,) = answer.error["details"]["fields"]
    assert message in fault["message"]


@on_shared
async def test_a_name_that_is_unknown_is_answered_with_those_that_are_known(shared: Running) -> None:
    """Programs, and models above all, write `inbox_id`, or `waitSeconds` where it is `timeoutSeconds`."""
    messages: dict[str, str] = {}
    for answer in (
        await shared.api.post(
            "/v1/messages/send", {"inbox_id": "i", "attachments": [{"name": "a", "content": ""}], "x" * 99: 1}
        ),
        await shared.api.get("/v1/messages/wait?waitSeconds=1"),
        await shared.api.call("PUT", "/v1/organization/policy", {"version": 0, "outbound": {"hold": []}}),
        await shared.api.get("/v1/domains?status=verified"),
    ):
        messages |= {one["path"]: one["message"] for one in answer.error["details"]["fields"]}
    assert messages["inbox_id"].startswith("There is no such field; there are: inboxId, to, cc, bcc, subject")
    assert messages["attachments[0].name"].endswith("there are: filename, contentType, content")
    assert "timeoutSeconds" in messages["waitSeconds"]
    assert messages["status"] == "There is no such field; none is taken here"
    assert messages["outbound.hold"].endswith(
        "there are: recipients, review, holdOn, firstTimeDaily, replyTo"
    )


@pytest.mark.parametrize("route", BODIES, ids=lambda route: route.path)
@on_shared
async def test_unknown_fields_are_refused_everywhere(shared: Running, route: Any) -> None:
    answer = await (await shared.key_for(route)).call(
        route.method, route.path.replace("{id}", "x_1"), {"surelyUnknown": 1}
    )
    assert answer.faults["surelyUnknown"] == "unknown_field"


@pytest.mark.parametrize(
    "route",
    [one for one in OPERATIONS if one.method != "HEAD"],
    ids=lambda route: f"{route.method} {route.path}",
)
@on_shared
async def test_unknown_query_parameters_are_refused_everywhere(shared: Running, route: Any) -> None:
    path = route.path.replace("{id}", "x_1") + "?surelyUnknown=1"
    answer = await (await shared.key_for(route)).call(route.method, path, {} if route.body else None)
    assert answer.faults == {"surelyUnknown": "unknown_field"}


@pytest.mark.parametrize(
    "route",
    [one for one in OPERATIONS if one.method == "GET" and not one.is_public],
    ids=lambda route: route.path,
)
@on_shared
async def test_a_body_where_none_belongs_is_refused(shared: Running, route: Any) -> None:
    answer = await (await shared.key_for(route)).call("GET", route.path.replace("{id}", "x_1"), {"limit": 1})
    assert answer.faults == {"": "unexpected_body"}


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("q=caf%E9", "q"),
        ("from=%E6%9D%B1%ff", "from"),
        ("labels=unread,%ED%A0%80", "labels"),
        ("limit=2&threadId=%FF", "threadId"),
        ("caf%E9=1", "caf?"),
    ],
)
@on_shared
async def test_a_query_that_is_no_utf_8_is_refused(shared: Running, asked: str, path: str) -> None:
    """Read as what stands for it (U+FFFD) it would be looked for, and never found."""
    assert (await shared.api.get(f"/v1/messages?{asked}")).faults == {path: "invalid_text"}
    assert (await shared.api.get("/v1/messages?q=caf%C3%A9%EF%BF%BD&from=50%&limit=1")).status == 200


LISTS = ("/v1/inboxes", "/v1/messages", "/v1/threads", "/v1/webhooks/deliveries")


@pytest.mark.parametrize("path", LISTS)
@on_shared
async def test_limits_of_lists(shared: Running, path: str) -> None:
    for limit, code in {
        "0": "out_of_range", "101": "out_of_range", "-1": "out_of_range", "x": "wrong_type", "": "wrong_type",
        "1.5": "wrong_type", "9" * 40: "out_of_range", "0x10": "wrong_type", "١": "wrong_type",
    }.items():  # fmt: skip
        answer = await shared.api.get(path, limit=limit)
        assert answer.status == 400 and set(answer.faults) == {"limit"}, (limit, answer.body)
        assert answer.faults["limit"] in (code, "out_of_range", "wrong_type")
    for limit in ("1", "50", "100"):
        assert (await shared.api.get(path, limit=limit)).status == 200
    assert (await shared.api.get(path + "?limit=1&limit=2")).faults == {"limit": "given_twice"}


@on_shared
async def test_a_body_over_the_limit_is_413_before_it_is_read_whole(
    shared: Running, shared_bot: dict[str, Any]
) -> None:
    piece = b"x" * 65536

    async def endless() -> Any:
        yield b'{"inboxId": "'
        for _ in range(800):
            yield piece

    for data in (b'{"inboxId": "' + b"x" * (23 * 1024 * 1024), endless()):
        try:
            answer = await shared.api.call("POST", "/v1/messages/send", data=data, headers=JSON)
        except (ConnectionError, OSError) as error:  # closed while we were still sending: as good
            assert (
                "reset" in str(error).lower()
                or "closing" in str(error).lower()
                or "pipe" in str(error).lower()
            )
            continue
        assert (answer.status, answer.code) == (413, "payload_too_large")
    assert (await shared.api.get("/v1/inboxes")).status == 200


@pytest.mark.parametrize(
    "request_head",
    [
        b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
        b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\nY: " + b"z" * 20_000 + b"\r\n\r\n",
        b"GET /v1/in\x00boxes HTTP/1.1\r\nHost: x\r\n\r\n",
        b"BOGUS\r\n\r\n",
        b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
    ],
    ids=["CL and TE", "two CL", "signed CL", "long header", "NUL", "no HTTP", "bad name"],
)
@on_shared
async def test_what_is_no_http_is_400_and_closed(shared: Running, request_head: bytes) -> None:
    """A12: no two readers may see two different requests."""
    host, port = shared.api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request_head)
    async with asyncio.timeout(GIVES_UP_S):
        line = await reader.readline()
    assert line.startswith(b"HTTP/1.") and line.split()[1] in (b"400", b"431"), line
    writer.transport.abort()


async def test_something_unforeseen_is_a_500_that_says_nothing(maild: Running, monkeypatch: Any) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the secret cause")

    monkeypatch.setattr("storage.mail.inboxes.list_inboxes", broken)
    answer = await maild.api.get("/v1/inboxes")
    assert (answer.status, answer.code) == (500, "internal_error")
    assert b"secret" not in answer.body
    assert answer.error["details"] == {"requestId": answer.headers["X-Request-Id"]}
    assert (await maild.api.get("/v1/messages")).status == 200
