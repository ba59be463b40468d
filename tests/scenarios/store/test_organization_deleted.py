"""An operator deletes an organization: nothing of it is left, and nothing of anybody else is lost."""

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from maild.commands import org_deletion
from maild.commands.org_deletion import DeletionRefused
from maild.message.unsubscribe import Grant, make
from storage.clock import Clock
from storage.data_folder import DataFolder, DataFolderError
from storage.tenants import erasure
from storage.tenants.erasure import ErasedSlice
from storage.upkeep import integrity
from storage.upkeep.erasing import Eraser, ErasingPace
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until_true
from tests.support.worlds.tenant import DOMAIN, MARK, USERNAME, Tenant, make_tenant

IDS = re.compile(
    r"\b(?:org|inb|msg|thd|drf|key|agt|whk|evt|att|rev|clm|rul|sup|mem|ses|dom|blb|wha)_[0-9a-z]{26}\b"
)
FOR_THEIR_TIME = {"audit", "audit_waiting", "unheard_replies"}


class Killed(Exception):
    pass


@pytest.fixture
async def maild(start: Start) -> Running:
    return await start(webhooks={"allow_private_networks": True})


@pytest.fixture
async def tenant(maild: Running) -> Tenant:
    return await make_tenant(maild)


def rows(database: Path) -> Iterator[tuple[str, str]]:
    """(table, row as text) of all tables of a database, FTS5's own too."""
    conn = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        names = conn.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'trigrams'"
        ).fetchall()
        for (name,) in names:
            for row in conn.execute(f"SELECT * FROM {name}"):
                yield name, repr(row)
    finally:
        conn.close()


def of_it(maild: Running, organization_id: str) -> set[str]:
    """The ids in rows that name the organization, or an inbox of it."""
    database = maild.settings.data_path / "maild.sqlite3"
    inboxes = maild.sql("SELECT id FROM inboxes WHERE organization_id = ?", organization_id)
    own = {organization_id, *(inbox_id for (inbox_id,) in inboxes)}
    return {one for _, row in rows(database) for one in IDS.findall(row) if any(name in row for name in own)}


def traces(maild: Running, needles: set[str]) -> list[tuple[str, str]]:
    folder = maild.settings.data_path
    found = []
    for database in ("maild.sqlite3", "search.sqlite3"):
        for table, row in rows(folder / database):
            if table not in FOR_THEIR_TIME:
                found += [(table, needle) for needle in needles if needle in row]
    for file in (folder / "blobs").glob("*/*"):
        content = file.read_bytes()
        found += [("blobs", needle) for needle in needles if needle.encode() in content]
    return found


def faults(maild: Running) -> list[Any]:
    with integrity.opened(maild.settings.data_path / "maild.sqlite3") as store:
        return store.rows()


async def delete(maild: Running, organization_id: str) -> dict[str, Any]:
    return await maild.operate(maild.store.deletion.delete, organization_id, lambda _: None)


async def close(maild: Running, organization_id: str) -> None:
    """As a command that was killed behind its first commit, beside a daemon that was killed with it."""
    await maild.daemon.eraser.stop()
    now_ms = Clock().now_ms()
    unit = partial(erasure.begin, organization_id=organization_id, now_ms=now_ms, records=maild.store._audit)
    assert await maild.operate(maild.store._write, unit)


async def has_gone_from_the_index(maild: Running) -> None:
    await until_true(lambda: not maild.sql("SELECT 1 FROM search_gone"))


async def refused(maild: Running, address: str) -> str:
    talk = await maild.smtp()
    for command in ("EHLO client.elsewhere.test", "MAIL FROM:<friend@elsewhere.test>"):
        assert (await talk.say(command)).startswith("250")
    return await talk.say(f"RCPT TO:<{address}>")


async def test_nothing_of_it_is_left(maild: Running, tenant: Tenant) -> None:
    needles = of_it(maild, tenant.id) - of_it(maild, maild.organization_id) | {MARK}
    told = await maild.operate(maild.store.deletion.look, tenant.id)
    assert len(traces(maild, needles)) > 50
    empty = {kind for kind, count in told["content"].items() if not count}
    assert empty <= {
        "eventsGone",
        "reviewDigests",
        "webhookAttempts",
        "searchTail",
        "rateWindows",
        "domainReports",
    }
    done = await delete(maild, tenant.id)
    assert done["erased"]["messages"] == told["content"]["messages"]
    assert done["erased"]["bytes"] == told["content"]["bytes"]
    assert traces(maild, needles) == []
    assert faults(maild) == []


async def test_others_lose_nothing(maild: Running, tenant: Tenant) -> None:
    raws = {one["id"]: await maild.raw(one["id"]) for one in tenant.kept}
    suppressed = (await maild.api.post("/v1/suppressions", {"email": tenant.inbox["address"]})).data
    await delete(maild, tenant.id)
    assert await maild.api.messages(inboxId=tenant.theirs["id"]) == tenant.kept
    assert {one["id"]: await maild.raw(one["id"]) for one in tenant.kept} == raws
    assert max(map(len, raws.values())) > 200_000  # a file, which both had
    assert (await maild.api.get("/v1/suppressions")).data == [suppressed]
    (found,) = (await maild.api.get("/v1/messages", q="of theirs")).data
    assert (await maild.api.get(f"/v1/threads/{found['threadId']}")).status == 200
    assert (await maild.deliver(tenant.theirs["address"], "Subject: goes on\n\n")).startswith("250 ")


@pytest.mark.parametrize("refs", [0, 1, 7])
async def test_what_messages_show_is_what_counts_whatever_was_counted(
    maild: Running, tenant: Tenant, refs: int
) -> None:
    """A count that is wrong neither stops it, nor leaves a message that nobody shows, nor takes one that others do."""
    raws = {one["id"]: await maild.raw(one["id"]) for one in tenant.kept}
    needles = of_it(maild, tenant.id) - of_it(maild, maild.organization_id) | {MARK}
    maild.sql("UPDATE blobs SET refs = ?", refs)
    await delete(maild, tenant.id)
    assert traces(maild, needles) == []
    assert {one["id"]: await maild.raw(one["id"]) for one in tenant.kept} == raws


async def test_it_is_closed_for_everything_before_anything_has_gone(maild: Running, tenant: Tenant) -> None:
    await close(maild, tenant.id)
    for api in (tenant.organization.api, tenant.organization.test_api):
        answer = await api.get("/v1/messages")
        assert (answer.status, answer.code) == (401, "invalid_api_key")
    (token, inbox_id), *_ = maild.sql(
        "SELECT bounce_token, inbox_id FROM messages WHERE organization_id = ? AND bounce_token <> ''",
        tenant.id,
    )
    ((domain,),) = maild.sql("SELECT domain FROM inboxes WHERE id = ?", inbox_id)
    for address in (tenant.inbox["address"], tenant.holding["address"], f"b+{token}@{domain}"):
        assert (await refused(maild, address)).startswith("550 5.1.1 ")
    for table in ("console_sessions", "console_links", "members"):
        assert not maild.sql(f"SELECT 1 FROM {table} WHERE organization_id = ?", tenant.id)
    assert maild.sql("SELECT count(*) FROM messages WHERE organization_id = ?", tenant.id) > [(3,)]
    for command, arguments in (
        (maild.store.keys.create, (tenant.id, "new", ["*"], None, "live")),
        (maild.store.members.add, (tenant.id, "a@b.test", "owner", None)),
        (maild.store.organizations.show, (tenant.id,)),
    ):
        with pytest.raises(KeyError):
            await maild.operate(command, *arguments)
    assert faults(maild) == []


async def test_whoever_is_killed_after_any_step_it_goes_on(
    maild: Running, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    needles = of_it(maild, tenant.id) - of_it(maild, maild.organization_id) | {MARK}
    await close(maild, tenant.id)
    work = Eraser._slice

    async def killed_behind(self: Eraser, *unit: Any) -> ErasedSlice:
        done = await work(self, *unit)
        if done.rows:
            raise Killed
        return done

    monkeypatch.setattr(Eraser, "_slice", killed_behind)
    maild.daemon.eraser._pace = ErasingPace(rows=1, slice_s=0, rest=0, quiet_rest=0)
    kills = 0
    while maild.sql("SELECT 1 FROM organizations WHERE id = ?", tenant.id):
        try:
            await maild.daemon.eraser.erase(tenant.id)
        except Killed:
            kills += 1
            assert faults(maild) == [] or kills % 5
    assert kills > 40
    await has_gone_from_the_index(maild)
    assert traces(maild, needles) == []


async def test_a_daemon_that_starts_does_the_rest(maild: Running, tenant: Tenant) -> None:
    await close(maild, tenant.id)
    await maild.daemon.eraser.start()
    await until_true(lambda: not maild.sql("SELECT 1 FROM organizations WHERE id = ?", tenant.id))


async def test_a_command_that_saw_a_daemon_does_not_take_its_place(
    maild: Running, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lock would refuse the daemon's next start, and with that all mail until everything is gone."""
    await close(maild, tenant.id)
    now, clock = [0.0], Clock()
    clock.monotonic = lambda: now[0]
    ended_at = 2 * org_deletion.DAEMON_LOOK_S + 1
    folder = DataFolder(maild.settings.data_path)
    locks: list[float] = []

    def lock() -> None:
        locks.append(now[0])
        if now[0] < ended_at:
            raise DataFolderError("a daemon runs")

    def rested(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(folder, "lock", lock)
    monkeypatch.setattr(org_deletion, "rest", rested)
    command = maild.store.deletion
    monkeypatch.setattr(command, "_folder", folder)
    monkeypatch.setattr(command, "_clock", clock)
    with pytest.raises(DeletionRefused, match="it goes on when it starts"):
        await maild.operate(command.delete, tenant.id, lambda _: None)
    assert len(locks) == 5  # three beside the daemon, two without
    assert maild.sql("SELECT count(*) FROM organizations WHERE id = ?", tenant.id) == [(1,)]


async def test_the_number_of_the_last_event_never_comes_again(maild: Running, tenant: Tenant) -> None:
    """Others read on behind it, also after their own events have gone by their age."""
    await maild.received(tenant.inbox, "From: a@elsewhere.test\nSubject: last\n\n", tenant.organization.api)
    ((last, owner),) = maild.sql("SELECT seq, organization_id FROM events ORDER BY seq DESC LIMIT 1")
    assert owner == tenant.id
    told = (await maild.api.get("/v1/events")).data
    await delete(maild, tenant.id)
    assert (await maild.api.get("/v1/events")).data == told
    await maild.received(tenant.theirs, "From: a@elsewhere.test\nSubject: next\n\n")
    ((next_one, owner),) = maild.sql("SELECT seq, organization_id FROM events ORDER BY seq DESC LIMIT 1")
    assert (next_one, owner) == (last + 1, maild.organization_id)


async def test_its_domain_is_free_and_its_shared_names_rest(maild: Running, tenant: Tenant) -> None:
    before = maild.sql("SELECT selector, public_key FROM dkim_keys WHERE domain_name = ?", DOMAIN)
    maild.sql("UPDATE domains SET status = 'verified' WHERE domain_name = ?", DOMAIN)
    own = await maild.inbox("own", tenant.organization.api, domain=DOMAIN)
    await delete(maild, tenant.id)
    for address in (tenant.inbox["address"], own["address"], f"postmaster@{DOMAIN}"):
        assert (await refused(maild, address)).startswith("550 5."), address
    domain = await maild.api.post("/v1/domains", {"domainName": DOMAIN})
    assert domain.status == 201
    after = maild.sql("SELECT selector, public_key FROM dkim_keys WHERE domain_name = ?", DOMAIN)
    assert len(after) == len(before) and not {*after} & {*before}
    maild.sql("UPDATE domains SET status = 'verified' WHERE domain_name = ?", DOMAIN)
    await maild.inbox("own", domain=DOMAIN)
    answer = await maild.api.post("/v1/inboxes", {"username": USERNAME})
    assert (answer.status, answer.code) == (409, "address_in_cooldown")


async def test_a_name_that_another_one_registered_too_keeps_its_keys(maild: Running, tenant: Tenant) -> None:
    assert (await maild.api.post("/v1/domains", {"domainName": DOMAIN})).status == 201
    keys = maild.sql("SELECT * FROM dkim_keys WHERE domain_name = ?", DOMAIN)
    await delete(maild, tenant.id)
    assert maild.sql("SELECT * FROM dkim_keys WHERE domain_name = ?", DOMAIN) == keys


async def test_the_operators_own_is_refused(maild: Running) -> None:
    with pytest.raises(DeletionRefused, match="the operator's own"):
        await delete(maild, maild.organization_id)
    assert (await maild.api.get("/v1/organization")).status == 200


async def test_who_is_written_to_can_still_say_no(maild: Running, tenant: Tenant) -> None:
    """A link in a mail outlives who sent it."""
    grant = Grant(tenant.id, tenant.inbox["id"], f"msg_{'0' * 26}", "reader@elsewhere.test", 4_000_000_000)
    token = make(maild.server_secret("unsubscribe"), grant)
    await delete(maild, tenant.id)
    answer = await maild.api.with_key(None).call(
        "POST",
        f"/v1/unsubscribe?token={token}",
        data=b"List-Unsubscribe=One-Click",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status == 200


async def test_the_operators_log_says_that_it_was(maild: Running, tenant: Tenant) -> None:
    done = await delete(maild, tenant.id)
    rows = [one for one in (await maild.api.get("/v1/audit")).data if one["subject"] == tenant.id]
    assert [(one["type"], one["actor"]) for one in rows] == [
        ("organization.closed", "operator"),
        ("organization.deleted", "operator"),
    ]
    assert rows[1]["details"] == done["erased"]
    assert maild.sql(
        "SELECT type FROM audit WHERE organization_id = ? ORDER BY seq DESC LIMIT 1", tenant.id
    ) == [("organization.closed",)]
    verified = await maild.operate(maild.store.verify_audit, None, tenant.id, None)
    assert verified["ok"], verified


async def test_what_is_on_its_way_ends_before_the_organization_is_gone(start: Start) -> None:
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        mx.hold["dot"] = asyncio.Event()
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        )
        organization = await maild.organization()
        inbox = await maild.inbox("leaver", organization.api)
        for number in range(20):
            await organization.api.send(inbox, to=[f"a{number}@elsewhere.test"])
        await mx.until("dot")
        deleting = asyncio.create_task(delete(maild, organization.id))
        await until_true(
            lambda: not maild.sql("SELECT 1 FROM threads WHERE organization_id = ?", organization.id)
        )
        assert maild.sql("SELECT 1 FROM organizations WHERE id = ?", organization.id)
        begun = mx.stages["dot"]
        mx.hold["dot"].set()
        await deleting
        assert len(mx.received) == begun < 20
