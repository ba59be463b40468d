"""A stranger points his MX at a provider's hosts, beside hosts of his own that hang or refuse."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending

GOOGLE = ("aspmx.l.google.com", 10)
VICTIMS = (("mx1.p.test", 10), ("mx2.p.test", 10))
EVIL_ADDRESS = "127.0.0.9"


@pytest.mark.parametrize(
    ("theirs", "group"),
    [((GOOGLE,), "google.com"), (VICTIMS, "mx1.p.test mx2.p.test")],
)
@pytest.mark.parametrize("preference", [0, 10, 20])
async def test_what_his_hosts_do_is_told_of_his_hosts(
    tmp_path: Path, theirs: Sequence[tuple[str, int]], group: str, preference: int
) -> None:
    async with Sending(tmp_path) as sending:
        for host, their_preference in theirs:
            sending.dns.add_mx("good.test", host=host, preference=their_preference)
            sending.dns.add_mx("evil.test", host=host, preference=their_preference)
        sending.dns.add_mx("evil.test", EVIL_ADDRESS, "mx.evil.test", preference)
        async with await Mx(always={"greeting": "421 4.7.0 slow down"}).start(EVIL_ADDRESS, sending.mx.port):
            await sending.queue.start()
            await sending.until(await sending.send("first@good.test"), "delivered")
            evil = [await sending.store.send(f"u{number}@evil.test") for number in range(20)]
            sending.queue.wake()
            for message_id in evil:  # the provider takes it, as RFC 5321 §5.1 has it
                await sending.until(message_id, "delivered")
        pace = sending.queue._deliverer._groups.group(group).pace
        assert (pace.waits_s, pace.sessions >= 5) == (0, True)
        await sending.until(await sending.send("you@good.test"), "delivered")


async def test_his_hosts_that_hang_hold_up_nobody_at_the_provider(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("good.test", host=GOOGLE[0])
        sending.dns.add_mx("evil.test", EVIL_ADDRESS, "mx.evil.test", 0)
        sending.dns.add_mx("evil.test", host=GOOGLE[0])
        async with await Mx(hold={"greeting": asyncio.Event()}).start(EVIL_ADDRESS, sending.mx.port) as evil:
            await sending.queue.start()
            await sending.until(await sending.send("first@good.test"), "delivered")
            for number in range(40):
                await sending.store.send(f"u{number}@evil.test")
            sending.queue.wake()
            await evil.until("greeting")
            for number in range(20):
                await sending.until(await sending.send(f"u{number}@good.test"), "delivered")
            assert evil.connections == 1
            evil.hold["greeting"].set()
