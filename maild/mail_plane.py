"""The mail plane's parts, and how they are joined: what the composition root (`daemon.py`) builds first.

    ground      what every part stands on: store, clock, resolver
    mail in     SMTP listener → acceptor → inboxes, and local delivery into the same ones
    submission  SMTP listener for those who log in → a port, behind which the control plane sends
    mail out    outbound queue → destination queues → deliverer (hosts) | simulator | local delivery → settler

Nothing is started here. Parts get what they need handed in, and make no other part themselves.
"""

import asyncio
import random
from dataclasses import dataclass, replace
from ssl import SSLContext
from typing import NamedTuple

import structlog

from conf.settings import Settings
from conf.strangers import StrangerLog
from conf.tuning import Tuning
from maild.authentication.judge import SenderJudge
from maild.authentication.patience import Patience
from maild.inbound.accept import Acceptor
from maild.inbound.delivery.depositing import Depositor
from maild.inbound.delivery.local_delivery import LocalDelivery
from maild.inbound.delivery.mailboxes import Mailboxes
from maild.inbound.delivery.trace import TraceWriter
from maild.inbound.listener import Listener
from maild.inbound.reading.first_look import FirstLook
from maild.inbound.reading.receiving import Reception
from maild.inbound.reading.spam_filter import AskSpamFilter, SpamFilter
from maild.inbound.recipients import is_served
from maild.inbound.sessions.block_lists import BlockLists
from maild.inbound.sessions.session_listener import ListenerGround
from maild.inbound.unheard_replies import UnheardReplies
from maild.message.envelope_sender import EnvelopeSenders
from maild.outbound.closings import Closings
from maild.outbound.delivery import Deliverer
from maild.outbound.lines.destination_queues import DestinationQueues
from maild.outbound.lines.queue_leases import QueueLeases
from maild.outbound.lines.schedule import Schedule
from maild.outbound.pace.pacing import HostGroupRegistry
from maild.outbound.pace.warm_up import WarmUps
from maild.outbound.prospects import Prospects
from maild.outbound.queue import OutboundQueue
from maild.outbound.routing.host_groups import HostGroups
from maild.outbound.routing.relays import Relays
from maild.outbound.routing.route import Router
from maild.outbound.sessions.connections import Connections
from maild.outbound.sessions.smtp_client import Timeouts
from maild.outbound.sessions.tls_policy import TlsPolicies
from maild.outbound.sessions.tls_witness import TlsWitness
from maild.outbound.settle import Settler
from maild.outbound.signing.content import Contents
from maild.outbound.signing.dkim import DkimKeys
from maild.outbound.signing.recipient_headers import RecipientHeaders
from maild.outbound.simulator import Simulator
from maild.outbound.tls.mta_sts import FetchPolicy, StsPolicies
from maild.outbound.tls.receiver_policies import HostKeys, ReceiverPolicies
from maild.ports import ExamineArrival, LogIn, QueuePorts
from maild.resolver import Resolver
from maild.submission.listener import SubmissionListener
from storage.audit.trail import AuditRecorder
from storage.byte_account import ByteAccount
from storage.clock import Clock
from storage.disk import Disk
from storage.domains import domains
from storage.engine.database import Database
from storage.ids import Ids
from storage.mail.blobs import Blobs
from storage.sealing import Sealer
from storage.sending import queue_selection
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads
from storage.turns.recent_use import RecentUse
from storage.turns.rounds import Rounds

log = structlog.get_logger("maild.outbound")

# docs/contract.md, section 8: as many as the three lists of a send, as large as its body.
SUBMITTED_RECIPIENTS_MAX = 150
SUBMITTED_BYTES_MAX = 22 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ground:
    """What all parts stand on. `shared_domains`: those of the configuration, for inboxes of every organization."""

    settings: Settings
    clock: Clock
    ids: Ids
    db: Database
    blobs: Blobs
    cpu: CpuThreads
    cpu_process: CpuProcess
    rounds: Rounds
    disk: Disk
    sealer: Sealer
    resolver: Resolver
    audit: AuditRecorder
    tuning: Tuning

    @property
    def shared_domains(self) -> frozenset[str]:
        """Domains on which every organization may have inboxes, as A-labels."""
        return frozenset(self.settings.server.shared_domains)


class MailIn(NamedTuple):
    """`unheard`: it starts before the listener. `local`: delivery without SMTP into the same inboxes. `common`: what
    other listeners share with this one."""

    listener: Listener
    unheard: UnheardReplies
    local: LocalDelivery
    common: ListenerGround


def mail_in(
    ground: Ground,
    senders: EnvelopeSenders,
    tls: SSLContext,
    ask_spam_filter: AskSpamFilter | None,
    examine: ExamineArrival,
) -> MailIn:
    """Call it on the event loop that the listener will run on."""
    settings, clock, ids = ground.settings, ground.clock, ground.ids
    hostname = settings.server.hostname
    mailboxes = Mailboxes(ids, ground.shared_domains, lambda plan: settings.plan(plan).storage_bytes)
    trace = TraceWriter(hostname, clock)
    strangers = StrangerLog(clock.monotonic, "maild.smtp", asyncio.get_running_loop().call_later)
    patience = Patience()
    spam_filter = (
        SpamFilter(ask_spam_filter, ground.resolver, patience, strangers) if ask_spam_filter else None
    )
    first_look = FirstLook(ids, clock, examine)
    reception = Reception(
        ground.cpu,
        ground.cpu_process,
        clock,
        _judge(ground, patience),
        spam_filter,
        first_look,
        ground.shared_domains,
    )
    depositor = Depositor(clock, ids, mailboxes, trace, senders, ground.audit)
    unheard = UnheardReplies(ground.db, clock, ids)
    acceptor = Acceptor(ground.db, ground.blobs, clock, mailboxes, reception, depositor, unheard)
    common = ListenerGround(
        blobs=ground.blobs,
        disk=ground.disk,
        store_stands_still=lambda: ground.db.stands_still,
        cpu=ground.cpu,
        tuning=ground.tuning.smtp,
        hostname=hostname,
        tls=tls,
        ids=ids,
        strangers=strangers,
        memory=ByteAccount(settings.smtp.max_bytes_in_flight),
        use=RecentUse(clock.monotonic),
    )
    block_lists = BlockLists(settings.smtp.dnsbl, ground.resolver.ipv4)
    listener = Listener(common, settings.smtp, acceptor, ground.rounds, patience, block_lists, unheard)
    local = LocalDelivery(
        ground.db, ground.blobs, ground.cpu_process, clock, ids, mailboxes, trace, first_look
    )
    return MailIn(listener, unheard, local, common)


def _judge(ground: Ground, patience: Patience) -> SenderJudge:
    settings = ground.settings
    return SenderJudge(
        ground.resolver,
        ground.clock,
        settings.server.hostname,
        enforces=settings.inbound.dmarc == "enforce",
        trusted_sealers=frozenset(settings.inbound.trusted_sealers),
        patience=patience,
        deadline_s=ground.tuning.smtp.auth_deadline_s,
    )


def submission(ground: Ground, common: ListenerGround, log_in: LogIn) -> SubmissionListener | None:
    """The listener for clients that log in; None where the configuration names no address for them."""
    smtp = ground.settings.smtp
    if not (smtp.submission_listen or smtp.submission_listen_tls):
        return None
    limits = replace(
        smtp,
        listen=smtp.submission_listen,
        listen_tls=smtp.submission_listen_tls,
        max_recipients=SUBMITTED_RECIPIENTS_MAX,
        max_message_bytes=min(smtp.max_message_bytes, SUBMITTED_BYTES_MAX),
    )
    return SubmissionListener(common, limits, ground.clock, log_in)


def queue_ports(ground: Ground, local: LocalDelivery) -> QueuePorts:
    """What the outbound queue asks of the inboxes, and of the domains as they are now."""
    db, shared_domains = ground.db, ground.shared_domains
    return QueuePorts(
        prepare_local=local.prepare_local,
        prepare_answer=local.prepare_answer,
        is_local=lambda domain: db.lookup(is_served, domain, shared_domains),
        may_send=lambda organization_id, domain: db.peek(
            domains.may_send, organization_id, domain, shared_domains
        ),
    )


def prospects(ground: Ground, ports: QueuePorts) -> Prospects:
    """What can be told of destinations before anything is sent there."""
    relays = Relays(ground.settings.outbound)
    return Prospects(
        ports.is_local,
        lambda domain, sender_domain: relays.chosen(sender_domain, domain),
        ground.resolver,
        ground.tuning.api.check_deadline_s,
    )


def sts_policies(ground: Ground, fetch_policy: FetchPolicy) -> StsPolicies:
    """Call it on the event loop. `fetch_policy`: the way to the hosts of MTA-STS policies."""
    strangers = StrangerLog(ground.clock.monotonic, "maild.outbound", asyncio.get_running_loop().call_later)
    return StsPolicies(fetch_policy, ground.resolver, ground.db, ground.clock, strangers)


def mail_out(
    ground: Ground,
    ports: QueuePorts,
    senders: EnvelopeSenders,
    recipient_headers: RecipientHeaders,
    randomness: random.Random,
    sts: StsPolicies | None,
    tls_policies: TlsPolicies,
    timeouts: Timeouts | None = None,
) -> OutboundQueue:
    """Call it on the event loop. `randomness` spreads retries and orders hosts, and guards nothing. `sts`: None for no
    MTA-STS. `timeouts`: None for those of the settings."""
    settings, db, clock, tuning = ground.settings, ground.db, ground.clock, ground.tuning.queue
    outbound = settings.outbound
    keys = DkimKeys(db, ground.sealer, clock, outbound.dkim_ed25519, outbound.dkim_expires_after_s)
    strangers = StrangerLog(clock.monotonic, "maild.outbound", asyncio.get_running_loop().call_later)
    host_keys = HostKeys(ground.resolver, settings.outbound.port) if settings.dns.trust_ad else None
    policies = ReceiverPolicies(settings.outbound.tls, sts, host_keys, strangers)
    groups = HostGroups(settings.outbound.pace)

    async def was_retry_asked(destination: str, since_ms: int) -> bool:
        return await db.peek(queue_selection.was_retry_asked, destination, since_ms)

    router = Router(settings, ground.resolver, policies, groups, randomness)
    deliverer = Deliverer(
        router,
        Connections(settings, tls_policies, clock, timeouts),
        Contents(db, ground.blobs, keys, recipient_headers, clock, ground.cpu),
        HostGroupRegistry(settings.outbound, groups.rules, clock, was_retry_asked),
        WarmUps(settings.outbound, db, clock),
        senders,
        clock,
        ground.rounds,
        Closings(db, ports.may_send),
        TlsWitness(policies) if settings.outbound.tls_reports else None,
    )
    return OutboundQueue(
        clock,
        leases=QueueLeases(db, clock, ground.ids.new("run"), Schedule(settings.outbound, randomness)),
        ports=ports,
        destinations=DestinationQueues(settings.outbound, clock, tuning.doubtful_rows, was_retry_asked),
        deliverer=deliverer,
        simulator=Simulator(db, clock, ground.ids, ground.audit, ports.prepare_answer),
        settler=Settler(db, clock, ground.ids, ground.audit, ground.rounds.has_requests),
        recipient_headers=recipient_headers,
        rounds=ground.rounds,
        tuning=tuning,
    )
