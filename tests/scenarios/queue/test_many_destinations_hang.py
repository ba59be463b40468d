"""Many destinations accept a connection and say nothing: a stranger needs one wildcard in his DNS for that."""

import asyncio
from pathlib import Path

import pytest

from conf.tuning import QueueTuning
from maild.outbound.lines.destination_queues import QUEUED_ROWS_UNPROVEN, DestinationKey, DestinationKind
from maild.outbound.pace.pace import FIRST_SESSIONS
from maild.outbound.sessions.connections import DOUBTFUL_PER_ADDRESS
from maild.outbound.sessions.places import LONGEST_S, PATIENCE_S, SESSIONS_PER_PLACE
from maild.outbound.sessions.smtp_client import Timeouts
from maild.outbound.signing.content import SMALL_BYTES
from tests.support.peers.mx import Mx
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import RAW

LIVELY = "127.0.0.2"


async def hang(sending: Sending, destinations: int, mails: int = 1, raw: bytes = RAW, hosts: int = 1) -> None:
    """Mail to so many destinations, at hosts that never say a word (127.0.1.x)."""
    for number in range(destinations):
        sending.dns.add_mx(f"d{number}.hangs.test", address=f"127.0.1.{number % hosts + 1}")
        for _ in range(mails):
            await sending.store.send(f"u@d{number}.hangs.test", raw=raw)


async def silent(sending: Sending, hosts: int) -> list[Mx]:
    found = []
    for number in range(hosts):
        mx = Mx(hold={"greeting": asyncio.Event()})
        found.append(await mx.start(f"127.0.1.{number + 1}", sending.mx.port))
    return found


async def let_go(hosts: list[Mx], stage: str) -> None:
    """Have them say what they held, and end."""
    for mx in hosts:
        mx.hold.pop(stage).set()
        await mx.stop()


async def reached_first(hosts: list[Mx]) -> None:
    """Return when one of them was connected to: which one is up to the name that is resolved first."""
    waits = [asyncio.create_task(mx.until("greeting")) for mx in hosts]
    done, others = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in others:
        wait.cancel()
    for wait in done:
        wait.result()


async def waited_for(sending: Sending, sessions: int) -> None:
    """Return when so many sessions are open and wait for their hosts, and no others."""
    taken = sending.queue._deliverer._connections._places._taken
    async with asyncio.timeout(GIVES_UP_S):
        while [place.host_since is not None for place in taken] != [True] * sessions:
            await asyncio.sleep(0.005)


async def test_the_rest_is_delivered(tmp_path: Path) -> None:
    tuning = QueueTuning(window_rows=200, doubtful_rows=100)
    async with Sending(
        tmp_path, local_domains={"ours.test"}, outbound={"max_connections": 6}, tuning=tuning
    ) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        deaf = await silent(sending, 12)
        async with await Mx().start(LIVELY, sending.mx.port) as lively:
            await sending.queue.start()
            await sending.until(await sending.send("first@there.test"), "delivered")
            await hang(sending, 12, QUEUED_ROWS_UNPROVEN, hosts=12)
            sending.queue.wake()
            async with asyncio.timeout(GIVES_UP_S):
                while sum(mx.connections for mx in deaf) < 3:
                    await asyncio.sleep(0.005)
            for address in ("you@there.test", "bot@ours.test", "me@there.test"):
                await sending.until(await sending.send(address), "delivered")
            assert len(lively.received) == 3
            assert sum(mx.connections for mx in deaf) == 3  # half of all
        await let_go(deaf, "greeting")


@pytest.mark.parametrize("stage", ["MAIL", "dot"])
async def test_who_took_mail_and_hangs_now_holds_up_only_his_own(tmp_path: Path, stage: str) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 2 * FIRST_SESSIONS}) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        hosts = [await Mx().start(f"127.0.1.{number}", sending.mx.port) for number in (1, 2)]
        for number in (1, 2):
            sending.dns.add_mx(f"d{number}.hangs.test", address=f"127.0.1.{number}")
        async with await Mx().start(LIVELY, sending.mx.port) as lively, hosts[0], hosts[1]:
            await sending.queue.start()
            for domain in ("there.test", "d1.hangs.test", "d2.hangs.test"):
                await sending.until(await sending.send(f"u@{domain}"), "delivered")
            for mx in hosts:
                mx.hold[stage] = asyncio.Event()
            for number in (1, 2):
                for _ in range(FIRST_SESSIONS + 3):
                    await sending.store.send(f"u@d{number}.hangs.test")
            sending.queue.wake()
            for mx in hosts:
                await mx.until(stage, 1 + FIRST_SESSIONS)
            waiting = [await sending.send("you@there.test") for _ in range(3)]
            sending.clock.forward(PATIENCE_S)
            for message_id in waiting:
                await sending.until(message_id, "delivered")
            assert len(lively.received) == 4
            assert [mx.open_max for mx in hosts] == [FIRST_SESSIONS, FIRST_SESSIONS]
            for mx in hosts:
                mx.hold.pop(stage).set()


async def test_new_destinations_wait_a_moment_for_those_that_hang(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 6}) as sending:
        deaf = await silent(sending, 3)
        await hang(sending, 3, hosts=3)
        sending.dns.add_mx("new.test", address=LIVELY)
        await sending.queue.start()
        for mx in deaf:
            await mx.until("greeting")
        await waited_for(sending, 3)
        async with await Mx().start(LIVELY, sending.mx.port):
            message_id = await sending.send("you@new.test")
            sending.clock.forward(PATIENCE_S)
            await sending.until(message_id, "delivered")
        await let_go(deaf, "greeting")


async def test_a_host_that_greets_late_is_served_though_others_had_its_place(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 2}) as sending:
        sending.dns.add_mx("late.test")
        sending.dns.add_mx("new.test", address=LIVELY)
        sending.mx.hold["greeting"] = asyncio.Event()
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.queue.start()
            late = await sending.send("me@late.test")
            await sending.mx.until("greeting")
            await waited_for(sending, 1)
            new = await sending.send("you@new.test")
            sending.clock.forward(30)
            await sending.until(new, "delivered")
        sending.mx.hold.pop("greeting").set()
        await sending.until(late, "delivered")
        assert await sending.store.attempts(late) == ["delivered"]
        assert sending.mx.connections == 1


@pytest.mark.parametrize("stage", ["greeting", "MAIL"])
async def test_of_very_many_new_ones_that_hang_some_give_way(tmp_path: Path, stage: str) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 2}) as sending:
        hosts = [
            await Mx(hold={stage: asyncio.Event()}).start(f"127.0.{number + 1}.1", sending.mx.port)
            for number in range(SESSIONS_PER_PLACE)
        ]
        await sending.queue.start()
        for number, mx in enumerate(hosts):
            sending.dns.add_mx(f"d{number}.hangs.test", address=f"127.0.{number + 1}.1")
            await sending.send(f"u@d{number}.hangs.test")
            await mx.until(stage)
            await waited_for(sending, number + 1)
            sending.clock.forward(PATIENCE_S)
        sending.dns.add_mx("new.test", address=LIVELY)
        async with await Mx().start(LIVELY, sending.mx.port):
            message_id = await sending.send("you@new.test")
            sending.clock.forward(LONGEST_S)
            await sending.until(message_id, "delivered")
        await let_go(hosts, stage)


@pytest.mark.parametrize("stage", ["greeting", "MAIL"])
async def test_of_very_many_that_answered_and_hang_now_some_give_way(tmp_path: Path, stage: str) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 2}) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        hosts = [
            await Mx().start(f"127.0.{number + 1}.1", sending.mx.port)
            for number in range(2 * SESSIONS_PER_PLACE)
        ]
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.queue.start()
            for number in range(len(hosts)):
                sending.dns.add_mx(f"d{number}.hangs.test", address=f"127.0.{number + 1}.1")
                await sending.until(await sending.send(f"u@d{number}.hangs.test"), "delivered")
            await sending.until(await sending.send("first@there.test"), "delivered")
            await sending.queue._deliverer._connections.close()  # what is kept open
            for number, mx in enumerate(hosts):
                mx.hold[stage] = asyncio.Event()
                before = mx.stages[stage]
                await sending.send(f"u@d{number}.hangs.test")
                await mx.until(stage, before + 1)
                await waited_for(sending, number + 1)
                sending.clock.forward(PATIENCE_S)
            message_id = await sending.send("you@there.test")
            sending.clock.forward(LONGEST_S)
            await sending.until(message_id, "delivered")
        await let_go(hosts, stage)


async def test_who_has_very_many_addresses_leaves_sessions_to_others(tmp_path: Path) -> None:
    """They have the message and hang with their answers: none of them is given up, so that it doesn't arrive twice."""
    async with Sending(tmp_path, outbound={"max_connections": 2}) as sending:
        hosts = [
            await Mx(hold={"dot": asyncio.Event()}).start(f"127.0.1.{number + 1}", sending.mx.port)
            for number in range(SESSIONS_PER_PLACE)
        ]
        await sending.queue.start()
        for number, mx in enumerate(hosts):
            sending.dns.add_mx(f"d{number}.hangs.test", address=f"127.0.1.{number + 1}")
            await sending.send(f"u@d{number}.hangs.test")
            if number < SESSIONS_PER_PLACE // 2 + 1:
                await mx.until("dot")
                await waited_for(sending, number + 1)
            sending.clock.forward(PATIENCE_S)
        sending.dns.add_mx("new.test", address=LIVELY)
        async with await Mx().start(LIVELY, sending.mx.port):
            message_id = await sending.send("you@new.test")
            sending.clock.forward(PATIENCE_S)
            await sending.until(message_id, "delivered")
        await let_go(hosts, "dot")


async def test_no_host_that_may_have_the_message_gives_way(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 2}) as sending:
        sending.dns.add_mx("slow.test")
        sending.mx.hold["dot"] = asyncio.Event()
        await sending.queue.start()
        slow = await sending.send("me@slow.test")
        await sending.mx.until("dot")
        (place,) = sending.queue._deliverer._connections._doubtful._taken
        assert place.give_way is not None
        assert not place.give_way()
        sending.mx.hold.pop("dot").set()
        await sending.until(slow, "delivered")
        assert await sending.store.attempts(slow) == ["delivered"]


async def test_what_stands_aside_is_delivered_when_there_is_room(tmp_path: Path) -> None:
    async with Sending(tmp_path, tuning=QueueTuning(doubtful_rows=2)) as sending:
        ids = []
        for number in range(5):
            sending.dns.add_mx(f"d{number}.test")
            ids.append(await sending.store.send(f"u@d{number}.test"))
        await sending.queue.start()
        async with asyncio.timeout(GIVES_UP_S):
            while len(sending.mx.received) < 5:
                sending.clock.forward(1)
                sending.queue.wake()
                await asyncio.sleep(0.01)
        for message_id in ids:
            await sending.until(message_id, "delivered")
            assert (await sending.store.recipients(message_id))[0].attempts == 1


@pytest.mark.parametrize(("allowed", "sessions"), [(3, 3), (20, DOUBTFUL_PER_ADDRESS)])
async def test_many_names_of_one_address_get_what_one_gets(
    tmp_path: Path, allowed: int, sessions: int
) -> None:
    settings = {"max_connections": 100, "max_connections_per_destination": allowed}
    async with Sending(tmp_path, outbound=settings) as sending:
        (deaf,) = await silent(sending, 1)
        await hang(sending, 30)
        sending.dns.add_mx("there.test", address=LIVELY)
        await sending.queue.start()
        await deaf.until("greeting", sessions)
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.until(await sending.send("you@there.test"), "delivered")
        assert deaf.connections == sessions < 10
        deaf.hold.pop("greeting").set()
        await deaf.stop()


async def test_large_mail_that_nobody_takes_holds_up_no_other(tmp_path: Path) -> None:
    """Each of these needs all of the memory that there is for its like."""
    large = RAW + b"y" * 76 * 230_000
    async with Sending(tmp_path, local_domains={"ours.test"}) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        sending.dns.add_mx("new.test", address=LIVELY)
        deaf = await silent(sending, 3)
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.queue.start()
            await sending.until(await sending.send("first@there.test"), "delivered")
            await hang(sending, 3, raw=large, hosts=3)
            sending.queue.wake()
            await reached_first(deaf)
            for address in ("you@there.test", "you@new.test", "bot@ours.test"):
                await sending.until(await sending.send(address), "delivered")
            await sending.until(
                await sending.send("you@there.test", raw=RAW + b"y\r\n" * SMALL_BYTES), "delivered"
            )
        await let_go(deaf, "greeting")


@pytest.mark.parametrize("stage", ["MAIL", "dot"])
async def test_large_mail_that_is_taken_slowly_holds_up_no_other(tmp_path: Path, stage: str) -> None:
    """By a host that answered a moment ago; each of these needs all of the memory that there is."""
    large = RAW + b"y" * 76 * 230_000
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("slow.test")
        sending.dns.add_mx("there.test", address=LIVELY)
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.queue.start()
            for address in ("first@slow.test", "first@there.test"):
                await sending.until(await sending.send(address), "delivered")
            sending.mx.hold[stage] = asyncio.Event()
            slow = await sending.send("you@slow.test", raw=large)
            await sending.mx.until(stage, 2)
            await sending.until(await sending.send("you@there.test", raw=large), "delivered")
            sending.mx.hold.pop(stage).set()
            await sending.until(slow, "delivered")


async def test_who_took_the_envelope_and_hung_with_the_message_is_one_of_them_again(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        await sending.until(await sending.send("a@there.test"), "delivered")
        destination = sending.queue._destinations.queue(DestinationKey(DestinationKind.REMOTE, "there.test"))
        assert not sending.queue._destinations.is_doubtful(destination)
        sending.mx.drop_at = "dot"
        await sending.until(await sending.send("b@there.test"), "deferred")
        assert sending.queue._destinations.is_doubtful(destination)
        sending.mx.drop_at = ""
        await sending.until(await sending.send("c@there.test"), "delivered")
        assert not sending.queue._destinations.is_doubtful(destination)


async def test_a_handshake_that_hangs_is_cut(tmp_path: Path) -> None:
    async with Sending(tmp_path, mx=Mx(starttls="hanging"), timeouts=Timeouts(tls=0.3)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "delivered")  # in plain text: nothing asks for more
        assert sending.mx.connections == 2
        assert sending.mx.open_max <= 2


async def test_who_talks_unasked_is_hung_up_on(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["dot"] = "250 2.0.0 taken\r\n" + "250 and more\r\n" * 50_000
        await sending.queue.start()
        first = await sending.send("a@there.test")
        await sending.until(first, "delivered")  # the reply stands
        sending.mx.always.clear()
        await sending.until(await sending.send("b@there.test"), "delivered")
        assert sending.mx.connections == 2
