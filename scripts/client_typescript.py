"""The TypeScript client's generated half: the types of the wire, and a class per resource with a method per operation.

`src/schema.ts` is openapi-typescript's, of the schemas alone and an interface for each operation's parameters;
`src/operations.ts` is ours. The core, by hand, knows no operation by name but those that work needs.
"""

import asyncio
import json
import re
import subprocess
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.client_names import EITHER, MOMENTS, WAITS, id_name
from scripts.client_python import OCTETS, STREAM, ClientOperation, Schema, operations
from tests.support.machine import node, tools

CLIENT = Path(__file__).parents[1] / "controlplane" / "clients" / "typescript"
HEAD = "// {title} Generated from /openapi.json by scripts/clients.\n"
WIDTH = 114
JSON = "application/json"
WAIT_USUAL_S = 25  # where it was not said how long
# What types alone are for; the rest (formats, bounds, examples) is the reference's.
KEPT = frozenset(
    {"type", "enum", "const", "items", "properties", "required", "additionalProperties", "anyOf", "oneOf"}
    | {"$ref", "description"}
)
RENAMED = {"Error": "RefusedAnswer"}  # whoever imports all types keeps the language's own


class NoTypes(Exception):
    """openapi-typescript made none; the text is what it said."""


def write(document: Schema, folder: Path) -> None:
    """Write `src/schema.ts` and `src/operations.ts` into the client's folder (that of its `package.json`)."""
    source = folder / "src"
    source.mkdir(parents=True, exist_ok=True)
    (source / "schema.ts").write_text(schema(document), "utf-8")
    (source / "operations.ts").write_text(resources(document), "utf-8")


# Types --------------------------------------------------------------------------------------------


def schema(document: Schema) -> str:
    """The module of all objects, by openapi-typescript as the client's package-lock.json pins it."""
    modules = asyncio.run(node.modules(CLIENT))
    with tempfile.TemporaryDirectory() as folder:
        asked, made = Path(folder, "openapi.json"), Path(folder, "schema.ts")
        asked.write_text(json.dumps(plain(document)), "utf-8")
        program = modules / ".bin" / "openapi-typescript"
        options = ("--root-types", "--root-types-no-schema-prefix", "--root-types-keep-casing")
        command = [tools.path_of("node"), str(program), str(asked), "-o", str(made)]
        done = subprocess.run(
            [*command, *options, "--default-non-nullable", "false"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise NoTypes(done.stdout + done.stderr)
        found = made.read_text("utf-8")
    webhook_event = " | ".join(_name(body) for body in _webhook_bodies(document))
    return (
        HEAD.format(title="What is given to the API and told by it.")
        + _by_name(_with_own_types(_without_empty(found)))
        + f"export type WebhookEvent = {webhook_event};\n"
    )


def plain(document: Schema) -> dict[str, Any]:
    """The document with nothing in it but schemas, and one of them for each operation's parameters."""
    schemas = {RENAMED.get(name, name): told for name, told in document["components"]["schemas"].items()}
    parameters = {
        name: told for one in operations(document) if (told := _parameters(one)) for name in [params(one)]
    }
    twice = schemas.keys() & parameters.keys()
    assert not twice, f"names that stand twice: {twice}"
    return {
        "openapi": "3.1.0",
        "info": {"title": "maild", "version": "1"},
        "paths": {},
        "components": {"schemas": _kept({**schemas, **parameters})},
    }


def params(one: ClientOperation) -> str:
    """The type of a method's parameters."""
    if one.body_reference is not None:
        return _name(one.body_reference)
    return f"{one.id[0].upper()}{one.id[1:]}Params"


def _parameters(one: ClientOperation) -> Schema | None:
    """The schema of query and headers as one object; None where there are none, or a body in their place."""
    if one.body_reference is not None:
        assert not one.query and not one.headers, f"{one.id} has both a body and parameters"
        return None
    told = {argument.wire for argument in (*one.query, *one.headers)}
    rows = [row for row in one.row.get("parameters", ()) if row["name"] in told]
    if not rows:
        return None
    return {
        "type": "object",
        "description": f"What `{called(one)}` is asked with.",
        "properties": {_camel(row["name"]): _described(row) for row in rows},
        "required": [_camel(row["name"]) for row in rows if row["required"]],
    }


def _described(row: Schema) -> Schema:
    text = row.get("description")
    return {**row["schema"], "description": text} if text else dict(row["schema"])


def _kept(told: Any, are_names: bool = True) -> Any:
    """Without what no type says. `are_names`: the keys are those of properties, not of a schema."""
    if isinstance(told, list):
        return [_kept(one, are_names=False) for one in told]
    if not isinstance(told, Mapping):
        return told
    kept = {key: _kept(value, key == "properties") for key, value in told.items() if are_names or key in KEPT}
    if isinstance(kept.get("$ref"), str):
        head, _, name = kept["$ref"].rpartition("/")
        kept["$ref"] = f"{head}/{RENAMED.get(name, name)}"
    return kept


def _without_empty(text: str) -> str:
    """openapi-typescript's module without its own heading and the parts that a document of schemas lacks."""
    text = re.sub(r"^/\*\*.*?\*/\n+", "", text, count=1, flags=re.DOTALL)
    text = re.sub(
        r"^export (type|interface) (paths|webhooks|operations|\$defs)\b.*\n", "", text, flags=re.MULTILINE
    )
    return re.sub(r"\n    (responses|parameters|requestBodies|headers|pathItems): never;", "", text)


def _with_own_types(text: str) -> str:
    """Moments that are given may be a Date, octets a Uint8Array: the client writes them as the wire has them."""
    text = re.sub(rf"^( +(?:{'|'.join(MOMENTS)})\?: )string", r"\1Date | string", text, flags=re.MULTILINE)
    model, member = OCTETS
    return re.sub(
        rf"( {model}: {{.*?\b{member}: )string", r"\1Uint8Array | string", text, count=1, flags=re.DOTALL
    )


def _by_name(text: str) -> str:
    """Each schema as a type of its own: of one that is looked up in another, editors and errors write out all members."""
    found = re.search(r"^    schemas: \{\n(.*?)^    \};\n", text, flags=re.MULTILINE | re.DOTALL)
    assert found, "openapi-typescript has no schemas"
    types = re.sub(r'components\["schemas"\]\["(\w+)"\]', r"\1", textwrap.dedent(found[1]))
    types = re.sub(r"^(\w+): ", r"export type \1 = ", types, flags=re.MULTILINE)
    return types.replace("@description ", "")


def _webhook_bodies(document: Schema) -> list[Schema]:
    return [hook["post"]["requestBody"]["content"][JSON]["schema"] for hook in document["webhooks"].values()]


def _name(reference: Schema) -> str:
    name = str(reference["$ref"]).rpartition("/")[2]
    return RENAMED.get(name, name)


# Resources ----------------------------------------------------------------------------------------


def resources(document: Schema) -> str:
    """The module of the resources' classes."""
    by_resource: dict[str, list[ClientOperation]] = {}
    for one in operations(document):
        by_resource.setdefault(one.name.resource, []).append(one)
    everywhere = set.intersection(*(set(one.codes) for one in operations(document) if one.scopes))
    raised = textwrap.wrap(f" * Any call with a key may also refuse with {', '.join(sorted(everywhere))}.",
                           WIDTH, subsequent_indent=" * ")  # fmt: skip
    declared = "".join(f"  readonly {_camel(name)}: {_class(name)};\n" for name in by_resource)
    made = "".join(f"    this.{_camel(name)} = new {_class(name)}(transport);\n" for name in by_resource)
    parts = [
        HEAD.format(title="A class for each resource, a method for each operation."),
        'import { fields, segment } from "./given.js";\nimport { Pages } from "./pages.js";\n',
        'import type * as api from "./schema.js";\n',
        'import { type Call, type Octets, type RequestOptions, type Transport, type WriteOptions } from "./transport.js";\n\n',
        "class Resource {\n  readonly #transport: Transport;\n\n",
        "  constructor(transport: Transport) {\n    this.#transport = transport;\n  }\n\n",
        "  protected get transport(): Transport {\n    return this.#transport;\n  }\n}\n\n",
        *(_resource(name, rows, everywhere) for name, rows in by_resource.items()),
        "/**\n * All resources.\n *\n" + "\n".join(raised) + "\n */\n",
        f"export class Resources {{\n{declared}\n  constructor(transport: Transport) {{\n{made}  }}\n}}\n",
    ]
    return "".join(parts)


def _class(resource: str) -> str:
    return f"{resource.title().replace('_', '')}Resource"


def _resource(name: str, rows: Sequence[ClientOperation], everywhere: set[str]) -> str:
    methods = "\n".join(_method(one, everywhere) for one in rows if STREAM not in one.success)
    return (
        f"/** `client.{_camel(name)}`. */\nexport class {_class(name)} extends Resource {{\n{methods}}}\n\n"
    )


def _method(one: ClientOperation, everywhere: set[str]) -> str:
    heads = "".join(f"{text};\n" for text in _overloads(one))
    returned = _returned(one)
    body = f"    const request = () => {_request(one)};\n    return {returned[1]};\n"
    return f"{_comment(one, everywhere)}{heads}{_head(one, _given(one), returned[0])} {{\n{body}  }}\n"


def _overloads(one: ClientOperation) -> list[str]:
    """Of an answer of two kinds, by the member of the body that decides."""
    if one.id not in EITHER:
        return []
    usual, other = (f"Call<{_type(kind)}>" for kind in (one.told or {})["oneOf"])
    member = EITHER[one.id]
    optional = "" if _is_required(one) else "?"
    first = f"params: api.{params(one)} & {{ {member}: true }}"
    second = f"params{optional}: api.{params(one)} & {{ {member}?: false }}"
    return [_head(one, first, other, is_overload=True), _head(one, second, usual, is_overload=True)]


def _head(one: ClientOperation, given: str | None, returned: str, *, is_overload: bool = False) -> str:
    kind = "WriteOptions" if one.takes_idempotency_key else "RequestOptions"
    id = id_name(one.path)
    options = f"options?: {kind}" if is_overload else f"options: {kind} = {{}}"
    signature = [f"{_camel(id)}: string"] if id else []
    signature += [given] if given else []
    return f"  {_camel(one.name.verb)}({', '.join([*signature, options])}): {returned}"


def _given(one: ClientOperation) -> str | None:
    if one.body_reference is None and not one.query and not one.headers:
        return None
    return f"params: api.{params(one)}" + ("" if _is_required(one) else " = {}")


def _is_required(one: ClientOperation) -> bool:
    return any(argument.is_required for argument in (*one.body, *one.query))


def _returned(one: ClientOperation) -> tuple[str, str]:
    """The type and the expression of what is returned."""
    if one.told is None:
        return "Call<Octets>", "this.transport.bytes(request, options)"
    if one.cursor is not None:
        item = _type(one.told["items"])
        members = one.position.split("@")
        behind = (
            f"one.{members[0]}"
            if len(members) == 1
            else f"`{'@'.join(f'${{one.{name}}}' for name in members)}`"
        )
        paging = f'{{ parameter: "{one.cursor}", behind: (one) => {behind} }}'
        return f"Pages<{item}>", f"new Pages(this.transport, request, {paging}, options)"
    return f"Call<{_type(one.told)}>", "this.transport.json(request, options)"


def _type(told: Schema) -> str:
    if told.get("type") == "array":
        return f"{_type(told['items'])}[]"
    if "oneOf" in told:
        return " | ".join(map(_type, told["oneOf"]))
    return f"api.{_name(told)}"


def _request(one: ClientOperation) -> str:
    """What a function that makes the request has behind its arrow."""
    id = id_name(one.path)
    path = f'"{one.path}"'
    if id:
        path = f"`{one.path.replace('{id}', _segment(_camel(id)))}`"
    parts = [f'method: "{one.method}"', f"path: {path}"]
    split = ""
    if one.headers:
        names = [_camel(argument.wire) for argument in one.headers]
        split = f"const {{ {', '.join(names)}, ...query }} = fields(params);"
        headers = ", ".join(
            f'"{argument.wire}": {name}' for argument, name in zip(one.headers, names, strict=True)
        )
        parts += ["query", f"headers: {{ {headers} }}"]
    elif one.body_reference is not None:
        parts.append("body: fields(params)")
    elif one.query:
        parts.append("query: fields(params)")
    if one.form:
        parts += [f"form: {json.dumps(one.form)}", 'headers: { Accept: "application/json" }']
    if one.takes_idempotency_key:
        parts.append("takesIdempotencyKey: true")
    wait = next((argument.wire for argument in (*one.query, *one.body) if argument.wire in WAITS), None)
    if wait:
        parts.append(f"waitSeconds: fields(params).{wait} ?? {WAIT_USUAL_S}")
    if one.is_public:
        parts.append("isPublic: true")
    if split:
        return (
            f"{{\n      {split}\n      return {{\n        " + ",\n        ".join(parts) + ",\n      };\n    }"
        )
    whole = f"({{ {', '.join(parts)} }})"
    return whole if len(whole) < WIDTH - 28 else "({\n      " + ",\n      ".join(parts) + ",\n    })"


def _segment(name: str) -> str:
    return f'${{segment("{name}", {name})}}'


def called(one: ClientOperation) -> str:
    """`messages.send`, as it is written in TypeScript."""
    return f"{_camel(one.name.resource)}.{_camel(one.name.verb)}"


def _comment(one: ClientOperation, everywhere: set[str]) -> str:
    summary = one.row["summary"]
    lines = [summary if summary.endswith(("?", ".")) else f"{summary}.", ""]
    scope = f", scope {', '.join(one.scopes)}" if one.scopes else ""
    lines.append(f"`{one.method} {one.path}`{scope}.")
    codes = [code for code in one.codes if code not in everywhere]
    if codes:
        lines += textwrap.wrap(f"Errors: {', '.join(codes)}.", WIDTH - 5)
    return "  /**\n" + "".join(f"   * {line}".rstrip() + "\n" for line in lines) + "   */\n"


def _camel(name: str) -> str:
    """`rotate_dkim` → `rotateDkim`, `If-None-Match` → `ifNoneMatch`; `inboxId` stays."""
    first, *others = re.split(r"[_-]", name)
    head = first.lower() if others or first.isupper() else first[0].lower() + first[1:]
    return head + "".join(part[0].upper() + part[1:].lower() for part in others)
