"""What is found out about a message before anything is written: the steps from `read` to `look` of `accept.py`.

Nothing is written here. SmtpError refuses the message, whose bytes the caller does away with then.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from conf.addresses import network_of
from maild.authentication.judge import Introduction, PolicyNotAsked, SenderJudge
from maild.authentication.patience import PatienceOver
from maild.authentication.verdict import SenderVerdict
from maild.errors import SmtpError, shutting_down
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.reading import reports
from maild.inbound.reading.first_look import ArrivalFindings, FirstLook
from maild.inbound.reading.incoming_message import IncomingMessage, incoming_message
from maild.inbound.reading.reports import ReportClaim
from maild.inbound.reading.spam_filter import SpamFilter
from maild.message.digest import Digest, digest_at_once
from maild.message.model import ParsedMessage
from maild.message.reading import read_message
from maild.message.reports.domain_report import DomainReport
from maild.message.reports.domain_report_reader import find_domain_report, read_domain_report
from maild.message.reports.report import Report, read_report
from storage.clock import Clock
from storage.mail.blobs import Stored
from storage.mail.inboxes import RecipientInbox
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads

T = TypeVar("T")


class Received(NamedTuple):
    """A message that was read and judged. `recipients`: one (address as given, inbox) pair for each inbox; `looked_at`:
    by the id of those whose policy asks for it. `waited_s`: for foreign DNS. `is_light`: the rest took but a moment."""

    envelope: InboundEnvelope
    stored: Stored
    incoming: IncomingMessage
    verdict: SenderVerdict
    claim: ReportClaim | None
    recipients: Sequence[tuple[str, RecipientInbox]]
    about_domain: DomainReport | None
    looked_at: Mapping[str, ArrivalFindings]
    waited_s: float
    is_light: bool


class Reception:
    """Reads and judges what SMTP brings. `shared_domains`: those of reports about mail of ours."""

    def __init__(
        self,
        cpu: CpuThreads,
        cpu_process: CpuProcess,
        clock: Clock,
        judge: SenderJudge,
        spam_filter: SpamFilter | None,
        first_look: FirstLook,
        shared_domains: frozenset[str],
    ) -> None:
        self._cpu = cpu
        self._cpu_process = cpu_process
        self._clock = clock
        self._sender_judge = judge
        self._spam_filter = spam_filter
        self._first_look = first_look
        self._shared_domains = shared_domains

    async def receive(self, envelope: InboundEnvelope, stored: Stored) -> Received:
        """SmtpError when it is refused."""
        found, report, is_light = await self._read(envelope, stored)
        read_s = self._clock.monotonic()
        verdict = await self._judge(envelope, stored, found.parsed, is_light)
        waited_s = self._clock.monotonic() - read_s
        incoming = incoming_message(found, stored.id, stored.size_bytes, envelope.mail_from, verdict.auth)
        incoming = incoming._replace(
            is_report=report is not None,
            reported_ids=report.message_ids if report is not None else (),
            is_spam=verdict.is_spam,
            org_domains=verdict.org_domains,
            is_one_click_signed=verdict.is_one_click_signed,
        )
        claim = self._claim(envelope, report, verdict)
        about_domain, is_packed = await self._read_domain_report(envelope, stored, found.parsed)
        one_each = {box.inbox_id: (address, box) for address, box in envelope.recipients}
        boxes = [box for _, box in one_each.values()]
        looked_at = await self._first_look.at(incoming, boxes, stored.as_blob)
        return Received(
            envelope,
            stored,
            incoming,
            verdict,
            claim,
            recipients=list(one_each.values()),
            about_domain=about_domain,
            looked_at=looked_at,
            waited_s=waited_s,
            is_light=is_light and not is_packed,
        )

    async def _read(self, envelope: InboundEnvelope, stored: Stored) -> tuple[Digest, Report | None, bool]:
        """The digest, the report that it may be, and whether that was done in a moment."""
        may_report = reports.may_report(envelope.mail_from, envelope.recipients, self._shared_domains)
        found = None if stored.data is None else digest_at_once(stored.data)
        if found is not None and stored.data is not None:
            return found, read_report(stored.data, found.parsed) if may_report else None, True
        work = partial(read_message, stored.to_hand_over(), may_report)
        return *await self._cpu_process.run(network_of(envelope.peer), work), False

    async def _read_domain_report(
        self, envelope: InboundEnvelope, stored: Stored, parsed: ParsedMessage
    ) -> tuple[DomainReport | None, bool]:
        """What it reports about a domain, and whether that was looked for, which takes its time."""
        part = find_domain_report(parsed)
        if part is None:
            return None, False
        work = partial(read_domain_report, stored.to_hand_over(), part)
        return await self._cpu_process.run(network_of(envelope.peer), work), True

    async def _judge(
        self, envelope: InboundEnvelope, stored: Stored, parsed: ParsedMessage, is_light: bool
    ) -> SenderVerdict:
        """SmtpError when the author's domain asks to refuse it, or the spam filter does."""
        brought = Introduction(envelope.peer, envelope.helo, envelope.mail_from)
        apart = partial(self._cpu.run, network_of(envelope.peer))
        run = _at_once if is_light else apart
        try:
            verdict = await self._sender_judge.judge(brought, stored.view(), parsed, run, apart)
            if verdict.refusal is not None:
                raise SmtpError(550, "5.7.1", verdict.refusal, told=verdict.told)
            if self._spam_filter is not None:
                verdict = await self._spam_filter.weigh(envelope, stored, verdict)
        except PatienceOver as error:
            raise shutting_down() from error
        except PolicyNotAsked as error:
            raise SmtpError(
                451, "4.3.2", "too many questions to DNS at the moment, try again later"
            ) from error
        return verdict

    def _claim(
        self, envelope: InboundEnvelope, report: Report | None, verdict: SenderVerdict
    ) -> ReportClaim | None:
        if report is None:
            return None
        return reports.claim(
            report,
            envelope.mail_from,
            envelope.recipients,
            self._shared_domains,
            is_verified=verdict.auth["verifiedDomain"] is not None,
        )


async def _at_once(work: Callable[[], T]) -> T:
    return work()
