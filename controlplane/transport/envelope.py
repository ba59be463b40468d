"""Answers as HTTP responses: `data` or `error` in their envelope."""

from aiohttp import web

from controlplane.api import Result
from controlplane.contract.refusals import Refusal
from controlplane.render import encode
from controlplane.transport.streaming import JSON_TYPE

REQUEST_ID = "X-Request-Id"
SERVER = {"Server": "maild"}


def respond(answer: Result) -> web.Response:
    return web.Response(
        body=encode({"data": answer.data}),
        status=answer.status,
        headers=dict(answer.headers),
        content_type=JSON_TYPE,
    )


def refuse(error: Refusal) -> web.Response:
    return web.Response(
        body=encode(error.envelope()), status=error.status, headers=error.headers, content_type=JSON_TYPE
    )


def refusal_octets(error: Refusal, reason: str, request_id: str) -> bytes:
    """A whole response, for a connection that never gets as far as a request. `reason`: the status in words."""
    body = encode(error.envelope())
    headers = {
        "Content-Type": JSON_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
        REQUEST_ID: request_id,
        **SERVER,
        **error.headers,
    }
    lines = [f"HTTP/1.1 {error.status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
