"""A tool of MCP, and what it works with: the call, and the kinds of answers.

A tool holds no rule. It asks operations (`controlplane/operations/table.py`) by their rows, and shows what they answer
or refuse: as facts, which are structured and hold no word that a stranger wrote, or as words between fences, which have
no structure that a host could take for facts.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar, cast, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, model_validator

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.operations.invoke import Operations
from controlplane.operations.operation import Operation
from controlplane.operations.results import AnyResult, Download, JsonArray, JsonPieces, Result
from controlplane.operations.table import OPERATIONS
from controlplane.webhooks.waits import OnLeave

T = TypeVar("T")

NOTE = "note"  # what a structured answer has `Facts.said` as
_NOTHING: Sequence[Any] = (None, "", [])
_BY_ID: Mapping[str, Operation] = {operation.id: operation for operation in OPERATIONS}


class Arguments(BaseModel):
    """What a tool is given: flat, and read mildly. Models say null, "" or [] for what they leave out, `5` as text,
    and a list as text too: in JSON, or with commas.

    `operation_names`: argument → what the operation behind the tool calls it, so that its faults name the argument.
    """

    model_config = ConfigDict(extra="forbid")
    operation_names: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _read_mildly(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        meant = {name: _listed(value) if cls._is_list(name) else value for name, value in given.items()}
        return {name: value for name, value in meant.items() if value not in _NOTHING}

    @classmethod
    def _is_list(cls, name: str) -> bool:
        field = cls.model_fields.get(name)
        return field is not None and get_origin(field.annotation) is list

    @classmethod
    def names_by_operation(cls) -> dict[str, str]:
        """What the operation calls an argument → the argument."""
        return {cls.operation_names.get(name, name): name.rstrip("_") for name in cls.model_fields}

    def given(self, *names: str) -> dict[str, Any]:
        """Those of these arguments that were given, under the names of the operation."""
        return {
            self.operation_names.get(name, name): getattr(self, name)
            for name in names
            if name in self.model_fields_set
        }


class Hints(NamedTuple):
    """What a host may tell its user of a tool (ToolAnnotations)."""

    reads_only: bool
    destroys: bool
    is_idempotent: bool
    is_open_world: bool


class ToldWords(NamedTuple):
    """An answer in words: the server's own, and strangers' between fences. `image`: (type, base64) beside them."""

    text: str
    image: tuple[str, str] | None = None


class Facts(NamedTuple):
    """An answer in facts. `said`: what they come to, in a sentence of ours; empty: they speak for themselves."""

    facts: Mapping[str, Any]
    said: str = ""


class Answered(NamedTuple):
    """What an operation answered. `is_replay`: an earlier call made it."""

    data: Any
    is_replay: bool


class ToolCall(NamedTuple):
    """One call of a tool for a principal. `fence_key`: makes the nonces of fences. `on_leave`: see
    `controlplane.operations.operation.Call`."""

    operations: Operations
    principal: Principal
    arguments: Any
    fence_key: bytes
    on_leave: OnLeave
    once_key: str = ""
    once_ms: int = 0

    async def ask(
        self,
        operation: Operation | str,
        id: str = "",
        given: Mapping[str, Any] | None = None,
        *,
        is_once: bool = False,
        type: type[Any] = Any,
    ) -> Answered:
        """What the operation answers, as plain values or of the type; Refusal, whose faults name arguments.

        `is_once`: the same call of this tool a while ago is answered again instead (`methods.py`).
        """
        row = _BY_ID[operation] if isinstance(operation, str) else operation
        keys: Sequence[str] = (self.once_key,) if is_once and self.once_key else ()
        try:
            result = await self.operations.invoke(
                row,
                self.principal,
                self.operations.values(row, self.principal, given),
                id=id,
                idempotency_keys=keys,
                on_leave=self.on_leave,
                recalled_for_ms=self.once_ms if keys else None,
            )
        except Refusal as refusal:
            if refusal.code != "validation_failed" or refusal.details is None:
                raise
            raise self._renamed(refusal.details) from refusal
        octets = await _octets(result)
        is_replay = isinstance(result, Result | JsonPieces) and result.is_replay
        return Answered(msgspec.json.decode(octets, type=type), is_replay)

    async def open(self, operation: str, id: str, given: Mapping[str, Any]) -> Download:
        """The bytes that the operation answers; Refusal."""
        row = _BY_ID[operation]
        given_values = self.operations.values(row, self.principal, given)
        return cast(Download, await self.operations.invoke(row, self.principal, given_values, id=id))

    def inbox_id(self) -> str:
        """The inbox that is meant: the argument's, else the key's; Refusal where neither says."""
        inbox_id = self.arguments.inboxId or self.principal.inbox_id
        if inbox_id is None:
            raise invalid(
                [Fault("inboxId", "required", "This key has several inboxes; list_inboxes tells of them")]
            )
        return cast(str, inbox_id)

    def _renamed(self, details: Mapping[str, Any]) -> Refusal:
        """Faults of the operation's input, under the names of the tool's arguments."""
        faults = [Fault(**one) for one in details["fields"]]
        names = type(self.arguments).names_by_operation()
        return invalid([one._replace(path=_renamed(one.path, names)) for one in faults])


Answer = ToldWords | Facts
Run = Callable[[ToolCall], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One row of the tools.

    `scopes`: what a key needs to see it. `arguments`: the model of its input. `facts`: name → JSON type of what its
    structured answer may have; None: it answers in words. `is_of_several`: hidden from keys that are bound to an inbox.
    `is_of_work`: there where mail is work. `takes_words`: its input may be as long as a message. `sends`: it makes mail
    leave, so what it refuses says that nothing was sent, and equal calls send once.
    """

    name: str
    title: str
    description: str
    scopes: tuple[str, ...]
    arguments: type[Arguments]
    hints: Hints
    run: Run
    facts: Mapping[str, str] | None = None
    is_of_several: bool = False
    is_of_work: bool = False
    takes_words: bool = False
    sends: bool = False


def _listed(value: Any) -> Any:
    """The list that a text writes out; anything else as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith(("[", "{")):
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return [text]
    return [one.strip() for one in text.split(",") if one.strip()]


async def _octets(result: AnyResult) -> bytes:
    """The JSON of an answer; where bodies make it too large to be in memory, without them."""
    if isinstance(result, JsonArray):
        return b"[" + b",".join([part async for part in result.parts if part]) + b"]"
    if isinstance(result, JsonPieces):
        assert result.brief is not None  # of what tools ask
        return msgspec.json.encode(result.brief)
    assert isinstance(result, Result)
    return bytes(result.data) if isinstance(result.data, msgspec.Raw) else msgspec.json.encode(result.data)


def _renamed(path: str, names: Mapping[str, str]) -> str:
    """Tools are flat; where the operation has an argument a step deeper (`reply.to[0]`), that step names nothing."""
    inner = path.partition(".")[2]
    for at in (path, inner):
        head = at.split("[", maxsplit=1)[0].split(".", maxsplit=1)[0]
        if head in names:
            return names[head] + at[len(head) :]
    return path
