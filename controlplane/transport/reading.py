"""From the octets of a request to its model: faults are told at once, under stable codes.

Every step costs in proportion to the octets, and what is validated is bounded before: a body of a million
members is refused by their count, before anything is made of them. JSON is parsed once, by the reader that shows
each name as it was given (a name given twice is a mistake that others hide).
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.requests import RequestBody, RequestQuery

VALUES_MAX = 1000  # the largest request there is has some 350
SYNTAX_BYTES_MAX = 64 * 1024  # outside of strings: numbers, names of constants, punctuation
PIECE_BYTES = 64 * 1024  # looked at without letting others in: about a millisecond at the worst
NAME_CHARS_SHOWN = 100
_OPENING = b",[{"
_BLANKS = b" \t\r\n"

# pydantic's names for faults → the stable ones that clients branch on.
_CODES = {
    "missing": "required",
    "extra_forbidden": "unknown_field",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "string_unicode": "invalid_text",
    "too_short": "too_few",
    "too_long": "too_many",
    "string_pattern_mismatch": "invalid_format",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "literal_error": "not_allowed",
}


def read_body(model: type[RequestBody], raw: bytearray) -> RequestBody:
    """The model of this JSON, which is taken out of `raw`: large bodies are not held twice. Refusal 400."""
    _refuse_many(raw)
    is_suspect = b"\\u" in raw  # NUL and half of a surrogate pair come as escapes alone
    document = _parse(raw)
    faults = list(_unfit_texts(document, "")) if is_suspect else []
    try:
        body = model.model_validate(document)
    except ValidationError as error:
        told = [_fault(one) for one in error.errors(include_url=False, include_input=False)]
        known = {fault.path for fault in told}  # the field's own word for it, where it has one
        raise invalid([*told, *(one for one in faults if one.path not in known)]) from error
    if faults:
        raise invalid(faults)
    return body


def read_query(model: type[RequestQuery], pairs: Sequence[tuple[str, str]]) -> RequestQuery:
    _refuse_repeats([name for name, _ in pairs], "parameter")
    try:
        return model.model_validate(dict(pairs))
    except ValidationError as error:
        raise faults_of(error) from error


def faults_of(error: ValidationError) -> Refusal:
    return invalid([_fault(one) for one in error.errors(include_url=False, include_input=False)])


# JSON ------------------------------------------------------------------------------------------------


def _refuse_many(raw: bytearray) -> None:
    """Refusal when there is more in it than any request has, found before the first object is made."""
    values = syntax = 0
    if len(raw) <= SYNTAX_BYTES_MAX and sum(raw.count(mark) for mark in _OPENING) < VALUES_MAX:
        return  # also with those inside of strings: the usual case
    for outside in _outside_of_strings(raw):
        values += sum(outside.count(mark) for mark in _OPENING)
        syntax += len(outside.translate(None, _BLANKS))
        if values > VALUES_MAX or syntax > SYNTAX_BYTES_MAX:
            raise invalid([Fault("", "too_many", f"Send at most {VALUES_MAX} values in one body")])


def _outside_of_strings(raw: bytearray) -> Iterator[bytes]:
    """What stands outside of strings, in pieces; RFC 8259 §7 decides where one ends."""
    is_inside, at = False, 0
    while at < len(raw):
        piece = bytes(raw[at : at + PIECE_BYTES])
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and at + len(piece) < len(raw):
            piece = piece[:-1]  # an escape is not cut in two
        at += len(piece) or 1
        unescaped = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = unescaped.split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside ^= len(parts) % 2 == 0


def _parse(raw: bytearray) -> Any:
    repeated: list[Fault] = []

    def pairs_read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            repeated.extend(_repeats([name for name, _ in pairs], "field"))
        return members

    try:
        text = raw.decode()
        raw.clear()
        document = json.loads(text, object_pairs_hook=pairs_read, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise invalid([Fault("", "invalid_json", f"Expected JSON (RFC 8259); {where} is none")]) from error
    except (ValueError, RecursionError) as error:  # no UTF-8, a number of thousands of digits, too deep
        raise invalid([Fault("", "invalid_json", "Expected JSON (RFC 8259) in UTF-8")]) from error
    if repeated:
        raise invalid(repeated)
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")  # RFC 8259 §6


def _unfit_texts(value: Any, path: str) -> Iterator[Fault]:
    """Strings, names too, that hold U+0000 or half of a surrogate pair: no mail and no store can keep them."""
    if isinstance(value, str):
        if "\x00" in value:
            yield Fault(path, "control_character", "U+0000 is not allowed in any text")
        elif not value.isascii() and _has_half_pair(value):
            yield Fault(path, "invalid_text", "Expected whole characters: a surrogate stands alone")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unfit_texts(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            here = _joined(path, name)
            yield from _unfit_texts(name, here)
            yield from _unfit_texts(item, here)


def _has_half_pair(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


# Faults ----------------------------------------------------------------------------------------------


def _refuse_repeats(names: Sequence[str], kind: str) -> None:
    if faults := _repeats(names, kind):
        raise invalid(faults)


def _repeats(names: Sequence[str], kind: str) -> list[Fault]:
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    return [Fault(_joined("", name), "given_twice", f"Give this {kind} once") for name in twice]


def _fault(error: Any) -> Fault:
    kind: str = error["type"]
    code = _CODES.get(kind) or ("wrong_type" if kind.endswith(("_type", "_parsing")) else kind)
    path = ""
    for step in error["loc"]:
        if step == "[key]":
            continue
        path = f"{path}[{step}]" if isinstance(step, int) else _joined(path, str(step))
    return Fault(path, code, error["msg"])


def _joined(path: str, name: str) -> str:
    shown = name if len(name) <= NAME_CHARS_SHOWN else name[:NAME_CHARS_SHOWN] + "…"
    shown = shown.encode("utf-8", "replace").decode()
    return f"{path}.{shown}" if path else shown
