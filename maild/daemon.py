"""The composition root: everything that a running daemon consists of, in the order in which it starts.

The mail plane's parts are listed in `mail_plane.py`, the control plane's in `control_plane.py`."""

import asyncio
import json
import random
from collections.abc import Sequence
from contextlib import suppress

import structlog

from conf.log_events import LogEvent, tell
from conf.settings import Settings
from conf.strangers import StrangerLog
from conf.tuning import Tuning
from controlplane.egress.mta_sts import PolicyHosts
from controlplane.egress.rspamd import Rspamd
from controlplane.operations.invoke import Operations
from controlplane.sending.from_us.tls_reporter import TlsReporter
from controlplane.transport.metrics_server import MetricsServer
from controlplane.transport.server import HttpServer
from controlplane.transport.web_listener import HttpError
from controlplane.webhooks.event_streams import Streams
from maild import allocator, systemd
from maild.audit_keeper import AuditKeeper
from maild.certificates import Certificates, UnfitCertificate
from maild.control_plane import arrival_examiner, control_plane
from maild.dnssec import DnssecCheck
from maild.inbound.listener import Listener
from maild.inbound.sessions.session_listener import ListenError, SessionListener
from maild.log_counts import LogCounts
from maild.loop_monitor import LoopMonitor
from maild.mail_plane import Ground, mail_in, mail_out, prospects, queue_ports, sts_policies, submission
from maild.message.characters import guessing
from maild.message.envelope_sender import EnvelopeSenders
from maild.metrics import CONTENT_TYPE, DaemonMetrics, Measured
from maild.outbound.signing.recipient_headers import RecipientHeaders
from maild.outbound.tls.sts_refresh import StsRefresh
from maild.resolver import Resolver
from maild.submission.listener import SubmissionListener
from storage import server_secrets
from storage.audit.trail import AuditRecorder
from storage.clock import EARLIEST_MS, Clock, is_clock_behind, iso
from storage.data_folder import DataFolder, DataFolderError
from storage.disk import Disk
from storage.engine import migrate
from storage.engine.database import Database
from storage.engine.failures import StoreFailure, in_words, may_pass
from storage.exhaustion import Exhausted
from storage.ids import AHEAD_MAX_MS, Ids, first_at
from storage.mail import blobs, messages, withdrawal
from storage.mail.blobs import Blobs
from storage.publishing import events
from storage.sealing import Sealer, SealError, master_key_file
from storage.searching.indexer import SearchIndexer
from storage.searching.search_index import SearchIndex
from storage.service import Service, Supervisor
from storage.turns import background
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads
from storage.turns.rounds import RoundPace, Rounds
from storage.turns.started_threads import started_threads
from storage.upkeep import rotation
from storage.upkeep.erasing import Eraser
from storage.upkeep.reclaiming import Reclaimer
from storage.upkeep.retention import Retention, ages
from storage.upkeep.self_check import SelfCheck
from storage.upkeep.withdrawing import Withdrawer

WRITING_THREADS = 4  # large messages that are written at one time; each waits for the disk
READING_THREADS = 2  # large messages that are read at one time; each takes a core meanwhile

log = structlog.get_logger("maild.daemon")


class StartError(Exception):
    """The daemon can't start; one line for the operator. `may_pass`: a later start may do, and nobody need mend a
    thing."""

    def __init__(self, text: str, *, may_pass: bool = False) -> None:
        super().__init__(text)
        self.may_pass = may_pass


class Daemon:
    """All parts of one running maild. `start()` returns when it serves; `stop()` drains it."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        tuning: Tuning | None = None,
        lines: LogCounts | None = None,
    ) -> None:
        """`lines`: counts those of the log."""
        self._tuning = tuning or Tuning()
        self._lines = lines or LogCounts()
        self._settings = settings
        self._clock = clock or Clock()
        self._folder = DataFolder(settings.data_path)
        self._db: Database | None = None
        self._resolver: Resolver | None = None
        self._cpu = CpuThreads()
        self._writing = started_threads(WRITING_THREADS, "blobs write")
        self._reading = started_threads(
            READING_THREADS, "blobs read", background.go_behind, (background.BESIDE,)
        )
        self._cpu_process = CpuProcess()
        self._supervisor = Supervisor([])
        self.certificates = Certificates(settings, self._folder.path, self._tuning.smtp)
        self.listener: Listener
        self.submission: SubmissionListener | None = None
        self.http: HttpServer
        self.operations: Operations
        self.streams: Streams
        self.indexer: SearchIndexer
        self.retention: Retention
        self.eraser: Eraser
        self.withdrawer: Withdrawer
        self.reclaimer: Reclaimer
        self.tls_reporter: TlsReporter | None = None
        self.audit: AuditKeeper
        self.self_check: SelfCheck
        self.loop_monitor: LoopMonitor
        self.metrics: MetricsServer | None = None

    async def start(self) -> None:
        """StartError when the configuration, the store or a port stands in the way."""
        try:
            self._check_clock()
            self._folder.check()
            self._folder.check_user()
            self._folder.lock()
            self._folder.check_store()
            self._folder.check_writable()
            self._migrate()
            await asyncio.to_thread(guessing.load)
            await self._build()
            await self._supervisor.start()
        except (
            DataFolderError,
            migrate.StoreError,
            SealError,
            UnfitCertificate,
            ListenError,
            HttpError,
            StoreFailure,
            Exhausted,
            OSError,
        ) as error:
            await self.stop()
            raise self._start_error(error) from error
        except BaseException:
            await self.stop()
            raise

    def _check_clock(self) -> None:
        """A board that has no clock of its own begins in 1970, until NTP sets it: mail of that time would be too old at
        once, and signed with signatures that have expired."""
        now_ms = self._clock.now_ms()
        if now_ms < EARLIEST_MS:
            raise StartError(
                f"the clock says {iso(now_ms)}, which can't be: it has to be set first (by NTP)",
                may_pass=True,
            )

    def _migrate(self) -> None:
        if migrate.is_behind(self._folder.database):
            systemd.wait_for_a_day()
        migrate.prepare(self._folder.database, _tell_step)

    def _start_error(self, error: Exception) -> StartError:
        of = f"{self._folder.database}: " if isinstance(error, StoreFailure) else ""
        return StartError(
            f"{of}{in_words(error)}", may_pass=may_pass(error) or may_pass(error.__cause__ or error)
        )

    async def _build(self) -> None:
        ground = await self._lay_ground()
        own = (ground.db, ground.ids, ground.sealer)
        unsubscribe_key = await _own_key(*own, server_secrets.UNSUBSCRIBE)
        fence_key = await _own_key(*own, server_secrets.FENCE)
        senders = EnvelopeSenders(await _own_key(*own, server_secrets.ENVELOPE))
        rspamd_url = self._settings.inbound.rspamd_url
        spam_filter = Rspamd(rspamd_url) if rspamd_url else None
        ask = spam_filter.ask if spam_filter else None
        self.listener, unheard, local, common = mail_in(
            ground, senders, self.certificates.of_smtp(), ask, arrival_examiner(ground)
        )
        outbound = self._settings.outbound
        policy_hosts = PolicyHosts(outbound, ground.resolver.addresses) if outbound.mta_sts else None
        sts = sts_policies(ground, policy_hosts.fetch) if policy_hosts else None
        ports = queue_ports(ground, local)
        queue = mail_out(
            ground,
            ports,
            senders,
            RecipientHeaders(unsubscribe_key, self._settings.server.public_url),
            random.Random(),  # noqa: S311 (spreads retries, guards nothing)
            sts,
            self.certificates.of_outbound(ground.clock),
        )
        index = SearchIndex(self._folder.search_index)
        self._keep_house(ground, index)
        self.withdrawer = Withdrawer(ground.db, ground.clock, ground.ids)
        ground.db.listen(withdrawal.BEHIND, self.withdrawer.wake)
        self.eraser = Eraser(
            *(ground.db, ground.blobs, ground.clock, ground.ids, ground.audit),
            queue.is_delivering,
            ground.shared_domains,
        )
        api = control_plane(
            ground,
            index,
            queue,
            prospects(ground, ports).find,
            unsubscribe_key,
            fence_key,
            self.self_check,
            self.loop_monitor,
        )
        self.operations, self.http, self.streams = api.operations, api.http, api.streams
        self.tls_reporter, self.audit = api.tls_reporter, api.audit
        self.submission = submission(ground, common, api.log_in)
        self.certificates.listeners = self._listeners
        self.metrics = self._metrics(ground) if self._settings.metrics.listen else None
        mail: list[Service] = [
            unheard,
            *([spam_filter] if spam_filter else []),
            *([policy_hosts] if policy_hosts else []),
            queue,
            *([StsRefresh(sts, ground.db, ground.clock)] if sts else []),
        ]
        self._supervisor = self._supervise(ground, [*api.background, *mail], api.dispatcher, queue)

    def _supervise(
        self, ground: Ground, planes: Sequence[Service], dispatcher: Service, queue: Service
    ) -> Supervisor:
        """Everything that has a life of its own, in the order in which it starts: first what the planes have."""
        return Supervisor(
            [
                *planes,
                self.indexer,
                self.retention,
                self.withdrawer,
                self.eraser,
                self.reclaimer,
                self.self_check,
                DnssecCheck(self._settings.dns, ground.resolver.nameservers_are_near, ground.clock),
                allocator.MemoryKeeper(self._empty_caches),
                *self._listeners,
                self.certificates.watch,
                self.http,
                *([self.metrics] if self.metrics is not None else []),
                self.streams,
                self.loop_monitor,  # nobody waits for what the start does
            ],
            # The server would wait for readers of streams; it answers requests that call webhooks.
            lines=[[self.streams, self.http, dispatcher], *([one] for one in self._listeners), [queue]],
        )

    async def _lay_ground(self) -> Ground:
        settings, clock = self._settings, self._clock
        ids = Ids(clock)
        self._db = await Database.open(self._folder.database)
        await _go_on(self._db, ids, clock)
        self._folder.note_store()
        inline_bytes = settings.storage.inline_blob_bytes
        blob_store = Blobs(self._folder.blobs, ids, inline_bytes, self._writing, self._reading)
        blob_store.prepare()
        self._resolver = Resolver(settings.dns, clock)
        swept = blob_store.sweep(await self._db.read(blobs.known_files))
        sealer = Sealer(rotation.valid_key(self._folder.database, master_key_file(self._folder.master_key)))
        swept += self._folder.remove_unfinished()
        audit_key = await _own_key(self._db, ids, sealer, server_secrets.AUDIT)
        ground = Ground(
            settings=settings,
            clock=clock,
            ids=ids,
            db=self._db,
            blobs=blob_store,
            cpu=self._cpu,
            cpu_process=self._cpu_process,
            rounds=Rounds(clock.monotonic, RoundPace(patience_s=self._tuning.api.patience_s)),
            disk=Disk(self._folder.path, settings.storage.reserve_percent, _tell_room),
            sealer=sealer,
            resolver=self._resolver,
            audit=AuditRecorder(audit_key, clock),
            tuning=self._tuning,
        )
        tell(log, LogEvent.BUILT, data_dir=str(self._folder.path), orphaned_files_removed=swept)
        return ground

    def _keep_house(self, ground: Ground, index: SearchIndex) -> None:
        """What looks after the store, and after the event loop."""
        settings = ground.settings
        self.indexer = SearchIndexer(ground.db, index, ground.clock)
        self.self_check = SelfCheck(
            ground.db,
            ground.blobs,
            self._folder.database,
            ground.clock,
            random.Random(),  # noqa: S311 (where a round of looking begins)
            self.indexer.check,
        )
        self.retention = Retention(
            ground.db,
            ground.blobs,
            ground.clock,
            ages(settings.storage.keep_events_days, settings.webhooks.keep_records_days),
            raw_days=lambda plan: settings.plan(plan).retention_days,
            recorder=ground.audit,
            audit_days=settings.storage.keep_audit_days,
        )
        self.reclaimer = Reclaimer(ground.db, ground.disk, ground.clock)

        loop = asyncio.get_running_loop()
        strangers = StrangerLog(ground.clock.monotonic, "maild.loop", loop.call_later)
        self.loop_monitor = LoopMonitor(ground.clock, ground.tuning.loop, strangers)

    async def _empty_caches(self) -> None:
        if self._db is not None:
            await self._db.empty_caches()
            await self.indexer.empty_caches()

    @property
    def _listeners(self) -> list[SessionListener]:
        return [self.listener, *([self.submission] if self.submission is not None else [])]

    def _metrics(self, ground: Ground) -> MetricsServer:
        folder = self._folder
        measured = Measured(
            clock=ground.clock,
            db=ground.db,
            disk=ground.disk,
            self_check=self.self_check,
            loop_monitor=self.loop_monitor,
            lines=self._lines,
            http=self.http,
            listeners=[(listener.door, listener) for listener in self._listeners],
            certificate_ends=self.certificates.ends,
            files=folder.store_files,
            backed_up_at=lambda: folder.backed_up_at,
        )
        later = asyncio.get_running_loop().call_later
        return MetricsServer(
            DaemonMetrics(measured).render,
            CONTENT_TYPE,
            self._settings.metrics.listen,
            ground.ids,
            StrangerLog(ground.clock.monotonic, later=later),
            ground.tuning.http,
        )

    def reload(self) -> None:
        """Have the certificates read again."""
        self.certificates.watch.ask()

    async def watch(self, until: "asyncio.Future[None]") -> None:
        """Wait for `until`; ServiceDied when a part dies before."""
        await self._supervisor.watch(until)

    async def stop(self) -> None:
        """Drain and stop all parts (storage/service.py), then close the store. Idempotent."""
        await self._supervisor.stop()
        if self._resolver is not None:
            await self._resolver.close()
        await self._cpu.close()
        await self._cpu_process.close()
        for threads in (self._writing, self._reading):
            threads.shutdown(wait=False)  # nobody waits for them any more
        if self._db is not None:
            with suppress(OSError):  # of a disk that is read-only by now: it was for commands of this moment
                self._folder.forget_store()
            await self._db.close()
            self._db = None
        self._folder.unlock()

    def ready_line(self) -> str:
        """One line of JSON for the process that started this one: where it listens."""
        return json.dumps({"event": "ready", **self.places()})

    def places(self) -> dict[str, object]:
        """Where it listens: `smtp`, `http`, `submission`, where clients may log in, and `metrics`."""
        found: dict[str, object] = {"smtp": self.listener.addresses, "http": self.http.url}
        if self.submission is not None:
            found["submission"] = [*self.submission.addresses, *self.submission.tls_addresses]
        if self.metrics is not None:
            found["metrics"] = f"{self.metrics.url}/metrics"
        return found


def _tell_room(has_room: bool, free_bytes: int, free_inodes: int) -> None:
    event = LogEvent.DISK_HAS_ROOM if has_room else LogEvent.DISK_SHORT
    tell(log, event, free_bytes=free_bytes, free_inodes=free_inodes)


def _tell_step(step: int, steps: int) -> None:
    tell(log, LogEvent.MIGRATING, step=step, steps=steps)


async def _own_key(db: Database, ids: Ids, sealer: Sealer, name: str) -> bytes:
    """A key of this server's own, made at the first start; durable when this returns."""
    fresh = ids.chance(server_secrets.SECRET_BYTES)
    return await db.write(server_secrets.get_or_make, sealer, name, fresh)


async def _go_on(db: Database, ids: Ids, clock: Clock) -> None:
    """Lists are in the order of ids: after a clock that was ahead, what is new comes behind what was made by it, unless
    that is left behind (storage.ids)."""
    now_ms = clock.now_ms()
    made_ms = await db.read(events.newest_ms)
    if made_ms is not None and is_clock_behind(now_ms, made_ms):
        tell(log, LogEvent.CLOCK_BEHIND, newest=iso(made_ms))
    # What hangs on a message has an id that was made after its own, and an event that tells of it.
    for newest_before, prefix in ((messages.newest_before, "msg"), (events.newest_before, "evt")):
        newest = await db.read(newest_before, first_at(prefix, now_ms + AHEAD_MAX_MS))
        if newest is not None:
            ids.go_on_after(newest)
