"""SQL expressions whose value is JSON text: SQLite renders what is only to be passed on.

A page of 50 messages is some 1,500 values. Fetched one by one and encoded again they cost more than finding
them, and Python's interpreter lock is taken for each row; as one text they cost one step of one statement,
outside the lock. Every expression here but `octets` gives JSON text, never NULL.
"""

from collections.abc import Mapping


def value(expression: str) -> str:
    """Text, a number or NULL."""
    return f"json_quote({expression})"


def stored(column: str) -> str:
    """A column that holds JSON (or NULL) goes out as it stands."""
    return f"coalesce({column}, 'null')"


def flag(column: str) -> str:
    return f"iif({column}, 'true', 'false')"


def moment(expression: str) -> str:
    """Milliseconds (or NULL) in the form of `clock.iso`."""
    return f"json_quote(strftime('%Y-%m-%dT%H:%M:%fZ', ({expression}) / 1000.0, 'unixepoch'))"


def octets(json: str) -> str:
    """As UTF-8, for what Python does not read."""
    return f"CAST({json} AS BLOB)"


def object_of(members: Mapping[str, str]) -> str:
    """Name → expression, as a JSON object."""
    form = ",".join(f'"{name}":%s' for name in members)
    return f"printf('{{{form}}}', {', '.join(members.values())})"


def array_of(element: str, source: str) -> str:
    """The elements of all rows of `source` (a FROM clause), in the order of its inner SELECT, which SQLite keeps."""
    return f"(SELECT '[' || coalesce(group_concat({element}), '') || ']' FROM {source})"
