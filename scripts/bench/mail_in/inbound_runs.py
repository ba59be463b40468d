"""One run of mail coming in: what is sent, what is measured of it, and how two servers' runs compare."""

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.bench import measure
from scripts.bench.mail_in.inbound_servers import Server, rest

MODES = {"connection per message": False, "kept open": True}
EACH = 20


class Inbound(NamedTuple):
    """Of one run, or medians of some."""

    accepted_per_s: float
    settled_per_s: float
    cpu_ms: float


class Load(NamedTuple):
    """So many `messages`: `mails` by turns, each `each` times in a row, or lines of X, `size_bytes` of them."""

    messages: int
    sessions: int
    size_bytes: int = 0
    mails: Sequence[Path] = ()
    each: int = EACH
    sender_of: Callable[[Path], str] = measure.sender

    async def send(self, port: int, recipient: str, kept_open: bool) -> int:
        """How many that made."""
        if not self.mails:
            await measure.smtp_source(
                port,
                recipient,
                count=self.messages,
                sessions=self.sessions,
                size_bytes=self.size_bytes,
                kept_open=kept_open,
            )
            return self.messages
        each = min(self.each, max(1, self.messages // self.sessions))
        await measure.send_mails(
            port,
            recipient,
            [self.mails[at % len(self.mails)] for at in range(self.messages // each)],
            each=each,
            sessions=self.sessions,
            kept_open=kept_open,
            sender_of=self.sender_of,
        )
        return self.messages // each * each


async def one_run(server: Server, load: Load, kept_open: bool) -> Inbound:
    await rest()
    await server.prepare()
    cpu_s, began = server.cpu_s(), time.perf_counter()
    count = await load.send(server.port, server.recipient, kept_open)
    accepted_s = time.perf_counter() - began
    await server.settle(count)
    settled_s = time.perf_counter() - began
    used_s = server.cpu_s() - cpu_s
    await server.check(count)
    return Inbound(count / accepted_s, count / settled_s, used_s * 1000 / count)


def median(runs: Sequence[Inbound]) -> Inbound:
    return Inbound(*(statistics.median(values) for values in zip(*runs, strict=True)))


def ratio(ours: Sequence[Inbound], theirs: Sequence[Inbound]) -> str:
    """Of the settled rates: the median of the rounds, and their range."""
    each = [mine.settled_per_s / peer.settled_per_s for mine, peer in zip(ours, theirs, strict=True)]
    return f"{statistics.median(each):.2f} ({min(each):.2f}-{max(each):.2f})"
