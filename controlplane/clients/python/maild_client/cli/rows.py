"""The operations of the API as rows, made by `scripts/clients` from `/openapi.json`."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Taken(NamedTuple):
    """One thing that is given to an operation. `place`: path, query, header or body. `kind`: string, strings,
    integer, boolean, map (of texts) or json."""

    name: str
    option: str
    place: str
    kind: str
    is_required: bool
    choices: tuple[str, ...]
    help: str

    @property
    def flag(self) -> str:
        """As it is written in a command."""
        return "--" + self.option.replace("_", "-")


class OperationRow(NamedTuple):
    """An operation. `answer`: its `kind` (object, list, bytes, stream), and the `schema` of a JSON one.
    `pages`: the `cursor` that takes a position, and the member `of` the last item that is one. `form`: what is always
    sent with it. `destroys_if`: the member of the body without which it destroys nothing."""

    id: str
    resource: str
    verb: str
    method: str
    path: str
    summary: str
    scopes: tuple[str, ...]
    is_public: bool
    pages: Mapping[str, str] | None
    destroys: bool
    destroys_if: str | None
    waits: str | None
    form: Mapping[str, str]
    takes: tuple[Taken, ...]
    answer: Mapping[str, Any]

    def taken(self, name: str) -> Taken | None:
        """What it takes by that name on the wire."""
        return next((one for one in self.takes if one.name == name), None)


@cache
def rows() -> tuple[OperationRow, ...]:
    """All, in the order of the document."""
    return tuple(_row(one) for one in json.loads((HERE / "_commands.json").read_text("utf-8")))


def row_of(id: str) -> OperationRow:
    """The operation of that id."""
    return next(row for row in rows() if row.id == id)


def schemas() -> dict[str, Any]:
    """What answers are made of, by name; they name each other as in the document."""
    read: dict[str, Any] = json.loads((HERE / "_schemas.json").read_text("utf-8"))
    return read


def _row(one: Mapping[str, Any]) -> OperationRow:
    return OperationRow(
        one["operation"],
        one["resource"],
        one["verb"],
        one["method"],
        one["path"],
        one["summary"],
        tuple(one["scopes"]),
        one["isPublic"],
        one.get("pages"),
        one.get("destroys", False),
        one.get("destroysIf"),
        one.get("waits"),
        one.get("form", {}),
        tuple(_taken(each) for each in one["takes"]),
        one["answers"],
    )


def _taken(one: Mapping[str, Any]) -> Taken:
    limits = one.get("limits", {})
    low, high = limits.get("minimum"), limits.get("maximum")
    told = [one["help"].removesuffix(".")] if "help" in one else []
    if low is not None and high is not None:
        told.append(f"{low} to {high}")
    if limits.get("default") not in (None, "", [], {}, False):
        told.append(f"default {limits['default']}")
    choices = tuple(each for each in one.get("choices", ()) if each is not None)
    return Taken(
        one["name"],
        one["option"],
        one["in"],
        one["kind"],
        one.get("required", False),
        choices,
        "; ".join(told),
    )
