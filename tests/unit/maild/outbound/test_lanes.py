"""Who has more for a host goes on with it, message after message, as long as that is fair and works."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from maild.outbound.delivery import Lane
from maild.outbound.routing.route import Hop, Router
from maild.outbound.sessions.attempt_record import HostRecord
from maild.outbound.sessions.connections import Connections
from maild.outbound.sessions.tls_policy import TlsPolicies
from tests.support.worlds.sending import Sending


def record(hop: Hop) -> HostRecord:
    return HostRecord(hop, lambda: 0.0)


@pytest.fixture
def routed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The domains that the router was asked for."""
    asked: list[str] = []
    hops = Router.hops

    def counting(self: Router, domain: str, *others: Any) -> Any:
        asked.append(domain)
        return hops(self, domain, *others)

    monkeypatch.setattr(Router, "hops", counting)
    return asked


async def test_a_line_of_messages_is_routed_once(tmp_path: Path, routed: list[str]) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test")
        sent = [await sending.store.send(f"u{number}@there.test") for number in range(10)]
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        assert sending.mx.connections == 1
        assert len(routed) == 2  # the first message, which shows that the host answers, gives its place back


async def test_a_session_ends_after_so_many_messages_all_the_same(tmp_path: Path, routed: list[str]) -> None:
    pace = {"there": {"domains": ["there.test"], "messages_per_connection": 4, "max_connections": 1}}
    async with Sending(tmp_path, outbound={"pace": pace}) as sending:
        sending.dns.add_mx("there.test")
        sent = [await sending.store.send(f"u{number}@there.test") for number in range(12)]
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        assert sending.mx.connections == 3
        assert len(routed) == 4


async def test_a_host_that_refuses_in_between_is_asked_once_and_then_the_next(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.script["MAIL"] = ["250 ok", "250 ok", "451 4.3.2 busy"]
        sent = [await sending.store.send(f"u{number}@there.test") for number in range(3)]
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        hosts = [(await sending.store.recipients(one))[0].remote_host for one in sent]
        assert hosts == ["one.there.test", "one.there.test", "two.there.test"]
        assert sum(command.startswith("MAIL") for command in sending.mx.commands) == 4


async def test_a_session_that_dies_in_between_costs_nothing_but_a_new_one(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.script["MAIL"] = ["250 ok", "250 ok", "421 4.4.2 that was enough"]
        sent = [await sending.store.send(f"u{number}@there.test") for number in range(4)]
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
            assert await sending.store.attempts(message_id) == ["delivered"]
        assert sending.mx.connections == 2


@pytest.mark.parametrize("limit", ["max_connections", "max_connections_per_destination"])
async def test_a_place_that_another_waits_for_is_given_back(tmp_path: Path, limit: str) -> None:
    async with Sending(tmp_path, outbound={limit: 2}) as sending:
        pool = Connections(sending.settings, TlsPolicies(sending.clock), sending.clock)
        hop = Hop("mx.there.test", "127.0.0.1", sending.mx.port)
        lane, other, third = Lane(pool), Lane(pool), Lane(pool)
        pooled = await lane.session(hop, record(hop), False)
        pooled.is_reusable = True
        assert lane.hop == hop
        await other.session(hop, record(hop), False)
        waiting = asyncio.create_task(third.session(hop, record(hop), False))
        await asyncio.sleep(0)
        assert lane.hop is None
        await lane.let_go()
        await waiting
        await other.let_go()
        await third.let_go()
        await pool.close()


async def test_what_was_not_ended_well_is_let_go(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        pool = Connections(sending.settings, TlsPolicies(sending.clock), sending.clock)
        hop = Hop("mx.there.test", "127.0.0.1", sending.mx.port)
        lane = Lane(pool)
        first = await lane.session(hop, record(hop), False)
        await lane.let_go(unless_reusable=True)
        assert not first.session.is_usable
        assert (await lane.session(hop, record(hop), False)).is_fresh
        await lane.let_go()
