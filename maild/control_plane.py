"""The control plane's parts, and how they are joined: what the composition root (`daemon.py`) builds second.

    sending     pipeline and scheduler → admission → the outbound queue, which both wake
    webhooks    dispatcher → egress; event feeds
    domains     registry and re-checks → resolvers of their own, and DNS over HTTPS through an egress
    operations  all of these → the table of operations → HTTP, SMTP submission

Nothing is started here. Parts get what they need handed in, and make no other part themselves.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from conf.strangers import StrangerLog
from controlplane.access.authentication import Authenticator
from controlplane.access.rate_limit import RateLimit
from controlplane.console.entrance import Entrance
from controlplane.console.figures import KeptFigures
from controlplane.console.link_mail import LinkMail
from controlplane.console.live import Live
from controlplane.console.pages.overview import counting
from controlplane.console.rendering import Templates
from controlplane.console.routes import Console
from controlplane.console.session import MemberSessions
from controlplane.domains import doh
from controlplane.domains.fresh_keys import DkimKeyMaker
from controlplane.domains.rechecks import Rechecks
from controlplane.domains.registry import Registry
from controlplane.egress.client import Egress
from controlplane.mail.analytics import Analytics
from controlplane.mail.bodies import BodyReader, TextLoader
from controlplane.mail.claim_keeper import ClaimKeeper
from controlplane.mail.evidence import Examiner
from controlplane.mail.evidence_follower import EvidenceFollower
from controlplane.mcp.door import McpDoor
from controlplane.mcp.tools import TOOLS
from controlplane.operations.invoke import Operations
from controlplane.operations.operation import Services
from controlplane.operations.table import OPERATIONS
from controlplane.reference import Reference
from controlplane.sending.admitting.admission import Admission, SendingWakes
from controlplane.sending.from_us.operator_mail import OperatorMail
from controlplane.sending.from_us.tls_reporter import USER_AGENT as REPORTS_USER_AGENT
from controlplane.sending.from_us.tls_reporter import ReportHostRules, TlsReporter
from controlplane.sending.pipeline import Pipeline
from controlplane.sending.preflight import FindDestinations, Preflight
from controlplane.sending.preparing import Preparation
from controlplane.sending.reviews.review_desk import ReviewDesk, ReviewKeeper
from controlplane.sending.reviews.review_digest import ReviewDigest
from controlplane.sending.reviews.reviewing import Reviewing
from controlplane.sending.scheduler import Scheduler
from controlplane.sending.unsubscribing import Unsubscriber
from controlplane.sending.writing.sanitize import Sanitizer
from controlplane.transport.callers import Callers
from controlplane.transport.health import HealthCheck
from controlplane.transport.request_bodies import RequestBodies
from controlplane.transport.server import HttpServer, Pages
from controlplane.transport.statuses import status_of
from controlplane.webhooks.calling import Caller
from controlplane.webhooks.dispatcher import Dispatcher
from controlplane.webhooks.event_streams import Streams
from controlplane.webhooks.ping import Pinger
from controlplane.webhooks.secrets import Secrets
from maild import __version__
from maild.audit_keeper import AuditKeeper
from maild.commands.queue_changes import QueueChanges
from maild.loop_monitor import LoopMonitor
from maild.mail_plane import Ground
from maild.outbound.queue import OutboundQueue
from maild.outbound.signing import dkim
from maild.own_network import OwnNetwork
from maild.ports import ExamineArrival, LogIn
from maild.resolver import DnsError, NoAnswer, NxDomain, Resolver
from maild.submission_door import SubmissionDoor
from storage.agents.reviews import REVIEWS
from storage.agents.work import WORK
from storage.audit.repeats import RepeatedActs
from storage.publishing import events
from storage.searching.search_index import SearchIndex
from storage.service import Service
from storage.shown.kept_json import KeptJson
from storage.turns.work_turns import WorkTurns
from storage.upkeep.self_check import SelfCheck

if TYPE_CHECKING:
    from controlplane.mcp.endpoint import McpEndpoint

FORWARDS_AT_ONCE = 2  # large ones, of the host


class SendingParts(NamedTuple):
    """What sends messages, and what decides about those that are held: all admit into the same queue. `preflight`: what
    would become of one."""

    pipeline: Pipeline
    scheduler: Scheduler
    preflight: Preflight
    review_desk: ReviewDesk
    review_keeper: ReviewKeeper


class WebhookParts(NamedTuple):
    """What calls endpoints and serves event streams."""

    egress: Egress
    secrets: Secrets
    dispatcher: Dispatcher
    streams: Streams


class DomainParts(NamedTuple):
    """What checks domains. `egress`: that of the DoH resolvers, with rules of its own."""

    egress: Egress
    registry: Registry
    rechecks: Rechecks


class ControlPlane(NamedTuple):
    """`log_in`: the way in for clients that submit mail. `background`: what has a life of its own beside the server, in
    the order in which it starts."""

    operations: Operations
    log_in: LogIn
    http: HttpServer
    dispatcher: Dispatcher
    streams: Streams
    background: list[Service]
    tls_reporter: TlsReporter | None
    audit: AuditKeeper


def arrival_examiner(ground: Ground) -> ExamineArrival:
    """What the mail plane looks at mail with, where an inbox wants that before it is stored."""
    return Examiner(ground.db, ground.blobs, ground.cpu, ground.cpu_process).look_at_arrival


def control_plane(
    ground: Ground,
    search_index: SearchIndex,
    queue: OutboundQueue,
    find_destinations: FindDestinations,
    unsubscribe_key: bytes,
    fence_key: bytes,
    self_check: SelfCheck,
    loop_monitor: LoopMonitor,
) -> ControlPlane:
    """Call it on the event loop that the server will run on. `find_destinations`: tells of recipients' domains before
    anything is sent there. `self_check`, `loop_monitor`: what `/health` tells of."""
    load_text = TextLoader(ground.db, ground.blobs, ground.cpu)
    sent = _sending(ground, queue, find_destinations, load_text)
    hooks, names = _webhooks(ground, load_text), _domains(ground, queue)
    examiner = Examiner(ground.db, ground.blobs, ground.cpu, ground.cpu_process)
    keeper = AuditKeeper(ground.db, ground.audit, ground.clock, ground.ids, ground.tuning.audit)
    repeats = RepeatedActs(ground.db, ground.audit, ground.tuning.audit.window_s)
    unsubscriber = Unsubscriber(ground.db, ground.clock, ground.ids, ground.audit, unsubscribe_key)
    services = _services(
        ground, sent, hooks, names, repeats, unsubscriber, examiner, load_text, search_index, fence_key, queue
    )
    operations = Operations(ground.db, services)
    health = HealthCheck(ground.db, self_check, ground.disk, loop_monitor.today)
    doors = _doors(ground, operations, hooks.streams, repeats, queue, fence_key, health)
    reporter = _tls_reporter(ground, queue) if ground.settings.outbound.tls_reports else None
    background = [
        repeats,
        keeper,
        doors.rate_limit,
        hooks.egress,
        names.egress,
        hooks.dispatcher,
        sent.scheduler,
        names.rechecks,
        EvidenceFollower(ground.db, examiner, ground.clock, ground.tuning.evidence),
        _claim_keeper(ground, hooks.streams),
        sent.review_keeper,
        _review_digest(ground, queue),
        *doors.of_console,
        *([reporter] if reporter is not None else []),
    ]
    return ControlPlane(
        operations, doors.log_in, doors.http, hooks.dispatcher, hooks.streams, background, reporter, keeper
    )


def _services(
    ground: Ground,
    sent: SendingParts,
    hooks: WebhookParts,
    names: DomainParts,
    repeats: RepeatedActs,
    unsubscriber: Unsubscriber,
    examiner: Examiner,
    load_text: TextLoader,
    search_index: SearchIndex,
    fence_key: bytes,
    queue: OutboundQueue,
) -> Services:
    sanitizer = Sanitizer()
    return Services(
        blobs=ground.blobs,
        clock=ground.clock,
        ids=ground.ids,
        audit=ground.audit,
        refusals=repeats,
        settings=ground.settings,
        pipeline=sent.pipeline,
        preflight=sent.preflight,
        review_desk=sent.review_desk,
        unsubscriber=unsubscriber,
        egress=hooks.egress,
        secrets=hooks.secrets,
        pinger=Pinger(ground.db, ground.clock, ground.ids, hooks.secrets, hooks.egress),
        dispatcher=hooks.dispatcher,
        streams=hooks.streams,
        domains=names.registry,
        analytics=Analytics(ground.db),
        cpu=ground.cpu,
        cpu_process=ground.cpu_process,
        body_reader=BodyReader(
            ground.blobs, ground.cpu, sanitizer.clean_any, ground.tuning.api.sanitized_chars
        ),
        examiner=examiner,
        load_text=load_text,
        search_index=search_index,
        kept_json=KeptJson(),
        fence_key=fence_key,
        forward_turns=WorkTurns(FORWARDS_AT_ONCE),
        batch_turns=WorkTurns(1),
        change_queue=QueueChanges(ground.clock, ground.ids.new, ground.audit).change,
        wake_queue=queue.wake,
        status_of=status_of,
    )


class Doors(NamedTuple):
    """What leads to the operations: HTTP with all that is served there, and the way in for mail programs. `of_console`:
    what of the console has a life of its own."""

    http: HttpServer
    log_in: LogIn
    rate_limit: RateLimit
    of_console: Sequence[Service]


def _doors(
    ground: Ground,
    operations: Operations,
    streams: Streams,
    repeats: RepeatedActs,
    queue: OutboundQueue,
    fence_key: bytes,
    health: HealthCheck,
) -> Doors:
    settings, db, clock = ground.settings, ground.db, ground.clock
    authenticator = Authenticator(db, clock)
    rate_limit = RateLimit(db, clock, settings.limits.requests_per_minute)
    callers, bodies = Callers(authenticator, rate_limit), RequestBodies(settings.http, ground.cpu)
    tools = TOOLS if settings.http.mcp else ()
    reference = Reference(OPERATIONS, tools, settings.server.public_url, ground.cpu)
    pages: list[Pages] = [reference, health]
    if settings.http.mcp:
        pages.append(_mcp(ground, operations, callers, bodies, fence_key))
    of_console: Sequence[Service] = ()
    if settings.http.console and settings.server.is_private_or_encrypted:
        console = _console(ground, operations, streams, bodies, repeats, queue)
        pages.append(console.pages)
        of_console = console.background
    http = HttpServer(
        operations,
        callers,
        bodies,
        pages,
        settings.http,
        ground.rounds,
        clock,
        ground.ids,
        ground.tuning.http,
    )
    door = SubmissionDoor(db, operations, authenticator, rate_limit, ground.rounds, repeats)
    return Doors(http, door.log_in, rate_limit, of_console)


def _mcp(
    ground: Ground, operations: Operations, callers: Callers, bodies: RequestBodies, fence_key: bytes
) -> McpDoor:
    settings = ground.settings
    origins = settings.http.mcp_origins

    def endpoint() -> "McpEndpoint":
        from controlplane.mcp.endpoint import McpEndpoint  # noqa: PLC0415 - nor before somebody calls
        from controlplane.mcp.methods import Methods  # noqa: PLC0415

        methods = Methods(operations, fence_key, __version__)
        return McpEndpoint(methods, callers, bodies, settings.server.public_url, origins)

    return McpDoor(endpoint, origins, ground.cpu)


class ConsoleParts(NamedTuple):
    """`background`: what counts figures, and mails links where members may ask for one."""

    pages: Console
    background: Sequence[Service]


def _console(
    ground: Ground,
    operations: Operations,
    streams: Streams,
    bodies: RequestBodies,
    repeats: RepeatedActs,
    queue: OutboundQueue,
) -> ConsoleParts:
    settings, clock = ground.settings, ground.clock
    public_url = settings.server.public_url
    strangers = StrangerLog(clock.monotonic, later=asyncio.get_running_loop().call_later)
    sessions = MemberSessions(ground.db, clock, ground.ids, ground.audit, repeats, strangers)
    link_mail = None
    if settings.console.login_by_mail:
        mail = _operator_mail(ground, queue)
        link_mail = LinkMail(ground.db, clock, ground.ids, ground.audit, mail, public_url)
    entrance = Entrance(sessions, bodies, link_mail, is_secure=public_url.startswith("https://"))
    live = Live(operations, streams, settings.http.event_stream_heartbeat_s)
    templates = Templates(clock, settings.server.hostname)
    figures = KeptFigures(clock, counting(operations, clock))
    pages = Console(operations, entrance, live, figures, bodies, templates, ground.cpu, clock, public_url)
    return ConsoleParts(pages, [figures] if link_mail is None else [figures, link_mail])


def _claim_keeper(ground: Ground, streams: Streams) -> ClaimKeeper:
    """It is woken by each commit that changes what is offered as work."""
    keeper = ClaimKeeper(ground.db, ground.clock, ground.ids, streams.awaited_inboxes, streams.hear_of)
    ground.db.listen(WORK, keeper.wake)
    return keeper


def _sending(
    ground: Ground, queue: OutboundQueue, find_destinations: FindDestinations, load_text: TextLoader
) -> SendingParts:
    admission = Admission(ground.settings, ground.ids, ground.audit)
    scheduler = Scheduler(
        ground.db,
        ground.clock,
        ground.ids,
        admission,
        ground.audit,
        ground.rounds,
        wake_queue=queue.wake,
        look_out_s=ground.tuning.queue.look_again_s,
    )
    wakes = SendingWakes(queue.wake, scheduler.wake)
    preparation = Preparation(
        ground.db, ground.cpu, ground.disk, ground.clock, ground.ids, ground.settings.outbound
    )
    preflight = Preflight(
        preparation, admission, ground.clock, ground.cpu, find_destinations, load_text, load_text.html
    )
    pipeline = Pipeline(
        ground.db,
        ground.blobs,
        ground.clock,
        ground.ids,
        preparation,
        admission,
        preflight.warnings,
        ground.audit,
        wakes,
    )
    reviewing = Reviewing(ground.clock, ground.ids, admission, ground.audit)
    desk = ReviewDesk(preparation, reviewing, ground.clock, wakes)
    keeper = ReviewKeeper(ground.db, ground.clock, reviewing)
    ground.db.listen(REVIEWS, keeper.wake)
    return SendingParts(pipeline, scheduler, preflight, desk, keeper)


def _operator_mail(ground: Ground, queue: OutboundQueue) -> OperatorMail:
    return OperatorMail(
        ground.db,
        ground.blobs,
        ground.cpu,
        ground.clock,
        ground.ids,
        ground.settings.outbound.give_up_after_s,
        wake_queue=queue.wake,
        audit=ground.audit,
    )


def _review_digest(ground: Ground, queue: OutboundQueue) -> ReviewDigest:
    """It is woken by each commit that holds something."""
    mail = _operator_mail(ground, queue)
    digest = ReviewDigest(ground.db, ground.clock, mail, ground.settings.server.hostname)
    ground.db.listen(REVIEWS, digest.wake)
    return digest


def _tls_reporter(ground: Ground, queue: OutboundQueue) -> TlsReporter:
    settings, resolver = ground.settings, ground.resolver
    outbound, domain = settings.outbound, settings.server.shared_domains[0]

    async def find_txt(name: str) -> Sequence[bytes] | None:
        try:
            return await resolver.txt(name)
        except (NxDomain, NoAnswer):
            return []
        except DnsError:
            return None

    mail = _operator_mail(ground, queue)
    rules = ReportHostRules(outbound.allow_private_networks, outbound.ca_file)
    return TlsReporter(
        ground.db,
        ground.clock,
        ground.cpu,
        find_txt,
        mail,
        Egress(rules, resolver.addresses, REPORTS_USER_AGENT),
        organization=settings.server.hostname,
        submitter=domain,
        contact=outbound.tls_reports_contact or f"postmaster@{domain}",
    )


def _webhooks(ground: Ground, load_text: TextLoader) -> WebhookParts:
    """The event streams and the dispatcher, which each commit of an event wakes."""
    settings, db, tuning = ground.settings, ground.db, ground.tuning
    secrets = Secrets(ground.sealer)
    egress = Egress(settings.webhooks, ground.resolver.addresses, network=OwnNetwork(ground.resolver))
    dispatcher = Dispatcher(
        db,
        ground.clock,
        ground.ids,
        Caller(secrets, egress, settings.webhooks.retry_delays_s),
        settings.webhooks,
        load_text,
        ground.rounds,
        tuning.webhooks,
    )
    streams = Streams(db, settings.http, load_text, tuning.feeds)
    db.listen(events.DELIVERIES, dispatcher.wake)
    db.listen(events.EVENTS, streams.wake)
    return WebhookParts(egress, secrets, dispatcher, streams)


def _domains(ground: Ground, queue: OutboundQueue) -> DomainParts:
    settings, clock = ground.settings, ground.clock
    egress = Egress(doh.rules(settings.dns), ground.resolver.addresses, doh.USER_AGENT)
    strangers = StrangerLog(clock.monotonic, "maild.domains", asyncio.get_running_loop().call_later)
    # A resolver without a cache: the owner of a domain has just changed what it should see.
    panel = doh.panel(
        settings.dns, egress, lambda: Resolver(settings.dns, clock), (NxDomain, NoAnswer), strangers
    )
    registry = Registry(
        ground.db,
        clock,
        ground.ids,
        ground.audit,
        settings.server,
        panel,
        DkimKeyMaker(ground.sealer, clock, dkim.makers(settings.outbound.dkim_ed25519)),
        wake_queue=queue.wake,
        domains_max=ground.tuning.api.domains,
    )
    return DomainParts(egress, registry, Rechecks(ground.db, clock, registry))
