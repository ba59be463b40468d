"""The Python client's generated half: types, and a class per resource with a method per operation.

`maild_client/types.py` and `maild_client/_async/resources.py` come from the document; `maild_client/_sync` from
`_async` (scripts/client_sync.py). The core, by hand, knows no operation by name.
"""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts import client_sync
from scripts.client_names import CURSORS, EITHER, ID_PREFIXES, MOMENTS, NAMES, WAITS, Name, id_name, position

Schema = Mapping[str, Any]

PACKAGE = "maild_client"
HEAD = '"""{title} Generated from /openapi.json by scripts/clients."""\n\n'
WIDTH = 104  # of docstrings: their lines are indented
LONG = 60  # of a value in an example
STREAM = "text/event-stream"
FILE = "AttachmentInput"
OCTETS = (FILE, "content")  # base64 on the wire, which the client writes
JSON = "application/json"
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
# What is said in other words: the position of a stream, which goes on by itself.
LEFT_OUT = ("Last-Event-ID", "lastEventId")
# A member whose type may be any word would keep type checkers from telling the others apart.
EVENTS = "# There may be others at run time, of types that this version does not know: leave them be.\n"


def write(document: Schema, folder: Path) -> None:
    """Write what is generated into the client's folder (that of its `pyproject.toml`)."""
    package = folder / PACKAGE
    (package / "types.py").write_text(types(document), "utf-8")
    (package / "_async" / "resources.py").write_text(resources(document), "utf-8")
    client_sync.derive(package / "_async", package / "_sync")
    made = [str(package / "types.py"), str(package / "_async"), str(package / "_sync")]
    config = str(Path(__file__).parents[1] / "pyproject.toml")
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run(
        [*ruff, "check", "--config", config, "-q", "--select", "I,F401", "--fix", *made], check=True
    )
    subprocess.run([*ruff, "format", "--config", config, "-q", *made], check=True)


# Types --------------------------------------------------------------------------------------------


def types(document: Schema) -> str:
    """The module of all objects that are given or told, as TypedDicts with the names of the wire."""
    schemas: Schema = document["components"]["schemas"]
    asked = set(_reached(_bodies(document), schemas)) - {_name(one) for one in _bodies(document)}
    told = set(_reached(_told(document), schemas))
    parts = [
        HEAD.format(title="What is given to the API and told by it, in the wire's own names."),
        "from collections.abc import Mapping, Sequence\n",
        "from typing import Any, Literal, NotRequired, TypedDict\n\n",
        *(
            _typed_dict(name, schemas[name], name in asked - told)
            for name in _in_order(asked | told, schemas)
        ),
        f"{EVENTS}Event = {_union(schemas['Event']['oneOf'])}\n",
        f"WebhookEvent = {_union(_webhook_bodies(document))}\n",
    ]
    return "".join(parts)


def annotation(schema: Schema, *, is_given: bool, module: str = "") -> str:
    """The type of a value. What is given may be any sequence; what is told may be a word that is not known yet."""
    if "$ref" in schema:
        return module + _name(schema)
    for several in ("anyOf", "oneOf"):
        if several in schema and "type" not in schema:
            kinds = [annotation(one, is_given=is_given, module=module) for one in schema[several]]
            return " | ".join(dict.fromkeys(kinds))
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        words = f"Literal[{', '.join(map(repr, schema['enum']))}]"
        return words if is_given else f"{words} | str"
    return _plain_annotation(schema, is_given=is_given, module=module)


def _plain_annotation(schema: Schema, *, is_given: bool, module: str) -> str:
    kind = schema.get("type")
    if kind == "array":
        items = annotation(schema["items"], is_given=is_given, module=module)
        return f"Sequence[{items}]" if is_given else f"list[{items}]"
    if kind == "object":
        more = schema.get("additionalProperties", True)
        values = "Any" if more is True else annotation(more, is_given=is_given, module=module)
        return f"Mapping[str, {values}]" if is_given else f"dict[str, {values}]"
    return SCALARS[kind] if kind else "Any"


def _typed_dict(name: str, schema: Schema, is_given: bool) -> str:
    fields = {}
    for field, told in schema.get("properties", {}).items():
        kind = annotation(told, is_given=is_given)
        if (name, field) == OCTETS:
            kind = f"{kind} | bytes"
        fields[field] = kind if field in schema.get("required", ()) else f"NotRequired[{kind}]"
    about = textwrap.fill(schema.get("description", ""), WIDTH, subsequent_indent="    ")
    if any(keyword.iskeyword(field) for field in fields):  # no names of a class's body
        members = ", ".join(f"{field!r}: {kind}" for field, kind in fields.items())
        comment = "".join(f"# {line.strip()}\n" for line in about.splitlines())
        return f"{comment}{name} = TypedDict({name!r}, {{{members}}})\n\n\n"
    text = f'"""{about}"""\n\n    ' if about else ""
    lines = "\n    ".join(f"{field}: {kind}" for field, kind in fields.items())
    return f"class {name}(TypedDict):\n    {text}{lines or 'pass'}\n\n\n"


def _union(schemas: Iterable[Schema]) -> str:
    return " | ".join(_name(one) for one in schemas)


def _webhook_bodies(document: Schema) -> list[Schema]:
    hooks = document["webhooks"].values()
    return [hook["post"]["requestBody"]["content"][JSON]["schema"] for hook in hooks]


def _bodies(document: Schema) -> list[Schema]:
    return [one.body_reference for one in operations(document) if one.body_reference is not None]


def _told(document: Schema) -> list[Schema]:
    return [one.told for one in operations(document) if one.told is not None] + _webhook_bodies(document)


def _reached(roots: Iterable[Schema], schemas: Schema) -> dict[str, None]:
    """Names of the schemas that these lead to, those that others are made of first. `Event` is a union by hand."""
    found: dict[str, None] = {}
    for name in (name for root in roots for name in _references(root)):
        if name not in found and name != "Event":
            found |= _reached([schemas[name]], schemas)
            found[name] = None
    if any("Event" in _references(root) for root in roots):
        found |= _reached([schemas["Event"]], schemas)
    return found


def _in_order(names: Iterable[str], schemas: Schema) -> Iterator[str]:
    wanted = set(names)
    return (
        name for name in _reached([{"$ref": f"/{one}"} for one in sorted(wanted)], schemas) if name in wanted
    )


def _references(schema: Any) -> list[str]:
    if isinstance(schema, Mapping):
        here = [_name(schema)] if isinstance(schema.get("$ref"), str) else []
        return here + [name for one in schema.values() for name in _references(one)]
    if isinstance(schema, list):
        return [name for one in schema for name in _references(one)]
    return []


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


# Operations ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """A keyword argument of a method."""

    wire: str
    kind: str
    is_required: bool
    about: str

    @property
    def name(self) -> str:
        """`inboxId` → `inbox_id`, `If-Range` → `if_range`, `from` → `from_`."""
        snake = (
            re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", self.wire).replace("-", "_").lower().replace("__", "_")
        )
        return f"{snake}_" if keyword.iskeyword(snake) else snake

    @property
    def declared(self) -> str:
        return f"{self.name}: {self.kind}" + ("" if self.is_required else " = UNSET")

    @property
    def passed(self) -> str:
        return f"{self.wire!r}: {self.name}"

    @property
    def passed_in_body(self) -> str:
        """As JSON, which takes no text for a list of texts."""
        if not self.kind.startswith("Sequence["):
            return self.passed
        return f"{self.wire!r}: {'files' if FILE in self.kind else 'listed'}({self.name!r}, {self.name})"


@dataclass(frozen=True)
class ClientOperation:
    """An operation of the document, as the generators read it."""

    path: str
    method: str
    row: Schema
    schemas: Schema

    @property
    def id(self) -> str:
        return str(self.row["operationId"])

    @property
    def name(self) -> Name:
        return NAMES[self.id]

    @property
    def is_public(self) -> bool:
        return not self.row["security"]

    @property
    def scopes(self) -> list[str]:
        return [scope for one in self.row["security"] for scopes in one.values() for scope in scopes]

    @property
    def body_reference(self) -> Schema | None:
        found: Schema | None = self._request.get(JSON, {}).get("schema")
        return found

    @property
    def form(self) -> Schema:
        """Members of a form, each with the one value that it may have."""
        schema = self._request.get("application/x-www-form-urlencoded", {}).get("schema", {})
        return {name: told["enum"][0] for name, told in schema.get("properties", {}).items()}

    @property
    def _request(self) -> Schema:
        content: Schema = self.row.get("requestBody", {}).get("content", {})
        return content

    @property
    def example(self) -> Schema:
        """A body as somebody would send it; empty where there is none."""
        shown: Schema = self._request.get(JSON, {}).get("examples", {}).get(self.id, {}).get("value", {})
        return shown

    @cached_property
    def success(self) -> Schema:
        """Media types of the answer and their schemas."""
        found = {status: told for status, told in self.row["responses"].items() if status in ("200", "201")}
        content: Schema = found[max(found)].get("content", {})
        return content

    @property
    def told(self) -> Schema | None:
        """The schema of what the answer tells; None of bytes."""
        if JSON not in self.success:
            return None
        schema: Schema = self.success[JSON]["schema"]
        data: Schema = schema.get("properties", {}).get("data", schema)
        return data

    @property
    def codes(self) -> list[str]:
        """What may go wrong, by the document."""
        return [code for told in self.row["responses"].values() for code in told.get("x-error-codes", ())]

    @property
    def body(self) -> list[Argument]:
        if self.body_reference is None:
            return []
        schema = self.schemas[_name(self.body_reference)]
        required = schema.get("required", ())
        return [
            Argument(name, _argument(told, name), name in required, told.get("description", ""))
            for name, told in schema["properties"].items()
        ]

    @property
    def query(self) -> list[Argument]:
        return self._parameters("query")

    @property
    def headers(self) -> list[Argument]:
        return [one for one in self._parameters("header") if one.wire != "Idempotency-Key"]

    @property
    def takes_idempotency_key(self) -> bool:
        return any(one["name"] == "Idempotency-Key" for one in self.row.get("parameters", ()))

    @property
    def wait(self) -> str | None:
        """The argument that says how long the server may take its time."""
        return next((one.name for one in (*self.query, *self.body) if one.wire in WAITS), None)

    @property
    def cursor(self) -> str | None:
        """The parameter that pages of the list go by; None where the answer is all there is."""
        if self.told is None or self.told.get("type") != "array":
            return None
        return next((one for one in CURSORS if any(two.wire == one for two in self.query)), None)

    @property
    def position(self) -> str:
        """The member of an item that the next page begins behind, or several, with `@` between them."""
        assert self.told is not None
        return position(self.id, self.schemas[_name(self.told["items"])])

    def _parameters(self, place: str) -> list[Argument]:
        return [
            Argument(
                one["name"],
                _argument(one["schema"], one["name"]),
                one["required"],
                one.get("description") or one["schema"].get("description", ""),
            )
            for one in self.row.get("parameters", ())
            if one["in"] == place and one["name"] not in LEFT_OUT
        ]


def operations(document: Schema) -> list[ClientOperation]:
    """All operations, in the document's order."""
    schemas = document["components"]["schemas"]
    return [
        ClientOperation(path, method.upper(), row, schemas)
        for path, rows in document["paths"].items()
        for method, row in rows.items()
    ]


def _argument(schema: Schema, name: str) -> str:
    kind = annotation(schema, is_given=True, module="api.")
    if name in MOMENTS:
        return f"{MOMENTS[name]} | {kind}"
    return kind.replace(f"[api.{FILE}]", f"[api.{FILE} | Path]")


# Resources ----------------------------------------------------------------------------------------


def resources(document: Schema) -> str:
    """The module of the resources' classes, as coroutines."""
    by_resource: dict[str, list[ClientOperation]] = {}
    for one in operations(document):
        by_resource.setdefault(one.name.resource, []).append(one)
    everywhere = set.intersection(*(set(one.codes) for one in operations(document) if one.scopes))
    attributes = "".join(f"        self.{name} = {_class(name)}(transport)\n" for name in by_resource)
    raised = textwrap.wrap(f"Any call with a key may also raise {', '.join(sorted(everywhere))}.", WIDTH)
    parts = [
        HEAD.format(title="A class for each resource, a method for each operation."),
        "import builtins\nfrom collections.abc import Mapping, Sequence\nfrom datetime import date, datetime\n",
        "from pathlib import Path\n",
        "from typing import Any, Literal, cast, overload\n\n",
        f"from {PACKAGE} import types as api\n",
        f"from {PACKAGE}._async.pages import AsyncPages\nfrom {PACKAGE}._async.stream import AsyncEventStream\n",
        f"from {PACKAGE}._async.transport import AsyncTransport\n",
        f"from {PACKAGE}._given import UNSET, files, listed, repeated_under, segment\n",
        f"from {PACKAGE}._names import tell_names\nfrom {PACKAGE}._wire import Call\n\n\n",
        "class AsyncResource:\n    def __init_subclass__(cls) -> None:\n        tell_names(cls)\n\n",
        "    def __init__(self, transport: AsyncTransport) -> None:\n",
        "        self._transport = transport\n\n\n",
        *(_resource(name, rows, everywhere) for name, rows in by_resource.items()),
        f"class AsyncResources:\n{textwrap.indent(_quoted(['All resources.', '', *raised]), '    ')}\n",
        f"    def __init__(self, transport: AsyncTransport) -> None:\n{attributes}",
    ]
    return "".join(parts)


def _class(resource: str) -> str:
    return "Async" + "".join(part.title() for part in resource.split("_"))


def _resource(name: str, rows: Sequence[ClientOperation], everywhere: set[str]) -> str:
    methods = "\n".join(textwrap.indent(_method(one, everywhere), "    ") for one in rows)
    return f'class {_class(name)}(AsyncResource):\n    """`client.{name}`."""\n\n{methods}\n\n'


def _method(one: ClientOperation, everywhere: set[str]) -> str:
    kind, (returned, expression) = _returned(one)
    overloads = "".join(f"@overload\n{kind} {head} ...\n" for head in _overloads(one))
    head = _head(one, _keywords(one), returned)
    body = f"{_docstring(one, everywhere)}    call = {_call(one)}\n    return {expression}\n"
    return f"{overloads}{kind} {head}\n{body}"


def _keywords(one: ClientOperation) -> list[Argument]:
    return sorted((*one.body, *one.query, *one.headers), key=lambda argument: not argument.is_required)


def _head(one: ClientOperation, keywords: Sequence[Argument], returned: str) -> str:
    id = id_name(one.path)
    declared = [argument.declared for argument in keywords]
    if one.takes_idempotency_key:
        declared.append("idempotency_key: str | None = None")
    signature = ["self", *([f"{id}: str"] if id else []), *(["*", *declared] if declared else [])]
    return f"{one.name.verb}({', '.join(signature)},) -> {returned}:"


def _overloads(one: ClientOperation) -> Iterator[str]:
    """Of an answer of two kinds: by what the member of the body that decides is known to be."""
    if one.id not in EITHER:
        return
    schema = one.told or {}
    usual, other = (annotation(kind, is_given=False, module="api.") for kind in schema["oneOf"])
    either = annotation(schema, is_given=False, module="api.")
    for kind, is_required, told in (
        ("Literal[False]", False, usual),
        ("Literal[True]", True, other),
        ("bool", True, either),
    ):
        keywords = [
            replace(argument, kind=kind, is_required=is_required)
            if argument.wire == EITHER[one.id]
            else argument
            for argument in _keywords(one)
        ]
        yield _head(one, keywords, told)


def _returned(one: ClientOperation) -> tuple[str, tuple[str, str]]:
    """`def` or `async def`, and the type and the expression of what is returned."""
    if STREAM in one.success:
        return "def", ("AsyncEventStream", "AsyncEventStream(self._transport, call)")
    if one.told is None:
        return "async def", ("bytes", "await self._transport.octets(call)")
    told = annotation(one.told, is_given=False, module="api.")
    if one.cursor is not None:
        item = told.removeprefix("list[").removesuffix("]")
        made = f"AsyncPages(self._transport, call, {one.cursor!r}, {one.position!r})"
        return "def", (f"AsyncPages[{item}]", made)
    told = re.sub(r"^list\[", "builtins.list[", told)
    return "async def", (told, f"cast({told!r}, await self._transport.json(call))")


def _call(one: ClientOperation) -> str:
    id = id_name(one.path)
    path = f'f"{one.path.replace("{id}", f"{{segment({id!r}, {id})}}")}"' if id else f'"{one.path}"'
    parts = [f'"{one.method}"', path]
    for place, arguments in (("query", one.query), ("headers", one.headers)):
        if arguments:
            parts.append(f"{place}={{{', '.join(argument.passed for argument in arguments)}}}")
    if one.body_reference is not None:
        parts.append(f"body={{{', '.join(argument.passed_in_body for argument in one.body)}}}")
    if one.form:
        parts += [f"form={dict(one.form)!r}", "headers={'Accept': 'application/json'}"]
    if one.takes_idempotency_key:
        parts.append("idempotency_key=repeated_under(idempotency_key)")
    if one.wait:
        parts.append(f"wait_s={one.wait}")
    if one.is_public:
        parts.append("is_public=True")
    return f"Call({', '.join(parts)})"


# Docstrings ---------------------------------------------------------------------------------------


def _docstring(one: ClientOperation, everywhere: set[str]) -> str:
    lines = [_sentence(one.row["summary"]), ""]
    explained = [argument for argument in (*one.body, *one.query, *one.headers) if argument.about]
    for argument in explained:
        lines += textwrap.wrap(
            f"`{argument.name}`: {_sentence(argument.about)}", WIDTH, subsequent_indent="  "
        )
    if explained:
        lines.append("")
    if one.scopes:
        lines.append(f"Scope: {', '.join(one.scopes)}.")
    codes = [code for code in one.codes if code not in everywhere]
    if codes:
        lines += textwrap.wrap(f"Errors: {', '.join(codes)}.", WIDTH, subsequent_indent="  ")
    if lines[-1]:
        lines.append("")
    lines += textwrap.indent(_example(one), "    ").splitlines()
    return textwrap.indent(_quoted(lines), "    ")


def _quoted(lines: Sequence[str]) -> str:
    return '"""' + "\n".join(lines) + '\n"""\n'


def _example(one: ClientOperation) -> str:
    """How it is called: the document's own example, or what is required."""
    id = id_name(one.path)
    arguments = [f'"{ID_PREFIXES[id]}_…"'] if id else []
    given = {argument.wire: argument.name for argument in (*one.body, *one.query)}
    arguments += [f"{given[name]}={_shown(value)}" for name, value in one.example.items()]
    arguments += [f'{argument.name}="…"' for argument in one.query if argument.is_required]
    call = f"client.{one.name.resource}.{one.name.verb}({', '.join(arguments)})"
    if len(call) > WIDTH - 20:
        lines = (
            "".join(f"    {argument},\n" for argument in arguments)
            .replace("[{", "[\n        {")
            .replace("}]", "}\n    ]")
        )
        call = f"client.{one.name.resource}.{one.name.verb}(\n{lines})"
    if STREAM in one.success:
        return f"async for event in {call}:\n    print(event['type'])"
    if one.cursor is not None:
        return f"async for one in {call}:\n    print(one['{one.position.partition('@')[0]}'])"
    return f"await {call}"


def _shown(value: Any) -> str:
    """A value as Python, with ids cut short."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_shown(name)}: {_shown(one)}' for name, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, str):
        short = re.sub(r"\b([a-z]{3}_|sha256:)[0-9a-z]{26,}\b", r"\1…", " ".join(value.split()))
        return json.dumps(short if len(short) < LONG else short[:LONG] + "…", ensure_ascii=False)
    return repr(value)


def _sentence(text: str) -> str:
    return text if text.endswith(("?", ".")) else f"{text}."
