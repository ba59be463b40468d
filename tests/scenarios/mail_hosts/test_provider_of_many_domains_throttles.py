"""A provider that takes the mail of many domains asks for less: all of them are one destination to it."""

from pathlib import Path

from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending

DOMAINS = 40
LIVELY = "127.0.0.2"
ZONE = "mail.protection.outlook.com"
SLOWER = "451 4.7.500 Server busy. Please try again later from"


async def send_to_all(sending: Sending, name: str = "u") -> list[str]:
    """One message to each domain, of which each has a host name of its own at the provider."""
    for number in range(DOMAINS):
        sending.dns.add_mx(f"d{number}.test", host=f"d{number}-test.{ZONE}")
    return [await sending.store.send(f"{name}@d{number}.test") for number in range(DOMAINS)]


async def test_its_word_to_one_is_heard_for_all(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", address=LIVELY)
        sending.mx.always["MAIL"] = SLOWER
        sent = await send_to_all(sending)
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "deferred")
        assert sending.mx.stages["MAIL"] == 1
        async with await Mx().start(LIVELY, sending.mx.port):
            await sending.until(await sending.send("you@there.test"), "delivered")
        sending.mx.always.clear()
        for _ in range(5):
            sending.clock.forward(70)
            sending.queue.wake()
            await sending.mx.until("dot")
        for message_id in sent:
            await sending.until(message_id, "delivered")


async def test_they_share_its_sessions(tmp_path: Path) -> None:
    pace = {"provider": {"mx": [f"*.{ZONE}"], "max_connections": 2}}
    async with Sending(tmp_path, outbound={"pace": pace}) as sending:
        sent = await send_to_all(sending)
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        assert sending.mx.open_max <= 2
        assert sending.mx.connections <= 4  # kept open for the next, whatever name its host has
        (row,) = await sending.store.recipients(sent[7])
        assert row.remote_host == f"d7-test.{ZONE}"


async def test_one_that_has_answered_is_new_to_none_of_them(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sent = await send_to_all(sending)
        await sending.queue.start()
        for message_id in sent:
            await sending.until(message_id, "delivered")
        group = sending.queue._deliverer._groups.group(ZONE)
        assert group.pace.sessions > 5
