"""What several operations of a document say is said once, in its components, and named where it stands.

Readers pay for every repetition: generators in time, models in tokens, people in scrolling.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

Told = Mapping[str, Any]
NameOf = Callable[[Told], str | None]


class _Part(NamedTuple):
    """A parameter or an answer of an operation. `key`: equal where it says the same. `name`: what it is called, and
    what else, where that is another's."""

    kind: str
    told: Told
    key: str
    name: str | None
    other_name: str


def said_once(document: Told, name_of: NameOf) -> dict[str, Any]:
    """The document, with the parameters and answers that stand in it more than once as references into its components.
    `name_of`: what an answer is called; None, or a name that another has: after the first operation that has it."""
    rows = [*_operations(document["paths"]), *_operations(document["webhooks"])]
    parts = {row["operationId"]: _parts(row, name_of) for row in rows}
    components = {kind: dict(document["components"].get(kind, {})) for kind in ("parameters", "responses")}
    names = _named([part for found in parts.values() for part in found], components)

    def shared(row: Told) -> dict[str, Any]:
        told = [
            {"$ref": f"#/components/{part.kind}/{names[part.key]}"} if part.key in names else part.told
            for part in parts[row["operationId"]]
        ]
        first = len(row["parameters"])
        responses = dict(zip(row["responses"], told[first:], strict=True))
        return {**row, "parameters": told[:first], "responses": responses}

    return {
        **document,
        "paths": _each(document["paths"], shared),
        "webhooks": _each(document["webhooks"], shared),
        "components": {**document["components"], **components},
    }


def _named(parts: list[_Part], components: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What each part is called that stands more than once: it is put into the components. The plain name is of that
    which most operations have."""
    first = {part.key: part for part in reversed(parts)}
    names: dict[str, str] = {}
    for key, times in Counter(part.key for part in parts).most_common():
        part = first[key]
        known = components[part.kind]
        if times > 1 and "$ref" not in part.told:
            names[key] = part.other_name if part.name is None or part.name in known else part.name
            known[names[key]] = part.told
    return names


def _parts(row: Told, name_of: NameOf) -> list[_Part]:
    id = row["operationId"]
    return [
        *(_part("parameters", one, one["name"], f"{id}-{one['name']}") for one in row["parameters"]),
        *(
            _part("responses", one, name_of(one), f"{id[0].upper()}{id[1:]}{status}")
            for status, one in row["responses"].items()
        ),
    ]


def _part(kind: str, told: Told, name: str | None, other_name: str) -> _Part:
    return _Part(kind, told, f"{kind} {msgspec.json.encode(told, order='sorted').decode()}", name, other_name)


def _operations(paths: Told) -> Iterator[Told]:
    return (row for item in paths.values() for row in item.values())


def _each(paths: Told, change: Callable[[Told], Any]) -> dict[str, Any]:
    return {path: {method: change(row) for method, row in item.items()} for path, item in paths.items()}
