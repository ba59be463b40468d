"""Every event that a daemon of the tests published, held to the models that `/openapi.json` is made of."""

import json
import sqlite3
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from controlplane.contract.telling.events import EVENTS, EventEnvelope
from controlplane.webhooks.events import encode, envelope
from storage.engine import migrate
from storage.records import EventRow, columns


class Misshapen(AssertionError):
    """An event is not what the document promises."""


def check(database: Path) -> None:
    """Misshapen unless every event in the store fits the model of its type, as it would be sent."""
    conn = migrate.connect(database)
    try:
        # Tests that only count events write rows by hand, with nothing in them.
        rows = conn.execute(f"SELECT {columns(EventRow)} FROM events WHERE data <> '{{}}'").fetchall()
    except sqlite3.Error:  # a test may have taken the store apart
        return
    finally:
        conn.close()
    for row in rows:
        check_body(encode(envelope(EventRow(*row), "words", None)))


def check_body(body: bytes) -> None:
    """Misshapen unless this is the body of an event."""
    kind = json.loads(body)["type"]
    if kind not in EVENTS:
        raise Misshapen(f"there is no event type {kind}")
    try:
        _model(EVENTS[kind][1]).validate_json(body, strict=True)
    except ValidationError as error:
        raise Misshapen(f"{kind}: {error}") from error


@cache
def _model(kind: type[EventEnvelope]) -> TypeAdapter[EventEnvelope]:
    return TypeAdapter(kind)
