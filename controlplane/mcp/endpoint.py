"""MCP as a door to the operations: one POST, one answer in JSON, no session, no stream.

The first of these that fails is the answer: method, Origin, key and rate, body, JSON, one message, revision, method,
arguments. It holds no rule of what an operation may do.

Of the rate the caller hears as of a tool's refusals, where its request is short and whole, and of a length that its
tool doesn't take: clients of the handshake era end their session at any status but success, and of an error of HTTP the
model hears nothing.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
from aiohttp import web
from mcp_types import INVALID_REQUEST, JSONRPC_VERSION, PARSE_ERROR

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.mcp import eras
from controlplane.mcp.cross_origin import origin
from controlplane.mcp.eras import REFUSED, Rejection
from controlplane.mcp.methods import Done, McpCaller, Methods
from controlplane.mcp.routing_headers import ROUTING_HEADERS
from controlplane.mcp.tools import BY_NAME
from controlplane.operations.operation import JSON, SMALL_BODY_BYTES
from controlplane.operations.table import SEND_BYTES
from controlplane.transport.callers import PRINCIPAL, REQUEST, Callers, address_of
from controlplane.transport.connections import connection_of
from controlplane.transport.gate import CODE, TOLD
from controlplane.transport.reading import read_json
from controlplane.transport.request_bodies import RequestBodies
from controlplane.transport.responses import envelope
from controlplane.transport.statuses import headers_of, status_of, wrong_method


class McpBody(NamedTuple):
    """How long a body may be: as long as that of a send."""

    body_bytes_max: int = SEND_BYTES


class McpEndpoint:
    """`own`, `origins`: those of web pages that may call, besides none (RFC 6454 §7): a page elsewhere must not reach a
    server on its reader's own network through a name that it lets point there."""

    def __init__(
        self, methods: Methods, callers: Callers, bodies: RequestBodies, own: str, origins: Sequence[str]
    ) -> None:
        self._methods = methods
        self._callers = callers
        self._bodies = bodies
        self._origins = frozenset(map(origin, (own, *origins)))

    async def handle(self, request: web.Request) -> web.Response:
        """Any failure as an error of JSON-RPC, with the status and the headers that HTTP has for it."""
        try:
            return await self._answer(request)
        except Rejection as rejection:
            return _rejected(request, rejection)
        except Refusal as refusal:
            return _refused(request, refusal)

    async def refuse_other_than_post(self, request: web.Request) -> web.Response:
        """The key first, here too: a client whose POST was a 401 asks for the stream of older servers next, and what
        that answers is all that its user sees."""
        try:
            await self._callers.identify(request)
        except Refusal as refusal:
            return _refused(request, refusal)
        raise wrong_method(("POST",))

    async def _answer(self, request: web.Request) -> web.Response:
        self._check_origin(request)
        try:
            principal = await self._callers.admit(request)
        except Refusal as refusal:
            if refusal.code != "rate_limit_exceeded":
                raise
            answer = await self._slowed_down(request, refusal)
            if answer is None:
                raise
            return answer
        holders = _holders(request, principal)
        size = _Size()
        async with self._bodies.parsed(McpBody(), request, holders, partial(_read, size)) as document:
            message = eras.message_of(document)
            headers = _routing_headers(request)
            if message.id is None:
                eras.check_notified_version(headers)
                return _noted(request)
            asked = eras.asked(message, headers)
            if size.octets > SMALL_BODY_BYTES and not _takes_words(asked):
                details = {"sizeBytes": size.octets, "limit": SMALL_BODY_BYTES}
                too_long = Refusal("payload_too_large", "Only what sends mail may be so long.", details)
                return self._not_begun(request, asked, too_long)
            done = await self._methods.answer(asked, _caller(request, principal))
            return _answered(request, asked, done)

    async def _slowed_down(self, request: web.Request, refusal: Refusal) -> web.Response | None:
        """None for what can't be read at once."""
        principal = request[PRINCIPAL]
        taker, holders = McpBody(SMALL_BODY_BYTES), _holders(request, principal)
        try:
            async with self._bodies.parsed(taker, request, holders, partial(_read, _Size())) as document:
                message = eras.message_of(document)
                if message.id is None:
                    return _noted(request)
                asked = eras.asked(message, _routing_headers(request))
        except (Rejection, Refusal):
            return None
        return self._not_begun(request, asked, refusal)

    def _not_begun(self, request: web.Request, asked: eras.Asked, refusal: Refusal) -> web.Response:
        """As the answer of its tool, where it calls one."""
        done = self._methods.not_begun(asked, refusal, _caller(request, request[PRINCIPAL]))
        if done is None:
            return _refused(request, refusal, asked)
        return _answered(request, asked, done, headers_of(refusal))

    def _check_origin(self, request: web.Request) -> None:
        named = request.headers.getall("Origin", [])
        if named and (len(named) > 1 or named[0].lower() not in self._origins):
            told = "Pages of this origin may not call; http.mcp_origins names those that may"
            raise Rejection(REFUSED, told, status=403)


class _Size:
    """How long the body was."""

    octets = 0


def _read(size: _Size, raw: bytearray) -> Any:
    size.octets = len(raw)
    try:
        return read_json(raw)
    except Refusal as refusal:
        fault = (refusal.details or {})["fields"][0]
        code = PARSE_ERROR if fault["code"] == "invalid_json" else INVALID_REQUEST
        raise Rejection(code, ": ".join(filter(None, (fault["path"], fault["message"])))) from refusal


def _takes_words(asked: eras.Asked) -> bool:
    tool = BY_NAME.get(asked.params["name"]) if asked.method == eras.CALL_TOOL else None
    return tool is not None and tool.takes_words


def _rejected(request: web.Request, rejection: Rejection) -> web.Response:
    request[TOLD] = {"rpc_error": rejection.code, "is_reading": True}
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    return _json({"jsonrpc": JSONRPC_VERSION, "id": rejection.id, "error": error}, rejection.status)


def _refused(request: web.Request, refusal: Refusal, asked: eras.Asked | None = None) -> web.Response:
    """What HTTP refuses before a method is asked; `data` is the error as the API has it. `asked`: which request it is,
    where it was read all the same."""
    request[CODE] = refusal.code
    status, headers = status_of(refusal), headers_of(refusal)
    after = "" if refusal.retry_after_s is None else f" Retry-After: {refusal.retry_after_s}"
    error = {"code": REFUSED, "message": f"{refusal.message}{after}", "data": envelope(refusal)["error"]}
    whole = {"jsonrpc": JSONRPC_VERSION, "id": asked and asked.id, "error": error}
    return _json(whole, 200 if asked and not asked.is_modern else status, headers)


def _noted(request: web.Request) -> web.Response:
    """Nothing comes of a notification."""
    request[TOLD] = {"is_reading": True}
    return web.Response(status=202)


def _answered(
    request: web.Request, asked: eras.Asked, done: Done, headers: dict[str, str] | None = None
) -> web.Response:
    request[TOLD] = {
        "is_reading": done.tool is None or done.tool.hints.reads_only,
        "rpc": asked.method,
        **({} if done.tool is None else {"tool": done.tool.name}),
    }
    if done.refused is not None:
        request[CODE] = done.refused
    return _json({"jsonrpc": JSONRPC_VERSION, "id": asked.id, "result": done.result}, 200, headers)


def _caller(request: web.Request, principal: Principal) -> McpCaller:
    on_leave = connection_of(request).on_lost
    return McpCaller(principal, on_leave, request[REQUEST])


def _holders(request: web.Request, principal: Principal) -> Sequence[str]:
    """Whose bytes its body are."""
    return (principal.organization_id, *address_of(request))


def _routing_headers(request: web.Request) -> dict[str, list[str]]:
    return {name: request.headers.getall(name, []) for name in ROUTING_HEADERS}


def _json(whole: Any, status: int, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=msgspec.json.encode(whole), status=status, headers=headers, content_type=JSON)
