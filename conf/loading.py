"""The file and the environment made into settings; or every fault of theirs at once, with key and what is allowed."""

import copy
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from conf.contradictions import contradictions
from conf.named_files import at_once
from conf.settings import Settings, shipped_plans
from conf.unknown_keys import tell_unknown

CHARS_MAX = 1024 * 1024  # of a file; a long configuration has some 10 KiB
ENVIRONMENT_PREFIX = "MAILD_"
CLIENT_VARIABLES = frozenset(("MAILD_URL", "MAILD_API_KEY"))  # what clients read, often in the same shell

_ADAPTER = TypeAdapter(Settings)
_IN_TOML = {
    "tuple_type": 'must be a list, such as ["a", "b"]',
    "string_type": "must be text in quotes",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "finite_number"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(
        ("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"),
        "must be a date such as 2026-12-01",
    ),
    **dict.fromkeys(("dict_type", "mapping_type", "dataclass_type"), "must be a section"),
}  # by pydantic's names of faults, whose own words are Python's


class SettingsError(Exception):
    """The configuration can't be used; `faults` has one line for each fault. `sound`: the settings that it would make
    without what is at fault, where they are known."""

    def __init__(self, faults: list[str], sound: "Settings | None" = None) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults
        self.sound = sound


def load(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in `path` with the environment's on top; SettingsError names every fault but those of the files that
    they name (conf.named_files)."""
    try:
        document = tomllib.loads(_read(path))
    except PermissionError as error:
        raise SettingsError(
            [f"{path}: this user may not read it; chmod 644 it, and 755 its folder"]
        ) from error
    except FileNotFoundError as error:
        raise SettingsError(
            [f"{path}: it is not there; 'maild init --domain DOMAIN' writes one, --config names another"]
        ) from error
    except OSError as error:
        raise SettingsError([f"{path}: {error.strerror or error}"]) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError([f"{path}: its line {line} is not UTF-8; save it in that encoding"]) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([f"{path}: {error}"]) from error
    return parse(document, environment)


def _read(path: Path) -> str:
    # Editors of Windows begin files with a mark.
    with open(path, encoding="utf-8-sig", opener=at_once) as file:
        os.set_blocking(file.fileno(), True)  # who writes into a pipe (`<(…)` of a shell) may take his time
        text = file.read(CHARS_MAX + 1)
        if len(text) > CHARS_MAX:
            raise SettingsError([f"{path}: it is longer than 1 MiB; name another file"])
        if not text and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            raise SettingsError([f"{path}: it is a pipe out of which nothing comes"])
        return text


def parse(document: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of a TOML document, with those of `environment` on top; SettingsError names every fault."""
    merged = {key: dict(value) if isinstance(value, dict) else value for key, value in document.items()}
    environment = environment or {}
    variables = {
        ".".join(_steps(name)): name
        for name in environment
        if name.startswith(ENVIRONMENT_PREFIX) and name not in CLIENT_VARIABLES
    }
    for name in variables.values():
        _override(merged, name, environment[name])
    if isinstance(merged.get("plans"), dict):
        # A file that names one plan changes that one; the shipped ones stay.
        merged["plans"] = {**shipped_plans(), **merged["plans"]}
    try:
        settings = _ADAPTER.validate_python(merged)
    except ValidationError as error:
        sound, faulty = _sound(error, merged)
        faults = _faults(error) + _beside(sound, faulty)
        raise SettingsError([_with_source(one, variables) for one in faults], sound) from error
    faults = contradictions(settings)
    if faults:
        raise SettingsError([_with_source(one, variables) for one in faults], settings)
    return settings


def _steps(variable: str) -> list[str]:
    return variable.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")


def _with_source(fault: str, variables: Mapping[str, str]) -> str:
    """With the variables that set its keys, which nobody finds in the file. `variables`: by key."""
    keys = fault.partition(": ")[0].split(", ")
    told = [name for own, name in variables.items() if any(_is_within(one, own) for one in keys)]
    return f"{fault}; so says {', '.join(told)} in the environment" if told else fault


def _is_within(key: str, other: str) -> bool:
    """Is one of them the other, or a section or list around it?"""
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def _override(document: dict[str, Any], name: str, text: str) -> None:
    *sections, key = _steps(name)
    target = document
    for section in sections:
        target = target.setdefault(section, {})
        if not isinstance(target, dict):
            raise SettingsError([f"{name}: {section} is not a section"])
    target[key] = _toml_value(text)


def _toml_value(text: str) -> Any:
    """`8025`, `true`, `["a"]` as TOML has them; anything else is text, quotes not needed."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _faults(error: ValidationError) -> list[str]:
    found = error.errors()
    # pydantic drops faulty items before it counts: a list is too short only if none of its items is a fault.
    inner = {one["loc"][:-1] for one in found}
    return [_fault(one) for one in found if one["type"] != "too_short" or one["loc"] not in inner]


def _sound(error: ValidationError, document: dict[str, Any]) -> tuple[Settings | None, list[str]]:
    """The settings without what is at fault, None where something that must be there has the fault; the names of what
    was left out."""
    rest = copy.deepcopy(document)
    faulty = [_without(rest, [str(step) for step in one["loc"]]) for one in error.errors()]
    try:
        return _ADAPTER.validate_python(rest), faulty
    except ValidationError:
        return None, faulty


def _beside(sound: Settings | None, faulty: list[str]) -> list[str]:
    """The contradictions of what has no fault of its own."""
    found = contradictions(sound) if sound is not None else []
    return [one for one in found if not any(_is_about(one.partition(": ")[0], key) for key in faulty)]


def _is_about(keys: str, faulty: str) -> bool:
    """Whether a contradiction of these keys, or inside of this one, may come of the faulty one."""
    return faulty in keys or faulty.startswith(f"{keys}.")


def _without(document: dict[str, Any], steps: list[str]) -> str:
    """Take the key out that a fault is about, or is inside of, or is missing from; its name."""
    around, at = document, 0
    while at + 1 < len(steps) and isinstance(inner := around.get(steps[at]), dict):
        if at + 2 == len(steps) and steps[at + 1] not in inner:
            break
        around, at = inner, at + 1
    around.pop(steps[at], None)
    return ".".join(steps[: at + 1])


def _fault(error: Any) -> str:
    key = ".".join(str(step) for step in error["loc"])
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{key}: {tell_unknown([str(step) for step in error['loc']])}"
    if error["type"] == "missing":  # its input is all that stands around it, which may be a secret
        return f"{key}: is required"
    message = _IN_TOML.get(error["type"]) or error["msg"].removeprefix("Value error, ")
    return f"{key}: {message[:1].lower()}{message[1:]} (is {error['input']!r})"
