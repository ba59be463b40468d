"""What is left of a question that nobody waits for any more."""

import asyncio
import gc
import socket
import time
import warnings

import pytest
import uvloop

from maild.dns_client import DnsClient, _AskedNameservers
from tests.support.peers.dns_server import DnsServer
from tests.support.running import until_true

STEPS = 12  # of the event loop; before these a question stands at each of its own


@pytest.mark.parametrize("steps", range(STEPS))
def test_a_question_that_is_cancelled_leaves_no_socket(steps: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        client = DnsClient(lambda: [silent.getsockname()], 5, time.monotonic)

        async def ask_and_leave() -> None:
            asking = [asyncio.create_task(client.ask(b"a.test", "A")) for _ in range(3)]
            for _ in range(steps):
                await asyncio.sleep(0)
            for one in asking:
                one.cancel()
            await asyncio.wait(asking)

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(ask_and_leave())
    assert [str(one.message) for one in told] == []


@pytest.mark.usefixtures("no_collector")
async def test_a_question_that_was_answered_leaves_nothing_to_the_collector_of_cycles() -> None:
    async with DnsServer() as dns:
        client = DnsClient(lambda: [("127.0.0.1", dns.port)], 5, time.monotonic)
        await client.ask(b"\x01a\x04test\x00", "A")
        await until_true(lambda: not any(isinstance(one, _AskedNameservers) for one in gc.get_objects()))
