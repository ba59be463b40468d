"""The outermost layer of HTTP: nothing leaves without a request id and, for what is refused, the envelope."""

from collections.abc import Mapping
from typing import Any

import structlog
from aiohttp import web
from aiohttp.hdrs import METH_ANY
from aiohttp.web_protocol import RequestPayloadError
from structlog.contextvars import bind_contextvars
from yarl import URL

from conf.log_events import LogEvent, clean, is_told, tell
from conf.strangers import StrangerLog
from controlplane.contract.refusals import Refusal, bad_request
from controlplane.operations.invoke import exhausted, want
from controlplane.operations.table import OPERATIONS
from controlplane.transport.callers import PRINCIPAL, RATE, REQUEST, Callers, client_of
from controlplane.transport.door import Next
from controlplane.transport.request_counts import RequestCounts
from controlplane.transport.responses import REQUEST_ID, SERVER, refuse
from controlplane.transport.statuses import wrong_method
from storage.clock import Clock
from storage.engine.failures import is_refused
from storage.ids import Ids
from storage.mail.blobs import BlobMissing
from storage.turns.rounds import Kind, Overloaded, Rounds

log = structlog.get_logger("maild.api")

PREFIX = "/v1/"
# The places under /v1 that callers without a key may know of.
PUBLIC_PATHS = frozenset(operation.path for operation in OPERATIONS if operation.is_public)
METHOD_CHARS = 10
RETRY_AFTER_S = 2  # of a request that found no place in time
LEFT = 499  # the client left: the status is only logged
CODE = web.RequestKey("code", str)  # of the error that is answered
# Of the error, what our own words say: no name or address of a peer.
WHY = web.RequestKey("why", dict[str, Any])
_OUR_WORDS = {"reason": "reason", "resource": "resource", "requiredScope": "required_scope"}
TOLD = web.RequestKey(
    "told", dict[str, Any]
)  # what else the line in the log says, where a door knows more than a route


LONGEST_ROUTE = 5  # segments: `/v1/inboxes/{id}/codes/claim`
_NEARLY = "There is no such path, but '{}'; '/docs' shows all, '/openapi.json' tells programs."
_OVERLOADED = Refusal(
    "provider_unavailable",
    "More is asked at the moment than can be answered; try again later.",
    retry_after_s=RETRY_AFTER_S,
)


class _Misframed(Exception):
    """It is not known where this request ends."""


class Gate:
    """What surrounds every request: its id, its line in the log, the envelope of what it is refused."""

    def __init__(
        self, callers: Callers, rounds: Rounds, clock: Clock, ids: Ids, strangers: StrangerLog
    ) -> None:
        self._callers = callers
        self._rounds = rounds
        self._clock = clock
        self._ids = ids
        self._strangers = strangers
        self.counts = RequestCounts()
        self._log = log.bind()  # finding the method anew costs more than not writing a line

    def around(self, application: Next) -> Next:
        """The outermost layer: nothing leaves without a request id and, for errors, the envelope."""

        async def serve(request: web.Request) -> web.StreamResponse:
            began = self._clock.monotonic()
            request_id = request[REQUEST] = self._ids.new("req")
            # A connection's requests are one task: the next one binds its own.
            bind_contextvars(request_id=request_id)
            response = await self._answer(application, request)
            if not response.prepared and _has_open_end(request):
                response.force_close()
            if response.status != LEFT:
                took_s, route = self._clock.monotonic() - began, _pattern(request)
                self.counts.note(request.method, route, response.status, took_s)
                self._tell(request, route, response.status, took_s)
            return response

        return serve

    async def _answer(self, application: Next, request: web.Request) -> web.StreamResponse:
        try:
            _check_framing(request)
            await self._rounds.begin(Kind.REQUEST, self._callers.owner_of(request))
            return await application(request)
        except Overloaded:
            return _early(request, _OVERLOADED)
        except Refusal as error:
            return _refuse(request, error)
        except web.HTTPException as error:
            error.__traceback__ = None  # the request keeps it, and is known to those frames
            return _refuse(request, await self._from_http(request, error))
        except (_Misframed, RequestPayloadError):  # the latter: a chunk that is none, or an end too early
            return _closing(request, bad_request())
        except Exception as error:
            return self._unforeseen(request, error)

    def _tell(self, request: web.Request, route: str | None, status: int, took_s: float) -> None:
        """One line a request. Of its target the pattern alone is told: paths and queries are the peer's words."""
        told, code = request.get(TOLD, {}), request.get(CODE)
        is_reading = told.get("is_reading", request.method in ("GET", "HEAD"))
        done = LogEvent.REQUEST_READ if is_reading else LogEvent.REQUEST_DONE
        is_refused = status >= 400 or code is not None
        if not is_refused and not is_told(self._log, done):
            return
        principal = request.get(PRINCIPAL)
        fields: dict[str, Any] = {
            "request_id": request[REQUEST],
            "peer": client_of(request),
            "method": clean(request.method, METHOD_CHARS),
            "route": route,
            "status": status,
            "duration_ms": round(took_s * 1000, 1),
            **{name: value for name, value in told.items() if name != "is_reading"},
        }
        if principal is not None:
            fields |= {"key_id": principal.key_id, "organization_id": principal.organization_id}
        if is_refused:  # any client can bring those about in a loop, with a key or without
            whose = None if principal is None else principal.organization_id
            fields |= request.get(WHY, {})
            self._strangers.note(LogEvent.REQUEST_REFUSED, whose, refusal=code, **fields)
        else:
            tell(self._log, done, **fields)

    def _unforeseen(self, request: web.Request, error: Exception) -> web.StreamResponse:
        request_id = request[REQUEST]
        transport = request.transport
        if transport is None or transport.is_closing():  # daily life: the client is gone
            self._strangers.note(
                LogEvent.HTTP_CLIENT_LEFT,
                peer=client_of(request),
                request_id=request_id,
                cause=type(error).__name__,
            )
            error.__traceback__ = None  # as above: its stream keeps it
            return web.Response(status=LEFT)
        is_begun = request.writer.output_size > 0
        if is_begun and isinstance(error, BlobMissing):
            self._strangers.note(LogEvent.HTTP_ANSWER_CUT, peer=client_of(request), request_id=request_id)
            transport.abort()
            return web.Response(status=LEFT)
        is_exhausted = is_refused(error)
        if is_exhausted:
            want.note(error)
        else:
            log.error("request_failed", request_id=request_id, path=clean(request.path), exc_info=error)
        if is_begun:  # an error in the middle of a body would pass for more of it
            transport.abort()
        if is_exhausted:
            return _refuse(request, exhausted())
        return _refuse(request, Refusal("internal_error", details={"requestId": request_id}))

    async def decorate(self, request: web.Request, response: web.StreamResponse) -> None:
        """The headers of every answer, streamed ones too (a signal of aiohttp, before they are sent)."""
        response.headers[REQUEST_ID] = request[REQUEST]
        response.headers.update(SERVER)
        verdict = request.get(RATE)
        if verdict is not None:
            response.headers.update(verdict.headers())
            response.headers["Cache-Control"] = "private, no-store"
        else:  # caches in front keep what does not speak of them, for minutes: what /health said, and each 404
            response.headers.setdefault("Cache-Control", "no-store")

    async def _from_http(self, request: web.Request, error: web.HTTPException) -> Refusal:
        is_open = request.path in PUBLIC_PATHS
        if request.path.startswith(PREFIX) and not is_open and error.status in (404, 405):
            refusal = await self._refusal(request)
            if refusal is not None:
                return refusal
        if isinstance(error, web.HTTPMethodNotAllowed):
            return wrong_method(error.allowed_methods)
        if error.status == 404:
            return Refusal("not_found", await _hint(request))
        if error.status == 417:  # on a path that has no endpoint
            return Refusal("expectation_failed")
        if error.status < 500:
            return bad_request()
        log.error("http_failed", request_id=request[REQUEST], status=error.status)
        return Refusal("internal_error", details={"requestId": request[REQUEST]})

    async def _refusal(self, request: web.Request) -> Refusal | None:
        """Without a good key, not even an unknown path under /v1 is admitted to be unknown."""
        try:
            await self._callers.admit(request)
        except Refusal as error:
            return error
        return None


def _pattern(request: web.Request) -> str | None:
    """The route as it is written, such as `/v1/messages/{id}`; None for a path that has none, or was not looked at."""
    match = request._match_info
    resource = match.route.resource if match is not None else None
    return resource.canonical if resource is not None else None


async def _hint(request: web.Request) -> str | None:
    """Which path there is, as its route is written, where this one differs in slashes, in case, or in what stands
    before it, such as `/v2/inboxes/{id}` in front of `/messages`; None: it is like none."""
    if request.match_info.http_exception is None:  # it has a route, and that has nothing there
        return None
    parts = [part for part in request.rel_url.raw_path.lower().split("/") if part]
    for length in range(min(len(parts), LONGEST_ROUTE), 0, -1):
        for near in ("/v1/", "/"):
            meant = request.clone(rel_url=URL(near + "/".join(parts[-length:]), encoded=True))
            found = await request.match_info.apps[0].router.resolve(meant)
            resource = found.route.resource if found.http_exception is None else None
            # One of all methods takes whatever is below it, for nothing.
            if resource is not None and found.route.method != METH_ANY:
                return _NEARLY.format(resource.canonical)
    return None


def _check_framing(request: web.Request) -> None:
    """RFC 9112 §6.1: a body in a transfer coding that is not undone here would be taken for something else."""
    coding = request.headers.get("Transfer-Encoding")
    if coding is not None and coding.strip().lower() != "chunked":
        raise _Misframed


def _has_open_end(request: web.Request) -> bool:
    """Where a proxy asked for somebody else next, on this connection, one request would be taken for the other."""
    # RFC 9110 §10.1.1: it is not known whether the rest of a body still comes. §9.3.6: a CONNECT has none, and none is
    # read; a proxy that passes on what came with it takes it for the body all the same.
    return not request.content.is_eof() or request.method == "CONNECT"


def _refuse(request: web.Request, error: Refusal) -> web.Response:
    request[CODE], request[WHY] = error.code, _in_our_words(error.details or {})
    return refuse(error)


def _in_our_words(details: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: details[one] for one, name in _OUR_WORDS.items() if one in details}
    faults = sorted({fault["code"] for fault in details.get("fields", ())})
    return {**told, "faults": faults} if faults else told


def _early(request: web.Request, error: Refusal) -> web.Response:
    """Perhaps before there is a route, which would add these headers."""
    response = _refuse(request, error)
    response.headers.update({REQUEST_ID: request[REQUEST], **SERVER})
    return response


def _closing(request: web.Request, error: Refusal) -> web.Response:
    """Where the next request begins is not known."""
    response = _early(request, error)
    response.force_close()
    return response
