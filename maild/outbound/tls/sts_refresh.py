"""Fetches the MTA-STS policies that are kept anew before they end, also where no mail goes (RFC 8461 §3.3): a domain
that is written to more rarely than its policy lasts would have none each time, and its mail would trust the network."""

import asyncio

import structlog

from maild.outbound.tls.mta_sts import StsPolicies
from storage.clock import Clock
from storage.engine.database import Database
from storage.sending import sts_policies
from storage.service import Enduring, LoopService

ROUND_S = 900
AT_ONCE = 10

log = structlog.get_logger("maild.outbound")


class StsRefresh(LoopService):
    """`policies`: which know when one is old."""

    name = "sts-refresh"

    def __init__(self, policies: StsPolicies, db: Database, clock: Clock) -> None:
        super().__init__()
        self._policies = policies
        self._db = db
        self._clock = clock

    async def run(self) -> None:
        while True:
            await self.pause(ROUND_S)
            with Enduring(log, "sts_policies_not_refreshed"):
                await self.round()

    async def round(self) -> None:
        """Look at each policy that is kept, once."""
        now_ms = self._clock.now_ms()
        after = (-1, "")
        while page := await self._db.read(sts_policies.by_age, after, now_ms):
            after = page[-1].fetched_at, page[-1].domain
            old = [row.domain for row in page if row.expires_at > now_ms and self._policies.is_old(row)]
            for start in range(0, len(old), AT_ONCE):
                await asyncio.gather(*map(self._policies.refresh, old[start : start + AT_ONCE]))
