"""The HTTP server: the operations on aiohttp, their limits, and its life."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from aiohttp import web

from conf.settings import Http
from conf.strangers import StrangerLog
from conf.tuning import HttpTuning
from controlplane.operations.invoke import Operations
from controlplane.operations.table import OPERATIONS
from controlplane.transport.callers import Callers
from controlplane.transport.door import Door
from controlplane.transport.gate import Gate
from controlplane.transport.request_bodies import RequestBodies, expect
from controlplane.transport.request_counts import RequestCounts
from controlplane.transport.responses import Responder
from controlplane.transport.web_listener import WebListener
from storage.clock import Clock
from storage.ids import Ids
from storage.service import Service
from storage.turns.rounds import Rounds


class Pages(Protocol):
    """What is served beside the operations, to every caller, with a key or without."""

    def add_to(self, app: web.Application) -> None: ...


class HttpServer(Service):
    """Once started it listens at `url`; once stopped it takes nothing new, and gives requests `shutdown_s` to end."""

    name = "http"

    def __init__(
        self,
        operations: Operations,
        callers: Callers,
        request_bodies: RequestBodies,
        pages: Sequence[Pages],
        settings: Http,
        rounds: Rounds,
        clock: Clock,
        ids: Ids,
        tuning: HttpTuning,
    ) -> None:
        strangers = StrangerLog(clock.monotonic, later=asyncio.get_running_loop().call_later)
        self.request_bodies = request_bodies
        responder = Responder(settings.event_stream_heartbeat_s, tuning)
        self._door = Door(operations, callers, request_bodies, responder)
        self._gate = Gate(callers, rounds, clock, ids, strangers)
        self.listener = WebListener(
            self._application(pages),
            "http.listen",
            settings,
            ids,
            strangers,
            tuning,
            lambda: request_bodies.is_memory_scarce,
        )

    def _application(self, pages: Sequence[Pages]) -> web.Application:
        # Bodies are measured where they are read: by their operations' rows.
        app = web.Application(client_max_size=0)
        app.on_response_prepare.append(self._gate.decorate)
        # Those of one path beside each other are one resource, and short paths, which are asked for most, come first:
        # aiohttp tries the resources that begin alike one after the other.
        for operation in sorted(OPERATIONS, key=lambda one: (one.path.count("/"), one.path)):
            for method in (operation.method, "HEAD") if operation.has_head else (operation.method,):
                endpoint = self._door.endpoint(operation)
                app.router.add_route(method, operation.path, endpoint, expect_handler=expect)
        for some in pages:
            some.add_to(app)
        return app

    @property
    def url(self) -> str:
        """Where it really listens (port 0 was replaced)."""
        return self.listener.url

    @property
    def counts(self) -> RequestCounts:
        """Of the requests that were answered."""
        return self._gate.counts

    async def start(self) -> None:
        await self.listener.start(self._gate.around)

    async def stop(self) -> None:
        """Take no new connections; requests that are being answered have a while (conf.tuning)."""
        await self.listener.stop()
