"""`http.listen` is an IPv6 address, and clients come by IPv4: the socket shows their addresses as IPv6."""

import asyncio
import socket

import pytest

from tests.conftest import Start
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this host has no IPv6")

CONNECTIONS = 3


async def test_a_proxy_that_comes_by_ipv4_is_known_as_one_of_this_host(start: Start) -> None:
    """Else it has the connections of one client for all of its own."""
    maild = await start(http={"listen": "[::]:0", "max_connections_per_address": 1})
    port = int(maild.daemon.http.url.rpartition(":")[2])
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTIONS)]
    for reader, writer in opened:
        writer.write(b"GET /health HTTP/1.1\r\nHost: api.agents.test\r\n\r\n")
        async with asyncio.timeout(GIVES_UP_S):
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
    for _, writer in opened:
        writer.close()
