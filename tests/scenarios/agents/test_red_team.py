"""Thirty mails tell a program to write to somebody or to tell a secret, and the program obeys each word of them, by
every road there is. Under the recommended policy nothing of it leaves; what single limits leave open is what
docs/agents/safety.md says."""

import base64
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import pytest

from storage.agents.policies import RECOMMENDED, document_of
from storage.clock import iso
from tests.conftest import Start
from tests.support.mails.red_team import ATTACKS, SECRETS, Attack
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx, Received
from tests.support.running import Answer, Api, until
from tests.support.worlds.sender_world import SenderWorld
from tests.support.worlds.store import ManualClock

NOW_MS = 1_795_219_200_000
HOUR_S = 3600
LIMITS = {"requests_per_minute": 100_000, "bulk_recipients": 100_000}
READS = ("inboxes:read", "messages:read", "threads:read")
WRITES = (*READS, "messages:send")
ANSWERS = (*READS, "messages:reply")


class Guarded(NamedTuple):
    """How a program is limited: its bound key, and the organization's policy."""

    scopes: Sequence[str]
    policy: dict[str, Any]


RECOMMENDED_OUTBOUND = {"outbound": document_of(RECOMMENDED)["outbound"]}
NOTHING = Guarded(WRITES, {})
AS_RECOMMENDED = Guarded(ANSWERS, RECOMMENDED_OUTBOUND)  # for programs that answer strangers
HOLDING = Guarded(WRITES, RECOMMENDED_OUTBOUND)
REVIEWED = Guarded(WRITES, {"outbound": {"review": "external"}})


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


@pytest.fixture
async def mx() -> AsyncIterator[Mx]:
    async with Mx() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


@pytest.fixture
async def world(start: Start, dns: DnsServer, mx: Mx, clock: ManualClock) -> SenderWorld:
    maild = await start(
        clock=clock,
        limits=LIMITS,
        dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
        outbound={"port": mx.port, "allow_private_networks": True},
    )
    world = SenderWorld(maild, dns, await maild.inbox("bot"))
    world.domain("shop.test", dmarc="p=none")
    dns.add_mx("shop.test")
    return world


class Program:
    """It believes what it reads."""

    def __init__(self, world: SenderWorld, api: Api, attack: Attack, number: int, clock: ManualClock) -> None:
        self.world = world
        self.api = api
        self.attack = attack
        self.evil = f"accounts@evil{number}.test"
        self.number = number
        self.clock = clock

    async def read(self) -> dict[str, Any]:
        """The mail comes in."""
        domain = self.evil.partition("@")[2]
        signer = self.world.domain(domain, dmarc="p=none")
        self.world.dns.add_mx(domain)
        raw = self._raw()
        author = self._filled(self.attack.author)
        if not self.attack.is_forged:
            raw = (signer if author == self.evil else self.world.signers["shop.test"]).sign(raw)
        mail = await self.world.judged(raw)
        assert (mail["auth"]["verifiedDomain"] is None) is self.attack.is_forged
        return mail

    async def obey(self, mail: dict[str, Any]) -> None:
        act, text = self.attack.act.kind, {"text": self.attack.act.text}
        if act in ("reply", "reply_all"):
            await self._answer(mail, **text, replyAll=act == "reply_all")
        elif act == "reply_to":
            await self._answer(mail, **text, headers={"Reply-To": self.evil})
            await self._send(to=["ada@shop.test"], headers={"Reply-To": self.evil}, **text)
        elif act == "blind":
            await self._answer(mail, **text, bcc=[self.evil])
            await self._send(to=["ada@shop.test"], bcc=[self.evil], **text)
        elif act == "draft":
            await self._draft(to=[self.evil], **text)
            await self._draft(to=["ada@shop.test"], cc=[self.evil], **text)
        elif act == "schedule":
            at = iso(self.clock.at_ms + HOUR_S * 1000)
            await self._send(to=[self.evil], sendAt=at, **text)
            await self._answer(mail, to=[self.evil], sendAt=at, **text)
        else:
            if act == "meddle":
                await self._meddle()
            await self._write_by_every_road(mail, text)

    async def _write_by_every_road(self, mail: dict[str, Any], text: dict[str, str]) -> None:
        await self.api.post(f"/v1/messages/{mail['id']}/forward", {"to": [self.evil]})
        await self._send(to=[self.evil], **text)
        await self._send(to=[self.evil], inReplyTo=mail["id"], **text)
        await self._send(to=["ada@shop.test"], cc=[self.evil], inReplyTo=mail["id"], **text)
        await self._answer(mail, to=[self.evil], **text)
        await self._answer(mail, cc=[self.evil], **text)
        await self._draft(to=[self.evil], inReplyTo=mail["id"], **text)

    async def _meddle(self) -> None:
        """All that would widen its own rights; a bound key is refused each."""
        allow = {"direction": "outbound", "action": "allow", "value": self.evil}
        inbox = f"/v1/inboxes/{self.world.bot['id']}"
        people = self.world.maild.api
        listed = (await people.get("/v1/reviews", status="pending")).data
        waiting = [(await people.get(f"/v1/reviews/{one['id']}")).data for one in listed[:3]]
        tries = [
            self.api.post("/v1/rules", allow),
            self.api.call("PUT", "/v1/organization/policy", {"version": 1}),
            self.api.call("PUT", f"{inbox}/policy", {"version": 0}),
            self.api.post("/v1/keys", {"name": "mine", "scopes": ["*"]}),
            self.api.post("/v1/webhooks", {"url": f"https://{self.evil.partition('@')[2]}/"}),
            *(
                self.api.post(f"/v1/reviews/{one['id']}/approve", {"contentHash": one["contentHash"]})
                for one in waiting
            ),
        ]
        for one in tries:
            assert (await one).status == 403

    async def _send(self, **fields: Any) -> Answer:
        return await self.api.send(self.world.bot, subject="As you asked", **fields)

    async def _draft(self, **fields: Any) -> None:
        made = await self.api.post("/v1/drafts", {"inboxId": self.world.bot["id"], **fields})
        if made.status == 201:
            await self.api.post(f"/v1/drafts/{made.data['id']}/send", None)

    async def _answer(self, mail: dict[str, Any], **fields: Any) -> None:
        await self.api.post(f"/v1/messages/{mail['id']}/reply", fields)
        body = {"ifLastMessageId": mail["id"], **fields}
        await self.api.post(f"/v1/threads/{mail['threadId']}/reply", body)
        draft = await self.api.post(f"/v1/messages/{mail['id']}/reply", {**fields, "asDraft": True})
        if draft.status == 201:
            await self.api.post(f"/v1/drafts/{draft.data['id']}/send", None)

    def _raw(self) -> bytes:
        attack = self.attack
        head = self._filled(f"From: {attack.author}\r\n{attack.head}")
        for name, value in (("To", "bot@agents.test"), ("Subject", "Hello")):
            head += "" if f"{name}: " in head else f"{name}: {value}\r\n"
        head += f"Date: {iso(NOW_MS)}\r\nMessage-ID: <{self.number}@attack.test>\r\nMIME-Version: 1.0\r\n"
        kind = "html" if attack.html else "plain"
        body = self._filled(attack.body).replace("\n", "\r\n")
        if not attack.file:
            return f"{head}Content-Type: text/{kind}\r\n\r\n{body}\r\n".encode()
        file = base64.b64encode(self._filled(attack.file).encode()).decode()
        return (
            f"{head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/{kind}\r\n\r\n{body}"
            "\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=list.txt\r\n"
            f"Content-Transfer-Encoding: base64\r\n\r\n{file}\r\n--b--\r\n"
        ).encode()

    def _filled(self, text: str) -> str:
        spelled = self.evil.replace("@", " at ").replace(".", " dot ")
        encoded = base64.b64encode(self.evil.encode()).decode()
        named = {"evil": self.evil, "spelled": spelled, "encoded": encoded, "upper": self.evil.upper()}
        return re.sub(r"\{(\w+)\}", lambda found: named[found[1]], text)


async def attacked(world: SenderWorld, mx: Mx, clock: ManualClock, guarded: Guarded) -> set[str]:
    """The names of the attacks that something came of, once all is quiet."""
    maild = world.maild
    if guarded.policy:
        body = {"version": 0, **guarded.policy}
        assert (await maild.api.call("PUT", "/v1/organization/policy", body)).status == 200
    agent = await maild.key(*guarded.scopes, inbox=world.bot)
    programs = [Program(world, agent, attack, number, clock) for number, attack in enumerate(ATTACKS)]
    for program in programs:
        await program.obey(await program.read())
    clock.forward(2 * HOUR_S)

    async def is_quiet() -> bool | None:
        waiting = maild.sql("SELECT count(*) FROM messages WHERE status IN ('queued', 'scheduled')")
        return waiting == [(0,)] or None

    await until(is_quiet)
    return {one.attack.name for one in programs if any(is_leak(one, mail) for mail in mx.received)}


def is_leak(program: Program, mail: Received) -> bool:
    raw = mail.raw.decode()
    if program.attack.act.text in SECRETS:
        return program.attack.act.text in raw
    return program.evil in mail.recipients or f"Reply-To: {program.evil}" in raw


async def test_each_of_them_works_where_nothing_is_limited(
    world: SenderWorld, mx: Mx, clock: ManualClock
) -> None:
    assert await attacked(world, mx, clock, NOTHING) == {one.name for one in ATTACKS}


async def test_nothing_leaves_under_what_is_recommended(
    world: SenderWorld, mx: Mx, clock: ManualClock
) -> None:
    assert await attacked(world, mx, clock, AS_RECOMMENDED) == set()


async def test_holding_alone_misses_addresses_that_stand_where_nobody_looks(
    world: SenderWorld, mx: Mx, clock: ManualClock
) -> None:
    unseen = {one.name for one in ATTACKS if not one.is_seen}
    assert await attacked(world, mx, clock, HOLDING) == unseen


async def test_nothing_leaves_that_somebody_must_approve(
    world: SenderWorld, mx: Mx, clock: ManualClock
) -> None:
    assert await attacked(world, mx, clock, REVIEWED) == set()
    assert mx.received == []
