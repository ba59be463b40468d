"""Results and refusals as HTTP: statuses, headers, and the envelope `data` or `error`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from conf.tuning import HttpTuning
from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import JSON, Operation
from controlplane.operations.results import (
    AnyResult,
    Download,
    EventFeed,
    HtmlPage,
    JsonArray,
    JsonPieces,
    Result,
)
from controlplane.transport.downloads import is_known, send_download
from controlplane.transport.event_stream import GAP, stream_events
from controlplane.transport.statuses import headers_of, status_of
from controlplane.transport.streaming import NONE, stream_json, whole_or_rest

REQUEST_ID = "X-Request-Id"
SERVER = {"Server": "maild"}
REPLAYED = {"Idempotent-Replayed": "true"}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


class Responder:
    """Sends what operations answer, a way for each kind of result."""

    def __init__(self, heartbeat_s: float, tuning: HttpTuning) -> None:
        self._heartbeat_s = heartbeat_s
        self._tuning = tuning
        self._ways: Mapping[type[Any], Callable[..., Awaitable[web.StreamResponse]]] = {
            Result: _value,
            JsonArray: self._array,
            JsonPieces: _pieces,
            Download: _download,
            EventFeed: self._events,
            HtmlPage: _page,
        }

    async def send(self, request: web.Request, operation: Operation, result: AnyResult) -> web.StreamResponse:
        """Refusal where the result's bytes are gone, or its feed can't be opened."""
        return await self._ways[type(result)](request, operation, result)

    async def _array(
        self, request: web.Request, operation: Operation, array: JsonArray
    ) -> web.StreamResponse:
        whole, rest = await whole_or_rest(array.parts, self._tuning.held_bytes)
        headers = GAP if array.has_gap else {}
        if rest is not None:
            return await stream_json(request, rest, headers)
        response = await _value(request, operation, Result(msgspec.Raw(whole)))
        response.headers.update(headers)
        return response

    async def _events(self, request: web.Request, _: Operation, feed: EventFeed) -> web.StreamResponse:
        return await stream_events(request, feed, self._heartbeat_s, self._tuning.stream_stalled_s)


async def _value(request: web.Request, operation: Operation, result: Result) -> web.Response:
    headers = dict(REPLAYED) if result.is_replay else {}
    if result.tag is not None:
        headers["ETag"] = f'"{result.tag}"'
        if is_known(request, result.tag):  # RFC 9110 §15.4.5
            return web.Response(status=304, headers=headers)
    status = 200 if result.is_replay else success_status(operation)
    return _json({"data": result.data}, status, headers)


async def _pieces(request: web.Request, _: Operation, value: JsonPieces) -> web.StreamResponse:
    return await stream_json(request, value.pieces, REPLAYED if value.is_replay else NONE)


async def _download(request: web.Request, _: Operation, download: Download) -> web.StreamResponse:
    return await send_download(request, download)


async def _page(_: web.Request, __: Operation, page: HtmlPage) -> web.Response:
    status = 200 if page.refusal is None else status_of(page.refusal)
    return web.Response(text=page.html, status=status, content_type="text/html", headers=_PAGE_HEADERS)


def success_status(operation: Operation) -> int:
    """What an operation answers that did what it is for, and not before."""
    return 201 if operation.creates else 200


def refuse(refusal: Refusal) -> web.Response:
    return _json(envelope(refusal), status_of(refusal), headers_of(refusal))


def _json(whole: Any, status: int, headers: Mapping[str, str]) -> web.Response:
    return web.Response(body=msgspec.json.encode(whole), status=status, headers=headers, content_type=JSON)


def envelope(refusal: Refusal) -> dict[str, Any]:
    """The body of its answer: `{"error": …}`."""
    error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    if refusal.details is not None:
        error["details"] = refusal.details
    return {"error": error}


def refusal_octets(refusal: Refusal, reason: str, request_id: str) -> bytes:
    """A whole response, for a connection that never gets as far as a request. `reason`: the status in words."""
    body = msgspec.json.encode(envelope(refusal))
    headers = {
        "Content-Type": JSON,
        "Content-Length": str(len(body)),
        "Connection": "close",
        REQUEST_ID: request_id,
        **SERVER,
        **headers_of(refusal),
    }
    status_line = f"HTTP/1.1 {status_of(refusal)} {reason}"
    lines = [status_line, *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
