"""The routes of `/mcp`. What is behind it is made when somebody first calls: the models of the protocol, in all of
its revisions, are a fifth of what a start takes, and 10 MB, which a host without such callers spares.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aiohttp import web

from controlplane.contract.refusals import Refusal
from controlplane.mcp.cross_origin import PATH, CrossOrigin
from controlplane.transport.request_bodies import expect
from storage.turns.cpu_threads import CpuThreads

if TYPE_CHECKING:
    from controlplane.mcp.endpoint import McpEndpoint

# Where clients without a good key go next, though nothing sent them there; their users are shown what it answers.
REGISTRATION = "/register"
_NO_REGISTRATION = (
    "There is no OAuth here: /mcp takes an API key ('Authorization: Bearer …'). A client comes here when it sent none"
    " or one that is unknown or revoked."
)


class McpDoor:
    """`make`: reads the modules of the endpoint, and makes it. `origins`: of web pages elsewhere that may call."""

    def __init__(self, make: "Callable[[], McpEndpoint]", origins: Iterable[str], cpu: CpuThreads) -> None:
        self._endpoint = cpu.once(make)
        self._cross_origin = CrossOrigin(origins)

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_route("POST", PATH, self._handle, expect_handler=expect)
        app.router.add_route("POST", REGISTRATION, _has_no_registration, expect_handler=expect)
        self._cross_origin.add_to(app)
        app.router.add_route("*", PATH, self._refuse_other_than_post)

    async def _handle(self, request: web.Request) -> web.Response:
        return await (await self._endpoint()).handle(request)

    async def _refuse_other_than_post(self, request: web.Request) -> web.Response:
        return await (await self._endpoint()).refuse_other_than_post(request)


async def _has_no_registration(request: web.Request) -> web.Response:
    raise Refusal("not_found", _NO_REGISTRATION)
