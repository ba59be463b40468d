"""Domains that ask how TLS with their hosts went are told once a day, whatever their records say and whatever fails."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from controlplane.egress.client import Egress
from controlplane.sending.from_us.tls_reporter import AFTER_MIDNIGHT_MS, RETRY_S, SPREAD_MS
from maild.commands.checking import check
from maild.message.digest import digest
from maild.message.reports.domain_report import DomainReport
from maild.message.reports.domain_report_reader import find_domain_report, read_domain_report
from maild.message.reports.packed_report import unpack
from maild.message.reports.tls_report import read_tls_report
from storage.clock import DAY_MS
from storage.data_folder import DataFolder
from storage.sending import tls_sessions
from storage.sending.tls_sessions import TlsSession
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.webhook_sink import HOST, Reply, WebhookSink
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

DOMAIN = "there.test"
RECORD = f"_smtp._tls.{DOMAIN}"
MAILBOX = "tls@reports.test"
BY_MAIL = f'"v=TLSRPTv1; rua=mailto:{MAILBOX}"'
DUE_MS = AFTER_MIDNIGHT_MS + SPREAD_MS


class ReportWorld:
    """A daemon that has a session with a host of the domain behind it, and the day is over."""

    def __init__(self, maild: Running, clock: ManualClock, dns: DnsServer, mx: Mx, sink: WebhookSink) -> None:
        self.maild, self.clock, self.dns, self.mx, self.sink = maild, clock, dns, mx, sink
        self.day = clock.now_ms() // DAY_MS

    def tell(self, *records: str) -> None:
        self.dns.records.pop((RECORD, "TXT"), None)
        if records:
            self.dns.add(RECORD, "TXT", *records)

    @property
    def by_https(self) -> str:
        return f'"v=TLSRPTv1; rua={self.sink.url("/tls")}"'

    async def round(self, after_ms: int = DUE_MS) -> None:
        """One round, so long after the day's end at the least."""
        self.clock.at_ms = max(self.clock.at_ms, (self.day + 1) * DAY_MS + after_ms)
        assert self.maild.daemon.tls_reporter is not None
        await self.maild.daemon.tls_reporter.round()

    async def later(self) -> None:
        """A round when what failed is tried again."""
        self.clock.forward(RETRY_S)
        await self.round()

    async def mails(self, count: int) -> list[bytes]:
        """Those to MAILBOX, once there are so many."""

        async def look() -> list[bytes] | None:
            found = [one.raw for one in self.mx.received if one.recipients == [MAILBOX]]
            return found if len(found) >= count else None

        return await until(look)

    async def note(self, domain: str) -> None:
        """A session with a host of that domain as well."""
        db = self.maild.daemon._db
        assert db is not None
        await db.write(tls_sessions.note, self.day, domain, TlsSession("no-policy-found", "[[],[]]"))

    @property
    def rows(self) -> int:
        return int(self.maild.sql("SELECT count(*) FROM tls_sessions")[0][0])

    @property
    def queued(self) -> int:
        return int(self.maild.sql("SELECT count(*) FROM recipients WHERE address = ?", MAILBOX)[0][0])


@pytest.fixture
async def world(tmp_path: Path, start: Start) -> AsyncIterator[ReportWorld]:
    (tmp_path / "sink").mkdir()
    clock = ManualClock()
    async with DnsServer() as dns, Mx() as mx, WebhookSink(tmp_path / "sink") as sink:
        dns.add_mx(DOMAIN)
        dns.add_mx("reports.test")
        dns.add(HOST, "A", "127.0.0.1")
        maild = await start(
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={
                "port": mx.port,
                "allow_private_networks": True,
                "ca_file": str(sink.ca_file),
                "tls_reports": True,
            },
        )
        world = ReportWorld(maild, clock, dns, mx, sink)
        await maild.api.send(await maild.inbox("bot"), to=[f"you@{DOMAIN}"])

        async def counted() -> bool | None:
            return world.rows == 1 or None

        await until(counted)
        yield world


def report_in(raw: bytes) -> DomainReport:
    part = find_domain_report(digest(raw).parsed)
    assert part is not None
    found = read_domain_report(raw, part)
    assert found is not None
    return found


async def test_a_report_goes_by_mail_once(world: ReportWorld) -> None:
    world.tell(BY_MAIL)
    with structlog.testing.capture_logs() as lines:
        await world.round()
    (raw,) = await world.mails(1)
    found = report_in(raw)
    assert (found.kind, found.domain, found.total, found.passed) == ("tls", DOMAIN, 1, 0)
    assert found.begin_s == world.day * 86_400
    assert found.detail["failures"] == [{"type": "starttls-not-supported", "sessions": 1}]
    assert raw.startswith(b"DKIM-Signature: ") and b"\r\n d=agents.test;" in raw.replace(b"; d=", b";\r\n d=")
    assert b"\r\nFrom: postmaster@agents.test\r\n" in raw
    (line,) = [one for one in lines if one["event"] == "tls_report_sent"]
    assert (line["domain"], line["destination"]) == (DOMAIN, f"mailto:{MAILBOX}")
    await world.round()
    await world.later()
    assert (world.queued, world.rows) == (1, 0)  # the report's own session is not counted
    looked = await world.maild.operate(check, DataFolder(world.maild.settings.data_path), world.clock)
    assert looked["damage"] == []


async def test_an_address_that_refuses_reports_is_held_against_nobody(world: ReportWorld) -> None:
    world.mx.always["RCPT", MAILBOX] = "550 5.1.1 no such user"
    world.tell(BY_MAIL)
    counted = world.maild.sql("SELECT period, metric, value FROM usage ORDER BY 1, 2")
    await world.round()

    async def bounced() -> bool | None:
        found = world.maild.sql("SELECT status FROM recipients WHERE address = ?", MAILBOX)
        return found == [("bounced",)] or None

    await until(bounced)
    assert world.maild.sql("SELECT period, metric, value FROM usage ORDER BY 1, 2") == counted


async def test_not_before_the_domain_s_own_time(world: ReportWorld) -> None:
    world.tell(BY_MAIL)
    await world.round(after_ms=AFTER_MIDNIGHT_MS - 1)
    assert (world.queued, world.rows) == (0, 1)
    await world.round()
    assert (world.queued, world.rows) == (1, 0)


async def test_a_url_gets_the_report_by_https(world: ReportWorld) -> None:
    world.tell(world.by_https)
    await world.round()
    (asked,) = world.sink.received
    assert (asked.method, asked.path) == ("POST", "/tls")
    assert asked.headers["content-type"] == "application/tlsrpt+gzip"
    assert read_tls_report(unpack(asked.body)).domain == DOMAIN
    await world.later()
    assert (len(world.sink.received), world.rows) == (1, 0)


async def test_of_two_uris_the_one_that_failed_is_tried_again(world: ReportWorld) -> None:
    world.sink.script("/tls", Reply(503))
    world.tell(f'"v=TLSRPTv1; rua={world.sink.url("/tls")},mailto:{MAILBOX},mailto:third@reports.test"')
    with structlog.testing.capture_logs() as lines:
        await world.round()
        await world.round()
    assert [one["reason"] for one in lines if one["event"] == "tls_report_not_sent"] == [
        "the host answered 503"
    ]
    assert (world.queued, world.rows) == (1, 1)
    await world.later()
    first, second = world.sink.received
    assert first.body == second.body
    assert (world.queued, world.rows) == (1, 0)
    assert world.maild.sql("SELECT count(*) FROM recipients WHERE address LIKE 'third%'") == [(0,)]


async def test_who_took_the_report_does_not_get_it_again(world: ReportWorld) -> None:
    world.sink.script("/down", Reply(503))
    world.tell(f'"v=TLSRPTv1; rua={world.sink.url("/tls")},{world.sink.url("/down")}"')
    await world.round()
    await world.later()
    assert [one.path for one in world.sink.received] == ["/tls", "/down", "/down"]
    assert world.rows == 0


async def test_killed_after_a_mail_was_queued_there_is_no_second(
    world: ReportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.tell(BY_MAIL)
    with monkeypatch.context() as patched:
        patched.setattr(tls_sessions, "forget", _fails)
        await world.round()
    assert (world.queued, world.rows) == (1, 1)
    await world.later()
    assert (world.queued, world.rows) == (1, 0)


async def test_killed_while_a_mail_is_queued_nothing_is_left_of_it(
    world: ReportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.tell(BY_MAIL)
    with monkeypatch.context() as patched:
        patched.setattr("storage.sending.outbound.enqueue", _fails)
        await world.round()
    assert (world.queued, world.rows) == (0, 1)
    assert world.maild.sql("SELECT count(*) FROM tls_reports_sent") == [(0,)]
    await world.later()
    assert (world.queued, world.rows) == (1, 0)


async def test_killed_after_a_post_the_same_report_comes_again(
    world: ReportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.tell(world.by_https)
    with monkeypatch.context() as patched:
        patched.setattr(tls_sessions, "mark_sent", _fails)
        await world.round()
    await world.later()
    first, second = world.sink.received
    assert first.body == second.body
    assert world.rows == 0


def _fails(*_: object, **__: object) -> Any:
    raise RuntimeError("killed")


@pytest.mark.parametrize(
    "records",
    [
        (),
        ('"v=spf1 -all"',),
        (BY_MAIL, BY_MAIL.replace("tls@", "other@")),
        ('"v=TLSRPTv1; rua=http://reports.test/"',),
        ('"v=TLSRPTv1; rua=mailto:tls@reports.test%0d%0aBcc:x@reports.test"',),
        ('"v=TLSRPTv1; rua=https://127.0.0.1:x/"',),
    ],
)
async def test_who_does_not_ask_is_not_told_and_nothing_is_kept(
    world: ReportWorld, records: tuple[str, ...]
) -> None:
    world.tell(*records)
    await world.round()
    assert (world.queued, world.rows, world.sink.received) == (0, 0, [])


async def test_silence_of_dns_is_waited_for_and_not_for_ever(world: ReportWorld) -> None:
    world.dns.servfail.add(RECORD)
    await world.round()
    asked = world.dns.queries[RECORD, "TXT"]
    await world.round()
    assert (world.rows, world.dns.queries[RECORD, "TXT"]) == (1, asked)  # not before an hour is over
    await world.later()
    assert world.dns.queries[RECORD, "TXT"] > asked
    world.clock.at_ms = (world.day + 3) * DAY_MS - 1
    await world.maild.daemon.retention.round()
    assert world.rows == 1
    world.clock.at_ms += 1
    await world.maild.daemon.retention.round()
    assert (world.queued, world.rows) == (0, 0)


async def test_what_failed_while_the_clock_was_ahead_is_tried_again(world: ReportWorld) -> None:
    """It was set back: the hour would be over when it is there again, and the rows too old by then."""
    world.dns.servfail.add(RECORD)
    await world.round(after_ms=5 * DAY_MS)
    world.clock.set_back(4 * DAY_MS / 1000)
    asked = world.dns.queries[RECORD, "TXT"]
    await world.later()
    assert world.dns.queries[RECORD, "TXT"] > asked


async def test_that_a_report_was_sent_is_known_for_as_long_as_it_may_wait(world: ReportWorld) -> None:
    world.tell(BY_MAIL)
    await world.round()
    marks = "SELECT count(*) FROM tls_reports_sent"
    world.clock.at_ms = (world.day + 61) * DAY_MS - 1
    await world.maild.daemon.retention.round()
    assert world.maild.sql(marks) == [(1,)]
    world.clock.at_ms += 1
    await world.maild.daemon.retention.round()
    assert world.maild.sql(marks) == [(0,)]


async def test_a_url_inside_is_not_called(world: ReportWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.tell(world.by_https)
    assert world.maild.daemon.tls_reporter is not None
    egress: Egress = world.maild.daemon.tls_reporter._egress
    monkeypatch.setattr(egress._guard, "_allow_all", False)
    with structlog.testing.capture_logs() as lines:
        await world.round()
    (line,) = [one for one in lines if one["event"] == "tls_report_not_sent"]
    assert "private" in line["reason"] and line["is_given_up"]
    assert (world.sink.received, world.rows) == ([], 0)


async def test_many_domains_are_told_in_one_round(world: ReportWorld) -> None:
    for number in range(25):
        name = f"d{number}.test"
        await world.note(name)
        world.dns.add(f"_smtp._tls.{name}", "TXT", BY_MAIL)
    await world.round()
    mails = await world.mails(25)
    assert sorted(report_in(one).domain for one in mails) == sorted(f"d{number}.test" for number in range(25))
    assert world.rows == 0
