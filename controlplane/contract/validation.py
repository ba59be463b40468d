"""From a document or plain values to a model of the contract: faults are told at once, under stable codes."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from controlplane.contract.model import models_in
from controlplane.contract.refusals import Fault, invalid

Model = TypeVar("Model", bound=BaseModel)

NAME_CHARS_SHOWN = 100

# pydantic's names for faults → the stable ones that clients branch on.
CODES = {
    "missing": "required",
    "extra_forbidden": "unknown_field",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "string_unicode": "invalid_text",
    "too_short": "too_few",
    "too_long": "too_many",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "int_parsing_size": "out_of_range",  # more digits than are read
    "int_from_float": "wrong_type",
    "literal_error": "not_allowed",
}
_HALF_PAIR = "Expected whole characters: a surrogate stands alone"
# pydantic's names for faults → what is allowed, for its own words are Python's.
WORDS = {
    "missing": "Required, but not given",
    **dict.fromkeys(("model_type", "dict_type"), "Expected a JSON object"),
    "list_type": "Expected a JSON array",
    "string_type": "Expected a string",
    "string_unicode": _HALF_PAIR,
    "string_too_short": "Expected {min_length} or more characters",
    "string_too_long": "Expected {max_length} or fewer characters",
    "too_short": "Expected {min_length} or more entries",
    "too_long": "Expected {max_length} or fewer entries",
    **dict.fromkeys(("bool_type", "bool_parsing"), "Expected true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "Expected an integer"),
    "int_parsing_size": "Expected an integer of fewer digits",
    "greater_than_equal": "Expected an integer of {ge} or more",
    "less_than_equal": "Expected an integer of {le} or less",
    "literal_error": "Expected {expected}",
}


def validated(model: type[Model], document: Any, *, may_have_unfit_texts: bool = True) -> Model:
    """The model of the document; Refusal `validation_failed` with every fault.

    `may_have_unfit_texts` False: the caller knows that no text has U+0000 or half of a surrogate pair.
    """
    faults = list(_unfit_texts(document, "")) if may_have_unfit_texts else []
    try:
        made = model.model_validate(document)
    except ValidationError as error:
        told = [_fault(one, model) for one in error.errors(include_url=False, include_input=False)]
        known = {fault.path for fault in told}  # the field's own word for it, where it has one
        raise invalid([*told, *(one for one in faults if one.path not in known)]) from error
    if faults:
        raise invalid(faults)
    return made


def joined(path: str, name: str) -> str:
    """The path of a member, as `details.fields` shows it: names are the caller's, and may be long."""
    shown = name if len(name) <= NAME_CHARS_SHOWN else name[:NAME_CHARS_SHOWN] + "…"
    shown = shown.encode("utf-8", "replace").decode()
    return f"{path}.{shown}" if path else shown


def _fault(error: Any, model: type[BaseModel]) -> Fault:
    kind: str = error["type"]
    code = CODES.get(kind) or ("wrong_type" if kind.endswith(("_type", "_parsing")) else kind)
    path = ""
    for step in error["loc"]:
        if step == "[key]":
            continue
        path = f"{path}[{step}]" if isinstance(step, int) else joined(path, str(step))
    if code == "unknown_field":
        return Fault(path, code, _known_fields(model, error["loc"]))
    return Fault(path, code, _words(error))


def _words(error: Any) -> str:
    if error["type"] not in WORDS:  # ours
        return str(error["msg"])
    told = WORDS[error["type"]].format_map(error.get("ctx", {}))
    return f"{told} in its name" if "[key]" in error["loc"] else told


def _known_fields(model: type[BaseModel], place: Sequence[Any]) -> str:
    """What to write instead of the name at that place."""
    owners = [model]
    for step in place[:-1]:
        if not isinstance(step, int):
            fields = (owner.model_fields.get(step) for owner in owners)
            owners = [part for field in fields if field is not None for part in models_in(field.annotation)]
    names = [field.alias or name for owner in owners for name, field in owner.model_fields.items()]
    return f"There is no such field; {'there are: ' + ', '.join(names) if names else 'none is taken here'}"


def _unfit_texts(value: Any, path: str) -> Iterator[Fault]:
    """Strings, names too, that hold U+0000 or half of a surrogate pair: no mail and no store can keep them."""
    if isinstance(value, str):
        if "\x00" in value:
            yield Fault(path, "control_character", "U+0000 is not allowed in any text")
        elif not value.isascii() and _has_half_pair(value):
            yield Fault(path, "invalid_text", _HALF_PAIR)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unfit_texts(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            here = joined(path, name)
            yield from _unfit_texts(name, here)
            yield from _unfit_texts(item, here)


def _has_half_pair(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
