"""From the octets of a request to its model: faults are told at once, under stable codes.

Every step costs in proportion to the octets, and what is validated is bounded before: a body of a million
members is refused by their count, before anything is made of them. JSON is parsed by the reader that shows each name
as it was given (a name given twice is a mistake that others hide).

That reader keeps the interpreter to itself for as long as a string is, and the event loop waits: ten milliseconds for
an attachment. So long strings are taken out first, piece by piece, and short ones stand for them while the rest is
parsed.
"""

import codecs
import json
import re
import secrets
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import pybase64

from controlplane.contract.model import RequestBody, RequestQuery
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.validation import joined, validated

VALUES_MAX = 1000  # the largest request there is has some 350
DEPTH_MAX = 50  # Python's own limit depends on its version, and on where it is called
SYNTAX_BYTES_MAX = 64 * 1024  # outside of strings: numbers, names of constants, punctuation
PIECE_BYTES = 64 * 1024  # looked at without letting others in: about a millisecond at the worst
LONG_BYTES = 64 * 1024  # of a string that is taken out
_OPENING = b",[{"
_TOO_DEEP = f"At most {DEPTH_MAX} arrays and objects may be within each other"
_BLANKS = b" \t\r\n"
_CONTROLS = bytes(range(32))  # RFC 8259 §7: none of them stands in a string as itself
_AFTER_A_VALUE = (b",", b"]", b"}")
_END_OF_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def read_body(model: type[RequestBody], raw: bytearray) -> RequestBody:
    """The model of this JSON, which is taken out of `raw`: large bodies are not held twice. Refusal 400."""
    if not raw and model.may_be_absent:
        return validated(model, {})
    # NUL and half of a surrogate pair come as escapes alone.
    is_suspect = b"\\" in raw and any(b"\\u" in piece for piece in _pieces(raw, 1))
    return validated(model, _parse(raw), may_have_unfit_texts=is_suspect)


def read_json(raw: bytearray) -> Any:
    """This JSON as plain values, taken out of `raw`. Refusal `validation_failed`, whose only faults are `invalid_json`,
    `too_many` and `given_twice`."""
    return _parse(raw)


def query_pairs(asked: str) -> Sequence[tuple[str, str]]:
    """The names and values of a query as it came. Refusal 400 of what is no UTF-8: read as the characters that stand
    for it (U+FFFD) it would be looked for, and never found."""
    pairs = parse_qsl(asked, keep_blank_values=True, errors="surrogateescape")
    octets = [name for name, value in pairs if _has_octets(name) or _has_octets(value)]
    if octets:
        names = (name.encode(errors="replace").decode() for name in octets)
        raise invalid([Fault(name, "invalid_text", "Expected UTF-8, percent-encoded") for name in names])
    return pairs


def _has_octets(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= one <= "\udfff" for one in text)


def read_query(model: type[RequestQuery], pairs: Sequence[tuple[str, str]]) -> RequestQuery:
    """The model of a query string. Refusal 400."""
    return _read_pairs(model, pairs) if pairs else _unasked(model)


@cache
def _unasked(model: type[RequestQuery]) -> RequestQuery:
    """One for all requests that ask for nothing, for nobody can change it."""
    return _read_pairs(model, ())


def _read_pairs(model: type[RequestQuery], pairs: Sequence[tuple[str, str]]) -> RequestQuery:
    given = dict(pairs)
    if len(given) < len(pairs):
        given = _joined(pairs, _lists(model))
    return validated(model, given, may_have_unfit_texts=False)


def _joined(pairs: Sequence[tuple[str, str]], lists: Container[str]) -> dict[str, str]:
    """One value of each parameter, `a,b` of a list that comes in parts. Refusal where another is given twice."""
    _refuse_repeats([name for name, _ in pairs if name not in lists], "parameter")
    given: dict[str, str] = {}
    for name, value in pairs:
        given[name] = f"{given[name]},{value}" if name in given else value
    return given


@cache
def _lists(model: type[RequestQuery]) -> frozenset[str]:
    """Parameters of which several may be given: `a,b`, or each for itself, as most programs write a list."""
    told = model.model_json_schema(by_alias=True).get("properties", {})
    return frozenset(
        name
        for name, schema in told.items()
        if any(kind.get("type") == "array" for kind in (schema, *schema.get("anyOf", ())))
    )


# JSON ------------------------------------------------------------------------------------------------


def _refuse_many(raw: bytes | bytearray) -> None:
    """Refusal when there is more in it than any request has, found before the first object is made."""
    values = syntax = 0
    if len(raw) <= SYNTAX_BYTES_MAX and sum(map(raw.count, _OPENING)) < VALUES_MAX:
        return  # also with those inside of strings: the usual case
    for outside in _outside_of_strings(raw):
        values += sum(outside.count(mark) for mark in _OPENING)
        syntax += len(outside.translate(None, _BLANKS))
        if values > VALUES_MAX or syntax > SYNTAX_BYTES_MAX:
            raise invalid([Fault("", "too_many", f"Send at most {VALUES_MAX} values in one body")])


def _outside_of_strings(raw: bytes | bytearray) -> Iterator[bytes]:
    """What stands outside of strings, in pieces; RFC 8259 §7 decides where one ends."""
    is_inside, at = False, 0
    while at < len(raw):
        piece = bytes(raw[at : at + PIECE_BYTES])
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and at + len(piece) < len(raw):
            piece = piece[:-1]  # an escape is not cut in two
        at += len(piece) or 1
        if b"\\" in piece:  # one octet is found in a fiftieth of the time that two take
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = piece.split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside ^= len(parts) % 2 == 0


def _parse(raw: bytearray) -> Any:
    if raw.startswith(codecs.BOM_UTF8):  # RFC 8259 §8.1 lets a reader ignore it, and nobody sees it
        del raw[: len(codecs.BOM_UTF8)]
    if len(raw) > LONG_BYTES:
        try:
            document = _parse_in_pieces(raw)
        except (ValueError, RecursionError, Refusal):
            pass  # it is told of the whole, with the line and column that its author knows
        else:
            raw.clear()
            return document
    _refuse_many(raw)
    if not raw:
        raise _not_json("The body is empty: send a JSON object")
    try:
        text = raw.decode()
        raw.clear()
        return _load(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(_why_none(error)) from error


def _not_json(told: str) -> Refusal:
    return invalid([Fault("", "invalid_json", told)])


def _why_none(error: ValueError | RecursionError) -> str:
    """What is wrong with a document that can't be read, and where, as far as the reader knows."""
    if isinstance(error, json.JSONDecodeError):
        why = error.msg.rstrip(": ")
        return f"Expected JSON (RFC 8259). {why}: line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"Expected JSON in UTF-8 (RFC 8259 §8.1); octet {error.start + 1} is no UTF-8"
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return "A number has too many digits; send it as a string, or shorter"


def _load(text: str) -> Any:
    """ValueError, RecursionError; Refusal for names given twice, what is too deep, what JavaScript calls a number."""
    repeated: list[Fault] = []

    def pairs_read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            repeated.extend(_repeats([name for name, _ in pairs], "field"))
        return members

    document = json.loads(text, object_pairs_hook=pairs_read, parse_constant=_no_constant)
    if _is_too_deep(document):
        raise _not_json(_TOO_DEEP)
    if repeated:
        raise invalid(repeated)
    return document


def _is_too_deep(document: Any) -> bool:
    level, depth = _containers((document,)), 0
    while level and depth < DEPTH_MAX:
        level, depth = [inner for one in level for inner in _containers(_values(one))], depth + 1
    return bool(level)


def _containers(values: Iterable[Any]) -> list[dict[str, Any] | list[Any]]:
    return [one for one in values if isinstance(one, dict | list)]


def _values(container: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _no_constant(name: str) -> None:
    raise _not_json(f"{name} is no number of JSON (RFC 8259 §6); send null, or leave it out")


# Long strings ----------------------------------------------------------------------------------------


def _parse_in_pieces(raw: bytearray) -> Any:
    """ValueError, RecursionError, Refusal: what was taken out is not held any more then."""
    short, texts = _without_long_strings(raw)
    _refuse_many(short)
    return _put_back(_load(short.decode()), texts)


def _without_long_strings(raw: bytearray) -> tuple[bytes | bytearray, Mapping[str, str]]:
    """The document with a short string for each long one, and what each short one stands for. ValueError."""
    mark = secrets.token_hex()  # no author of a body can guess it
    texts: dict[str, str] = {}
    kept: list[bytes] = []
    at = 0
    with memoryview(raw) as view:
        for begin, end in _long_strings(raw):
            short = f"{mark}{len(texts)}"
            texts[short] = str(view[begin:end], "utf-8")
            kept += bytes(view[at:begin]), short.encode()
            at = end
        return b"".join((*kept, view[at:])) if texts else raw, texts


def _long_strings(raw: bytearray) -> Iterator[tuple[int, int]]:
    """Where the long values lie that have no escape, between their quotes. ValueError for what may not stand there.

    Behind a long string with escapes, which are not looked for in pieces, it finds no more, nor behind more strings
    than all names and values that a body may have."""
    at = 0
    for _ in range(2 * VALUES_MAX):
        begin = raw.find(b'"', at) + 1
        end = raw.find(b'"', begin)
        if not begin or end < 0:
            return
        if raw.find(b"\\", begin, end) >= 0:
            found = _END_OF_STRING.match(raw, begin, begin + LONG_BYTES)
            if found is None:
                return
            at = found.end()
            continue
        at = end + 1
        if end - begin > LONG_BYTES and raw[at : at + LONG_BYTES].lstrip(_BLANKS)[:1] in _AFTER_A_VALUE:
            _refuse_controls(raw, begin, end)
            yield begin, end


def _refuse_controls(raw: bytearray, begin: int, end: int) -> None:
    """ValueError where one stands there as itself."""
    for at in range(begin, end, PIECE_BYTES):
        piece = raw[at : min(at + PIECE_BYTES, end)]
        # What is long is base64 as a rule, which has none; to see that takes a tenth of the time.
        if not _is_base64(piece) and len(piece) != len(piece.translate(None, _CONTROLS)):
            raise ValueError("a control character in a string")


def _is_base64(piece: bytearray) -> bool:
    try:
        pybase64.b64decode(piece, validate=True)
    except ValueError:
        return False
    return True


def _put_back(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return texts.get(value, value)
    if isinstance(value, list):
        return [_put_back(one, texts) for one in value]
    if isinstance(value, dict):
        return {name: _put_back(one, texts) for name, one in value.items()}
    return value


def _pieces(raw: bytearray, overlap: int = 0) -> Iterator[bytearray]:
    for at in range(0, len(raw), PIECE_BYTES):
        yield raw[at : at + PIECE_BYTES + overlap]


# Faults ----------------------------------------------------------------------------------------------


def _refuse_repeats(names: Sequence[str], kind: str) -> None:
    if faults := _repeats(names, kind):
        raise invalid(faults)


def _repeats(names: Sequence[str], kind: str) -> list[Fault]:
    if len(names) == len(set(names)):
        return []
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    return [Fault(joined("", name), "given_twice", f"Give this {kind} once") for name in twice]
