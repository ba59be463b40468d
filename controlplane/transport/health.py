"""`/health`: is the service up?"""

import asyncio
from collections.abc import Callable, Mapping

import structlog
from aiohttp import web

from storage.disk import Disk
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.exhaustion import is_short_of_descriptors
from storage.upkeep.self_check import SelfCheck

log = structlog.get_logger("maild.api")


class HealthCheck:
    """Needs no key, so however many ask at once, the store is asked once."""

    def __init__(
        self, db: Database, self_check: SelfCheck, disk: Disk, loop_today: Callable[[], Mapping[str, int]]
    ) -> None:
        """`loop_today`: how often the event loop was held today, and for how long (`holds`, `heldMs`)."""
        self._db = db
        self._self_check = self_check
        self._disk = disk
        self._loop_today = loop_today
        self._asking: asyncio.Task[bool] | None = None

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/health", self.handle)

    async def handle(self, request: web.Request) -> web.Response:
        """`healthy` when the store answers; says nothing about the data of an organization.

        Damage and want of room are told beside it: what is there is served, so a load balancer need not turn clients
        away for them.
        """
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._is_healthy())
        is_healthy = await asyncio.shield(self._asking)
        answer = {
            "status": "healthy" if is_healthy else "unhealthy",
            "service": "maild",
            "store": "damaged" if self._self_check.is_damaged else "ok",
            "disk": self._disk_state(),
            "descriptors": "short" if is_short_of_descriptors() else "ok",
            "loop": self._loop_today(),
        }
        return web.json_response(answer, status=200 if is_healthy else 503)

    def _disk_state(self) -> str:
        if self._db.stands_still:
            return "stalled"
        if self._db.fails:
            return "failing"
        return "short" if self._disk.is_short else "ok"

    async def _is_healthy(self) -> bool:
        try:
            async with asyncio.timeout(5):
                await self._db.read(_ping)
        except Exception:
            log.exception("health_failed")
            return False
        return True


def _ping(tx: Tx) -> None:
    tx.value("SELECT 1")
