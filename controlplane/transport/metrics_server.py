"""`GET /metrics`, at an address of its own: what the daemon counts and measures, for the operator's monitoring."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import web

from conf.settings import Http
from conf.strangers import StrangerLog
from conf.tuning import HttpTuning
from controlplane.transport.responses import SERVER
from controlplane.transport.web_listener import WebListener
from storage.ids import Ids
from storage.service import Service

CONNECTIONS_MAX = 20  # monitoring has two or three; beyond them 503


class MetricsServer(Service):
    """Needs no key, so what it answers names nobody; and however many ask at once, it is put together once.

    `render`: puts it together. `content_type`: of what that gives.
    """

    name = "metrics"

    def __init__(
        self,
        render: Callable[[], Coroutine[Any, Any, bytes]],
        content_type: str,
        listen: str,
        ids: Ids,
        strangers: StrangerLog,
        tuning: HttpTuning,
    ) -> None:
        self._render = render
        self._content_type = content_type
        self._rendering: asyncio.Task[bytes] | None = None
        application = web.Application(client_max_size=0)
        application.router.add_get("/metrics", self._handle)
        application.on_response_prepare.append(_name_us)
        settings = Http(
            listen=listen, max_connections=CONNECTIONS_MAX, max_connections_per_address=CONNECTIONS_MAX
        )
        self._listener = WebListener(application, "metrics.listen", settings, ids, strangers, tuning)

    @property
    def url(self) -> str:
        """Where it really listens (port 0 was replaced)."""
        return self._listener.url

    async def start(self) -> None:
        await self._listener.start()

    async def stop(self) -> None:
        await self._listener.stop()

    async def _handle(self, _request: web.Request) -> web.Response:
        if self._rendering is None or self._rendering.done():
            self._rendering = asyncio.create_task(self._render())
        body = await asyncio.shield(self._rendering)
        return web.Response(body=body, headers={"Content-Type": self._content_type})


async def _name_us(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(SERVER)
