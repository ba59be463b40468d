"""HTTP as a door to the operations: key, rate, input, and back. It holds no rule of what an operation may do."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from aiohttp import web

from controlplane.access.principal import Principal
from controlplane.contract.model import RequestQuery
from controlplane.contract.telling.events import StreamEvents
from controlplane.operations.invoke import Operations
from controlplane.operations.operation import Operation
from controlplane.transport.callers import Callers, address_of
from controlplane.transport.connections import connection_of
from controlplane.transport.reading import query_pairs, read_query
from controlplane.transport.request_bodies import RequestBodies, refuse_body
from controlplane.transport.request_headers import media_type
from controlplane.transport.responses import Responder

Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Door:
    """Endpoints for operations: each request's checks in the order of docs/contract.md, section 5."""

    def __init__(
        self,
        operations: Operations,
        callers: Callers,
        bodies: RequestBodies,
        responder: Responder,
    ) -> None:
        self._operations = operations
        self._callers = callers
        self._bodies = bodies
        self._responder = responder

    def endpoint(self, operation: Operation) -> Next:
        """The handler of the operation's route; a Refusal that it raises is answered by the gate."""
        return self._public_endpoint(operation) if operation.is_public else self._keyed_endpoint(operation)

    def _keyed_endpoint(self, operation: Operation) -> Next:
        takes_body = operation.body is not None

        async def serve(request: web.Request) -> web.StreamResponse:
            principal = await self._callers.admit(request)
            result = await self._operations.invoke(
                operation,
                principal,
                Body(self._bodies, operation, request, principal)
                if takes_body
                else Query(operation, request),
                id=request.match_info.get("id", ""),
                idempotency_keys=request.headers.getall("Idempotency-Key", ()),
                on_leave=connection_of(request).on_lost,
            )
            return await self._responder.send(request, operation, result)

        return serve

    def _public_endpoint(self, operation: Operation) -> Next:
        async def serve(request: web.Request) -> web.StreamResponse:
            query = _read_query(operation.query, request)
            async with self._bodies.octets(operation, request, address_of(request)) as body:
                result = await self._operations.invoke_public(
                    operation,
                    input=query,
                    content_type=media_type(request),
                    body=bytes(body),
                    prefers_html=_prefers_html(request),
                )
            return await self._responder.send(request, operation, result)

        return serve


class Body:
    """The input of an operation that takes a body, of which nothing is read where the query has a fault."""

    __slots__ = ("_operation", "_parsed", "_request")

    def __init__(
        self, bodies: RequestBodies, operation: Operation, request: web.Request, principal: Principal
    ) -> None:
        self._operation = operation
        self._request = request
        self._parsed = bodies.body(operation, request, (principal.organization_id, *address_of(request)))

    async def __aenter__(self) -> Any:
        _read_query(self._operation.query, self._request)
        return await self._parsed.__aenter__()

    async def __aexit__(self, *_: object) -> None:
        await self._parsed.__aexit__()


class Query:
    """The input of an operation that takes no body. Nothing is held that must be given back."""

    __slots__ = ("_operation", "_request")

    def __init__(self, operation: Operation, request: web.Request) -> None:
        self._operation = operation
        self._request = request

    async def __aenter__(self) -> Any:
        query = _read_query(self._operation.query, self._request)
        await refuse_body(self._request)
        return _resumed(self._request, query) if isinstance(query, StreamEvents) else query

    async def __aexit__(self, *_: object) -> None:
        """Leave the request as it is."""


def _read_query(model: type[RequestQuery] | None, request: web.Request) -> Any:
    asked = request.rel_url.raw_query_string
    if model is None and not asked:
        return None
    return read_query(model or RequestQuery, query_pairs(asked) if asked else [])


def _resumed(request: web.Request, query: StreamEvents) -> StreamEvents:
    """The header wins: a browser's EventSource repeats the query of its first request."""
    named = request.headers.get("Last-Event-ID")
    if not named:
        return query
    header = cast(StreamEvents, read_query(StreamEvents, [("lastEventId", named)]))
    return query.model_copy(update={"lastEventId": header.lastEventId})


def _prefers_html(request: web.Request) -> bool:
    """A browser says so; a program that takes anything gets JSON."""
    return "text/html" in request.headers.get("Accept", "").lower()
