"""kill -9 opens no rate limit: what was counted before it is counted after it (threat A13)."""

import asyncio
from collections import Counter
from pathlib import Path

from tests.support.daemon import Daemon

LIMIT = 40


async def statuses(daemon: Daemon, times: int) -> Counter[int]:
    async def one() -> int:
        async with daemon.api._session.get("/v1/inboxes") as answer:
            await answer.read()
            return answer.status

    return Counter(await asyncio.gather(*(one() for _ in range(times))))


async def test_a_window_outlives_kills_and_stops(tmp_path: Path) -> None:
    limits = {"limits": {"requests_per_minute": LIMIT}}
    async with Daemon(tmp_path, dns_port=9, more=limits) as daemon:
        assert await statuses(daemon, 15) == {200: 15}
        await daemon.stop()  # whatever was counted is written at stop
        await daemon.start()
        assert await statuses(daemon, LIMIT) == {200: LIMIT - 15, 429: 15}
        await daemon.kill()  # the moment after the first refusals
        await daemon.start()
        assert await statuses(daemon, 5) == {429: 5}
