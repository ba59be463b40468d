"""What a command was given, as the API takes it.

A text of a body may be `@FILE` (what the file holds), `-` (what stdin holds) or `@@…` (a text that begins with `@`).
"""

import base64
import json
import mimetypes
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from maild_client.cli.rows import OperationRow, Taken

FILE_BYTES_MAX = 32 * 1024 * 1024  # more than the API takes of anything
_WORDS = ("text", "html")  # of a mail
_MAILING = ("sendMessage", "replyToMessage", "replyToThread", "forwardMessage")


class Input:
    """Reads what options name. Stdin can be read once."""

    def __init__(self) -> None:
        self._stdin_of: str | None = None

    def text(self, given: str, flag: str) -> str:
        """A text, or that of the file or of stdin; UsageError."""
        if given.startswith("@@"):
            return given[1:]
        if given != "-" and not given.startswith("@"):
            return given
        try:
            return self._octets(given, flag).decode("utf-8")
        except UnicodeDecodeError:
            raise click.UsageError(f"{flag}: {given} is no text in UTF-8.") from None

    def json(self, given: str, flag: str) -> Any:
        """A document, given or in a file; UsageError."""
        try:
            return json.loads(self.text(given, flag))
        except (ValueError, RecursionError):
            raise click.UsageError(f"{flag} takes JSON, @FILE or '-'.") from None

    def map(self, given: Sequence[str], flag: str) -> dict[str, Any]:
        """`key=value` each, or one JSON object; UsageError."""
        if len(given) == 1 and given[0][:1] in "{@-":
            found = self.json(given[0], flag)
            if isinstance(found, dict):
                return found
        pairs = [one.partition("=") for one in given]
        if not all(key and equals for key, equals, _ in pairs):
            raise click.UsageError(f"{flag} takes KEY=VALUE, once for each, or a JSON object.")
        return {key: value for key, _, value in pairs}

    def attachment(self, path: str) -> dict[str, str]:
        """A file as the API takes it; UsageError."""
        octets = self._octets(f"@{path}", "--attach")
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        return {
            "filename": Path(path).name,
            "contentType": kind,
            "content": base64.b64encode(octets).decode("ascii"),
        }

    def _octets(self, given: str, flag: str) -> bytes:
        try:
            if given == "-":
                if self._stdin_of not in (None, flag):
                    raise click.UsageError(f"stdin is read once, for {self._stdin_of}.")
                self._stdin_of = flag
                octets = sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
            else:
                with open(given[1:], "rb") as file:
                    octets = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise click.UsageError(f"{flag}: {given[1:]} can't be read: {error.strerror}.") from None
        if len(octets) > FILE_BYTES_MAX:
            raise click.UsageError(f"{flag}: {given} is longer than the server takes.")
        return octets


def parts(row: OperationRow, options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By place (path, query, header, body): what is given to the operation, by names on the wire. UsageError
    names what is missing. `options`: by names of options; None or () is what was not said."""
    source = Input()
    found: dict[str, dict[str, Any]] = {place: {} for place in ("path", "query", "header", "body")}
    if options.get("body"):
        whole = source.json(options["body"], "--body")
        if not isinstance(whole, dict):
            raise click.UsageError("--body takes a JSON object.")
        found["body"] = dict(whole)
    for taken in row.takes:
        given = options.get(taken.option)
        if given is not None and given != ():
            found[taken.place][taken.name] = _value(taken, given, source)
            _refuse_escaped_lines(taken, given)
    if row.id in _MAILING:
        _refuse_blank_words(found["body"])
    if options.get("attach"):
        named = found["body"].setdefault("attachments", [])
        named += [source.attachment(path) for path in options["attach"]]
    missing = [one.flag for one in row.takes if one.is_required and one.name not in found[one.place]]
    if missing:
        raise click.UsageError(f"Missing {', '.join(missing)}.")
    return found


def _refuse_escaped_lines(taken: Taken, given: Any) -> None:
    """Shells leave a backslash and an n in quotes as they are. Words with other line breaks may be about them."""
    if taken.place == "body" and taken.name in _WORDS and "\\n" in given and "\n" not in given:
        raise click.UsageError(
            f"{taken.flag} has a backslash and an n where a line should end, and people would read them: give it as"
            f" {taken.flag} $'one\\ntwo', or as @FILE, or '-' for stdin. If they are meant, end it with a line break."
        )


def _refuse_blank_words(body: Mapping[str, Any]) -> None:
    """What a command that failed has written, where it was to write the words of a mail."""
    text = body.get("text")
    if isinstance(text, str) and not text.strip() and not body.get("html"):
        raise click.UsageError("--text is blank, and would be a mail without words.")


def _value(taken: Taken, given: Any, source: Input) -> Any:
    if taken.place != "body":
        return list(given) if taken.kind == "strings" else given
    if taken.kind == "string":
        return source.text(given, taken.flag)
    if taken.kind == "strings":
        return [source.text(one, taken.flag) for one in given]
    if taken.kind == "map":
        return source.map(given, taken.flag)
    if taken.kind == "json":
        return source.json(given, taken.flag)
    return given
