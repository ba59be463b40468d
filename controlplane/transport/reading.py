"""From the octets of a request to its model: faults are told at once, under stable codes.

Every step costs in proportion to the octets, and what is validated is bounded before: a body of a million
members is refused by their count, before anything is made of them. JSON is parsed once, by the reader that shows
each name as it was given (a name given twice is a mistake that others hide).
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from controlplane.contract.model import RequestBody, RequestQuery
from controlplane.contract.refusals import Fault, invalid
from controlplane.contract.validation import joined, validated

VALUES_MAX = 1000  # the largest request there is has some 350
SYNTAX_BYTES_MAX = 64 * 1024  # outside of strings: numbers, names of constants, punctuation
PIECE_BYTES = 64 * 1024  # looked at without letting others in: about a millisecond at the worst
_OPENING = b",[{"
_BLANKS = b" \t\r\n"


def read_body(model: type[RequestBody], raw: bytearray) -> RequestBody:
    """The model of this JSON, which is taken out of `raw`: large bodies are not held twice. Refusal 400."""
    is_suspect = b"\\u" in raw  # NUL and half of a surrogate pair come as escapes alone
    return validated(model, read_json(raw), may_have_unfit_texts=is_suspect)


def read_json(raw: bytearray) -> Any:
    """This JSON as plain values, taken out of `raw`. Refusal `validation_failed`, whose only faults are `invalid_json`,
    `too_many` and `given_twice`."""
    _refuse_many(raw)
    return _parse(raw)


def read_query(model: type[RequestQuery], pairs: Sequence[tuple[str, str]]) -> RequestQuery:
    """The model of a query string. Refusal 400."""
    _refuse_repeats([name for name, _ in pairs], "parameter")
    return validated(model, dict(pairs), may_have_unfit_texts=False)


# JSON ------------------------------------------------------------------------------------------------


def _refuse_many(raw: bytearray) -> None:
    """Refusal when there is more in it than any request has, found before the first object is made."""
    values = syntax = 0
    if len(raw) <= SYNTAX_BYTES_MAX and sum(map(raw.count, _OPENING)) < VALUES_MAX:
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
    raise ValueError(f"{name} is not JSON")  # RFC 8259 §6


# Faults ----------------------------------------------------------------------------------------------


def _refuse_repeats(names: Sequence[str], kind: str) -> None:
    if faults := _repeats(names, kind):
        raise invalid(faults)


def _repeats(names: Sequence[str], kind: str) -> list[Fault]:
    if len(names) == len(set(names)):
        return []
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    return [Fault(joined("", name), "given_twice", f"Give this {kind} once") for name in twice]
