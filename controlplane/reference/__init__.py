"""`/openapi.json` and `/docs`: the reference, rendered by Swagger UI 5.35.0 (Apache-2.0) from files that ship here.

The page loads nothing from anywhere else; its Content-Security-Policy sees to it.
"""

from collections.abc import Sequence
from importlib import resources

import msgspec
from aiohttp import web

from controlplane.operations.operation import Operation
from controlplane.reference.openapi import document

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "start.js": "text/javascript",
}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "public, max-age=3600",
}


class Reference:
    """The pages, rendered once at start from the operations' rows. `public_url`: the server that the document names."""

    def __init__(self, operations: Sequence[Operation], public_url: str) -> None:
        self._document = msgspec.json.encode(document(operations, public_url))
        # Once, for all readers: however many take them however slowly, there is one copy.
        self._files = {name: _read(name) for name in ("index.html", *_ASSETS)}

    def add_to(self, app: web.Application) -> None:
        """Add the routes, which are open to callers without a key."""
        app.router.add_get("/openapi.json", self._openapi)
        app.router.add_get("/docs", self._page)
        app.router.add_get("/docs/{asset}", self._asset)

    async def _openapi(self, request: web.Request) -> web.Response:
        return web.Response(body=self._document, content_type="application/json")

    async def _page(self, request: web.Request) -> web.Response:
        return self._file("index.html", "text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["asset"]
        if name not in _ASSETS:
            raise web.HTTPNotFound
        return self._file(name, _ASSETS[name])

    def _file(self, name: str, content_type: str) -> web.Response:
        return web.Response(
            body=self._files[name], content_type=content_type, charset="utf-8", headers=_PAGE_HEADERS
        )


def _read(name: str) -> bytes:
    return (resources.files("controlplane.reference") / name).read_bytes()
