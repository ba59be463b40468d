"""What is told of the API, to everybody: `/openapi.json`, `/docs`, `/llms.txt`, `/llms-full.txt`, and the documents.

`/docs` is the reference, rendered by Swagger UI 5.35.0 (Apache-2.0) from files that ship here. The page loads nothing
from anywhere else; its Content-Security-Policy sees to it. Below `/docs/` the documents lie as in docs/ of the source,
so their links lead to each other here as well.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import msgspec
from aiohttp import web

from controlplane.mcp.tool import Tool
from controlplane.operations.operation import Operation
from controlplane.reference import llms
from controlplane.reference.documents import documents
from controlplane.reference.openapi import document as openapi_document
from storage.turns.cpu_threads import CpuThreads
from storage.turns.fair_threads import OWN

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "start.js": "text/javascript",
}
_TEXT_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=3600"}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
    **_TEXT_HEADERS,
}


class _Texts(NamedTuple):
    openapi: bytes
    short: bytes
    full: bytes
    documents: Mapping[str, bytes]


@lru_cache(2)  # daemons that share a process, as in tests, tell the same
def _texts(operations: tuple[Operation, ...], tools: tuple[Tool, ...], public_url: str) -> _Texts:
    told = documents(public_url)
    return _Texts(
        msgspec.json.encode(openapi_document(operations, public_url)),
        llms.short(public_url, bool(tools)).encode(),
        llms.full(public_url, operations, tools, told).encode(),
        {path: text.encode() for path, text in told.items()},
    )


class Reference:
    """The pages, made from the rows of operations and of MCP's tools (none: it is not served).
    `public_url`: the server that they name."""

    def __init__(
        self, operations: Sequence[Operation], tools: Sequence[Tool], public_url: str, cpu: CpuThreads
    ) -> None:
        # Once, for all readers: however many take them however slowly, there is one copy. Not before somebody reads:
        # it would be a quarter of what a start takes.
        self._texts = cpu.once(OWN, lambda: _texts(tuple(operations), tuple(tools), public_url))
        self._files = {name: _read(name) for name in ("index.html", *_ASSETS)}

    def add_to(self, app: web.Application) -> None:
        """Add the routes, which are open to callers without a key."""
        app.router.add_get("/openapi.json", self._openapi)
        app.router.add_get("/docs", self._page)
        app.router.add_get("/docs/{asset:.+}", self._asset)
        app.router.add_get("/llms.txt", self._llms)
        app.router.add_get("/llms-full.txt", self._llms_full)

    async def _openapi(self, request: web.Request) -> web.Response:
        return web.Response(body=(await self._texts()).openapi, content_type="application/json")

    async def _page(self, request: web.Request) -> web.Response:
        return self._file("index.html", "text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["asset"]
        if name in _ASSETS:
            return self._file(name, _ASSETS[name])
        document = (await self._texts()).documents.get(name)
        if document is None:
            raise web.HTTPNotFound
        return _text(document, "text/markdown")

    async def _llms(self, request: web.Request) -> web.Response:
        return _text((await self._texts()).short)

    async def _llms_full(self, request: web.Request) -> web.Response:
        return _text((await self._texts()).full)

    def _file(self, name: str, content_type: str) -> web.Response:
        return web.Response(
            body=self._files[name], content_type=content_type, charset="utf-8", headers=_PAGE_HEADERS
        )


def _text(body: bytes, content_type: str = "text/plain") -> web.Response:
    return web.Response(body=body, content_type=content_type, charset="utf-8", headers=_TEXT_HEADERS)


def _read(name: str) -> bytes:
    return (resources.files("controlplane.reference") / name).read_bytes()
