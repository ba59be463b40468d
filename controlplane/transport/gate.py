"""What happens to every request, in order: id, key, rate limit, bound inbox, scope, input, handler, envelope."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import structlog
from aiohttp import HttpVersion11, web
from aiohttp.web_protocol import RequestPayloadError
from structlog.contextvars import bind_contextvars

from conf.log_events import LogEvent, clean, tell
from conf.strangers import StrangerLog
from controlplane.access.authentication import Authenticator, Principal
from controlplane.access.rate_limit import RateLimit, RateVerdict
from controlplane.api import Call, Handler, OpenHandler, PublicRequest, Result, Route, Services
from controlplane.contract.refusals import Refusal, bad_request
from controlplane.contract.requests import RequestQuery
from controlplane.transport.connections import is_local
from controlplane.transport.envelope import REQUEST_ID, SERVER, refuse, respond
from controlplane.transport.reading import read_query
from controlplane.transport.request_bodies import RequestBodies, expects_continue, refuse_body
from storage import inboxes

log = structlog.get_logger("maild.api")

PREFIX = "/v1/"
OPEN_PATHS = frozenset({"/v1/unsubscribe"})  # the one place under /v1 that strangers may know of
METHOD_CHARS = 10
LEFT = 499  # sent to nobody
_REQUEST_ID = web.RequestKey("request_id", str)
_CODE = web.RequestKey("code", str)  # of the error that is answered
_PRINCIPAL = web.RequestKey("principal", Principal)
_VERDICT = web.RequestKey("verdict", RateVerdict)

Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _Misframed(Exception):
    """Nobody can say where this request ends."""


class Gate:
    """Runs each route's checks in the order of docs/contract.md, section 5, then its handler."""

    def __init__(
        self,
        rooms: Services,
        authenticator: Authenticator,
        rate_limit: RateLimit,
        bodies: RequestBodies,
        strangers: StrangerLog,
    ) -> None:
        self._rooms = rooms
        self._bodies = bodies
        self._strangers = strangers
        self._authenticator = authenticator
        self._rate_limit = rate_limit

    def endpoint(self, route: Route) -> Next:
        return self._open_endpoint(route) if route.is_open else self._keyed_endpoint(route)

    def _open_endpoint(self, route: Route) -> Next:
        handler = cast(OpenHandler, route.handler)

        async def serve(request: web.Request) -> web.StreamResponse:
            query = _read_query(route.query, request)
            async with self._bodies.octets(route, request, _address_of(request)) as body:
                answer = await handler(PublicRequest(self._rooms, request, query, bytes(body)))
            return respond(answer) if isinstance(answer, Result) else answer

        return serve

    def _keyed_endpoint(self, route: Route) -> Next:
        handler = cast(Handler, route.handler)

        async def serve(request: web.Request) -> web.StreamResponse:
            principal = await self._admit(request)
            await self._check_reach(route, principal, request)
            if principal.inbox_id is None or not route.binding_suffices:
                principal.require(route.scope)
            if route.is_live_only:
                principal.require_live()
            query = _read_query(route.query, request)
            holders = (principal.organization_id, *_address_of(request))
            rooms = self._rooms if route.method == "GET" else self._rooms_of(principal)
            if route.body is None:
                await refuse_body(request)
                answer = await handler(Call(rooms, request, principal, None, query))
            else:
                async with self._bodies.body(route, request, holders) as body:
                    answer = await handler(Call(rooms, request, principal, body, query))
            return respond(answer) if isinstance(answer, Result) else answer

        return serve

    def _rooms_of(self, principal: Principal) -> Services:
        """The rooms with a store that does nothing once the key is revoked: no handler can forget to ask."""
        return replace(self._rooms, db=self._rooms.db.asking(principal.ask))

    def around(self, application: Next) -> Next:
        """The outermost layer: nothing leaves without a request id and, for errors, the envelope."""

        async def serve(request: web.Request) -> web.StreamResponse:
            began = self._rooms.clock.monotonic()
            request_id = request[_REQUEST_ID] = self._rooms.ids.new("req")
            bind_contextvars(
                request_id=request_id
            )  # a connection's requests are one task: the next one binds its own
            response = await self._answer(application, request)
            if response.status != LEFT:
                self._tell(request, response.status, self._rooms.clock.monotonic() - began)
            return response

        return serve

    async def _answer(self, application: Next, request: web.Request) -> web.StreamResponse:
        try:
            _check_framing(request)
            return await application(request)
        except Refusal as error:
            return _refuse(request, error)
        except web.HTTPException as error:
            return _refuse(request, await self._from_http(request, error))
        except (_Misframed, RequestPayloadError):  # the latter: a chunk that is none, or an end too early
            return _closing(request, bad_request())
        except Exception as error:
            return self._unforeseen(request, error)

    def _tell(self, request: web.Request, status: int, took_s: float) -> None:
        """One line a request. Of its target the pattern alone is told: paths and queries are the peer's words."""
        principal = request.get(_PRINCIPAL)
        fields: dict[str, Any] = {
            "request_id": request[_REQUEST_ID],
            "peer": request.remote or "",
            "method": clean(request.method, METHOD_CHARS),
            "route": _pattern(request),
            "status": status,
            "duration_ms": round(took_s * 1000, 1),
        }
        if principal is not None:
            fields |= {"key_id": principal.key_id, "organization_id": principal.organization_id}
        if status >= 400:  # anybody can bring those about, a customer's loop as well as a stranger's
            whose = None if principal is None else principal.organization_id
            self._strangers.note(LogEvent.REQUEST_REFUSED, whose, code=request.get(_CODE), **fields)
        else:
            is_reading = request.method in ("GET", "HEAD")
            tell(log, LogEvent.REQUEST_READ if is_reading else LogEvent.REQUEST_DONE, **fields)

    def _unforeseen(self, request: web.Request, error: Exception) -> web.StreamResponse:
        request_id = request[_REQUEST_ID]
        transport = request.transport
        if transport is None or transport.is_closing():  # daily life: nobody is there to be answered
            self._strangers.note(
                LogEvent.HTTP_CLIENT_LEFT,
                peer=request.remote or "",
                request_id=request_id,
                cause=type(error).__name__,
            )
            return web.Response()
        log.error("request_failed", request_id=request_id, path=clean(request.path), exc_info=error)
        if request.writer.output_size > 0:  # an error in the middle of a body would pass for more of it
            transport.abort()
        return _refuse(request, Refusal("internal_error", details={"requestId": request_id}))

    async def expect(self, request: web.Request) -> None:
        """RFC 9110 §10.1.1. The 100 itself is sent when the body is wanted: who is refused sends none."""
        if request.version >= HttpVersion11 and not expects_continue(request):
            raise Refusal("expectation_failed")

    async def decorate(self, request: web.Request, response: web.StreamResponse) -> None:
        """The headers of every answer, streamed ones too (a signal of aiohttp, before they are sent)."""
        response.headers[REQUEST_ID] = request[_REQUEST_ID]
        response.headers.update(SERVER)
        verdict = request.get(_VERDICT)
        if verdict is not None:
            response.headers.update(verdict.headers())
            response.headers["Cache-Control"] = "private, no-store"

    async def _admit(self, request: web.Request) -> Principal:
        principal = await self._authenticator.principal(request.headers.get("Authorization"))
        request[_PRINCIPAL] = principal
        verdict = await self._rate_limit.count(principal.organization_id)
        request[_VERDICT] = verdict
        if not verdict.allowed:
            raise Refusal("rate_limit_exceeded", headers={"Retry-After": str(verdict.retry_after_s)})
        return principal

    async def _check_reach(self, route: Route, principal: Principal, request: web.Request) -> None:
        """A key bound to one inbox hears of another inbox's resource before its scopes are looked at."""
        if principal.inbox_id is None:
            return
        if not route.bound_keys:
            raise Refusal("inbox_access_denied")
        if route.names is not None:
            owner = await self._rooms.db.lookup(
                inboxes.owner_of, route.names, principal.organization_id, request.match_info["id"]
            )
            if owner is not None:
                principal.confine(owner)

    async def _from_http(self, request: web.Request, error: web.HTTPException) -> Refusal:
        is_open = request.path in OPEN_PATHS
        if request.path.startswith(PREFIX) and not is_open and error.status in (404, 405):
            refusal = await self._refusal(request)
            if refusal is not None:
                return refusal
        if isinstance(error, web.HTTPMethodNotAllowed):
            allowed = ", ".join(sorted(error.allowed_methods))
            return Refusal("method_not_allowed", headers={"Allow": allowed})
        if error.status == 404:
            return Refusal("not_found")
        if error.status == 417:  # on a path that has no endpoint
            return Refusal("expectation_failed")
        if error.status < 500:
            return bad_request()
        log.error("http_failed", request_id=request[_REQUEST_ID], status=error.status)
        return Refusal("internal_error", details={"requestId": request[_REQUEST_ID]})

    async def _refusal(self, request: web.Request) -> Refusal | None:
        """Without a good key, not even an unknown path under /v1 is admitted to be unknown."""
        try:
            await self._admit(request)
        except Refusal as error:
            return error
        return None


def _pattern(request: web.Request) -> str | None:
    """The route as it is written, such as `/v1/messages/{id}`; None for a path that has none, or was not looked at."""
    match = request._match_info
    resource = match.route.resource if match is not None else None
    return resource.canonical if resource is not None else None


def _check_framing(request: web.Request) -> None:
    """RFC 9112 §6.1: a body in a transfer coding that nobody here undoes would be taken for something else."""
    coding = request.headers.get("Transfer-Encoding")
    if coding is not None and coding.strip().lower() != "chunked":
        raise _Misframed


def _address_of(request: web.Request) -> tuple[str, ...]:
    """The peer as a holder of bytes; a proxy's address is everybody's, and so nobody's."""
    peer = request.remote or ""
    return () if is_local(peer) else (peer,)


def _refuse(request: web.Request, error: Refusal) -> web.Response:
    request[_CODE] = error.code
    return refuse(error)


def _closing(request: web.Request, error: Refusal) -> web.Response:
    """Where the next request begins is not known."""
    response = _refuse(request, error)
    response.headers.update({REQUEST_ID: request[_REQUEST_ID], **SERVER})  # perhaps no route adds them
    response.force_close()
    return response


def _read_query(model: type[RequestQuery] | None, request: web.Request) -> Any:
    if model is None and not request.query_string:
        return None
    return read_query(model or RequestQuery, list(request.query.items()))
