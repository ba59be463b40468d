"""An inbox is deleted, or a key revoked with its mail, of which more waits than one transaction withdraws: the answer
comes at once, none of the mail leaves from then on, and what waits fails behind it, whoever is killed meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storage import usage
from storage.clock import DAY_MS, Clock, day_of, iso, month_of
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.mail import inboxes, messages, withdrawal
from storage.tenants import keys
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, Template, until
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import DOMAIN, ORGANIZATION

WAITING = 6
KEY = "key_1"


class Closing:
    """A daemon whose queued and scheduled mail waits, and which withdraws nothing behind a commit before `go_on`.
    `end`: the request that ends its sender, `reason`: why its mail fails."""

    def __init__(self, maild: Running, mx: Mx) -> None:
        self.maild, self.mx = maild, mx
        self.sent: list[str] = []

    async def begin(self, is_key: bool) -> None:
        await self.maild.daemon.withdrawer.stop()
        self.later = iso(Clock().now_ms() + DAY_MS)
        self.bot = await self.maild.inbox("bot")
        key = (await self.maild.api.post("/v1/keys", {"name": "sender", "scopes": ["*"]})).data
        sender = self.maild.api.with_key(key["apiKey"])
        self.end, self.reason = ("DELETE", f"/v1/inboxes/{self.bot['id']}"), "inbox_not_found"
        if is_key:
            self.end = ("POST", f"/v1/keys/{key['id']}/revoke-with-mail")
            self.reason = "invalid_api_key"
        self.mx.script["RCPT"] = ["450 4.2.1 later"] * WAITING
        for number in range(WAITING):
            later: dict[str, Any] = {"sendAt": self.later} if number % 3 == 2 else {}
            answer = await sender.send(self.bot, to=[f"{number}@there.test"], **later)
            self.sent.append(answer.data["id"])
        deferred = "SELECT 1 FROM recipients WHERE status = 'deferred' AND lease IS NULL"
        await self._until_rows(deferred, WAITING - WAITING // 3)

    async def end_sender(self) -> None:
        assert (await self.maild.api.call(*self.end)).status == 200
        assert await self.statuses() <= {"queued", "scheduled"}

    async def come_due(self) -> None:
        """What is queued is looked at by the queue, and what is scheduled waits on."""
        self.maild.sql("UPDATE recipients SET next_attempt_at = 0 WHERE status = 'deferred'")
        for service in self.maild.daemon._supervisor._services:
            if service.name == "outbound queue":
                service.wake()  # type: ignore[attr-defined]
        await self._until_rows("SELECT 1 FROM recipients WHERE lease IS NOT NULL OR next_attempt_at = 0", 0)

    async def attempts(self) -> set[int]:
        found = [(await self.maild.api.get(f"/v1/messages/{one}")).data for one in self.sent]
        return {recipient["attempts"] for one in found for recipient in one["recipients"]}

    async def statuses(self) -> set[str]:
        found = [(await self.maild.api.get(f"/v1/messages/{one}")).data for one in self.sent]
        return {one["status"] for one in found}

    async def until_withdrawn(self, maild: Running) -> None:
        await maild.until_withdrawn()
        outcomes = maild.sql("SELECT DISTINCT status, failure_reason FROM messages")
        assert outcomes == [("failed", self.reason)]
        assert maild.sql("SELECT DISTINCT attempts FROM recipients") == [(1,)]
        told = (await maild.api.get("/v1/events", types="email.failed", limit="100")).data
        assert sorted(one["data"]["messageId"] for one in told) == sorted(self.sent)
        assert self.mx.received == []

    async def _until_rows(self, query: str, count: int) -> None:
        async def look() -> bool | None:
            return len(self.maild.sql(query)) == count or None

        await until(look)


@pytest.fixture(params=["inbox", "key"])
async def closing(
    request: pytest.FixtureRequest, start: Start, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Closing]:
    monkeypatch.setattr(withdrawal, "FEW", 2)
    monkeypatch.setattr(withdrawal, "SLICE_S", 0)
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("there.test")
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, "first_retry_s": 3600},
        )
        closing = Closing(maild, mx)
        await closing.begin(is_key=request.param == "key")
        yield closing


async def test_nothing_leaves_between_the_answer_and_what_is_withdrawn_behind_it(closing: Closing) -> None:
    await closing.end_sender()
    tried = await closing.attempts()
    await closing.come_due()
    assert closing.mx.received == []
    assert await closing.attempts() == tried
    again = await closing.maild.api.call(*closing.end)
    if closing.reason == "inbox_not_found":
        assert (again.status, again.code) == (404, "inbox_not_found")
    else:
        assert again.data["withdrawnMessages"] == WAITING
    await closing.maild.daemon.withdrawer.start()
    await closing.until_withdrawn(closing.maild)


async def test_what_a_kill_leaves_is_withdrawn_at_the_next_start(
    closing: Closing, template: Template, tmp_path: Path
) -> None:
    await closing.end_sender()
    await closing.come_due()
    folder = closing.maild.settings.data_path
    survivor = await Running.start(replace(template, folder=folder), tmp_path / "next")
    try:
        await closing.until_withdrawn(survivor)
    finally:
        await survivor.stop()


async def test_a_host_that_is_still_to_be_told_of_the_message_hears_nothing(tmp_path: Path) -> None:
    """It was connected to when the inbox was closed."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["greeting"] = asyncio.Event()
        store = sending.store
        message_id = await sending.send("you@there.test")
        await sending.queue.start()
        await sending.mx.until("greeting")
        message = await store.message(message_id)
        await store.db.write(
            inboxes.deactivate, message.organization_id, message.inbox_id, store.ids.new, store.clock.now_ms()
        )
        sending.mx.hold["greeting"].set()
        await sending.queue.stop()
        assert "MAIL" not in sending.mx.stages
        (recipient,) = await store.recipients(message_id)
        assert (recipient.status, recipient.response) == ("failed", "the sending inbox was deactivated")


async def test_nor_does_it_when_a_command_beside_the_daemon_has_revoked_the_key(tmp_path: Path) -> None:
    """Nobody tells the daemon of that."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["greeting"] = asyncio.Event()
        store = sending.store
        message_id = await sending.send("you@there.test")
        await store.db.write(give_key, message_id)
        await sending.queue.start()
        await sending.mx.until("greeting")
        with migrate.transaction(store.db.path) as tx:
            withdrawal.close_keys(tx, ORGANIZATION, [KEY])
        sending.mx.hold["greeting"].set()
        await sending.queue.stop()
        assert "MAIL" not in sending.mx.stages
        (recipient,) = await store.recipients(message_id)
        assert (recipient.status, recipient.attempts) == ("queued", 0)


def give_key(tx: Tx, message_id: str) -> None:
    """Let the key have sent the message."""
    keys.create(tx, KEY, "svc_live_1", 0, organization_id=ORGANIZATION, name="k", scopes=["*"], mode="live")
    tx.run("UPDATE messages SET submitted_by = ? WHERE id = ?", (KEY, message_id))


async def test_nor_does_it_of_a_message_that_was_deleted(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["greeting"] = asyncio.Event()
        store = sending.store
        message = await store.message(await sending.send("you@there.test", "they@there.test"))
        await sending.queue.start()
        await sending.mx.until("greeting")
        await store.db.write(messages.delete, message)
        sending.mx.hold["greeting"].set()
        await sending.queue.stop()
        assert "MAIL" not in sending.mx.stages


async def test_nor_does_it_when_the_senders_domain_was_deleted(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["greeting"] = asyncio.Event()
        is_theirs = True

        async def may_send(organization_id: str, domain: str) -> bool:
            return is_theirs

        sending._may_send = may_send  # type: ignore[method-assign]
        sending.queue = sending.make_queue()
        await sending.store.send("you@there.test")
        await sending.queue.start()
        await sending.mx.until("greeting")
        is_theirs = False
        sending.mx.hold["greeting"].set()
        await sending.queue.stop()
        assert "MAIL" not in sending.mx.stages


@pytest.mark.parametrize("recipients", [["you@there.test"], ["you@there.test", "they@there.test"]])
async def test_what_a_host_was_being_told_meanwhile_is_shown_as_an_attempt(
    tmp_path: Path, recipients: list[str]
) -> None:
    """It may have arrived, and whoever closed the inbox wants to know of it."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold["dot"] = asyncio.Event()
        store = sending.store
        message_id = await sending.send(*recipients)
        await sending.queue.start()
        await sending.mx.until("dot")
        message = await store.message(message_id)
        await store.db.write(
            inboxes.deactivate, message.organization_id, message.inbox_id, store.ids.new, store.clock.now_ms()
        )
        sending.mx.hold["dot"].set()
        await sending.queue.stop()
        assert len(sending.mx.received) == 1
        told = [(one.status, one.attempts, one.last_attempt_at) for one in await store.recipients(message_id)]
        assert told == [("failed", 1, store.clock.now_ms())] * len(recipients)
        assert await store.attempts(message_id) == ["delivered"] * len(recipients)


@pytest.mark.parametrize(("stage", "counted"), [("dot", 1), ("greeting", 0)])
async def test_what_a_host_was_being_told_meanwhile_counts(tmp_path: Path, stage: str, counted: int) -> None:
    """Else whoever closes the inbox in that moment sends as much as they like."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.hold[stage] = asyncio.Event()
        store, now_ms = sending.store, sending.store.clock.now_ms()
        periods = day_of(now_ms), month_of(now_ms)
        message = await store.message(await sending.send("you@there.test", "they@there.test"))
        await store.db.write(usage.add_message, message.organization_id, periods, DOMAIN)
        await sending.queue.start()
        await sending.mx.until(stage)
        await store.db.write(
            inboxes.deactivate, message.organization_id, message.inbox_id, store.ids.new, now_ms
        )
        sending.mx.hold[stage].set()
        await sending.queue.stop()
        assert len(sending.mx.received) == counted
        for period, scope in (*((one, "") for one in periods), (periods[0], DOMAIN)):
            found = await store.db.read(usage.get, message.organization_id, period, "messages", scope)
            assert found == counted


async def test_mail_for_inboxes_here_does_not_arrive_once_its_own_is_closed(tmp_path: Path) -> None:
    """It was being prepared at that moment."""
    async with Sending(tmp_path) as sending:
        sending.local_domains = {"here.test"}
        store = sending.store
        prepared, prepare = asyncio.Event(), sending._prepare_local

        async def close_first(mail: Any) -> Any:
            await store.db.write(lambda tx: tx.run("UPDATE inboxes SET is_active = 0, withdraws_mail = 1"))
            prepared.set()
            return await prepare(mail)

        sending._prepare_local = close_first  # type: ignore[method-assign]
        sending.queue = sending.make_queue()
        message_id = await store.send("you@here.test")
        await sending.queue.start()
        await prepared.wait()
        await sending.queue.stop()
        (recipient,) = await store.recipients(message_id)
        assert recipient.status == "queued"


async def test_what_another_host_had_said_before_is_shown_as_an_attempt(tmp_path: Path) -> None:
    """It was told of the message, and this one is not."""
    async with Sending(tmp_path) as sending, await Mx().start("127.0.0.2", sending.mx.port) as second:
        sending.dns.add_mx("there.test")
        sending.dns.add_mx("there.test", host="second.there.test", address="127.0.0.2", preference=20)
        sending.mx.always["MAIL"] = "451 4.3.2 busy"
        second.hold["greeting"] = asyncio.Event()
        store = sending.store
        message_id = await sending.send("you@there.test")
        await sending.queue.start()
        await second.until("greeting")
        message = await store.message(message_id)
        await store.db.write(
            inboxes.deactivate, message.organization_id, message.inbox_id, store.ids.new, store.clock.now_ms()
        )
        second.hold["greeting"].set()
        await sending.queue.stop()
        assert "MAIL" not in second.stages
        (recipient,) = await store.recipients(message_id)
        assert (recipient.status, recipient.attempts) == ("failed", 1)
        assert await store.attempts(message_id) == ["deferred"]
