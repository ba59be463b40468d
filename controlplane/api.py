"""What a handler works with: the call (who, what), the answer, and the rooms behind the API."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from aiohttp import web

from conf.settings import Settings
from controlplane.access.authentication import Principal
from controlplane.contract.requests import RequestBody, RequestQuery
from controlplane.domains.registry import Registry
from controlplane.egress.client import Egress
from controlplane.mail.analytics import Analytics
from controlplane.mail.bodies import BodyReader, TextLoader
from controlplane.sending.pipeline import Pipeline
from controlplane.sending.unsubscribing import Unsubscriber
from controlplane.webhooks.dispatcher import Dispatcher
from controlplane.webhooks.event_streams import Streams
from controlplane.webhooks.ping import Pinger
from controlplane.webhooks.secrets import Secrets
from storage.blobs import Blobs
from storage.clock import Clock
from storage.cpu_threads import CpuThreads
from storage.database import Database, Tx
from storage.ids import Ids
from storage.self_check import SelfCheck

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Services:
    """The collaborators of all handlers, made by the composition root."""

    db: Database
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Settings
    pipeline: Pipeline
    unsubscriber: Unsubscriber
    egress: Egress
    secrets: Secrets
    pinger: Pinger
    dispatcher: Dispatcher
    streams: Streams
    domains: Registry
    analytics: Analytics
    cpu: CpuThreads
    body_reader: BodyReader
    load_text: TextLoader
    self_check: SelfCheck


class Call(NamedTuple):
    """One authenticated, validated request. `body` and `query` are of the route's models.

    Where the route writes, `rooms.db` asks with each unit whether the key is still active; a service that is called
    for the key and writes by itself is handed that store, or the principal.
    """

    rooms: Services
    request: web.Request
    principal: Principal
    body: Any
    query: Any

    @property
    def id(self) -> str:
        """The `{id}` of the path."""
        return self.request.match_info["id"]

    @property
    def organization_id(self) -> str:
        return self.principal.organization_id

    async def read(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a reading unit of work in the turn of the caller's organization (storage.database)."""
        return await self.rooms.db.read_for(self.organization_id, unit, *args, **kwargs)


class PublicRequest(NamedTuple):
    """One request to an open endpoint, where nobody says who they are. `body`: as it came."""

    rooms: Services
    request: web.Request
    query: Any
    body: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """`data` of the envelope."""

    data: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Awaitable[Result | web.StreamResponse]]
OpenHandler = Callable[[PublicRequest], Awaitable[Result | web.StreamResponse]]


SMALL_BODY_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the API.

    `names`: the kind of resource that `{id}` names, for keys bound to an inbox: they hear of a resource in
    another inbox before any scope is looked at. `bound_keys` False: such keys are refused outright.
    `binding_suffices`: a key bound to the inbox needs no scope. `has_head`: HEAD works as well (RFC 9110 §9.3.2).
    `is_open`: no key is asked for, no rate counted; the handler is an OpenHandler and parses the body itself.
    `is_live_only`: a test key may not, since it would take from live keys what both share.
    `body_bytes_max`: a longer body is refused, unread where its length was announced.
    `errors`: the codes that this endpoint adds to those that every endpoint has.
    """

    method: str
    path: str
    scope: str
    handler: Handler | OpenHandler
    body: type[RequestBody] | None = None
    query: type[RequestQuery] | None = None
    names: str | None = None
    bound_keys: bool = True
    binding_suffices: bool = False
    has_head: bool = False
    is_open: bool = False
    is_live_only: bool = False
    errors: tuple[str, ...] = ()
    body_bytes_max: int = SMALL_BODY_BYTES
