"""`/llms.txt` and `/llms-full.txt`: what a model has to know of this host, short, and all of it in one text.

Made at the start from what the code does (operations, tools, refusals) and from the documents. The short one stands in
`llms.txt` beside this module; the long one begins with it. tests/contract/http/test_llms.py holds their lengths, and
that nothing is missing.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import get_origin
from urllib.parse import urljoin

from pydantic import BaseModel

from controlplane.contract.model import models_in
from controlplane.contract.refusals import MESSAGES
from controlplane.contract.telling.events import EVENTS, Event
from controlplane.mcp.tool import Tool
from controlplane.operations.operation import BYTES, Operation
from controlplane.reference.documents import PLACEHOLDER_URL
from controlplane.reference.openapi_answers import BODY_ERRORS, COMMON_ERRORS
from controlplane.reference.shapes import answer_fields, parts_of, request_fields
from controlplane.transport.statuses import STATUSES

SKILL = "agents/SKILL.md"
COOKBOOK = "agents/cookbook/"
APART = {
    COOKBOOK + "README.md",
    COOKBOOK + "move-from-agentmail.md",
}  # which nobody reads who is here already
_SAID_ONCE = (*COMMON_ERRORS, *BODY_ERRORS)
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_NO_SUCH_ID = re.compile(r"\ANo [a-z ]+ has this id (\(\w+_…\))\.\Z")  # which is told once for all
_HEADING = re.compile(r"^(?=#+ )", re.MULTILINE)
_AFTER_CURL = re.compile(r"^## (?:Python|TypeScript|MCP)\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_OF_TOOLS = re.compile(r"^<!-- mcp -->\n.*?^<!-- /mcp -->\n", re.DOTALL | re.MULTILINE)


def short(public_url: str, has_tools: bool) -> str:
    """`/llms.txt`. `has_tools`: is MCP served?"""
    text = (resources.files("controlplane.reference") / "llms.txt").read_text("utf-8")
    text = text if has_tools else _OF_TOOLS.sub("", text)
    text = re.sub(r"<!-- /?mcp -->\n", "", text)
    return text.replace(PLACEHOLDER_URL, public_url.rstrip("/"))


def full(
    public_url: str, operations: Sequence[Operation], tools: Sequence[Tool], documents: Mapping[str, str]
) -> str:
    """`/llms-full.txt`. `tools`: those of MCP, none where it is not served."""
    parts = [
        short(public_url, bool(tools)),
        _raised(_linked(_without_front_matter(documents[SKILL]), SKILL, public_url)),
        _operations(operations),
        _answers(operations),
        _events(),
        *([_tools(tools)] if tools else []),
        _errors(),
        _cookbook(documents, public_url),
    ]
    return "\n".join(part.strip() + "\n" for part in parts)


# Operations ----------------------------------------------------------------------------------------


def _operations(operations: Sequence[Operation]) -> str:
    sending = _sending(operations)
    told: dict[type[BaseModel], str] = {}
    lines = "\n".join(_operation(operation, sending, told) for operation in operations)
    return f"""\
## Operations
`METHOD path [scope] id: what it does`; below it `?` its query or `{{}}` its JSON body, `->` what `data` of the answer
is, `!` its codes. A star: must be given. No type: a string. `as x`: what the operation x takes. `once`: under one
Idempotency-Key it is done once. Every operation may answer {", ".join(_SAID_ONCE)}; *sending* is {", ".join(sending)}.

{lines}"""


def _sending(operations: Sequence[Operation]) -> list[str]:
    """The codes that all sends have."""
    sends = [operation.refusals for operation in operations if operation.is_send]
    return [code for code in MESSAGES if code not in _SAID_ONCE and all(code in one for one in sends)]


def _operation(operation: Operation, sending: Sequence[str], told: dict[type[BaseModel], str]) -> str:
    """`told`: model of a request → the operation that has told its members."""
    apart = {*_SAID_ONCE, *(sending if operation.is_send else ())}
    codes = ["*sending*"] if operation.is_send else []
    codes += [code for code in dict.fromkeys(operation.refusals) if code not in apart]
    lines = [
        f"{operation.method} {operation.path} [{_scope(operation)}] {operation.id}: {operation.summary}",
        f"? {request_fields(operation.query, told)}" if operation.query is not None else "",
        f"{{{request_fields(operation.body, told)}}}" if operation.body is not None else "",
        f"-> {_answer(operation)}{' once' if operation.replays else ''}",
        f"! {' '.join(codes)}" if codes else "",
    ]
    if operation.input is not None:
        told.setdefault(operation.input, operation.id)
    return "\n  ".join(line for line in lines if line)


def _scope(operation: Operation) -> str:
    return " ".join((operation.scope, *operation.also)) or "no key"


def _answer(operation: Operation) -> str:
    if operation.answer is BYTES:
        return " or ".join(operation.media)
    names = "|".join(model.__name__ for model in models_in(operation.answer))
    return f"[{names}]" if get_origin(operation.answer) is list else names


def _answers(operations: Sequence[Operation]) -> str:
    """What is answered, and what that consists of; what lies deeper is for those who read the whole document."""
    outer = [model for operation in operations for model in models_in(operation.answer)]
    outer = list(dict.fromkeys(model for model in outer if model is not Event))
    models = list(dict.fromkeys([*outer, *(part for model in outer for part in parts_of(model))]))
    told = [f"{model.__name__}: {answer_fields(model, models)}" for model in models]
    return "\n".join(
        [
            "## Answers",
            "Every member is always there; `?`: it may be null. A name in front: all that it has, too.",
            "",
            *told,
        ]
    )


def _events() -> str:
    told = [f"{type}: {summary}" for type, (summary, _) in EVENTS.items()]
    return "\n".join(["## Events", "`type: when`, of webhooks, `/v1/events` and its stream", "", *told])


# Tools and codes -----------------------------------------------------------------------------------


def _tools(tools: Sequence[Tool]) -> str:
    return "\n".join(["## Tools (MCP)", "`name(arguments) [scopes]: what it does`", "", *map(_tool, tools)])


def _tool(tool: Tool) -> str:
    scopes = " ".join(tool.scopes) or "any key"
    return f"{tool.name}({request_fields(tool.arguments, {})}) [{scopes}]: {tool.description}"


def _errors() -> str:
    told = [f"{code} {STATUSES[code]}: " + _NO_SUCH_ID.sub(r"\1", text) for code, text in MESSAGES.items()]
    form = "`code status: what to do`; `(msg_…)` alone: nothing has this id"
    return "\n".join(["## Codes", form, "", *told])


# Documents -----------------------------------------------------------------------------------------


def _without_front_matter(text: str) -> str:
    return _FRONT_MATTER.sub("", text)


def _raised(text: str) -> str:
    """Its headings one level lower, since it stands in another text; what `#` is in code stays."""
    parts = _CODE.split(text)
    return "".join(part if _CODE.fullmatch(part) else _HEADING.sub("#", part) for part in parts)


def _linked(text: str, path: str, public_url: str) -> str:
    """With links that lead from elsewhere, too. `path`: of the document in docs/."""
    base = f"{public_url.rstrip('/')}/docs/{path}"
    return _LINK.sub(lambda link: f"]({urljoin(base, link[1])})", text)


def _cookbook(documents: Mapping[str, str], public_url: str) -> str:
    recipes = [
        _raised(_linked(_AFTER_CURL.sub("", text), path, public_url)).strip() + "\n"
        for path, text in documents.items()
        if path.startswith(COOKBOOK) and path not in APART
    ]
    return "\n".join(
        [
            "## Recipes",
            "In the documents also in Python, TypeScript and by tools.",
            "",
            *recipes,
        ]
    )
