"""Tells domains once a day how TLS with their mail hosts went (RFC 8460), where they ask for it.

A day is reported after it is over, each domain at a time of its own, so that the world's hosts do not all write at
midnight. What is due stands in rows (`storage/sending/tls_sessions.py`): a report by mail is marked in the transaction
that queues it, so it goes once; one by HTTPS is marked when the far end took it, so a crash in between sends it again,
with the same octets. What fails now is tried again every RETRY_S, until the rows are too old
(`storage/upkeep/retention.py`).
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec
import structlog

from conf.log_events import LogEvent, clean, tell
from controlplane.egress.client import Egress, EgressFailed
from controlplane.egress.targets import EgressRefused
from controlplane.sending.from_us.operator_mail import OperatorMail
from maild.message.model import Mailbox
from maild.message.reports.tls_report_record import ReportDestination, read_destinations
from maild.message.reports.tls_report_writer import MEDIA_TYPE, ReportedSessions, TlsReport, write_report_mail
from storage.clock import DAY_MS, Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.sending import tls_sessions
from storage.sending.tls_sessions import TlsSession
from storage.service import Enduring, LoopService
from storage.turns.cpu_threads import CpuThreads

ROUND_S = 300
AFTER_MIDNIGHT_MS = 10 * 60_000  # outcomes of the day's last sessions may still be on their way to the store
SPREAD_MS = 4 * 3_600_000
RETRY_S = 3600
AT_ONCE = 10
TIMEOUT_S = 30
USER_AGENT = "maild-tls-reports/1"

# The records of a name, [] where there are none; None: DNS gives no answer now.
FindTxt = Callable[[str], Awaitable[Sequence[bytes] | None]]
_OWNER = "TLS reports"  # of work in threads
_POLICY = msgspec.json.Decoder(tuple[tuple[str, ...], tuple[str, ...]])

log = structlog.get_logger("maild.tls_reports")


class ReportHostRules(NamedTuple):
    """Of the door to the URLs that domains name; those of connections to mail hosts."""

    allow_private_networks: bool
    ca_file: str
    timeout_s: int = TIMEOUT_S


class TlsReporter(LoopService):
    """`organization`, `contact`: what reports say of us; `submitter`: the domain that they come from."""

    name = "TLS reports"

    def __init__(
        self,
        db: Database,
        clock: Clock,
        cpu: CpuThreads,
        find_txt: FindTxt,
        mail: OperatorMail,
        egress: Egress,
        *,
        organization: str,
        submitter: str,
        contact: str,
    ) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._cpu = cpu
        self._find_txt = find_txt
        self._mail = mail
        self._egress = egress
        self._organization = organization
        self._submitter = submitter
        self._contact = contact
        # Of what failed, monotonic seconds; forgotten at a restart.
        self._not_before: dict[tuple[int, str], float] = {}

    async def start(self) -> None:
        await self._egress.start()
        await super().start()

    async def stop(self) -> None:
        await super().stop()
        await self._egress.stop()

    async def run(self) -> None:
        while True:
            with Enduring(log, "tls_reports_failed"):  # the rows stay for another round
                await self.round()
            await self.pause(ROUND_S)

    async def round(self) -> None:
        """Send what is due now."""
        now_ms = self._clock.now_ms()
        waiting: set[tuple[int, str]] = set()
        after = (-1, "")
        while page := await self._db.read(tls_sessions.unreported, now_ms // DAY_MS, after):
            after = page[-1]
            waiting.update(page)
            due = [one for one in page if _due_ms(*one) <= now_ms and not self._failed_lately(one)]
            for start in range(0, len(due), AT_ONCE):
                await asyncio.gather(*(self._report(*one) for one in due[start : start + AT_ONCE]))
        self._not_before = {key: at for key, at in self._not_before.items() if key in waiting}

    def _failed_lately(self, report: tuple[int, str]) -> bool:
        return self._clock.monotonic() < self._not_before.get(report, 0)

    async def _report(self, day: int, domain: str) -> None:
        self._not_before[day, domain] = self._clock.monotonic() + RETRY_S
        with Enduring(log, "tls_report_failed", domain=domain):
            records = await self._find_txt(f"_smtp._tls.{domain}")
            if records is None:
                return
            destinations = read_destinations(records)
            sent = await self._db.read(tls_sessions.sent, day, domain) if destinations else ()
            counted = await self._db.read(tls_sessions.of, day, domain) if destinations else ()
            sessions = [_reported(*one) for one in counted]
            report = TlsReport(domain, self._submitter, day, self._organization, self._contact, sessions)
            unsent = [one for one in destinations if one.uri not in sent]
            done = [await self._send(report, one) for one in unsent]
            if all(done):
                await self._db.write(tls_sessions.forget, day, domain)

    async def _send(self, report: TlsReport, to: ReportDestination) -> bool:
        """False: it is to be tried again."""
        send = self._by_mail if to.scheme == "mailto" else self._by_https
        return await send(report, to)

    async def _by_mail(self, report: TlsReport, to: ReportDestination) -> bool:
        sender = await self._mail.sender()
        if sender is None:
            self._tell_not_sent(report, to, "there is no operator's inbox to send from", is_given_up=True)
            return True

        def write(token: str, address: str) -> bytes:
            now_s = self._clock.now_ms() // 1000
            return write_report_mail(report, Mailbox(None, address), to.target, token, now_s)

        def mark(tx: Tx, message_id: str) -> bool:
            return tls_sessions.mark_sent(tx, report.day, report.domain, to.uri, message_id)

        message_id = await self._mail.queue(sender, to.target, write, mark)
        if message_id is not None:
            self._tell_sent(report, to, message_id=message_id)
        return True

    async def _by_https(self, report: TlsReport, to: ReportDestination) -> bool:
        packed = await self._cpu.run(_OWNER, report.packed)
        try:
            answer = await self._egress.post(to.target, packed, {"Content-Type": MEDIA_TYPE})
        except EgressRefused as error:
            self._tell_not_sent(report, to, error.reason, is_given_up=True)
            return True
        except EgressFailed as error:
            self._tell_not_sent(report, to, error.reason)
            return False
        if not 200 <= answer.status <= 299:
            self._tell_not_sent(report, to, f"the host answered {answer.status}")
            return False
        await self._db.write(tls_sessions.mark_sent, report.day, report.domain, to.uri)
        self._tell_sent(report, to)
        return True

    def _tell_sent(self, report: TlsReport, to: ReportDestination, **more: str) -> None:
        tell(log, LogEvent.TLS_REPORT_SENT, **_named(report, to), **more)

    def _tell_not_sent(
        self, report: TlsReport, to: ReportDestination, reason: str, is_given_up: bool = False
    ) -> None:
        fields = _named(report, to)
        tell(log, LogEvent.TLS_REPORT_NOT_SENT, reason=reason, is_given_up=is_given_up, **fields)


def _due_ms(day: int, domain: str) -> int:
    offset = int.from_bytes(hashlib.sha256(domain.encode()).digest()[:6], "big") % SPREAD_MS
    return (day + 1) * DAY_MS + AFTER_MIDNIGHT_MS + offset


def _named(report: TlsReport, to: ReportDestination) -> dict[str, str]:
    return {"domain": report.domain, "report_id": report.report_id, "destination": clean(to.uri)}


def _reported(session: TlsSession, count: int) -> ReportedSessions:
    strings, mx_hosts = _POLICY.decode(session.policy) if session.policy else ((), ())
    return ReportedSessions(
        session.policy_type,
        strings,
        mx_hosts,
        session.result_type,
        session.mx_host,
        session.receiving_ip,
        session.sending_ip,
        session.reason,
        count,
    )
