"""A place where HTTP is served: its socket, its connections under watch, and how they end."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

from aiohttp import web

from conf.setting_kinds import address_port, host_port
from conf.settings import Http
from conf.strangers import StrangerLog
from conf.tuning import HttpTuning
from controlplane.transport.connections import READ_BYTES, ClientConnection, Watch
from controlplane.transport.door import Next
from storage.ids import Ids
from storage.turns.fair_server import FairServer

Around = Callable[[Next], Next]


class HttpError(Exception):
    """HTTP can't be served; the text says which key and why."""


class WebListener:
    """Serves `application` where `settings.listen` says. `key`: the name of that in the configuration.
    `is_memory_scarce`: may others need the memory of bodies that come slowly?"""

    def __init__(
        self,
        application: web.Application,
        key: str,
        settings: Http,
        ids: Ids,
        strangers: StrangerLog,
        tuning: HttpTuning,
        is_memory_scarce: Callable[[], bool] = lambda: False,
    ) -> None:
        self._runner = web.AppRunner(
            application,
            access_log=None,
            keepalive_timeout=settings.keepalive_s,
            shutdown_timeout=tuning.shutdown_s / 2,  # aiohttp waits twice: for the handler, then for its end
            handler_cancellation=False,
            read_bufsize=READ_BYTES,
            auto_decompress=False,  # compressed bodies are refused (request_bodies.py), never inflated
        )
        self._key = key
        self._listen = settings.listen
        self.watch = Watch(settings, ids, strangers, tuning, is_memory_scarce)
        self._server: FairServer | None = None
        self._host = ""
        self._port = 0

    @property
    def url(self) -> str:
        """Where it really listens (port 0 was replaced)."""
        return f"http://{address_port(self._host, self._port)}"

    async def start(self, around: Around | None = None) -> None:
        """HttpError when the address can't be listened on. `around`: what surrounds the application, which refuses some
        requests before any middleware sees them."""
        if self._server is not None:
            return
        await self._runner.setup()
        manager = self._manager
        if around is not None:
            inner = cast(Next, manager.request_handler)  # an application's requests are all web.Request
            manager.request_handler = cast(Any, around(inner))
        server = FairServer(self._connection, _at_once)
        try:
            _begin(server, *host_port(self._listen))
        except OSError as error:
            raise HttpError(
                f"{self._key}: can't listen on {self._listen}: {error.strerror or error}"
            ) from error
        self._host, self._port = server.sockets[0].getsockname()[:2]
        self._server = server
        self.watch.start()

    async def stop(self) -> None:
        """Take no new connections; requests that are being answered have a while (conf.tuning)."""
        server, self._server = self._server, None
        if server is not None:
            await server.close()
            self.watch.stop()
        await self._runner.cleanup()

    @property
    def _manager(self) -> web.Server:
        manager = self._runner.server
        assert manager is not None
        return manager

    def _connection(self) -> ClientConnection:
        manager = self._manager
        return ClientConnection(manager, self.watch, loop=asyncio.get_running_loop(), **manager._kwargs)


def _at_once(_address: str) -> None:
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
