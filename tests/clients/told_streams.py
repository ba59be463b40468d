"""Streams of events as a server tells them, by octets."""

import json
from typing import Any

from tests.clients.worlds import HANG_UP, Cut, refused

NEW_TYPE = {"id": "evt_9", "type": "mood.changed", "data": {"mood": "good"}, "more": 1}


def told(*events: str, has_length: bool = True) -> bytes:
    """A stream of these and its end; without a length that end is a broken connection."""
    content = "".join(events).encode()
    length = len(content) + (0 if has_length else 1)
    head = f"HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    whole = head.encode() + content
    return whole if has_length else Cut(whole)


def event(id: str, **more: Any) -> str:
    body = {"id": id, "type": "email.sent", **more}
    return f"id: {id}\r\nevent: {body['type']}\r\ndata: {json.dumps(body)}\r\n\r\n"


POSITION = "retry: 3000\r\nid: evt_0\r\n\r\n"
GAP = ": events are missing\r\nevent: gap\r\ndata: {}\r\n\r\n"

# Answer after answer of one that breaks in every way, and the positions that are asked for.
BREAKING = [
    told(POSITION, event("evt_1"), ": heartbeat\r\n\r\n", event("evt_2")),
    HANG_UP,
    refused(503, Retry_After="1"),
    told(event("evt_3"), has_length=False),
    HANG_UP, HANG_UP, HANG_UP, HANG_UP,
    told(POSITION.replace("evt_0", "evt_5")),
    told(event("evt_6")),
]  # fmt: skip
# As of a proxy that calls its outage endless: no timer runs so long.
ENDLESS = [
    told(event("evt_1")),
    refused(503, Retry_After="Fri, 31 Dec 9999 23:59:59 GMT"),
    told(event("evt_2")),
]
POSITIONS = [None, *["evt_2"] * 3, *["evt_3"] * 5, "evt_5"]


def ids(heard: list[Any]) -> list[str]:
    """Of what was heard, in its order; "gap" stands for itself."""
    return [one if one == "gap" else one["id"] for one in heard]
