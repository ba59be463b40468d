"""A stranger asks for TLS in groups whose handshake takes a tenth of a second of the only event loop."""

import asyncio
import ssl
import subprocess
from pathlib import Path

from tests.support.daemon import Daemon
from tests.support.machine import tools

FAST = [
    "X25519",
    "P-256",
    "P-384",
    "P-521",
    *(["X25519MLKEM768"] if ssl.OPENSSL_VERSION_INFO >= (3, 5) else []),
]
SLOW = ["ffdhe2048", "ffdhe4096", "ffdhe8192"]


async def shakes_hands(daemon: Daemon, group: str) -> bool:
    """Does STARTTLS of TLS 1.3 succeed with this group alone?"""
    process = await asyncio.create_subprocess_exec(
        tools.path_of("openssl"), "s_client", "-starttls", "smtp", "-tls1_3", "-groups", group,
        "-connect", f"127.0.0.1:{daemon.smtp_port}",
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return await process.wait() == 0


@tools.needs("openssl")
async def test_only_fast_groups_are_spoken(tmp_path: Path) -> None:
    async with Daemon(tmp_path, dns_port=9) as daemon:
        assert {group for group in FAST + SLOW if await shakes_hands(daemon, group)} == set(FAST)
