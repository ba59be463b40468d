"""One organization has much mail in the queue, and another one sends a message to the same hosts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from conf.tuning import QueueTuning
from maild.outbound.lines.message_line import READY
from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending

MANY = 900


@pytest.mark.parametrize(
    ("relay", "window_rows"), [("", 3000), ("", 800), ("127.0.0.1", 800)], ids=["mx", "memory", "smarthost"]
)
async def test_another_ones_message_waits_for_a_line_of_bounded_length(
    tmp_path: Path, relay: str, window_rows: int
) -> None:
    """However long the line is: by destination, for the whole queue, and where one smarthost takes all."""
    mx = await Mx().start("127.0.0.1", 0)
    outbound: dict[str, Any] = {"relay": f"{relay}:{mx.port}"} if relay else {}
    tuning = QueueTuning(window_rows=window_rows)
    async with Sending(tmp_path, mx=mx, outbound=outbound, tuning=tuning) as sending:
        sending.dns.add_mx("there.test")
        for number in range(MANY):
            await sending.store.send(f"u{number}@there.test")
        sending.mx.hold["dot"] = asyncio.Event()
        await sending.queue.start()
        await sending.mx.until("dot")
        theirs = await sending.send("you@there.test", organization_id="org_other")
        sending.mx.hold.pop("dot").set()
        await sending.until_true("SELECT count(*) > 0 FROM delivery_attempts WHERE message_id = ?", (theirs,))
        (place,) = [n for n, one in enumerate(sending.mx.received) if one.recipients == ["you@there.test"]]
        assert place < READY + 2 * sending.settings.outbound.max_connections_per_destination
