"""Hostile peers as a process of their own: strangers who send mail, keys that misuse the API, hosts that take mail.

    async with hostile.running(target, ATTACKS) as peers:     begins all attacks at once
        …
    peers.rounds["mail_of_unknown_charsets"]         how often each was begun, once all have ended

Each attack is a coroutine that makes one round and returns; `__main__` repeats it until the process is told to end.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.support.waiting import GIVES_UP_S

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Target:
    """The daemon under attack, and what its attackers know of it. `addresses`: inboxes of one organization."""

    smtp_port: int
    http_port: int
    key: str
    inbox_id: str
    addresses: tuple[str, ...]
    big_message_id: str
    long_thread_id: str
    hop_domains: tuple[str, ...]
    hop_address: str
    hop_port: int


Attack = Callable[[Target], Awaitable[None]]


@dataclass
class Peers:
    rounds: Mapping[str, int] = field(default_factory=dict)


@asynccontextmanager
async def running(target: Target, names: Iterable[str]) -> AsyncIterator[Peers]:
    """The attacks of these names (keys of `attacks.ATTACKS` and `CROWDS`), until the block is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.hostile", json.dumps(asdict(target)), *names,
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    peers = Peers()
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"attacking\n"
        yield peers
        process.terminate()
        async with asyncio.timeout(GIVES_UP_S):
            out, _ = await process.communicate()
        peers.rounds = json.loads(out)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
