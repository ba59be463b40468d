"""What is said of a key that the configuration does not have: which one is meant, or which ones there are."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from conf.settings import Settings


def tell_unknown(steps: Sequence[str]) -> str:
    """What is wrong with the key that is found by these steps from the whole document."""
    *around, name = steps
    known = _keys(_section(around))
    if close := difflib.get_close_matches(name, known, 1):
        return f"unknown key; is it {close[0]}?"
    elsewhere = " or ".join(key for key in _all_keys() if key.rpartition(".")[2] == name)
    where = f"[{'.'.join(around)}]" if around else "a configuration"
    there = f"{where} has {', '.join(known)}"
    return f"unknown key; is it {elsewhere}? {there}" if elsewhere else f"unknown key; {there}"


def _section(steps: Sequence[str]) -> Any:
    """The kind of section that is found there: names of an operator's choice are steps too."""
    found: Any = Settings
    for step in steps:
        found = get_args(found)[1] if get_origin(found) is Mapping else _keys(found)[step]
    return found


@cache
def _keys(section: type) -> dict[str, Any]:
    return get_type_hints(section)


@cache
def _all_keys() -> tuple[str, ...]:
    return tuple(_within(Settings, ""))


def _within(section: type, before: str) -> Iterator[str]:
    for name, kind in _keys(section).items():
        if is_dataclass(kind):
            yield from _within(kind, f"{before}{name}.")  # type: ignore[arg-type]  # a class, not an object of it
        else:
            yield f"{before}{name}"
