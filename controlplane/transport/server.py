"""The HTTP server: the operations on aiohttp, their limits, and its life."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any, Protocol, cast

from aiohttp import web

from conf.settings import Http, host_port
from conf.strangers import StrangerLog
from conf.tuning import HttpTuning
from controlplane.operations.invoke import Operations
from controlplane.operations.table import OPERATIONS
from controlplane.transport.callers import Callers
from controlplane.transport.connections import READ_BYTES, ClientConnection, Watch
from controlplane.transport.door import Door, Next
from controlplane.transport.gate import Gate
from controlplane.transport.request_bodies import RequestBodies, expect
from controlplane.transport.responses import Responder
from storage.clock import Clock
from storage.ids import Ids
from storage.service import Service
from storage.turns.fair_server import FairServer
from storage.turns.rounds import Rounds


class Pages(Protocol):
    """What is served beside the operations, to every caller, with a key or without."""

    def add_to(self, app: web.Application) -> None: ...


class HttpError(Exception):
    """The API can't be served; the text says which key and why."""


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
        self._runner = web.AppRunner(
            self._application(pages),
            access_log=None,
            keepalive_timeout=settings.keepalive_s,
            shutdown_timeout=tuning.shutdown_s / 2,  # aiohttp waits twice: for the handler, then for its end
            handler_cancellation=False,
            read_bufsize=READ_BYTES,
            auto_decompress=False,  # compressed bodies are refused (request_bodies.py), never inflated
        )
        self._listen = settings.listen
        self._watch = Watch(settings, ids, strangers, tuning)
        self._server: FairServer | None = None
        self._host = ""
        self._port = 0

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
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def start(self) -> None:
        if self._server is not None:
            return
        await self._runner.setup()
        manager = self._runner.server
        assert manager is not None
        # Around the application, not in it: it refuses some requests before any middleware sees them.
        inner = cast(Next, manager.request_handler)  # an application's requests are all web.Request
        manager.request_handler = cast(Any, self._gate.around(inner))
        server = FairServer(self._connection, _at_once)
        try:
            _begin(server, *host_port(self._listen))
        except OSError as error:
            raise HttpError(
                f"http.listen: can't listen on {self._listen}: {error.strerror or error}"
            ) from error
        self._host, self._port = server.sockets[0].getsockname()[:2]
        self._server = server
        self._watch.start()

    def _connection(self) -> ClientConnection:
        manager = self._runner.server
        assert manager is not None
        return ClientConnection(manager, self._watch, loop=asyncio.get_running_loop(), **manager._kwargs)

    async def stop(self) -> None:
        """Take no new connections; requests that are being answered have a while (conf.tuning)."""
        server, self._server = self._server, None
        if server is not None:
            await server.close()
            self._watch.stop()
        await self._runner.cleanup()


async def _at_once(_address: str) -> None:
    """A connection begins when it comes: its requests are what waits for a turn."""


def _begin(server: FairServer, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        server.begin([sock])
    except OSError:
        sock.close()
        raise
