"""What happens to every request, in order: id, key, rate limit, bound inbox, scope, input, handler, envelope."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import structlog
from aiohttp import web

from controlplane.api import Answer, Call, Handler, OpenHandler, Rooms, Route, Visit
from controlplane.auth import Authenticator, Principal
from controlplane.errors import ApiError, Fault, invalid
from controlplane.ratelimit import RateLimit, Verdict
from controlplane.reading import read_body, read_query
from controlplane.render import encode
from controlplane.schemas import Body, Query
from controlplane.streaming import JSON_TYPE
from storage import inboxes

log = structlog.get_logger("maild.api")

PREFIX = "/v1/"
OPEN_PATHS = frozenset({"/v1/unsubscribe"})  # the one place under /v1 that strangers may know of
PARSE_INLINE_BYTES = 256 * 1024
_REQUEST_ID = web.RequestKey("request_id", str)
_VERDICT = web.RequestKey("verdict", Verdict)

Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Gate:
    """Runs each route's checks in the order that decisions.md fixes, then its handler."""

    def __init__(self, rooms: Rooms, authenticator: Authenticator, rate_limit: RateLimit) -> None:
        self._rooms = rooms
        self._authenticator = authenticator
        self._rate_limit = rate_limit

    def endpoint(self, route: Route) -> Next:
        return self._open_endpoint(route) if route.is_open else self._keyed_endpoint(route)

    def _open_endpoint(self, route: Route) -> Next:
        handler = cast(OpenHandler, route.handler)

        async def serve(request: web.Request) -> web.StreamResponse:
            answer = await handler(Visit(self._rooms, request, _read_query(route.query, request)))
            return respond(answer) if isinstance(answer, Answer) else answer

        return serve

    def _keyed_endpoint(self, route: Route) -> Next:
        handler = cast(Handler, route.handler)

        async def serve(request: web.Request) -> web.StreamResponse:
            principal = await self._admit(request)
            self._check_reach(route, principal, request)
            if principal.inbox_id is None or not route.binding_suffices:
                principal.require(route.scope)
            query = _read_query(route.query, request)
            body = await _read_body(route.body, request)
            answer = await handler(Call(self._rooms, request, principal, body, query))
            return respond(answer) if isinstance(answer, Answer) else answer

        return serve

    @web.middleware
    async def middleware(self, request: web.Request, handler: Next) -> web.StreamResponse:
        """The outermost layer: nothing leaves without a request id and, for errors, the envelope."""
        request[_REQUEST_ID] = self._rooms.ids.new("req")
        try:
            response = await handler(request)
        except ApiError as error:
            response = _error(error)
        except web.HTTPException as error:
            response = _error(await self._from_http(request, error))
        except (ConnectionResetError, asyncio.CancelledError):
            raise
        except Exception:
            log.exception("request_failed", request_id=request[_REQUEST_ID], path=request.path)
            response = _error(ApiError("internal_error", details={"requestId": request[_REQUEST_ID]}))
        return response

    async def decorate(self, request: web.Request, response: web.StreamResponse) -> None:
        """The headers of every answer, streamed ones too (a signal of aiohttp, before they are sent)."""
        response.headers["X-Request-Id"] = request[_REQUEST_ID]
        response.headers["Server"] = "maild"
        verdict = request.get(_VERDICT)
        if verdict is not None:
            response.headers.update(verdict.headers())
            response.headers["Cache-Control"] = "private, no-store"

    async def _admit(self, request: web.Request) -> Principal:
        principal = await self._authenticator.principal(request.headers.get("Authorization"))
        verdict = await self._rate_limit.count(principal.organization_id)
        request[_VERDICT] = verdict
        if not verdict.allowed:
            raise ApiError("rate_limit_exceeded", headers={"Retry-After": str(verdict.retry_after_s)})
        return principal

    def _check_reach(self, route: Route, principal: Principal, request: web.Request) -> None:
        """A key bound to one inbox hears of another inbox's resource before its scopes are looked at."""
        if principal.inbox_id is None:
            return
        if not route.bound_keys:
            raise ApiError("inbox_access_denied")
        if route.names is not None:
            owner = self._rooms.db.lookup(
                inboxes.owner_of, route.names, principal.organization_id, request.match_info["id"]
            )
            if owner is not None:
                principal.confine(owner)

    async def _from_http(self, request: web.Request, error: web.HTTPException) -> ApiError:
        is_open = request.path in OPEN_PATHS
        if request.path.startswith(PREFIX) and not is_open and error.status in (404, 405):
            refusal = await self._refusal(request)
            if refusal is not None:
                return refusal
        if isinstance(error, web.HTTPMethodNotAllowed):
            allowed = ", ".join(sorted(error.allowed_methods))
            return ApiError("method_not_allowed", headers={"Allow": allowed})
        if error.status == 404:
            return ApiError("not_found")
        if error.status == 413:
            return ApiError("payload_too_large")
        if error.status < 500:
            return invalid([Fault("", "bad_request", "The request can't be read as HTTP with a JSON body.")])
        log.error("http_failed", request_id=request[_REQUEST_ID], status=error.status)
        return ApiError("internal_error", details={"requestId": request[_REQUEST_ID]})

    async def _refusal(self, request: web.Request) -> ApiError | None:
        """Without a good key, not even an unknown path under /v1 is admitted to be unknown."""
        try:
            await self._admit(request)
        except ApiError as error:
            return error
        return None


def respond(answer: Answer) -> web.Response:
    return web.Response(
        body=encode({"data": answer.data}),
        status=answer.status,
        headers=dict(answer.headers),
        content_type=JSON_TYPE,
    )


def _error(error: ApiError) -> web.Response:
    return web.Response(
        body=encode(error.envelope()), status=error.status, headers=error.headers, content_type=JSON_TYPE
    )


def _read_query(model: type[Query] | None, request: web.Request) -> Any:
    if model is None and not request.query_string:
        return None
    return read_query(model or Query, list(request.query.items()))


async def _read_body(model: type[Body] | None, request: web.Request) -> Any:
    if model is None:
        if request.can_read_body and await request.read():
            raise invalid([Fault("", "unexpected_body", "This endpoint takes no body")])
        return None
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ApiError("unsupported_media_type", "Send the body uncompressed.")
    raw = await request.read()
    if raw and request.content_type != JSON_TYPE:
        raise ApiError("unsupported_media_type")
    if len(raw) > PARSE_INLINE_BYTES:
        return await asyncio.to_thread(read_body, model, raw)
    return read_body(model, raw)
