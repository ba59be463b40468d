"""Does an answer fit the types that the client gives it? As mypy reads them, at run time."""

from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)


def misfits(kind: Any, value: Any, at: str = "") -> list[str]:
    """Where the value is not of the type; fields that the type does not name are misfits, too."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return _fields(kind, value, at)
    if origin in (Union, UnionType):
        tried = [misfits(one, value, at) for one in parts]
        return [] if [] in tried else min(tried, key=len)
    if origin in (Required, NotRequired):
        return misfits(parts[0], value, at)
    if origin is Literal:
        return [] if value in parts else [f"{at}: {value!r} is none of {parts}"]
    if kind is Any:
        return []
    if parts:
        return _several(origin, parts, value, at)
    return _plain(kind, value, at)


def _several(origin: Any, parts: tuple[Any, ...], value: Any, at: str) -> list[str]:
    """An object of any names; or a list, or pages, of which the first is at hand."""
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{at} is no object"]
        return [fault for name, one in value.items() for fault in misfits(parts[1], one, f"{at}.{name}")]
    if not isinstance(value, list):
        return [f"{at} is no list"]
    return [fault for place, one in enumerate(value) for fault in misfits(parts[0], one, f"{at}[{place}]")]


def _fields(kind: Any, value: Any, at: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{at} is no object"]
    hints = get_type_hints(kind, include_extras=True)
    needed = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
    found = [f"{at} has no {name}" for name in sorted(needed - value.keys())]
    found += [f"{at}.{name} is in no type" for name in sorted(value.keys() - hints.keys())]
    for name in value.keys() & hints.keys():
        found += misfits(hints[name], value[name], f"{at}.{name}")
    return found


def _plain(kind: Any, value: Any, at: str) -> list[str]:
    if hasattr(kind, "__anext__") or hasattr(kind, "__next__"):  # a stream; one of its events is at hand
        return [] if isinstance(value, dict) and "type" in value else [f"{at} is no event"]
    wanted: Any = {None: NoneType, float: (int, float)}.get(kind, kind)
    fits = isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))
    return [] if fits else [f"{at}: {value!r} is no {kind}"]
