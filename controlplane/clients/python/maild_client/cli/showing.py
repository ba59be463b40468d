"""Answers as a person or a program reads them.

Words of strangers reach a terminal only through `safe`: what would move its cursor, change its colours, write its
title or its clipboard, or turn the direction of text around is shown as an escape and does nothing. JSON is ASCII.
"""

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

COLUMNS_MAX = 6
LEAST_WIDTH = 8
ID_WIDTH = 32
_WHOLE = ("id", "Id", "At", "at")  # ids and times
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z")
# Controls (C0, C1), format and bidi characters, halves of surrogate pairs, line ends of Unicode, and what has no
# meaning that everybody knows.
_OBEYED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"))


def safe(text: str, *, keeps_lines: bool = False) -> str:
    """Nothing in it is obeyed by a terminal. `keeps_lines`: LF and TAB stay."""
    if text.isascii() and text.isprintable():
        return text
    if keeps_lines:
        text = text.replace("\r\n", "\n")
    return "".join(one if one in "\n\t" and keeps_lines else _shown(one) for one in text)


def _shown(one: str) -> str:
    return f"\\u{{{ord(one):X}}}" if unicodedata.category(one) in _OBEYED else one


def out(answer: Any, *, as_json: bool, columns: Sequence[str] = ()) -> None:
    """On stdout: JSON, a table of a list, or the members of an object."""
    if as_json:
        click.echo(as_ascii(answer, is_indented=sys.stdout.isatty()))
    elif isinstance(answer, list) and all(isinstance(one, Mapping) for one in answer):
        width = shutil.get_terminal_size().columns
        click.echo("\n".join(table(answer, columns, width)) if answer else "None.", err=not answer)
    elif isinstance(answer, Mapping):
        click.echo("\n".join(members(answer)))
    else:
        click.echo(safe(str(answer), keeps_lines=True))


def as_ascii(answer: Any, *, is_indented: bool = False) -> str:
    """JSON that every terminal shows and every locale can write."""
    return json.dumps(answer, indent=2 if is_indented else None).replace("\x7f", "\\u007f")


# Tables ------------------------------------------------------------------------------------------


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], width: int) -> list[str]:
    """The lines of a table, none longer than `width` as long as that can be; ids stay whole, for the next command."""
    names = list(columns or _columns(rows))
    cells = [[_cell(_member(row, name)) for name in names] for row in rows]
    grid = [[_heading(name) for name in names], *cells]
    widths = [
        min(max(columns_of(row[place]) for row in grid), max(width, ID_WIDTH)) for place in range(len(names))
    ]
    _narrow(widths, [place for place, name in enumerate(names) if not name.endswith(_WHOLE)], width)
    return [
        "  ".join(_padded(cell, one) for cell, one in zip(row, widths, strict=True)).rstrip() for row in grid
    ]


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those that hold one value in some row, the first few."""
    found: dict[str, None] = {}
    for row in rows:
        found |= {name: None for name, value in row.items() if isinstance(value, str | int | float)}
    return list(found)[:COLUMNS_MAX]


def _member(row: Mapping[str, Any], path: str) -> Any:
    """Of a member, or of one within it: `from.address`."""
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _heading(path: str) -> str:
    name = safe(path.rpartition(".")[2])
    return "".join(f" {one}" if one.isupper() else one for one in name).upper()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_cell(one) for one in value)
    if isinstance(value, Mapping):
        return safe(str(value.get("address") or as_ascii(value)))
    time = _TIME.fullmatch(value) if isinstance(value, str) else None
    return f"{time[1]} {time[2]}" if time else safe(str(value))


def _narrow(widths: list[int], may_shrink: Sequence[int], width: int) -> None:
    """The widest gives way, until they fit or nothing is left to give."""
    over = sum(widths) + 2 * (len(widths) - 1) - width
    while over > 0 and may_shrink:
        widest = max(may_shrink, key=lambda place: widths[place])
        if widths[widest] <= LEAST_WIDTH:
            return
        widths[widest] -= 1
        over -= 1


def columns_of(text: str) -> int:
    """How many columns of a terminal it takes."""
    return sum(_width(one) for one in text)


def _width(one: str) -> int:
    if unicodedata.combining(one) or unicodedata.category(one) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(one) in "WF" else 1


def _padded(cell: str, width: int) -> str:
    taken = columns_of(cell)
    if taken <= width:
        return cell + " " * (width - taken)
    kept, left = "", width - 1
    for one in cell:
        left -= _width(one)
        if left < 0:
            break
        kept += one
    return kept + "…" + " " * (width - 1 - columns_of(kept))


# One thing ---------------------------------------------------------------------------------------


def members(answer: Mapping[str, Any]) -> list[str]:
    """The lines of an object: what it has in itself, then its texts. What is empty is left out."""
    flat = [(name, text) for name, text in _flat(answer, "") if text]
    short = [(name, text) for name, text in flat if "\n" not in text]
    longest = max((len(name) for name, _ in short), default=0)
    lines = [f"{name:<{longest}}  {text}".rstrip() for name, text in short]
    for name, text in flat:
        if "\n" in text:
            lines += ["", f"{name}:", *(f"  {line}".rstrip() for line in text.split("\n"))]
    return lines


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{safe(str(name))}" if path else safe(str(name)))
    elif isinstance(value, list) and any(isinstance(one, Mapping | list) for one in value):
        for place, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{place}]")
    elif isinstance(value, str):
        yield path, safe(value, keeps_lines=True).strip("\n")
    else:
        yield path, _cell(value) if value != {} else ""


# Mail --------------------------------------------------------------------------------------------

_HEAD = (
    ("From", ("fromName", "fromAddress")),
    ("To", ("toAddresses",)),
    ("Cc", ("ccAddresses",)),
    ("Date", ("createdAt",)),
    ("Subject", ("subject",)),
)


def message_text(message: Mapping[str, Any]) -> str:
    """A message as a person reads it: what we know of it, its header, its text."""
    lines = [_knowledge(message)]
    for name, places in _HEAD:
        said = " ".join(filter(None, (_cell(message.get(place)) for place in places)))
        if said:
            lines.append(f"{name}: {said}")
    files = message.get("attachments") or ()
    lines += [f"File: {_cell(one.get('id'))} {_cell(one.get('filename'))}" for one in files]
    words = message.get("textBody")
    if words is None:
        words = message.get("extractedText") or message.get("snippet") or ""
    return "\n".join([*lines, "", safe(str(words), keeps_lines=True).rstrip("\n")])


def _knowledge(message: Mapping[str, Any]) -> str:
    """Ours alone: nothing of it was written by the sender."""
    auth = message.get("auth")
    domain = auth.get("verifiedDomain") if isinstance(auth, Mapping) else None
    told = [_cell(message.get(name)) for name in ("id", "direction", "status")]
    if message.get("direction") == "inbound":
        told.append(f"sender verified: {_cell(domain)}" if domain else "sender not verified")
    risk = message.get("risk")
    if isinstance(risk, Mapping):
        told.append(f"risk {_cell(risk.get('level'))}")
    return " · ".join(filter(None, told))


def event_line(event: Mapping[str, Any]) -> str:
    """An event on one line."""
    data = event.get("data")
    named = data if isinstance(data, Mapping) else {}
    ids = [f"{name}={_cell(value)}" for name, value in named.items() if name.endswith("Id") and value]
    return " ".join([_cell(event.get("createdAt")), _cell(event.get("type")), *ids])


# Errors ------------------------------------------------------------------------------------------


def error_text(error: Mapping[str, Any]) -> str:
    """An error for a person: what happened, what it is called, and where."""
    code = safe(str(error.get("code", "")))
    named = "" if code in ("", "usage") else f" [{code}]"
    lines = [f"maildc: {safe(str(error.get('message', '')), keeps_lines=True)}{named}"]
    details = error.get("details")
    if isinstance(details, Mapping):
        lines += [f"  {line}" for line in _detail_lines(details)]
    return "\n".join(lines)


def _detail_lines(details: Mapping[str, Any]) -> Iterator[str]:
    fields = details.get("fields")
    if isinstance(fields, list):
        for one in fields:
            if isinstance(one, Mapping):
                yield safe(f"{one.get('path') or 'body'}: {one.get('message', '')}")
        details = {name: value for name, value in details.items() if name != "fields"}
    if details:
        yield from members(details)
