"""What is told of the API, to everybody: `/openapi.json`, `/docs`, `/llms.txt`, `/llms-full.txt`, and the documents.

`/docs` is the reference, rendered by Swagger UI 5.35.0 (Apache-2.0) from files that ship here. The page loads nothing
from anywhere else; its Content-Security-Policy sees to it. Below `/docs/` the documents lie as in docs/ of the source,
so their links lead to each other here as well.
"""

from collections.abc import Sequence
from importlib import resources

import msgspec
from aiohttp import web

from controlplane.mcp.tool import Tool
from controlplane.operations.operation import Operation
from controlplane.reference import llms
from controlplane.reference.documents import documents
from controlplane.reference.openapi import document

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


class Reference:
    """The pages, made once at start from the rows of operations and of MCP's tools (none: it is not served).
    `public_url`: the server that they name."""

    def __init__(self, operations: Sequence[Operation], tools: Sequence[Tool], public_url: str) -> None:
        self._document = msgspec.json.encode(document(operations, public_url))
        told = documents(public_url)
        self._documents = {path: text.encode() for path, text in told.items()}
        self._short = llms.short(public_url, bool(tools)).encode()
        self._full = llms.full(public_url, operations, tools, told).encode()
        # Once, for all readers: however many take them however slowly, there is one copy.
        self._files = {name: _read(name) for name in ("index.html", *_ASSETS)}

    def add_to(self, app: web.Application) -> None:
        """Add the routes, which are open to callers without a key."""
        app.router.add_get("/openapi.json", self._openapi)
        app.router.add_get("/docs", self._page)
        app.router.add_get("/docs/{asset:.+}", self._asset)
        app.router.add_get("/llms.txt", self._llms)
        app.router.add_get("/llms-full.txt", self._llms_full)

    async def _openapi(self, request: web.Request) -> web.Response:
        return web.Response(body=self._document, content_type="application/json")

    async def _page(self, request: web.Request) -> web.Response:
        return self._file("index.html", "text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["asset"]
        if name in self._documents:
            return _text(self._documents[name], "text/markdown")
        if name not in _ASSETS:
            raise web.HTTPNotFound
        return self._file(name, _ASSETS[name])

    async def _llms(self, request: web.Request) -> web.Response:
        return _text(self._short)

    async def _llms_full(self, request: web.Request) -> web.Response:
        return _text(self._full)

    def _file(self, name: str, content_type: str) -> web.Response:
        return web.Response(
            body=self._files[name], content_type=content_type, charset="utf-8", headers=_PAGE_HEADERS
        )


def _text(body: bytes, content_type: str = "text/plain") -> web.Response:
    return web.Response(body=body, content_type=content_type, charset="utf-8", headers=_TEXT_HEADERS)


def _read(name: str) -> bytes:
    return (resources.files("controlplane.reference") / name).read_bytes()
