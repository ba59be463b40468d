"""`/openapi.json` and `/docs`: the document is whole, valid, and says what the code does.

That the code does nothing which the document does not say is tested everywhere else: the clients of the tests hold
every answer to it (tests/support/clients/answered.py), and schemathesis every kind of request (test_schemathesis.py).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from http import HTTPStatus
from typing import Any, get_args

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from controlplane.contract.accounts.domains import (
    AggregateReport,
    DmarcSummary,
    ReportedDispositions,
    ReportedFailure,
    ReportedSource,
)
from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import MESSAGES, Refusal
from controlplane.contract.sending.attempts import DeliveryAttempt
from controlplane.contract.telling.events import Event
from controlplane.operations.operation import BYTES, Operation
from controlplane.operations.table import OPERATIONS
from controlplane.reference.contract_words import read_contract
from controlplane.reference.documents import documents
from controlplane.reference.member_words import TABLES
from controlplane.reference.openapi import TAGS, document
from controlplane.reference.openapi_answers import COMMON_ERRORS, OPEN_ERRORS, error_codes
from controlplane.transport.reading import read_body
from controlplane.transport.responses import success_status
from controlplane.transport.statuses import STATUSES
from maild.message.delivery_evidence import Evidence, HostEvidence
from maild.message.delivery_evidence import shown as evidence_shown
from scripts.followed import followed
from tests.conftest import on_shared
from tests.support.clients import answered
from tests.support.laws.words import ROOT, anchors
from tests.support.running import Running

PUBLIC_URL = "https://api.agents.test"
TOLD = OPERATIONS
WITH_BODY = [route for route in OPERATIONS if route.body is not None]
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
RATE_HEADERS = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
# No endpoint answers these: they are what there is where no endpoint is.
STRAY = {"not_found", "method_not_allowed"}


def names(route: Operation) -> str:
    return f"{route.method} {route.path}"


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """The document as a client gets it: through JSON."""
    read: dict[str, Any] = json.loads(
        json.dumps(document(OPERATIONS, PUBLIC_URL, documents(PUBLIC_URL)["contract.md"]))
    )
    return read


@pytest.fixture(scope="module")
def told(written: dict[str, Any]) -> dict[str, Any]:
    """The document as a client reads it that follows its references, but to models."""
    return followed(written)


def operations(told: dict[str, Any]) -> dict[tuple[str, str], Any]:
    return {
        (method.upper(), path): one
        for path, item in told["paths"].items()
        for method, one in item.items()
        if method in METHODS
    }


def resolved(told: dict[str, Any], schema: dict[str, Any]) -> Any:
    if "$ref" not in schema:
        return schema
    return told["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]


# The document --------------------------------------------------------------------------------------


def test_it_is_valid_openapi_3_1_0(told: dict[str, Any], written: dict[str, Any]) -> None:
    for one in (written, told):
        assert [str(error) for error in OpenAPIV31SpecValidator(one).iter_errors()] == []
    assert told["openapi"] == "3.1.0"
    assert told["info"]["version"] == "1.0.0"
    assert told["servers"] == [{"url": PUBLIC_URL}]


def test_the_document_has_every_endpoint(told: dict[str, Any]) -> None:
    served = {(route.method, route.path) for route in TOLD}
    assert set(operations(told)) == served | {("GET", "/health")}


def test_each_operation_says_what_it_does_and_where_more_is_told(told: dict[str, Any]) -> None:
    for route in OPERATIONS:
        described = told["paths"][route.path][route.method.lower()]
        assert len(described["description"]) > len("201."), names(route)
        assert described["externalDocs"]["url"].startswith(f"{PUBLIC_URL}/docs/contract.md#"), names(route)


@pytest.mark.parametrize("name", TABLES)
def test_a_member_says_what_it_is(written: dict[str, Any], name: str) -> None:
    members = written["components"]["schemas"][name]["properties"]
    assert [one for one, told in members.items() if not told.keys() & {"description", "$ref"}] == []


def test_each_row_of_the_contract_tells_of_a_member(written: dict[str, Any]) -> None:
    """None is left behind when a member is gone, and none stands where no schema looks for it."""
    schemas = written["components"]["schemas"]
    words = read_contract(documents(PUBLIC_URL)["contract.md"], PUBLIC_URL)
    for table in words.members.keys() - {"Resources"}:
        if not table.endswith("/parameter"):
            names = (schemas[name]["properties"] for name, tables in TABLES.items() if table in tables)
            assert words.members[table].keys() <= {one for members in names for one in members}, table


def test_a_parameter_of_a_query_says_what_it_is(told: dict[str, Any]) -> None:
    asked = [
        (row["operationId"], one["name"])
        for path in told["paths"].values()
        for row in path.values()
        for one in row["parameters"]
        if one["in"] == "query" and not one.get("description")
    ]
    assert asked == []


def test_links_of_what_is_told_lead_to_sections(written: dict[str, Any]) -> None:
    served = {f"{PUBLIC_URL}/docs/{path}": text for path, text in documents(PUBLIC_URL).items()}
    known = {f"{url}#{anchor}" for url, text in served.items() for anchor in anchors(text)} | served.keys()
    words = json.dumps(written, ensure_ascii=False)
    links = set(re.findall(rf'{PUBLIC_URL}/docs/[^)"]+', words))
    assert links <= known


def test_every_tag_is_described(told: dict[str, Any]) -> None:
    assert {tag["name"] for tag in told["tags"] if tag["description"]} == set(TAGS)


def test_operation_ids_are_unique_and_fit_for_every_language(told: dict[str, Any]) -> None:
    ids = [one["operationId"] for one in operations(told).values()]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z][A-Za-z]+", name) for name in ids)


def test_what_we_call_and_what_is_called_share_no_tag(told: dict[str, Any]) -> None:
    """openapi-generator writes a file for each tag, of what we call last: no method of `/v1/webhooks` was left."""
    called = {tag for one in operations(told).values() for tag in one["tags"]}
    ours = {tag for path in told["webhooks"].values() for one in path.values() for tag in one["tags"]}
    assert ours and not called & ours


def test_each_choice_says_its_type(told: dict[str, Any]) -> None:
    """openapi-generator's typescript-fetch writes what does not compile for one without."""

    def typeless(schema: Any) -> Iterator[Any]:
        inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        for one in inner:
            yield from typeless(one)
        if isinstance(schema, dict):
            yield from (one for one in schema.get("anyOf", []) if not one.keys() & {"type", "$ref", "anyOf"})

    assert list(typeless(told)) == []


def test_a_word_or_a_number_is_of_one_type(told: dict[str, Any]) -> None:
    """Of a choice openapi-generator makes a class, which Java writes into a query as `null`."""

    def choices(schema: Any) -> Iterator[Any]:
        inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        for one in inner:
            yield from choices(one)
        if isinstance(schema, dict):
            kinds = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
            if len(kinds) > 1 and not all("$ref" in one for one in kinds):
                yield schema

    assert list(choices(told)) == []


def test_a_time_has_no_pattern(written: dict[str, Any]) -> None:
    """openapi-generator's Ruby and PHP hold the time that they made of the text to it, and so could read no answer."""

    def times(schema: Any) -> Iterator[Any]:
        inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        for one in inner:
            yield from times(one)
        if isinstance(schema, dict) and schema.get("format") == "date-time":
            yield schema

    found = list(times(written))
    assert found and not any("pattern" in one for one in found)


def test_a_pattern_names_no_end_of_a_line_of_code(written: dict[str, Any]) -> None:
    """hey-api writes U+2028 as itself into a pattern of zod's, which so ended within its line: nothing compiled. What a
    text may not match it leaves out."""

    def patterns(schema: Any) -> Iterator[str]:
        for key, one in schema.items() if isinstance(schema, dict) else enumerate(schema):
            if key == "pattern" and isinstance(one, str):
                yield one
            elif key != "not" and isinstance(one, dict | list):
                yield from patterns(one)

    assert [one for one in patterns(written) if re.search(r"\\u202[89]", one)] == []
    header = written["components"]["schemas"]["SendMessage"]["properties"]["headers"]
    assert re.search(header["additionalProperties"]["not"]["pattern"], "a\u2028b")


def test_an_address_may_be_in_any_script(written: dict[str, Any]) -> None:
    """It is taken, but zod's `email`, which clients ask before they send, knows ASCII alone."""
    read_body(
        SendMessage, bytearray(json.dumps({"inboxId": "inb_1", "to": ["jörg@bücher.example"]}).encode())
    )
    said = json.dumps(written)
    assert '"format": "email"' not in said and '"format": "idn-email"' in said


def test_a_list_that_may_be_left_out_is_marked(written: dict[str, Any]) -> None:
    """openapi-generator's Java sent it as empty where nobody had set it: a PATCH of a draft's subject took the
    recipients off, one of an inbox's name its metadata, and no webhook could be made without a list of events."""
    rows = operations(written).values()
    asked = {name for row in rows for name in references(written, row.get("requestBody", {}))}
    containers = {
        f"{name}.{member}": one
        for name in asked
        for member, one in written["components"]["schemas"][name].get("properties", {}).items()
        if one.get("type") in ("array", "object")
        and member not in written["components"]["schemas"][name].get("required", ())
    }
    assert containers.keys() >= {"PatchDraft.to", "PatchInbox.metadata", "CreateWebhook.subscribedEvents"}
    assert [name for name, one in containers.items() if one.get("x-nullable") is not True] == []


def test_what_may_be_beyond_32_bits_says_so(written: dict[str, Any]) -> None:
    """openapi-generator's Go and Java could read neither an organization that keeps three gigabytes nor a report that
    counts as many messages. Nothing else says so: zod's clients make a bigint of it, of which no JSON is made."""
    told = {
        f"{name}.{member}"
        for name, schema in written["components"]["schemas"].items()
        for member, one in schema.get("properties", {}).items()
        if any(kind.get("format") == "int64" for kind in (one, *one.get("anyOf", ())))
    }
    counted = {
        f"{model.__name__}.{member}"
        for model in (AggregateReport, DmarcSummary, ReportedDispositions, ReportedSource, ReportedFailure)
        for member, one in model.model_fields.items()
        if one.annotation is int
    }
    assert len(counted) > 10
    assert told == counted | {"Usage.storageBytes", "Limits.storageBytes"}


def test_what_is_told_may_grow(written: dict[str, Any]) -> None:
    """As the contract says; clients in Go, and pydantic's models, refuse what a closed schema does not name."""
    rows = [
        *operations(written).values(),
        *(row for item in written["webhooks"].values() for row in item.values()),
    ]
    asked = {
        name
        for row in operations(written).values()
        for name in references(written, row.get("requestBody", {}))
    }
    told = {name for row in rows for name in references(written, row["responses"])}
    told |= {name for item in written["webhooks"].values() for name in references(written, item)}
    closed = {
        name
        for name, one in written["components"]["schemas"].items()
        if one.get("additionalProperties") is False
    }
    assert told and asked and not told & closed and not asked & told


def references(document: Any, told: Any) -> set[str]:
    """Names of the schemas that it leads to."""
    found: set[str] = set()
    waiting = [told]
    while waiting:
        for kind, name in set(re.findall(r'"#/components/(\w+)/([^"/]+)"', json.dumps(waiting.pop()))):
            if kind == "schemas" and name in found:
                continue
            found |= {name} if kind == "schemas" else set()
            waiting.append(document["components"][kind][name])
    return found


@pytest.mark.parametrize("route", TOLD, ids=names)
def test_every_parameter_is_there(told: dict[str, Any], route: Operation) -> None:
    found = {(one["in"], one["name"]) for one in operations(told)[route.method, route.path]["parameters"]}
    query = route.query.model_fields if route.query else {}
    wanted = {("query", one.alias or name) for name, one in query.items()}
    wanted |= {("path", name) for name in re.findall(r"\{(\w+)\}", route.path)}
    assert {one for one in found if one[0] != "header"} == wanted


@pytest.mark.parametrize("route", TOLD, ids=names)
def test_a_body_is_there_when_one_is_read(told: dict[str, Any], route: Operation) -> None:
    body = operations(told)[route.method, route.path].get("requestBody")
    if route.body is None:
        form = route.form
        assert body is None or (list(body["content"]) == ["application/x-www-form-urlencoded"] and form)
        return
    assert body["required"] is not route.body.may_be_absent
    schema = resolved(told, body["content"]["application/json"]["schema"])
    assert set(schema["properties"]) == {one.alias or name for name, one in route.body.model_fields.items()}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("route", TOLD, ids=names)
def test_the_answer_is_there_with_its_headers(told: dict[str, Any], route: Operation) -> None:
    answer = operations(told)[route.method, route.path]["responses"][str(success_status(route))]
    assert {"X-Request-Id"} | (set() if route.is_public else RATE_HEADERS) <= set(answer["headers"])
    if route.answer is BYTES:
        assert tuple(answer["content"]) == route.media
        return
    schema = answer["content"]["application/json"]["schema"]
    assert schema["required"] == ["data"]
    data = schema["properties"]["data"]
    whole = resolved(told, data["items"] if data.get("type") == "array" else data)
    for shape in [resolved(told, one) for one in whole.get("oneOf", [whole])]:
        # Null rather than a missing key; events alone keep quiet about the usual mode (decisions.md, "Simulator").
        keeps_quiet = {"mode"} if route.answer is Event or get_args(route.answer)[:1] == (Event,) else set()
        assert set(shape["required"]) | keeps_quiet == set(shape["properties"])


@pytest.mark.parametrize("route", TOLD, ids=names)
def test_the_scope_is_there(told: dict[str, Any], route: Operation) -> None:
    assert operations(told)[route.method, route.path]["security"] == (
        [] if route.is_public else [{"apiKey": [route.scope, *route.also]}]
    )


@pytest.mark.parametrize("route", TOLD, ids=names)
def test_every_error_is_there_under_its_status(told: dict[str, Any], route: Operation) -> None:
    answers = operations(told)[route.method, route.path]["responses"]
    found = {
        (status, code)
        for status, answer in answers.items()
        if status >= "400"
        for code in answer["x-error-codes"]
    }
    assert found == {(str(STATUSES[code]), code) for code in error_codes(route)}
    assert set(OPEN_ERRORS if route.is_public else COMMON_ERRORS) <= {code for _, code in found}


@pytest.mark.parametrize("route", TOLD, ids=names)
def test_a_refusal_shows_the_rate_to_who_has_a_key(told: dict[str, Any], route: Operation) -> None:
    answers = operations(told)[route.method, route.path]["responses"]
    for status in {STATUSES[code] for code in error_codes(route)}:
        is_known = not route.is_public and status != HTTPStatus.UNAUTHORIZED
        shown = RATE_HEADERS & set(answers[str(status)]["headers"])
        assert shown == (RATE_HEADERS if is_known else set()), status


def test_a_page_for_a_person_is_there_also_where_it_tells_of_a_fault(told: dict[str, Any]) -> None:
    for method in ("get", "post"):
        answers = told["paths"]["/v1/unsubscribe"][method]["responses"]
        assert "text/html" in answers["200"]["content"] and "text/html" in answers["400"]["content"]


def test_every_code_belongs_to_an_endpoint() -> None:
    documented = {code for route in OPERATIONS for code in error_codes(route)}
    assert set(MESSAGES) - documented - STRAY == set()


def test_health_is_there_and_needs_no_key(told: dict[str, Any]) -> None:
    health = operations(told)["GET", "/health"]
    assert health["security"] == []
    assert set(health["responses"]) == {"200", "503"}
    assert all("X-Request-Id" in answer["headers"] for answer in health["responses"].values())


@pytest.mark.parametrize("route", WITH_BODY, ids=names)
def test_every_body_has_an_example_that_is_taken(told: dict[str, Any], route: Operation) -> None:
    assert route.body is not None
    shown = operations(told)[route.method, route.path]["requestBody"]["content"]["application/json"]
    assert [one["value"] for one in shown["examples"].values()] == [route.body.example]
    read_body(route.body, bytearray(json.dumps(route.body.example).encode()))


@pytest.mark.parametrize("route", WITH_BODY, ids=names)
def test_a_body_may_be_absent_where_nothing_of_it_is_needed_and_nothing_is_sent(route: Operation) -> None:
    """Mail that went out since a program lost its body can't be called back."""
    assert route.body is not None
    if route.body.may_be_absent:
        assert not route.is_send
        assert read_body(route.body, bytearray()) == read_body(route.body, bytearray(b"{}"))
    else:
        with pytest.raises(Refusal, match="validation_failed"):
            read_body(route.body, bytearray())


def test_an_attempt_s_example_is_one_and_the_same_in_the_contract(told: dict[str, Any]) -> None:
    answer = operations(told)["GET", "/v1/messages/{id}/attempts"]["responses"]["200"]
    (shown,) = answer["content"]["application/json"]["examples"].values()
    (example,) = shown["value"]["data"]
    DeliveryAttempt.model_validate(example)
    blocks = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "contract.md").read_text("utf-8"), re.DOTALL)
    written = next(json.loads(block) for block in blocks if '"dialogue"' in block)
    assert written == example
    found = Evidence(
        "envelope",
        12,
        (
            HostEvidence(
                "mx.there.test", "192.0.2.25", 25, False, "mta-sts", "verify", "envelope",
                (0, None, None, None, None, None, 171, None, None), True, "198.51.100.7", "mail.acme.dev", "TLSv1.3",
                "TLS_AES_256_GCM_SHA384", "webpki", None, "\n".join(example["evidence"]["hosts"][0]["dialogue"]),
            ),
        ),
    )  # fmt: skip
    assert evidence_shown(found, example["address"]) == example["evidence"]


def test_links_lead_to_operations(told: dict[str, Any]) -> None:
    by_id = {one["operationId"]: one for one in operations(told).values()}
    links = [
        link
        for one in by_id.values()
        for answer in one["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert links
    for link in links:
        names_of = {one["name"] for one in by_id[link["operationId"]]["parameters"]}
        assert set(link["parameters"]) <= names_of


def test_no_component_is_left_over(written: dict[str, Any]) -> None:
    used = set(re.findall(r'"#/components/(\w+/[^"/]+)"', json.dumps(written)))
    kinds = written["components"].keys() - {"securitySchemes"}
    assert {f"{kind}/{name}" for kind in kinds for name in written["components"][kind]} == used


def test_what_operations_have_in_common_is_said_once(written: dict[str, Any]) -> None:
    """What each error is alone was said more than a thousand times: six tenths of the document."""
    rows = [
        *operations(written).values(),
        *(row for item in written["webhooks"].values() for row in item.values()),
    ]
    answers = [answer for row in rows for answer in row["responses"].values()]
    answers += written["components"]["responses"].values()
    parts = [
        *answers,
        *(one for row in rows for one in row["parameters"]),
        *written["components"]["parameters"].values(),
        *(
            one
            for answer in answers
            for kind in ("headers", "examples")
            for one in answer.get(kind, {}).values()
        ),
        *(
            one
            for answer in answers
            for media in answer.get("content", {}).values()
            for one in media.get("examples", {}).values()
        ),
    ]
    times = Counter(json.dumps(one, sort_keys=True) for one in parts if "$ref" not in one)
    assert [one for one, count in times.items() if count > 1] == []


def test_an_error_that_passes_says_when(told: dict[str, Any]) -> None:
    for row in operations(told).values():
        for status in {"429", "503"} & row["responses"].keys():
            answer = row["responses"][status]
            assert "x-error-codes" not in answer or "Retry-After" in answer["headers"]


# The guard that the clients of the tests carry -------------------------------------------------------


def error(code: str) -> bytes:
    return json.dumps({"error": {"code": code, "message": "x"}}).encode()


def test_the_guard_lets_documented_answers_pass() -> None:
    answered.check("GET", "/v1/inboxes/inb_1", 404, error("inbox_not_found"))
    answered.check("GET", "/v1/inboxes", 200, b'{"data": []}')
    answered.check("GET", "/v1/nowhere", 404, error("not_found"))
    answered.check("GET", "/health", 200, b"{}")


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/v1/inboxes/inb_1", 404, error("message_not_found")),
        ("GET", "/v1/inboxes/inb_1", 403, error("inbox_not_found")),
        ("GET", "/v1/inboxes", 404, error("not_found")),
        ("GET", "/v1/nowhere", 404, error("inbox_not_found")),
        ("GET", "/v1/nowhere", 200, b'{"data": []}'),
        ("GET", "/v1/inboxes", 201, b'{"data": []}'),
        ("GET", "/v1/inboxes", 200, b'{"data": [{}]}'),
        ("GET", "/v1/inboxes", 200, b'{"data": [], "more": 1}'),
        ("DELETE", "/v1/keys/key_1", 200, b'{"data": {"id": "key_1", "status": "revoked", "more": null}}'),
    ],
)
def test_the_guard_stops_what_is_not_documented(method: str, path: str, status: int, body: bytes) -> None:
    with pytest.raises(answered.Undocumented):
        answered.check(method, path, status, body)


# As it is served -----------------------------------------------------------------------------------


@on_shared
async def test_it_is_served_without_a_key_and_not_wrapped(shared: Running, written: dict[str, Any]) -> None:
    answer = await shared.api.with_key(None).get("/openapi.json")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json == written


TEXTS = (
    "/openapi.json",
    "/docs",
    "/docs/swagger-ui-bundle.js",
    "/docs/contract.md",
    "/llms.txt",
    "/llms-full.txt",
)


@on_shared
@pytest.mark.parametrize("path", TEXTS)
async def test_who_has_a_text_is_not_sent_it_again(shared: Running, path: str) -> None:
    api = shared.api.with_key(None)
    first = await api.get(path)
    tag = first.headers["ETag"]
    again = await api.call("GET", path, headers={"If-None-Match": tag})
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    other = await api.call("GET", path, headers={"If-None-Match": 'W/"another"'})
    assert (other.status, other.body) == (200, first.body)


@on_shared
@pytest.mark.parametrize("path", TEXTS)
async def test_a_text_is_packed_for_who_takes_it_so(shared: Running, path: str) -> None:
    api = shared.api.with_key(None)
    plain = await api.call("GET", path, headers={"Accept-Encoding": "identity, gzip;q=0"})
    packed = await api.call("GET", path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert plain.body == packed.body, "the client of these tests unpacks it"
    assert int(packed.headers["Content-Length"]) < int(plain.headers["Content-Length"])
    assert {plain.headers["Vary"], packed.headers["Vary"]} == {"Accept-Encoding"}


@on_shared
@pytest.mark.parametrize("path", TEXTS)
async def test_an_editor_on_another_site_may_read_the_texts_alone(shared: Running, path: str) -> None:
    asked = {"Origin": "https://editor.example"}
    first = await shared.api.with_key(None).call("GET", path, headers=asked)
    known = {**asked, "If-None-Match": first.headers["ETag"]}
    again = await shared.api.with_key(None).call("GET", path, headers=known)
    is_text = not re.fullmatch(r"/docs(/[a-z-]+\.(js|css))?", path)
    for answer in (first, again):
        assert answer.headers.get("Access-Control-Allow-Origin") == ("*" if is_text else None)
    inboxes = await shared.api.call("GET", "/v1/inboxes", headers=asked)
    assert inboxes.status == 200 and "Access-Control-Allow-Origin" not in inboxes.headers


class Assets(HTMLParser):
    """Every address in a page, and whether it holds code of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@on_shared
async def test_the_reference_loads_nothing_from_elsewhere(shared: Running) -> None:
    api = shared.api.with_key(None)
    page = await api.get("/docs")
    assert page.status == 200
    assert page.headers["Content-Type"].startswith("text/html")
    assert b"//" not in page.body.replace(b"<!doctype", b"")
    assets = Assets()
    assets.feed(page.body.decode())
    assert assets.addresses and assets.handlers == []
    for address in assets.addresses:
        assert re.fullmatch(r"/docs/[a-z.-]+", address)
        asset = await api.get(address)
        assert asset.status == 200
        assert asset.headers["X-Content-Type-Options"] == "nosniff"
        if address.endswith(".css"):
            assert set(re.findall(rb"url\(['\"]?(\w+:)", asset.body)) <= {b"data:"}
            assert b"@import" not in asset.body


@on_shared
async def test_the_page_is_confined_by_its_policy(shared: Running) -> None:
    page = await shared.api.with_key(None).get("/docs")
    parts = (one.split() for one in page.headers["Content-Security-Policy"].split(";"))
    policy = {name: sources for name, *sources in parts}
    assert policy["default-src"] == ["'self'"]
    assert "script-src" not in policy and "connect-src" not in policy  # as default-src says
    allowed = {"'self'", "data:", "'unsafe-inline'", "'none'"}
    assert all(set(sources) <= allowed for sources in policy.values())


@on_shared
async def test_there_is_no_other_file_to_be_had(shared: Running) -> None:
    api = shared.api.with_key(None)
    for name in ("index.html", "__init__.py", "..%2F__init__.py", "%2e%2e/errors.py", "nothing.js"):
        answer = await api.get(f"/docs/{name}")
        assert (answer.status, answer.code) == (404, "not_found"), name
