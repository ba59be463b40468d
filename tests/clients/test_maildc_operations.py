"""Every operation is a command of `maildc`, by the names that the Python client has, and what is given to it goes over
the wire as it was given: the right place, name and type."""

import inspect
import json
from typing import Any
from urllib.parse import parse_qsl, quote

import pytest
from aiohttp import web

from maild_client import Maild
from maild_client._given import ID_PREFIXES
from maild_client.cli.columns import COLUMNS
from maild_client.cli.rows import OperationRow, Taken, row_of, rows, schemas
from maild_client.cli.schema import EXIT_CODES
from tests.support.clients import maildc
from tests.support.peers.serving import serving

KEY = "svc_live_abcdefghijklmnopqrstuvwxyz"
ID = "an/id?#é"
EVENT = {
    "id": "evt_1",
    "type": "message.received",
    "createdAt": "2026-01-02T03:04:05Z",
    "data": {"messageId": "m"},
}
ANSWERS: dict[str, Any] = {"object": {"id": "x"}, "list": [{"id": "x"}]}
SAMPLES: dict[str, tuple[list[str], Any]] = {
    "string": (["a b=ü"], "a b=ü"),
    "integer": (["7"], 7),
    "map": (["k=v=w"], {"k": "v=w"}),
    "json": (['{"a": [1, null]}'], {"a": [1, None]}),
}
SCHEMAS = schemas()


class Recorder:
    """Answers as the operation does, and keeps what was asked."""

    def __init__(self, row: OperationRow) -> None:
        self._row = row
        self.seen: list[tuple[web.Request, bytes]] = []

    async def handle(self, asked: web.Request) -> web.StreamResponse:
        self.seen.append((asked, await asked.read()))
        kind = self._row.answer["kind"]
        if kind == "bytes":
            return web.Response(body=b"\x00\xff octets")
        if kind != "stream":
            return web.json_response({"data": ANSWERS[kind]})
        if len(self.seen) > 1:
            return web.json_response({"error": {"code": "insufficient_scope", "message": "no"}}, status=403)
        text = f"id: 1\nevent: message.received\ndata: {json.dumps(EVENT)}\n\n"
        return web.Response(text=text, content_type="text/event-stream")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
async def test_an_operation_is_called_as_it_was_said(
    row: OperationRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, expected = said(row)
    recorder = Recorder(row)
    async with serving(recorder.handle) as url:
        monkeypatch.setenv("MAILD_URL", url)
        monkeypatch.setenv("MAILD_API_KEY", KEY)
        done = await maildc.within(*words)
    asked, body = recorder.seen[0]
    assert asked.method == row.method
    assert asked.raw_path.partition("?")[0] == row.path.replace("{id}", "".join(expected["path"].values()))
    assert dict(parse_qsl(asked.query_string)) == {
        key: in_query(value) for key, value in expected["query"].items()
    }
    if any(one.place == "body" for one in row.takes):
        assert json.loads(body) == expected["body"]
    else:
        assert dict(parse_qsl(body.decode())) == row.form
    assert all(asked.headers[name] == value for name, value in expected["header"].items())
    assert asked.headers.get("Authorization") == (None if row.is_public else f"Bearer {KEY}")
    kind = row.answer["kind"]
    if kind == "stream":
        assert (done.code, json.loads(done.out)) == (3, EVENT)
    elif kind == "bytes":
        assert (done.code, done.out.encode("utf-8", "surrogateescape")) == (0, b"\x00\xff octets")
    else:
        assert (done.json, done.said) == (ANSWERS[kind], "")


def said(row: OperationRow) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Words that give all that the operation takes, and what should go over the wire."""
    words = [row.resource.replace("_", "-"), row.verb.replace("_", "-")]
    expected: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}}
    for taken in row.takes:
        if taken.place == "path":
            words.append(an_id(taken.option))
            expected["path"][taken.name] = quote(words[-1], safe="")
            continue
        more, value = sample(taken)
        words += more
        expected[taken.place][taken.name] = value
    return words + (["--yes"] if row.destroys else []), expected


def sample(taken: Taken) -> tuple[list[str], Any]:
    if taken.kind == "boolean":
        return [taken.flag], True
    if taken.kind == "strings":
        values = [*taken.choices[:2]] or ["one", "t&o"]
        return [word for value in values for word in (taken.flag, value)], values
    if taken.choices:
        return [taken.flag, taken.choices[-1]], taken.choices[-1]
    if taken.place == "query" and taken.name.endswith("Id"):
        return [taken.flag, an_id(taken.name)], an_id(taken.name)
    if taken.place == "header":
        return [taken.flag, "plain"], "plain"
    values, value = SAMPLES[taken.kind]
    return [taken.flag, *values], value


def an_id(name: str) -> str:
    """One of the kind that is named, or of any, which only a segment of a path can be."""
    prefix = ID_PREFIXES.get(name.removesuffix("_id").removesuffix("Id"))
    return f"{prefix}_{ID}" if prefix else ID


def in_query(value: Any) -> str:
    return {True: "true"}.get(value, str(value)) if not isinstance(value, list) else ",".join(value)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_names_are_those_of_the_python_client(row: OperationRow) -> None:
    client = Maild("svc_live_x", "http://127.0.0.1:9")
    try:
        method = getattr(getattr(client, row.resource), row.verb)
    finally:
        client.close()
    names = {name.rstrip("_") for name in inspect.signature(method).parameters}  # `from_` is a word of Python
    assert names == {one.option for one in row.takes}


def test_a_command_without_an_idempotency_key_makes_one_of_its_own() -> None:
    from maild_client.cli.calling import call_of  # noqa: PLC0415 - as the commands do

    nothing: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}}
    keys = [call_of(row_of("sendMessage"), nothing).idempotency_key for _ in range(2)]
    assert keys[0] and keys[1] and keys[0] != keys[1]
    assert call_of(row_of("createWebhook"), nothing).idempotency_key is None


@pytest.mark.parametrize("id", COLUMNS)
def test_the_columns_of_a_table_are_members_of_what_is_answered(id: str) -> None:
    answer = row_of(id).answer
    assert answer["kind"] == "list"
    item = SCHEMAS[answer["schema"]["items"]["$ref"].rsplit("/", 1)[1]]
    models = [SCHEMAS[one["$ref"].rsplit("/", 1)[1]] for one in item["oneOf"]] if "oneOf" in item else [item]
    assert all({*COLUMNS[id]} <= {*model["properties"]} for model in models)


def test_every_list_has_columns() -> None:
    assert {row.id for row in rows() if row.answer["kind"] == "list"} == {*COLUMNS}


def test_exit_codes_are_what_the_documents_say() -> None:
    assert EXIT_CODES == {
        "done": 0, "refused": 1, "usage": 2, "key": 3, "not_found": 4, "conflict": 5, "quota_or_rate": 6,
        "server_or_network": 7, "timed_out": 8,
    }  # fmt: skip
