"""`GET /v1/domains/{id}/reports`: contract, section 4; decisions.md, "Domain"."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from storage.clock import DAY_MS, iso
from storage.domains.domain_reports import KEEP_MS, KEPT
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.domain_reports import BEGIN_S, DAY_S, dmarc_xml, gzipped, mail, tls_json, zipped
from tests.support.running import SHARED, SHARED_TOO, Running
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world
from tests.support.worlds.holding import approve, held, hold
from tests.support.worlds.sender_world import SenderWorld
from tests.support.worlds.store import ManualClock

Start = Callable[..., Awaitable[Running]]
UNKNOWN = "dom_" + "0" * 26


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def world(start: Start, tmp_path: Path, clock: ManualClock) -> AsyncIterator[DomainWorld]:
    async with domain_world(start, tmp_path, clock=clock) as made:
        yield made


async def reports(world: DomainWorld, domain: dict[str, Any], **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await world.api.get(f"/v1/domains/{domain['id']}/reports", **query)).data
    return found


async def test_a_dmarc_report_is_shown_with_the_mail_that_it_came_in(
    world: DomainWorld, clock: ManualClock
) -> None:
    domain = await world.register()
    bot = await world.maild.inbox("bot")
    raw = mail(zipped(dmarc_xml(NAME)))
    message = await world.maild.received(bot, raw)
    (report,) = await reports(world, domain)
    assert report == {
        "id": report["id"],
        "domainId": domain["id"],
        "type": "dmarc",
        "reporter": "Reporter Inc.",
        "reportId": "7",
        "verifiedDomain": None,
        "periodBegin": iso(BEGIN_S * 1000),
        "periodEnd": iso((BEGIN_S + DAY_S - 1) * 1000),
        "total": 2,
        "passed": 2,
        "failed": 0,
        "isTruncated": False,
        "dmarc": {
            "dkimAligned": 2,
            "spfAligned": 0,
            "dispositions": {"none": 2, "quarantine": 0, "reject": 0},
            "sources": [{"address": "192.0.2.1", "total": 2, "passed": 2, "failed": 0}],
        },
        "tls": None,
        "messageId": message["id"],
        "createdAt": iso(clock.now_ms()),
    }
    # It stays a mail like any other.
    assert message["attachments"][0]["filename"].endswith(".zip")


async def test_a_tls_report_and_the_filter_by_type(world: DomainWorld) -> None:
    domain = await world.register()
    bot = await world.maild.inbox("bot")
    await world.maild.received(bot, mail(gzipped(tls_json(NAME)), content_type="application/tlsrpt+gzip"))
    await world.maild.received(bot, mail(dmarc_xml(NAME)))
    (tls,) = await reports(world, domain, type="tls")
    assert (tls["total"], tls["passed"], tls["failed"], tls["dmarc"]) == (5629, 5326, 303, None)
    assert tls["tls"]["failures"][0] == {"type": "starttls-not-supported", "sessions": 200}
    assert [one["type"] for one in await reports(world, domain)] == ["dmarc", "tls"]
    assert (await world.api.get(f"/v1/domains/{domain['id']}/reports", type="spf")).status == 400


async def test_pages_are_newest_first_and_what_comes_twice_is_shown_once(world: DomainWorld) -> None:
    domain = await world.register()
    bot = await world.maild.inbox("bot")
    for number in ("1", "2", "2", "3"):
        await world.maild.received(bot, mail(dmarc_xml(NAME, report_id=number)))
    first = await reports(world, domain, limit="2")
    rest = await reports(world, domain, limit="2", cursor=first[-1]["id"])
    assert [one["reportId"] for one in first + rest] == ["3", "2", "1"]


async def test_what_anybody_could_send_keeps_no_proven_report_out(start: Start) -> None:
    async with DnsServer() as dns:
        maild = await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]})
        senders = SenderWorld(maild, dns, await maild.inbox("bot"))
        domain = (await maild.api.post("/v1/domains", {"domainName": NAME})).data
        forged, genuine = (
            mail(dmarc_xml(NAME, rows=[("192.0.2.1", count, "none", "pass", "pass")])) for count in (9, 2)
        )
        signed = senders.domain("reporter.test").sign(genuine)
        for raw in (forged, signed, forged, signed):
            await senders.judged(raw)
        found = (await maild.api.get(f"/v1/domains/{domain['id']}/reports")).data
        assert [(one["verifiedDomain"], one["total"]) for one in found] == [("reporter.test", 2), (None, 9)]


async def test_reports_belong_to_the_organization_that_has_the_domain_and_got_the_mail(
    world: DomainWorld,
) -> None:
    domain = await world.register()
    stranger = await world.maild.organization()
    theirs = await world.maild.inbox("theirs", stranger.api)
    await world.maild.received(theirs, mail(dmarc_xml(NAME)), stranger.api)
    assert await reports(world, domain) == []
    answer = await stranger.api.get(f"/v1/domains/{domain['id']}/reports")
    assert (answer.status, answer.code) == (404, "domain_not_found")
    own = await world.register(api=stranger.api)
    await world.maild.received(theirs, mail(dmarc_xml(NAME)), stranger.api)
    assert len((await stranger.api.get(f"/v1/domains/{own['id']}/reports")).data) == 1
    assert await reports(world, domain) == []


async def test_one_mail_to_several_inboxes_is_one_report(world: DomainWorld) -> None:
    domain = await world.register()
    boxes = [await world.maild.inbox(name) for name in ("bot", "robot")]
    talk = await world.maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    for box in boxes:
        await talk.say(f"RCPT TO:<{box['address']}>")
    await talk.say("DATA")
    assert (await talk.say(mail(dmarc_xml(NAME)) + b".")).startswith("250 ")
    assert len(await reports(world, domain)) == 1


@pytest.mark.parametrize("about", ["other.test", f"mail.{NAME}", ""])
async def test_a_report_about_another_name_is_a_mail_and_nothing_else(world: DomainWorld, about: str) -> None:
    domain = await world.register()
    bot = await world.maild.inbox("bot")
    await world.maild.received(bot, mail(dmarc_xml(about)))
    assert await reports(world, domain) == []


async def test_an_unknown_or_deleted_domain_is_not_found(world: DomainWorld) -> None:
    domain = await world.register()
    await world.delete(domain)
    for id in (UNKNOWN, domain["id"]):
        answer = await world.api.get(f"/v1/domains/{id}/reports")
        assert (answer.status, answer.code) == (404, "domain_not_found")


async def test_it_needs_the_scope_of_reading_domains(world: DomainWorld) -> None:
    domain = await world.register()
    key = await world.maild.key("messages:read")
    assert (await key.get(f"/v1/domains/{domain['id']}/reports")).code == "insufficient_scope"
    key = await world.maild.key("domains:read")
    assert (await key.get(f"/v1/domains/{domain['id']}/reports")).data == []


async def test_a_domain_keeps_its_newest_reports_for_a_time(world: DomainWorld, clock: ManualClock) -> None:
    domain = await world.register()
    bot = await world.maild.inbox("bot")
    await world.maild.received(bot, mail(dmarc_xml(NAME, report_id="first")))
    world.maild.sql(
        """INSERT INTO domain_reports SELECT 'rep_' || printf('%026d', value), domain_id, NULL, kind, reporter,
             'old ' || value, NULL, begin_at, end_at, total, passed, 0, detail, message_id, created_at
           FROM domain_reports, json_each(?)""",
        str(list(range(KEPT - 1))),
    )
    await world.maild.received(bot, mail(dmarc_xml(NAME, report_id="last")))
    ids = [id for (id,) in world.maild.sql("SELECT report_id FROM domain_reports ORDER BY id DESC")]
    assert len(ids) == KEPT and ids[:2] == ["last", "first"] and "old 0" not in ids
    clock.forward((KEEP_MS - DAY_MS) / 1000)
    await world.maild.received(bot, mail(dmarc_xml(NAME, report_id="young")))
    clock.forward(2 * DAY_MS / 1000)
    await world.maild.daemon.retention.round()
    assert [one["reportId"] for one in await reports(world, domain)] == ["young"]


async def test_reports_in_held_mail_are_not_shown(world: DomainWorld) -> None:
    """Whom nothing proves fills no list of what hosts report, nor does who decides about it."""
    domain = await world.register()
    bot = await world.maild.inbox("bot")
    await hold(world.maild, bot, "unverified")
    review = await held(world.maild, bot, mail(zipped(dmarc_xml(NAME))).decode())
    assert await reports(world, domain) == []
    assert (await approve(world.api, review)).status == 200
    assert await reports(world, domain) == []


# Shared domains, whose reports the operator reads ------------------------------------------------------


async def test_reports_about_a_shared_domain_are_shown_to_the_operator(
    maild: Running, clock: ManualClock
) -> None:
    await maild.deliver(f"postmaster@{SHARED}", mail(zipped(dmarc_xml(SHARED))))
    await maild.deliver(
        f"Abuse@{SHARED_TOO}", mail(gzipped(tls_json(SHARED)), content_type="application/tlsrpt+gzip")
    )
    await maild.deliver(f"postmaster@{SHARED}", mail(zipped(dmarc_xml(SHARED_TOO))))
    await maild.deliver(f"postmaster@{SHARED}", mail(zipped(dmarc_xml(SHARED))))  # again: it is there
    listed = partial(maild.operate, maild.store.reports.list)
    found = await listed(None, None, 50)
    assert [(one["domainName"], one["type"]) for one in found] == [
        (SHARED_TOO, "dmarc"), (SHARED, "tls"), (SHARED, "dmarc"),
    ]  # fmt: skip
    oldest = found[-1]
    assert (oldest["reporter"], oldest["total"], oldest["passed"]) == ("Reporter Inc.", 2, 2)
    assert (
        oldest["verifiedDomain"] is None
        and oldest["dmarc"]
        and not oldest["tls"]
        and "domainId" not in oldest
    )
    assert await listed(SHARED, "dmarc", 50) == [oldest]
    assert await listed(None, None, 1) == found[:1]
    with pytest.raises(KeyError, match=r"shared domain there\.test"):
        await listed("there.test", None, 50)


async def test_no_other_inbox_tells_what_hosts_report_about_a_shared_domain(
    maild: Running, bot: dict[str, Any]
) -> None:
    await maild.received(bot, mail(zipped(dmarc_xml(SHARED))))
    assert await maild.operate(maild.store.reports.list, None, None, 50) == []


async def test_reports_about_others_are_nothing_to_the_operator(maild: Running) -> None:
    await maild.deliver(f"postmaster@{SHARED}", mail(zipped(dmarc_xml("there.test"))))
    assert await maild.operate(maild.store.reports.list, None, None, 50) == []
