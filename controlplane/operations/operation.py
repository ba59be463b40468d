"""An operation of the API, and what it works with: the call (the caller, the input), and the services behind it.

A door (HTTP is one) finds the operation and the caller, and hands over what was given; `invoke.py` runs it. What an
operation refuses is a Refusal, what it answers a kind of result (`results.py`); neither knows of HTTP.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from conf.settings import Settings
from controlplane.access.principal import Principal
from controlplane.contract.model import RequestBody, RequestQuery
from controlplane.contract.refusals import Refusal
from controlplane.domains.registry import Registry
from controlplane.egress.client import Egress
from controlplane.mail.analytics import Analytics
from controlplane.mail.bodies import BodyReader, TextLoader
from controlplane.mail.evidence import Examiner
from controlplane.operations.results import AnyResult
from controlplane.sending.pipeline import Pipeline
from controlplane.sending.preflight import Preflight
from controlplane.sending.reviews.review_desk import ReviewDesk
from controlplane.sending.unsubscribing import Unsubscriber
from controlplane.webhooks.dispatcher import Dispatcher
from controlplane.webhooks.event_streams import Streams
from controlplane.webhooks.ping import Pinger
from controlplane.webhooks.secrets import Secrets
from controlplane.webhooks.waits import OnLeave, no_more_mail
from storage.audit.acts import Act, Actor
from storage.audit.repeats import RepeatedActs
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes
from storage.mail.blobs import Blobs
from storage.publishing.change_events import ChangeEvents
from storage.searching.search_index import SearchIndex
from storage.sending.queue_selection import QueueChange, QueueSelection
from storage.shown.kept_json import KeptJson
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads
from storage.turns.work_turns import WorkTurns

P = ParamSpec("P")
T = TypeVar("T")

SMALL_BODY_BYTES = 64 * 1024
JSON = "application/json"
BYTES = bytes  # an answer that is not JSON
ANY_KEY = "any"  # in place of a scope: every key may
CONFLICT = "idempotency_conflict"  # what only an operation that reads an Idempotency-Key can refuse


def never_leaves(_: Callable[[], None] | None) -> None:
    """The `OnLeave` of a door that does not know when its caller leaves."""


@dataclass(frozen=True, slots=True)
class Services:
    """What all operations work with, made by the composition root. The store comes with each call."""

    blobs: Blobs
    clock: Clock
    ids: Ids
    audit: Records
    refusals: RepeatedActs
    settings: Settings
    pipeline: Pipeline
    preflight: Preflight
    review_desk: ReviewDesk
    unsubscriber: Unsubscriber
    egress: Egress
    secrets: Secrets
    pinger: Pinger
    dispatcher: Dispatcher
    streams: Streams
    domains: Registry
    analytics: Analytics
    cpu: CpuThreads
    cpu_process: CpuProcess
    body_reader: BodyReader
    examiner: Examiner
    load_text: TextLoader
    search_index: SearchIndex
    kept_json: KeptJson
    fence_key: bytes
    forward_turns: WorkTurns  # to have a large message in memory that is passed on
    batch_turns: WorkTurns  # to change many messages in one transaction
    change_queue: Callable[[Tx, str, QueueSelection, Actor, str | None], QueueChange]  # by its verb
    wake_queue: Callable[[], None]
    status_of: Callable[[Refusal], int]  # of HTTP, for what tells of a refusal and is none

    def changes(self) -> ChangeEvents:
        """What tells of changes that are made now."""
        return ChangeEvents(self.ids.new, self.clock.now_ms())


class Call(NamedTuple):
    """One call for a principal. `id`: the resource that is named, or empty. `input`: of the operation's model.

    Where the operation writes, `db` asks with each unit whether the key is still active; a service that is called for
    the key and writes by itself is handed that store, or the principal. `idempotency_keys`: as they were given; more
    than one is a fault; what was kept under it counts for `recalled_for_ms`, or for as long as it is kept (None).
    `on_leave`: what an operation that waits hands over, to be done when the caller leaves.
    """

    services: Services
    db: Database
    principal: Principal
    id: str
    input: Any
    idempotency_keys: Sequence[str] = ()
    on_leave: OnLeave = never_leaves
    recalled_for_ms: int | None = None

    @property
    def organization_id(self) -> str:
        """The organization that everything this call reads or writes belongs to."""
        return self.principal.organization_id

    def record(self, tx: Tx, act: Act, subject: str | None = None, **details: Any) -> None:
        """Write into the organization's audit log, in the transaction of the act, that the caller did it."""
        self.services.audit.record(tx, self.organization_id, act, self.principal.actor, subject, details)

    async def read(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a reading unit of work in the turn of the caller's organization (storage.engine.database)."""
        return await self.db.read_for(self.organization_id, unit, *args, **kwargs)

    async def first(
        self, ask: Callable[[], Awaitable[T | None]], wait_s: float, inbox_id: str | None
    ) -> T | None:
        """What `ask` answers: now, or after a commit in the inbox (None: in any) within the time; None: nothing.
        Refusal where too many wait, the inbox takes no mail, or the key is revoked meanwhile."""
        if not wait_s:
            found = await ask()
            if found is None and inbox_id is not None and await self._is_inactive(inbox_id):
                raise no_more_mail()
            return found
        principal = self.principal
        place = self.services.streams.waiting(
            principal.credential_id, principal.organization_id, inbox_id, self.on_leave
        )
        async with place as wait:
            if inbox_id is not None and await self._is_inactive(inbox_id):
                wait.close()
            return await wait.until(ask, wait_s)

    async def _is_inactive(self, inbox_id: str) -> bool:
        """Does no mail come into it any more?"""
        return bool(await self.db.lookup(inboxes.inactive_among, [inbox_id]))


class PublicRequest(NamedTuple):
    """A call of a public operation, whose caller has no key. `body`: as it came. `prefers_html`: a person reads."""

    services: Services
    input: Any
    content_type: str = ""
    body: bytes = b""
    prefers_html: bool = False


class BoundKeys(Enum):
    """What a key that is bound to an inbox may do here."""

    BY_SCOPE = "what its scopes allow, in its inbox"
    BY_BINDING = "this, in its inbox, whatever its scopes"
    NEVER = "nothing"


Run = Callable[[Call], Awaitable[AnyResult]]
RunPublic = Callable[[PublicRequest], Awaitable[AnyResult]]


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One row of the API.

    `id`: the name that generated clients give the call.
    `endpoint`: method and path of HTTP; `{id}` is `Call.id`.
    `answer`: the model of `data`, a list of it, or BYTES.
    `scope`: what the key needs, or ANY_KEY; empty where the operation is public, and `run` a RunPublic. `also`: what it
    needs besides.
    `input`: the model of the JSON body, or of the query.
    `refusals`: the codes that this operation adds to those that every operation has.
    `names`: the kind of resource that `{id}` names, for keys bound to an inbox: they hear of a resource in another
    inbox before any scope is looked at.
    `is_live_only`: a test key may not, since it would take from live keys what both share.
    `governs`: it says what mail is held, or decides about that: no key may, where members alone do.
    `is_send`: it sends a message, so what it refuses is recorded.
    `creates`: it makes a resource. `replays`: asked again, it answers what the first call made.
    `body_bytes_max`: a longer body is refused, unread where its length was announced.
    `media`: the types of an answer in BYTES. Many generators of clients know the first kind of bytes alone.
    `form`: the schema of a body that is a form. `has_head`: HEAD works as well (RFC 9110 §9.3.2).
    `has_tag`: the answer has an ETag, and who names it is spared the same answer (RFC 9110 §13.1.2).
    """

    id: str
    endpoint: str
    summary: str
    run: Run | RunPublic
    answer: Any
    scope: str = ""
    also: tuple[str, ...] = ()
    input: type[RequestBody] | type[RequestQuery] | None = None
    refusals: tuple[str, ...] = ()
    names: str | None = None
    bound_keys: BoundKeys = BoundKeys.BY_SCOPE
    is_live_only: bool = False
    governs: bool = False
    creates: bool = False
    is_send: bool = False
    replays: bool = False
    body_bytes_max: int = SMALL_BODY_BYTES
    media: tuple[str, ...] = (JSON,)
    form: Mapping[str, Any] | None = None
    has_head: bool = False
    has_tag: bool = False

    @property
    def method(self) -> str:
        """`GET`, `POST`, `PUT`, `PATCH` or `DELETE`."""
        return self.endpoint.partition(" ")[0]

    @property
    def path(self) -> str:
        """The path with `{id}` as it stands, as routers and the OpenAPI document write it."""
        return self.endpoint.partition(" ")[2]

    @property
    def is_public(self) -> bool:
        """Is it served without a key?"""
        return not self.scope

    @property
    def is_reading(self) -> bool:
        """A GET, which changes nothing. The units of any other operation ask for the key again (`Principal.ask`)."""
        return self.method == "GET"

    @property
    def body(self) -> type[RequestBody] | None:
        """The model of its JSON body."""
        return self.input if self.input is not None and issubclass(self.input, RequestBody) else None

    @property
    def query(self) -> type[RequestQuery] | None:
        """The model of its query."""
        return self.input if self.input is not None and issubclass(self.input, RequestQuery) else None
