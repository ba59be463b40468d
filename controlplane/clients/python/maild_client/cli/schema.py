"""`maildc --schema`: the commands, what they take and what they answer, for programs that call them."""

import json
from collections.abc import Iterator
from typing import Any

import click

from maild_client.cli import exits
from maild_client.cli.common import common_options
from maild_client.cli.operations import OperationCommand
from maild_client.cli.rows import row_of, schemas

EXIT_CODES = {
    "done": exits.DONE,
    "refused": exits.REFUSED,
    "usage": exits.USAGE,
    "key": exits.KEY,
    "not_found": exits.NOT_FOUND,
    "conflict": exits.CONFLICT,
    "quota_or_rate": exits.LIMIT,
    "server_or_network": exits.SERVER,
    "timed_out": exits.TIMED_OUT,
}
# What those made by hand answer: as an operation does, or words.
_ANSWERS: dict[str, Any] = {
    "maildc read": {"anyOf": [row_of(one).answer["schema"] for one in ("getMessage", "getThreadContext")]},
    "maildc reply": row_of("replyToMessage").answer["schema"],
    "maildc wait": {"$ref": "#/components/schemas/ListedMessage"},
}


def told(context: click.Context) -> str:
    """The document, of the tree that the context is the root of."""
    commands = [_command(path, command) for path, command in walk(context.command, context)]
    document = {
        "program": "maildc",
        "exitCodes": EXIT_CODES,
        "commonOptions": [_param(one, {}) for one in common_options()],
        "commands": commands,
        "components": {"schemas": schemas()},
    }
    return json.dumps(document)


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """The commands of a tree that do something, by what is typed, in its order."""
    if not isinstance(command, click.Group):
        yield context.command_path, command
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from walk(inner, click.Context(inner, parent=context, info_name=name))


def _command(path: str, command: click.Command) -> dict[str, Any]:
    row = command.row if isinstance(command, OperationCommand) else None
    wire = {} if row is None else {one.option: one for one in row.takes}
    told: dict[str, Any] = {
        "command": path,
        "summary": command.short_help or (command.help or "").split("\n")[0],
        "arguments": [_param(one, wire) for one in command.params if isinstance(one, click.Argument)],
        "options": [
            _param(one, wire) for one in command.params if isinstance(one, click.Option) and one.expose_value
        ],
    }
    if row is not None:
        told |= {"operation": row.id, "scopes": list(row.scopes), "answers": dict(row.answer)}
    elif path in _ANSWERS:
        told["answers"] = {"kind": "object", "schema": _ANSWERS[path]}
    return told


def _param(param: click.Parameter, wire: dict[str, Any]) -> dict[str, Any]:
    taken = wire.get(param.name)
    told: dict[str, Any] = {"name": param.name, "type": param.type.name}
    if isinstance(param, click.Option):
        told |= {"flags": [*param.opts, *param.secondary_opts], "isMultiple": param.multiple}
        if param.help:
            told["help"] = param.help
    told["isRequired"] = param.required or (taken is not None and taken.is_required)
    if isinstance(param.type, click.Choice):
        told["choices"] = list(param.type.choices)
    if taken is not None:
        told |= {"field": taken.name, "in": taken.place, "kind": taken.kind}
    return told
