"""The route of `POST /mcp`. What is behind it is made when somebody first calls: the models of the protocol, in all of
its revisions, are a fifth of what a start takes, and 10 MB, which a host without such callers spares.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aiohttp import web

from controlplane.mcp.cross_origin import PATH, CrossOrigin
from controlplane.transport.request_bodies import expect
from storage.turns.cpu_threads import CpuThreads
from storage.turns.fair_threads import OWN

if TYPE_CHECKING:
    from controlplane.mcp.endpoint import McpEndpoint


class McpDoor:
    """`make`: reads the modules of the endpoint, and makes it. `origins`: of web pages elsewhere that may call."""

    def __init__(self, make: "Callable[[], McpEndpoint]", origins: Iterable[str], cpu: CpuThreads) -> None:
        self._endpoint = cpu.once(OWN, make)
        self._cross_origin = CrossOrigin(origins)

    def add_to(self, app: web.Application) -> None:
        """Add the route."""
        app.router.add_route("POST", PATH, self._handle, expect_handler=expect)
        self._cross_origin.add_to(app)

    async def _handle(self, request: web.Request) -> web.Response:
        return await (await self._endpoint()).handle(request)
