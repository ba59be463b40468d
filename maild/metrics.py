"""What the daemon counts and measures, in the words of Prometheus.

Nothing is counted for this alone: the parts count what they do, and are asked when somebody looks. No name of an
organization, a domain or an address is in it: it is read without a key, and a series for each name would grow for ever.
docs/metrics.md lists all of it.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import structlog
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from controlplane.transport.request_counts import BOUNDS_S, RequestCounts
from controlplane.transport.server import HttpServer
from maild import __version__
from maild.inbound.sessions.session_listener import SessionListener
from maild.log_counts import LogCounts
from maild.loop_monitor import LoopMonitor
from storage.clock import Clock
from storage.disk import Disk
from storage.durable_files import is_there
from storage.engine.database import Database
from storage.upkeep.backlogs import Backlogs, backlogs
from storage.upkeep.self_check import SelfCheck

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
STORE_S = 5.0  # to answer what waits

log = structlog.get_logger("maild.daemon")


@dataclass(frozen=True, slots=True)
class Measured:
    """What is asked. `listeners`: by the names of their doors. `certificate_ends`: of those that are
    shown, Unix time, by the keys of the configuration that name them. `files`: of the store, as far as they are there.
    `backed_up_at`: as DataFolder has it."""

    clock: Clock
    db: Database
    disk: Disk
    self_check: SelfCheck
    loop_monitor: LoopMonitor
    lines: LogCounts
    http: HttpServer
    listeners: Sequence[tuple[str, SessionListener]]
    certificate_ends: Mapping[str, float]
    files: Sequence[Path]
    backed_up_at: Callable[[], float | None]


class DaemonMetrics:
    """`render` gives all of it in Prometheus's text format."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._process = ProcessCollector(registry=None)

    async def render(self) -> bytes:
        """What the store says is left out where it does not answer in time; the rest is there all the same."""
        waiting = await self._waiting()
        families = [
            *_counted(self._measured),
            *_sized(self._measured),
            *_backlogs(self._measured.clock, waiting),
        ]
        return await asyncio.to_thread(self._written, families)

    async def _waiting(self) -> Backlogs | None:
        try:
            async with asyncio.timeout(STORE_S):
                return await self._measured.db.read(backlogs, self._measured.clock.now_ms())
        except Exception:
            log.exception("metrics_incomplete")
            return None

    def _written(self, families: list[Metric]) -> bytes:
        """On a thread: the kernel is asked about the process, and files are read."""
        of = self._measured
        of_files = [_file_sizes(of.files), _certificates(of.certificate_ends), *_backup(of.backed_up_at())]
        return generate_latest(_Families([*families, *of_files, *self._process.collect()]))


class _Families(Collector):
    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        return self._families


def _gauge(name: str, says: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"maild_{name}", says, value=value)


def _counter(name: str, says: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"maild_{name}", says, value=value)


def _counted(of: Measured) -> Iterator[Metric]:
    """What only grows, from the start of the process on."""
    lines = CounterMetricFamily(
        "maild_log_lines", "Lines of the log, written or not.", labels=["level", "event"]
    )
    for level, event, count in of.lines.counted():
        lines.add_metric([level, event], count)
    yield lines
    yield from _requests(of.http.counts)
    commits, commit_s = of.db.commits
    yield _counter("store_units", "Units of work that were written.", of.db.units_written)
    yield _counter("store_commits", "Commits, each with its fsync, of one unit or several.", commits)
    yield _counter("store_commit_seconds", "Time that commits took.", commit_s)
    holds, held_s = of.loop_monitor.in_all
    yield _counter("loop_holds", "How often the event loop served nobody for 20 ms or more.", holds)
    yield _counter("loop_held_seconds", "For how long it did so.", held_s)


def _requests(counts: RequestCounts) -> Iterator[Metric]:
    answered = CounterMetricFamily(
        "maild_http_requests",
        "Requests that were answered; route and method are empty where there is none.",
        labels=["method", "route", "status"],
    )
    took = HistogramMetricFamily(
        "maild_http_request_duration_seconds",
        "Time from a request's head to the end of its answer, of waits and streams too.",
        labels=["method", "route"],
    )
    bounds = [*(str(bound) for bound in BOUNDS_S), "+Inf"]
    for names, route in counts.routes.items():
        for status, count in route.statuses.items():
            answered.add_metric([*names, str(status)], count)
        took.add_metric(names, list(zip(bounds, accumulate(route.spans), strict=True)), route.total_s)
    yield answered
    yield took


def _sized(of: Measured) -> Iterator[Metric]:
    """How much there is of something at the moment, and how much there may be."""
    build = GaugeMetricFamily(
        "maild_build_info", "The version that runs, as a label of 1.", labels=["version"]
    )
    build.add_metric([__version__], 1)
    yield build
    yield _gauge("http_connections", "Connections to the API.", of.http.listener.watch.open)
    yield _gauge("http_connections_max", "How many there may be.", of.http.listener.watch.most)
    sessions = GaugeMetricFamily("maild_smtp_sessions", "SMTP sessions of clients.", labels=["door"])
    most = GaugeMetricFamily("maild_smtp_sessions_max", "How many there may be.", labels=["door"])
    for door, listener in of.listeners:
        count, limit = listener.sessions
        sessions.add_metric([door], count)
        most.add_metric([door], limit)
    yield sessions
    yield most
    free, reserve = of.disk.free
    yield _gauge("disk_free_bytes", "Free space of the file system of data_dir.", free)
    yield _gauge("disk_reserve_bytes", "Below it mail and sends are refused.", reserve)
    yield _gauge("disk_short", "1 while mail or sends are refused for want of room.", of.disk.is_short)
    yield _gauge("disk_stalled", "1 while the disk has taken nothing for ten seconds.", of.db.stands_still)
    yield _gauge("disk_failing", "1 while the disk refuses what is written to the store.", of.db.fails)
    yield _gauge("store_damaged", "1 once bytes or pages were found changed.", of.self_check.is_damaged)


def _backlogs(clock: Clock, waiting: Backlogs | None) -> Iterator[Metric]:
    """What the daemon has yet to do; nothing but `store_up` where the store did not answer."""
    yield _gauge("store_up", "1 where the store answered, just now.", waiting is not None)
    if waiting is None:
        return
    now_ms, queue = clock.now_ms(), waiting.queue
    recipients = GaugeMetricFamily(
        "maild_queue_recipients", "Recipients of mail that is to leave.", labels=["state"]
    )
    for state in ("due", "later", "held", "delivering"):
        recipients.add_metric([state], getattr(queue, state))
    yield recipients
    yield _gauge(
        "queue_oldest_due_seconds",
        "For how long the recipient waits that is due for longest.",
        _age_s(now_ms, queue.oldest_due_at),
    )
    yield _gauge(
        "webhooks_oldest_due_seconds",
        "For how long the delivery to an endpoint waits that is due for longest.",
        _age_s(now_ms, waiting.webhook_due_at),
    )
    yield _gauge(
        "search_waiting_messages", "Messages that the search index is yet to learn.", waiting.unsearchable
    )


def _age_s(now_ms: int, since_ms: int | None) -> float:
    return 0.0 if since_ms is None else max(0, now_ms - since_ms) / 1000


def _file_sizes(files: Sequence[Path]) -> Metric:
    sizes = GaugeMetricFamily("maild_store_file_bytes", "Sizes of the store's files.", labels=["file"])
    for file in files:
        if is_there(file):
            sizes.add_metric([file.name], file.stat().st_size)
    return sizes


def _backup(at: float | None) -> list[Metric]:
    """Nothing where there was none: an age of 0 would be that of a fresh one."""
    says = "When the last backup by maild backup ended well (Unix time)."
    return [] if at is None else [_gauge("backup_timestamp_seconds", says, at)]


def _certificates(ends: Mapping[str, float]) -> Metric:
    told = GaugeMetricFamily(
        "maild_certificate_not_after_timestamp_seconds",
        "When the certificate ends that is shown for a key of the configuration (Unix time).",
        labels=["key"],
    )
    for key, end in ends.items():
        told.add_metric([key], end)
    return told
