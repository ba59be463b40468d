"""The HTTP server: the routes on aiohttp, their limits, and its life."""

import asyncio
import socket
from typing import Any, cast

import structlog
from aiohttp import web

from conf.strangers import StrangerLog
from controlplane.access.authentication import Authenticator
from controlplane.access.rate_limit import RateLimit
from controlplane.api import Services
from controlplane.reference import Reference
from controlplane.routes import ROUTES
from controlplane.transport.connections import ClientConnection, Watch
from controlplane.transport.gate import Gate, Next
from controlplane.transport.request_bodies import RequestBodies
from storage.database import Database, Tx
from storage.self_check import SelfCheck
from storage.service import Service

log = structlog.get_logger("maild.api")

READ_BYTES = 64 * 1024  # what aiohttp may hold, twice, of a body that nobody reads
SHUTDOWN_S = 5.0


def make_app(gate: Gate, rooms: Services) -> web.Application:
    app = web.Application(client_max_size=0)  # bodies are measured where they are read: by their routes' rows
    app.on_response_prepare.append(gate.decorate)
    for route in ROUTES:
        app.router.add_route(route.method, route.path, gate.endpoint(route), expect_handler=gate.expect)
        if route.has_head:
            app.router.add_route("HEAD", route.path, gate.endpoint(route), expect_handler=gate.expect)
    Reference(ROUTES, rooms.settings.server.public_url).add_to(app)
    app.router.add_get("/health", HealthCheck(rooms.db, rooms.self_check).handle)
    return app


class HealthCheck:
    """Needs no key, so however many ask at once, the store is asked once."""

    def __init__(self, db: Database, self_check: SelfCheck) -> None:
        self._db = db
        self._self_check = self_check
        self._asking: asyncio.Task[bool] | None = None

    async def handle(self, request: web.Request) -> web.Response:
        """`healthy` when the store answers; says nothing about anybody's data.

        Damage is told beside it: what is whole is served, so nobody must be sent away for it.
        """
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._is_healthy())
        is_healthy = await asyncio.shield(self._asking)
        answer = {
            "status": "healthy" if is_healthy else "unhealthy",
            "service": "maild",
            "store": "damaged" if self._self_check.is_damaged else "ok",
        }
        return web.json_response(answer, status=200 if is_healthy else 503)

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


class HttpError(Exception):
    """The API can't be served; the text says which key and why."""


class HttpServer(Service):
    name = "http"

    def __init__(self, rooms: Services, rate_limit: RateLimit) -> None:
        settings = rooms.settings
        strangers = StrangerLog(rooms.clock.monotonic, later=asyncio.get_running_loop().call_later)
        self.request_bodies = RequestBodies(settings.http, rooms.cpu)
        authenticator = Authenticator(rooms.db, rooms.clock)
        self._gate = Gate(rooms, authenticator, rate_limit, self.request_bodies, strangers)
        self._runner = web.AppRunner(
            make_app(self._gate, rooms),
            access_log=None,
            keepalive_timeout=settings.http.keepalive_s,
            shutdown_timeout=SHUTDOWN_S / 2,  # aiohttp waits twice: for the handler, then for its end
            handler_cancellation=False,
            read_bufsize=READ_BYTES,
            auto_decompress=False,  # compressed bodies are refused (controlplane.transport.gate), never inflated
        )
        self._listen = settings.http.listen
        self._watch = Watch(settings.http, rooms.ids, strangers)
        self._server: asyncio.Server | None = None
        self._host = ""
        self._port = 0

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
        host, _, port = self._listen.rpartition(":")
        try:
            sock = _bind(host.strip("[]"), int(port))
        except OSError as error:
            raise HttpError(
                f"http.listen: can't listen on {self._listen}: {error.strerror or error}"
            ) from error
        self._host, self._port = sock.getsockname()[:2]
        self._server = await asyncio.get_running_loop().create_server(
            self._connection, sock=sock, backlog=512
        )
        self._watch.start()

    def _connection(self) -> ClientConnection:
        manager = self._runner.server
        assert manager is not None
        return ClientConnection(manager, self._watch, loop=asyncio.get_running_loop(), **manager._kwargs)

    async def stop(self) -> None:
        """Nobody new; requests that are being answered have SHUTDOWN_S."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            self._watch.stop()
        await self._runner.cleanup()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    return sock
