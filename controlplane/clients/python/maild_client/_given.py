"""What callers give, as it goes over the wire.

What can't go there, or would be read as something else, is refused with its name before anything is sent. What the
server would refuse by itself is left to it: it names each fault.
"""

import base64
import math
import mimetypes
import os
import re
import uuid
from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from maild_client.errors import InvalidArgument


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


# What was not said, where None would say null. Of any type, so that signatures name the values alone.
UNSET: Final[Any] = _Unset()
ID_PREFIXES: Mapping[str, str] = {
    "agent": "agt", "attachment": "att", "claim": "clm", "delivery": "del", "domain": "dom", "draft": "drf",
    "inbox": "inb", "key": "key", "message": "msg", "organization": "org", "review": "rev", "rule": "rul",
    "suppression": "sup", "thread": "thd", "webhook": "whk",
}  # fmt: skip
CONTENT = re.compile(r"(?:.*\.)?attachments\[\d+\]\.content")  # of what is sent, and of what is checked


def segment(name: str, id: str) -> str:
    """An id as one segment of a path, whatever it holds; InvalidArgument where it can be none."""
    return quote(_id(name, id), safe="")


def _id(name: str, id: object) -> str:
    if not isinstance(id, str):
        more = ": give its 'id'" if isinstance(id, Mapping) and "id" in id else ""
        raise InvalidArgument(f"{name} takes an id, not {_kind(id)}{more}")
    if id in ("", ".", "..") or not id.isprintable() or " " in id:
        raise InvalidArgument(f"{name}: {id!r} is no id")
    prefix, given = ID_PREFIXES.get(_of(name)), id.partition("_")[0]
    if not prefix or id.startswith(f"{prefix}_"):
        return id
    # A list of another kind's would be empty, and a 404 would look as if it were deleted.
    it = "of another kind" if given in ID_PREFIXES.values() else "none"
    raise InvalidArgument(f"{name} takes an id '{prefix}_…', and {id!r} is {it}")


def _of(name: str) -> str:
    return name.removesuffix("_id").removesuffix("Id")


def in_query(name: str, value: Any) -> str:
    """A value as the text of a parameter; InvalidArgument."""
    if name.endswith("Id"):
        return _id(name, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, date):
        return _moment(name, value)
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(_in_list(name, one) for one in value)
    raise InvalidArgument(f"{name} can't be {_kind(value)}")


def _in_list(name: str, value: Any) -> str:
    told = in_query(name, value)
    if "," in told:
        raise InvalidArgument(f"{name}: {told!r} has a comma, which parts one from the next")
    return told


def in_body(name: str, value: Any) -> Any:
    """A value as JSON has it; InvalidArgument."""
    if isinstance(value, bytes | bytearray | memoryview) and CONTENT.fullmatch(name):
        return _base64(value)
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, date):
        return _moment(name, value)
    if isinstance(value, Mapping):
        return {_member(name, key): in_body(f"{name}.{key}", one) for key, one in value.items()}
    if isinstance(value, Set):
        value = sorted(value, key=str)  # the same body, whichever run it is of
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [in_body(f"{name}[{at}]", one) for at, one in enumerate(value)]
    more = ": text is a str" if isinstance(value, bytes | bytearray) else ""
    raise InvalidArgument(f"{name} can't be {_kind(value)}{more}")


def _member(name: str, key: object) -> str:
    if not isinstance(key, str):
        raise InvalidArgument(f"{name}: the name of a member is a str, not {_kind(key)}")
    return key


def _moment(name: str, value: date) -> str:
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise InvalidArgument(
            f"{name}: {value} has no time zone: give one, as datetime.now(timezone.utc) has"
        )
    return value.isoformat()


def listed(name: str, value: Any) -> Any:
    """The value, unless it is one thing where a list of them is meant. A str is a list of its letters to type
    checkers."""
    if isinstance(value, str | bytes | Mapping | os.PathLike):
        raise InvalidArgument(f"{name} takes a list, not {_kind(value)}: put it in one, [{_shown(value)}]")
    return value


def files(name: str, value: Any) -> Any:
    """Attachments as the API takes them, files among them read; InvalidArgument."""
    listed(name, value)
    if not isinstance(value, Sequence):
        return value
    return [_file(f"{name}[{at}]", one) for at, one in enumerate(value)]


def _file(name: str, given: Any) -> Any:
    if isinstance(given, os.PathLike):
        path = Path(given)
        try:
            octets = path.read_bytes()
        except OSError as error:
            raise InvalidArgument(f"{name}: {path} can't be read: {error.strerror}") from None
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return {"filename": path.name, "contentType": kind, "content": _base64(octets)}
    return given


def _base64(octets: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(octets).decode("ascii")


def repeated_under(idempotency_key: str | None) -> str:
    """The Idempotency-Key that was given, or one that no other request has; InvalidArgument."""
    if idempotency_key is None:
        return str(uuid.uuid4())
    if not isinstance(idempotency_key, str):
        raise InvalidArgument(f"idempotency_key takes a str, not {_kind(idempotency_key)}")
    # A header that can't be written would look like a server that does not answer, and be tried again.
    if not idempotency_key or not (idempotency_key.isascii() and idempotency_key.isprintable()):
        raise InvalidArgument("an Idempotency-Key has 1 to 255 characters, of printable ASCII alone")
    return idempotency_key


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else "…"  # a line of an error, not a mail
